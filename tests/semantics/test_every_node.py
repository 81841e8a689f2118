"""Every node and every form of condition is built from some text and has a meaning.

The texts are those of the spec files, and one of what only the oracle runs for now. What a text builds is what lowering
gives; what has a meaning is what the oracle was asked about while it ran them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

import pyarrow as pa
import pytest

from cepheid.algebra.conditions import Expression
from cepheid.algebra.conditions import children as operands
from cepheid.algebra.nodes import Computed, Pattern, Query, Reading, Recognise, conditions_in, walk
from cepheid.algebra.types import check_types
from cepheid.pipeline import ParsedScript, parse_text
from cepheid.schema import schema_of
from cepheid.semantics import meaning, oracle, output, reading, values, whole_sets
from cepheid.semantics.oracle import evaluate
from cepheid.semantics.output import values_shown
from cepheid.semantics.stream import events_of
from support.spec_files import Example, examples, read_stream

SPEC = Path(__file__).parents[1] / "spec"
NESTED_STRATEGY = Example(
    "a strategy inside a formula",
    read_stream("type\nA\nB\nB"),
    "SELECT * FROM s WHERE A ; MAX(B+)",
    matches=(),
    error=None,
)
NESTED_VALUES = Example(
    "an item of a list",
    pa.table({"ts": [0], "type": ["A"], "tags": [["a"]]}),
    "SELECT * FROM s WHERE A AS x FILTER x.tags[0] = 'a'",
    matches=(),
    error=None,
)
EXAMPLES = [
    NESTED_STRATEGY,
    NESTED_VALUES,
    *(item for path in sorted(SPEC.glob("*.md")) for item in examples(path) if item.error is None),
]


def members(union: object) -> set[type]:
    return {get_origin(item) or item for item in get_args(union)}


EVERY = members(Pattern) | members(Reading) | members(Expression)


def built_by(query: Query) -> Iterator[object]:
    for node in walk(query.pattern):
        yield node
        if isinstance(node, Recognise):
            yield from walk(node.reading)
    columns = [item.value for item in query.select or () if isinstance(item, Computed)]
    for condition in (*conditions_in(query.pattern), *columns):
        yield from parts(condition)


def parts(condition: Expression) -> Iterator[Expression]:
    yield condition
    for operand in operands(condition):
        yield from parts(operand)


def test_every_node_is_built_from_some_text_and_given_a_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    built: set[type] = set()
    met: set[type] = set()

    def noting(place: int, function: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any) -> Any:
            met.add(type(arguments[place]))
            return function(*arguments)

        return noted

    monkeypatch.setattr(meaning, "_meaning", noting(0, meaning._meaning))
    monkeypatch.setattr(values, "value_of", noting(0, values.value_of))
    monkeypatch.setattr(output, "value_of", noting(0, output.value_of))
    monkeypatch.setattr(whole_sets, "with_aggregates", noting(0, whole_sets.with_aggregates))
    monkeypatch.setattr(whole_sets, "with_previous", noting(0, whole_sets.with_previous))
    monkeypatch.setattr(reading.Reader, "ways", noting(1, reading.Reader.ways))
    monkeypatch.setattr(oracle, "all_matches", noting(0, oracle.all_matches))
    for example in EXAMPLES:
        parsed = parse_text(example.query)
        if isinstance(parsed, ParsedScript):
            continue  # its queries are of the same nodes
        query = parsed.query
        built |= set(map(type, built_by(query)))
        if met != EVERY:
            stream = query.streams[0] if query.streams else "stream"
            schema = schema_of(example.stream.schema, time="ts", stream=stream)
            typed, events = check_types(query, schema), events_of(example.stream, schema)
            for match in evaluate(typed, events)[:1]:
                values_shown(typed, match, events)
    assert built == EVERY
    assert met == EVERY
