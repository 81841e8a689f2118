"""The loop over events for patterns whose conditions compare events: slots change, nothing is cloned.

Per event only the regions with a state that takes notice of its class are visited, and of their slots only states that
hold partial matches ask their tests. Everything an event does to a slot is worked out from what the slot held before
it: first the matches that end here, which changes nothing and can be done again after more room was made; then the
transitions. Slots that an event makes or that it empties are sorted out when it is done, so that a slot's number holds
while one event is worked on.
"""

from __future__ import annotations

from cepheid.kernels.compiled import compiled, inlined
from cepheid.kernels.interrupts import poll, ticks
from cepheid.kernels.loops.registers.capacity import lacking
from cepheid.kernels.loops.registers.ends import end_here
from cepheid.kernels.loops.registers.layout import (
    B_COUNT,
    B_GONE,
    B_WORDS,
    BASE,
    L_BLOCKS,
    L_EDGE,
    L_HI,
    L_LO,
    L_RING,
    L_RING_CAP,
    L_ROOT,
    L_SLOTS,
    NEVER,
    NOWHERE,
    R_START,
    R_WORDS,
    STAMP,
    Event,
)
from cepheid.kernels.loops.registers.merge import forget_all, meet
from cepheid.kernels.loops.registers.slots import base_slot, other_slot, purge, ring_entry, settle_blocks
from cepheid.kernels.loops.registers.transitions import extend, follow_in_order, follow_in_scratch
from cepheid.kernels.matches.nodes import LABEL_BITS
from cepheid.kernels.memory.status import DONE, MORE_WORDS


@compiled
def configurations(tables, batch, begin, options, space, out):
    """Works on the events from `begin` on: why it returned, the event it stopped before."""
    layout = tables.layout
    widest = 0
    for region in range(len(layout.size)):
        widest = max(widest, layout.size[region])
    seen = ticks()
    for i in range(begin, len(batch.partition)):
        seen = poll(seen)
        if seen < 0:
            break
        event = Event(
            i=i,
            partition=batch.partition[i],
            klass=batch.klass[i],
            edge=batch.edge[i] if options.windowed else NEVER,
            row=batch.row[i],
        )
        status = lacking(tables, event, options, space, widest)
        if status != DONE:
            return status, i
        status, matched = end_here(tables, batch, event, options, space, out)
        if status != DONE:
            return status, i
        space.partitions[event.partition, L_EDGE] = batch.edge[i]
        if matched and options.consume:
            consume(layout, options, space, event.partition)
            continue
        expire(options, space, event.partition, event.edge)
        large = follow(tables, batch, event, options, space)
        large |= begin_here(tables, batch, event, options, space)
        large |= settle(layout, options, space, event.partition, event.edge)
        if large:
            return MORE_WORDS, i + 1
    return DONE, len(batch.partition)


@inlined
def consume(layout, options, space, partition):
    """After a match that uses up its events the partition begins anew."""
    partitions = space.partitions
    partitions[partition, L_ROOT] = 0
    partitions[partition, L_HI] = partitions[partition, L_HI] if options.windowed else 0
    partitions[partition, L_LO] = partitions[partition, L_HI]
    partitions[partition, L_SLOTS] = 0
    for region in range(len(layout.size)):
        forget_all(space.cells, space.heap, partition, partitions, layout, region)
        partitions[partition, L_BLOCKS + region * B_WORDS + B_COUNT] = 0


@inlined
def expire(options, space, partition, edge):
    """Starts before the edge are over; without a window there is one start, which never is."""
    heap, partitions = space.heap, space.partitions
    if options.windowed:
        ring, mask = partitions[partition, L_RING], partitions[partition, L_RING_CAP] - 1
        while (
            partitions[partition, L_LO] < partitions[partition, L_HI]
            and heap[ring + (partitions[partition, L_LO] & mask) * R_WORDS + R_START] < edge
        ):
            partitions[partition, L_LO] += 1
    elif partitions[partition, L_HI] == 0:
        ring_entry(heap, space.meta, partition, partitions, 0)


@inlined
def follow(tables, batch, event, options, space):
    """Takes the transitions of all slots: whether a number has become large."""
    transitions, work = tables.transitions, space.work
    partition, klass = event.partition, event.klass
    space.meta[STAMP] += 1
    for region in range(len(work.before)):
        work.before[region] = space.partitions[partition, L_BLOCKS + region * B_WORDS + B_COUNT]
        work.kept[region] = work.before[region]
    large = False
    for region in range(len(work.before)):
        if transitions.in_order[region, klass]:
            large |= follow_in_order(tables, batch, event, options, space, region)
        elif transitions.reacting[region, klass, 0] >= 0:
            large |= follow_in_scratch(tables, batch, event, options, space, region)
    return large


@inlined
def begin_here(tables, batch, event, options, space):
    """The partial matches that begin with an event: whether a number has become large."""
    transitions, layout, partitions = tables.transitions, tables.layout, space.partitions
    partition, goals = event.partition, tables.transitions.goals
    choice = transitions.choice[partitions[partition, L_ROOT], event.klass]
    if choice < 0:
        return False
    row = transitions.row_first[choice]
    partitions[partition, L_ROOT] = goals.state[transitions.skip[row]]
    ordinal, large = NOWHERE, False
    for mark in range(transitions.mark_first[row], transitions.mark_first[row + 1]):
        goal = transitions.goal[mark]
        if goal == NOWHERE:
            continue
        if goals.place[goal] == BASE:
            if ordinal == NOWHERE:
                ordinal = 0
                if options.windowed:
                    ordinal = ring_entry(space.heap, space.meta, partition, partitions, batch.start[event.i])
            goes = base_slot(layout, batch, event, options, space, ordinal, -1)
        else:
            goes = other_slot(goals, layout, batch, event, options, space, goal, -1)
        to, marked = (
            goes + layout.value[goals.state[goal]],
            event.row << LABEL_BITS | transitions.label[mark],
        )
        large |= extend(space, options.counting, layout.words, space.heap, to, space.work.first, 0, marked)
    return large


@inlined
def settle(layout, options, space, partition, edge):
    """Slots made by the event meet those they agree with, gaps are closed, and what has left the window is dropped
    where it is much: whether a number has become large."""
    heap, index, partitions = space.heap, space.cells, space.partitions
    before, kept = space.work.before, space.work.kept
    large, has_gaps = False, kept[0] != before[0]
    for region in range(1, len(before)):
        has_gaps |= kept[region] != before[region]
        if partitions[partition, L_BLOCKS + region * B_WORDS + B_COUNT] != before[region]:
            large |= meet(layout, space, partition, options.counting, region)
    if has_gaps:
        settle_blocks(heap, partition, partitions, layout, index, kept, before)
    for region in range(len(before)):
        block = L_BLOCKS + region * B_WORDS
        if partitions[partition, block + B_GONE] > 4 + partitions[partition, block + B_COUNT] // 2:
            purge(heap, partition, partitions, layout, index, region, edge)
    return large
