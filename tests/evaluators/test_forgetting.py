"""An engine that forgets at every chance finds what one finds that never does."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from agreement import differences
from cepheid.algebra.nodes import WindowUnit
from generators import Case, Limits, cases

ALWAYS = -(10**9)
LIMITS = (
    Limits(nary=False, events=12, windows=(None,)),
    Limits(nary=False, events=20, windows=tuple(WindowUnit)),
)


@pytest.mark.parametrize("limits", LIMITS, ids=["no window", "window"])
def test_rows_and_lanes_that_are_forgotten_are_never_missed(
    limits: Limits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepheid.engine._SPARE", ALWAYS)
    monkeypatch.setattr("cepheid.engine._SPARE_LANES", ALWAYS)

    @settings(max_examples=200, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
    @given(case=cases(limits), cuts=st.lists(st.integers(0, limits.events), max_size=8))
    def agrees(case: Case, cuts: list[int]) -> None:
        note(repr(case))
        difference = differences(case, [min(cut, len(case.table)) for cut in cuts])
        assert difference is None, difference

    agrees()
