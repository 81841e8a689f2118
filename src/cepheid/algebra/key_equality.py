"""Equality of partition keys as a condition: `=`, but NULL equals NULL and NaN equals NaN."""

from __future__ import annotations

from cepheid.algebra.conditions import Comparison, Condition, Conjunction, Disjunction, Expression, IsNull


def same_key(left: Expression, right: Expression) -> Condition:
    """Equal, both NULL or both NaN.

    >>> from cepheid.algebra.conditions import Attribute
    >>> from cepheid.algebra.printing import print_condition
    >>> print_condition(same_key(Attribute(None, "id"), Attribute("x", "id")))
    'id = x.id OR id IS NULL AND x.id IS NULL OR id <> id AND x.id <> x.id'
    """
    both_nan = Conjunction((Comparison("<>", left, left), Comparison("<>", right, right)))
    return Disjunction((Comparison("=", left, right), Conjunction((IsNull(left), IsNull(right))), both_nan))


def sides_of_same_key(condition: Condition) -> tuple[Expression, Expression] | None:
    """The two sides of a condition that `same_key` made.

    >>> from cepheid.algebra.conditions import Attribute
    >>> sides_of_same_key(same_key(Attribute(None, "id"), Attribute("x", "id")))
    (Attribute(var=None, name='id', each=False), Attribute(var='x', name='id', each=False))
    """
    if isinstance(condition, Disjunction) and isinstance(condition.operands[0], Comparison):
        left, right = condition.operands[0].left, condition.operands[0].right
        if condition == same_key(left, right):
            return left, right
    return None
