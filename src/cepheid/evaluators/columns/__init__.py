"""Conditions over whole Arrow columns at once: `Columns(table).holds(condition)` is a mask of rows."""

from cepheid.evaluators.columns.table import Columns, holds, type_equals

__all__ = ["Columns", "holds", "type_equals"]
