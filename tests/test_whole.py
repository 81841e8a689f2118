"""Matches that are too many: refused with their number, soon and cheaply; limits that are respected and can be set."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cepheid
from cepheid.errors import CepheidError
from cepheid.memory import cgroup_limits, memory_limit, size_of
from cepheid.whole import spoken

MANY = "SELECT * FROM s WHERE A+ ; B"
CHECKED = "SELECT * FROM s WHERE (A AS x)+ IN X ; B AS y FILTER X.v <> y.v"


def stream(rows: int) -> pa.Table:
    return pa.table({"ts": range(rows), "type": ["A"] * (rows - 1) + ["B"], "v": range(rows)})


def test_a_forgotten_window_is_refused_with_the_number_of_matches() -> None:
    with pytest.raises(CepheidError) as caught:
        cepheid.match(stream(60), MANY)
    assert caught.value.code == "too-many-matches"
    assert "there are about 5.8e17 matches" in caught.value.message
    for way in ("WITHIN", "LIMIT", "`limit=`", "count", "CEPHEID_MAX_MEMORY"):
        assert way in (caught.value.hint or "")
    assert cepheid.match(stream(60), MANY, limit=3).num_rows == 3
    assert cepheid.count(stream(60), MANY) == 2**59 - 1


def test_what_can_be_read_again_is_refused_with_the_number_of_matches(tmp_path: Path) -> None:
    pq.write_table(stream(60), tmp_path / "s.parquet")
    with pytest.raises(CepheidError) as caught:
        cepheid.match(str(tmp_path / "s.parquet"), MANY).read_all()
    assert caught.value.code == "too-many-matches"
    assert "there are about 5.8e17 matches" in caught.value.message
    assert "without WITHIN" in caught.value.message
    for way in ("WITHIN", "LIMIT", "count"):
        assert way in (caught.value.hint or "")
    assert cepheid.match(str(tmp_path / "s.parquet"), MANY, limit=3).read_all().num_rows == 3


def test_a_reader_is_refused_with_what_is_missing() -> None:
    with pytest.raises(CepheidError) as caught:
        cepheid.match(stream(60).to_reader(), MANY).read_all()
    assert caught.value.code == "too-many-matches"
    assert "without WITHIN" in caught.value.message
    assert "add WITHIN" in (caught.value.hint or "")


def test_many_small_batches_of_matches_are_refused_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """No batch has many, all together do."""
    monkeypatch.setenv("CEPHEID_MAX_MEMORY", "4MiB")
    events = pa.table({"ts": range(20_000), "type": ["A", "B"] * 10_000})
    query = "SELECT * FROM s WHERE A AS x ; B AS y WITHIN 40 EVENTS"
    number = cepheid.count(events, query)
    with pytest.raises(CepheidError, match=f"there are {number:,} matches"):
        cepheid.match(events, query)
    monkeypatch.setenv("CEPHEID_MAX_MEMORY", "4GiB")
    assert cepheid.match(events, query, columns=["start"]).num_rows == number


def test_more_than_is_asked_for_at_first_is_still_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepheid.whole.MANY_EVENTS", 100)
    assert cepheid.match(stream(12), MANY).num_rows == 2**11 - 1
    assert cepheid.match(stream(12), CHECKED).num_rows == 2**11 - 1


def test_a_limit_spares_checking_all_candidates() -> None:
    assert cepheid.match(stream(45), CHECKED, limit=10).num_rows == 10
    assert cepheid.match(stream(45), f"{CHECKED} LIMIT 7").num_rows == 7


@pytest.mark.parametrize("limit", [1, 5, 100, 2**20])
def test_a_limit_on_what_is_checked_gives_the_first_matches(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepheid.whole.MANY_EVENTS", 64 * 7)
    query = CHECKED.replace("X.v <> y.v", "X.v % 5 <> y.v % 5")
    whole = cepheid.match(stream(12), query, positions=True)
    some = cepheid.match(stream(12), query, positions=True, limit=limit)
    first = sorted(whole.to_pylist(), key=lambda match: (match["positions"][-1], match["positions"]))[:limit]
    assert sorted(some["match_id"].to_pylist()) == sorted(match["match_id"] for match in first)


def test_a_count_of_what_is_checked_says_what_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepheid.evaluators.configurations.evaluator.GUARD", 10_000)
    with pytest.raises(CepheidError, match="checked on all matches") as caught:
        cepheid.count(stream(45), CHECKED)
    assert "`limit=`" in (caught.value.hint or "")


def test_the_memory_limit_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CEPHEID_MAX_MEMORY", "3 MiB")
    assert memory_limit() == 3 << 20
    monkeypatch.setenv("CEPHEID_MAX_MEMORY", "lots")
    with pytest.raises(CepheidError, match="CEPHEID_MAX_MEMORY"):
        cepheid.match(stream(3), MANY)


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5.5", "1e9", "9" * 5_000, "GiB", "\ud800"], ids=range(8))
def test_a_size_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(CepheidError):
        size_of(text)


def test_limits_of_control_groups(tmp_path: Path) -> None:
    two, one = tmp_path / "two", tmp_path / "one"
    (two / "outer" / "inner").mkdir(parents=True)
    (one / "memory" / "docker").mkdir(parents=True)
    member = tmp_path / "cgroup"
    member.write_text("0::/outer/inner\n")
    (two / "outer" / "inner" / "memory.max").write_text("max\n")
    (two / "outer" / "memory.max").write_text("1073741824\n")
    assert list(cgroup_limits(member, two)) == [1 << 30]
    member.write_text("3:cpu,cpuacct:/x\n9:memory:/docker\n")
    (one / "memory" / "docker" / "memory.limit_in_bytes").write_text("536870912\n")
    (one / "memory" / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    assert list(cgroup_limits(member, one)) == [1 << 29]
    member.write_text("0::/../outside\n")
    (two / "memory.max").write_text("4096\n")  # seen from inside of a container
    assert list(cgroup_limits(member, two)) == [4096]
    assert list(cgroup_limits(tmp_path / "none", two)) == []


def test_a_number_of_any_size_is_said_shortly() -> None:
    for number in (0, 999, 10**15 - 1, 10**15, 2**64, 2**64 - 1, 7**90_000):
        assert len(spoken(number)) < 25
