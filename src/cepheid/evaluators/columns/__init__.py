"""Conditions over whole Arrow columns at once: `Columns(table).holds(condition)` is a mask of rows."""

from cepheid.evaluators.columns.table import Columns, holds

__all__ = ["Columns", "holds"]
