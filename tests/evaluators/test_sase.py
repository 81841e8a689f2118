"""SASE+: the definition against the letter of the paper, and the engine against the definition, on random queries."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest

import cepheid
from cepheid.algebra.nfab import Nfab
from cepheid.algebra.types import check_types
from cepheid.pipeline import ParsedQuery
from cepheid.schema import schema_of
from cepheid.semantics.nfab import all_matches
from cepheid.semantics.stream import events_of
from support.generators import Seeded
from support.literal_nfab import Buffer, literal_matches
from support.random_sase import SaseCase, sase_case

pytestmark = pytest.mark.filterwarnings("ignore:`!` has no effect", "ignore:no event is of type")


def parsed(case: SaseCase) -> ParsedQuery:
    return cepheid.query(case.text)


def defined(case: SaseCase) -> list[Buffer]:
    """The matches of the definition."""
    schema = schema_of(case.table.schema, time="ts")
    query = check_types(parsed(case).query, schema)
    assert isinstance(query.pattern, Nfab)
    events = events_of(case.table, schema)
    return sorted(match.buffer for match in all_matches(query.pattern, query.window, events))


def by_the_letter(case: SaseCase) -> list[Buffer]:
    schema = schema_of(case.table.schema, time="ts")
    query = check_types(parsed(case).query, schema)
    assert isinstance(query.pattern, Nfab)
    return sorted(literal_matches(query.pattern, query.window, events_of(case.table, schema)))


def bindings(case: SaseCase, found: pa.Table) -> list[Buffer]:
    """The buffers that an output shows, by the numbers of their events."""
    pattern = parsed(case).query.pattern
    assert isinstance(pattern, Nfab)
    names = [part.var for part in pattern.positive]
    return sorted(tuple(tuple(_several(row[name])) for name in names) for row in found.to_pylist())


def _several(value: Any) -> list[int]:
    return value if isinstance(value, list) else [value]


def in_pieces(case: SaseCase, cuts: list[int], evaluator: str) -> pa.Table:
    """The output of an engine that is saved and loaded between pieces of the stream."""
    engine = parsed(case).engine(case.table.schema, evaluator=evaluator)
    pieces = list[pa.Table]()
    for begin, end in pairwise([0, *cuts, len(case.table)]):
        pieces.append(engine.push(case.table.slice(begin, end - begin)))
        engine = cepheid.load(engine.save())
    return pa.concat_tables([*pieces, engine.finish()])


def check(seed: int, events: int = 8) -> int:
    """Compares everything on the case of a seed; gives the number of matches."""
    choices = Seeded(seed)
    case = sase_case(choices, events)
    expected = by_the_letter(case)
    assert Counter(defined(case)) == Counter(expected), (seed, case)
    cuts = sorted(choices.below(len(case.table) + 1) for _ in range(choices.below(4)))
    for evaluator in ("auto", "semantics"):
        assert bindings(case, in_pieces(case, cuts, evaluator)) == expected, (seed, evaluator, cuts, case)
    assert cepheid.count(case.table, case.text) == len(expected), (seed, case)
    return len(expected)


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_the_definition_and_the_engine_agree_with_the_letter_of_the_paper(first: int) -> None:
    found = [check(seed) for seed in range(first, first + 50)]
    assert sum(map(bool, found)) > 10


@pytest.mark.parametrize("seed", range(200, 260))
def test_a_query_prints_as_text_that_reads_as_the_same_query(seed: int) -> None:
    query = parsed(sase_case(Seeded(seed)))
    again = cepheid.query(str(query))
    assert again.query == query.query
    assert str(again) == str(query)
