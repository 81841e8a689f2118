"""Random streams with times of all units at the limits of 64 bits, and queries on pairs of their events.

What is expected comes from arithmetic on Python's integers, without a part of the engine or of the oracle.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa

import cepheid
from cepheid.errors import CepheidError

NS = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}
LEAST, MOST = -(2**63), 2**63 - 1
THEN = "SELECT * FROM s WHERE A AS x ; B AS y"
EVALUATORS = ("auto", "semantics", "configurations", "chain")
PARIS = "Europe/Paris"
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def positions(events: Any, query: str, **options: Any) -> list[list[int]]:
    return cepheid.match(events, query, positions=True, **options)["positions"].to_pylist()


def unless_declined(call: Callable[[], list[list[int]]]) -> list[list[int]] | None:
    """None where the evaluator does not take the query."""
    try:
        return call()
    except CepheidError as error:
        if error.code != "unsupported-evaluator":
            raise
        return None


def in_ns(column: pa.Array) -> list[int | None]:
    """The values of a column as nanoseconds, without the engine."""
    dtype = column.type
    each = (
        86_400 * 10**9 if pa.types.is_date32(dtype) else NS["ms" if pa.types.is_date64(dtype) else dtype.unit]
    )
    ticks = column.cast(pa.int32() if dtype.bit_width == 32 else pa.int64()).to_pylist()
    return [None if tick is None else tick * each for tick in ticks]


def ticks(choices: random.Random, dtype: pa.DataType, count: int) -> list[int]:
    """Values near one another, near the limits of the type, or near those of microseconds in 64 bits."""
    if pa.types.is_time(dtype):
        last = 86_400 * (10**9 // NS[dtype.unit]) - 1
        return [choices.choice((0, 1, last, last - 1, choices.randrange(last))) for _ in range(count)]
    if pa.types.is_date32(dtype):
        most = (2**63 - 1) // (86_400 * 10**6)
    else:
        unit = "ms" if pa.types.is_date64(dtype) else dtype.unit
        most = MOST // max(1, NS[unit] // 1000)
    centre = choices.choice((0, most, -most, choices.randrange(-most, most)))
    near = [centre + choices.choice((-2, -1, 0, 1, 2, 999, 1000, -1001)) for _ in range(count)]
    kept = [choices.choice((tick, tick, -most, most)) if choices.random() < 0.2 else tick for tick in near]
    least = LEAST if most == MOST else -most
    bounded = [max(least, min(most, tick)) for tick in kept]
    if not pa.types.is_date64(dtype):
        return bounded
    return [(abs(tick) // 86_400_000) * (86_400_000 if tick > 0 else -86_400_000) for tick in bounded]


INSTANTS = [pa.timestamp(unit, zone) for unit in NS for zone in (None, "UTC", PARIS)]
FAMILIES = (
    [dtype for dtype in INSTANTS if dtype.tz is None],
    [dtype for dtype in INSTANTS if dtype.tz is not None],
    [pa.date32(), pa.date64()],
    [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")],
    [pa.duration(unit) for unit in NS],
)


def case(seed: int) -> tuple[pa.Table, str, list[list[int]]]:
    """A stream, a query on pairs of its events, and the positions of its matches in order of time."""
    choices = random.Random(seed)
    count = choices.randrange(4, 12)
    time = choices.choice([*INSTANTS, pa.date32(), pa.date64()])
    family = choices.choice(FAMILIES)
    one, other = choices.choice(family), choices.choice(family)

    def column(dtype: pa.DataType) -> pa.Array:
        values = [tick if choices.random() < 0.9 else None for tick in ticks(choices, dtype, count)]
        return pa.array(values, dtype)

    moments = sorted(ticks(choices, time, count))
    table = pa.table(
        {
            "ts": pa.array(moments, time),
            "type": [choices.choice("AB") for _ in range(count)],
            "a": column(one),
            "b": column(other),
        }
    )
    clock, a, b = (in_ns(table[name].combine_chunks()) for name in ("ts", "a", "b"))
    op = choices.choice(list(COMPARE))
    window = choices.choice((None, None, 0, 1, 999, 1000, 1500, 10**6, 2**40, 2**63))
    key = choices.choice((None, None, "a", "ts", "a, ts"))
    query = f"{THEN} FILTER x.a {op} y.b"
    query += f" PARTITION BY {key}" if key else ""
    query += f" WITHIN {window} ns" if window is not None else ""
    keys = {None: clock, "a": a, "ts": clock, "a, ts": list(zip(a, clock, strict=True))}[key]
    types = table["type"].to_pylist()
    found = [
        [i, j]
        for j in range(count)
        for i in range(j)
        if (types[i], types[j]) == ("A", "B")
        and (a[i] is not None and b[j] is not None and COMPARE[op](a[i], b[j]))
        and (key is None or keys[i] == keys[j])
        and (window is None or clock[j] - clock[i] <= window)  # type: ignore[operator]
    ]
    return table, query, sorted(found)


def difference_in_times(seed: int) -> str | None:
    """How an evaluator's matches differ from what arithmetic says; None if they do not."""
    table, query, expected = case(seed)
    for evaluator in EVALUATORS:
        found = unless_declined(lambda evaluator=evaluator: positions(table, query, evaluator=evaluator))
        if found is None:
            continue
        counted = cepheid.count(table, query, evaluator=evaluator)
        if (sorted(found), counted) != (expected, len(expected)):
            return f"seed {seed}, {evaluator}: {query}: {found}, {counted}, not {expected}"
    return None
