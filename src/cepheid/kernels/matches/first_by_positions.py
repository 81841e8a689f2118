"""Of the matches that end at one event the first, found without looking at all of them.

In: a graph with a path from START to its end for every match. Out: matches in flat arrays, by positions, those of one
complex event by what each of their events is bound to.

The walk is depth first. A *level* is a number of events that are marked; it has a heap of where to go on from the
states reached with them, by the least row that is marked next. So a complex event is a list of rows, and its *steps*
are the edges that mark them, for each row all that do: a second walk over these few finds its bindings. A match takes
time linear in its steps, times the logarithm of a heap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepheid.kernels.compiled import compiled, inlined
from cepheid.kernels.interrupts import poll, ticks
from cepheid.kernels.matches.nodes import LABEL_BITS, LABELS
from cepheid.kernels.matches.output import why_full
from cepheid.kernels.memory.status import DONE, INTERRUPTED, MORE_STACK

START = 0
NEVER = np.iinfo(np.int64).max

# words of an entry of a heap: the least row it leads to; the edge to go on with and that behind the last one, or for
# all edges of a state its complement; the state that was reached with the events before
H_ROW, H_EDGE, H_BEHIND, H_FROM, H_WORDS = range(5)
# words of a step: an event with its label, the states it leads from and to, how far it leads
S_EVENT, S_FROM, S_TO, S_USE, S_WORDS = range(5)
DEAD, LEADS_ON, IS_OPEN = range(3)  # to no end; to the end; and from what is bound before


class Graph(NamedTuple):
    """Edges of one state lie next to each other: those that mark, by event, then those that do not. All lead to higher
    states; the highest is the end."""

    marks: np.ndarray  # [state + 1]: the first edge of a state
    skips: np.ndarray  # [state]: its first edge that marks nothing
    events: np.ndarray  # [edge]
    targets: np.ndarray  # [edge]
    lowest: np.ndarray  # [state]: the least row that is marked next


class Walk(NamedTuple):
    """Where the walk is."""

    heap: np.ndarray  # [entry, H_…]: the heaps of all levels, one behind another
    heaps: np.ndarray  # [level + 1]: where they begin
    steps: np.ndarray  # [step, S_…]
    begins: np.ndarray  # [level + 1]: where the steps of a level begin
    bound: np.ndarray  # [level]: the rank of the label chosen there
    seen: np.ndarray  # [state]: when it was last reached
    clock: np.ndarray  # [1]


@inlined
def find_lowest(graph):
    """Fills `lowest`: edges lead to higher states."""
    for state in range(len(graph.lowest) - 1, -1, -1):
        row = NEVER
        if graph.marks[state] < graph.skips[state]:
            row = graph.events[graph.marks[state]] >> LABEL_BITS
        for skip in range(graph.skips[state], graph.marks[state + 1]):
            row = min(row, graph.lowest[graph.targets[skip]])
        graph.lowest[state] = row


@inlined
def put(heap, first, end, row, edge, behind, source):
    """Puts an entry into the heap from `first` to before `end`: its new end."""
    at = end
    while at > first:
        above = first + (at - first - 1) // 2
        if heap[above, H_ROW] <= row:
            break
        for word in range(H_WORDS):
            heap[at, word] = heap[above, word]
        at = above
    heap[at, H_ROW] = row
    heap[at, H_EDGE] = edge
    heap[at, H_BEHIND] = behind
    heap[at, H_FROM] = source
    return end + 1


@inlined
def drop_least(heap, first, end):
    """Takes out the first entry of a heap, that of the least row: its new end."""
    end -= 1
    row, at = heap[end, H_ROW], first
    while True:
        below = first + 2 * (at - first) + 1
        if below + 1 < end and heap[below + 1, H_ROW] < heap[below, H_ROW]:
            below += 1
        if below >= end or row <= heap[below, H_ROW]:
            break
        for word in range(H_WORDS):
            heap[at, word] = heap[below, word]
        at = below
    for word in range(H_WORDS):
        heap[at, word] = heap[end, word]
    return end


@inlined
def take_row(graph, walk, level):
    """Makes the edges that mark the least row of a level its steps: whether there is room for them."""
    first, end = walk.heaps[level], walk.heaps[level + 1]
    made, row = walk.begins[level], walk.heap[first, H_ROW]
    while first < end and walk.heap[first, H_ROW] == row:
        edge, behind, source = walk.heap[first, H_EDGE], walk.heap[first, H_BEHIND], walk.heap[first, H_FROM]
        end = drop_least(walk.heap, first, end)
        if edge < 0:
            state = ~edge
            edge, behind = graph.marks[state], graph.skips[state]
            if end + 2 + graph.marks[state + 1] - behind > len(walk.heap):
                return False
            for skip in range(behind, graph.marks[state + 1]):
                target = graph.targets[skip]
                end = put(walk.heap, first, end, graph.lowest[target], ~target, 0, source)
        else:
            if made == len(walk.steps):
                return False
            walk.steps[made, S_EVENT] = graph.events[edge]
            walk.steps[made, S_FROM] = source
            walk.steps[made, S_TO] = graph.targets[edge]
            made += 1
            edge += 1
        if edge < behind:
            end = put(walk.heap, first, end, graph.events[edge] >> LABEL_BITS, edge, behind, source)
    walk.heaps[level + 1] = end
    walk.begins[level + 1] = made
    return True


@inlined
def go_deeper(graph, walk, level):
    """Begins a level with the states that the steps of the one before lead to: whether there is room for it."""
    if level + 2 > len(walk.bound):
        return False
    end = walk.heaps[level]
    if end + walk.begins[level] - walk.begins[level - 1] > len(walk.heap):
        return False
    walk.clock[0] += 1
    for step in range(walk.begins[level - 1], walk.begins[level]):
        state = walk.steps[step, S_TO]
        if walk.seen[state] != walk.clock[0]:
            walk.seen[state] = walk.clock[0]
            end = put(walk.heap, walk.heaps[level], end, graph.lowest[state], ~state, 0, state)
    walk.heaps[level + 1] = end
    return True


@inlined
def find_ends(walk, level, end):
    """Notes which steps lead to the end by those of the next levels."""
    steps, seen = walk.steps, walk.seen
    walk.clock[0] += 1
    seen[end] = walk.clock[0]
    for at in range(level, -1, -1):
        now = walk.clock[0]
        for step in range(walk.begins[at], walk.begins[at + 1]):
            steps[step, S_USE] = LEADS_ON if seen[steps[step, S_TO]] == now else DEAD
        walk.clock[0] += 1
        for step in range(walk.begins[at], walk.begins[at + 1]):
            if steps[step, S_USE] == LEADS_ON:
                seen[steps[step, S_FROM]] = walk.clock[0]


@inlined
def open_level(walk, level):
    """Notes which steps of a level go on from the states that the one before has reached."""
    steps = walk.steps
    walk.bound[level] = -1
    for step in range(walk.begins[level], walk.begins[level + 1]):
        if steps[step, S_USE] != DEAD:
            is_reached = walk.seen[steps[step, S_FROM]] == walk.clock[0]
            steps[step, S_USE] = IS_OPEN if is_reached else LEADS_ON


@inlined
def bind_next(walk, level, ranks):
    """Chooses the next label of a level's event, by rank, and notes the states that it leads to: whether there is
    one."""
    steps, least = walk.steps, len(ranks)
    for step in range(walk.begins[level], walk.begins[level + 1]):
        rank = ranks[steps[step, S_EVENT] & LABELS]
        if steps[step, S_USE] == IS_OPEN and walk.bound[level] < rank < least:
            least = rank
    walk.bound[level] = least
    if least == len(ranks):
        return False
    walk.clock[0] += 1
    for step in range(walk.begins[level], walk.begins[level + 1]):
        if steps[step, S_USE] == IS_OPEN and ranks[steps[step, S_EVENT] & LABELS] == least:
            walk.seen[steps[step, S_TO]] = walk.clock[0]
    return True


@inlined
def write_bindings(walk, depth, end, ranks, labels, most, guard, made, out):
    """Writes the matches of the complex event that the levels up to `depth` mark: a status and the matches made."""
    find_ends(walk, depth, end)
    walk.clock[0] += 1
    walk.seen[START] = walk.clock[0]
    open_level(walk, 0)
    level = 0
    while level >= 0 and made < most:
        if not bind_next(walk, level, ranks):
            level -= 1
            continue
        if level < depth:
            level += 1
            open_level(walk, level)
            continue
        at = out.offsets[made]
        if at + depth + 1 > min(len(out.rows), guard) or made == len(out.offsets) - 1:
            return why_full(out.rows, guard, made, most), made
        for i in range(depth + 1):
            out.rows[at + i] = walk.steps[walk.begins[i], S_EVENT] >> LABEL_BITS
            out.labels[at + i] = labels[walk.bound[i]]
        made += 1
        out.offsets[made] = at + depth + 1
    return DONE, made


@compiled
def first_by_positions(graph, ranks, labels, most, guard, walk, out):
    """Writes the first matches behind those that there are, until there are `most` in all: a status.

    `ranks` is the order of labels, `labels` has them in that order. The walk and the output are as they were unless the
    status is DONE.
    """
    find_lowest(graph)
    end, made = len(graph.lowest) - 1, out.made[0]
    walk.clock[0] = 0
    walk.seen[:] = 0
    walk.begins[0] = 0
    walk.heaps[0] = 0
    walk.heaps[1] = put(walk.heap, 0, 0, graph.lowest[START], ~START, 0, START)
    level = 0
    ticked = ticks()
    while level >= 0 and made < most:
        ticked = poll(ticked)
        if ticked < 0:
            return INTERRUPTED
        if walk.heaps[level] == walk.heaps[level + 1]:
            level -= 1
            continue
        if not take_row(graph, walk, level):
            return MORE_STACK
        if walk.steps[walk.begins[level], S_TO] == end:
            status, made = write_bindings(walk, level, end, ranks, labels, most, guard, made, out)
            if status != DONE:
                return status
        else:
            level += 1
            if not go_deeper(graph, walk, level):
                return MORE_STACK
    out.made[0] = made
    return DONE
