"""What was found, as arrays and as tables: rows kept for it, ids, output columns."""
