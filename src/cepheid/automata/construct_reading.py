"""SREMO → automaton with registers (`srt`, theorems 4.7 to 4.12).

In: an expression, the names the output shows, and the query's window. Out: an automaton whose matches inside that
window are those of the expression, or a `NoAutomatonError` that says why there is none. Only a window by count
matters: it bounds the events that a complement has to store, and the automaton is unrolled to that length where it
would be infinite otherwise.

A state is the rest of the expression that is still to be read (`derivative_states`), so there are few of them. Slots
become registers here: the event just read gets the name of the register it is stored in or another name, if that
register holds an event that may still be read, which only happens under an intersection or a complement. Invariant: a
guard reads no register that may be empty.
"""

from __future__ import annotations

from collections.abc import Sequence

from cepheid.algebra.nodes import EVENTS, Read, Reading, Within, children, walk
from cepheid.algebra.windows import Window, WindowUnit
from cepheid.automata.automaton import NOTHING, Automaton, Transition, numbered
from cepheid.automata.derivative_states import NEW, Thread, named, slots_in
from cepheid.automata.derivatives import Deriver
from cepheid.automata.derivatives import NoAutomatonError as NoAutomatonError
from cepheid.automata.reading_properties import may_mark
from cepheid.automata.trim import trim_guards

MOST_STATES = 512
MOST_TRANSITIONS = 16_384
MOST_DEPTH = 80
MOST_COPIES = 12  # of one register, each with another event


def construct_reading(
    reading: Reading, shown: Sequence[str] = (EVENTS,), window: Window | None = None
) -> Automaton:
    """The automaton of an expression.

    >>> from cepheid.algebra.conditions import TRUE, Attribute, Comparison
    >>> from cepheid.algebra.nodes import Concat, Iterate
    >>> from cepheid.automata.printing import print_automaton
    >>> skip = Iterate(Read(TRUE, marked=False))
    >>> dearer = Comparison("<", Attribute("r1", "price"), Attribute(None, "price"))
    >>> print(print_automaton(construct_reading(Concat((Read(TRUE, register="r1"), skip, Read(dearer))))))
    register r1
    state 0, initial
      mark any, store r1 → 1
    state 1
      mark any if r1.price < price → 2
      skip → 1
    state 2, final
    """
    _not_too_deep(reading)
    label = frozenset([EVENTS]) if EVENTS in shown else NOTHING
    by_count = window is not None and window.unit is WindowUnit.EVENTS
    try:
        return _explored(reading, Deriver(), label)
    except NoAutomatonError:
        inner = any(isinstance(one, Within) and one.window.unit is WindowUnit.EVENTS for one in walk(reading))
        if not by_count and not inner:
            raise
    whole = Within(reading, window) if by_count and window is not None else reading
    return _explored(whole, Deriver(counting=True), label)


def _explored(reading: Reading, deriver: Deriver, label: frozenset[str]) -> Automaton:
    """All states that can be reached and their transitions, without those that no match needs."""
    taken = {name for one in walk(reading) if isinstance(one, Read) and (name := one.register)}
    threads = [deriver.simplified(Thread((reading,)))]
    numbers = {threads[0]: 0}
    transitions: list[Transition] = []
    for source, thread in enumerate(threads):
        if _done(thread):
            continue
        for one in deriver.derivatives(thread):
            target, writes = _stored(deriver, deriver.simplified(one.thread), taken)
            if target not in numbers:
                numbers[target] = len(threads)
                threads.append(target)
            transitions.append(
                Transition(source, numbers[target], one.guard, label if one.marked else None, writes)
            )
        if len(threads) > MOST_STATES or len(transitions) > MOST_TRANSITIONS:
            raise NoAutomatonError(f"its automaton has more than {MOST_STATES} states, or infinitely many")
    finals = frozenset(number for thread, number in numbers.items() if deriver.end(thread) is not None)
    return trim_guards(numbered(len(threads), transitions, finals))


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
        raise NoAutomatonError(f"a complement has to remember more than {MOST_COPIES} events at once")
    return named(thread, name, deriver.ordered), frozenset([name])


def _not_too_deep(reading: Reading) -> None:
    waiting = [(reading, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MOST_DEPTH:
            raise NoAutomatonError(f"its parts are nested more than {MOST_DEPTH} deep")
        waiting.extend((part, depth + 1) for part in children(node))
