"""Codes of attributes are equal exactly when `semantics/keys.py` says that the values are one key."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cepheid.automata.automaton import Link, LinkKind
from cepheid.errors import CepheidError
from cepheid.evaluators.chain.keys import _NULL, Keys
from cepheid.schema import schema_of
from cepheid.semantics.keys import is_one_key

NAN = float("nan")
COLUMNS: list[tuple[list[Any], pa.DataType]] = [
    ([1, 2, None, -1, 2**53 + 1, 2**63 - 1, 0], pa.int64()),
    ([1, 2, None, -1, 0, 7, 7], pa.int16()),
    ([1, 2, None, 2**64 - 1, 0, 2**63, 3], pa.uint64()),
    ([1.0, 2.5, None, NAN, -0.0, 0.0, 2.0**53], pa.float64()),
    ([1.0, 2.5, None, NAN, -0.0, 0.0, 3.0], pa.float32()),
    (
        [Decimal("1.00"), Decimal("2.50"), None, Decimal("0.10"), Decimal(0), Decimal(-1), Decimal(3)],
        pa.decimal128(10, 2),
    ),
    (
        [Decimal(1), Decimal(2), None, Decimal(10), Decimal(0), Decimal(-1), None],
        pa.decimal128(20, 0),
    ),
    (
        [Decimal(text) if text else None for text in ("1", "2.5", "", "0.1", "9007199254740993", "-1", "0")],
        pa.decimal256(60, 20),
    ),
    ([Decimal(100), None, Decimal(0), Decimal(-300), Decimal(200), None, None], pa.decimal128(9, -2)),
    ([None] * 7, pa.null()),
]
TEXTS: list[tuple[list[Any], pa.DataType]] = [
    (["a", "", None, "b", "a longer text", "é", "a"], pa.string()),
    (["b", "x", None, "", "a longer text", "a", "e"], pa.string()),
    (["b", "x", None, "", "a longer text", "a", "e"], pa.dictionary(pa.int32(), pa.string())),
]
TIMES: list[tuple[list[Any], pa.DataType]] = [
    ([dt.date(2024, 1, day) for day in range(1, 7)] + [None], pa.date32()),
    ([dt.datetime(2024, 1, day, 12 * (day % 2)) for day in range(1, 7)] + [None], pa.timestamp("us")),
    ([dt.datetime(2024, 1, day) for day in range(1, 7)] + [None], pa.timestamp("ms")),
]
OTHERS: list[tuple[list[Any], pa.DataType]] = [([True, False, None, True, True, False, None], pa.bool_())]


def codes(keys: Keys, table: pa.Table) -> Any:
    return keys.of(table, np.arange(len(table)), np.arange(len(table)))


@pytest.mark.parametrize(
    ("one", "other"),
    [(one, other) for group in (COLUMNS, TEXTS, TIMES, OTHERS) for one in group for other in group],
    ids=str,
)
@pytest.mark.parametrize("saved", [False, True])
def test_codes_are_equal_when_values_are_one_key(
    one: tuple[list[Any], pa.DataType], other: tuple[list[Any], pa.DataType], saved: bool
) -> None:
    table = pa.table(
        {
            "ts": list(range(7)),
            "type": ["A"] * 7,
            "l": pa.array(*one),
            "r": pa.array(*other),
        }
    )
    links = (Link("l", "r"), Link("r", "l"), Link("l", "l"))
    schema = schema_of(table.schema, time="ts")
    keys = Keys(links, schema)
    first = codes(keys, table.slice(0, 4))
    if saved:
        state = keys.save()
        keys = Keys(links, schema)
        keys.load(state)
    whole = np.concatenate([first, codes(keys, table.slice(4))])
    for number, link in enumerate(links):
        for i, left in enumerate(table[link.left].to_pylist()):
            for j, right in enumerate(table[link.right].to_pylist()):
                equal = whole[i, keys.left[number]] == whole[j, keys.right[number]]
                assert equal == is_one_key([left, right]), (link, left, right)


def test_the_one_number_that_stands_for_null_is_refused() -> None:
    table = pa.table({"ts": [0, 1], "type": ["A", "A"], "l": pa.array([_NULL, None], pa.int64())})
    keys = Keys((Link("l", "l"),), schema_of(table.schema, time="ts"))
    with pytest.raises(CepheidError, match="column `l` holds a value around"):
        codes(keys, table)
    assert codes(keys, table.slice(1)).tolist() == [[_NULL]]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (pa.array([1, None, 3]), pa.array([1, None, 4])),
        (pa.array([1.0, None, float("nan")]), pa.array([1.0, None, float("nan")])),
        (pa.array(["a", None, "b"]), pa.array(["a", None, "c"])),
        (pa.array([1, None, 3]), pa.array([1.0, None, float("nan")])),
        (pa.array([Decimal("0.5"), None, Decimal("0.1")]), pa.array([0.5, None, 0.1])),
        (pa.array([Decimal("0.5"), None, None]), pa.array([Decimal("0.50"), None, Decimal("0.51")])),
        (
            pa.array([Decimal("12345678901234567.89"), None, Decimal("12345678901234567.89")]),
            pa.array([Decimal("12345678901234567.89"), None, Decimal("12345678901234567.90")]),
        ),
        (pa.array([True, None, True]), pa.array([True, None, False])),
    ],
)
def test_values_that_are_unknown_equal_nothing(left: pa.Array, right: pa.Array) -> None:
    table = pa.table({"ts": [0, 1, 2], "type": ["A"] * 3, "l": left, "r": right})
    keys = Keys((Link("l", "r", LinkKind.VALUE),), schema_of(table.schema, time="ts"))
    found = codes(keys, table)
    one, two = found[:, keys.left[0]].tolist(), found[:, keys.right[0]].tolist()
    assert [a == b for a, b in zip(one, two, strict=True)] == [True, False, False]
    assert one[1] not in two
    assert two[1] not in one
