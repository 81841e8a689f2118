"""Partial derivatives: the expressions that can be left after one event is read, each with a guard on that event.

In: a `Thread`. Out: its `Derivative`s, each with a guard over slots, whether it marks, and the thread that is left, in
which the event just read is in the slot NEW. There are no ε-transitions to remove: an item that can be read without
an event lets the next one read it too. Theorems 4.7, 4.8 and 4.10 of `srt`, and 4.11 with 4.12:

- a condition that reads an empty register gives none, so guards read full slots only;
- a complement has a derivative for each set of its body's threads that can read the event. It is the subset
  construction, in which each thread knows its own slots; where the body stores events in one slot after the
  other and a window bounds their number, exploring it is the unrolling of theorem 4.11.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from cepheid.algebra.conditions import FALSE, conjuncts, variables, with_names
from cepheid.algebra.nodes import Both, Complement, Concat, Iterate, Or, Read, Within
from cepheid.algebra.registers import stored_by
from cepheid.algebra.skips import reads_nothing
from cepheid.algebra.windows import WindowUnit
from cepheid.automata.automaton import ALWAYS, Guard, Predicate
from cepheid.automata.derivative_states import (
    NEW,
    Begun,
    Counted,
    Item,
    Others,
    Pair,
    Rest,
    Slots,
    Thread,
    slot_of,
    slots_in,
    with_slot,
)
from cepheid.automata.guards import conjoin, guard_of, merge, negate
from cepheid.automata.reading_properties import Registers, may_mark, must_mark, needs
from cepheid.errors import CepheidError

MOST_CASES = 256  # of one complement reading one event
MOST_WORK = 10_000  # threads looked at; a second at most, as a rule


class NoAutomatonError(CepheidError):
    """An expression has no automaton, or none small enough; the message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__("not-yet", reason)


@dataclass(frozen=True, slots=True)
class Derivative:
    """One way to read an event, and the thread that is left."""

    guard: Guard
    marked: bool
    thread: Thread


