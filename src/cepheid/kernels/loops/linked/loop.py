"""Algorithm 1 of `partition-by-chain-cea`: one pass over the relevant events of all partitions, in stream order.

An event fires the moves of its class. A move looks up the list of partial matches that wait with equal
values; if one of them differs where it must and began inside the window, the event is marked: a vertex whose
neighbourhood is that list as it is now. What accepts is enumerated or counted at once; what goes on waits in
the lists of its new state. An event costs a lookup per move of its class and per list of the states reached,
whatever the number of keys and of partial matches.

An event is taken whole or not at all: the loop returns before it where there is no room, and is called again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepheid.kernels.compiled import compiled
from cepheid.kernels.interrupts import poll, ticks
from cepheid.kernels.loops.linked.count import count_below
from cepheid.kernels.loops.linked.difference_pointers import latest_different, newest_different
from cepheid.kernels.loops.linked.enumerate import emit_chain, read_values
from cepheid.kernels.loops.linked.index import newest, wait
from cepheid.kernels.loops.linked.layout import (
    C_MAX,
    I_CELL,
    META_BITS,
    NEVER,
    V_CODES,
    V_FROM,
    V_LATEST,
    V_META,
    V_PARTITION,
    V_ROW,
    V_VIA,
    VIA_BITS,
    Moves,
    Shape,
)
from cepheid.kernels.memory.big_integers import add, add_to
from cepheid.kernels.memory.status import (
    DONE,
    MORE_HEAP,
    MORE_TRANSITIONS,
    MORE_WORDS,
)

TOP, USED = 0, 1  # in `meta`: the first free word of the heap, and how many slots are used


class ChainSpace(NamedTuple):
    """All that the loop keeps its state in."""

    heap: np.ndarray  # vertices
    slots: np.ndarray  # the index
    meta: np.ndarray  # words of the heap used, slots used
    born: np.ndarray  # [partition]: what is before is forgotten
    edges: np.ndarray  # [partition]: its last edge, for windows by position
    reached: np.ndarray  # [state]: whether its moves are known
    stack: np.ndarray
    total: np.ndarray  # a number: all matches


class Scratch(NamedTuple):
    """What one event is worked on in: the moves it fires, the values it must differ from, the matches it ends."""

    move: np.ndarray
    source: np.ndarray
    latest: np.ndarray
    values: np.ndarray
    number: np.ndarray


def scratch_for(moves: Moves, shape: Shape) -> Scratch:
    move, source, latest = np.empty((3, len(moves.reads) + 1), np.int64)
    number = np.zeros(max(shape.memo - 1, 1), np.int64)
    return Scratch(move, source, latest, np.zeros(64, np.int64), number)


@compiled
def chain(
    moves,
    shape,
    batch,
    begin,
    options,
    scratch,
    space,
    out,
):
    """Takes the events from `begin` on: a status and the event it stopped before."""
    heap, slots, meta, born, edges, reached, stack, total = space
    most = 0
    lists = 0
    for state in range(len(shape.size)):
        most = max(most, shape.size[state])
        lists = max(lists, shape.n_indices[state])
    most = max(most, V_CODES + shape.codes + shape.memo)
    fired_move, fired_from, fired_latest, values, event_count = scratch
    made = out.made[0]
    seen = ticks()
    for i in range(begin, len(batch.partition)):
        seen = poll(seen)
        if seen < 0:
            break
        klass = batch.klass[i]
        count = moves.n_moves[klass]
        if count == 0:
            continue
        top = meta[TOP]
        if top + (count + 1) * most > len(heap) or 4 * (meta[USED] + count * lists) > len(slots):
            return MORE_HEAP, i
        partition, edge = batch.partition[i], batch.edge[i]
        heap[top + V_ROW] = batch.row[i]
        heap[top + V_PARTITION] = partition
        for k in range(shape.codes):
            heap[top + V_CODES + k] = batch.codes[i, k]
        fired = 0
        matched = False
        known, head = -1, 0
        for move in range(moves.first[klass], moves.first[klass] + count):
            index, mask = moves.reads[move], moves.mask[move]
            latest, source = batch.start[i], 0
            if index >= 0:
                if index != known:
                    head = newest(heap, slots, born, shape, index, partition, top)
                    known = index
                if head == 0:
                    continue
                source = head
                latest = heap[head + shape.indices[index, I_CELL] + C_MAX]
                if latest < edge:
                    continue
                if mask != 0:
                    read_values(heap, shape, index, top, values)
                    source = newest_different(heap, shape, index, head, values, mask)
                    if source == 0:
                        continue
                    if options.windowed:
                        latest = heap[latest_different(heap, shape, index, head, values, mask) + V_LATEST]
                        if latest < edge:
                            continue
            target = moves.target[move]
            if target >= 0 and reached[target] == 0:
                return MORE_TRANSITIONS, i
            fired_move[fired] = move
            fired_from[fired] = source
            fired_latest[fired] = latest
            fired += 1
            matched |= moves.accepts[move] != 0
        if matched and options.report:
            after = made
            event_count[:] = 0
            for k in range(fired):
                move = fired_move[k]
                if moves.accepts[move] == 0:
                    continue
                heap[top + V_META] = moves.label[move]
                heap[top + V_FROM] = fired_from[k]
                heap[top + V_VIA] = moves.reads[move] | moves.mask[move] << VIA_BITS
                if options.counting:
                    heap[top + V_CODES + shape.codes] = NEVER
                    status = count_below(heap, shape, top, edge, values, stack)
                    if status == DONE:
                        at = top + V_CODES + shape.codes + 1
                        status = MORE_WORDS if add(event_count, 0, heap, at, shape.memo - 1) else DONE
                    if status != DONE:
                        return status, i
                elif after < options.limit:
                    status, after = emit_chain(heap, shape, top, edge, options, values, stack, after, out)
                    if status != DONE:
                        return status, i
            made = after
            out.made[0] = made
            if options.counting:
                add_to(total, event_count, 0, shape.memo - 1)
        if options.by_position:
            edges[partition] = edge
        if matched and options.consume:
            born[partition] = top
            continue
        for k in range(fired):
            move = fired_move[k]
            state = moves.target[move]
            if state < 0:
                continue
            vertex = meta[TOP]
            if vertex != top:
                heap[vertex + V_ROW] = batch.row[i]
                heap[vertex + V_PARTITION] = partition
                for j in range(shape.codes):
                    heap[vertex + V_CODES + j] = batch.codes[i, j]
            heap[vertex + V_META] = moves.label[move] | state << META_BITS
            heap[vertex + V_LATEST] = fired_latest[k]
            heap[vertex + V_FROM] = fired_from[k]
            heap[vertex + V_VIA] = moves.reads[move] | moves.mask[move] << VIA_BITS
            if shape.memo > 0:
                heap[vertex + V_CODES + shape.codes] = NEVER
            meta[TOP] = vertex + shape.size[state]
            meta[USED] += wait(heap, slots, born, shape, vertex, values)
    return DONE, len(batch.partition)
