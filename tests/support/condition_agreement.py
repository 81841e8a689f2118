"""Whether conditions of several events hold of words as the definition says they hold of the events."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cepheid.algebra.conditions import Condition, variables
from cepheid.evaluators.configurations.guards import CompiledTests
from cepheid.kernels.conditions import programs as kernel
from cepheid.schema import Schema, schema_of
from cepheid.semantics import values as definition
from cepheid.semantics.rows import rows_of
from support.random_conditions import array


def schema_for(table: pa.Table) -> Schema:
    return schema_of(table.schema, time="k", type=None)


def columns(**given: tuple[Sequence[Any], pa.DataType]) -> pa.Table:
    arrays = {name: array(list(values), dtype) for name, (values, dtype) in given.items()}
    length = max(len(item) for item in arrays.values())
    arrays = {
        name: pa.concat_arrays([item, pa.nulls(length - len(item), item.type)])
        for name, item in arrays.items()
    }
    return pa.table({"k": pa.array(range(length), pa.int64()), **arrays})


class Stored:
    """The records of some events, word by word, as an arena might keep them."""

    def __init__(self, ours: CompiledTests, rows: np.ndarray) -> None:
        self.stride = len(rows) + 1
        self.words = np.full(3 + self.stride * max(ours.record, 1), -7)
        for word in range(ours.record):
            self.words[3 + word * self.stride : 3 + word * self.stride + len(rows)] = rows[:, word]

    def at(self, *rows: int) -> np.ndarray:
        return np.array([*rows, 0], np.int64) + 3


def check(
    conditions: Sequence[Condition], table: pa.Table, ours: CompiledTests | None = None, most: int = 40
) -> None:
    """Compares what holds of combinations of rows with the definition."""
    ours = ours or CompiledTests(conditions, schema_for(table))
    events = rows_of(table)
    half = len(events) // 2
    first = ours.of(table, np.arange(half))
    rows = np.concatenate([first, ours.of(table, np.arange(half, len(events)))])
    stored = Stored(ours, rows)
    for number, condition in enumerate(conditions):
        registers = ours.registers[number]
        assert set(registers) == variables(condition)
        combinations = list(itertools.product(range(len(events)), repeat=1 + len(registers)))
        for now, *places in combinations[:: max(1, len(combinations) // most)]:
            bound = {None: events[now]} | {
                name: events[place] for name, place in zip(registers, places, strict=True)
            }
            at = stored.at(*places)
            holds = kernel.holds(ours.program, number, rows, now, stored.words, at, stored.stride)
            assert holds == definition.holds(condition, bound), (condition, bound)
            equal = ours.equality(number)
            if equal is not None:
                word, register, other = equal
                assert holds == (rows[now, word] == stored.words[at[register] + other * stored.stride])
