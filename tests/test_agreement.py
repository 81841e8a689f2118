"""Properties: on random queries and streams, each evaluator gives exactly the matches of the oracle."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement import check
from cepheid.algebra.nodes import Strategy, WindowUnit
from generators import Case, Limits, cases


@pytest.mark.parametrize("window", [None, *WindowUnit])
@pytest.mark.parametrize("strategy", list(Strategy))
def test_compact_agrees_with_the_oracle(strategy: Strategy, window: WindowUnit | None) -> None:
    limits = Limits(nary=False, strategies=(strategy,), windows=(window,))

    @settings(max_examples=110, deadline=None, print_blob=True)
    @given(cases(limits))
    def agrees(case: Case) -> None:
        check(case, "compact")

    agrees()


@settings(max_examples=200, deadline=None, print_blob=True)
@given(cases())
def test_semantics_agrees_with_the_oracle(case: Case) -> None:
    check(case, "semantics")


@settings(max_examples=200, deadline=None, print_blob=True)
@given(st.data())
def test_longer_streams_in_small_windows(data: st.DataObject) -> None:
    """Windows move on and what they held is dropped."""
    limits = Limits(nary=False, events=40, windows=tuple(WindowUnit))
    check(data.draw(cases(limits)), "compact")
