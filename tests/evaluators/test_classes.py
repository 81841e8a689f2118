"""Many predicates at once: more than a table of bits maps, and more than one word holds."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import cepheid


@pytest.mark.parametrize("predicates", [6, 24, 60, 66, 150])
def test_an_event_may_satisfy_many_predicates(predicates: int) -> None:
    """Each event satisfies one predicate `v = n` and all of `v >= 0` to `v >= n`."""
    values = predicates // 2
    choices = (f"(E AS x FILTER x.v = {n}) ; (E AS y FILTER y.v >= {n})" for n in range(values))
    text = f"SELECT * FROM s WHERE {' OR '.join(f'({choice})' for choice in choices)} WITHIN 4 EVENTS"
    numbers = np.random.default_rng(predicates).integers(0, values + 3, 600).tolist()
    table = pa.table({"ts": range(600), "type": ["E"] * 600, "v": numbers})
    expected = [
        (one, two)
        for two in range(600)
        for one in range(max(0, two - 3), two)
        if numbers[one] < values and numbers[two] >= numbers[one]
    ]
    engine = cepheid.query(text).engine(table.schema, positions=True)
    found: list[tuple[int, ...]] = []
    for begin in range(0, 600, 97):
        found += map(tuple, engine.push(table.slice(begin, 97))["positions"].to_pylist())
        engine = cepheid.load(engine.save())
    assert sorted(found) == sorted(expected)
    assert cepheid.count(table, text, time="ts") == len(expected)
