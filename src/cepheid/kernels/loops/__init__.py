"""Loops over events: sliding (unary), linked (equal neighbours), registers (any conditions), vectors (counts)."""
