"""The cases of other engines' suites, on `auto`. Skipped where they are not beside the project; `make suites` runs the
few slow ones, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import suites

pytestmark = [
    pytest.mark.skipif(
        not suites.SCRIPT.exists(), reason=f"the suites are not beside the project, in {suites.FOLDER}"
    ),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.mark.parametrize("suite", suites.files(), ids=lambda path: path.name.split(".")[0])
def test_the_matches_are_those_that_other_engines_expect(suite: Path) -> None:
    found = suites.results([suite], without=suites.SLOW)
    assert found
    assert suites.failed(found) == []
