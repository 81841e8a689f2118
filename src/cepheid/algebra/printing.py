"""Algebra → text.

In: conditions, patterns, queries. Out: CEL that parses back to an equal value; what CEL cannot say
(conditions inside atoms, the other papers' operators) is printed in a plain form of its own. A node is put
in parentheses exactly when it binds looser than its place asks for.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from typing import assert_never

from cepheid.algebra.conditions import (
    Aggregate,
    Arithmetic,
    Attribute,
    Call,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    In,
    Index,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Negation,
    RLike,
    type_of_value,
)
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
    Repeat,
    Select,
    Seq,
    Strategy,
    StrictSeq,
    Window,
    WindowUnit,
    Within,
    children,
)

KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        "SELECT ALL STRICT NXT NEXT LAST MAX FROM WHERE PARTITION BY WITHIN CONSUME LIMIT AS OR FILTER "
        "AND NOT IN BETWEEN LIKE RLIKE IS NULL TRUE FALSE TIMESTAMP DATE",
    )
)
PLAIN_NAME = re.compile(r"[^\W\d]\w*")

UNITS = (
    ("weeks", 604_800_000_000),
    ("days", 86_400_000_000),
    ("hours", 3_600_000_000),
    ("minutes", 60_000_000),
    ("seconds", 1_000_000),
    ("milliseconds", 1_000),
    ("microseconds", 1),
)

# How tightly a node binds, loosest first; a place asks for at least one of these.
FILTERED, CHOICE, TOGETHER, SEQUENCE, REPEATED, UNIT, ENCLOSED = range(7)
ANY_OF, ALL_OF, NOT, PREDICATE, SUM, PRODUCT, SIGNED, VALUE = range(8)


def print_name(name: str, *, keyword_safe: bool = False) -> str:
    """An identifier, quoted where the grammar could not read it plain.

    >>> print_name("price"), print_name("from"), print_name("two words")
    ('price', '"from"', '"two words"')
    """
    plain = PLAIN_NAME.fullmatch(name) and (keyword_safe or name.upper() not in KEYWORDS)
    return name if plain else '"' + name.replace('"', '""') + '"'


def print_query(query: Query) -> str:
    """The query as CEL, a clause per line.

    >>> from cepheid.algebra.nodes import Atom, Query, Seq
    >>> print(print_query(Query(Seq(Atom("T", "x"), Atom("H")), streams=("farm",), limit=3)))
    SELECT *
    FROM farm
    WHERE T AS x ; H
    LIMIT 3
    """
    return "\n".join(_clauses(query))


def _clauses(query: Query) -> Iterator[str]:
    strategy = "" if query.strategy is Strategy.ALL else f"{query.strategy.value} "
    yield f"SELECT {strategy}" + ("*" if query.select is None else _names(query.select))
    if query.streams:
        yield "FROM " + _names(query.streams)
    yield "WHERE " + print_pattern(query.pattern)
    if query.partition_by:
        yield "PARTITION BY " + _names(query.partition_by)
    if query.window is not None:
        yield "WITHIN " + print_window(query.window)
    if query.consume:
        yield "CONSUME"
    if query.limit is not None:
        yield f"LIMIT {query.limit}"


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(print_name(name) for name in names)


def print_window(window: Window) -> str:
    """What stands after WITHIN, in the largest unit that divides it.

    >>> print_window(Window(90_000_000, WindowUnit.MICROSECONDS))
    '90 seconds'
    """
    match window.unit:
        case WindowUnit.EVENTS:
            return f"{window.amount} EVENTS"
        case WindowUnit.PLAIN:
            return f"{window.amount}"
        case WindowUnit.MICROSECONDS:
            name, size = next(((name, size) for name, size in UNITS if window.amount % size == 0), UNITS[-1])
            return f"{window.amount if size == 1 else int(window.amount // size)} {name}"
        case _:
            assert_never(window.unit)


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
        case _:
            return _beyond_cel(pattern), FILTERED


def print_key(key: tuple[str | None, str]) -> str:
    """What PART-BY compares.

    >>> print_key(("X", "id")), print_key((None, "id"))
    ('X.id', 'id')
    """
    return _attribute(Attribute(*key))


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
        case _:
            assert_never(pattern)


def print_condition(condition: Condition) -> str:
    """A condition on one line.

    >>> print_condition(Negation(IsNull(Attribute("x", "price"))))
    'x.price IS NOT NULL'
    """
    return _condition(condition, ANY_OF)


def _condition(condition: Condition, place: int) -> str:
    text, binding = _bare_condition(condition)
    return text if binding >= place else f"({text})"


def _bare_condition(condition: Condition) -> tuple[str, int]:
    """The text of a condition without parentheses around it, and how tightly it binds."""
    match condition:
        case Literal(value):
            text = print_value(value)
            return text, SIGNED if text.startswith("-") else VALUE
        case Attribute():
            return _attribute(condition), VALUE
        case Arithmetic(op, left, right):
            own = SUM if op in "+-" else PRODUCT
            return f"{_condition(left, own)} {op} {_condition(right, own + 1)}", own
        case Comparison(op, left, right):
            return f"{_condition(left, SUM)} {op} {_condition(right, SUM)}", PREDICATE
        case Conjunction(operands):
            return _joined(operands, "AND", ALL_OF, "TRUE")
        case Disjunction(operands):
            return _joined(operands, "OR", ANY_OF, "FALSE")
        case Negation(operand):
            if isinstance(operand, IsNull | IsTrue | In | Like | RLike):
                return _predicate(operand, "NOT "), PREDICATE
            return f"NOT {_condition(operand, NOT)}", NOT
        case IsNull() | IsTrue() | In() | Like() | RLike():
            return _predicate(condition, ""), PREDICATE
        case Call(function, arguments):
            return f"{print_name(function)}({_listed(arguments)})", VALUE
        case Aggregate(function, attribute, k):
            return f"{function}({_attribute(attribute)}{'' if k is None else f', {k}'})", VALUE
        case _:
            assert_never(condition)


def _joined(operands: tuple[Condition, ...], word: str, own: int, empty: str) -> tuple[str, int]:
    if len(operands) < 2:
        return _bare_condition(operands[0]) if operands else (empty, VALUE)
    return f" {word} ".join(_condition(operand, own + 1) for operand in operands), own


def _predicate(condition: IsNull | IsTrue | In | Like | RLike, negated: str) -> str:
    value = _condition(condition.operand, SUM)
    match condition:
        case IsNull():
            return f"{value} IS {negated}NULL"
        case IsTrue():
            return f"{value} IS {negated}TRUE"
        case In(_, items):
            return f"{value} {negated}IN ({_listed(items)})"
        case Like(_, pattern):
            return f"{value} {negated}LIKE {print_value(pattern)}"
        case RLike(_, pattern):
            return f"{value} {negated}RLIKE {print_value(pattern)}"
        case _:
            assert_never(condition)


def _listed(items: tuple[Condition, ...]) -> str:
    return ", ".join(print_condition(item) for item in items)


def _attribute(attribute: Attribute) -> str:
    name = print_name(attribute.name, keyword_safe=attribute.var is not None)
    if attribute.var is None:
        return name
    index = "" if attribute.index in (None, Index.EACH) else f"[{attribute.index.value}]"
    return f"{print_name(attribute.var)}{index}.{name}"


def print_value(value: type_of_value) -> str:
    """A literal as CEL writes it.

    >>> print_value("it's"), print_value(None), print_value(1.5)
    ("'it''s'", 'NULL', '1.5')
    """
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case dt.datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case dt.date():
            return f"DATE '{value.isoformat()}'"
        case _:
            return str(value)
