"""The configurations evaluator: conditions that compare the event at hand with stored ones."""
