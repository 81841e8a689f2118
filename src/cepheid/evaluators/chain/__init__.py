"""The chain evaluator: conditions that tie each event to the one marked before it, on kernels over a run
DAG."""
