"""Algebra → text.

In: conditions, patterns, queries. Out: CEL or SREMO that parses back to an equal value; what neither can say
(conditions inside atoms, the other papers' operators) is printed in a plain form of its own. A node is put
in parentheses exactly when it binds looser than its place asks for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from cepheid.algebra.conditions import Attribute
from cepheid.algebra.expression_printing import KEYWORDS as KEYWORDS
from cepheid.algebra.expression_printing import print_attribute
from cepheid.algebra.expression_printing import print_condition as print_condition
from cepheid.algebra.expression_printing import print_name as print_name
from cepheid.algebra.expression_printing import print_value as print_value
from cepheid.algebra.expression_printing import print_window as print_window
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
    Intersect,
    Not,
    Or,
    PartBy,
    Pattern,
    Query,
    Recognise,
    Repeat,
    Select,
    Seq,
    Strategy,
    StrictSeq,
    Within,
    children,
)
from cepheid.algebra.reading_printing import print_reading, reading_tree
from cepheid.algebra.strings import Inside, Reading

# How tightly a node binds, loosest first; a place asks for at least one of these.
FILTERED, CHOICE, TOGETHER, SEQUENCE, REPEATED, UNIT, ENCLOSED = range(7)


def print_query(query: Query) -> str:
    """The query as CEL, or as SREMO if that is what it is, a clause per line.

    >>> from cepheid.algebra.nodes import Atom, Query, Seq
    >>> print(print_query(Query(Seq(Atom("T", "x"), Atom("H")), streams=("farm",), limit=3)))
    SELECT *
    FROM farm
    WHERE T AS x ; H
    LIMIT 3
    """
    return "\n".join(_clauses(query))


def _clauses(query: Query) -> Iterator[str]:
    if isinstance(query.pattern, Recognise):
        yield _unwindowed(query.pattern.reading)
    else:
        yield from _select(query)
    if query.partition_by:
        yield "PARTITION BY " + _names(query.partition_by)
    if query.window is not None:
        yield "WITHIN " + print_window(query.window)
    if query.consume:
        yield "CONSUME"
    if query.limit is not None:
        yield f"LIMIT {query.limit}"


def _unwindowed(reading: Reading) -> str:
    """A WITHIN outside of parentheses is the query's."""
    return f"({print_reading(reading)})" if isinstance(reading, Inside) else print_reading(reading)


def _select(query: Query) -> Iterator[str]:
    strategy = "" if query.strategy is Strategy.ALL else f"{query.strategy.value} "
    yield f"SELECT {strategy}" + ("*" if query.select is None else _names(query.select))
    if query.streams:
        yield "FROM " + _names(query.streams)
    yield "WHERE " + print_pattern(query.pattern)


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(print_name(name) for name in names)


def print_pattern(pattern: Pattern) -> str:
    """A pattern on one line.

    >>> print_pattern(Repeat(Or(Atom("T", "x"), Atom("H")), 2, None))
    '(T AS x OR H){2,}'
    """
    return _pattern(pattern, FILTERED)


def _pattern(pattern: Pattern, place: int) -> str:
    text, binding = _bare(pattern)
    return text if binding >= place else f"({text})"


