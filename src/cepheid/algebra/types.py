"""Typing: every condition against the columns the events have.

In: a query whose variables are in scope, and a schema. Out: the same query with string literals that are
compared with timestamps or dates turned into literals of that type, number literals beside decimals into
decimals (`number_types`), and other names of functions into the
one in `functions.FUNCTIONS`; or the error that names both types and a fix. After it a condition's operators
have operands that go together; values can still be NULL or NaN.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from typing import assert_never

import pyarrow as pa

from cepheid.algebra.coercion import as_literal_of
from cepheid.algebra.conditions import (
    Arithmetic,
    Attribute,
    Call,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    Expression,
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Negation,
    RLike,
    attributes,
)
from cepheid.algebra.functions import ALIASES, FUNCTIONS, Function, Kinds
from cepheid.algebra.kinds import Kind, kind_of
from cepheid.algebra.moments import Moment, TimeOfDay
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Both,
    Complement,
    Concat,
    Filter,
    Iterate,
    Or,
    PartBy,
    Pattern,
    Places,
    Query,
    Read,
    Reading,
    Recognise,
    Repeat,
    Select,
    Seq,
    StrictSeq,
    Window,
    WindowUnit,
    Within,
    rebuild,
)
from cepheid.algebra.number_types import with_number_types
from cepheid.algebra.printing import print_condition, print_key, print_value, print_window
from cepheid.errors import CepheidError, Span, did_you_mean
from cepheid.schema import Schema, counts_nanoseconds, is_comparable

Typed = tuple[Expression, Kind]


def check_types(query: Query, schema: Schema) -> Query:
    """The query with its literals in the columns' types, or the first error.

    >>> from cepheid.schema import schema_of
    >>> schema = schema_of(pa.schema([("ts", pa.timestamp("us")), ("price", pa.float64())]), time="ts")
    >>> late = Comparison(">", Attribute("x", "ts"), Literal("2024-01-31"))
    >>> check_types(Query(Filter(Atom("T", "x"), late)), schema).pattern.condition.right.value
    Moment(ns=1706659200000000000, zone=None)
    """
    places = query.places or Places()
    for index, name in enumerate(query.partition_by):
        span = places.partition_by[index] if index < len(places.partition_by) else None
        if name not in schema.names:
            hint = did_you_mean(name, schema.names, _columns(schema))
            raise CepheidError("unknown-column", f"events have no column `{name}`", span=span, hint=hint)
        if not is_comparable(dtype := schema.arrow.field(name).type):
            message = f"PARTITION BY takes values that can be compared; `{name}` has type {dtype}"
            hint = "partition by a string, a number, a boolean or a time"
            raise CepheidError("type-mismatch", message, span=span, hint=hint)
    window = _typed_window(query.window, schema, places.window)
    return replace(query, pattern=_pattern(query.pattern, schema), window=window)


def kind_of_expression(expression: Expression, schema: Schema) -> Kind:
    """The kind of a well-typed expression's value.

    >>> from cepheid.schema import schema_of
    >>> schema = schema_of(pa.schema([("ts", pa.int64()), ("name", pa.string())]), time="ts")
    >>> kind_of_expression(Call("length", (Attribute("x", "name"),)), schema)
    <Kind.NUMBER: 'a number'>
    """
    return _typed(expression, schema)[1]


def _pattern(pattern: Pattern, schema: Schema) -> Pattern:
    match pattern:
        case Atom(_, _, condition) if condition is not None:
            return replace(pattern, condition=_checked(condition, schema))
        case Filter(body, condition, span):
            return Filter(_pattern(body, schema), _checked(condition, schema), span)
        case PartBy(body):
            _check_keys(pattern, schema)
            return replace(pattern, body=_pattern(body, schema))
        case Recognise(reading):
            return Recognise(_reading(reading, schema))
        case Atom() | Seq() | StrictSeq() | Or() | All() | Repeat() | Select() | Bind():
            return rebuild(pattern, lambda child: _pattern(child, schema))
        case _:
            assert_never(pattern)


def _reading(reading: Reading, schema: Schema) -> Reading:
    """Conditions and nested windows; an attribute of a register is a column like one of the event at hand."""
    match reading:
        case Read(condition):
            return replace(reading, condition=_checked(condition, schema))
        case Within(body, window, span):
            typed = _typed_window(window, schema, span)
            return Within(_reading(body, schema), typed or window, span)
        case Concat() | Or() | Iterate() | Both() | Complement():
            return rebuild(reading, lambda part: _reading(part, schema))
        case _:
            assert_never(reading)


def _check_keys(node: PartBy, schema: Schema) -> None:
    """What PART-BY compares is of one kind: columns of the same type, or such as a condition may compare."""
    model: tuple[str, Kind, pa.DataType] | None = None
    for index, (var, name) in enumerate(node.keys):
        span = node.places[index] if index < len(node.places) else node.span
        kind = _column_kind(Attribute(var, name, span=span), schema)
        dtype = schema.arrow.field(name).type
        if not is_comparable(dtype):
            message = f"PART-BY takes values that can be compared; `{name}` has type {dtype}"
            hint = "compare a string, a number, a boolean or a time"
            raise CepheidError("type-mismatch", message, span=span, hint=hint)
        shown = print_key((var, name))
        if model is None or model[1] is Kind.NULL:
            model = shown, kind, dtype
        elif kind is not Kind.NULL and (kind is not model[1] or (kind is Kind.OTHER and dtype != model[2])):
            message = f"`{model[0]}` is {model[1].value} and `{shown}` is {kind.value}: they are never equal"
            hint = "PART-BY compares attributes of one type; cast one of the columns"
            raise CepheidError("type-mismatch", message, span=span, hint=hint)
        elif kind is model[1] is Kind.TIMESTAMP and (dtype.tz is None) != (model[2].tz is None):
            message = (
                f"of `{model[0]}` and `{shown}` one has a time zone and one has none: they are never equal"
            )
            hint = "give both columns a zone, or neither, before matching"
            raise CepheidError("type-mismatch", message, span=span, hint=hint)


def _checked(condition: Condition, schema: Schema) -> Condition:
    return with_number_types(_condition(condition, schema), schema)


def _condition(condition: Condition, schema: Schema) -> Condition:
    """An expression that must be true or false."""
    typed, kind = _typed(condition, schema)
    if kind not in (Kind.BOOLEAN, Kind.NULL):
        raise CepheidError(
            "type-mismatch",
            f"a condition must be true or false; `{print_condition(condition)}` is {kind.value}",
            span=condition.span,
            hint="compare it with something",
        )
    return typed


def _typed(expression: Expression, schema: Schema) -> Typed:
    """The expression with its literals in place, and its kind; one case per node."""
    match expression:
        case Literal(value):
            return expression, _kind_of_literal(value)
        case Attribute():
            return expression, _column_kind(expression, schema)
        case Arithmetic(op, left, right, span):
            numbers = _number(op, left, schema), _number(op, right, schema)
            return Arithmetic(op, *numbers, span, expression.result), Kind.NUMBER
        case Comparison(op, left, right, span):
            first, second = _comparable(_typed(left, schema), _typed(right, schema), schema, span)
            return Comparison(op, first, second, span), Kind.BOOLEAN
        case In(operand, items, span):
            return _in(_typed(operand, schema), items, schema, span), Kind.BOOLEAN
        case Conjunction(operands, span):
            return Conjunction(tuple(_condition(item, schema) for item in operands), span), Kind.BOOLEAN
        case Disjunction(operands, span):
            return Disjunction(tuple(_condition(item, schema) for item in operands), span), Kind.BOOLEAN
        case Negation(operand, span):
            return Negation(_condition(operand, schema), span), Kind.BOOLEAN
        case IsTrue(operand, span):
            return IsTrue(_condition(operand, schema), span), Kind.BOOLEAN
        case IsNull(operand, span):
            return IsNull(_typed(operand, schema)[0], span), Kind.BOOLEAN
        case Like(operand, pattern, span):
            return Like(_string("LIKE", operand, schema), pattern, span), Kind.BOOLEAN
        case RLike(operand, pattern, span):
            return RLike(_string("RLIKE", operand, schema), pattern, span), Kind.BOOLEAN
        case Call():
            return _call(expression, schema)
        case _:
            assert_never(expression)


def _kind_of_literal(value: object) -> Kind:
    match value:
        case None:
            return Kind.NULL
        case bool():
            return Kind.BOOLEAN
        case str():
            return Kind.STRING
        case Moment() | dt.datetime():
            return Kind.TIMESTAMP
        case TimeOfDay():
            return Kind.TIME
        case dt.date():
            return Kind.DATE
        case _:
            return Kind.NUMBER


def _column_kind(attribute: Attribute, schema: Schema) -> Kind:
    if attribute.name not in schema.names:
        hint = did_you_mean(attribute.name, schema.names, _columns(schema))
        if attribute.var is None and attribute.span is not None and attribute.span.text.startswith('"'):
            hint = f"strings take single quotes: {print_value(attribute.name)}"
        message = f"events have no attribute `{attribute.name}`"
        raise CepheidError("unknown-attribute", message, span=_name_span(attribute), hint=hint)
    return kind_of(schema.arrow.field(attribute.name).type)


def _name_span(attribute: Attribute) -> Span | None:
    """The attribute's name without its variable, where the text shows it plainly."""
    span = attribute.span
    if span is None or not span.text.endswith(attribute.name):
        return span
    return Span(span.source, span.end - len(attribute.name), span.end)


