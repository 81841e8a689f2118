"""Every example of `docs/coming-from.md` gives what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

import cepheid
from support.spec_files import Example, Match, examples, matches_of, rows_of

PAGE = Path(__file__).parents[2] / "docs" / "coming-from.md"
EXAMPLES = list(examples(PAGE))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_examples_give_what_the_page_says(example: Example) -> None:
    found = cepheid.match(example.stream, example.query, positions=True)
    if example.rows is not None:
        header, *rows = example.rows
        assert sorted(rows_of(found, header)) == sorted(rows)
        return
    matches = matches_of(found, example.stream)
    if not any(match.bindings for match in example.matches):
        matches = [Match(match.positions) for match in matches]
    assert sorted(matches, key=str) == sorted(example.matches, key=str)


def test_every_system_has_an_example() -> None:
    headings = {example.name.removeprefix("coming-from: ").rsplit(" ", 1)[0] for example in EXAMPLES}
    assert {"FlinkCEP", "Esper", "MATCH_RECOGNIZE", "Siddhi", "ClickHouse"} < headings
