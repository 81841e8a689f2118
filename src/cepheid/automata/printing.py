"""Automata as text, for people (`print_automaton`) and for Graphviz (`automaton_dot`).

In: an automaton. Out: text; the same automaton gives the same text. A transition marks or skips an event of a type, in
brackets with a condition on it; after `if` is what it asks of events in registers and what must not hold, after `as`
the names that the event is bound to, after `store` the registers that it is stored in. `last` is the last marked event,
which is not said to be stored. A register is *exposed* where partial matches are told apart by the event stored in it
(`expose_registers`).
"""

from __future__ import annotations

from collections.abc import Iterable

from cepheid.algebra.conditions import conjunction
from cepheid.algebra.nodes import EVENTS
from cepheid.algebra.printing import print_condition, print_name, print_window
from cepheid.automata.automaton import (
    LAST,
    Automaton,
    Guard,
    Link,
    LinkKind,
    Predicate,
    Test,
    Transition,
    registers_of,
)
from cepheid.automata.derived import FIRST
from cepheid.automata.expose_registers import UNMARKED, exposed


def print_automaton(automaton: Automaton) -> str:
    """The registers, then one block per state: what it is, then its marks and its skips. Keys are compared with ≡,
    where NULL is NULL and NaN is NaN; values with =, as a filter does.

    >>> from cepheid.algebra.nodes import Atom, PartBy, Seq, StrictSeq
    >>> from cepheid.automata.construct import construct
    >>> from cepheid.automata.construct_chain import construct_chain
    >>> from cepheid.automata.trim import trim
    >>> print(print_automaton(construct(Seq(Atom("T", "x"), Atom("H")), ("x",))))
    state 0, initial
      mark T as x → 1
    state 1
      mark H → 2
      skip → 1
    state 2, final
    >>> pair = PartBy(StrictSeq(Atom("T", "x"), Atom("H")), ((None, "id"),))
    >>> print(print_automaton(trim(construct_chain(pair, ("x",)))))
    state 0, initial
      mark T as x → 1
    state 1
      mark H if last.id ≡ id, next → 2
      skip → 1
    state 2, final
    """
    registers, has_names = _shown_registers(automaton), _has_names(automaton)
    named = [f"{name} (the first marked event)" if name == FIRST else name for name in registers]
    lines = [f"register{'s' if len(named) > 1 else ''} {', '.join(named)}"] if named else []
    for state, leaving in enumerate(automaton.by_source()):
        role = ", initial" if state == 0 else ", final" if state in automaton.finals else ""
        lines.append(f"state {state}{role}")
        for skips in (False, True):
            lines += (
                f"  {' '.join(filter(None, ('skip' if skips else 'mark', _described(one, has_names))))} → {one.target}"
                for one in leaving
                if _is_skip(one) == skips
            )
    return "\n".join(lines)


def automaton_dot(automaton: Automaton) -> str:
    """The automaton as a Graphviz graph: solid arrows mark, dashed ones skip; registers are dashed boxes.

    >>> from cepheid.automata.automaton import numbered
    >>> first = Transition(0, 1, label=frozenset("x"), writes=frozenset(["r1"]))
    >>> print(automaton_dot(numbered(2, [first, Transition(1, 1)], frozenset([1]))))
    digraph automaton {
      rankdir=LR;
      node [shape=circle];
      start [shape=point];
      1 [shape=doublecircle];
      start -> 0;
      0 -> 1 [label="any as x, store r1"];
      1 -> 1 [style=dashed];
      "register r1" [label="r1", shape=box, style=dashed];
    }
    """
    head = ["digraph automaton {", "  rankdir=LR;", "  node [shape=circle];", "  start [shape=point];"]
    circles = [f"  {state} [shape=doublecircle];" for state in sorted(automaton.finals)]
    has_names = _has_names(automaton)
    arrows = [
        f"  {one.source} -> {one.target} [{', '.join(_style(one, has_names))}];"
        for one in automaton.transitions
    ]
    boxes = [
        f"  {quoted(f'register {name}')} [label={quoted(name)}, shape=box, style=dashed];"
        for name in _shown_registers(automaton)
    ]
    return "\n".join([*head, *circles, "  start -> 0;", *arrows, *boxes, "}"])


