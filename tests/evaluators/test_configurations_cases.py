"""Cases of the configurations evaluator that random ones seldom hit, each said outright and held to the definition."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cepheid
from cepheid.engine import Engine
from cepheid.pipeline import plan_for
from cepheid.schema import schema_of
from support.small_streams import positions, stream


def in_pieces(table: pa.Table, text: str, size: int) -> list[list[int]]:
    """The positions of all matches of a stream in pieces, saved and loaded after each."""
    schema = schema_of(table.schema, time="ts")
    engine = Engine(plan_for(cepheid.query(text), schema, "configurations"), positions=True)
    found: list[list[int]] = []
    for at in range(0, len(table), size):
        found += engine.push(table.slice(at, size))["positions"].to_pylist()
        engine = cepheid.load(engine.save())
    return sorted(found)


def check(table: pa.Table, text: str, found: list[list[int]]) -> None:
    assert positions(table, text, evaluator="semantics") == found
    assert positions(table, text, evaluator="configurations") == found
    assert cepheid.count(table, text, evaluator="configurations") == len(found)
    assert in_pieces(table, text, 1) == in_pieces(table, text, 3) == found


def test_a_nested_window_begins_with_the_first_event_inside_it() -> None:
    """A may be as early as it likes, B and C are at most two apart."""
    text = "#([type = 'A'], #([type = 'B'], [type = 'C']) WITHIN 2)"
    check(stream("ABBDC"), text, [[0, 2, 4]])
    check(stream("ADDBDDC"), text, [])


def test_a_nested_window_is_kept_with_the_state() -> None:
    """The event it began with lies before what was saved, and so does the event that is too early."""
    text = "#(#([type = 'A'], [type = 'B']) WITHIN 4, [type = 'C'])"
    table = stream("AABC", ts=[0, 2, 6, 7])
    check(table, text, [[1, 2, 3]])


def test_a_nested_window_counts_events_of_its_partition() -> None:
    """Between A and B there are many events, but of this key none."""
    text = "#(#([type = 'A'], [type = 'B']) WITHIN 2 EVENTS, [type = 'C']) PARTITION BY k"
    check(stream("ADDDBC", k=[0, 1, 1, 1, 0, 0]), text, [[0, 4, 5]])
    check(stream("ADDDBC", k=[0, 1, 0, 1, 0, 0]), text, [])


@pytest.mark.parametrize("clause", ["", "WITHIN 9"])
def test_a_condition_reads_each_register_in_its_place(clause: str) -> None:
    """The second one stored is named first."""
    text = f"#([type = 'A'] > a, [type = 'B'] > b, [type = 'C' AND b.v - a.v > v]) {clause}"
    check(stream("ABC", v=[1, 5, 3]), text, [[0, 1, 2]])
    check(stream("ABC", v=[5, 1, 3]), text, [])
