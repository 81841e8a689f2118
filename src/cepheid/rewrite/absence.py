"""Absence: a condition on what a NOT forbids goes into the NOT.

In: any pattern. Out: the same matches; no filter around a NOT reads what it forbids, so that every other rule may look
at filters without knowing of NOTs. Inside, the filter sees the same events: those around are in its scope. A condition
that also reads a set is left where the set is, and such a pattern is not rewritten any further.
"""

from __future__ import annotations

from dataclasses import replace

from cepheid.algebra.conditions import TRUE, Condition, conjunction, conjuncts, sets_read, variables
from cepheid.algebra.nodes import Filter, Not, Pattern, rebuild, walk
from cepheid.algebra.variables import absent, bound


def with_own_conditions(pattern: Pattern) -> Pattern:
    """Every condition on what a NOT forbids inside of that NOT.

    >>> from cepheid.algebra.conditions import Attribute
    >>> from cepheid.algebra.nodes import Atom, Seq
    >>> from cepheid.algebra.printing import print_pattern
    >>> late = Attribute("y", "late")
    >>> print_pattern(with_own_conditions(Filter(Seq(Atom("A", "x"), Not(Atom("B", "y"))), late)))
    'A AS x ; NOT (B AS y FILTER y.late)'
    """
    pattern = rebuild(pattern, with_own_conditions)
    if not isinstance(pattern, Filter):
        return pattern
    body, left = pattern.body, list[Condition]()
    for condition in conjuncts(pattern.condition):
        if variables(condition) & absent(body) and not sets_read(condition):
            body = _moved(body, condition)
        else:
            left.append(condition)
    rest = conjunction(tuple(left))
    return body if rest == TRUE and left == [] else replace(pattern, body=body, condition=rest)


def _moved(pattern: Pattern, condition: Condition) -> Pattern:
    """The condition around the bodies of the NOTs that bind all that it reads of what is absent."""
    read = variables(condition)
    if isinstance(pattern, Not):
        if read & bound(pattern.body) and not read & absent(pattern.body):
            return replace(pattern, body=Filter(pattern.body, condition))
        if read & absent(pattern.body):
            return replace(pattern, body=_moved(pattern.body, condition))
        return pattern
    if not read & absent(pattern):
        return pattern
    return rebuild(pattern, lambda child: _moved(child, condition))


def reads_what_is_absent(pattern: Pattern) -> bool:
    """Whether some filter is left around a NOT that is about what this forbids."""
    return any(
        isinstance(node, Filter) and bool(variables(node.condition) & absent(node.body))
        for node in walk(pattern)
    )