class Deriver:
    """Reads events for threads. `counting`: windows by count are kept as numbers and not as slots, so that a complement
    around one or inside one can be read."""

    def __init__(self, counting: bool = False) -> None:
        self._counting = counting
        self._derivatives: dict[Thread, list[Derivative]] = {}
        self._everything: dict[Thread, bool] = {}
        self._met: dict[Thread, int] = {}
        self._work = 0

    def derivatives(self, thread: Thread) -> list[Derivative]:
        """Every way to read one event.

        >>> from cepheid.algebra.conditions import TRUE
        >>> skip = Iterate(Read(TRUE, marked=False))
        >>> [(one.marked, len(one.thread.rest)) for one in Deriver().derivatives(Thread((skip, Read(TRUE))))]
        [(False, 2), (True, 0)]
        """
        known = self._derivatives.get(thread)
        if known is None:
            known = self._derivatives[thread] = list(dict.fromkeys(self._all_derivatives(thread)))
        return known

    def _all_derivatives(self, thread: Thread) -> Iterable[Derivative]:
        slots: Slots | None = thread.slots
        for at, item in enumerate(thread.rest):
            if slots is None:
                return
            after = thread.rest[at + 1 :]
            for one in self._item(item, slots):
                yield Derivative(one.guard, one.marked, Thread(one.thread.rest + after, one.thread.slots))
            slots = self._end_item(item, slots)

    def end(self, thread: Thread) -> Slots | None:
        """The contents of the registers if nothing more is read; None where the thread cannot end here."""
        slots: Slots | None = thread.slots
        for item in thread.rest:
            if slots is None:
                return None
            slots = self._end_item(item, slots)
        return slots

    def simplified(self, thread: Thread, after: Registers = frozenset()) -> Thread:
        """The same thread in its simplest form: concatenations split, without slots that are never read."""
        self._work += 1
        if self._work > MOST_WORK:
            raise NoAutomatonError("its automaton takes too long to construct")
        rest: list[Item] = []
        for item in reversed(_flat(thread.rest)):
            match item:
                case Pair(left, right, mine, yours):
                    left, right = self.simplified(left, after & mine), self.simplified(right, after & yours)
                    rest.append(Pair(left, right, mine, yours))
                case Others(threads):
                    rest.append(Others(self.ordered(map(self.simplified, threads))))
                case Begun(inner, window, first):
                    simplified = self.simplified(Thread(inner), after).rest
                    rest.append(Begun(simplified, window, first))
                case Counted(inner, most, read):
                    rest.append(Counted(self.simplified(Thread(inner), after).rest, most, read))
                case Read() | Concat() | Or() | Iterate() | Both() | Complement() | Within():
                    rest.append(item)
                case _:
                    assert_never(item)
            after = needs((rest[-1],), after)
        return Thread(tuple(reversed(rest)), tuple(slot for slot in thread.slots if slot[0] in after))

    def ordered(self, threads: Iterable[Thread]) -> tuple[Thread, ...]:
        """The set of threads in the order in which they were first met, so that equal sets are equal."""
        distinct = dict.fromkeys(threads)
        for thread in distinct:
            self._met.setdefault(thread, len(self._met))
        return tuple(sorted(distinct, key=self._met.__getitem__))

    # ── ends ────────────────────────────────────────────────────────────────────────────────────────────

    def _end_item(self, item: Item, slots: Slots) -> Slots | None:
        match item:
            case Pair(left, right, mine, yours):
                ends = self.end(left), self.end(right)
                for end, theirs in zip(ends, (mine, yours), strict=True):
                    if end is None:
                        return None
                    for register in theirs:
                        slots = with_slot(slots, register, slot_of(end, register))
                return slots
            case Others(threads):
                return slots if all(self.end(thread) is None for thread in threads) else None
            case Begun(rest) | Counted(rest):
                return self.end(Thread(rest, slots))
            case Read() | Concat() | Or() | Iterate() | Both() | Complement() | Within():
                return slots if reads_nothing(item) else None
            case _:
                assert_never(item)

    # ── derivatives ───────────────────────────────────────────────────────────────────────────────────────────

    def _item(self, item: Item, slots: Slots) -> Iterable[Derivative]:
        match item:
            case Read():
                return _read(item, slots)
            case Concat(parts):
                return self.derivatives(Thread(parts, slots))
            case Or(parts):
                return [one for part in parts for one in self._item(part, slots)]
            case Iterate(body):
                return [_followed(one, item) for one in self._item(body, slots)]
            case Both(left, right):
                pair = Pair(
                    Thread((left,), slots), Thread((right,), slots), stored_by(left), stored_by(right)
                )
                return self._pair(pair, slots)
            case Complement(body):
                return self._others(Others((self.simplified(Thread((body,), slots)),)), slots)
            case Within(body, window):
                if self._counting and window.unit is WindowUnit.EVENTS:
                    return self._counted(Counted((body,), int(window.amount)), slots)
                return self._begun(Begun((body,), window), slots)
            case Pair():
                return self._pair(item, slots)
            case Others():
                return self._others(item, slots)
            case Begun():
                return self._begun(item, slots)
            case Counted():
                return self._counted(item, slots)
            case _:
                assert_never(item)

    def _pair(self, pair: Pair, slots: Slots) -> Iterable[Derivative]:
        """Theorem 4.10: both sides read the event, under both guards, and agree on marking it."""
        for left in self.derivatives(pair.left):
            for right in self.derivatives(pair.right):
                guard = conjoin(left.guard, right.guard)
                if left.marked != right.marked or guard is None:
                    continue
                both = Pair(left.thread, right.thread, pair.stored_left, pair.stored_right)
                if left.thread.rest and right.thread.rest:
                    yield Derivative(guard, left.marked, Thread((both,), slots))
                elif (end := self._end_item(both, slots)) is not None:
                    yield Derivative(guard, left.marked, Thread((), end))

    def _begun(self, item: Begun, slots: Slots) -> Iterable[Derivative]:
        for one in self.derivatives(Thread(item.rest, slots)):
            guard, first = one.guard, item.first
            if one.marked and first is None:
                first = NEW
            elif one.marked and first is not None:
                guard = Guard(guard.holds, guard.fails, guard.within | {(first, item.window)})
            rest = one.thread.rest
            # Where nothing is marked any more, the window has no say any more.
            inside: Rest = (Begun(rest, item.window, first),) if may_mark(rest) else rest
            yield Derivative(guard, one.marked, Thread(inside, one.thread.slots))

    def _counted(self, item: Counted, slots: Slots) -> Iterable[Derivative]:
        for one in self.derivatives(Thread(item.rest, slots)):
            if one.marked and item.over:
                continue
            read = min(item.read + 1, item.most) if one.marked or item.read else 0
            left = Counted(one.thread.rest, item.most, read)
            if left.over and must_mark(left.rest):
                continue
            yield Derivative(
                one.guard,
                one.marked,
                Thread((left,) if may_mark(left.rest) else left.rest, one.thread.slots),
            )

    def _others(self, item: Others, slots: Slots) -> Iterable[Derivative]:
        if any(self._reads_everything(thread) for thread in item.threads):
            return
        guards_to: dict[Thread, list[Guard]] = {}
        for thread in item.threads:
            for one in self.derivatives(thread):
                if one.guard.within:
                    raise NoAutomatonError("a complement of a part with a window of its own has no automaton")
                guards_to.setdefault(self.simplified(one.thread), []).append(one.guard)
        for guard, threads in self._cases(guards_to):
            yield Derivative(guard, False, Thread((Others(threads),), slots))

    def _cases(self, guards_to: dict[Thread, list[Guard]]) -> Iterable[tuple[Guard, tuple[Thread, ...]]]:
        """Every event has one case: a guard with all threads that continue under it, or one after which the body can
        read any string, so that its complement can read none."""
        cases: list[tuple[Guard, tuple[Thread, ...]]] = [(ALWAYS, ())]
        # What reads everything goes first: it leaves one case where it would else leave two.
        for thread in sorted(guards_to, key=lambda thread: not self._reads_everything(thread)):
            guards = merge(guards_to[thread])
            kept = []
            for case, threads in cases:
                without = [case]
                for guard in guards:
                    if not self._reads_everything(thread):
                        more = (*threads, thread)
                        kept += [(both, more) for one in without if (both := conjoin(one, guard)) is not None]
                    without = _each_pair(without, negate(guard))
                kept += [(one, threads) for one in without]
            cases = kept
            if len(cases) > MOST_CASES:
                raise NoAutomatonError(f"a complement has more than {MOST_CASES} cases for one event")
        by_threads: dict[tuple[Thread, ...], list[Guard]] = {}
        for guard, threads in cases:
            by_threads.setdefault(self.ordered(threads), []).append(guard)
        return [(guard, threads) for threads, guards in by_threads.items() for guard in merge(guards)]

    def _reads_everything(self, thread: Thread) -> bool:
        """Whether, as far as can be seen, the thread can read any string: it can end, and any event leads to such."""
        if any(slot == NEW for _, slot in slots_in(thread)):
            return False
        known = self._everything.get(thread)
        if known is None:
            self._everything[thread] = True  # a thread that leads to itself
            known = self.end(thread) is not None and any(
                self._reads_everything(self.simplified(one.thread))
                for one in self.derivatives(thread)
                if one.guard == ALWAYS
            )
            self._everything[thread] = known
        return known


def _read(item: Read, slots: Slots) -> Iterable[Derivative]:
    held = dict(slots)
    tests = conjuncts(item.condition)
    if FALSE in tests or not variables(item.condition) <= held.keys():
        return
    guard = guard_of(Predicate(None, with_names(test, held)) for test in tests)
    if guard is not None:
        left = slots if item.register is None else with_slot(slots, item.register, NEW)
        yield Derivative(guard, item.marked, Thread((), left))


def _followed(one: Derivative, item: Item) -> Derivative:
    return Derivative(one.guard, one.marked, Thread((*one.thread.rest, item), one.thread.slots))


def _each_pair(guards: list[Guard], others: list[Guard]) -> list[Guard]:
    return [both for one in guards for two in others if (both := conjoin(one, two)) is not None]


def _flat(rest: Rest) -> list[Item]:
    found: list[Item] = []
    for item in rest:
        found.extend(_flat(item.parts) if isinstance(item, Concat) else (item,))
    return found
