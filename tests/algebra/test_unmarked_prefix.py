"""Leads: no run reads more events before its first mark than its expression's lead says."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given, settings

import cepheid
from cepheid.algebra.nodes import Query, Reading, Recognise
from cepheid.algebra.unmarked_prefix import lead
from cepheid.semantics.reading import EMPTY, Reader
from cepheid.spark.slices import why_not
from support.generators import Case, Limits, readings
from support.generators import streams as random_streams

LEADS = {
    "[a] . any* . [b]": 0,
    "-[a] . [b]": 1,
    "any{2,4} . [b]": 4,
    "any* . [b]": inf,
    "([a] | any{3}) . [b]": 3,
    "(any . [a])* . [b]": 1,
    "(any* . [a]) & (any{2} . [a] . any?)": 2,
    "![a] . [b]": inf,
    "[a] . ![a] . [b]": 0,
    "(any WITHIN 5) . [b]": 1,
    "#([a]*, [b])": inf,
    "#([a], [b]*, [c])": 0,
}


@pytest.mark.parametrize("text", LEADS)
def test_how_many_events_are_read_before_the_first_mark(text: str) -> None:
    assert lead(cepheid.query(text).query.pattern) == LEADS[text]


@settings(max_examples=300)
@given(readings(), random_streams(Limits(events=7)))
def test_no_run_reads_more(reading: Reading, table: object) -> None:
    stream = Case(Query(Recognise(reading)), table).events
    reader, most = Reader(stream), lead(Recognise(reading))
    for start in range(len(stream)):
        assert all(way.marked[0] - start <= most for way in reader.ways(reading, start, EMPTY) if way.marked)


def test_patterns_of_other_languages_have_none() -> None:
    assert lead(cepheid.query("SELECT * FROM s WHERE A ; B+").query.pattern) == 0


def test_time_slices_need_a_query_that_marks_first() -> None:
    assert why_not(cepheid.query("#([a], [b]) WITHIN 5").query) is None
    assert "before the first" in str(why_not(cepheid.query("any . [b] WITHIN 5").query))