def _columns(schema: Schema) -> str:
    return "the columns are " + ", ".join(f"`{name}`" for name in schema.names)


def _number(op: str, operand: Expression, schema: Schema) -> Expression:
    typed, kind = _typed(operand, schema)
    if kind in (Kind.NUMBER, Kind.NULL):
        return typed
    hints = {
        Kind.STRING: "join strings with concat(…)" if op == "+" else "a string in quotes is not a number",
        Kind.TIMESTAMP: "compare times, or take year(…), hour(…), …; WITHIN bounds how far they lie apart",
        Kind.DATE: "compare dates, or take year(…), month(…), …",
        Kind.TIME: "compare times of day, or take hour(…), minute(…), …",
        Kind.DURATION: "compare durations with each other; arithmetic on them is not yet supported",
    }
    raise CepheidError(
        "type-mismatch",
        f"`{op}` takes numbers; `{print_condition(operand)}` is {kind.value}",
        span=operand.span,
        hint=hints.get(kind),
    )


def _string(op: str, operand: Expression, schema: Schema) -> Expression:
    typed, kind = _typed(operand, schema)
    if kind in (Kind.STRING, Kind.NULL):
        return typed
    raise CepheidError(
        "type-mismatch",
        f"{op} takes a string; `{print_condition(operand)}` is {kind.value}",
        span=operand.span,
        hint="compare it with =, <, BETWEEN or IN",
    )


