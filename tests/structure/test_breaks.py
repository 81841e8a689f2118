"""The deliberate breaks of `make mutants` fit the sources, so that they can be run at any time."""

from __future__ import annotations

from breaks import BREAKS
from programs.breaks import PROJECT, place


def test_every_break_fits_the_sources_and_names_tests_that_exist() -> None:
    assert [f"{item.file}: {item.old!r}" for item in BREAKS if place(item) is None] == []
    tests = {test.split("::")[0] for item in BREAKS for test in item.noticed_by}
    assert sorted(test for test in tests if not (PROJECT / test).exists()) == []


def test_the_page_on_testing_says_how_many_there_are() -> None:
    page = (PROJECT / "docs/testing.md").read_text(encoding="utf-8")
    assert f"There are {len(BREAKS)} breaks:" in page
