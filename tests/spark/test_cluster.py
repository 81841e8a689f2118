"""Separate executor processes, as on a cluster, give the same matches, with the driver's compiled kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

import cepheid
from cepheid.kernels.cache.store import store
from cepheid.spark import sending
from programs import other_session as elsewhere
from support.small_streams import THEN, stream

pytestmark = [pytest.mark.spark, pytest.mark.own_driver]


def test_executors_in_their_own_processes_give_the_same_matches_also_of_a_stream(tmp_path: Path) -> None:
    words = elsewhere.run("local-cluster[2,1,1024]", tmp_path / "events")
    assert words[::2] == ["matches", "live"]
    assert int(words[1]) > int(words[3]) > 0
    compiled = list(Path(elsewhere.executors_cache(tmp_path / "events")).rglob("*.kernel"))
    assert compiled == [], "the executors were sent what the driver had compiled"


class Session:
    """Takes files as a driver with executors elsewhere does: of one name from one path only."""

    def __init__(self, known: dict[str, str]) -> None:
        self.known = known

    def addArtifacts(self, path: str, *, file: bool) -> None:
        assert file
        assert self.known.setdefault(Path(path).name, path) == path, (
            "already registered with a different path"
        )


def test_a_pack_is_sent_again_for_another_session_and_after_other_kernels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert cepheid.count(stream("AB"), THEN) == 1  # so that there are kernels
    # Other processes may compile into the same folder meanwhile
    names, pack = store().folder.names(), store().pack_called()
    monkeypatch.setattr(store().folder, "names", lambda: names)
    monkeypatch.setattr(store(), "pack_called", lambda: pack)
    known: dict[str, str] = {}
    first, second = Session(known), Session(known)
    sent = sending._sent(first)
    assert list(known) == [sent.name]
    assert sending._sent(second) == sent
    names = [*names, "called_by_kernels_only-0-0"]
    assert sending._sent(first) == sent
