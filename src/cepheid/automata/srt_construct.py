"""SREMO → symbolic register transducer (`srt`, theorems 4.7 to 4.12).

In: an expression, the names the output shows, and the query's window. Out: an `SRT` whose matches inside that
window are those of the expression, or a `NoTransducerError` that says why there is none. Only a window by count
makes a difference: it bounds what a complement has to remember, and the automaton is unrolled to that length where
it has no end otherwise.

A state is what is left to read (`srt_rest`), so there are few of them. Slots become registers here: the event just
read gets the name of the register it is stored in or, where that holds an event which is still looked at, as only an
intersection or a complement can make it, another. Invariant: a guard looks at no register that may be empty.
"""

from __future__ import annotations

from collections.abc import Sequence

from cepheid.algebra.nodes import EVENTS, Read, Reading, Within, children, walk
from cepheid.algebra.windows import Window, WindowUnit
from cepheid.automata.srt import NOTHING, SRT, Transition
from cepheid.automata.srt_derive import Deriver
from cepheid.automata.srt_derive import NoTransducerError as NoTransducerError
from cepheid.automata.srt_needs import may_mark
from cepheid.automata.srt_rest import NEW, Thread, named, slots_in
from cepheid.automata.srt_trim import trim_srt

MOST_STATES = 512
MOST_TRANSITIONS = 16_384
MOST_DEPTH = 80
MOST_COPIES = 12  # of one register, each with another event


def construct_srt(reading: Reading, shown: Sequence[str] = (EVENTS,), window: Window | None = None) -> SRT:
    """The transducer of an expression.

    >>> from cepheid.algebra.conditions import TRUE, Attribute, Comparison
    >>> from cepheid.algebra.nodes import Concat, Iterate
    >>> from cepheid.automata.srt_printing import print_srt
    >>> skip = Iterate(Read(TRUE, marked=False))
    >>> dearer = Comparison("<", Attribute("r1", "price"), Attribute(None, "price"))
    >>> print(print_srt(construct_srt(Concat((Read(TRUE, register="r1"), skip, Read(dearer))))))
    start q0, final q2, register r1
    q0 ─ ⊤ ↑• ↓r1 → q1
    q1 ─ ⊤ ↑⊗ → q1
    q1 ─ r1.price < price ↑• → q2
    """
    _not_too_deep(reading)
    label = frozenset([EVENTS]) if EVENTS in shown else NOTHING
    by_count = window is not None and window.unit is WindowUnit.EVENTS
    try:
        return _explored(reading, Deriver(), label)
    except NoTransducerError:
        inner = any(isinstance(one, Within) and one.window.unit is WindowUnit.EVENTS for one in walk(reading))
        if not by_count and not inner:
            raise
    whole = Within(reading, window) if by_count and window is not None else reading
    return _explored(whole, Deriver(counting=True), label)


def _explored(reading: Reading, deriver: Deriver, label: frozenset[str]) -> SRT:
    """All states that can be met, and what leads from one to another; then without those that no match needs."""
    taken = {name for one in walk(reading) if isinstance(one, Read) and (name := one.register)}
    threads = [deriver.settled(Thread((reading,)))]
    numbers = {threads[0]: 0}
    transitions: list[Transition] = []
    for source, thread in enumerate(threads):
        if _done(thread):
            continue
        for move in deriver.moves(thread):
            target, writes = _stored(deriver, deriver.settled(move.target), taken)
            if target not in numbers:
                numbers[target] = len(threads)
                threads.append(target)
            transitions.append(
                Transition(
                    source,
                    move.guard,
                    move.marked,
                    writes,
                    numbers[target],
                    label if move.marked else NOTHING,
                )
            )
        if len(threads) > MOST_STATES or len(transitions) > MOST_TRANSITIONS:
            raise NoTransducerError(f"its transducer has more than {MOST_STATES} states, or no end of them")
    finals = frozenset(number for thread, number in numbers.items() if deriver.end(thread) is not None)
    return trim_srt(SRT(len(threads), tuple(transitions), finals))


def _done(thread: Thread) -> bool:
    """Whether no match can need what the thread reads: the last event of a match is marked."""
    return not may_mark(thread.rest)


def _stored(deriver: Deriver, thread: Thread, taken: set[str]) -> tuple[Thread, frozenset[str]]:
    """The thread with a name for the event just read, and the register of that name; none if nothing looks at it."""
    held = list(slots_in(thread))
    wanted = sorted(
        {register for register, slot in held if slot == NEW}, key=lambda name: (name not in taken, name)
    )
    if not wanted:
        return thread, NOTHING
    used = {slot for _, slot in held}
    first = wanted[0]
    names = (first, *(f"{first}_{number}" for number in range(2, MOST_COPIES + 1)))
    name = next((name for name in names if name not in used and (name == first or name not in taken)), None)
    if name is None:
        raise NoTransducerError(f"a complement has to remember more than {MOST_COPIES} events at once")
    return named(thread, name, deriver.ordered), frozenset([name])


def _not_too_deep(reading: Reading) -> None:
    waiting = [(reading, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MOST_DEPTH:
            raise NoTransducerError(f"its parts are nested more than {MOST_DEPTH} deep")
        waiting.extend((part, depth + 1) for part in children(node))
