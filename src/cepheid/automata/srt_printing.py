"""Register transducers as text, for people (`print_srt`) and for Graphviz (`srt_dot`), in the notation of `srt`.

In: an SRT. Out: text; the same transducer gives the same text. A transition reads φ ↑ output ↓ registers, where the
output is • for an event that is marked, with the names it is bound to where marks differ in them, and ⊗ for one that
is not. A register is *exposed* where partial matches are told apart by the event stored in it (`srt_told`).
"""

from __future__ import annotations

from cepheid.algebra.conditions import Conjunction, Disjunction
from cepheid.algebra.printing import print_condition, print_window
from cepheid.automata.cea import Predicate
from cepheid.automata.printing import print_predicate, quoted
from cepheid.automata.srt import SRT, Guard, Transition
from cepheid.automata.srt_expose import UNMARKED, exposed
from cepheid.automata.srt_trim import registers_read


def print_srt(srt: SRT) -> str:
    """A line about the states, then one line per transition.

    >>> from cepheid.algebra.conditions import Attribute
    >>> cold = frozenset([frozenset([Predicate(None, Attribute(None, "hot"))])])
    >>> waits = Transition(0, Guard(fails=cold), False, frozenset(), 0)
    >>> print(print_srt(SRT(2, (waits, Transition(0, Guard(), True, frozenset(), 1)), frozenset([1]))))
    start q0, final q1
    q0 ─ ¬(hot) ↑⊗ → q0
    q0 ─ ⊤ ↑• → q1
    """
    finals = ", ".join(f"q{state}" for state in sorted(srt.finals)) or "none"
    registers = registers_of(srt)
    held = f", register{'s' if len(registers) > 1 else ''} {', '.join(registers)}" if registers else ""
    lines = [
        f"q{one.source} ─ {move} → q{one.target}"
        for one, move in zip(srt.transitions, _moves(srt), strict=True)
    ]
    return "\n".join([f"start q0, final {finals}{held}", *lines])


def srt_dot(srt: SRT) -> str:
    """The transducer as a Graphviz graph: solid arrows mark, dashed ones do not; registers are dashed boxes.

    >>> print(srt_dot(SRT(2, (Transition(0, Guard(), True, frozenset(["r1"]), 1),), frozenset([1]))))
    digraph automaton {
      rankdir=LR;
      node [shape=circle];
      start [shape=point];
      1 [shape=doublecircle];
      start -> 0;
      0 -> 1 [label="⊤ ↑• ↓r1"];
      "register r1" [label="r1", shape=box, style=dashed];
    }
    """
    head = ["digraph automaton {", "  rankdir=LR;", "  node [shape=circle];", "  start [shape=point];"]
    circles = [f"  {state} [shape=doublecircle];" for state in sorted(srt.finals)]
    arrows = [
        f"  {one.source} -> {one.target} [label={quoted(move)}{'' if _is_shown(one) else ', style=dashed'}];"
        for one, move in zip(srt.transitions, _moves(srt), strict=True)
    ]
    boxes = [
        f"  {quoted(f'register {name}')} [label={quoted(name)}, shape=box, style=dashed];"
        for name in registers_of(srt)
    ]
    return "\n".join([*head, *circles, "  start -> 0;", *arrows, *boxes, "}"])


def registers_of(srt: SRT) -> list[str]:
    """The registers that are written or looked at, by name."""
    return sorted({name for one in srt.transitions for name in one.writes | registers_read(one.guard)})


def print_guard(guard: Guard) -> str:
    """What a guard asks for.

    >>> from cepheid.algebra.windows import Window, WindowUnit
    >>> two = frozenset([Predicate("A", None), Predicate("B", None)])
    >>> print_guard(Guard(two, frozenset([two]), frozenset([("r1", Window(3, WindowUnit.EVENTS))])))
    'A ∧ B ∧ ¬(A ∧ B) ∧ within 3 EVENTS of r1'
    >>> print_guard(Guard())
    '⊤'
    """
    fails = sorted(f"¬({' ∧ '.join(sorted(map(_test, group)))})" for group in guard.fails)
    within = sorted(f"within {print_window(window)} of {register}" for register, window in guard.within)
    return " ∧ ".join([*sorted(map(_test, guard.holds)), *fails, *within]) or "⊤"


def _moves(srt: SRT) -> list[str]:
    bound = [one.label - {UNMARKED, *map(exposed, one.writes)} for one in srt.transitions]
    differ = len({names for one, names in zip(srt.transitions, bound, strict=True) if _is_shown(one)}) > 1
    return [
        _move(one, names if differ else frozenset())
        for one, names in zip(srt.transitions, bound, strict=True)
    ]


def _move(one: Transition, names: frozenset[str]) -> str:
    bound = [f"as {', '.join(sorted(names))}"] if names else []
    registers = [
        f"↓{name} exposed" if exposed(name) in one.label else f"↓{name}" for name in sorted(one.writes)
    ]
    return " ".join([print_guard(one.guard), "↑•" if _is_shown(one) else "↑⊗", *bound, *registers])


def _is_shown(one: Transition) -> bool:
    """Whether the event is part of the match, and not marked only to expose a register."""
    return one.marked and UNMARKED not in one.label


def _test(predicate: Predicate) -> str:
    if predicate.type is not None or predicate.condition is None:
        return print_predicate(predicate)
    text = print_condition(predicate.condition)
    return f"({text})" if isinstance(predicate.condition, Conjunction | Disjunction) else text
