"""Aggregates and `prev`: what they are asked of.

In: a condition. Out: nothing, or an error that says what to write. Each is over one set, and inside of none other; only
a filter of CEL, which sees what its formula gathers, has them.
"""

from __future__ import annotations

from cepheid.algebra.conditions import (
    EVENT,
    Aggregate,
    Condition,
    Expression,
    Literal,
    Previous,
    children,
    is_about_whole_sets,
    mentioned,
)
from cepheid.algebra.nodes import Pattern
from cepheid.algebra.printing import print_condition, print_name
from cepheid.algebra.variables import defined, defined_once, sets
from cepheid.errors import CepheidError, quoted


def check_whole_sets(condition: Condition, pattern: Pattern) -> None:
    """Raises unless every aggregate and every `prev` is over one set of the pattern.

    >>> from cepheid.algebra.conditions import Attribute
    >>> from cepheid.algebra.nodes import Atom
    >>> check_whole_sets(Aggregate("sum", Attribute("x", "v")), Atom("T", "x"))
    Traceback (most recent call last):
    cepheid.errors.CepheidError: error[needs-set]: `sum` is over a set of events, and `x` is one event
      hint: write x.v without `sum`
    """
    if isinstance(condition, Aggregate | Previous):
        _check(condition, pattern)
    for child in children(condition):
        if not isinstance(child, Literal):  # lists have many
            check_whole_sets(child, pattern)


def refuse_whole_sets(condition: Condition) -> None:
    """For languages without sets."""
    found = _first(condition)
    if found is not None:
        message = f"`{_name(found)}` is over a set of events, and SREMO has none"
        hint = "write the query in CEL, with (…)+ IN X"
        raise CepheidError("needs-set", message, span=found.span, hint=hint)


def _first(expression: Expression) -> Aggregate | Previous | None:
    if isinstance(expression, Aggregate | Previous):
        return expression
    below = (_first(child) for child in children(expression) if not isinstance(child, Literal))
    return next((found for found in below if found is not None), None)


def _name(node: Aggregate | Previous) -> str:
    return node.function if isinstance(node, Aggregate) else "prev"


def _check(node: Aggregate | Previous, pattern: Pattern) -> None:
    name, gathered = _name(node), sets(pattern)
    read = {item.var: item for item in mentioned(node.operand)}
    for var, item in read.items():
        if var is None or (var not in gathered and var not in defined(pattern)):
            continue  # an unknown name, which is another error
        if var not in gathered:
            raise _of_one_event(node, name, var, pattern)
        if len(read) > 1:
            message = f"`{name}` is over one set; it reads {quoted([str(other) for other in read])}"
            hint = "take each by itself: sum(X.a) * y.b for sum(X.a * y.b)"
            raise CepheidError("needs-set", message, span=item.variable_span, hint=hint)
    if not read:
        message = f"`{name}` is over a set of events; `{print_condition(node.operand)}` reads none"
        raise CepheidError("needs-set", message, span=node.span, hint="gather one, (…)+ IN X, and take X.a")
    if is_about_whole_sets(node.operand):
        message = (
            f"`{name}` of `{print_condition(node.operand)}` is not yet supported: one is inside the other"
        )
        raise CepheidError("not-yet", message, span=node.span, hint="compare the two in a condition")


def _of_one_event(node: Aggregate | Previous, name: str, var: str, pattern: Pattern) -> CepheidError:
    item = next(item for item in mentioned(node.operand) if item.var == var)
    message = f"`{name}` is over a set of events, and `{var}` is one event"
    if var not in defined_once(pattern):
        message += " of a round"
        gathered = print_name(var.upper() if var.upper() != var else f"{var}s")
        hint = f"gather all rounds, ({var} …)+ IN {gathered}, and write {gathered} for {var}"
    elif item.name == EVENT or isinstance(node, Previous):
        hint = "gather events, (…)+ IN X, and write X"
    else:
        hint = f"write {print_condition(node.operand)} without `{name}`"
    return CepheidError("needs-set", message, span=item.variable_span, hint=hint)
