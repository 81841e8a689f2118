"""The benchmark: how fast the engine is on one core, and that this does not depend on what it should not.

`python -m bench` runs every experiment of `experiments/`; each checks its counts against `counting.py`, which knows
nothing of the engine, before anything is timed. A table per experiment goes to the screen, everything to
`out/bench.json`, the curves to `out/bench/*.svg`. `calibration.py` measures the machine in the same run.
"""
