"""The state of one lane (one partition's stream) and the cells of its partial matches.

A lane is a row of numbers, the fields below; what they point to lies in the heap.

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
COLLECT_AT = 15  # number of cells at which garbage is collected (lanes without a window)
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
    """Whether the event at this offset comes directly after the one before it in the lane's list."""
    return heap[at + PLACE] >> CLASS_BITS == (heap[at - EVENT_WORDS + PLACE] >> CLASS_BITS) + 1


@allocating
def reset(heap, meta, lanes, lane, words, counting):
    """Forgets all: the start state is active, and nothing has been marked. Keeps LAST."""
    heap, lanes[lane, BACK], lanes[lane, BACK_K] = resize(
        heap, meta, lanes[lane, BACK], lanes[lane, BACK_K], 0, 2 + words
    )
    base = lanes[lane, BACK]
    heap[base] = 0
    heap[base + 1] = 0
    for i in range(words):
        heap[base + 2 + i] = 0
    heap[base + 2] = 1 if counting else NOTHING
    lanes[lane, WIDTH] = 1
    lanes[lane, N_BACK] = 1
    lanes[lane, N_EVENTS] = 0
    lanes[lane, LOW] = 0
    lanes[lane, PIVOT] = 0
    lanes[lane, N_CELLS] = 1
    return heap


@compiled
def free(heap, meta, lanes, lane):
    """Gives back all that the lane holds; it is as if never used, but for its position."""
    for block in (EVENTS, CELLS, FRONT, BACK):
        if lanes[lane, block] > 0:
            release(heap, meta, lanes[lane, block], lanes[lane, block + 1])
    last = lanes[lane, LAST]
    lanes[lane, :] = 0
    lanes[lane, LAST] = last


@allocating_inlined
def reserve_cells(heap, meta, lanes, lane, more):
    used = max(lanes[lane, N_CELLS], 1)
    lanes[lane, N_CELLS] = used
    heap, lanes[lane, CELLS], lanes[lane, CELLS_K] = resize(
        heap,
        meta,
        lanes[lane, CELLS],
        lanes[lane, CELLS_K],
        used * CELL_WORDS,
        (used + more) * CELL_WORDS,
    )
    return heap


@inlined
def new_cell(heap, lanes, lane, row, label, child, alternative):
    """A cell in space reserved before."""
    cell = lanes[lane, N_CELLS]
    lanes[lane, N_CELLS] = cell + 1
    at = lanes[lane, CELLS] + cell * CELL_WORDS
    heap[at + CELL_ROW] = row
    heap[at + CELL_LABEL] = label
    heap[at + CELL_CHILD] = child
    heap[at + CELL_ALTERNATIVE] = alternative
    return cell


@inlined
def reserve_event(heap, meta, lanes, lane, n_events):
    """Room for one event more, the heap having room for that."""
    lanes[lane, EVENTS], lanes[lane, EVENTS_K] = grow(
        heap,
        meta,
        lanes[lane, EVENTS],
        lanes[lane, EVENTS_K],
        n_events * EVENT_WORDS,
        (n_events + 1) * EVENT_WORDS,
    )


@inlined
def note_event(heap, lanes, lane, row, position, klass):
    """Appends an event in space reserved before."""
    n = lanes[lane, N_EVENTS]
    at = lanes[lane, EVENTS] + n * EVENT_WORDS
    heap[at + ROW] = row
    heap[at + PLACE] = place_of(position, klass)
    lanes[lane, N_EVENTS] = n + 1


@compiled
def mark_cells(heap, lanes, lane, out_kept):
    """Sets out_kept[c] for every cell that the lane's values still reach."""
    cells = lanes[lane, CELLS]
    width = lanes[lane, WIDTH]
    back = lanes[lane, BACK] + width
    for entry in range(lanes[lane, N_BACK]):
        for p in range(width):
            value = heap[back + entry * (1 + width) + 1 + p]
            if value > 0:
                out_kept[value] = 1
    front = lanes[lane, FRONT]
    for i in range(lanes[lane, LOW] * width, lanes[lane, PIVOT] * width):
        if heap[front + i] > 0:
            out_kept[heap[front + i]] = 1
    for cell in range(lanes[lane, N_CELLS] - 1, 0, -1):
        if out_kept[cell]:
            at = cells + cell * CELL_WORDS
            for link in (CELL_CHILD, CELL_ALTERNATIVE):
                if heap[at + link] > 0:
                    out_kept[heap[at + link]] = 1


@allocating
def collect(heap, lanes, lane):
    """Drops the cells that nothing reaches and closes the gaps. Cells keep their order."""
    n = lanes[lane, N_CELLS]
    number = np.zeros(n, np.int64)
    mark_cells(heap, lanes, lane, number)
    cells = lanes[lane, CELLS]
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
    width = lanes[lane, WIDTH]
    back = lanes[lane, BACK] + width
    for entry in range(lanes[lane, N_BACK]):
        for p in range(width):
            at = back + entry * (1 + width) + 1 + p
            if heap[at] > 0:
                heap[at] = number[heap[at]]
    front = lanes[lane, FRONT]
    for i in range(lanes[lane, LOW] * width, lanes[lane, PIVOT] * width):
        if heap[front + i] > 0:
            heap[front + i] = number[heap[front + i]]
    lanes[lane, N_CELLS] = kept
    lanes[lane, COLLECT_AT] = 2 * kept + 1024


@inlined
def enter(heap, lanes, lane, slot, words):
    """Notes in which entry each active state of the lane is."""
    width = lanes[lane, WIDTH]
    base = lanes[lane, BACK] + width
    for entry in range(lanes[lane, N_BACK]):
        slot[heap[base + entry * (1 + width * words)]] = entry


@inlined
def leave(heap, lanes, lane, slot, words):
    width = lanes[lane, WIDTH]
    base = lanes[lane, BACK] + width
    for entry in range(lanes[lane, N_BACK]):
        slot[heap[base + entry * (1 + width * words)]] = -1
