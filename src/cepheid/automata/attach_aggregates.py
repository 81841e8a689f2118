"""A condition on the first, last, least or greatest values of sets → conditions on atoms, for `attach`.

In: a condition with `min`, `max`, `first` and `last` of sets, and variables that are bound before or in the pattern;
and a pattern without filters that gathers the sets. Out: the pattern, with the condition on the last event that it is
about, an event of a set or a variable's. That it is the last is a guess, which any further such event refutes; of first
and last values alone, any that changes one. The value of an aggregate so far is that of the event at hand or of a
register, written by every event that takes its place.

NULLs are passed over. NaN is the least and the greatest of all values that it is among.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from cepheid.algebra.conditions import (
    Aggregate,
    Arithmetic,
    Comparison,
    Condition,
    Expression,
    IsNull,
    IsTrue,
    Literal,
    Negation,
    Previous,
    aggregates,
    children,
    sets_chosen,
    sets_read,
    variables,
)
from cepheid.algebra.conditions import rebuild as rebuild_condition
from cepheid.algebra.empty import NOTHING, either
from cepheid.algebra.limits import guarded
from cepheid.algebra.nodes import Atom, Bind, Pattern
from cepheid.algebra.pattern_alternatives import Alternatives, merged
from cepheid.algebra.variables import defined, names_of, sets
from cepheid.automata.attach_atoms import restricted
from cepheid.automata.attach_sets import NoExtremeError, about
from cepheid.semantics.whole_sets import holds_of_sets

OPEN, SETTLED, CLOSED = range(3)
"""Whether the condition was asked: not yet; it was, and nothing that it reads may change; or no event may come that it
is about."""

NONE, SOME, NAN = range(3)
"""What a run knows of an aggregate: there was no value; it is that of its register; and that is NaN, and stays."""

_KEPT = ("min", "max", "first", "last")
MOST_EXTREMES = (
    1  # of two an event would ask whether it is beyond either, and the condition of each pair of values
)


@dataclass(frozen=True, slots=True)
class Known:
    """The single variables that are bound, per aggregate what is known of it, whether there was an event that the
    condition is about, whether one had a value or was a variable's, and whether the condition was asked."""

    singles: frozenset[str]
    levels: tuple[int, ...]
    begun: bool = False
    changed: bool = False
    asked: int = 0


@dataclass(frozen=True, slots=True)
class _Change:
    """What an event may be for an aggregate: the tests that it passes, the level after it, and the value then, which is
    the event's if it is `written` to the register."""

    tests: tuple[Condition, ...]
    level: int
    written: bool = False


def on_aggregates(
    condition: Condition, pattern: Pattern, known: frozenset[str], register: Callable[[str], str]
) -> Pattern:
    """The pattern whose matches satisfy the condition; `NoExtremeError` where registers do not suffice. `known`:
    variables bound before it; `register`: a new name.

    >>> from cepheid.algebra.conditions import Attribute
    >>> from cepheid.algebra.nodes import Seq
    >>> from cepheid.algebra.printing import print_pattern
    >>> last = Aggregate("last", Attribute("X", "v", each=True))
    >>> below = Comparison("<", last, Attribute("y", "v"))
    >>> whole = Seq(Bind(Atom("A"), "X"), Atom("B", "y"))
    >>> print_pattern(on_aggregates(below, whole, frozenset(), lambda name: f"{name}_last"))
    'A[v IS NULL] IN X ; B[NULL < v] AS y OR A[(v IS NULL) IS NOT TRUE] IN X_last IN X ; B[X_last.v < v] AS y'
    """
    found = list(dict.fromkeys(aggregates(condition)))
    if sets_chosen(condition) or _has_no_word(condition) or any(node.function not in _KEPT for node in found):
        raise NoExtremeError
    if sum(node.function in ("min", "max") for node in found) > MOST_EXTREMES:
        raise NoExtremeError
    visitor = _OnAggregates(condition, found, register)
    start = Known(known & visitor.singles, (NONE,) * len(found))
    kept = [part for then, part in visitor.alternatives(pattern, start).items() if visitor.holds_after(then)]
    return guarded(either(kept) if kept else NOTHING, "attach")


def _has_no_word(condition: Expression) -> bool:
    """Whether a condition reads what no register holds: previous events, and times that are computed, which may lie
    outside of all that a column holds."""
    below = (child for child in children(condition) if not isinstance(child, Literal))
    return _computes_time(condition) or isinstance(condition, Previous) or any(map(_has_no_word, below))


def _computes_time(expression: Expression) -> bool:
    return isinstance(expression, Arithmetic) and expression.kind is not None


