"""Counts inside a window for patterns with conditions: per state a vector with a number for each start."""
