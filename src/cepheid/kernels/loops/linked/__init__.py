"""Patterns whose neighbours are equal or different: an index by key of the partial matches that wait."""
