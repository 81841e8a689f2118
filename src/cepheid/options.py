"""The options of an engine: checks of those that a user gives and of those in a saved state."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

from cepheid.errors import CepheidError
from cepheid.state_checks import require


def checked_limit(limit: int | None) -> int | None:
    """The limit as a plain int.

    >>> checked_limit(-1)
    Traceback (most recent call last):
    cepheid.errors.CepheidError: error[bad-argument]: `limit` requires a whole number from 0; got `-1` instead
    """
    if limit is None:
        return None
    if isinstance(limit, bool) or not isinstance(limit, Integral) or limit < 0:
        raise CepheidError("bad-argument", f"`limit` requires a whole number from 0; got `{limit!r}` instead")
    return int(limit)


def checked_columns(columns: Sequence[str] | None) -> tuple[str, ...] | None:
    """The names of output columns as a tuple.

    >>> checked_columns(["start", "end"])
    ('start', 'end')
    """
    if columns is None:
        return None
    names = () if isinstance(columns, str) else tuple(columns)
    if not names or len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
        message = f"`columns` requires a list of names of columns, each once; got `{columns!r}` instead"
        raise CepheidError("bad-argument", message)
    return names


def checked_options(options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of an engine from the options in a saved state. Their types are checked here, their values by the
    engine."""
    for name in ("positions", "counting", "lane_positions"):
        require(isinstance(options[name], bool), f"its option `{name}` is neither true nor false")
    known = {"positions", "columns", "limit", "counting", "lane_positions"}
    require(set(options) == known, "its options are not those of an engine")
    given = {name: value for name, value in options.items() if name != "lane_positions"}
    return given | {"partition_positions": options["lane_positions"]}
