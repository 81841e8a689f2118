"""Compiled kernels are cached where they can be written, and never used for other sources."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from cepheid import kernels
from cepheid.kernels import cache_directory


def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "one.py").write_text("ONE = 1\n")
    return folder


def test_the_cache_lies_beside_the_sources(tmp_path: Path) -> None:
    folder = sources(tmp_path)
    assert cache_directory(folder).parent == folder / "__pycache__"
    assert cache_directory(folder) == cache_directory(folder)


def test_a_change_in_any_kernel_makes_a_new_cache_and_drops_the_old(tmp_path: Path) -> None:
    folder = sources(tmp_path)
    before = cache_directory(folder)
    (folder / "one.py").write_text("ONE = 2\n")
    after = cache_directory(folder)
    assert after != before
    assert after.exists()
    assert not before.exists()


@pytest.mark.parametrize("home", ["home", "no-home"])
def test_sources_that_cannot_be_written_are_cached_elsewhere(
    tmp_path: Path, home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = sources(tmp_path)
    forbidden = {folder, tmp_path / "no-home"}
    monkeypatch.setattr(kernels, "_writable", lambda path: forbidden.isdisjoint(path.parents))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / home))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    found = cache_directory(folder)
    assert found.relative_to(tmp_path).parts[0] == ("home" if home == "home" else "temporary")
