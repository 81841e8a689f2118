"""Automata as text, for people (`print_automaton`, `print_chain`) and for Graphviz (`automaton_dot`, `chain_dot`).

In: a CEA or a chain-CEA. Out: text; the same automaton gives the same text.
"""

from __future__ import annotations

from cepheid.algebra.printing import print_condition, print_name
from cepheid.automata.cea import CEA, Mark, Predicate
from cepheid.automata.chain import ChainCEA, ChainMark, Link, LinkKind


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
    for state, skip in enumerate(automaton.skips):
        if skip is not None:
            moves[state].append(f"  skip → {skip}")
    return _blocks(moves, automaton.finals)


def print_chain(chain: ChainCEA) -> str:
    """One block per state: what it is, then its marking moves, after `if` what they ask of the last marked event. A key
    is compared with ≡, where NULL is NULL and NaN is NaN; values with =, as a filter does.

    >>> from cepheid.algebra.nodes import Atom, PartBy, Seq, StrictSeq
    >>> from cepheid.automata.chain_construct import construct_chain
    >>> pair = StrictSeq(Atom("T", "x"), Atom("H"))
    >>> print(print_chain(construct_chain(PartBy(pair, ((None, "id"),)), ("x",))))
    state 0, initial
      mark T as x → 1
    state 1
      mark H if last.id ≡ id, next → 2
    state 2, final
    """
    moves: list[list[str]] = [[] for _ in range(chain.states)]
    for mark in chain.marks:
        moves[mark.source].append(f"  mark {_chain_move(chain, mark)} → {mark.target}")
    return _blocks(moves, chain.finals)


def _blocks(moves: list[list[str]], finals: frozenset[int]) -> str:
    lines: list[str] = []
    for state, own in enumerate(moves):
        role = ", initial" if state == 0 else ", final" if state in finals else ""
        lines += [f"state {state}{role}", *own]
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
    skips = [
        f"  {state} -> {skip} [style=dashed];"
        for state, skip in enumerate(automaton.skips)
        if skip is not None
    ]
    marks = [
        f"  {mark.source} -> {mark.target} [label={quoted(_move(automaton, mark))}];"
        for mark in automaton.marks
    ]
    return _graph(automaton.finals, [*skips, *marks])


def chain_dot(chain: ChainCEA) -> str:
    """The chain-CEA as a Graphviz graph; what it skips is not drawn.

    >>> from cepheid.algebra.nodes import Atom, Repeat
    >>> from cepheid.automata.chain_construct import construct_chain
    >>> print(chain_dot(construct_chain(Atom("T", "x"), ("x",))))
    digraph automaton {
      rankdir=LR;
      node [shape=circle];
      start [shape=point];
      1 [shape=doublecircle];
      start -> 0;
      0 -> 1 [label="T as x"];
    }
    """
    marks = [
        f"  {mark.source} -> {mark.target} [label={quoted(_chain_move(chain, mark))}];"
        for mark in chain.marks
    ]
    return _graph(chain.finals, marks)


def _graph(finals: frozenset[int], arrows: list[str]) -> str:
    head = ["digraph automaton {", "  rankdir=LR;", "  node [shape=circle];", "  start [shape=point];"]
    circles = [f"  {state} [shape=doublecircle];" for state in sorted(finals)]
    return "\n".join([*head, *circles, "  start -> 0;", *arrows, "}"])


def print_predicate(predicate: Predicate) -> str:
    """The event type and, in brackets, the condition on the event.

    >>> from cepheid.algebra.conditions import Attribute
    >>> print_predicate(Predicate("T", None)), print_predicate(Predicate(None, Attribute(None, "hot")))
    ('T', 'any [hot]')
    """
    type = "any" if predicate.type is None else predicate.type
    return type if predicate.condition is None else f"{type} [{print_condition(predicate.condition)}]"


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
    return f"last.{print_name(link.left)} {sign} {print_name(link.right)}"


def _move(automaton: CEA, mark: Mark) -> str:
    predicate = print_predicate(automaton.predicates[mark.predicate])
    return _labelled(predicate, automaton.labels[mark.label])


def _chain_move(chain: ChainCEA, mark: ChainMark) -> str:
    predicate = print_predicate(chain.predicates[mark.predicate])
    links = [
        *(print_link(chain.links[number]) for number in sorted(mark.equal)),
        *(print_link(chain.links[number], equal=False) for number in sorted(mark.different)),
    ]
    asked = f"{predicate} if {', '.join(links)}" if links else predicate
    return _labelled(asked, chain.labels[mark.label])


def _labelled(asked: str, names: frozenset[str]) -> str:
    return f"{asked} as {', '.join(sorted(names))}" if names else asked


def quoted(text: str) -> str:
    """A Graphviz string. Graphviz reads a backslash as the start of an escape, so each is doubled."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
