"""Files of events: their formats, the types of their columns, and their rows as Arrow batches."""
