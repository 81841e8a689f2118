"""Automata as text, for people (`print_automaton`) and for Graphviz (`automaton_dot`).

In: a CEA. Out: text; the same automaton gives the same text.
"""

from __future__ import annotations

from cepheid.algebra.printing import print_condition
from cepheid.automata.cea import CEA, Mark, Predicate


def print_automaton(automaton: CEA) -> str:
    """One block per state: what it is, then its marking moves and its skip.

    >>> from cepheid.algebra.nodes import Atom, Seq
    >>> from cepheid.automata.construct import construct
    >>> print(print_automaton(construct(Seq(Atom("T", "x"), Atom("H")), ("x",))))
    state 0, initial
      mark T as x → 1
      skip → 0
    state 1
      mark H → 2
      skip → 1
    state 2, final
    """
    moves: list[list[str]] = [[] for _ in range(automaton.states)]
    for mark in automaton.marks:
        moves[mark.source].append(f"  mark {_move(automaton, mark)} → {mark.target}")
    lines: list[str] = []
    for state in range(automaton.states):
        role = ", initial" if state == 0 else ", final" if state in automaton.finals else ""
        lines.append(f"state {state}{role}")
        lines += moves[state]
        if automaton.skips[state] is not None:
            lines.append(f"  skip → {automaton.skips[state]}")
    return "\n".join(lines)


def automaton_dot(automaton: CEA) -> str:
    """The automaton as a Graphviz graph: solid arrows mark, dashed ones skip.

    >>> from cepheid.algebra.nodes import Atom
    >>> from cepheid.automata.construct import construct
    >>> print(automaton_dot(construct(Atom("T", "x"), ("x",))))
    digraph automaton {
      rankdir=LR;
      node [shape=circle];
      start [shape=point];
      1 [shape=doublecircle];
      start -> 0;
      0 -> 0 [style=dashed];
      0 -> 1 [label="T as x"];
    }
    """
    finals = [f"  {state} [shape=doublecircle];" for state in sorted(automaton.finals)]
    skips = [
        f"  {state} -> {skip} [style=dashed];"
        for state, skip in enumerate(automaton.skips)
        if skip is not None
    ]
    marks = [
        f"  {mark.source} -> {mark.target} [label={_quoted(_move(automaton, mark))}];"
        for mark in automaton.marks
    ]
    head = ["digraph automaton {", "  rankdir=LR;", "  node [shape=circle];", "  start [shape=point];"]
    return "\n".join([*head, *finals, "  start -> 0;", *skips, *marks, "}"])


def print_predicate(predicate: Predicate) -> str:
    """The event type and, in brackets, the condition on the event.

    >>> from cepheid.algebra.conditions import Attribute
    >>> print_predicate(Predicate("T", None)), print_predicate(Predicate(None, Attribute(None, "hot")))
    ('T', 'any [hot]')
    """
    type = "any" if predicate.type is None else predicate.type
    return type if predicate.condition is None else f"{type} [{print_condition(predicate.condition)}]"


def _move(automaton: CEA, mark: Mark) -> str:
    label = ", ".join(sorted(automaton.labels[mark.label]))
    predicate = print_predicate(automaton.predicates[mark.predicate])
    return f"{predicate} as {label}" if label else predicate


def _quoted(text: str) -> str:
    """A Graphviz string. Graphviz reads a backslash as the start of an escape, so each is doubled."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
