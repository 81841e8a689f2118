"""An engine that forgets at every chance finds what one finds that never does."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from agreement import differences
from cepheid.algebra.nodes import WindowUnit
from generators import Case, Limits, cases

ALWAYS = -(10**9)
CUTS = st.lists(st.integers(0, 20), max_size=8)


@settings(max_examples=200, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck))
@given(case=cases(Limits(nary=False, events=20, windows=(None, *WindowUnit))), cuts=CUTS)
def test_rows_and_lanes_that_are_forgotten_are_never_missed(
    case: Case, cuts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepheid.engine._SPARE", ALWAYS)
    monkeypatch.setattr("cepheid.engine._SPARE_LANES", ALWAYS)
    note(repr(case))
    difference = differences(case, [min(cut, len(case.table)) for cut in cuts])
    assert difference is None, difference