def _comparable(
    left: Typed, right: Typed, schema: Schema, span: Span | None
) -> tuple[Expression, Expression]:
    """Both sides in one kind; a literal takes the type of what it is compared with."""
    (first, one), (second, two) = left, right
    if isinstance(first, Literal) and not isinstance(second, Literal):
        first, one = as_literal_of(first, one, two, _zone(second, schema)), two if _follows(one, two) else one
    if isinstance(second, Literal) and not isinstance(first, Literal):
        second, two = (
            as_literal_of(second, two, one, _zone(first, schema)),
            one if _follows(two, one) else two,
        )
    if Kind.OTHER in (one, two) or (one is not two and Kind.NULL not in (one, two)):
        raise _mismatch((first, one), (second, two), span)
    if one is two is Kind.TIMESTAMP:
        _check_zones(first, second, schema, span)
    return first, second


def _follows(literal: Kind, other: Kind) -> bool:
    """Whether a literal of one kind can be read as the other."""
    if literal is Kind.STRING:
        return other is Kind.TIMESTAMP or other is Kind.DATE or other is Kind.TIME
    return literal is Kind.DATE and other is Kind.TIMESTAMP


def _zone(expression: Expression, schema: Schema) -> str | None:
    """The time zone of the timestamps that an expression reads."""
    types = (schema.arrow.field(read.name).type for read in attributes(expression))
    return next((dtype.tz for dtype in types if pa.types.is_timestamp(dtype)), None)


