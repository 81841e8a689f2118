"""Rows → the stream: their total order, times as numbers, partition keys as numbers."""
