"""CEL pattern with conditions of several events → register transducer.

In: a pattern with each filter on the last event that it reads (`attach`), the names the output shows, whether matches
must be of neighbouring events. Out: an SRT that accepts exactly the pattern's (complex event, binding) pairs, or an
error that says why there is none. The pattern has a position automaton as any other (`construct`), in which a variable
is a register: it is stored where it is bound, if some condition reads it later.
"""

from __future__ import annotations

from cepheid.algebra.conditions import IsTrue, Negation, conjuncts, variables
from cepheid.algebra.nodes import Atom, walk
from cepheid.algebra.variables import defined, label_of, sets
from cepheid.automata.attach import Attached
from cepheid.automata.attach_atoms import NotAttachedError
from cepheid.automata.cea import Predicate
from cepheid.automata.construct import construct
from cepheid.automata.follow import check_positions
from cepheid.automata.srt import SRT, Guard, Transition
from cepheid.automata.srt_determinise import registers_of
from cepheid.automata.srt_trim import registers_read
from cepheid.automata.trim import trim

MOST_STATES = 2_500


def srt_of_pattern(attached: Attached, shown: tuple[str, ...], strict: bool = False) -> SRT:
    """The transducer of an attached CEL pattern. Its labels have the names that its checks are about, too.

    >>> from cepheid.algebra.conditions import Attribute, Comparison
    >>> from cepheid.algebra.nodes import Filter, Seq
    >>> from cepheid.automata.attach import attach
    >>> rising = Comparison(">", Attribute("y", "price"), Attribute("x", "price"))
    >>> srt = srt_of_pattern(attach(Filter(Seq(Atom("A", "x"), Atom("B", "y")), rising)), ("x", "y"))
    >>> [(t.source, t.marked, sorted(t.writes), t.target) for t in srt.transitions]
    [(0, True, ['x′0'], 1), (1, False, [], 1), (1, True, [], 2)]
    """
    check_positions(attached.pattern, MOST_STATES)
    names = defined(attached.pattern) | sets(attached.pattern)
    types = {label_of(node) for node in walk(attached.pattern) if isinstance(node, Atom)}
    cea = trim(
        construct(attached.pattern, tuple(sorted(names | {name for name in types if name is not None})))
    )
    read = {name for predicate in cea.predicates for name in registers_of(predicate)}
    checked = frozenset[str]().union(*(check.names for check in attached.checks))
    visible = frozenset(shown)
    guards = [_guard(predicate) for predicate in cea.predicates]
    labels = [
        (visible & {attached.variable.get(name, name) for name in label}) | (checked & label)
        for label in cea.labels
    ]
    transitions = [
        Transition(
            mark.source,
            guards[mark.predicate],
            True,
            cea.labels[mark.label] & read,
            mark.target,
            labels[mark.label],
        )
        for mark in cea.marks
    ]
    if not strict:
        transitions += (
            Transition(state, Guard(), False, frozenset(), skip)
            for state, skip in enumerate(cea.skips)
            if state != 0 and skip is not None
        )
    transitions.sort(key=lambda item: (item.source, item.target))
    srt = SRT(cea.states, tuple(transitions), cea.finals, attached.checks)
    _check_bound(srt, attached.variable)
    return srt


def _guard(predicate: Predicate) -> Guard:
    """The tests of a predicate: its type, and each part of its condition. What is not true is a test that fails, so
    that both are decided by one."""
    tests = {Predicate(predicate.type, None)} if predicate.type is not None else set()
    fails = set()
    for part in () if predicate.condition is None else conjuncts(predicate.condition):
        opposite = part.operand if isinstance(part, Negation) else None
        if isinstance(opposite, IsTrue) and variables(opposite):
            fails.add(frozenset([Predicate(None, opposite.operand)]))
        else:
            tests.add(Predicate(None, part))
    return Guard(frozenset(tests), frozenset(fails))


def _check_bound(srt: SRT, variable: dict[str, str]) -> None:
    """Every register is stored before it is read, whatever way a run takes."""
    stored: list[frozenset[str] | None] = [None] * srt.states
    stored[0] = frozenset()
    changed = True
    while changed:
        changed = False
        for transition in srt.transitions:
            before = stored[transition.source]
            if before is None:
                continue
            after = before | transition.writes
            known = stored[transition.target]
            after = after if known is None else after & known
            if after != known:
                stored[transition.target] = after
                changed = True
    for transition in srt.transitions:
        before = stored[transition.source]
        for register in sorted(registers_read(transition.guard)):
            if before is not None and register not in before:
                name = variable.get(register, register)
                raise NotAttachedError(
                    f"a filter compares an event with `{name}`, which may be bound later or not at all"
                )
