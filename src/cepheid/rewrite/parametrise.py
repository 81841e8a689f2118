"""Parametrise: the locally parametrised (LP) normal form for conditional filters (`cel-cea`, theorem 2).

In: a safe pattern whose local filters are pushed. Out: the same matches; a filter P(x) inside a part that does not bind
x, such as φ₆'s "if x is hot, then …", is decided where x is bound: φ becomes (φ with P true) FILTER P OR (φ with P
false) FILTER ¬P, and both filters go to x's atoms. ¬P is "P is not true", so that NULL falls on the second side. Each
decision is simplified at once, so a filter that every match must pass costs nothing: its second side is impossible.
"""

from __future__ import annotations

from typing import assert_never

from cepheid.algebra.conditions import (
    FALSE,
    TRUE,
    Condition,
    IsTrue,
    Literal,
    Negation,
    conjunction,
    conjuncts,
    only_variable,
)
from cepheid.algebra.empty import either
from cepheid.algebra.limits import guarded
from cepheid.algebra.node import kept
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
    children,
    rebuild,
)
from cepheid.algebra.variables import bound, defined_once, is_iteration
from cepheid.rewrite.push import push, restrict
from cepheid.rewrite.simplify import simplify
from cepheid.rewrite.unsatisfiable import UnsatisfiableError, prune


def parametrise(pattern: Pattern) -> Pattern:
    """Every conditional filter decided at the innermost part that binds its variable.

    >>> from dataclasses import replace
    >>> from cepheid.algebra.conditions import Attribute
    >>> from cepheid.algebra.nodes import Atom, Or, Seq
    >>> x, a, b, hot = Atom("T", "x"), Atom("A"), Atom("B"), Attribute("x", "hot")
    >>> here = Attribute(None, "hot")
    >>> parametrise(Seq(x, Or((Filter(a, hot), b)))) == Or((
    ...     Seq(replace(x, condition=here), Or((a, b))), Seq(replace(x, condition=Negation(IsTrue(here))), b)
    ... ))
    True
    """
    return _decide(prune(pattern, parametrise))


def _decide(pattern: Pattern) -> Pattern:
    binds = bound(pattern)
    condition = next((part for part in _undecided(pattern) if only_variable(part) in binds), None)
    if condition is None:
        return pattern
    sides: list[Pattern] = []
    impossible: UnsatisfiableError | None = None
    for truth, known in ((TRUE, condition), (FALSE, Negation(IsTrue(condition)))):
        try:
            sides.append(_assuming(pattern, condition, truth, known))
        except UnsatisfiableError as error:
            impossible = impossible or error
    if impossible is not None and not sides:
        raise impossible
    return guarded(either(sides), "parametrise")


def _assuming(pattern: Pattern, condition: Condition, truth: Literal, known: Condition) -> Pattern:
    """One side of the decision: the filter replaced by its truth value, which x's atoms now ensure."""
    var = only_variable(condition)
    assert var is not None
    assumed = restrict(_assume(pattern, condition, var, truth), (known,))
    return _decide(push(simplify(assumed)))


@kept
def _undecided(pattern: Pattern) -> tuple[Condition, ...]:
    """The unary conditions below that read a variable of the scope around them, in order of appearance."""
    match pattern:
        case Select():
            return ()
        case Filter(body, condition):
            here = bound(body)
            own = (part for part in conjuncts(condition) if only_variable(part) not in {None, *here})
            return tuple(dict.fromkeys([*_undecided(body), *own]))
        case Repeat(body) if is_iteration(pattern):
            return tuple(part for part in _undecided(body) if only_variable(part) not in defined_once(body))
        case Atom() | Seq() | StrictSeq() | Or() | All() | Repeat():
            return tuple(dict.fromkeys(part for child in children(pattern) for part in _undecided(child)))
        case PartBy() | Bind() | Not() | Within() | Recognise() | Nfab():
            return tuple(dict.fromkeys(part for child in children(pattern) for part in _undecided(child)))
        case _:
            assert_never(pattern)


def _assume(pattern: Pattern, condition: Condition, var: str, truth: Literal) -> Pattern:
    """The pattern with every filter equal to `condition`, in the scope of `var`, replaced by `truth`."""
    match pattern:
        case Select():
            return pattern
        case Repeat(body) if is_iteration(pattern) and var in defined_once(body):
            return pattern
        case Filter(body, own, span):
            parts = tuple(truth if part == condition else part for part in conjuncts(own))
            return Filter(_assume(body, condition, var, truth), conjunction(parts), span)
        case Atom() | Seq() | StrictSeq() | Or() | All() | Repeat():
            return rebuild(pattern, lambda child: _assume(child, condition, var, truth))
        case PartBy() | Bind() | Not() | Within() | Recognise() | Nfab():
            return rebuild(pattern, lambda child: _assume(child, condition, var, truth))
        case _:
            assert_never(pattern)
