"""Exposing registers: an automaton whose marks say which events its registers hold.

In: an automaton. Out: one that marks every event that it stores, under the names of the registers. Runs that mark the
same events may have stored any number of different ones; determinised, they would be one partial match that remembers
all of these. With these labels they are different partial matches, each of which remembers one event per register.
`evaluators.configurations.projection` drops the labels and the duplicate matches that this leaves.
"""

from __future__ import annotations

from dataclasses import replace

from cepheid.automata.automaton import Automaton, Transition, renumbered
from cepheid.automata.derivatives import NoAutomatonError

UNMARKED = "⊗"
"""Labels an event that is marked only to expose a register."""


def exposed(register: str) -> str:
    """Labels an event that is stored in a register.

    >>> exposed("r")
    '↓r'
    """
    return f"↓{register}"


def with_exposed_registers(automaton: Automaton, windowed: bool) -> Automaton:
    """The automaton that exposes its registers. A window begins with the first marked event, so with one no event may
    be stored before that.

    >>> from cepheid.automata.automaton import numbered
    >>> first, second = Transition(0, 1, label=frozenset()), Transition(1, 2, writes=frozenset(["r"]))
    >>> exposing = with_exposed_registers(numbered(3, [first, second], frozenset([2])), True)
    >>> [sorted(one.label) for one in exposing.transitions]
    [[], ['↓r', '⊗']]
    """
    if windowed and stores_before_marks(automaton):
        raise NoAutomatonError("an event is stored before any is marked")
    transitions = tuple(map(_exposed, automaton.transitions))
    return renumbered(replace(automaton, transitions=transitions, exposes=True))


def stores_before_marks(automaton: Automaton) -> bool:
    """Whether a run may store an event before it has marked one."""
    before, grown = {0}, True
    while grown:
        new = {one.target for one in automaton.skips if one.source in before} - before
        before |= new
        grown = bool(new)
    return any(one.writes and one.source in before for one in automaton.skips)


def _exposed(one: Transition) -> Transition:
    if not one.writes:
        return one
    label = frozenset([UNMARKED]) if one.label is None else one.label
    return replace(one, label=label.union(map(exposed, one.writes)))
