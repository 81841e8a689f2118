"""Algebra → text.

In: conditions, patterns, queries. Out: CEL or SREMO that parses back to an equal value; what neither can say
(conditions inside atoms) is printed in a plain form of its own. A node is put
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
    PREVIOUS,
    All,
    Atom,
    Bind,
    Both,
    Complement,
    Computed,
    Concat,
    Filter,
    Iterate,
    Not,
    Or,
    PartBy,
    Pattern,
    Query,
    Read,
    Reading,
    Recognise,
    Repeat,
    Select,
    Seq,
    Strategy,
    StrictSeq,
    Tree,
    Window,
    Within,
    children,
)
from cepheid.algebra.reading_printing import (
    CHOICE,
    ENCLOSED,
    LOOSEST,
    PREFIXED,
    REPEATED,
    SEQUENCE,
    TOGETHER,
    UNIT,
    in_place,
    print_read,
    print_reading,
)

CLOSED = LOOSEST - 1  # in parentheses wherever it stands


def print_query(query: Query) -> str:
    """The query in its own language, CEL or SREMO, a clause per line.

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
    return f"({print_reading(reading)})" if isinstance(reading, Within) else print_reading(reading)


def _select(query: Query) -> Iterator[str]:
    strategy = "" if query.strategy is Strategy.ALL else f"{query.strategy.value} "
    distinct = "DISTINCT " if query.distinct else ""
    items = "*" if query.select is None else ", ".join(map(_item, query.select))
    yield f"SELECT {distinct}{strategy}{items}"
    if query.streams:
        yield "FROM " + _names(query.streams)
    yield "WHERE " + print_pattern(query.pattern)


def _item(item: str | Computed) -> str:
    """A column of SELECT; the attribute that a column is named after needs no AS."""
    if isinstance(item, str):
        return print_name(item)
    text = print_condition(item.value)
    is_named = isinstance(item.value, Attribute) and item.value.name == item.name
    return text if is_named else f"{text} AS {print_name(item.name)}"


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(print_name(name) for name in names)


def print_pattern(pattern: Pattern) -> str:
    """A pattern on one line.

    >>> print_pattern(Repeat(Or((Atom("T", "x"), Atom("H"))), 2, None))
    '(T AS x OR H){2,}'
    """
    return _pattern(pattern, LOOSEST)


def _pattern(pattern: Pattern, place: int) -> str:
    return in_place(_bare(pattern), place)


def _bare(pattern: Pattern) -> tuple[str, int]:
    """The text of a pattern without parentheses around it, and how tightly it binds."""
    match pattern:
        case Atom(near=near):
            return _atom(pattern), REPEATED if near else UNIT
        case Seq(left, right):
            return f"{_pattern(left, SEQUENCE)} ; {_pattern(right, PREFIXED)}", SEQUENCE
        case StrictSeq(left, right):
            return f"{_pattern(left, SEQUENCE)} : {_pattern(right, PREFIXED)}", SEQUENCE
        case Or(parts):
            places = (CHOICE, *[TOGETHER] * (len(parts) - 1))
            return " OR ".join(map(_pattern, parts, places)), CHOICE
        case All(left, right):
            # Sequences would do without parentheses; they keep a reader from asking.
            first = _pattern(left, TOGETHER if isinstance(left, All) else PREFIXED)
            return f"{first} {_together(pattern)} {_pattern(right, PREFIXED)}", TOGETHER
        case Repeat(body):
            # `T AS x+` would do; the parentheses keep a reader from asking whether the name covers the sign.
            return _pattern(body, ENCLOSED if _is_named(body) else REPEATED) + _sign(pattern), REPEATED
        case Bind(body, var):
            return f"{_pattern(body, REPEATED)} IN {print_name(var)}", REPEATED
        case PartBy(body, keys):
            return f"{_pattern(body, LOOSEST)} {print_part_by(keys)}", LOOSEST
        case Filter(body, condition):
            return f"{_pattern(body, LOOSEST)} FILTER {print_condition(condition)}", LOOSEST
        case Select(strategy, body):
            return f"{strategy.value}({print_pattern(body)})", UNIT
        case Not(body, window):
            return f"NOT {_pattern(body, REPEATED)}" + _within(" FOR", window), PREFIXED
        case Within(body, window, of=None):
            return _pattern(body, LOOSEST) + _within(" WITHIN", window), CLOSED
        case Within(body, window, of=of):
            return _pattern(body, REPEATED) + _within(" WITHIN", window) + _of(of), REPEATED
        case Recognise(reading):
            return print_reading(reading), LOOSEST
        case _:
            assert_never(pattern)


