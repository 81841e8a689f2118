"""ARCHITECTURE.md follows one query through every folder; what it prints is what is printed."""

from __future__ import annotations

import doctest
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_stages_of_the_architecture_page_are_the_real_ones() -> None:
    results = doctest.testfile(str(ROOT / "ARCHITECTURE.md"), module_relative=False, encoding="utf-8")
    assert results.failed == 0
    assert results.attempted > 20


def test_every_folder_is_on_the_architecture_page() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    folders = [path.name for path in (ROOT / "src" / "cepheid").iterdir() if (path / "__init__.py").exists()]
    assert [folder for folder in folders if f"{folder}/" not in page] == []
