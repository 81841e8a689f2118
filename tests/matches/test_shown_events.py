"""The places of events are those that the matches' own lists give, whether all have the same labels or not."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cepheid.matches.event_rows import Places
from cepheid.matches.match_arrays import LABEL, Found
from cepheid.matches.shown_events import Chosen

NAMES = (frozenset("x"), frozenset("y"), frozenset("xy"), frozenset[str]())
Event = tuple[int, int]  # its row and its label
EVENTS = st.tuples(st.integers(100, 140), st.integers(0, 3))
SEQUENCES = st.lists(st.integers(0, 3), min_size=1, max_size=4).flatmap(
    lambda labels: st.lists(
        st.tuples(*(st.tuples(st.integers(100, 140), st.just(label)) for label in labels)).map(list),
        min_size=1,
        max_size=9,
    )
)
ANY = st.lists(st.lists(EVENTS, min_size=1, max_size=4), min_size=1, max_size=9)


@given(SEQUENCES | ANY, st.sampled_from([100, 90]), st.sampled_from([41, 1 << 40]))
def test_places_are_those_of_the_lists(matches: list[list[Event]], first: int, end: int) -> None:
    offsets = np.cumsum([0, *map(len, matches)])
    rows = np.array([row for match in matches for row, _ in match])
    labels = np.array([label for match in matches for _, label in match], LABEL)
    chosen = Chosen(Found(offsets, rows, labels), NAMES, Places(rows, first, end))
    assert chosen.is_sequence == (len({tuple(label for _, label in match) for match in matches}) == 1)
    assert (chosen.first + first).tolist() == [match[0][0] for match in matches]
    assert (chosen.last + first).tolist() == [match[-1][0] for match in matches]
    for name in "xyz":
        bound = [[row for row, label in match if name in NAMES[label]] for match in matches]
        begins, all_of = chosen.all_of(name)
        assert begins.tolist() == np.cumsum([0, *map(len, bound)]).tolist()
        assert (all_of + first).tolist() == [row for each in bound for row in each]
        one_of, missing = chosen.one_of(name)
        absent = [not each for each in bound]
        assert (absent if missing is not None else [False] * len(bound)) == absent
        present = [row + first for row, none in zip(one_of.tolist(), absent, strict=True) if not none]
        assert present == [each[0] for each in bound if each]
