"""The configurations evaluator: conditions that compare events, on kernels over slots of partial matches that agree."""
