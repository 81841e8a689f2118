"""Separate executor processes, as on a cluster, give the same matches, with the driver's compiled kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark import elsewhere

pytestmark = pytest.mark.spark


def test_executors_in_their_own_processes_give_the_same_matches_also_of_a_stream(tmp_path: Path) -> None:
    words = elsewhere.run("local-cluster[2,1,1024]", tmp_path / "events")
    assert words[::2] == ["matches", "live"]
    assert int(words[1]) > int(words[3]) > 0
    compiled = list(Path(elsewhere.executors_cache(tmp_path / "events")).rglob("*.kernel"))
    assert compiled == [], "the executors were sent what the driver had compiled"
