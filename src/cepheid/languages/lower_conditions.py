"""Conditions, of every language: syntax tree → `algebra.conditions`.

Sugar goes here: BETWEEN and chains (`x.id = z.id = 1`) become conjunctions, the NOT forms negations, `-x`
becomes `0 - x`, and `!=`, `==` are written as `<>`, `=`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise

from lark import Token, Tree

from cepheid.algebra.cast_types import CastType, cast_type
from cepheid.algebra.conditions import (
    EVENT,
    FALSE,
    TRUE,
    Arithmetic,
    Attribute,
    Case,
    Cast,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    Element,
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Negation,
    RLike,
)
from cepheid.errors import CepheidError, Source, Span
from cepheid.languages.calls import called, of_distinct, of_events
from cepheid.languages.literals import literals_of
from cepheid.languages.parsed import Node, Part, span_of
from cepheid.languages.words import decimal_of, integer_of, interval_of, name_of, negated, text_of, time_of

ARITHMETIC = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "remainder": "%"}
COMPARISON = {"==": "=", "!=": "<>", "≠": "<>", "≤": "<=", "≥": ">="}


def lower_condition(source: Source, part: Part) -> Condition:
    """The condition a subtree stands for."""
    assert isinstance(part, Tree)
    rule, children = str(part.data), part.children
    if rule.startswith(("not_", "is_not_")):
        plain: Node = Tree(rule.replace("not_", "", 1), children, part.meta)
        return Negation(lower_condition(source, plain), span_of(source, part))
    if rule in ARITHMETIC:
        left, right = (lower_condition(source, child) for child in children)
        return Arithmetic(ARITHMETIC[rule], left, right, span_of(source, part))
    return _lowered(source, part)


def _lowered(source: Source, node: Node) -> Condition:
    """One case per rule of the grammar."""
    span = span_of(source, node)
    match str(node.data), node.children:
        case "attribute", [Token() as var, Token() as name]:
            return Attribute(name_of(var), name_of(name), span=span)
        case "field", [operand, Token() as name]:
            return Element(lower_condition(source, operand), name_of(name), span)
        case "item", [operand, *_, Token() as number]:
            place = integer_of(source, number, sign=1 if len(node.children) == 2 else -1)
            return Element(lower_condition(source, operand), place, span)
        case "key", [operand, Token() as key]:
            return Element(lower_condition(source, operand), text_of(key), span)
        case "current", [Token() as name]:
            return Attribute(None, name_of(name), span=span)
        case "call", [Token() as function, *arguments]:
            values = tuple(lower_condition(source, item) for item in arguments if item is not None)
            return called(name_of(function).lower(), values, span)
        case "of_events", [Token() as function, Token() as var]:
            return of_events(
                name_of(function).lower(), Attribute(name_of(var), EVENT, span=span_of(source, var)), span
            )
        case "of_distinct", [Token() as function, _, operand]:
            return of_distinct(name_of(function).lower(), lower_condition(source, operand), span)
        case "integer", [Token() as token]:
            return Literal(integer_of(source, token), span)
        case "decimal", [Token() as token]:
            return Literal(decimal_of(source, token), span)
        case "string", [Token() as token]:
            return Literal(text_of(token), span)
        case ("timestamp" | "date" | "time") as rule, [_, Token() as token]:
            return Literal(time_of(source, rule, token), span)
        case "interval", [_, Token() as number, Token() as unit]:
            return Literal(interval_of(source, number, unit), span)
        case "value", [Token() as token]:
            return Literal(token.value, span)
        case "case", [_, subject, *whens, otherwise]:
            return _case(source, subject, whens, otherwise, span)
        case "cast", [_, operand, Tree() as target]:
            return Cast(lower_condition(source, operand), _cast_type(source, target), span)
        case "true", _:
            return Literal(TRUE.value, span)
        case "false", _:
            return Literal(FALSE.value, span)
        case "null", _:
            return Literal(None, span)
        case "minus", [Tree() as operand]:
            return _minus(source, node, operand)
        case "any_of", operands:
            return Disjunction(tuple(lower_condition(source, item) for item in operands), span)
        case "all_of", operands:
            return Conjunction(tuple(part for item in operands for part in _conjuncts(source, item)), span)
        case "compare", _:
            parts = _chain(source, node)
            return parts[0] if len(parts) == 1 else Conjunction(parts, span)
        case "not", [operand]:
            return Negation(lower_condition(source, operand), span)
        case "in", [operand, *items]:
            listed = tuple(value for item in items for value in _listed(source, item))
            if not listed:  # of a parameter
                return Literal(False, span)
            return In(lower_condition(source, operand), listed, span)
        case "between", [operand, low, high]:
            value = lower_condition(source, operand)
            least = Comparison(">=", value, lower_condition(source, low), span)
            return Conjunction((least, Comparison("<=", value, lower_condition(source, high), span)), span)
        case "like", [operand, Token() as pattern]:
            return Like(lower_condition(source, operand), text_of(pattern), span)
        case "rlike", [operand, Token() as pattern]:
            return RLike(lower_condition(source, operand), text_of(pattern), span)
        case "is_null", [operand]:
            return IsNull(lower_condition(source, operand), span)
        case "is_true", [operand]:
            return IsTrue(lower_condition(source, operand), span)
        case other:
            raise AssertionError(other)


def _minus(source: Source, node: Node, operand: Node) -> Condition:
    """A sign before a number is part of it, so that the smallest integer can be written."""
    span = span_of(source, node)
    if operand.data == "integer" and isinstance(operand.children[0], Token):
        return Literal(integer_of(source, operand.children[0], sign=-1), span)
    value = lower_condition(source, operand)
    if isinstance(value, Literal) and isinstance(value.value, float | Decimal):
        return Literal(negated(value.value), span)
    return Arithmetic("-", Literal(0), value, span)


def _case(source: Source, subject: Part, whens: Sequence[Part], otherwise: Part, span: Span) -> Case:
    """`CASE x WHEN a THEN …` is `CASE WHEN x = a THEN …`."""
    compared = None if subject is None else lower_condition(source, subject)
    conditions, values = list[Condition](), list[Condition]()
    for when in whens:
        assert isinstance(when, Tree)
        condition, value = (lower_condition(source, child) for child in when.children)
        if compared is not None:
            condition = Comparison("=", compared, condition, condition.span)
        conditions.append(condition)
        values.append(value)
    last = Literal(None) if otherwise is None else lower_condition(source, otherwise)
    return Case(tuple(conditions), tuple(values), last, span)


def _cast_type(source: Source, target: Node) -> CastType:
    name, *digits = (token for token in target.children if isinstance(token, Token))
    return cast_type(str(name), [integer_of(source, token) for token in digits], span_of(source, target))


def _listed(source: Source, item: Part) -> Iterator[Condition]:
    """The values of an item of a list; a long list of literals is one token."""
    if isinstance(item, Token):
        yield from literals_of(source, item)
    else:
        yield lower_condition(source, item)


def _conjuncts(source: Source, part: Part) -> tuple[Condition, ...]:
    """A chain among the operands of an AND is flattened; an operand in parentheses stays one."""
    if isinstance(part, Tree) and part.data == "compare":
        return _chain(source, part)
    return (lower_condition(source, part),)


def _chain(source: Source, node: Node) -> tuple[Comparison, ...]:
    """`a = b = c` is the conjunction of the comparisons of neighbours.

    Where all are to equal a constant, each is compared with it: `x.id = z.id = 1` is two unary conditions, as the
    paper counts it, not one over x and z.
    """
    span = span_of(source, node)
    operators = [COMPARISON.get(str(token), str(token)) for token in node.children[1::2]]
    if len(operators) > 1 and "<>" in operators:
        raise CepheidError(
            "syntax", "`<>` cannot be chained", span=span, hint="say which values differ, joined by AND"
        )
    values = [lower_condition(source, child) for child in node.children[0::2]]
    constants = [value for value in values if isinstance(value, Literal)]
    if operators[1:] and set(operators) == {"="} and len(constants) == 1:
        others = [value for value in values if not isinstance(value, Literal)]
        return tuple(Comparison("=", value, constants[0], span) for value in others)
    return tuple(
        Comparison(operator, left, right, span)
        for operator, (left, right) in zip(operators, pairwise(values), strict=True)
    )
