"""Patterns with any conditions: partial matches that agree in all that is read later share a slot."""
