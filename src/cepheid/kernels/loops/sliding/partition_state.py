"""The state of one partition (one partition's stream) and the cells of its partial matches.

A partition is a row of numbers, the fields below; what they point to lies in the heap.

`EVENTS` are the relevant events of the window, oldest first, two words each: the row, and the *place*, which is the
position and, in the lowest bits, the class; so places compare as positions do (see `place_of`). Those before
`PIVOT` are the front, the others the back; those before `LOW` have left the window.

A *value* says which partial matches lead from one automaton state to another over a stretch of events: a number when
counting, else a set of label strings held as a cell list (`matches.cells`).

`BACK` holds `WIDTH` pivot states (the first is the start state 0), then one entry per state that is active now: the
state, and for each pivot state the value of the way from it to here. `FRONT` holds for each event before the pivot
the values of the ways from the start state just before it to each pivot state.
"""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import allocating, allocating_inlined, compiled, inlined
from cepheid.kernels.matches.cells import (
    CELL_ALTERNATIVE,
    CELL_CHILD,
    CELL_LABEL,
    CELL_ROW,
    CELL_WORDS,
    NOTHING,
)
from cepheid.kernels.memory.heap import grow, release, resize

EVENTS, EVENTS_K, N_EVENTS, LOW, PIVOT = 0, 1, 2, 3, 4
CELLS, CELLS_K, N_CELLS = 5, 6, 7
FRONT, FRONT_K = 8, 9
BACK, BACK_K, N_BACK, WIDTH = 10, 11, 12, 13
LAST = 14  # position of the last event taken
COLLECT_AT = 15  # number of cells at which garbage is collected (partitions without a window)
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
def reset(heap, meta, partitions, partition, words, counting):
    """Forgets all: the start state is active, and nothing has been marked. Keeps LAST."""
    heap, partitions[partition, BACK], partitions[partition, BACK_K] = resize(
        heap, meta, partitions[partition, BACK], partitions[partition, BACK_K], 0, 2 + words
    )
    base = partitions[partition, BACK]
    heap[base] = 0
    heap[base + 1] = 0
    for i in range(words):
        heap[base + 2 + i] = 0
    heap[base + 2] = 1 if counting else NOTHING
    partitions[partition, WIDTH] = 1
    partitions[partition, N_BACK] = 1
    partitions[partition, N_EVENTS] = 0
    partitions[partition, LOW] = 0
    partitions[partition, PIVOT] = 0
    partitions[partition, N_CELLS] = 1
    return heap


@compiled
def free(heap, meta, partitions, partition):
    """Gives back all that the partition holds; it is as if never used, but for its position."""
    for block in (EVENTS, CELLS, FRONT, BACK):
        if partitions[partition, block] > 0:
            release(heap, meta, partitions[partition, block], partitions[partition, block + 1])
    last = partitions[partition, LAST]
    partitions[partition, :] = 0
    partitions[partition, LAST] = last


@allocating_inlined
def reserve_cells(heap, meta, partitions, partition, more):
    used = max(partitions[partition, N_CELLS], 1)
    partitions[partition, N_CELLS] = used
    heap, partitions[partition, CELLS], partitions[partition, CELLS_K] = resize(
        heap,
        meta,
        partitions[partition, CELLS],
        partitions[partition, CELLS_K],
        used * CELL_WORDS,
        (used + more) * CELL_WORDS,
    )
    return heap


@inlined
def new_cell(heap, partitions, partition, row, label, child, alternative):
    """A cell in space reserved before."""
    cell = partitions[partition, N_CELLS]
    partitions[partition, N_CELLS] = cell + 1
    at = partitions[partition, CELLS] + cell * CELL_WORDS
    heap[at + CELL_ROW] = row
    heap[at + CELL_LABEL] = label
    heap[at + CELL_CHILD] = child
    heap[at + CELL_ALTERNATIVE] = alternative
    return cell


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


@compiled
def mark_cells(heap, partitions, partition, out_kept):
    """Sets out_kept[c] for every cell that the partition's values still reach."""
    cells = partitions[partition, CELLS]
    width = partitions[partition, WIDTH]
    back = partitions[partition, BACK] + width
    for entry in range(partitions[partition, N_BACK]):
        for p in range(width):
            value = heap[back + entry * (1 + width) + 1 + p]
            if value > 0:
                out_kept[value] = 1
    front = partitions[partition, FRONT]
    for i in range(partitions[partition, LOW] * width, partitions[partition, PIVOT] * width):
        if heap[front + i] > 0:
            out_kept[heap[front + i]] = 1
    for cell in range(partitions[partition, N_CELLS] - 1, 0, -1):
        if out_kept[cell]:
            at = cells + cell * CELL_WORDS
            for link in (CELL_CHILD, CELL_ALTERNATIVE):
                if heap[at + link] > 0:
                    out_kept[heap[at + link]] = 1


@allocating
def collect(heap, partitions, partition):
    """Drops the cells that nothing reaches and closes the gaps. Cells keep their order."""
    n = partitions[partition, N_CELLS]
    number = np.zeros(n, np.int64)
    mark_cells(heap, partitions, partition, number)
    cells = partitions[partition, CELLS]
    kept = 1
    for cell in range(1, n):
        if number[cell] == 0:
            continue
        at = cells + cell * CELL_WORDS
        to = cells + kept * CELL_WORDS
        heap[to + CELL_ROW] = heap[at + CELL_ROW]
        heap[to + CELL_LABEL] = heap[at + CELL_LABEL]
        child, alternative = heap[at + CELL_CHILD], heap[at + CELL_ALTERNATIVE]
        heap[to + CELL_CHILD] = number[child] if child > 0 else child
        heap[to + CELL_ALTERNATIVE] = number[alternative] if alternative > 0 else alternative
        number[cell] = kept
        kept += 1
    width = partitions[partition, WIDTH]
    back = partitions[partition, BACK] + width
    for entry in range(partitions[partition, N_BACK]):
        for p in range(width):
            at = back + entry * (1 + width) + 1 + p
            if heap[at] > 0:
                heap[at] = number[heap[at]]
    front = partitions[partition, FRONT]
    for i in range(partitions[partition, LOW] * width, partitions[partition, PIVOT] * width):
        if heap[front + i] > 0:
            heap[front + i] = number[heap[front + i]]
    partitions[partition, N_CELLS] = kept
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
