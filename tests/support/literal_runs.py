"""An automaton run literally: every run kept, nothing shared (`srt`, definitions 4.3 and 4.4).

In: an automaton, a stream and a window. Out: the set of its matches.
"""

from __future__ import annotations

from cepheid.algebra.conditions import Attribute, Comparison, variables
from cepheid.algebra.windows import Window
from cepheid.automata.automaton import LAST, Automaton, Guard, Link, LinkKind, Test
from cepheid.semantics.keys import is_one_key
from cepheid.semantics.stream import Stream, inside
from cepheid.semantics.values import Attributes, holds

Marked = tuple[tuple[int, frozenset[str]], ...]
Registers = tuple[tuple[str, int], ...]  # (register, position of the event in it), by register


def simulate(automaton: Automaton, stream: Stream, window: Window | None = None) -> set[Marked]:
    """The matches over the whole stream that lie within the window: each is its (position, label) pairs in order.

    >>> from cepheid.algebra.nodes import Atom, PartBy, Seq
    >>> from cepheid.automata.construct_chain import construct_chain
    >>> from cepheid.semantics.stream import Event
    >>> chain = construct_chain(PartBy(Seq(Atom("T", "x"), Atom("H", "y")), ((None, "id"),)), ("x", "y"))
    >>> stream = [Event(type, 0, {"id": id}) for type, id in (("T", 1), ("T", 2), ("H", 1))]
    >>> [[position for position, _ in match] for match in simulate(chain, stream)]
    [[0, 2]]
    """
    leaving = automaton.by_source()
    runs: set[tuple[int, Registers, Marked]] = set()
    accepted: set[Marked] = set()
    for position in range(len(stream)):
        runs.add((0, (), ()))
        longer = set()
        for state, registers, marked in runs:
            held = dict(registers)
            for one in leaving[state]:
                if not guard_holds(one.guard, stream, position, held):
                    continue
                so_far = marked if one.label is None else (*marked, (position, one.label))
                if not so_far or inside(window, stream, so_far[0][0], position):
                    after = tuple(sorted(one.held_after(held, position).items()))
                    longer.add((one.target, after, so_far))
                    if one.label is not None and one.target in automaton.finals:
                        accepted.add(so_far)
        runs = longer
    return accepted


def guard_holds(guard: Guard, stream: Stream, position: int, registers: dict[str, int]) -> bool:
    """Whether the guard holds of the event at `position` and those at the positions in the registers."""

    def test(one: Test) -> bool:
        return passes(one, stream, position, registers)

    return (
        all(map(test, guard.holds))
        and not any(all(map(test, group)) for group in guard.fails)
        and all(
            register in registers and inside(window, stream, registers[register], position)
            for register, window in guard.within
        )
    )


def passes(test: Test, stream: Stream, position: int, registers: dict[str, int]) -> bool:
    """Whether a test holds; one that reads an empty register does not.

    >>> from cepheid.semantics.stream import Event
    >>> stream = [Event("A", 0, {"a": None}), Event("A", 1, {"a": None})]
    >>> [passes(Link("a", "a", kind), stream, 1, {LAST: 0}) for kind in LinkKind]
    [True, False, True]
    """
    event = stream[position]
    if isinstance(test, Link):
        return LAST in registers and _is_linked(test, stream, registers[LAST], position)
    if test.type is not None and event.type != test.type:
        return False
    if test.condition is None:
        return True
    if not variables(test.condition) <= registers.keys():
        return False
    events: dict[str | None, Attributes] = {name: stream[at].attributes for name, at in registers.items()}
    return holds(test.condition, events | {None: event.attributes})


def _is_linked(link: Link, stream: Stream, last: int, position: int) -> bool:
    before, now = stream[last].attributes, stream[position].attributes
    match link.kind:
        case LinkKind.NEXT:
            return last + 1 == position
        case LinkKind.KEY:
            return is_one_key((before[link.left], now[link.right]))
        case LinkKind.VALUE:
            equal = Comparison("=", Attribute(LAST, link.left), Attribute(None, link.right))
            return holds(equal, {LAST: before, None: now})
