"""Evaluators: states that take events in order and yield matches, behind one interface."""
