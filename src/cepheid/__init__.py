"""Cepheid recognises complex events: patterns over time, on PySpark and in process, with exact results."""

from cepheid.api import count, explain, finish, match, query
from cepheid.errors import CepheidError, CepheidWarning
from cepheid.pipeline import load

__all__ = ["CepheidError", "CepheidWarning", "count", "explain", "finish", "load", "match", "query"]
