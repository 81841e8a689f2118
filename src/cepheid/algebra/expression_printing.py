"""Conditions, names and windows → text, as all languages write them.

In: an expression, a name, a window. Out: text that parses back to an equal value. An expression is put in
parentheses exactly when it binds looser than its place asks for.
"""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from typing import assert_never

from cepheid.algebra.conditions import (
    EVENT,
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
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Negation,
    Previous,
    Record,
    RLike,
    type_of_value,
)
from cepheid.algebra.moments import Interval, Moment, TimeOfDay, moment_of
from cepheid.algebra.windows import Window, WindowUnit

KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        "SELECT DISTINCT ALL STRICT NXT NEXT LAST MAX FROM WHERE PARTITION BY WITHIN CONSUME LIMIT AS OR FILTER "
        "AND NOT FOR OF PREVIOUS ANY IN BETWEEN LIKE RLIKE IS NULL TRUE FALSE TIMESTAMP DATE "
        "CASE WHEN THEN ELSE END",
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
_PER_MICROSECOND = 1000

# How tightly a node binds, loosest first; a place asks for at least one of these.
ANY_OF, ALL_OF, NOT, PREDICATE, SUM, PRODUCT, SIGNED, VALUE = range(8)


HIDDEN = "\0"
"""Begins the names of columns that are made beside those of the stream; `schema_of` lets no other begin so."""


def print_name(name: str, *, keyword_safe: bool = False) -> str:
    """An identifier, quoted where the grammar could not read it plain, in angles where it is hidden.

    >>> print_name("price"), print_name("from"), print_name("two words")
    ('price', '"from"', '"two words"')
    """
    if name.startswith(HIDDEN):
        return f"⟨{name[1:]}⟩"
    plain = PLAIN_NAME.fullmatch(name) and (keyword_safe or name.upper() not in KEYWORDS)
    return name if plain else '"' + name.replace('"', '""') + '"'


def print_window(window: Window) -> str:
    """The argument of WITHIN, in the largest unit that divides it.

    >>> print_window(Window(90_000_000, WindowUnit.MICROSECONDS))
    '90 seconds'
    >>> print_window(Window(0, WindowUnit.MICROSECONDS))
    '0 seconds'
    """
    match window.unit:
        case WindowUnit.EVENTS:
            return f"{window.amount} EVENTS"
        case WindowUnit.PLAIN:
            return f"{window.amount}"
        case WindowUnit.MICROSECONDS if not window.amount:
            return "0 seconds"
        case WindowUnit.MICROSECONDS:
            name, size = next(((name, size) for name, size in UNITS if window.amount % size == 0), UNITS[-1])
            return f"{window.amount if size == 1 else int(window.amount // size)} {name}"
        case WindowUnit.NANOSECONDS:
            if window.amount % _PER_MICROSECOND:
                return f"{window.amount} nanoseconds"
            return print_window(window.counted_in(WindowUnit.MICROSECONDS))
        case _:
            assert_never(window.unit)


def print_condition(condition: Condition) -> str:
    """A condition on one line.

    >>> print_condition(Negation(IsNull(Attribute("x", "price"))))
    'x.price IS NOT NULL'
    """
    return _condition(condition, ANY_OF)


def print_operand(condition: Condition) -> str:
    """A condition as an operand of AND.

    >>> print_operand(Disjunction((Attribute("x", "hot"), Attribute("x", "wet"))))
    '(x.hot OR x.wet)'
    """
    return _condition(condition, ALL_OF + 1)


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
            return print_attribute(condition), VALUE
        case Arithmetic(op, left, right):
            own = SUM if op in "+-" else PRODUCT
            return f"{_condition(left, own)} {op} {_condition(right, own + 1)}", own
        case Comparison(op, left, right):
            return f"{_condition(left, SUM)} {op} {_condition(right, SUM)}", PREDICATE
        case Conjunction(operands):
            return _joined(operands, "AND", ALL_OF, "TRUE")
        case Disjunction(operands):
            return _joined(operands, "OR", ANY_OF, "FALSE")
        case Negation(IsNull() | IsTrue() | In() | Like() | RLike() as operand):
            return _predicate(operand, "NOT "), PREDICATE
        case Negation(operand):
            return f"NOT {_condition(operand, NOT)}", NOT
        case IsNull() | IsTrue() | In() | Like() | RLike():
            return _predicate(condition, ""), PREDICATE
        case Call(function, arguments):
            return f"{print_name(function)}({_listed(arguments)})", VALUE
        case Element(operand, str() as key):
            return f"{_condition(operand, VALUE)}.{print_name(key, keyword_safe=True)}", VALUE
        case Element(operand, key):
            return f"{_condition(operand, VALUE)}[{key}]", VALUE
        case Case():
            return _case(condition), VALUE
        case Cast(operand, target):
            return f"CAST({print_condition(operand)} AS {target})", VALUE
        case Aggregate(function, operand, distinct):
            return f"{function}({'DISTINCT ' if distinct else ''}{print_condition(operand)})", VALUE
        case Record(names, values):
            return _record(names, values), VALUE
        case Previous(operand, steps):
            return f"prev({print_condition(operand)}{'' if steps == 1 else f', {steps}'})", VALUE
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


def _case(case: Case) -> str:
    pairs = zip(case.conditions, case.values, strict=True)
    whens = " ".join(f"WHEN {print_condition(when)} THEN {print_condition(value)}" for when, value in pairs)
    last = "" if case.otherwise == Literal(None) else f" ELSE {print_condition(case.otherwise)}"
    return f"CASE {whens}{last} END"


def _record(names: tuple[str, ...], values: tuple[Condition, ...]) -> str:
    """Attributes of one variable: `b.(price, volume)`."""
    variables = {_variable(value) for value in values if isinstance(value, Attribute)}
    listed = ", ".join(print_name(name, keyword_safe=True) for name in names)
    return f"{', '.join(sorted(variables))}.({listed})"


def _listed(items: tuple[Condition, ...]) -> str:
    # Lists may be long, and most are of literals.
    return ", ".join(
        print_value(item.value) if isinstance(item, Literal) else print_condition(item) for item in items
    )


def print_attribute(attribute: Attribute) -> str:
    """
    >>> print_attribute(Attribute("x", "price")), print_attribute(Attribute(None, "price"))
    ('x.price', 'price')
    """
    if attribute.name == EVENT and attribute.var is not None:
        return _variable(attribute)
    name = print_name(attribute.name, keyword_safe=attribute.var is not None)
    if attribute.var is None:
        return name
    return f"{_variable(attribute)}.{name}"


def _variable(attribute: Attribute) -> str:
    assert attribute.var is not None
    return attribute.var if attribute.indexed else print_name(attribute.var)


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
        case Moment() | dt.datetime():
            return f"TIMESTAMP '{moment_of(value)}'"
        case TimeOfDay():
            return f"TIME '{value}'"
        case Interval():
            return f"INTERVAL {value}"
        case dt.date():
            return f"DATE '{value.isoformat()}'"
        case Decimal():
            text = f"{value:f}"
            return text if "." in text else f"{text}."  # without a point it would be a whole number
        case _:
            return str(value)
