"""Patterns that compare neighbours in a match by equality: an index of partial matches by key."""
