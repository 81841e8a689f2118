"""Small streams, and what the tests of the public functions ask of their results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

import cepheid

THEN = "SELECT * FROM s WHERE A AS x ; B AS y"


def stream(types: str, **columns: Any) -> pa.Table:
    """One event per letter, its type, at the times 0, 1, 2, … unless `ts` is given."""
    return pa.table({"ts": list(range(len(types))), "type": list(types), **columns})


def positions(data: Any, query: str, **options: Any) -> list[list[int]]:
    """The positions of all matches, sorted."""
    found: list[list[int]] = cepheid.match(data, query, positions=True, **options)["positions"].to_pylist()
    return sorted(found)


def ids(table: pa.Table) -> list[str]:
    return sorted(table["match_id"].to_pylist())


def error_of(call: Callable[[], object]) -> cepheid.CepheidError:
    """The error that a call ends in; any other exception is a failure of the test."""
    try:
        result = call()
    except cepheid.CepheidError as error:
        return error
    raise AssertionError(f"no error, but {result!r}")