def _together(pattern: All) -> str:
    return "AND" if pattern.apart else "ALL"


def _within(word: str, window: Window | None) -> str:
    return "" if window is None else f"{word} {print_window(window)}"


def _of(name: str | None) -> str:
    return "" if name is None else " OF PREVIOUS" if name == PREVIOUS else f" OF {print_name(name)}"


def _is_named(pattern: Pattern) -> bool:
    """Whether the text of a pattern ends with a name."""
    match pattern:
        case Atom(_, var):
            return var is not None
        case Bind() | Within():
            return True
        case Seq() | StrictSeq() | Or() | All() | Repeat():
            return False
        case Filter() | PartBy() | Select() | Not() | Recognise():
            return False
        case _:
            assert_never(pattern)


def print_key(key: tuple[str | None, str]) -> str:
    """What PART-BY compares.

    >>> print_key(("X", "id")), print_key((None, "id"))
    ('X.id', 'id')
    """
    return print_attribute(Attribute(*key))


def print_part_by(keys: tuple[tuple[str | None, str], ...]) -> str:
    return f"PART-BY [{', '.join(map(print_key, keys))}]"


def _atom(atom: Atom) -> str:
    text = "ANY" if atom.type is None else print_name(atom.type)
    if atom.condition is not None:
        text += f"[{print_condition(atom.condition)}]"
    text = text if atom.var is None else f"{text} AS {print_name(atom.var)}"
    return text + "".join(_within(" WITHIN", window) + _of(name) for name, window in atom.near)


def _sign(pattern: Repeat) -> str:
    strict = ":" if pattern.strict else ""
    match pattern.lo, pattern.hi:
        case 1, None:
            return f"{strict}+"
        case 0, None:
            return f"{strict}*"
        case 0, 1:
            return "?"
        case lo, hi:
            return strict + (f"{{{lo}}}" if lo == hi else f"{{{lo},{'' if hi is None else hi}}}")


def print_tree(pattern: Pattern) -> str:
    """A pattern with a node per line, children indented below it.

    >>> print(print_tree(Seq(Atom("T", "x"), Repeat(Atom("H"), 1, None))))
    ;
      T AS x
      +
        H
    """
    return "\n".join(_tree_lines(pattern, 0, "OR"))


def _tree_lines(node: Tree, depth: int, choice: str) -> Iterator[str]:
    yield "  " * depth + _head(node, choice)
    if isinstance(node, Recognise):
        yield from _tree_lines(node.reading, depth + 1, "|")
    for child in children(node):
        yield from _tree_lines(child, depth + 1, choice)


def _head(node: Pattern | Reading, choice: str) -> str:
    """The line of a node; `choice` is how the language of the tree writes `Or`."""
    match node:
        case Atom():
            return _atom(node)
        case Seq():
            return ";"
        case StrictSeq():
            return ":"
        case Or():
            return choice
        case All():
            return _together(node)
        case Repeat():
            return _sign(node)
        case Filter(_, condition):
            return f"FILTER {print_condition(condition)}"
        case PartBy(_, keys):
            return print_part_by(keys)
        case Select(strategy):
            return strategy.value
        case Bind(_, var):
            return f"IN {print_name(var)}"
        case Recognise():
            return "recognise"
        case Read():
            return print_read(node)
        case Concat(parts):
            return "." if parts else "()"
        case Iterate():
            return "*"
        case Both():
            return "&"
        case Complement():
            return "!"
        case Within(_, window, of=of):
            return f"WITHIN {print_window(window)}{_of(of)}"
        case Not(_, window):
            return "NOT" + _within(" FOR", window)
        case _:
            assert_never(node)
