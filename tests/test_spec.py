"""Every example of `tests/spec`, on every evaluator; `declined*.toml` say exactly which ones each declines."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pytest

import cepheid
from cepheid.languages import LANGUAGES
from cepheid.plan.choose import EVALUATORS
from support.spec_files import Example, Match, examples, matches_of, rows_of

SPEC = Path(__file__).parent / "spec"
EXAMPLES = [example for path in sorted(SPEC.glob("*.md")) for example in examples(path)]
DECLINED: dict[str, set[str]] = {}
for path in sorted(SPEC.glob("declined*.toml")):
    for evaluator, headings in tomllib.loads(path.read_text(encoding="utf-8")).items():
        names = {f"{heading} {number}" for heading, numbers in headings.items() for number in numbers}
        DECLINED.setdefault(evaluator, set()).update(names)


def run(example: Example, evaluator: str) -> pa.Table:
    return cepheid.match(example.stream, example.query, time="ts", positions=True, evaluator=evaluator)


def compared(matches: Iterable[Match], with_bindings: bool) -> Counter[Match]:
    return Counter(match if with_bindings else Match(match.positions) for match in matches)


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.error is None], ids=lambda e: e.name)
def test_the_matches_are_those_of_the_spec(example: Example, evaluator: str) -> None:
    if example.name in DECLINED.get(evaluator, ()):
        with pytest.raises(cepheid.CepheidError) as caught:
            run(example, evaluator)
        assert caught.value.code == "unsupported-evaluator"
        pytest.skip(f"{evaluator} declines it, as declined.toml says")
    result = run(example, evaluator)
    if example.rows is not None:
        header, *rows = example.rows
        assert sorted(rows_of(result, header)) == sorted(rows)
        counted = cepheid.count(example.stream, example.query, time="ts", evaluator=evaluator)
        assert counted == len(result)
        return
    with_bindings = any(match.bindings for match in example.matches)
    found = compared(matches_of(result, example.stream), with_bindings)
    assert found == compared(example.matches, with_bindings)


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.error is not None], ids=lambda e: e.name)
def test_the_error_is_that_of_the_spec(example: Example, evaluator: str) -> None:
    code, *fragments = example.error or ()
    if example.name in DECLINED.get(evaluator, ()):  # before what is wrong with the results is seen
        code, fragments = "unsupported-evaluator", []
    with pytest.raises(cepheid.CepheidError) as caught:
        run(example, evaluator)
    assert caught.value.code == code
    assert [fragment for fragment in fragments if fragment not in str(caught.value)] == []


def test_what_is_said_to_be_declined_are_examples_and_nobody_declines_for_auto_or_the_definition() -> None:
    assert set(DECLINED) <= set(EVALUATORS) - {"auto", "semantics"}
    known = {example.name for example in EXAMPLES}
    assert [name for names in DECLINED.values() for name in names if name not in known] == []


def test_every_query_of_the_spec_files_is_an_example() -> None:
    texts = [path.read_text(encoding="utf-8") for path in SPEC.glob("*.md")]
    queries = [text.count(f"```{language}") for text in texts for language in LANGUAGES]
    assert len(EXAMPLES) == sum(queries) > 150
