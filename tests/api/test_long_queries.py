"""Long and wide queries: right, or an error that says what is too large; never Python's own limits."""

from __future__ import annotations

from math import comb

import numpy as np
import pyarrow as pa
import pytest

import cepheid
from support.small_streams import error_of, ids, positions, stream

ROWS = pa.table({"ts": np.arange(300), "type": ["A"] * 300, "v": np.arange(300) % 150})


def test_long_sequences_are_counted_exactly() -> None:
    for length in (60, 120):
        sequence = " ; ".join(f"A AS x{place}" for place in range(length))
        assert cepheid.count(stream("A" * 125), f"SELECT * FROM s WHERE {sequence}") == comb(125, length)


def test_many_alternatives() -> None:
    either = " OR ".join(f"(A AS x{place} FILTER x{place}.v = {place})" for place in range(60))
    found = cepheid.match(ROWS, f"SELECT * FROM s WHERE {either}", positions=True)
    assert sorted(found["positions"].to_pylist()) == [[place] for place in range(300) if place % 150 < 60]
    assert found.num_columns == 3 + 60 + 1


def test_repetitions_between_bounds() -> None:
    expected = sum(comb(80, length) for length in range(1, 51))
    assert cepheid.count(stream("A" * 80), "SELECT * FROM s WHERE (A AS x){1,50}") == expected


@pytest.mark.parametrize("number", [15, 16, 17, 62, 63, 125, 140])
def test_any_number_of_distinct_conditions(number: int) -> None:
    """Classes of events are looked up, hashed or put together from several words, as the number demands."""
    sequence = " ; ".join(f"(A AS x{place} FILTER x{place}.v = {place})" for place in range(number))
    query = f"SELECT x0 FROM s WHERE {sequence}"
    assert positions(ROWS.slice(0, 150), query) == [list(range(number))]
    engine = cepheid.query(query).engine(ROWS.schema)
    found = []
    for at in range(0, 150, 25):
        found.append(engine.push(ROWS.slice(at, 25)))
        engine = cepheid.load(engine.save())
    assert ids(pa.concat_tables(found)) == ids(cepheid.match(ROWS.slice(0, 150), query))


def test_many_independent_conditions_make_many_classes() -> None:
    rng = np.random.default_rng(2)
    columns = {f"c{place}": rng.integers(0, 2, 400) for place in range(20)}
    events = pa.table({"ts": np.arange(400), "type": ["A"] * 400, **columns})
    sequence = " : ".join(f"(A AS x{place} FILTER x{place}.c{place} = 1)" for place in range(20))
    expected = sum(
        all(columns[f"c{place}"][start + place] == 1 for place in range(20)) for start in range(381)
    )
    assert cepheid.count(events, f"SELECT * FROM s WHERE {sequence}") == expected
    skipping = sequence.replace(" : ", " ; ")
    ways = np.zeros(21, object)
    ways[0] = 1
    for row in range(400):
        for place in range(19, -1, -1):
            ways[place + 1] += ways[place] * int(columns[f"c{place}"][row])
    assert cepheid.count(events, f"SELECT * FROM s WHERE {skipping}") == ways[20]


@pytest.mark.parametrize("length", [200, 5000])
@pytest.mark.parametrize(
    "formula",
    [
        lambda n: " ; ".join(f"A AS x{place}" for place in range(n)),
        lambda n: " OR ".join(f"(A AS x FILTER x.v = {place})" for place in range(n)),
        lambda n: "A AS x FILTER " + "NOT " * n + "x.v = 1",
        lambda n: "A AS x FILTER x.v = " + " + ".join(["0"] * n),
        lambda n: "A AS x" + "+" * n,
    ],
    ids=["sequence", "or", "not", "sum", "plus"],
)
def test_nesting_beyond_the_limit_is_an_error(formula, length: int) -> None:
    error = error_of(lambda: cepheid.count(ROWS, f"SELECT * FROM s WHERE {formula(length)}"))
    assert error.code == "too-large"


def test_parentheses_and_lists_may_be_long() -> None:
    nested = "(" * 2000 + "A AS x" + ")" * 2000
    assert cepheid.count(ROWS, f"SELECT * FROM s WHERE {nested}") == 300
    listed = ", ".join(str(value) for value in range(1, 3000))
    assert cepheid.count(ROWS, f"SELECT * FROM s WHERE A AS x FILTER x.v IN ({listed})") == 298


def test_more_matches_than_can_be_held_are_an_error_with_ways_out() -> None:
    error = error_of(lambda: cepheid.match(stream("A" * 60), "SELECT * FROM s WHERE (A AS x)+"))
    assert error.code == "too-many-matches"
    assert "LIMIT" in str(error.hint)
    assert len(cepheid.match(stream("A" * 60), "SELECT * FROM s WHERE (A AS x)+", limit=10)) == 10