class _OnAggregates(Alternatives[Known]):
    def __init__(
        self, condition: Condition, found: Sequence[Aggregate], register: Callable[[str], str]
    ) -> None:
        super().__init__()
        self.gathered = sets_read(condition)
        self.singles = variables(condition) - self.gathered
        self._condition = condition
        self._only_ends = all(node.function in ("first", "last") for node in found)
        self._aggregates = [_Kept(node, register(next(iter(sets_read(node))))) for node in found]

    def holds_after(self, known: Known) -> bool:
        """Whether the condition holds at the end: it was asked, or holds of no event."""
        if known.asked != OPEN:
            return True
        if known.singles != self.singles or (self.singles and not known.begun):
            raise NoExtremeError  # nothing in the pattern decides it
        if known.begun:
            return False
        return holds_of_sets(self._condition, dict.fromkeys(self.gathered, ()), {})

    def _concerns(self, pattern: Pattern, known: Known) -> bool:
        return bool(sets(pattern) & self.gathered or defined(pattern) & self.singles)

    def _atom(self, atom: Atom, known: Known, inside: frozenset[str]) -> dict[Known, Pattern]:
        own = names_of(atom) & self.singles
        if not inside and not own:
            return {known: atom}
        if known.asked == CLOSED or (known.asked == SETTLED and own):
            return {}
        known = replace(known, singles=known.singles | own)
        changes = [
            one.changes(level) if one.name in inside else [_Change((), level)]
            for one, level in zip(self._aggregates, known.levels, strict=True)
        ]
        return merged(self._alternatives(atom, known, own, some) for some in product(*changes))

    def _alternatives(
        self, atom: Atom, known: Known, own: frozenset[str], changes: Sequence[_Change]
    ) -> dict[Known, Pattern]:
        """The event as one of several, and as the last, which is asked; of first and last values, the last that changes
        one, or where there is no value the last of all."""
        for change in changes:
            for test in change.tests:
                atom = restricted(atom, test)
        changes_one = bool(own) or any(change.written for change in changes)
        if known.asked == SETTLED:
            return {} if changes_one else {known: atom}
        levels, changed = tuple(change.level for change in changes), known.changed or changes_one
        later = replace(known, levels=levels, begun=True, changed=changed)
        found: dict[Known, Pattern] = {later: self._written(atom, changes)}
        if known.singles == self.singles and (changes_one or not changed or not self._only_ends):
            values = {
                one.node: one.value(change) for one, change in zip(self._aggregates, changes, strict=True)
            }
            asked = about(_with_values(self._condition, values), dict.fromkeys(own))
            if self._only_ends and changes_one:
                then = replace(later, asked=SETTLED)
            else:  # what is remembered makes no difference any more
                then = Known(self.singles, (NONE,) * len(levels), begun=True, changed=True, asked=CLOSED)
            found[then] = restricted(atom, asked)
        return found

    def _written(self, atom: Atom, changes: Sequence[_Change]) -> Pattern:
        written: Pattern = atom
        for one, change in zip(self._aggregates, changes, strict=True):
            if change.written:
                written = Bind(written, one.register)
        return written


class _Kept:
    """An aggregate whose value is that of one event."""

    def __init__(self, node: Aggregate, register: str) -> None:
        (self.name,) = sets_read(node.operand)
        self.node = node
        self.register = register
        self._here = about(node.operand, {self.name: None})
        self._before = about(node.operand, {self.name: register})

    def value(self, change: _Change) -> Expression:
        """The aggregate's value once an event has made the change."""
        if change.level == NONE:
            return Literal(None)
        return self._here if change.written else self._before

    def changes(self, level: int) -> list[_Change]:
        """What the next event may be; exactly one holds of each event."""
        if level == NAN:
            return [_Change((), NAN)]
        missing = IsNull(self._here)
        if self.node.function == "first" and level == SOME:
            return [_Change((), SOME)]
        if self.node.function in ("first", "last"):
            return [_Change((missing,), level), _Change((_not(missing),), SOME, written=True)]
        nan = Comparison("<>", self._here, self._here)
        if level == NONE:
            return [
                _Change((missing,), NONE),
                _Change((_not(missing), _not(nan)), SOME, written=True),
                _Change((_not(missing), nan), NAN, written=True),
            ]
        beyond = Comparison("<" if self.node.function == "min" else ">", self._here, self._before)
        return [
            _Change((_not(nan), _not(beyond)), SOME),
            _Change((_not(nan), beyond), SOME, written=True),
            _Change((nan,), NAN, written=True),
        ]


def _not(test: Condition) -> Condition:
    """A test and its complement are one test for an automaton, so that it sees that they exclude each other."""
    return Negation(IsTrue(test))


def _with_values(condition: Condition, values: dict[Aggregate, Expression]) -> Condition:
    if isinstance(condition, Aggregate):
        return values[condition]
    return rebuild_condition(condition, lambda child: _with_values(child, values))
