"""Loops over whole columns before anything is matched: texts and keys as numbers, positions, window edges."""
