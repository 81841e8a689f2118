"""CEL pattern with conditions of several events → automaton with registers.

In: a pattern with each filter on the last event that it reads (`attach`), the names the output shows, whether matches
must be of neighbouring events. Out: an automaton that accepts exactly the pattern's (complex event, binding) pairs, or
an error that says why there is none. The pattern has a position automaton as any other (`construct`), in which a
variable is a register: it is stored where it is bound, if some condition reads it later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cepheid.algebra.conditions import IsTrue, Negation, conjuncts, variables
from cepheid.algebra.nodes import Atom, walk
from cepheid.algebra.variables import defined, label_of, sets
from cepheid.algebra.windows import Window
from cepheid.automata.attach import Attached
from cepheid.automata.attach_atoms import NotAttachedError
from cepheid.automata.automaton import Automaton, Guard, Predicate, Test, Transition, numbered
from cepheid.automata.construct import construct
from cepheid.automata.positions_of_pattern import check_positions
from cepheid.automata.trim import trim

MOST_STATES = 2_500


def construct_registers(
    attached: Attached, shown: tuple[str, ...], strict: bool = False, window: Window | None = None
) -> Automaton:
    """The automaton of an attached CEL pattern. Its labels have the names that its checks are about, too.

    >>> from cepheid.algebra.conditions import Attribute, Comparison
    >>> from cepheid.algebra.nodes import Filter, Seq
    >>> from cepheid.automata.attach import attach
    >>> rising = Comparison(">", Attribute("y", "price"), Attribute("x", "price"))
    >>> found = construct_registers(attach(Filter(Seq(Atom("A", "x"), Atom("B", "y")), rising)), ("x", "y"))
    >>> [(one.source, one.label is not None, sorted(one.writes), one.target) for one in found.transitions]
    [(0, True, ['x′0'], 1), (1, False, [], 1), (1, True, [], 2)]
    """
    check_positions(attached.pattern, MOST_STATES)
    names = defined(attached.pattern) | sets(attached.pattern)
    types = {label_of(node) for node in walk(attached.pattern) if isinstance(node, Atom)}
    every = tuple(sorted(names | {name for name in types if name is not None}))
    positions = trim(construct(attached.pattern, every, window))
    guards = {one.guard: _guard(one.guard) for one in positions.marks}
    guards |= {one.guard: _skipping(one.guard) for one in positions.skips}
    read = frozenset[str]().union(*(guard.registers for guard in guards.values()))
    moves = _moves(read, attached.behind)
    stored = read.union(moves)
    checked = frozenset[str]().union(*(check.names for check in attached.checks))
    visible = frozenset(shown)
    labels = {
        label: (visible & {attached.variable.get(name, name) for name in label}) | (checked & label)
        for label in positions.labels
    }
    transitions = [
        Transition(
            one.source,
            one.target,
            guards[one.guard],
            labels[one.label],
            (one.label & stored) | one.writes,
            _moved(one.label, moves),
        )
        for one in positions.transitions
        if one.label is not None
    ]
    if not strict:
        transitions += (replace(one, guard=guards[one.guard]) for one in positions.skips)
    transitions.sort(key=lambda one: (one.source, one.target))
    automaton = numbered(positions.states, transitions, positions.finals, checks=attached.checks)
    automaton = replace(automaton, derived=positions.derived)
    _check_bound(automaton, attached.variable)
    return automaton


def _moves(read: frozenset[str], behind: Mapping[str, str]) -> dict[str, frozenset[tuple[str, str]]]:
    """By the register that the event at hand goes to, what moves on from it: each to the one behind it, as far as some
    is read."""
    found = dict[str, frozenset[tuple[str, str]]]()
    for register in sorted(read & behind.keys()):
        chain = set[tuple[str, str]]()
        while register in behind:
            chain.add((register, behind[register]))
            register = behind[register]
        found[register] = found.get(register, frozenset()) | chain
    return found


def _moved(
    label: frozenset[str], moves: Mapping[str, frozenset[tuple[str, str]]]
) -> frozenset[tuple[str, str]]:
    return frozenset[tuple[str, str]]().union(*(moves[name] for name in label & moves.keys()))


def _guard(whole: Guard) -> Guard:
    """The tests of a predicate, each by itself: its type, and each part of its condition. A negated part is a test that
    fails, so that a part and its negation are decided by one test."""
    (predicate,) = whole.holds
    assert isinstance(predicate, Predicate)
    tests: set[Test] = {Predicate(predicate.type, None)} if predicate.type is not None else set()
    fails = set[frozenset[Test]]()
    for part in () if predicate.condition is None else conjuncts(predicate.condition):
        opposite = part.operand if isinstance(part, Negation) else None
        if isinstance(opposite, IsTrue) and variables(opposite):
            fails.add(frozenset([Predicate(None, opposite.operand)]))
        else:
            tests.add(Predicate(None, part))
    return Guard(frozenset(tests), frozenset(fails), whole.within)


def _skipping(whole: Guard) -> Guard:
    """The tests of each predicate that is forbidden, which do not hold all together."""
    groups = set[frozenset[Test]]()
    for predicate in whole.tests:
        assert isinstance(predicate, Predicate)
        parts = () if predicate.condition is None else conjuncts(predicate.condition)
        tests = {Predicate(None, part) for part in parts}
        groups.add(
            frozenset({*tests, Predicate(predicate.type, None)} if predicate.type or not tests else tests)
        )
    return Guard(fails=frozenset(groups))


def _check_bound(automaton: Automaton, variable: dict[str, str]) -> None:
    """Every register is stored before it is read, whatever way a run takes."""
    stored: list[frozenset[str] | None] = [None] * automaton.states
    stored[0] = frozenset()
    changed = True
    while changed:
        changed = False
        for transition in automaton.transitions:
            before = stored[transition.source]
            if before is None:
                continue
            after = frozenset(transition.held_after(dict.fromkeys(before, True), True))
            known = stored[transition.target]
            after = after if known is None else after & known
            if after != known:
                stored[transition.target] = after
                changed = True
    for transition in automaton.transitions:
        before = stored[transition.source]
        for register in sorted(transition.guard.registers):
            if before is not None and register not in before:
                name = variable.get(register, register)
                raise NotAttachedError(
                    f"a filter compares an event with `{name}`, which may be bound later or not at all"
                )
