"""Rows → the stream: their total order, times as numbers, partitions as partitions."""