def _check_zones(first: Expression, second: Expression, schema: Schema, span: Span | None) -> None:
    """Instants and clock times have no common line: where they meet depends on a zone that nothing names."""
    zoned = {}
    for side in (first, second):
        for read in attributes(side):
            dtype = schema.arrow.field(read.name).type
            if pa.types.is_timestamp(dtype):
                zoned[dtype.tz is not None] = read
    if len(zoned) > 1:
        with_zone, without = print_condition(zoned[True]), print_condition(zoned[False])
        raise CepheidError(
            "type-mismatch",
            f"`{with_zone}` has a time zone and `{without}` has none: they cannot be compared",
            span=span,
            hint="give both columns a zone, or neither, before matching",
        )


def _mismatch(left: Typed, right: Typed, span: Span | None) -> CepheidError:
    (first, one), (second, two) = left, right
    return CepheidError(
        "type-mismatch",
        f"`{print_condition(first)}` is {one.value} and `{print_condition(second)}` is {two.value}: "
        "they cannot be compared",
        span=span,
        hint=_fix(left, right) or _fix(right, left),
    )


def _fix(left: Typed, right: Typed) -> str | None:
    """What to write instead when the left side is a literal or a column of another kind."""
    (first, one), (_, two) = left, right
    value = first.value if isinstance(first, Literal) else None
    match value, one, two:
        case str(), _, Kind.NUMBER if _is_number(value):
            return f"write {value.strip()} without quotes"
        case str(), _, Kind.BOOLEAN if value.strip().lower() in ("true", "false"):
            return f"write {value.strip().upper()} without quotes"
        case bool(), _, Kind.STRING:
            return f"write '{str(value).lower()}' in quotes"
        case int() | float() | Decimal(), _, Kind.STRING:
            return f"write '{value}' in quotes"
        case int() | float() | Decimal(), _, Kind.TIMESTAMP:
            return "write a time as TIMESTAMP '2024-01-31 12:30:00'"
        case int() | float() | Decimal(), _, Kind.TIME:
            return "write a time of day as TIME '12:30:00'"
        case _, _, Kind.DURATION if isinstance(first, Literal):
            return "durations are compared with columns of durations; literals of them are not yet supported"
        case int() | float() | Decimal(), _, Kind.DATE:
            return "write a date as DATE '2024-01-31'"
        case int(), _, Kind.BOOLEAN:
            return "write TRUE or FALSE"
        case _, Kind.OTHER, _:
            return "lists, structs and binary values can only be tested with IS NULL"
        case _, Kind.TIMESTAMP, Kind.DATE:
            return "compare year(…), month(…) and day(…), or two columns of one type"
        case _:
            return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_PLAIN: dict[type, Kind] = {int: Kind.NUMBER, float: Kind.NUMBER, Decimal: Kind.NUMBER, str: Kind.STRING}


def _in(operand: Typed, items: tuple[Expression, ...], schema: Schema, span: Span | None) -> In:
    value, kind = operand
    listed = list[Expression]()
    zone: str | None = None
    for item in items:
        # Lists may be long: what is alike for all values of one is worked out for the first.
        if listed and isinstance(item, Literal) and not isinstance(value, Literal):
            own = _PLAIN.get(type(item.value))
            if own is not None and (own is kind or _follows(own, kind)):
                listed.append(item if own is kind else as_literal_of(item, own, kind, zone))
                continue
        value, typed = _comparable((value, kind), _typed(item, schema), schema, item.span or span)
        kind = _kind_of_literal(value.value) if isinstance(value, Literal) else kind
        zone = _zone(value, schema)
        listed.append(typed)
    return In(value, tuple(listed), span)


