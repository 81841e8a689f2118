"""SREMO behind the interface of evaluators: any batch cut, any save and load, partitions and counts."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cepheid
from cepheid.algebra.unmarked_prefix import lead
from support.agreement import differences
from support.generators import Case, Drawn, Limits, sremo_case
from support.small_streams import positions, stream

Draw = Callable[[st.SearchStrategy[int]], int]


@st.composite
def cut_cases(draw: Draw) -> tuple[Case, list[int]]:
    drawn = Drawn(draw)
    one = sremo_case(drawn, Limits(events=14, atoms=4))
    return one, sorted(drawn.below(len(one.table) + 1) for _ in range(drawn.below(4)))


@settings(max_examples=120)
@given(cut_cases(), st.booleans())
def test_the_definition_runs_in_pieces(given: tuple[Case, list[int]], saved: bool) -> None:
    case, cuts = given
    assert differences(case, cuts, "semantics", saved) is None


@settings(max_examples=60)
@given(cut_cases())
def test_the_planner_finds_an_evaluator(given: tuple[Case, list[int]]) -> None:
    case, cuts = given
    assert differences(case, cuts, "auto", saved=True) is None


TABLE = pa.table(
    {
        "ts": [0, 1, 2, 20, 21, 22],
        "type": list("AXBXBB"),
        "k": [0, 1, 0, 1, 0, 1],
        "v": [1, 1, 2, 1, 1, 2],
    }
)


@pytest.mark.parametrize(
    ("query", "found", "reach"),
    [
        ("-[type = 'A'] > r . any* . [type = 'B' AND v = r.v] WITHIN 1", [[4]], float("inf")),
        ("-[type = 'A'] > r . any* . [type = 'B' AND v = r.v] WITHIN 1 PARTITION BY k", [[4]], float("inf")),
        ("-[type = 'A'] . -[type = 'B'] . [type = 'B'] WITHIN 1 PARTITION BY k", [[4]], 2),
        ("[type = 'A'] . any* . [type = 'B'] WITHIN 2", [[0, 2]], 0),
        ("!(any* . [type = 'B'] . any*) . [type = 'B'] WITHIN 1", [[2], [4], [5]], float("inf")),
    ],
)
def test_what_lies_before_the_window_is_kept_as_far_as_it_may_matter(
    query: str, found: list[list[int]], reach: float
) -> None:
    parsed = cepheid.query(query)
    assert lead(parsed.query.pattern) == reach
    engine = parsed.engine(TABLE.schema, positions=True)
    pieces = [engine.push(TABLE.slice(row, 1)) for row in range(len(TABLE))]
    together = pa.concat_tables([*pieces, engine.finish()])
    assert sorted(together["positions"].to_pylist()) == found == positions(TABLE, parsed)


def test_a_key_that_fell_silent_keeps_what_is_read_before_a_mark() -> None:
    """The A is no part of the match, and so no matter of its window."""
    table = stream("ABC", k=[0, 1, 0], v=[1, 0, 2]).set_column(0, "ts", pa.array([0, 100, 101]))
    query = cepheid.query("-[type = 'A'] > r . [v > r.v] WITHIN 5 PARTITION BY k")
    engine = query.engine(table.schema, positions=True)
    found = [match for at in range(3) for match in engine.push(table.slice(at, 1))["positions"].to_pylist()]
    assert found == [[2]]


def test_the_output_shows_every_event_in_one_array() -> None:
    (row,) = cepheid.match(TABLE, "[type = 'A'] . any . [type = 'B']", language="sremo").to_pylist()
    assert [event["ts"] for event in row["events"]] == [0, 2]
    assert list(row) == ["match_id", "start", "end", "events"]


def test_streams_without_a_type_column_and_several_streams() -> None:
    plain = pa.table({"ts": [1, 2, 3], "v": [3, 1, 2]})
    assert positions(plain, "[v > 2] > r . any* . [v < r.v]") == [[0, 1], [0, 2]]
    both = {"A": plain, "B": pa.table({"ts": [2], "v": [9]})}
    assert cepheid.count(both, "#([type = 'A'], [type = 'B' AND v = 9])") == 2


def test_a_language_that_is_not_the_querys_is_refused() -> None:
    with pytest.raises(cepheid.CepheidError) as caught:
        cepheid.count(TABLE, cepheid.query("[v = 1]"), language="cel")
    assert caught.value.code == "bad-argument"
    assert cepheid.count(TABLE, cepheid.query("[v = 1]"), language="SREMO") == 4


@pytest.mark.parametrize("evaluator", ["compact", "chain"])
def test_evaluators_of_other_automata_decline(evaluator: str) -> None:
    with pytest.raises(cepheid.CepheidError) as caught:
        cepheid.match(TABLE, "[v = 1]", evaluator=evaluator)
    assert caught.value.code == "unsupported-evaluator"
    assert "SREMO reads every event" in caught.value.message


@pytest.mark.parametrize("query", ["[v = 1] WITHIN 5 minutes", "([v = 1] WITHIN 5 minutes) . [v = 2]"])
def test_a_window_fits_the_time_column(query: str) -> None:
    with pytest.raises(cepheid.CepheidError) as caught:
        cepheid.count(TABLE, query)
    assert (caught.value.code, caught.value.span is not None) == ("bad-argument", True)
    assert "time column `ts` is a number" in caught.value.message
