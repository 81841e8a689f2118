"""The work that is timed: a count, and an enumeration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

import cepheid
from bench.checks import Check
from bench.results import Row
from bench.timing import measure
from cepheid.engine import Engine
from cepheid.pipeline import ParsedQuery, parse_query

PIECE = 1 << 16  # rows pushed at a time


def counted(
    name: str,
    table: pa.Table,
    query: str,
    check: Check,
    repeats: int,
    time: str = "ts",
    evaluator: str = "auto",
    **parameters: Any,
) -> Row:
    """A count, parsing and planning included, of a table in memory."""
    type = "type" if "type" in table.column_names else None
    parsed = parse_query(query)
    matches, timing = measure(
        lambda: cepheid.count(table, parsed, time=time, type=type, evaluator=evaluator),
        repeats,
        check.expected,
    )
    parameters = {"query": query, "evaluator": evaluator, **parameters}
    return Row(name, table.num_rows, matches, table.nbytes, check.how, timing, parameters)


@dataclass(frozen=True)
class Form:
    """A form that matches are given in: `run` makes all of them, lets them go, and says how many there were."""

    name: str
    run: Callable[[pa.Table, ParsedQuery, str, str], int]


def whole_rows(table: pa.Table, query: ParsedQuery, time: str = "ts", evaluator: str = "auto") -> int:
    """Ids, times and every event with its attributes."""
    return _enumerated(query.engine(table.schema, time=time, evaluator=evaluator), table)


def positions(table: pa.Table, query: ParsedQuery, time: str = "ts", evaluator: str = "auto") -> int:
    """Where in the stream its events are, and nothing else."""
    engine = query.engine(table.schema, time=time, columns=["positions"], evaluator=evaluator)
    return _enumerated(engine, table)


FORMS = (Form("whole events", whole_rows), Form("positions", positions))


def _enumerated(engine: Engine, table: pa.Table) -> int:
    """All matches, made piece by piece and let go, as a sink would take them."""
    found = 0
    for begin in range(0, table.num_rows, PIECE):
        for piece in engine.pieces(table.slice(begin, PIECE)):
            found += piece.num_rows
    return int(found + engine.finish().num_rows)


def enumerated(
    name: str,
    table: pa.Table,
    query: str,
    check: Check,
    repeats: int,
    form: Form = FORMS[0],
    time: str = "ts",
    evaluator: str = "auto",
) -> Row:
    parsed = parse_query(query)
    matches, timing = measure(lambda: form.run(table, parsed, time, evaluator), repeats, check.expected)
    parameters = {"query": query, "form": form.name, "evaluator": evaluator}
    return Row(name, table.num_rows, matches, table.nbytes, check.how, timing, parameters)


def counter(query: str, schema: pa.Schema) -> Engine:
    """An engine that counts what is pushed."""
    return Engine(parse_query(query).engine(schema).plan, counting=True)
