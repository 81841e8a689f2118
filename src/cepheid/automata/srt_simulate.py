"""A register transducer run literally: every run kept, nothing shared (`srt`, definitions 4.3 and 4.4).

In: a transducer, a stream and a window. Out: the set of its matches. Slow and short; for tests and for following a
query by hand.
"""

from __future__ import annotations

from cepheid.algebra.conditions import variables
from cepheid.algebra.windows import Window
from cepheid.automata.cea import Predicate
from cepheid.automata.simulate import Marked
from cepheid.automata.srt import SRT, Guard, Transition
from cepheid.semantics.stream import Stream, inside
from cepheid.semantics.values import Attributes, holds

Valuation = tuple[tuple[str, int], ...]  # (register, position of the event in it), by register


def simulate_srt(srt: SRT, stream: Stream, window: Window | None = None) -> set[Marked]:
    """The matches over the whole stream that lie within the window: each is its (position, label) pairs in order.

    >>> from cepheid.algebra.conditions import TRUE, Attribute, Comparison
    >>> from cepheid.algebra.nodes import Concat, Read
    >>> from cepheid.automata.srt_construct import construct_srt
    >>> from cepheid.semantics.stream import Event
    >>> dearer = Comparison("<", Attribute("r1", "price"), Attribute(None, "price"))
    >>> srt = construct_srt(Concat((Read(TRUE, register="r1"), Read(dearer))))
    >>> stream = [Event(None, at, {"price": price}) for at, price in enumerate([2, 1, 3])]
    >>> [[position for position, _ in match] for match in simulate_srt(srt, stream)]
    [[1, 2]]
    """
    runs: set[tuple[int, Valuation, Marked]] = set()
    accepted: set[Marked] = set()
    for position in range(len(stream)):
        runs.add((0, (), ()))
        longer = set()
        for state, valuation, marked in runs:
            for one in srt.transitions:
                if one.source != state or not guard_holds(one.guard, stream, position, dict(valuation)):
                    continue
                so_far = (*marked, (position, one.label)) if one.marked else marked
                if not so_far or inside(window, stream, so_far[0][0], position):
                    longer.add((one.target, _after(valuation, one, position), so_far))
                    if one.marked and one.target in srt.finals:
                        accepted.add(so_far)
        runs = longer
    return accepted


def guard_holds(guard: Guard, stream: Stream, position: int, valuation: dict[str, int]) -> bool:
    """Whether the guard holds of the event at `position` and those in the registers."""

    def test(predicate: Predicate) -> bool:
        type, condition = predicate.type, predicate.condition
        if type is not None and stream[position].type != type:
            return False
        if condition is None:
            return True
        if not variables(condition) <= valuation.keys():
            return False
        events: dict[str | None, Attributes] = {name: stream[at].attributes for name, at in valuation.items()}
        return holds(condition, events | {None: stream[position].attributes})

    return (
        all(map(test, guard.holds))
        and not any(all(map(test, group)) for group in guard.fails)
        and all(
            register in valuation and inside(window, stream, valuation[register], position)
            for register, window in guard.within
        )
    )


def _after(valuation: Valuation, one: Transition, position: int) -> Valuation:
    return tuple(sorted((dict(valuation) | dict.fromkeys(one.writes, position)).items()))
