"""Told: a register transducer whose marks say which events its registers hold.

In: an SRT. Out: one that marks every event that it stores, under the names of the registers. Runs that mark the same
events may remember any number of different ones; determinised, they would be one partial match that remembers all. Told
apart they are different partial matches, each of which remembers as many as there are registers. What they then have in
common is found when what was told is dropped again (`evaluators.configurations.projection`).
"""

from __future__ import annotations

from dataclasses import replace

from cepheid.automata.srt import SRT, Transition
from cepheid.automata.srt_derive import NoTransducerError

UNMARKED = "⊗"
"""Labels an event that is marked only to tell of it."""


def exposed(register: str) -> str:
    """Labels an event that is stored in a register.

    >>> exposed("r")
    '↓r'
    """
    return f"↓{register}"


def told(srt: SRT, windowed: bool) -> SRT:
    """The transducer that tells. In a window, which begins with the first event that is marked, nothing may be stored
    before that.

    >>> from cepheid.automata.srt import Guard
    >>> first = Transition(0, Guard(), True, frozenset(), 1)
    >>> second = Transition(1, Guard(), False, frozenset(["r"]), 2)
    >>> [sorted(item.label) for item in told(SRT(3, (first, second), frozenset([2])), True).transitions]
    [[], ['↓r', '⊗']]
    """
    if windowed and stores_before_marks(srt):
        raise NoTransducerError("an event is stored before any is marked")
    return replace(srt, transitions=tuple(_told(item) for item in srt.transitions), tells=True)


def stores_before_marks(srt: SRT) -> bool:
    """Whether a run may store an event before it has marked one."""
    before = _before_marks(srt)
    return any(item.writes and not item.marked and item.source in before for item in srt.transitions)


def _told(item: Transition) -> Transition:
    if not item.writes:
        return item
    registers = frozenset(map(exposed, item.writes))
    label = item.label | registers | (frozenset() if item.marked else {UNMARKED})
    return replace(item, marked=True, label=label)


def _before_marks(srt: SRT) -> set[int]:
    """The states that a run may be in before it has marked anything."""
    found, grown = {0}, True
    while grown:
        new = {item.target for item in srt.transitions if item.source in found and not item.marked} - found
        found |= new
        grown = bool(new)
    return found