def _bare(pattern: Pattern) -> tuple[str, int]:
    """The text of a pattern without parentheses around it, and how tightly it binds."""
    match pattern:
        case Atom():
            return _atom(pattern), UNIT
        case Seq(left, right):
            return f"{_pattern(left, SEQUENCE)} ; {_pattern(right, REPEATED)}", SEQUENCE
        case StrictSeq(left, right):
            return f"{_pattern(left, SEQUENCE)} : {_pattern(right, REPEATED)}", SEQUENCE
        case Or(left, right):
            return f"{_pattern(left, CHOICE)} OR {_pattern(right, TOGETHER)}", CHOICE
        case All(left, right):
            # Sequences would do without parentheses; they keep a reader from asking.
            first = _pattern(left, TOGETHER if isinstance(left, All) else REPEATED)
            return f"{first} ALL {_pattern(right, REPEATED)}", TOGETHER
        case Repeat(body, lo, hi):
            named = isinstance(body, Bind) or (isinstance(body, Atom) and body.var is not None)
            # `T AS x+` would do; the parentheses keep a reader from asking whether the name covers the sign.
            return _pattern(body, ENCLOSED if named else REPEATED) + _sign(lo, hi), REPEATED
        case Bind(body, var):
            return f"{_pattern(body, REPEATED)} IN {print_name(var)}", REPEATED
        case PartBy(body, keys):
            return f"{_pattern(body, FILTERED)} {print_part_by(keys)}", FILTERED
        case Filter(body, condition):
            return f"{_pattern(body, FILTERED)} FILTER {print_condition(condition)}", FILTERED
        case Select(strategy, body):
            return f"{strategy.value}({print_pattern(body)})", UNIT
        case Recognise(reading):
            return print_reading(reading), FILTERED
        case _:
            return _beyond_cel(pattern), FILTERED


def print_key(key: tuple[str | None, str]) -> str:
    """What PART-BY compares.

    >>> print_key(("X", "id")), print_key((None, "id"))
    ('X.id', 'id')
    """
    return print_attribute(Attribute(*key))


def print_part_by(keys: tuple[tuple[str | None, str], ...]) -> str:
    return f"PART-BY [{', '.join(map(print_key, keys))}]"


def _beyond_cel(pattern: Intersect | Not | Within) -> str:
    match pattern:
        case Intersect(left, right):
            return f"{_pattern(left, UNIT)} AND {_pattern(right, UNIT)}"
        case Not(body):
            return f"NOT {_pattern(body, UNIT)}"
        case Within(body, window):
            return f"{_pattern(body, UNIT)} WITHIN {print_window(window)}"
        case _:
            assert_never(pattern)


def _atom(atom: Pattern) -> str:
    assert isinstance(atom, Atom)
    text = "ANY" if atom.type is None else print_name(atom.type)
    if atom.condition is not None:
        text += f"[{print_condition(atom.condition)}]"
    if not atom.marked:
        text += " UNMARKED"
    return text if atom.var is None else f"{text} AS {print_name(atom.var)}"


def _sign(lo: int, hi: int | None) -> str:
    match lo, hi:
        case 1, None:
            return "+"
        case 0, None:
            return "*"
        case 0, 1:
            return "?"
        case _:
            return f"{{{lo}}}" if lo == hi else f"{{{lo},{'' if hi is None else hi}}}"


def print_tree(pattern: Pattern) -> str:
    """A pattern with a node per line, children indented below it.

    >>> print(print_tree(Seq(Atom("T", "x"), Repeat(Atom("H"), 1, None))))
    ;
      T AS x
      +
        H
    """
    return "\n".join(_tree_lines(pattern, 0))


def _tree_lines(pattern: Pattern, depth: int) -> Iterator[str]:
    yield "  " * depth + _head(pattern)
    if isinstance(pattern, Recognise):
        yield from reading_tree(pattern.reading, depth + 1)
    for child in children(pattern):
        yield from _tree_lines(child, depth + 1)


def _head(pattern: Pattern) -> str:
    match pattern:
        case Atom():
            return _atom(pattern)
        case Seq():
            return ";"
        case StrictSeq():
            return ":"
        case Or():
            return "OR"
        case All():
            return "ALL"
        case Intersect():
            return "AND"
        case Repeat(_, lo, hi):
            return _sign(lo, hi)
        case Not():
            return "NOT"
        case Filter(_, condition):
            return f"FILTER {print_condition(condition)}"
        case PartBy(_, keys):
            return print_part_by(keys)
        case Within(_, window):
            return f"WITHIN {print_window(window)}"
        case Select(strategy):
            return strategy.value
        case Bind(_, var):
            return f"IN {print_name(var)}"
        case Recognise():
            return "recognise"
        case _:
            assert_never(pattern)
