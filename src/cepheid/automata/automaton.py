"""The automaton: every construction makes one, every evaluator runs one.

A run reads every event from some event on. A transition asks something of the event at hand and of events in registers
(its guard), marks the event under a label or skips it, and stores it in registers. Three papers have special cases:

- a complex event automaton (`cel-cea`, section 6) has no registers: a mark asks for one unary predicate, a skip for
  nothing;
- a chain automaton (`partition-by-chain-cea`, section 4) has the register `LAST` only, which every mark writes, and its
  guards ask for `Link`s between the event in it and the one at hand;
- a symbolic register transducer (`srt`, definition 4.1, without ε-transitions) has any registers and any guards.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from cepheid.algebra.conditions import Condition, variables
from cepheid.algebra.windows import Window
from cepheid.automata.attach_rounds import Check
from cepheid.automata.derived import Derived
from cepheid.automata.rivals import RivalCheck

if TYPE_CHECKING:
    from cepheid.automata.strategy_parts import StrategyPart

Item = TypeVar("Item", bound=Hashable)
Held = TypeVar("Held")

NOTHING: frozenset[str] = frozenset()
LAST = "last"
"""The register of a chain automaton: the last marked event of the run."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """A test of the event's type (None: any) and a condition (None: true) over the event at hand, attributes with var
    None, and events in registers, var the register's name. It holds when the condition is true: not when that is false
    or NULL, and not when it reads an empty register. It is *unary* when it reads no register."""

    type: str | None
    condition: Condition | None


class LinkKind(Enum):
    KEY = "key"  # one key, as PART-BY compares: NULL is NULL, NaN is NaN
    VALUE = "value"  # `=` is true, as FILTER compares: never for NULL or NaN
    NEXT = "next"  # the event is the very next one in its stream or partition; no attribute is read


@dataclass(frozen=True, slots=True)
class Link:
    """A test of two events: `left` of the one in `LAST` equals `right` of the one at hand."""

    left: str
    right: str
    kind: LinkKind = LinkKind.KEY


ADJACENT = Link("", "", LinkKind.NEXT)

Test = Predicate | Link


@dataclass(frozen=True, slots=True)
class Guard:
    """Every test of `holds` holds, and of each group of `fails` at least one test does not. `within`: the event is no
    later than so long after the one in a register, which is not empty. In automata with registers by name conjunctions
    are taken apart: a test is never one of several that must hold together."""

    holds: frozenset[Test] = frozenset()
    fails: frozenset[frozenset[Test]] = frozenset()
    within: frozenset[tuple[str, Window]] = frozenset()

    @property
    def tests(self) -> frozenset[Test]:
        """All tests that decide the guard, but for windows."""
        return self.holds.union(*self.fails) if self.fails else self.holds

    @property
    def registers(self) -> frozenset[str]:
        """The registers that the guard reads."""
        return frozenset(register for register, _ in self.within).union(*map(registers_of, self.tests))


ALWAYS = Guard()


@dataclass(frozen=True, slots=True)
class Transition:
    """Marks the event under `label`, the shown variables that it is bound to, or skips it (None), and stores it in the
    registers `writes`. `moves`: what the second register of each pair has held goes to the first."""

    source: int
    target: int
    guard: Guard = ALWAYS
    label: frozenset[str] | None = None
    writes: frozenset[str] = NOTHING
    moves: frozenset[tuple[str, str]] = frozenset()

    def held_after(self, before: Mapping[str, Held], event: Held) -> dict[str, Held]:
        """What registers hold after the transition; those that are not in it are empty.

        >>> one = Transition(0, 1, writes=frozenset(["r"]), moves=frozenset([("s", "r"), ("t", "s")]))
        >>> one.held_after({"r": 4, "t": 2}, 5)
        {'r': 5, 's': 4}
        """
        moved = {into: before[out] for into, out in sorted(self.moves) if out in before}
        kept = {name: held for name, held in before.items() if name not in dict(self.moves)}
        return {**kept, **dict.fromkeys(self.writes, event), **moved}


@dataclass(frozen=True, slots=True)
class Automaton:
    """States are 0 … states-1; a run begins in state 0 with empty registers, at any event, and accepts when it enters a
    state of `finals` by a transition that marks.

    `predicates` (the unary tests), `tests` (those that read registers) and `labels` number what transitions use: saved
    states refer to these numbers. `labels[0]` is the empty set. `checks`: conditions that are left for
    whole matches, over names in the labels. `exposes`: labels show which events registers hold (`expose_registers`).
    `guarded`: guards check the query's window (`window_guards`), so the evaluator does not. `derived`: the columns
    beyond those of the stream that conditions may read. `parts`: those of strategies inside the formula, whose derived
    columns predicates read (`strategy_parts`).
    """

    states: int
    transitions: tuple[Transition, ...]
    finals: frozenset[int]
    predicates: tuple[Predicate, ...] = ()
    tests: tuple[Test, ...] = ()
    labels: tuple[frozenset[str], ...] = (NOTHING,)
    checks: tuple[Check | RivalCheck, ...] = ()
    exposes: bool = False
    guarded: bool = False
    derived: tuple[Derived, ...] = ()
    parts: tuple[StrategyPart, ...] = ()

    @property
    def marks(self) -> list[Transition]:
        return [one for one in self.transitions if one.label is not None]

    @property
    def skips(self) -> list[Transition]:
        return [one for one in self.transitions if one.label is None]

    @property
    def registers(self) -> list[str]:
        """The registers that are written or read, by name."""
        return sorted(
            {name for one in self.transitions for name in one.writes.union(one.guard.registers, *one.moves)}
        )

    def by_source(self) -> list[list[Transition]]:
        """The transitions that leave each state, in order."""
        leaving: list[list[Transition]] = [[] for _ in range(self.states)]
        for one in self.transitions:
            leaving[one.source].append(one)
        return leaving


class Numbering(dict[Item, int]):
    """Gives each distinct item the next number, from 0."""

    def __missing__(self, item: Item) -> int:
        self[item] = len(self)
        return self[item]


def numbered(
    states: int,
    transitions: Iterable[Transition],
    finals: frozenset[int],
    checks: tuple[Check | RivalCheck, ...] = (),
) -> Automaton:
    """The automaton with these transitions; tests and labels have numbers in the order of the transitions.

    >>> mark = Transition(0, 1, Guard(frozenset([Predicate("A", None)])), frozenset("x"))
    >>> automaton = numbered(2, [mark], frozenset([1]))
    >>> automaton.predicates, automaton.tests, automaton.labels
    ((Predicate(type='A', condition=None),), (), (frozenset(), frozenset({'x'})))
    """
    return renumbered(Automaton(states, tuple(transitions), finals, checks=checks))


def renumbered(automaton: Automaton) -> Automaton:
    """The same automaton; tests and labels have numbers in the order of its transitions."""
    guards = dict.fromkeys(one.guard for one in automaton.transitions)
    tests = dict.fromkeys(test for guard in guards for test in _ordered(guard))
    return replace(
        automaton,
        predicates=tuple(test for test in tests if isinstance(test, Predicate) and not registers_of(test)),
        tests=tuple(test for test in tests if registers_of(test)),
        labels=tuple(
            dict.fromkeys([NOTHING, *(one.label for one in automaton.marks if one.label is not None)])
        ),
    )


def registers_of(test: Test) -> frozenset[str]:
    """The registers that a test reads."""
    if isinstance(test, Link):
        return frozenset([LAST])
    return NOTHING if test.condition is None else variables(test.condition)


@lru_cache(maxsize=4096)
def _ordered(guard: Guard) -> tuple[Test, ...]:
    """The tests of a guard in an order that does not change from run to run."""
    return tuple(sorted(guard.tests, key=repr))
