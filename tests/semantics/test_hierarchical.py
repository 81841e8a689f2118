"""Proposition 5 of `partition-by-chain-cea`: ALL and PART-BY say what hierarchical conjunctive queries say.

A query is a conjunction of atoms over variables; here its answers are found by trying every event for every atom. The
paper lets a complex event hold up to as many events as the query has atoms, which lets in events that no atom needs; as
in its proof, those that the atoms are mapped to are meant.
"""

from __future__ import annotations

from itertools import product

import pytest

from cepheid.algebra.nodes import All, Atom, PartBy, Pattern, Query
from cepheid.semantics.oracle import evaluate
from cepheid.semantics.stream import Event
from support.generators import Seeded

Conjunct = tuple[str, dict[str, str]]  # a relation, and the variable of each of its attributes


def answers(query: list[Conjunct], stream: list[Event]) -> set[tuple[int, ...]]:
    found = set()
    for places in product(range(len(stream)), repeat=len(query)):
        values: dict[str, set[object]] = {}
        for (relation, terms), place in zip(query, places, strict=True):
            if stream[place].type != relation:
                break
            for attribute, variable in terms.items():
                values.setdefault(variable, set()).add(stream[place].attributes[attribute])
        else:
            if all(len(seen) == 1 for seen in values.values()):
                found.add(tuple(sorted(set(places))))
    return found


def all_of(*parts: Pattern) -> Pattern:
    first, *rest = parts
    for part in rest:
        first = All(first, part)
    return first


R, S, T, U = Atom("R"), Atom("S"), Atom("T"), Atom("U")
BY_A, BY_B = ((None, "a"),), ((None, "b"),)
QUERIES: dict[str, tuple[list[Conjunct], Pattern]] = {
    "R(x) ∧ S(x, y)": (
        [("R", {"a": "x"}), ("S", {"a": "x", "b": "y"})],
        PartBy(All(R, S), BY_A),
    ),
    "R(x) ∧ S(y)": ([("R", {"a": "x"}), ("S", {"a": "y"})], All(R, S)),
    "R(x) ∧ S(x, y) ∧ T(x, y)": (
        [("R", {"a": "x"}), ("S", {"a": "x", "b": "y"}), ("T", {"a": "x", "b": "y"})],
        PartBy(All(R, PartBy(All(S, T), BY_B)), BY_A),
    ),
    "R(x, y) ∧ S(x, y) ∧ T(x, z) ∧ U(x, z)": (
        [
            ("R", {"a": "x", "b": "y"}),
            ("S", {"a": "x", "b": "y"}),
            ("T", {"a": "x", "b": "z"}),
            ("U", {"a": "x", "b": "z"}),
        ],
        PartBy(All(PartBy(All(R, S), BY_B), PartBy(All(T, U), BY_B)), BY_A),
    ),
    "R(x) ∧ R(x) ∧ S(x)": (
        [("R", {"a": "x"}), ("R", {"a": "x"}), ("S", {"a": "x"})],
        PartBy(all_of(R, R, S), BY_A),
    ),
    "R(x) ∧ S(y) ∧ T(x)": (  # the paper's own: no chain-CEA has it
        [("R", {"a": "x"}), ("S", {"a": "y"}), ("T", {"a": "x"})],
        All(PartBy(All(R, T), BY_A), S),
    ),
}


@pytest.mark.parametrize("name", QUERIES)
def test_hierarchical_queries_are_all_with_part_by(name: str) -> None:
    query, pattern = QUERIES[name]
    matched = 0
    for seed in range(30):
        choices = Seeded(seed)
        stream = [
            Event("RSTU"[choices.below(4)], time, {"a": choices.below(2), "b": choices.below(2)})
            for time in range(11)
        ]
        expected = answers(query, stream)
        assert {match.positions for match in evaluate(Query(pattern), stream)} == expected
        matched += bool(expected)
    assert matched > 5
