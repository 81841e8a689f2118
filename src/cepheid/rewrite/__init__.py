"""Algebra → algebra with the same matches; one file per rule, their order in `rules.py`."""
