"""Symbolic register transducers (`srt`, definition 4.1), with labels and without ε-transitions.

A run reads every event of a piece of the stream. A transition asks of the event at hand, and of events in registers,
that tests hold and that others fail; it marks the event or not, and stores it in registers.
"""

from __future__ import annotations

from dataclasses import dataclass

from cepheid.algebra.windows import Window
from cepheid.automata.attach_rounds import Check
from cepheid.automata.cea import Predicate

NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Guard:
    """Every test of `holds` holds, and of each group of `fails` at least one test does not.

    A test is a `Predicate`: a type and a condition of the event at hand (attributes with var None) and of registers
    (var the register's name). It holds when its condition is true; not when that is false or NULL, and not when it
    reads an empty register. `within`: the event is no later than so long after the one in a register, which is not
    empty. Conjunctions are taken apart: a test is never one of several that must hold together.
    """

    holds: frozenset[Predicate] = frozenset()
    fails: frozenset[frozenset[Predicate]] = frozenset()
    within: frozenset[tuple[str, Window]] = frozenset()


@dataclass(frozen=True, slots=True)
class Transition:
    """source ─guard ↑ • or ⊗ ↓ writes→ target. `label`: the shown variables that a marked event is bound to."""

    source: int
    guard: Guard
    marked: bool
    writes: frozenset[str]
    target: int
    label: frozenset[str] = NOTHING


@dataclass(frozen=True, slots=True)
class SRT:
    """States are 0 … states-1; a run begins in state 0 with empty registers, at any event, and accepts when it enters a
    state of `finals` by a transition that marks. `checks`: what matches have yet to pass, by names in the labels.
    `tells`: runs are told apart by what they store (`srt_told`), for else there is no bound on what is remembered.
    `guarded`: its guards keep to the query's window (`srt_window`), so that nothing else has to."""

    states: int
    transitions: tuple[Transition, ...]
    finals: frozenset[int]
    checks: tuple[Check, ...] = ()
    tells: bool = False
    guarded: bool = False
