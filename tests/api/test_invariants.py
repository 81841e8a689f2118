"""What must not change the matches: events of other types, other keys, streams that lie far away, shifted times."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import cepheid
from cepheid.pipeline import ParsedQuery
from support.small_streams import ids, stream

FORMULAS = [
    "A AS x ; B AS y",
    "(A AS x)+ ; B AS y",
    "(A AS x OR B AS y) ; A AS z FILTER z.v > 1",
    "(A AS x FILTER x.v > 0)+ ; (B AS y)?",
    "A AS x ; (B AS y ; A AS z){1,2}",
]
TYPES = st.text("ABN", min_size=1, max_size=9)
SELECTION = st.sampled_from(["", "NXT ", "LAST ", "MAX "])


def events_of(types: str, first: int = 0, **columns: list[int]) -> pa.Table:
    times = [first + 2 * place for place in range(len(types))]
    return stream(types, ts=times, v=[place % 3 for place in range(len(types))], **columns)


def select(formula: str, strategy: str, rest: str = "") -> ParsedQuery:
    return cepheid.query(f"SELECT {strategy}* FROM s WHERE {formula}{rest}")


@settings(max_examples=60)
@given(TYPES, st.sampled_from(FORMULAS), SELECTION, st.sampled_from(["", " WITHIN 7"]), st.data())
def test_events_of_other_types_change_no_match(
    types: str, formula: str, strategy: str, window: str, data: st.DataObject
) -> None:
    query = select(formula, strategy, window)
    events = events_of(types)
    more = data.draw(st.lists(st.integers(-3, len(types)), min_size=1, max_size=5))
    # Between the times of the others: an id counts all events of its times.
    others = stream("O" * len(more), ts=[2 * place + 1 for place in more], v=[9] * len(more))
    mixed = pa.concat_tables([others, events])
    assert ids(cepheid.match(mixed, query)) == ids(cepheid.match(events, query))
    assert cepheid.count(mixed, query) == cepheid.count(events, query)


@settings(max_examples=60)
@given(
    st.lists(TYPES, min_size=2, max_size=4),
    st.sampled_from([*FORMULAS, "A AS x : B AS y"]),
    st.sampled_from(["", "NXT ", "LAST ", "MAX ", "STRICT "]),
    st.sampled_from(["", " WITHIN 5", " WITHIN 3 EVENTS", " CONSUME"]),
)
def test_other_keys_do_not_disturb(parts: list[str], formula: str, strategy: str, rest: str) -> None:
    rest = f" PARTITION BY k{rest}"
    query = select(formula, strategy, rest)
    streams = [events_of(types, k=[key] * len(types)) for key, types in enumerate(parts)]
    alone = [found for part in streams for found in ids(cepheid.match(part, query))]
    assert ids(cepheid.match(pa.concat_tables(streams), query)) == sorted(alone)
    assert cepheid.count(pa.concat_tables(streams), query) == len(alone)


@settings(max_examples=60)
@given(TYPES, TYPES, st.sampled_from(FORMULAS), SELECTION)
def test_streams_further_apart_than_the_window_do_not_meet(
    early: str, late: str, formula: str, strategy: str
) -> None:
    query = select(formula, strategy, " WITHIN 9")
    one, two = events_of(early), events_of(late, first=1000)
    united = ids(cepheid.match(one, query)) + ids(cepheid.match(two, query))
    assert ids(cepheid.match(pa.concat_tables([one, two]), query)) == sorted(united)


@settings(max_examples=40)
@given(TYPES, st.sampled_from(FORMULAS), SELECTION, st.integers(-(2**62), 2**62))
def test_shifting_all_times_changes_the_times_only(types: str, formula: str, strategy: str, by: int) -> None:
    query = select(formula, strategy, " WITHIN 9")
    here = cepheid.match(events_of(types), query, positions=True)
    there = cepheid.match(events_of(types, first=by), query, positions=True)
    assert sorted(there["positions"].to_pylist()) == sorted(here["positions"].to_pylist())
    assert sorted(there["start"].to_pylist()) == sorted(start + by for start in here["start"].to_pylist())
