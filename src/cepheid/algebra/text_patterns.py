"""Checks of LIKE, RLIKE and functions that make texts: regular expressions are valid and sizes bounded.

In: a condition. Out: nothing, or the error, before any data are read. The bounds keep every condition, also a constant
one that planning evaluates, from taking long or filling the memory by itself.
"""

from __future__ import annotations

from typing import assert_never

import pyarrow as pa
import pyarrow.compute as pc

from cepheid.algebra.conditions import (
    Aggregate,
    Arithmetic,
    Attribute,
    Call,
    Case,
    Cast,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    Element,
    Expression,
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Negation,
    Previous,
    RLike,
    attributes,
    children,
)
from cepheid.errors import CepheidError, clipped

LONGEST_PATTERN = 10_000  # characters of a LIKE or RLIKE
LONGEST_TEXT = 1 << 24  # characters that functions may make of texts of one character
LONGEST_CONSTANT = 1_000  # characters of a constant that is compared with RLIKE
MOST_WORK = 10_000_000  # characters of a constant times those of the LIKE it is compared with


def check_text_patterns(condition: Condition) -> None:
    """Raises for the first invalid pattern and the first text that is too long.

    >>> check_text_patterns(RLike(Attribute("x", "name"), "a(b"))
    Traceback (most recent call last):
    cepheid.errors.CepheidError: error[bad-argument]: `a(b` is not a regular expression: ...
      hint: the syntax is RE2's: no look-around
    """
    match condition:
        case Like(operand, pattern) | RLike(operand, pattern):
            _check_length(condition, pattern)
            if isinstance(condition, RLike):
                _check_regex(condition)
            if next(attributes(operand), None) is None:
                _check_constant(condition, operand, pattern)
        case Call() if _longest(condition) > LONGEST_TEXT:
            message = f"`{condition.function}` here can make a text {_longest(condition):,} times as long"
            hint = "replace inside of replace multiplies lengths: use fewer, or do it where the data are made"
            raise CepheidError("too-large", message, span=condition.span, hint=hint)
        case Literal() | Attribute() | Arithmetic() | Comparison() | Conjunction() | Disjunction():
            pass
        case (
            Negation()
            | IsTrue()
            | IsNull()
            | In()
            | Call()
            | Element()
            | Case()
            | Cast()
            | Aggregate()
            | Previous()
        ):
            pass
        case _:
            assert_never(condition)
    for child in children(condition):
        if not isinstance(child, Literal):  # lists have many
            check_text_patterns(child)


def _check_length(condition: Like | RLike, pattern: str) -> None:
    if len(pattern) > LONGEST_PATTERN:
        name = "LIKE" if isinstance(condition, Like) else "RLIKE"
        message = f"the pattern of {name} has {len(pattern):,} characters; {LONGEST_PATTERN:,} are the most"
        hint = "write several values as a list, x.name IN ('a', 'b', …), or join several patterns by OR"
        raise CepheidError("too-large", message, span=condition.span, hint=hint)


def _check_regex(condition: RLike) -> None:
    try:
        pc.match_substring_regex(pa.array([""]), condition.pattern)
    except pa.ArrowInvalid as invalid:
        reason = str(invalid).rsplit("RE2: ", 1)[-1].strip()
        message = f"`{clipped(condition.pattern, 200)}` is not a regular expression: {clipped(reason, 300)}"
        hint = "the syntax is RE2's: no look-around"
        raise CepheidError("bad-argument", message, span=condition.span, hint=hint) from None


def _check_constant(condition: Like | RLike, operand: Expression, pattern: str) -> None:
    """A constant is compared when the query is planned."""
    length = _longest(operand)
    too_long = (
        length > LONGEST_CONSTANT if isinstance(condition, RLike) else length * len(pattern) > MOST_WORK
    )
    if too_long:
        message = f"a constant text of up to {length:,} characters is too long to be compared with a pattern"
        hint = "a condition on constants is always true or never: write TRUE or FALSE"
        raise CepheidError("too-large", message, span=condition.span, hint=hint)


def _longest(expression: Expression) -> int:
    """A bound on the characters of a value, for attributes of one character."""
    match expression:
        case Literal(str() as text):
            return len(text)
        case Attribute() | Literal():
            return 1
        case Call("concat", arguments):
            return sum(map(_longest, arguments))
        case Call("replace", [text, _, new]):
            return _longest(text) * max(1, _longest(new))
        case Call("upper" | "lower", [text]):
            return 3 * _longest(text)
        case Arithmetic() | Comparison() | Conjunction() | Disjunction() | Negation() | IsTrue() | IsNull():
            return max(map(_longest, children(expression)), default=1)
        case In() | Like() | RLike() | Call() | Element() | Case() | Cast() | Aggregate() | Previous():
            return max(map(_longest, children(expression)), default=1)
        case _:
            assert_never(expression)
