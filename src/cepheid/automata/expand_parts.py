"""An automaton over placeholders → one in which the parts of strategies are automata themselves.

In: an automaton in which a mark of a placeholder stands for a whole part (`strategy_parts`). Out: the same with the
part's states in between. A mark of the placeholder becomes one for each way to begin the part; from there the states of
the part's automaton follow, once for each place that the placeholder led to; a mark that completes the part leads
there. Between its events a part goes from state to state by skips, too: its guards ask for letters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from cepheid.algebra.conditions import Condition, conjunction
from cepheid.automata.automaton import (
    ALWAYS,
    Automaton,
    Guard,
    Numbering,
    Predicate,
    Test,
    Transition,
    renumbered,
)
from cepheid.automata.strategy_parts import DEAD, PartMark, StrategyPart


class _Inside(NamedTuple):
    """A state inside a part: where the part leads to once it is complete, as what its events are marked and stored, and
    the part's state."""

    part: str
    target: int
    label: frozenset[str]
    writes: frozenset[str]
    moves: frozenset[tuple[str, str]]
    state: int


def expanded(
    automaton: Automaton, parts: Mapping[str, StrategyPart], shown: frozenset[str], strict: bool = False
) -> Automaton:
    """The automaton without placeholders; its labels have the names of `shown`. `strict`: no event is skipped.

    >>> from cepheid.algebra.nodes import Atom, Repeat, Select, Seq, Strategy
    >>> from cepheid.automata.construct import construct
    >>> from cepheid.automata.strategy_parts import with_placeholders
    >>> largest = Select(Strategy.MAX, Repeat(Atom("B"), 1, None))
    >>> pattern, parts = with_placeholders(Seq(Atom("A"), largest), frozenset())
    >>> whole = expanded(construct(pattern, ()), parts, frozenset())
    >>> [(one.source, one.label is not None, one.target) for one in whole.transitions]
    [(0, True, 1), (1, True, 2), (1, True, 3), (1, False, 1), (3, True, 2), (3, True, 3), (3, False, 3)]
    """
    if not parts:
        return automaton
    return _Expansion(automaton, parts, shown, strict).automaton()


class _Expansion:
    def __init__(
        self, automaton: Automaton, parts: Mapping[str, StrategyPart], shown: frozenset[str], strict: bool
    ) -> None:
        self._before, self._parts, self._shown, self._strict = automaton, parts, shown, strict
        self._inside: Numbering[_Inside] = Numbering()

    def automaton(self) -> Automaton:
        transitions = [new for one in self._before.transitions for new in self._of(one)]
        done = 0
        while done < len(self._inside):
            inside = list(self._inside)[done]
            transitions += self._leaving(self._number(inside), inside)
            done += 1
        transitions.sort(key=lambda one: one.source)
        states = self._before.states + len(self._inside)
        whole = replace(
            self._before, states=states, transitions=tuple(transitions), parts=tuple(self._parts.values())
        )
        return renumbered(whole)

    def _number(self, inside: _Inside) -> int:
        return self._before.states + self._inside[inside]

    def _of(self, one: Transition) -> Iterator[Transition]:
        """A transition, or for one that marks a placeholder, those that begin its part."""
        asked = next((test for test in one.guard.holds if _type(test) in self._parts), None)
        if asked is None or one.label is None:
            yield one
            return
        name = _type(asked)
        assert name is not None
        part = self._parts[name]
        rest = replace(one.guard, holds=one.guard.holds - {asked})
        inside = _Inside(name, one.target, one.label, one.writes, one.moves, 0)
        for number, beginning in enumerate(part.beginnings):
            for mark in beginning:
                yield from self._marking(one.source, rest, part.begins_with(number), mark, inside)

    def _leaving(self, source: int, inside: _Inside) -> Iterator[Transition]:
        """What a part does inside, on each letter."""
        part = self._parts[inside.part]
        for letter, marks in enumerate(part.marks[inside.state]):
            for mark in marks:
                yield from self._marking(source, ALWAYS, part.reads(letter), mark, inside)
        if self._strict:
            return
        skips = part.skips[inside.state]
        moving = [letter for letter, goal in enumerate(skips) if goal != inside.state]
        if len(moving) < len(skips):
            leave = frozenset(frozenset([Predicate(None, part.reads(letter))]) for letter in moving)
            yield Transition(source, source, Guard(fails=leave))
        for letter in moving:
            if skips[letter] != DEAD:
                target = self._number(inside._replace(state=skips[letter]))
                yield Transition(source, target, _also(ALWAYS, part.reads(letter)))

    def _marking(
        self, source: int, guard: Guard, condition: Condition, mark: PartMark, inside: _Inside
    ) -> Iterator[Transition]:
        tests = (test for name, test in self._parts[inside.part].tests if name is None or name in mark.label)
        asked = _also(guard, conjunction((condition, *tests)))
        label = inside.label | (mark.label & self._shown)
        if mark.accepts:
            yield Transition(source, inside.target, asked, label, inside.writes, inside.moves)
        if mark.goal != DEAD:
            target = self._number(inside._replace(state=mark.goal))
            yield Transition(source, target, asked, label, inside.writes, inside.moves)


def _type(test: Test) -> str | None:
    return test.type if isinstance(test, Predicate) else None


def _also(guard: Guard, condition: Condition) -> Guard:
    return replace(guard, holds=guard.holds | {Predicate(None, condition)})
