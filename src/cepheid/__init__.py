"""Cepheid recognises complex events: patterns over time, on PySpark and in process, with exact results."""

from cepheid.api import count, explain, match, query
from cepheid.errors import CepheidError, CepheidWarning
from cepheid.pipeline import load

__all__ = ["CepheidError", "CepheidWarning", "count", "explain", "load", "match", "query"]
