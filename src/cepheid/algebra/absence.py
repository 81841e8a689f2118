"""NOT: where it may stand (`lazy-chain-nfa`, section 4.4).

In: a pattern. Out: nothing, or an error that says what to write instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from cepheid.algebra.conditions import conjuncts, variables
from cepheid.algebra.empty import without_absences
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
    walk,
)
from cepheid.algebra.printing import print_pattern
from cepheid.algebra.reach import edges, may_be_empty
from cepheid.algebra.variables import absent, defined, is_iteration, sets
from cepheid.errors import CepheidError, quoted


def check_absences(pattern: Pattern) -> None:
    """Raises the first NOT that stands where it cannot mean anything.

    >>> check_absences(Seq(Atom("A"), Not(Repeat(Atom("B"), 0, None))))
    Traceback (most recent call last):
    cepheid.errors.CepheidError: error[misplaced-not]: `B*` may be empty, so that it always occurs
      hint: forbid at least one: NOT B+
    """
    nodes = [node for node in walk(pattern) if isinstance(node, Not)]
    for node in nodes:
        _check_body(node)
    if not nodes:
        return
    _check_company(pattern)
    _check_for(pattern, neighbours=False)
    _check_names(pattern, nodes)
    for part in walk(pattern):
        _check_neighbours(part)
        _check_one_owner(part)


def _check_body(node: Not) -> None:
    if may_be_empty(node.body):
        message = f"`{print_pattern(node.body)}` may be empty, so that it always occurs"
        raise CepheidError("misplaced-not", message, span=node.span, hint=_at_least_once(node.body))


def _at_least_once(body: Pattern) -> str:
    if isinstance(body, Repeat) and not may_be_empty(body.body):
        return f"forbid at least one: NOT {print_pattern(replace(body, lo=1))}"
    return "forbid what has at least one event"


def _check_company(pattern: Pattern) -> None:
    """Every way through a formula has an event beside its NOTs."""
    for part in _ways(pattern):
        alone = [node for node in walk(part) if isinstance(node, Not)]
        if alone and not _has_events(part):
            message = f"`{print_pattern(part)}` has no event that a match could consist of"
            hint = f"say after or before which event: A ; {print_pattern(alone[0])}"
            raise CepheidError("misplaced-not", message, span=alone[0].span, hint=hint)


def _ways(pattern: Pattern) -> Iterator[Pattern]:
    match pattern:
        case Or(parts):
            for part in parts:
                yield from _ways(part)
        case Filter(body) | PartBy(body) | Bind(body) | Select(_, body) | Within(body) | Repeat(body):
            yield from _ways(body)
        case Atom() | Seq() | StrictSeq() | All() | Not() | Recognise() | Nfab():
            yield pattern
        case _:
            assert_never(pattern)


def _has_events(pattern: Pattern) -> bool:
    """Whether a match of the pattern may have events."""
    match pattern:
        case Atom() | Recognise() | Nfab():
            return True
        case Not():
            return False
        case Repeat(body, _, hi):
            return hi != 0 and _has_events(body)
        case Seq() | StrictSeq() | Or() | All() | Filter() | PartBy() | Select() | Bind() | Within():
            return any(map(_has_events, children(pattern)))
        case _:
            assert_never(pattern)


def _check_for(pattern: Pattern, neighbours: bool) -> None:
    """FOR counts from a neighbour in the sequence."""
    match pattern:
        case Not(body, window, span):
            if window is not None and not neighbours:
                message = "FOR counts from the event before it or after it, and there is none"
                hint = "write A ; NOT B FOR …, or use WITHIN"
                raise CepheidError("misplaced-not", message, span=span, hint=hint)
            _check_for(body, neighbours)
        case Seq(left, right) | StrictSeq(left, right):
            _check_for(left, neighbours or _has_events(right))
            _check_for(right, neighbours or _has_events(left))
        case Repeat(body):
            _check_for(body, neighbours or (is_iteration(pattern) and _has_events(body)))
        case Select(_, body):
            _check_for(body, neighbours=False)
        case Atom() | Or() | All() | Filter() | PartBy() | Bind() | Within() | Recognise() | Nfab():
            for child in children(pattern):
                _check_for(child, neighbours)
        case _:
            assert_never(pattern)


def _check_neighbours(pattern: Pattern) -> None:
    """Nothing can lie between an event and the very next one."""
    for node in _beside_neighbours(pattern):
        message = "`:` leaves no room for an event, so NOT beside it says nothing"
        hint = f"write ; around {print_pattern(node)}, or leave it out"
        raise CepheidError("misplaced-not", message, span=node.span, hint=hint)


def _beside_neighbours(pattern: Pattern) -> list[Not]:
    """The NOTs at the ends of what must be neighbours."""
    match pattern:
        case StrictSeq(left, right):
            return _at_edge(left, last=True) + _at_edge(right, last=False)
        case Repeat(body, strict=strict):
            return _at_edge(body, last=True) + _at_edge(body, last=False) if strict else []
        case Atom() | Seq() | Or() | All() | Filter() | PartBy():
            return []
        case Select() | Bind() | Not() | Within() | Recognise() | Nfab():
            return []
        case _:
            assert_never(pattern)


def _at_edge(pattern: Pattern, *, last: bool) -> list[Not]:
    return [node for node, _ in edges(pattern, last=last, closed=True)]


def _check_names(pattern: Pattern, nodes: list[Not]) -> None:
    """A name stands for an event of the match or for one that is forbidden."""
    positive = without_absences(pattern)
    outside = defined(positive) | sets(positive)
    for node in nodes:
        both = sorted((defined(node.body) | sets(node.body)) & outside)
        if both:
            message = f"`{both[0]}` names an event of the match and one that NOT forbids"
            hint = "give the forbidden one another name, and compare the two with FILTER"
            raise CepheidError("misplaced-not", message, span=node.span, hint=hint)


def _check_one_owner(node: Pattern) -> None:
    """A condition is about what one NOT forbids."""
    if not isinstance(node, Filter) or not absent(node.body):
        return
    for condition in conjuncts(node.condition):
        read = variables(condition) & absent(node.body)
        owners = [part for part in walk(node.body) if isinstance(part, Not) and absent(part) & read]
        if read and not any(read <= absent(part) for part in owners):
            message = f"the condition compares events of several NOTs, {quoted(sorted(read))}"
            hint = "forbid both together, NOT (A ; B), or write a condition for each"
            raise CepheidError("misplaced-not", message, span=condition.span or node.span, hint=hint)
