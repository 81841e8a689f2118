"""Algorithm 1 of `partition-by-chain-cea`: one pass over the relevant events of all partitions, in stream order.

An event fires the transitions of its class. A transition looks up the list of partial matches with equal values; if
one of them differs where it must and began inside the window, the event is marked: it becomes a vertex whose
neighbourhood is that list as it is now. The matches of an accepting vertex are enumerated or counted at once; a vertex
that may continue enters the lists of its new state. An event costs a lookup per transition of its class and per list of
the states reached, whatever the number of keys and of partial matches.

An event is taken whole or not at all: the loop returns before it where there is no room, and is called again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepheid.kernels.compiled import compiled, inlined
from cepheid.kernels.interrupts import poll, ticks
from cepheid.kernels.loops.linked.count import count_below
from cepheid.kernels.loops.linked.difference_pointers import latest_different, newest_different
from cepheid.kernels.loops.linked.enumerate import emit_chain, read_values
from cepheid.kernels.loops.linked.index import enter_lists, newest
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
    ChainTables,
)
from cepheid.kernels.matches.output import ROOTS, put_root
from cepheid.kernels.memory.big_integers import add, add_to
from cepheid.kernels.memory.status import (
    BEYOND_LIMIT,
    DONE,
    MORE_HEAP,
    MORE_TRANSITIONS,
    MORE_WORDS,
)

TOP, USED = 0, 1  # in `meta`: the first free word of the heap, and how many slots are used


class Scratch(NamedTuple):
    """What one event is worked on in: the transitions it fires, the values it must differ from, the matches it ends."""

    transition: np.ndarray
    source: np.ndarray
    latest: np.ndarray
    values: np.ndarray
    number: np.ndarray


class ChainSpace(NamedTuple):
    """All that the loop keeps its state in."""

    heap: np.ndarray  # vertices
    slots: np.ndarray  # the index
    meta: np.ndarray  # words of the heap used, slots used
    born: np.ndarray  # [partition]: what is before is forgotten
    edges: np.ndarray  # [partition]: its last edge, for windows by position
    reached: np.ndarray  # [state]: whether its transitions are known
    stack: np.ndarray
    total: np.ndarray  # a number: all matches
    scratch: Scratch


class ChainEvent(NamedTuple):
    """The event at hand, read once."""

    i: int  # its number in the batch
    partition: int
    klass: int
    edge: int
    top: int  # the vertex it is staged in: the first free word of the heap


def scratch_for(tables: ChainTables) -> Scratch:
    transition, source, latest = np.empty((3, len(tables.transitions.reads) + 1), np.int64)
    number = np.zeros(max(tables.shape.memo - 1, 1), np.int64)
    return Scratch(transition, source, latest, np.zeros(64, np.int64), number)


@compiled
def chain(tables, batch, begin, options, space, out):
    """Takes the events from `begin` on: a status and the event it stopped before."""
    transitions, shape = tables
    most = V_CODES + shape.codes + shape.memo
    lists = 0
    for state in range(len(shape.size)):
        most = max(most, shape.size[state])
        lists = max(lists, shape.n_indices[state])
    seen = ticks()
    for i in range(begin, len(batch.partition)):
        seen = poll(seen)
        if seen < 0:
            break
        klass, top = batch.klass[i], space.meta[TOP]
        count = transitions.how_many[klass]
        if count == 0:
            continue
        if top + (count + 1) * most > len(space.heap) or 4 * (space.meta[USED] + count * lists) > len(
            space.slots
        ):
            return MORE_HEAP, i
        event = ChainEvent(i=i, partition=batch.partition[i], klass=klass, edge=batch.edge[i], top=top)
        stage(shape, batch, event, space, top)
        status, fired, matched = fire(tables, batch, event, options, space)
        if status == DONE and matched and options.report:
            status = end_here(tables, event, options, space, fired, out)
        if status != DONE:
            return status, i
        if options.by_position:
            space.edges[event.partition] = event.edge
        if matched and options.consume:
            space.born[event.partition] = top
        else:
            go_on(tables, batch, event, space, fired)
    return DONE, len(batch.partition)


@inlined
def stage(shape, batch, event, space, vertex):
    """Writes what all vertices of an event have in common."""
    space.heap[vertex + V_ROW] = batch.row[event.i]
    space.heap[vertex + V_PARTITION] = event.partition
    for k in range(shape.codes):
        space.heap[vertex + V_CODES + k] = batch.codes[event.i, k]


@inlined
def fire(tables, batch, event, options, space):
    """Notes the transitions that find partial matches inside the window: a status, how many there are, whether one of
    them accepts."""
    transitions, shape, heap, scratch = tables.transitions, tables.shape, space.heap, space.scratch
    top, edge, values = event.top, event.edge, scratch.values
    fired = 0
    matched = False
    known, head = -1, 0
    first = transitions.first[event.klass]
    for transition in range(first, first + transitions.how_many[event.klass]):
        index, mask = transitions.reads[transition], transitions.mask[transition]
        latest, source = batch.start[event.i], 0
        if index >= 0:
            if index != known:
                head = newest(heap, space.slots, space.born, shape, index, event.partition, top)
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
        target = transitions.target[transition]
        if target >= 0 and space.reached[target] == 0:
            return MORE_TRANSITIONS, fired, matched
        scratch.transition[fired] = transition
        scratch.source[fired] = source
        scratch.latest[fired] = latest
        fired += 1
        matched |= transitions.accepts[transition] != 0
    return DONE, fired, matched


@inlined
def set_transition(transitions, heap, vertex, transition, source):
    """Writes by which transition a vertex was made, and from where."""
    heap[vertex + V_META] = transitions.label[transition]
    heap[vertex + V_FROM] = source
    heap[vertex + V_VIA] = transitions.reads[transition] | transitions.mask[transition] << VIA_BITS


@inlined
def end_here(tables, event, options, space, fired, out):
    """Counts or writes the matches that the accepting transitions complete: a status."""
    transitions, shape, heap, scratch = tables.transitions, tables.shape, space.heap, space.scratch
    top, count = event.top, event.top + V_CODES + shape.codes
    made = out.made[0]
    scratch.number[:] = 0
    for k in range(fired):
        transition = scratch.transition[k]
        if transitions.accepts[transition] == 0:
            continue
        set_transition(transitions, heap, top, transition, scratch.source[k])
        status = DONE
        if options.counting:
            heap[count] = NEVER
            status = count_below(heap, shape, top, event.edge, scratch.values, space.stack)
            if status == DONE and add(scratch.number, 0, heap, count + 1, shape.memo - 1):
                status = MORE_WORDS
        elif options.limit == ROOTS:
            status, made = put_root(
                transitions.label[transition], heap[top + V_FROM], heap[top + V_VIA], made, out
            )
        elif out.made[0] < options.limit:
            status, made = emit_chain(
                heap, shape, top, event.edge, options, scratch.values, space.stack, made, out
            )
        if status != DONE:
            return status
    out.made[0] = made
    if options.limit == ROOTS:
        return BEYOND_LIMIT
    if options.counting:
        add_to(space.total, scratch.number, 0, shape.memo - 1)
    return DONE


@inlined
def go_on(tables, batch, event, space, fired):
    """Makes a vertex for each transition that leads to a state, and enters it into the lists of that state."""
    transitions, shape, heap, scratch = tables.transitions, tables.shape, space.heap, space.scratch
    for k in range(fired):
        transition = scratch.transition[k]
        state = transitions.target[transition]
        if state < 0:
            continue
        vertex = space.meta[TOP]
        if vertex != event.top:
            stage(shape, batch, event, space, vertex)
        set_transition(transitions, heap, vertex, transition, scratch.source[k])
        heap[vertex + V_META] |= state << META_BITS
        heap[vertex + V_LATEST] = scratch.latest[k]
        if shape.memo > 0:
            heap[vertex + V_CODES + shape.codes] = NEVER
        space.meta[TOP] = vertex + shape.size[state]
        space.meta[USED] += enter_lists(heap, space.slots, space.born, shape, vertex, scratch.values)
