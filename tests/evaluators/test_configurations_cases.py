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


def test_a_saved_state_may_remember_more_events_than_its_registers_read() -> None:
    """After a skip a partial match keeps the columns that it had, though fewer of them are read from there on."""
    query = """
        SELECT LAST * FROM s
        WHERE (A AS z0 ; A) IN X ; ((B IN Y){0,3} ; (A IN Z)+ FILTER Y.id * 2 > Z.v){0,3}
        FILTER X.n + 1 = Y.n OR Y.s IS NULL FILTER X.id >= Y.id
        WITHIN 1 CONSUME
    """
    rows = pa.table(
        {
            "type": list("ACAAABBABABC"),
            "ts": [1, 1, 2, 2, 4, 5, 5, 6, 7, 7, 8, 10],
            "id": [1, 0, 0, 0, None, 0, 0, 1, 0, 1, 0, 0],
            "n": [None, 3, None, 0, 0, 3, 1, None, -1, None, 1, 3],
            "v": [1.0, 0.0, 2.5, 0.0, 1.0, None, 0.0, 0.0, 2.5, -1.0, -1.0, 0.0],
            "s": ["a", "d", None, "a", "a", "c", "c", "b", "a", "", None, None],
        }
    )
    engine = cepheid.query(query).engine(rows.schema, positions=True)
    pieces = []
    for at in range(len(rows)):
        pieces.append(engine.push(rows.slice(at, 1)))
        engine = cepheid.load(engine.save())
    found = pa.concat_tables([*pieces, engine.finish()])
    assert sorted(found["match_id"].to_pylist()) == sorted(cepheid.match(rows, query)["match_id"].to_pylist())
