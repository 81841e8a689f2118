"""Safe: no variable on both sides of a sequence (`cel-cea`, theorem 1 and appendix B.1).

In: any pattern. Out: the same matches; for every ψ₁ ; ψ₂ and ψ₁ : ψ₂ the variables that both sides define,
outside iterations, are none. One event cannot be on both sides, so the alternatives that bind x on both can
be dropped. The paper goes through disjunctive normal form; here only the unsafe sequences are taken apart,
and only by which of the *shared* variables an alternative binds, so the rest of the pattern keeps its shape.
`φ?` is φ OR ε. If no alternative is left the pattern is unsatisfiable, and the error names the variable.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import assert_never

from cepheid.algebra.empty import EMPTY, either, is_empty
from cepheid.algebra.limits import MOST_NODES, guarded
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
    Nfab,
    Not,
    Or,
    PartBy,
    Pattern,
    Recognise,
    Repeat,
    Select,
    Seq,
    StrictSeq,
    Within,
    walk,
)
from cepheid.algebra.variables import bound, defined_once
from cepheid.errors import CepheidError
from cepheid.rewrite.unsatisfiable import UnsatisfiableError, prune

Groups = dict[frozenset[str], Pattern]


def make_safe(pattern: Pattern) -> Pattern:
    """The pattern with every unsafe sequence replaced by its possible alternatives, innermost first.

    >>> x, y, z = Atom("A", "x"), Atom("B", "y"), Atom("C", "x")
    >>> make_safe(Seq(Or((x, y)), z)) == Seq(y, z)
    True
    >>> make_safe(Seq(x, z))
    Traceback (most recent call last):
    cepheid.rewrite.unsatisfiable.UnsatisfiableError: error[...]: `x` would have to be two different events
      hint: use another name for one of them
    """
    pattern = prune(pattern, make_safe)
    if not isinstance(pattern, Seq | StrictSeq):
        return pattern
    shared = defined_once(pattern.left) & defined_once(pattern.right)
    return _disjoint(pattern, shared) if shared else pattern


def _disjoint(pattern: Seq | StrictSeq, shared: frozenset[str]) -> Pattern:
    """The alternatives of an unsafe sequence that bind no shared variable twice."""
    lefts, rights = _groups(pattern.left, shared), _groups(pattern.right, shared)
    if len(lefts) * len(rights) > MOST_NODES:
        raise _too_many(len(lefts), len(rights))
    # Left alternatives that allow the same right ones are joined, so that neither side is copied needlessly.
    joined: dict[tuple[frozenset[str], ...], list[Pattern]] = {}
    for names, left in lefts.items():
        allowed = tuple(others for others in rights if not names & others)
        if allowed:
            joined.setdefault(allowed, []).append(left)
    if not joined:
        raise _clash(pattern, lefts, rights)
    sequence = type(pattern)
    return guarded(
        either(
            sequence(either(side), either(rights[others] for others in allowed))
            for allowed, side in joined.items()
        ),
        "safe",
    )


def _groups(pattern: Pattern, shared: frozenset[str]) -> Groups:
    """The alternatives of a pattern by which of the shared variables they bind.

    An alternative behind an operator that cannot be split (a strategy) is grouped by the variables that it surely
    binds, so that none is dropped wrongly.
    """
    surely = bound(pattern) & shared
    if surely == defined_once(pattern) & shared:
        return {surely: pattern}
    match pattern:
        case Or(parts):
            return _merged([group for part in parts for group in _groups(part, shared).items()])
        case Seq(left, right) | StrictSeq(left, right) | All(left, right):
            pairs: list[tuple[frozenset[str], Pattern]] = [
                (names | others, replace(pattern, left=one, right=two))
                for names, one in _groups(left, shared).items()
                for others, two in _groups(right, shared).items()
            ]
            return _merged(pairs)
        case Filter(body, condition, span):
            filtered = partial(Filter, condition=condition, span=span)
            return {names: filtered(part) for names, part in _groups(body, shared).items()}
        case Bind(body) | PartBy(body) | Within(body):
            # Both ask of each match alone, so they go to each alternative; ε has nothing to gather or compare.
            return {
                names: part if is_empty(part) else replace(pattern, body=part)
                for names, part in _groups(body, shared).items()
            }
        case Repeat(body, 0, 1):
            return _merged([*_groups(body, shared).items(), (frozenset(), EMPTY)])
        case Repeat(body, 1, 1):
            return _groups(body, shared)
        case Atom() | Repeat() | Select() | Not() | Recognise() | Nfab():
            return {surely: pattern}
        case _:
            assert_never(pattern)


def _merged(parts: list[tuple[frozenset[str], Pattern]]) -> Groups:
    by_names: dict[frozenset[str], list[Pattern]] = {}
    for names, part in parts:
        by_names.setdefault(names, []).append(part)
    groups = {names: either(alternatives) for names, alternatives in by_names.items()}
    guarded(either(groups.values()), "safe")
    return groups


def _clash(pattern: Seq | StrictSeq, lefts: Groups, rights: Groups) -> UnsatisfiableError:
    name = min(next(iter(lefts)) & next(iter(rights)))
    again = [node for node in walk(pattern.right) if isinstance(node, Atom) and node.var == name]
    message = f"`{name}` would have to be two different events"
    return UnsatisfiableError(message, span=again[0].span, hint="use another name for one of them")


def _too_many(left: int, right: int) -> CepheidError:
    message = (
        f"variables reused across a sequence give {left} × {right} combinations; the limit is {MOST_NODES}"
    )
    return CepheidError("too-large", message, hint="use different names on the two sides")
