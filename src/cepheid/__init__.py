"""Cepheid recognises complex events: patterns over time, on PySpark and in process, with exact results.

The public names are imported when they are first used: `import cepheid` alone imports no library, and reading or
explaining a query does not import the compiled kernels.
"""

from typing import TYPE_CHECKING

from cepheid.errors import CepheidError, CepheidWarning

if TYPE_CHECKING:
    from cepheid.api import count, explain, finish, match, query
    from cepheid.pipeline import load
else:
    # Hidden from type checkers: to them a module with `__getattr__` has every name.
    _PLACES = {
        **dict.fromkeys(("count", "explain", "finish", "match", "query"), "cepheid.api"),
        "load": "cepheid.pipeline",
    }

    def __getattr__(name):
        if name not in _PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = globals()[name] = getattr(import_module(_PLACES[name]), name)
        return value

    def __dir__():
        return sorted({*globals(), *__all__})


__version__ = "0.1.0"  # pyproject.toml reads it from here

__all__ = ["CepheidError", "CepheidWarning", "count", "explain", "finish", "load", "match", "query"]