def _call(call: Call, schema: Schema) -> Typed:
    name = ALIASES.get(call.function, call.function)
    if name not in FUNCTIONS:
        hint = did_you_mean(name, (*FUNCTIONS, *ALIASES), "the language reference lists them")
        raise CepheidError("unknown-function", f"there is no function `{name}`", span=call.span, hint=hint)
    function = FUNCTIONS[name]
    _check_count(function, call)
    typed = [_typed(argument, schema) for argument in call.arguments]
    if function.result is None:
        typed = _with_literals_alike(typed, schema)
    for index, (argument, kind) in enumerate(typed):
        if kind is not Kind.NULL and kind not in function.parameter(index):
            raise _wrong_argument(function, argument, kind, function.parameter(index))
    expressions = tuple(expression for expression, _ in typed)
    result = function.result or _shared_kind(function, typed, schema)
    return Call(name, expressions, call.span), result


def _with_literals_alike(typed: list[Typed], schema: Schema) -> list[Typed]:
    """Literals among arguments of one kind take the type of the first that is none."""
    model = next((item for item in typed if not isinstance(item[0], Literal)), None)
    if model is None:
        return typed
    return [
        (
            as_literal_of(item, kind, model[1], _zone(model[0], schema)),
            model[1] if _follows(kind, model[1]) else kind,
        )
        if isinstance(item, Literal)
        else (item, kind)
        for item, kind in typed
    ]


def _check_count(function: Function, call: Call) -> None:
    given = len(call.arguments)
    if given < function.fewest or (function.most is not None and given > function.most):
        message = f"`{function.name}` cannot take {given} argument{'' if given == 1 else 's'}"
        raise CepheidError("type-mismatch", message, span=call.span, hint=f"call it as {function.signature}")


def _wrong_argument(function: Function, argument: Expression, kind: Kind, wanted: Kinds) -> CepheidError:
    listed = " or ".join(sorted(item.value for item in wanted))
    return CepheidError(
        "type-mismatch",
        f"`{function.name}` takes {listed} here; `{print_condition(argument)}` is {kind.value}",
        span=argument.span,
        hint=f"call it as {function.signature}",
    )


def _shared_kind(function: Function, typed: list[Typed], schema: Schema) -> Kind:
    """The one kind of arguments that must agree; NULL goes with any."""
    kinds = [(argument, kind) for argument, kind in typed if kind is not Kind.NULL]
    for argument, kind in kinds[1:]:
        if kind is not kinds[0][1]:
            raise CepheidError(
                "type-mismatch",
                f"`{function.name}` takes values of one type; `{print_condition(argument)}` is {kind.value}, "
                f"`{print_condition(kinds[0][0])}` is {kinds[0][1].value}",
                span=argument.span,
                hint=f"call it as {function.signature}",
            )
        if kind is Kind.TIMESTAMP:
            _check_zones(kinds[0][0], argument, schema, argument.span)
    return kinds[0][1] if kinds else Kind.NULL


def _typed_window(window: Window | None, schema: Schema, span: Span | None) -> Window | None:
    """The window in the unit in which `streams.times` counts the time column."""
    if window is None or window.unit is WindowUnit.EVENTS:
        return window
    kind, shown = kind_of(schema.time_type), print_window(window)
    if window.unit is not WindowUnit.PLAIN and kind is Kind.NUMBER:
        raise CepheidError(
            "bad-argument",
            f"`WITHIN {shown}` needs a timestamp or date; time column `{schema.time}` is a number",
            span=span,
            hint="give the window as a plain number in the column's own unit",
        )
    if window.unit is WindowUnit.PLAIN and kind is not Kind.NUMBER:
        raise CepheidError(
            "bad-argument",
            f"`WITHIN {shown}` needs a unit; time column `{schema.time}` is {kind.value}",
            span=span,
            hint=f"write WITHIN {shown} seconds, minutes, …, or EVENTS",
        )
    counts_ns = counts_nanoseconds(schema.time_type)
    return window.counted_in(WindowUnit.NANOSECONDS if counts_ns else WindowUnit.MICROSECONDS)
