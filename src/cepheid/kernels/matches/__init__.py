"""Matches as flat arrays: enumerated from the loops' graphs, selected, consumed, hashed."""
