"""The compact evaluator: unary conditions, on kernels that slide a lazily determinised automaton over the stream."""
