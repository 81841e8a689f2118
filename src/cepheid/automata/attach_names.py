"""Readable names in place of those that `attach` made up.

In: an attached pattern and its automaton, where a variable of each scope has a name of its own, `x′0`. Out:
the same with the names that the user wrote; where several stand for one variable, the second is `x_2`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import assert_never

from cepheid.algebra.conditions import variables, with_names
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
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
    conditions_in,
    rebuild,
)
from cepheid.algebra.variables import defined, sets
from cepheid.automata.automaton import Automaton, Guard, Link, Test, Transition
from cepheid.automata.expose_registers import exposed

MARK = "′"
"""Stands between the variable that a name was made of and a number."""


def readable_names(pattern: Pattern, others: Iterable[str] = ()) -> dict[str, str]:
    """For each name that was made up, one to print; `others` are registers that no condition reads.

    >>> readable_names(Seq(Atom("A", "x′0"), Seq(Bind(Atom("B", "x′10"), "X"), Bind(Atom("B", "x′2"), "X′3"))))
    {'x′0': 'x', 'x′2': 'x_2', 'X′3': 'X_2', 'x′10': 'x_3'}
    """
    read = (variables(condition) for condition in conditions_in(pattern))
    names = defined(pattern).union(sets(pattern), others, *read)
    made_up = sorted(filter(_is_made_up, names), key=_number)
    taken = set(names.difference(made_up))
    written = {name.rpartition(MARK)[0] for name in made_up} | taken
    readable = {}
    for name in made_up:
        base = printed = name.rpartition(MARK)[0]
        number = 1
        while printed in taken or (number > 1 and printed in written):
            number += 1
            printed = f"{base}_{number}"
        readable[name] = printed
        taken.add(printed)
    return readable


def _is_made_up(name: str) -> bool:
    base, mark, number = name.rpartition(MARK)
    return bool(base and mark) and number.isdecimal()


def _number(name: str) -> tuple[int, str]:
    return int(name.rpartition(MARK)[2]), name


def pattern_with(pattern: Pattern, names: Mapping[str, str]) -> Pattern:
    """The pattern under other names."""
    match pattern:
        case Atom(var=var, condition=condition, also=also, near=near):
            return replace(
                pattern,
                var=None if var is None else names.get(var, var),
                also=tuple(names.get(name, name) for name in also),
                condition=None if condition is None else with_names(condition, names),
                near=tuple((names.get(name, name), window) for name, window in near),
            )
        case Bind(body, var):
            return replace(pattern, body=pattern_with(body, names), var=names.get(var, var))
        case Seq() | StrictSeq() | Or() | All() | Repeat() | Filter():
            return rebuild(pattern, lambda child: pattern_with(child, names))
        case PartBy() | Select() | Not() | Within() | Recognise():
            return rebuild(pattern, lambda child: pattern_with(child, names))
        case _:
            assert_never(pattern)


def automaton_with(automaton: Automaton, names: Mapping[str, str]) -> Automaton:
    """The automaton with its registers and labels under other names."""

    labels = {exposed(name): exposed(printed) for name, printed in names.items()} | dict(names)

    def renamed(label: frozenset[str]) -> frozenset[str]:
        return frozenset(labels.get(name, name) for name in label)

    def transition(one: Transition) -> Transition:
        return replace(
            one,
            guard=_guard(one.guard, names),
            writes=frozenset(names.get(name, name) for name in one.writes),
            moves=frozenset((names.get(into, into), names.get(out, out)) for into, out in one.moves),
            label=None if one.label is None else renamed(one.label),
        )

    return replace(
        automaton,
        transitions=tuple(map(transition, automaton.transitions)),
        labels=tuple(map(renamed, automaton.labels)),
    )


def _guard(guard: Guard, names: Mapping[str, str]) -> Guard:
    def renamed(tests: frozenset[Test]) -> frozenset[Test]:
        return frozenset(
            test
            if isinstance(test, Link) or test.condition is None
            else replace(test, condition=with_names(test.condition, names))
            for test in tests
        )

    within = frozenset((names.get(register, register), window) for register, window in guard.within)
    return Guard(renamed(guard.holds), frozenset(map(renamed, guard.fails)), within)
