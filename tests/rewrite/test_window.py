"""A window around the whole formula becomes the query's."""

from __future__ import annotations

import pytest

from cepheid.algebra.printing import print_query
from cepheid.pipeline import parse_query
from cepheid.rewrite.window import lift_window
from cepheid.semantics.oracle import evaluate
from cepheid.semantics.stream import Event

PAIRS = {
    "(A ; B WITHIN 5)": "A ; B WITHIN 5",
    "(A ; B WITHIN 5) WITHIN 9": "A ; B WITHIN 5",
    "(A ; B WITHIN 9) WITHIN 5": "A ; B WITHIN 5",
    "((A ; B+ WITHIN 3 EVENTS) IN X PART-BY [id])": "(A ; B+) IN X PART-BY [id] WITHIN 3 EVENTS",
    "(A ; B WITHIN 2 EVENTS) WITHIN 9": "(A ; B WITHIN 2 EVENTS) WITHIN 9",
    "(A ; B WITHIN 9 WITHIN 3 EVENTS) WITHIN 12": "(A ; B WITHIN 3 EVENTS) WITHIN 9",
    "(A ; B WITHIN 5) ; A": "(A ; B WITHIN 5) ; A",
    "(A AS a ; B WITHIN 5 OF a)": "A AS a ; B WITHIN 5 OF a",
    "(A WITHIN 5)+": "(A WITHIN 5)+",
}


def stream() -> list[Event]:
    return [
        Event(type, time, {"id": time % 2})
        for time, type in zip((0, 1, 4, 5, 9, 9, 11), "AABBABB", strict=True)
    ]


@pytest.mark.parametrize(("written", "lifted"), PAIRS.items())
@pytest.mark.parametrize("strategy", ["", "LAST", "MAX"])
def test_the_query_has_the_window_and_the_same_matches(written: str, lifted: str, strategy: str) -> None:
    query = parse_query(f"SELECT {strategy} * FROM s WHERE {written}").query
    changed = lift_window(query)
    assert print_query(changed) == print_query(
        parse_query(f"SELECT {strategy} * FROM s WHERE {lifted}").query
    )
    assert evaluate(changed, stream()) == evaluate(query, stream()) != []
