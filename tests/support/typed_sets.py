"""Aggregates and previous events over columns of every type, values at their limits.

In: a seed. Out: `seeded_typed_set(seed)`, a table and the text of a query; `typed_set_differences(case)` says what the
configurations evaluator does otherwise than the definition, or None.
"""

from __future__ import annotations

import random

import pyarrow as pa

import cepheid
from cepheid.algebra.conditions import AGGREGATES
from cepheid.errors import CepheidError
from support.typed_streams import OPERATORS, SCALARS, Drawing

LITERALS = ("0", "1", "2.5", "-1", "2", "1e30", "'a'", "NULL")
SHAPES = (
    "A+ IN X ; B* IN Y",
    "(A OR B)+ IN X ; B* IN Y",
    "(A+ IN X ; B? IN Y){1,2}",
    "A+ IN X ; A IN Y ; B+ IN X",
)


def seeded_typed_set(seed: int) -> tuple[pa.Table, str]:
    rng = random.Random(seed)
    drawing = Drawing(rng, rng.choice([2, 4, 6]))
    name = rng.choice(sorted(SCALARS))
    types = [*"AB", *(rng.choice("AAB") for _ in range(drawing.rows - 2))]
    rng.shuffle(types)
    columns = [pa.array(range(drawing.rows)), pa.array(types), drawing.scalar(name), drawing.scalar(name)]
    conditions = " AND ".join(_condition(rng) for _ in range(rng.choice([1, 1, 2])))
    table = pa.table(columns, names=["ts", "type", "v", "w"])
    return table, f"SELECT * FROM s WHERE ({rng.choice(SHAPES)}) FILTER {conditions}"


def _condition(rng: random.Random) -> str:
    op = rng.choice(OPERATORS)
    return rng.choice(
        [
            f"{_aggregate(rng, 'X')} {op} {rng.choice(LITERALS)}",
            f"{_aggregate(rng, 'X')} {op} {_aggregate(rng, 'Y')}",
            f"{_aggregate(rng, 'X')} {op} {_aggregate(rng, 'X')}",
            f"X.v {op} {_aggregate(rng, 'X')}",
            f"Y.w {op} {_aggregate(rng, 'X')}",
            f"{_aggregate(rng, 'X')} IS NULL",
            f"{_aggregate(rng, 'X')} IS NOT NULL AND count(X) > 1",
            f"X.v {op} prev(X.v)",
            f"X.v {op} prev(X.w, 2) OR count(Y) = 1",
            f"coalesce({_aggregate(rng, 'X')}, {_aggregate(rng, 'Y')}) {op} X.w",
        ]
    )


def _aggregate(rng: random.Random, name: str) -> str:
    function = rng.choice(AGGREGATES)
    distinct = "DISTINCT " if function == "count" and rng.randrange(2) else ""
    column = f"{name}.{rng.choice('vw')}"
    return f"{function}({distinct}{rng.choice([column, column, f'{column} + {name}.v'])})"


def typed_set_differences(case: tuple[pa.Table, str]) -> str | None:
    table, query = case
    wanted, found = (_answer(table, query, evaluator) for evaluator in ("semantics", "configurations"))
    if wanted == found or found == "unsupported-evaluator":
        return None
    return f"found {found}, the definition {wanted}"


def _answer(table: pa.Table, query: str, evaluator: str) -> object:
    """The positions of all matches, or the code of the error."""
    try:
        found = cepheid.match(table, query, evaluator=evaluator, positions=True)
    except CepheidError as error:
        return error.code
    return sorted(map(tuple, found["positions"].to_pylist()))
