"""An engine that forgets at every chance finds what one finds that never does."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import cepheid
from cepheid.algebra.nodes import WindowUnit
from cepheid.engine import Engine
from support.agreement import differences
from support.generators import Case, Limits, cases

ALWAYS = -(10**9)
LIMITS = (
    Limits(nary=False, events=12, windows=(None,)),
    Limits(nary=False, events=20, windows=tuple(WindowUnit)),
)


@pytest.mark.parametrize("limits", LIMITS, ids=["no window", "window"])
def test_rows_and_partitions_that_are_forgotten_are_never_missed(
    limits: Limits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepheid.engine._SPARE", ALWAYS)
    monkeypatch.setattr("cepheid.engine._SPARE_PARTITIONS", ALWAYS)

    @settings(max_examples=200, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
    @given(case=cases(limits), cuts=st.lists(st.integers(0, limits.events), max_size=8))
    def agrees(case: Case, cuts: list[int]) -> None:
        note(repr(case))
        difference = differences(case, [min(cut, len(case.table)) for cut in cuts])
        assert difference is None, difference

    agrees()


@pytest.mark.parametrize("evaluator", ["compact", "chain", "configurations"])
@pytest.mark.parametrize("late", [5, 6])
def test_a_key_is_kept_for_as_long_as_the_window(
    late: int, evaluator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepheid.engine._SPARE_PARTITIONS", ALWAYS)
    table = pa.table({"ts": [0, late, late], "type": ["A", "A", "B"], "k": [1, 2, 1]})
    query = cepheid.query("SELECT * FROM s WHERE A AS x ; B AS y PARTITION BY k WITHIN 5")
    engine = query.engine(table.schema, evaluator=evaluator)
    assert [len(engine.push(table.slice(at, 1))) for at in range(3)] == [0, 0, 1 if late == 5 else 0]


@pytest.mark.parametrize("evaluator", ["compact", "configurations"])
@pytest.mark.parametrize("late", [5, 6])
def test_a_count_keeps_a_key_for_as_long_as_the_window(
    late: int, evaluator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepheid.engine._SPARE_PARTITIONS", ALWAYS)
    table = pa.table({"ts": [1, 1 + late, 1 + late], "type": ["A", "A", "B"], "k": [1, 2, 1]})
    query = cepheid.query("SELECT * FROM s WHERE A AS x ; B AS y PARTITION BY k WITHIN 5")
    engine = Engine(query.engine(table.schema, evaluator=evaluator).plan, counting=True)
    for at in range(3):
        engine.push(table.slice(at, 1))
    assert engine.counted == (1 if late == 5 else 0)
