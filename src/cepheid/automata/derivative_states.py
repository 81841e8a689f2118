"""The rest of an expression that is still to be read: the states of its automaton while it is built.

A state is a `Thread`: expressions to be read one after the other, and the contents of the registers. Expressions that
were begun and have a state of their own have other nodes:

- `Pair`, an intersection: each side has its own registers;
- `Others`, a complement: all threads that its body may be in;
- `Begun` and `Counted`, a window: the first event that was marked inside, or the number of events since then.

A register holds a *slot*, the name of a place where an event is kept; a register without a slot is empty.
The event that is being read is in the slot NEW until `named` gives it a name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import assert_never

from cepheid.algebra.nodes import Both, Complement, Concat, Iterate, Or, Read, Reading, Within
from cepheid.algebra.windows import Window

NEW = "<new>"
FIRST = "first"

Slots = tuple[tuple[str, str], ...]  # (register, slot), by register


@dataclass(frozen=True, slots=True)
class Thread:
    """The expressions left to read, in order, and the slots of the registers that they may read. Threads are looked up
    so often that each keeps its hash."""

    rest: Rest
    slots: Slots = ()
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.rest, self.slots)))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class Pair:
    """Both sides go on. In the end a register is what it is on the side that can store it."""

    left: Thread
    right: Thread
    stored_left: frozenset[str]
    stored_right: frozenset[str]


@dataclass(frozen=True, slots=True)
class Others:
    """Anything that none of the threads can read; without threads, anything. They are a set, in a fixed order."""

    threads: tuple[Thread, ...]


@dataclass(frozen=True, slots=True)
class Begun:
    """The rest is inside a window that begins with the event in the slot `first`, None while none is marked."""

    rest: Rest
    window: Window
    first: str | None = None


@dataclass(frozen=True, slots=True)
class Counted:
    """The rest is inside a window of `most` events; `read` were read since the first marked one, it included. At most
    `most` are counted: then nothing may be marked any more."""

    rest: Rest
    most: int
    read: int = 0

    @property
    def over(self) -> bool:
        return self.read >= self.most


Item = Reading | Pair | Others | Begun | Counted
Rest = tuple[Item, ...]


def slot_of(slots: Slots, register: str) -> str | None:
    return next((slot for name, slot in slots if name == register), None)


def with_slot(slots: Slots, register: str, slot: str | None) -> Slots:
    """The same with another slot for the register; None empties it.

    >>> with_slot((("a", "a"), ("b", "b")), "a", NEW), with_slot((("a", "a"),), "a", None)
    ((('a', '<new>'), ('b', 'b')), ())
    """
    others = tuple(item for item in slots if item[0] != register)
    return others if slot is None else tuple(sorted((*others, (register, slot))))


def slots_in(thread: Thread) -> Iterator[tuple[str, str]]:
    """Every slot that is held anywhere in the thread, with the register that holds it; FIRST for a window's."""
    yield from thread.slots
    for item in thread.rest:
        yield from _slots_in_item(item)


def _slots_in_item(item: Item) -> Iterator[tuple[str, str]]:
    match item:
        case Read() | Concat() | Or() | Iterate() | Both() | Complement() | Within():
            return
        case Pair(left, right):
            yield from slots_in(left)
            yield from slots_in(right)
        case Others(threads):
            for thread in threads:
                yield from slots_in(thread)
        case Begun(rest, _, first):
            yield from slots_in(Thread(rest))
            if first is not None:
                yield FIRST, first
        case Counted(rest):
            yield from slots_in(Thread(rest))
        case _:
            assert_never(item)


def named(thread: Thread, name: str, order: Callable[[Iterable[Thread]], tuple[Thread, ...]]) -> Thread:
    """The thread with the slot NEW called `name`; `order` puts the threads of a complement in order."""

    def in_rest(rest: Rest) -> Rest:
        return tuple(map(in_item, rest))

    def in_thread(thread: Thread) -> Thread:
        slots = tuple((register, name if slot == NEW else slot) for register, slot in thread.slots)
        return Thread(in_rest(thread.rest), slots)

    def in_item(item: Item) -> Item:
        match item:
            case Read() | Concat() | Or() | Iterate() | Both() | Complement() | Within():
                return item
            case Pair(left, right, stored_left, stored_right):
                return Pair(in_thread(left), in_thread(right), stored_left, stored_right)
            case Others(threads):
                return Others(order(map(in_thread, threads)))
            case Begun(rest, window, first):
                return Begun(in_rest(rest), window, name if first == NEW else first)
            case Counted(rest, most, read):
                return Counted(in_rest(rest), most, read)
            case _:
                assert_never(item)

    return in_thread(thread)
