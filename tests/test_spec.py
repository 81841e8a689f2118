"""Every example of `tests/spec`, on every evaluator that takes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pytest

import cepheid
from cepheid.plan.transducer import transducer_of
from support.spec_files import Example, Match, examples, matches_of

EVALUATORS = ("semantics", "compact", "configurations")
EXAMPLES = [
    example for path in sorted((Path(__file__).parent / "spec").glob("*.md")) for example in examples(path)
]


def run(example: Example, evaluator: str) -> pa.Table:
    return cepheid.match(example.stream, example.query, time="ts", positions=True, evaluator=evaluator)


def compared(matches: Iterable[Match], with_bindings: bool) -> Counter[Match]:
    return Counter(match if with_bindings else Match(match.positions) for match in matches)


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.error is None], ids=lambda e: e.name)
def test_the_matches_are_those_of_the_spec(example: Example, evaluator: str) -> None:
    try:
        result = run(example, evaluator)
    except cepheid.CepheidError as error:
        may_decline = example.may_decline or evaluator == "configurations"
        if not (may_decline and error.code == "unsupported-evaluator"):
            raise
        return  # an evaluator may decline n-ary conditions, or strategies, and says so
    with_bindings = any(match.bindings for match in example.matches)
    found = compared(matches_of(result, example.stream), with_bindings)
    assert found == compared(example.matches, with_bindings)


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.error is not None], ids=lambda e: e.name)
def test_the_error_is_that_of_the_spec(example: Example, evaluator: str) -> None:
    code, *fragments = example.error or ()
    with pytest.raises(cepheid.CepheidError) as caught:
        run(example, evaluator)
    assert caught.value.code == code
    assert [fragment for fragment in fragments if fragment not in str(caught.value)] == []


def test_configurations_takes_all_but_what_compares_matches_or_any_order() -> None:
    declined = [example for example in EXAMPLES if example.error is None and declines(example)]
    assert len(declined) < len(EXAMPLES) / 4


def declines(example: Example) -> bool:
    query = cepheid.query(example.query)
    engine = query.engine(example.stream.schema)
    return isinstance(transducer_of(query.query, engine.plan.rewritten), str)


def test_every_query_of_the_spec_files_is_an_example() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (Path(__file__).parent / "spec").glob("*.md")]
    assert len(EXAMPLES) == sum(text.count("```cel") + text.count("```sremo") for text in texts) > 150
