"""Parameters: the values that `:name` stands for in conditions.

In: a syntax tree, and values by name. Out: the tree with a value in the place of each parameter, as a literal would
stand there; a list only after IN. Values never become text that is parsed. A parameter without a value, and a value
without a parameter, are errors.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from lark import Token, Tree

from cepheid.algebra.conditions import type_of_value
from cepheid.algebra.moments import Interval, Moment, TimeOfDay, moment_of, read_time_of_day
from cepheid.errors import CepheidError, Source, Span, clipped, did_you_mean, quoted
from cepheid.languages.parsed import Node, ParsedTree, Part, span_of
from cepheid.languages.words import INT64, decimal_of

Values = Mapping[str, Any]


def with_parameters(tree: ParsedTree, values: Values) -> ParsedTree:
    """The tree with each parameter's value in its place.

    >>> from cepheid.languages.cel.tree import parse_cel
    >>> tree = parse_cel(Source("SELECT * FROM s WHERE A AS x FILTER x.v IN :wanted"))
    >>> print(with_parameters(tree, {"wanted": [1, 2]}).root.children[-1].children[-1].children[-1])
    Tree('value', [Token('VALUE', 2)])
    """
    if not isinstance(values, Mapping):
        message = f"`params` requires a dict of values by name; got `{clipped(repr(values), 80)}` instead"
        raise CepheidError("bad-argument", message)
    used = {str(token)[1:] for token in tree.root.scan_values(_is_parameter)}
    for name in values:
        if name not in used:
            hint = did_you_mean(
                str(name), used, f"its parameters are {quoted(sorted(used))}" if used else "it has none"
            )
            raise CepheidError("unknown-parameter", f"the query has no parameter `:{name}`", hint=hint)
    return replace(tree, root=_filled(tree.source, tree.root, values)) if used else tree


def _is_parameter(token: Any) -> bool:
    return isinstance(token, Token) and token.type == "PARAMETER"


def _filled(source: Source, node: Node, values: Values) -> Node:
    children: list[Any] = []
    for place, child in enumerate(node.children):
        if not isinstance(child, Tree):
            children.append(child)
        elif child.data == "parameter":
            is_item = place > 0 and node.data in ("in", "not_in")
            children += _literals(source, child, values, is_item)
        else:
            children.append(_filled(source, child, values))
    return Tree(node.data, children, node.meta)


def _literals(source: Source, node: Node, values: Values, is_item: bool) -> Iterator[Part]:
    """The literal in the place of a parameter; the items of a list, in the place of one of IN."""
    (token,) = node.children
    assert isinstance(token, Token)
    name, span = str(token)[1:], span_of(source, token)
    if name not in values:
        hint = did_you_mean(
            name, values, f"give it: params={{'{name}': …}}, on the command line --param {name}=…"
        )
        raise CepheidError("unknown-parameter", f"the parameter `:{name}` has no value", span=span, hint=hint)
    value = values[name]
    is_list = isinstance(value, list | tuple | set | frozenset)
    if is_list and not is_item:
        message = f"the parameter `:{name}` is a list"
        raise CepheidError("bad-argument", message, span=span, hint="a list stands after IN")
    for item in value if is_list else [value]:
        literal = Token.new_borrow_pos("VALUE", _checked(source, token, name, item, span), token)
        yield Tree("value", [literal], node.meta)


def _checked(source: Source, token: Token, name: str, value: Any, span: Span) -> type_of_value:
    """The value that the same literal in the text would have."""
    match value:
        case None | bool() | str() | Moment() | TimeOfDay() | Interval():
            return value
        case int() if value in INT64:
            return value
        case float() if math.isfinite(value):
            return value
        case Decimal() if value.is_finite():
            return _decimal(source, token, value)
        case dt.datetime():
            return moment_of(value)
        case dt.date():
            return value
        case dt.timedelta():
            microseconds = value // dt.timedelta(microseconds=1)
            return Interval(microseconds * 1000 + getattr(value, "nanoseconds", 0))  # of pandas' subclass
        case dt.time() if value.tzinfo is None:
            return read_time_of_day(value.isoformat())
        case _ if hasattr(value, "item") and value is not (plain := value.item()):  # of NumPy
            return _checked(source, token, name, plain, span)
        case _:
            message = f"the parameter `:{name}` is {clipped(repr(value), 80)}, which no literal can be"
            hint = (
                "give a number of 64 bits, a text, a boolean, a date, a time or None; after IN a list of them"
            )
            raise CepheidError("bad-argument", message, span=span, hint=hint)


def _decimal(source: Source, token: Token, value: Decimal) -> float | Decimal:
    size = decimal_of(source, Token.new_borrow_pos("DECIMAL", f"{value.copy_abs():f}", token))
    return size if not value.is_signed() else -size if isinstance(size, float) else size.copy_negate()
