"""Found matches, as arrays and as tables: the rows kept for them, ids, output columns."""
