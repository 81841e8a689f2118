"""The chain evaluator: conditions between neighbours in a match, on kernels over a run DAG."""
