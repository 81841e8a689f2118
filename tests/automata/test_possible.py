"""What one event may satisfy at once: never two constants for an attribute, and queries are planned by that."""

from __future__ import annotations

import pyarrow as pa

import cepheid
from cepheid.algebra.conditions import Attribute, Comparison, Conjunction, Literal
from cepheid.automata.cea import Predicate
from cepheid.automata.possible import possible_classes

TICKS = pa.schema({"ts": pa.int64(), "type": pa.string(), "name": pa.string(), "price": pa.float64()})


def compared(name: str, op: str, value: object) -> Comparison:
    return Comparison(op, Attribute(None, name), Literal(value))  # type: ignore[arg-type]


def test_constants_for_one_attribute_exclude_each_other() -> None:
    predicates = tuple(
        Predicate(None, condition)
        for condition in (
            compared("name", "=", "A"),
            Comparison("=", Literal("B"), Attribute(None, "name")),
            compared("id", "=", 1),
            compared("price", ">", 5),
            Conjunction((compared("name", "=", "A"), compared("price", ">", 7))),
        )
    )
    classes = possible_classes(predicates)
    assert len(set(classes)) == len(classes)
    assert not any({0, 1} <= found or {1, 4} <= found for found in classes)
    assert {frozenset({0, 2, 3, 4}), frozenset({1, 2, 3}), frozenset({0, 2}), frozenset()} <= set(classes)


def test_a_register_is_not_the_event_at_hand() -> None:
    of_register = Comparison("=", Attribute("r", "name"), Literal("A"))
    predicates = (Predicate(None, of_register), Predicate(None, compared("name", "=", "B")))
    assert frozenset({0, 1}) in possible_classes(predicates)


def test_too_many_constants_are_taken_all_at_once() -> None:
    predicates = tuple(Predicate(None, compared(a, "=", n)) for a in "abc" for n in range(9))
    assert frozenset(range(27)) in possible_classes(predicates)


def test_many_iterations_of_different_names_need_no_definition() -> None:
    """If one event could have all the names, partial matches would remember ever more events."""
    parts = [
        f"[name = '{a}'] > r{i}, [name = '{b}']+, [name = '{c}' AND price > r{i}.price]"
        for i, (a, b, c) in enumerate(("ABC", "DEF", "GHI", "JAB"))
    ]
    plan = cepheid.explain(f"#({', '.join(parts)}) WITHIN 500", TICKS)
    assert "evaluator: configurations" in plan