def print_guard(guard: Guard, any_event: str = "") -> str:
    """What a guard asks for; `any_event` where it asks nothing of the event alone.

    >>> from cepheid.algebra.conditions import Attribute
    >>> from cepheid.algebra.windows import Window, WindowUnit
    >>> hot, cold = (Predicate(None, Attribute(None, name)) for name in ("hot", "cold"))
    >>> within = frozenset([("r1", Window(3, WindowUnit.EVENTS))])
    >>> print_guard(Guard(frozenset([Predicate("A", None), hot]), frozenset([frozenset([cold, hot])]), within))
    'A [hot] if not (cold AND hot), within 3 EVENTS of r1'
    """
    unary = [test for test in guard.holds if isinstance(test, Predicate) and not registers_of(test)]
    asked = [
        *sorted(_printed(test) for test in guard.holds.difference(unary)),
        *sorted(map(_failing, guard.fails)),
        *sorted(f"within {print_window(window)} of {register}" for register, window in guard.within),
    ]
    event = _event(unary) if unary else any_event
    return " ".join(filter(None, (event, f"if {', '.join(asked)}" if asked else "")))


def print_predicate(predicate: Predicate) -> str:
    """The event type and, in brackets, the condition on the event.

    >>> from cepheid.algebra.conditions import Attribute
    >>> print_predicate(Predicate("T", None)), print_predicate(Predicate(None, Attribute(None, "hot")))
    ('T', 'any [hot]')
    """
    return _event([predicate])


def print_link(link: Link, equal: bool = True) -> str:
    """What a transition asks of the last marked event and the one at hand.

    >>> print_link(Link("id", "to")), print_link(Link("id", "to", LinkKind.VALUE), equal=False)
    ('last.id ≡ to', 'last.id ≠ to')
    """
    match link.kind:
        case LinkKind.NEXT:
            return "next" if equal else "not next"
        case LinkKind.KEY:
            sign = "≡" if equal else "≢"
        case LinkKind.VALUE:
            sign = "=" if equal else "≠"
    return f"{LAST}.{print_name(link.left)} {sign} {print_name(link.right)}"


def quoted(text: str) -> str:
    """A Graphviz string. Graphviz reads a backslash as the start of an escape, so each is doubled."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _described(one: Transition, named: bool) -> str:
    """What a transition asks for and does; `named`: and the names of the event that it marks."""
    text = print_guard(one.guard, any_event="" if _is_skip(one) else "any")
    if named and (names := sorted(_names(one))):
        text += f" as {', '.join(names)}"
    for name in sorted(one.writes - {LAST}):
        verb = "expose" if exposed(name) in (one.label or ()) else "store"
        text += f"{', ' if text else ''}{verb} {name}"
    for into, out in sorted(one.moves):
        text += f"{', ' if text else ''}move {out} to {into}"
    return text


def _has_names(automaton: Automaton) -> bool:
    """Whether marked events have names; those of an expression of SREMO are all in the one set `EVENTS`."""
    return any(_names(one) - {EVENTS} for one in automaton.transitions)


def _names(one: Transition) -> frozenset[str]:
    """The variables of the output that a mark binds its event to."""
    return (one.label or frozenset()) - {UNMARKED, *map(exposed, one.writes)}


def _style(one: Transition, named: bool) -> Iterable[str]:
    if text := _described(one, named):
        yield f"label={quoted(text)}"
    if _is_skip(one):
        yield "style=dashed"


def _is_skip(one: Transition) -> bool:
    """Whether the event is no part of the match, even if it is marked to expose a register."""
    return one.label is None or UNMARKED in one.label


def _shown_registers(automaton: Automaton) -> list[str]:
    return [name for name in automaton.registers if name != LAST]


def _event(predicates: Iterable[Predicate]) -> str:
    """One event that satisfies all of these."""
    types = sorted({test.type for test in predicates if test.type is not None})
    conditions = [test.condition for test in predicates if test.condition is not None]
    type = " and ".join(types) or "any"
    if not conditions:
        return type
    return f"{type} [{print_condition(conjunction(tuple(sorted(conditions, key=print_condition))))}]"


def _failing(group: frozenset[Test]) -> str:
    if len(group) == 1:
        (test,) = group
        if isinstance(test, Link):
            return print_link(test, equal=False)
    return f"not ({' AND '.join(sorted(map(_printed, group)))})"


def _printed(test: Test) -> str:
    if isinstance(test, Link):
        return print_link(test)
    if test.type is not None or test.condition is None:
        return print_predicate(test)
    return print_condition(test.condition)
