"""The state of one partition (one partition's stream) and the nodes of its partial matches.

A partition is a row of numbers, the fields below; what they point to lies in the heap.

`EVENTS` are the relevant events of the window, oldest first, two words each: the row, and the *place*, which is the
position and, in the lowest bits, the class; so places compare as positions do (see `place_of`). Those before
`PIVOT` are the front, the others the back; those before `LOW` have left the window.

A *value* says which partial matches lead from one automaton state to another over a stretch of events: a number when
counting, else a set of strings of marked events (`matches.nodes`).

`BACK` holds `WIDTH` pivot states (the first is the start state 0), then one entry per state that is active now: the
state, and for each pivot state the value of the way from it to here. `FRONT` holds for each event before the pivot
the values of the ways from the start state just before it to each pivot state.
"""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import allocating, allocating_inlined, compiled, inlined
from cepheid.kernels.matches.collect import drop_unreached
from cepheid.kernels.matches.nodes import BEGIN, FIRST, FIRST_AT, N_WORDS, put_node
from cepheid.kernels.memory.heap import grow, release, resize

EVENTS, EVENTS_K, N_EVENTS, LOW, PIVOT = 0, 1, 2, 3, 4
NODES, NODES_K, N_NODES = 5, 6, 7
FRONT, FRONT_K = 8, 9
BACK, BACK_K, N_BACK, WIDTH = 10, 11, 12, 13
LAST = 14  # position of the last event taken
COLLECT_AT = 15  # number of nodes at which garbage is collected (partitions without a window)
FIELDS = 16

ROW, PLACE, EVENT_WORDS = 0, 1, 2
CLASS_BITS = 16
_CLASS = (1 << CLASS_BITS) - 1


@inlined
def place_of(position, klass):
    """A position and a class in one word. Those of a position and after are not less than `place_of(position, 0)`."""
    return (position << CLASS_BITS) | klass


@inlined
def class_at(heap, at):
    """The class of the event at this offset."""
    return heap[at + PLACE] & _CLASS


@inlined
def follows(heap, at):
    """Whether the event at this offset comes directly after the one before it in the partition's list."""
    return heap[at + PLACE] >> CLASS_BITS == (heap[at - EVENT_WORDS + PLACE] >> CLASS_BITS) + 1


@allocating
def reset(heap, meta, partitions, partition, words):
    """Forgets all: the start state is active, and nothing has been marked. Keeps LAST."""
    heap, partitions[partition, BACK], partitions[partition, BACK_K] = resize(
        heap, meta, partitions[partition, BACK], partitions[partition, BACK_K], 0, 2 + words
    )
    base = partitions[partition, BACK]
    heap[base] = 0
    heap[base + 1] = 0
    for i in range(words):
        heap[base + 2 + i] = 0
    heap[base + 2] = BEGIN  # one partial match, the empty one
    partitions[partition, WIDTH] = 1
    partitions[partition, N_BACK] = 1
    partitions[partition, N_EVENTS] = 0
    partitions[partition, LOW] = 0
    partitions[partition, PIVOT] = 0
    partitions[partition, N_NODES] = FIRST
    return heap


@compiled
def free(heap, meta, partitions, partition):
    """Gives back all that the partition holds; it is as if never used, but for its position."""
    for block in (EVENTS, NODES, FRONT, BACK):
        if partitions[partition, block] > 0:
            release(heap, meta, partitions[partition, block], partitions[partition, block + 1])
    last = partitions[partition, LAST]
    partitions[partition, :] = 0
    partitions[partition, LAST] = last


@allocating_inlined
def reserve_nodes(heap, meta, partitions, partition, more):
    used = max(partitions[partition, N_NODES], FIRST)
    partitions[partition, N_NODES] = used
    heap, partitions[partition, NODES], partitions[partition, NODES_K] = resize(
        heap,
        meta,
        partitions[partition, NODES],
        partitions[partition, NODES_K],
        (used - FIRST) * N_WORDS,
        (used + more) * N_WORDS,
    )
    return heap


@inlined
def new_node(heap, partitions, partition, event, before, other):
    """A node in space reserved before: its number."""
    number = partitions[partition, N_NODES]
    partitions[partition, N_NODES] = number + 1
    put_node(heap, partitions[partition, NODES] - FIRST_AT + number * N_WORDS, event, before, other)
    return number


@inlined
def reserve_event(heap, meta, partitions, partition, n_events):
    """Room for one event more, the heap having room for that."""
    partitions[partition, EVENTS], partitions[partition, EVENTS_K] = grow(
        heap,
        meta,
        partitions[partition, EVENTS],
        partitions[partition, EVENTS_K],
        n_events * EVENT_WORDS,
        (n_events + 1) * EVENT_WORDS,
    )


@inlined
def note_event(heap, partitions, partition, row, position, klass):
    """Appends an event in space reserved before."""
    n = partitions[partition, N_EVENTS]
    at = partitions[partition, EVENTS] + n * EVENT_WORDS
    heap[at + ROW] = row
    heap[at + PLACE] = place_of(position, klass)
    partitions[partition, N_EVENTS] = n + 1


@allocating
def collect(heap, partitions, partition):
    """Drops the nodes that no set of a partition without a window, which has no front, reaches."""
    number = np.zeros(partitions[partition, N_NODES], np.int64)
    back, size = partitions[partition, BACK] + partitions[partition, WIDTH], 1 + partitions[partition, WIDTH]
    for entry in range(partitions[partition, N_BACK]):
        for at in range(back + entry * size + 1, back + (entry + 1) * size):
            number[heap[at]] = 1
    kept = drop_unreached(heap, partitions[partition, NODES] - FIRST_AT, len(number), number)
    for entry in range(partitions[partition, N_BACK]):
        for at in range(back + entry * size + 1, back + (entry + 1) * size):
            heap[at] = number[heap[at]]
    partitions[partition, N_NODES] = kept
    partitions[partition, COLLECT_AT] = 2 * kept + 1024


@inlined
def enter(heap, partitions, partition, slot, words):
    """Notes in which entry each active state of the partition is."""
    width = partitions[partition, WIDTH]
    base = partitions[partition, BACK] + width
    for entry in range(partitions[partition, N_BACK]):
        slot[heap[base + entry * (1 + width * words)]] = entry


@inlined
def leave(heap, partitions, partition, slot, words):
    width = partitions[partition, WIDTH]
    base = partitions[partition, BACK] + width
    for entry in range(partitions[partition, N_BACK]):
        slot[heap[base + entry * (1 + width * words)]] = -1
