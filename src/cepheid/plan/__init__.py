"""Which evaluator runs a query, why, and every stage printed."""
