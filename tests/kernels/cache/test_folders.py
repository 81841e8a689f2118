"""Kernels are loaded only from folders that nobody else can change."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cepheid.kernels.cache import folders
from cepheid.kernels.cache.entries import EntryFolder
from cepheid.kernels.cache.folders import candidates, safe_folder, why_unsafe

as_root = pytest.mark.skipif(os.getuid() != 0, reason="only the superuser can give a folder to someone else")
SOMEONE = 65534


@pytest.fixture
def base() -> Iterator[Path]:
    """A folder under a temporary directory that has the sticky bit, as /tmp has."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder).resolve()


def test_a_folder_is_made_for_the_user_alone_whatever_the_umask(base: Path) -> None:
    before = os.umask(0)
    try:
        found = safe_folder(base / "one" / "two")
    finally:
        os.umask(before)
    assert found == base / "one" / "two"
    assert [path.stat().st_mode & 0o777 for path in (base / "one", base / "one" / "two")] == [0o700, 0o700]


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720, 0o702, 0o1777])
def test_a_folder_that_others_can_write_is_not_used(base: Path, mode: int) -> None:
    folder = base / "folder"
    folder.mkdir()
    folder.chmod(mode)
    assert safe_folder(folder) is None
    assert "can be written by others" in (why_unsafe(folder) or "")


def test_nor_is_one_below_such_a_folder_unless_that_has_the_sticky_bit(base: Path) -> None:
    folder = base / "above" / "folder"
    folder.mkdir(parents=True, mode=0o700)
    folder.parent.chmod(0o777)
    assert safe_folder(folder) is None
    folder.parent.chmod(0o1777)
    assert safe_folder(folder) == folder


@as_root
def test_a_folder_of_another_user_is_not_used(base: Path) -> None:
    folder = base / "folder"
    folder.mkdir(mode=0o700)
    os.chown(folder, SOMEONE, SOMEONE)
    assert safe_folder(folder) is None
    assert "belongs to another user" in (why_unsafe(folder) or "")


@as_root
def test_nor_is_one_below_a_folder_of_another_user(base: Path) -> None:
    folder = base / "above" / "folder"
    folder.mkdir(parents=True, mode=0o700)
    os.chown(folder.parent, SOMEONE, SOMEONE)
    assert safe_folder(folder) is None


def test_a_link_leads_to_what_it_points_at(base: Path) -> None:
    good, bad = base / "good", base / "bad"
    good.mkdir(mode=0o700)
    bad.mkdir()
    bad.chmod(0o777)
    (base / "to-good").symlink_to(good)
    (base / "to-bad").symlink_to(bad)
    (base / "to-nothing").symlink_to(base / "nothing")
    assert safe_folder(base / "to-good") == good
    assert safe_folder(base / "to-good" / "inside") == good / "inside"
    assert safe_folder(base / "to-bad") is None
    assert safe_folder(base / "to-bad" / "inside") is None
    assert safe_folder(base / "to-nothing") is None


@as_root
def test_a_link_of_another_user_is_not_followed(base: Path) -> None:
    """It could lead to a folder of the user's own into which they have unpacked what the other user gave them."""
    good = base / "good"
    good.mkdir(mode=0o700)
    (base / "theirs").symlink_to(good)
    os.lchown(base / "theirs", SOMEONE, SOMEONE)
    (base / "above").mkdir()
    (base / "above" / "to-theirs").symlink_to("../theirs")
    for path in (base / "theirs", base / "theirs" / "inside", base / "above" / "to-theirs"):
        assert safe_folder(path) is None
        assert "theirs, a link, belongs to another user" in (why_unsafe(path) or "")
    (base / "round").symlink_to(base / "round")
    assert safe_folder(base / "round") is None


def test_a_file_is_no_folder(base: Path) -> None:
    (base / "file").write_text("")
    assert safe_folder(base / "file") is None
    assert safe_folder(base / "file" / "below") is None


def test_the_first_safe_candidate_is_taken(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = base / "bad"
    bad.mkdir()
    bad.chmod(0o777)
    monkeypatch.setattr(folders, "candidates", lambda: iter([bad, base / "good", base / "other"]))
    assert folders.cache_folder.__wrapped__() == base / "good"
    assert not (base / "other").exists()


def test_candidates_lie_beside_the_sources_then_with_the_user(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CEPHEID_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(base))
    found = list(candidates())
    assert found[0].parent.name == "__pycache__"
    assert found[1] == base / "cepheid"
    assert found[2].name == f"cepheid-{os.getuid()}"
    monkeypatch.setenv("CEPHEID_CACHE_DIR", str(base / "asked"))
    assert list(candidates()) == [base / "asked"]


def test_where_nothing_can_be_written_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(**_: object) -> str:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(folders, "candidates", lambda: iter([]))
    monkeypatch.setattr(tempfile, "mkdtemp", fails)
    nowhere = EntryFolder(folders.cache_folder.__wrapped__() / "entries")
    nowhere.write("one", b"1")
    assert nowhere.read("one") is None
    assert nowhere.names() == []


PROGRAM = """
from cepheid.kernels.cache.store import store
path = store().folder.path.parent
print(path, oct(path.stat().st_mode & 0o777))
"""


def test_without_a_safe_folder_the_process_has_one_of_its_own(base: Path) -> None:
    planted = base / "planted"
    planted.mkdir()
    planted.chmod(0o777)
    environment = os.environ | {"CEPHEID_CACHE_DIR": str(planted), "TMPDIR": str(base)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    path, mode = done.stdout.split()
    assert Path(path).parent == base
    assert path != str(planted)
    assert mode == "0o700"
    assert not Path(path).exists(), "it goes when the process ends"
    assert "CEPHEID_CACHE_DIR is not used" in done.stderr
    assert "can be written by others" in done.stderr
    assert list(planted.iterdir()) == []
