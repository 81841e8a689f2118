"""Typing: every condition against the columns the events have.

In: a query whose variables are in scope, and a schema. Out: the same query, in which string literals compared with
timestamps or dates are literals of that type, number literals beside decimals are decimals (`number_types`), and
aliases of functions are the names in `functions.FUNCTIONS`; or an error that names both types and a fix. Afterwards the
operands of every operator have compatible types; values can still be NULL or NaN.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from typing import assert_never

import pyarrow as pa

from cepheid.algebra.coercion import as_literal_of
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
    Expression,
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Negation,
    Previous,
    RLike,
)
from cepheid.algebra.conditions import rebuild as rebuild_condition
from cepheid.algebra.elements import places, type_of
from cepheid.algebra.functions import ALIASES, ANY, FUNCTIONS, NUMBER, ORDERED, Function, Kinds
from cepheid.algebra.kinds import Kind, kind_of
from cepheid.algebra.moments import Interval, Moment, TimeOfDay
from cepheid.algebra.nodes import (
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
from cepheid.algebra.result_types import result_type
from cepheid.algebra.time_arithmetic import kind_of_times
from cepheid.errors import CepheidError, Span, did_you_mean, quoted
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
            hint = _known_columns(name, schema)
            raise CepheidError("unknown-column", f"events have no column `{name}`", span=span, hint=hint)
        if not is_comparable(dtype := schema.arrow.field(name).type):
            message = f"PARTITION BY takes values that can be compared; `{name}` has type {dtype}"
            hint = "partition by a string, a number, a boolean or a time"
            raise CepheidError("type-mismatch", message, span=span, hint=hint)
    window = _typed_window(query.window, schema, places.window)
    select = (
        None if query.select is None else tuple(_item(item, schema, query.distinct) for item in query.select)
    )
    return replace(query, pattern=_pattern(query.pattern, schema), select=select, window=window)


def _item(item: str | Computed, schema: Schema, distinct: bool) -> str | Computed:
    """A column of SELECT; it may have a value of any kind."""
    if isinstance(item, str):
        return item
    value = _typed(item.value, schema)[0]
    if distinct and isinstance(value, Attribute | Element):
        dtype = type_of(value, schema)
        if not is_comparable(dtype):
            message = (
                f"DISTINCT takes values that can be compared; `{print_condition(value)}` has type {dtype}"
            )
            hint = "select the event itself, or leave the column out"
            raise CepheidError("type-mismatch", message, span=item.span, hint=hint)
    return replace(item, value=with_number_types(value, schema))


def type_of_value(expression: Expression, schema: Schema) -> pa.DataType:
    """The Arrow type of the values of a typed expression.

    >>> from cepheid.schema import schema_of
    >>> schema = schema_of(pa.schema([("ts", pa.int64()), ("v", pa.int8())]), time="ts")
    >>> type_of_value(Comparison(">", Attribute("x", "v"), Literal(40)), schema)
    DataType(bool)
    """
    return result_type(expression, _typed(expression, schema)[1], schema)


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
        case Not(body, window, span):
            return Not(_pattern(body, schema), _typed_window(window, schema, span, "FOR"), span)
        case Within(body, window, span):
            return replace(
                pattern, body=_pattern(body, schema), window=_typed_window(window, schema, span) or window
            )
        case Atom() | Seq() | StrictSeq() | Or() | All() | Repeat() | Select() | Bind():
            return rebuild(pattern, lambda child: _pattern(child, schema))
        case _:
            assert_never(pattern)


def _reading(reading: Reading, schema: Schema) -> Reading:
    """Types conditions and nested windows; attributes of registers are columns like those of the current event."""
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
    """The keys of a PART-BY have one kind: columns of the same type, or of types that a condition may compare."""
    model: tuple[str, Kind, pa.DataType] | None = None
    for index, (var, name) in enumerate(node.keys):
        span = node.key_span(index)
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
                f"one of `{model[0]}` and `{shown}` has a time zone, the other none: they are never equal"
            )
            hint = "give both columns a zone, or neither, before matching"
            raise CepheidError("type-mismatch", message, span=span, hint=hint)


def _checked(condition: Condition, schema: Schema) -> Condition:
    return with_number_types(_condition(condition, schema), schema)


def _condition(condition: Condition, schema: Schema) -> Condition:
    """An expression that must be true or false."""
    typed, kind = _typed(condition, schema)
    if kind not in (Kind.BOOLEAN, Kind.NULL):
        message = f"a condition must be true or false; `{print_condition(condition)}` is {kind.value}"
        raise CepheidError("type-mismatch", message, span=condition.span, hint="compare it with something")
    return typed


def _typed(expression: Expression, schema: Schema) -> Typed:
    """The expression with its literals in place, and its kind; one case per node."""
    match expression:
        case Literal(value):
            return expression, _kind_of_literal(value)
        case Attribute():
            return expression, _column_kind(expression, schema)
        case Arithmetic():
            return _arithmetic(expression, schema)
        case Comparison(op, left, right, span):
            first, second = _comparable(_typed(left, schema), _typed(right, schema), schema, span)
            return Comparison(op, first, second, span), Kind.BOOLEAN
        case In(operand, items, span):
            return _in(_typed(operand, schema), items, schema, span), Kind.BOOLEAN
        case Conjunction() | Disjunction() | Negation() | IsTrue():
            return rebuild_condition(expression, lambda child: _condition(child, schema)), Kind.BOOLEAN
        case IsNull():
            return rebuild_condition(expression, lambda child: _typed(child, schema)[0]), Kind.BOOLEAN
        case Like() | RLike():
            return rebuild_condition(
                expression, lambda child: _string(expression, child, schema)
            ), Kind.BOOLEAN
        case Call():
            return _call(expression, schema)
        case Element(operand):
            rebuild_condition(expression, lambda child: _typed(child, schema)[0])
            return expression, kind_of(type_of(expression, schema))
        case Case():
            return _case(expression, schema)
        case Cast():
            return _cast(expression, schema)
        case Aggregate():
            return _aggregate(expression, schema)
        case Previous(operand):
            typed, kind = _typed(operand, schema)
            return replace(expression, operand=typed), kind
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
        case Interval():
            return Kind.DURATION
        case dt.date():
            return Kind.DATE
        case _:
            return Kind.NUMBER


def _column_kind(attribute: Attribute, schema: Schema) -> Kind:
    if attribute.name not in schema.names:
        hint = _known_columns(attribute.name, schema)
        if attribute.var is None and attribute.span is not None and attribute.span.text.startswith('"'):
            hint = f"strings take single quotes: {print_value(attribute.name)}"
        message = f"events have no attribute `{attribute.name}`"
        raise CepheidError("unknown-attribute", message, span=attribute.name_span, hint=hint)
    return kind_of(schema.arrow.field(attribute.name).type)


def _known_columns(name: str, schema: Schema) -> str | None:
    return did_you_mean(name, schema.names, f"the columns are {quoted(schema.names)}")


def _arithmetic(node: Arithmetic, schema: Schema) -> Typed:
    """Of numbers; or of times and durations, as `time_arithmetic` lists it."""
    left, right = _typed(node.left, schema), _typed(node.right, schema)
    if node.op in "+-":
        left, right = _as_beside(left, right, schema), _as_beside(right, left, schema)
    (first, one), (second, two) = left, right
    if {one, two} <= {Kind.NUMBER, Kind.NULL}:
        return replace(node, left=first, right=second), Kind.NUMBER
    if node.op == "-" and first == Literal(0) and two is Kind.DURATION:
        first, one = Literal(Interval(0)), Kind.DURATION  # of -x
    kind = kind_of_times(node.op, one, two)
    if kind is None:
        raise _no_arithmetic(node.op, left, right)
    if one is two is Kind.TIMESTAMP:
        _check_zones(first, second, schema, node.span)
    return replace(node, left=first, right=second, kind=kind), kind


def _no_arithmetic(op: str, left: Typed, right: Typed) -> CepheidError:
    """Names the operand that is no number; of two, the one that is no duration."""
    operand, kind = max((left, right), key=lambda side: _HARDEST.index(side[1]))
    hints = {
        Kind.STRING: "join strings with concat(…)" if op == "+" else "a string in quotes is not a number",
        Kind.TIMESTAMP: "take y.ts - x.ts, x.ts + INTERVAL 5 MINUTES, or year(…), hour(…), …",
        Kind.DATE: "take y.day - x.day, or year(…), month(…), …",
        Kind.TIME: "take y.at - x.at, or hour(…), minute(…), …",
        Kind.DURATION: "a duration is added to durations and timestamps, and multiplied by numbers",
    }
    message = f"`{op}` takes numbers; `{print_condition(operand)}` is {kind.value}"
    raise CepheidError("type-mismatch", message, span=operand.span, hint=hints.get(kind))


_HARDEST = (
    Kind.NULL,
    Kind.NUMBER,
    Kind.DURATION,
    Kind.TIMESTAMP,
    Kind.DATE,
    Kind.TIME,
    Kind.BOOLEAN,
    Kind.STRING,
    Kind.OTHER,
)


def _string(operator: Like | RLike, operand: Expression, schema: Schema) -> Expression:
    typed, kind = _typed(operand, schema)
    if kind in (Kind.STRING, Kind.NULL):
        return typed
    message = (
        f"{type(operator).__name__.upper()} takes a string; `{print_condition(operand)}` is {kind.value}"
    )
    hint = "compare it with =, <, BETWEEN or IN"
    raise CepheidError("type-mismatch", message, span=operand.span, hint=hint)


def _comparable(
    left: Typed, right: Typed, schema: Schema, span: Span | None
) -> tuple[Expression, Expression]:
    """Both sides in one kind; a literal takes the type of the other side."""
    (first, one), (second, two) = _as_beside(left, right, schema), _as_beside(right, left, schema)
    if Kind.OTHER in (one, two) or (one is not two and Kind.NULL not in (one, two)):
        raise _mismatch((first, one), (second, two), span)
    if one is two is Kind.TIMESTAMP:
        _check_zones(first, second, schema, span)
    return first, second


def _as_beside(item: Typed, other: Typed, schema: Schema) -> Typed:
    """A literal as a value of the kind of the expression beside it, where it can be one."""
    (literal, kind), (expression, wanted) = item, other
    if not isinstance(literal, Literal) or isinstance(expression, Literal):
        return item
    converted = as_literal_of(literal, kind, wanted, _zone(expression, schema))
    return converted, wanted if _converts_to(kind, wanted) else kind


def _converts_to(literal: Kind, other: Kind) -> bool:
    """Whether a literal of one kind can be read as the other."""
    if literal is Kind.STRING:
        return other is Kind.TIMESTAMP or other is Kind.DATE or other is Kind.TIME
    return literal is Kind.DATE and other is Kind.TIMESTAMP


def _zone(expression: Expression, schema: Schema) -> str | None:
    """The time zone of the timestamps that an expression reads."""
    types = (type_of(read, schema) for read in places(expression))
    return next((dtype.tz for dtype in types if pa.types.is_timestamp(dtype)), None)


def _check_zones(first: Expression, second: Expression, schema: Schema, span: Span | None) -> None:
    """Instants and clock times cannot be compared without a zone that the query does not name."""
    zoned = {}
    for side in (first, second):
        for read in places(side):
            dtype = type_of(read, schema)
            if pa.types.is_timestamp(dtype):
                zoned[dtype.tz is not None] = read
    if len(zoned) > 1:
        with_zone, without = print_condition(zoned[True]), print_condition(zoned[False])
        message = f"`{with_zone}` has a time zone and `{without}` has none: they cannot be compared"
        hint = "give both columns a zone, or neither, before matching"
        raise CepheidError("type-mismatch", message, span=span, hint=hint)


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
            return "write a duration as INTERVAL 5 MINUTES"
        case int() | float() | Decimal(), _, Kind.DATE:
            return "write a date as DATE '2024-01-31'"
        case int(), _, Kind.BOOLEAN:
            return "write TRUE or FALSE"
        case _, Kind.OTHER, _:
            return (
                "of lists and structs elements are compared, x.tags[0], x.place.city; binary values are not"
            )
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
        # Lists may be long: literals of the same type as the first are converted without checking again.
        if listed and isinstance(item, Literal) and not isinstance(value, Literal):
            own = _PLAIN.get(type(item.value))
            if own is not None and (own is kind or _converts_to(own, kind)):
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
    result = function.result or _shared_kind(function.name, typed, schema, f"call it as {function.signature}")
    return Call(name, expressions, call.span), result


def _case(node: Case, schema: Schema) -> Typed:
    """Its values have one kind, as the arguments of `coalesce` have."""
    conditions = tuple(_condition(condition, schema) for condition in node.conditions)
    typed = _with_literals_alike([_typed(value, schema) for value in (*node.values, node.otherwise)], schema)
    for value, kind in typed:
        if kind is Kind.OTHER:
            message = f"CASE takes values that a condition reads; `{print_condition(value)}` is {kind.value}"
            raise CepheidError("type-mismatch", message, span=value.span)
    kind = _shared_kind("CASE", typed, schema, "give all its values one type")
    *values, otherwise = (value for value, _ in typed)
    return Case(conditions, tuple(values), otherwise, node.span), kind


def _cast(node: Cast, schema: Schema) -> Typed:
    operand, kind = _typed(node.operand, schema)
    if kind is not Kind.NULL and kind not in node.target.takes:
        listed = " or ".join(sorted(item.value for item in node.target.takes))
        message = f"CAST makes {node.target} of {listed}; `{print_condition(operand)}` is {kind.value}"
        durations = kind is Kind.DURATION and node.target.kind is Kind.NUMBER
        hint = "divide it by a duration: (y.ts - x.ts) / INTERVAL 1 SECOND" if durations else None
        raise CepheidError("type-mismatch", message, span=node.operand.span or node.span, hint=hint)
    return replace(node, operand=operand, kind=kind), node.target.kind


def _aggregate(node: Aggregate, schema: Schema) -> Typed:
    """Numbers are summed; min and max take what has an order; the others take anything that a condition reads."""
    if isinstance(node.operand, Attribute) and node.operand.name == EVENT:
        return node, Kind.NUMBER
    operand, kind = _typed(node.operand, schema)
    wanted = (
        NUMBER if node.function in ("sum", "avg") else ORDERED if node.function in ("min", "max") else ANY
    )
    if kind is not Kind.NULL and kind not in wanted:
        listed = " or ".join(sorted(item.value for item in wanted))
        message = f"`{node.function}` takes {listed}; `{print_condition(operand)}` is {kind.value}"
        raise CepheidError(
            "type-mismatch", message, span=node.operand.span, hint="count(…) takes all of them"
        )
    return replace(node, operand=operand), Kind.NUMBER if node.function in ("count", "sum", "avg") else kind


def _with_literals_alike(typed: list[Typed], schema: Schema) -> list[Typed]:
    """Literals among arguments of one kind take the type of the first argument that is not a literal."""
    model = next((item for item in typed if not isinstance(item[0], Literal)), None)
    return typed if model is None else [_as_beside(item, model, schema) for item in typed]


def _check_count(function: Function, call: Call) -> None:
    given = len(call.arguments)
    if given < function.fewest or (function.most is not None and given > function.most):
        message = f"`{function.name}` cannot take {given} argument{'' if given == 1 else 's'}"
        raise CepheidError("type-mismatch", message, span=call.span, hint=f"call it as {function.signature}")


def _wrong_argument(function: Function, argument: Expression, kind: Kind, wanted: Kinds) -> CepheidError:
    listed = " or ".join(sorted(item.value for item in wanted))
    message = f"`{function.name}` takes {listed} here; `{print_condition(argument)}` is {kind.value}"
    return CepheidError("type-mismatch", message, span=argument.span, hint=f"call it as {function.signature}")


def _shared_kind(name: str, typed: list[Typed], schema: Schema, hint: str) -> Kind:
    """The one kind of arguments that must agree; NULL goes with any."""
    kinds = [(argument, kind) for argument, kind in typed if kind is not Kind.NULL]
    for argument, kind in kinds[1:]:
        if kind is not kinds[0][1]:
            raise CepheidError(
                "type-mismatch",
                f"`{name}` takes values of one type; `{print_condition(argument)}` is {kind.value}, "
                f"`{print_condition(kinds[0][0])}` is {kinds[0][1].value}",
                span=argument.span,
                hint=hint,
            )
        if kind is Kind.TIMESTAMP:
            _check_zones(kinds[0][0], argument, schema, argument.span)
    return kinds[0][1] if kinds else Kind.NULL


def _typed_window(
    window: Window | None, schema: Schema, span: Span | None, word: str = "WITHIN"
) -> Window | None:
    """The window in the unit in which `streams.times` counts the time column; `word` is the one before it."""
    if window is None or window.unit is WindowUnit.EVENTS:
        return window
    kind, shown = kind_of(schema.time_type), print_window(window)
    if window.unit is not WindowUnit.PLAIN and kind is Kind.NUMBER:
        message = f"`{word} {shown}` needs a timestamp or date; time column `{schema.time}` is a number"
        hint = "give the window as a plain number in the column's own unit"
        raise CepheidError("bad-argument", message, span=span, hint=hint)
    if window.unit is WindowUnit.PLAIN and kind is not Kind.NUMBER:
        message = f"`{word} {shown}` needs a unit; time column `{schema.time}` is {kind.value}"
        hint = f"write {word} {shown} seconds, minutes, …, or EVENTS"
        raise CepheidError("bad-argument", message, span=span, hint=hint)
    counts_ns = counts_nanoseconds(schema.time_type)
    return window.counted_in(WindowUnit.NANOSECONDS if counts_ns else WindowUnit.MICROSECONDS)
