"""The loop over events where matches are counted by vectors of starts (see `layout`).

Per event: starts leave the window, matches end, transitions are followed, a match may begin. Nothing of an event is
done before it is known that there is room for all of it, so that whoever makes room goes on with that event.
"""

from __future__ import annotations

from cepheid.kernels.compiled import compiled, inlined
from cepheid.kernels.interrupts import poll, ticks
from cepheid.kernels.loops.registers.layout import I_WORDS
from cepheid.kernels.loops.vectors.layout import (
    B_COUNT,
    B_GONE,
    B_WORDS,
    C_BASE,
    C_BLOCKS,
    C_EDGE,
    C_HELD,
    C_HI,
    C_LO,
    C_ROOM,
    C_ROOT,
    C_SLOTS,
    CELLS,
    NEED,
    NEED_CELLS,
    V_WORDS,
    WIDEST,
)
from cepheid.kernels.loops.vectors.slots import FEWEST_PLACES, drop_slots, move_places
from cepheid.kernels.loops.vectors.transitions import (
    begin_here,
    end_here,
    follow_slots,
    follow_starts,
    leave_empty,
    leave_window,
    settle,
)
from cepheid.kernels.memory.big_integers import add_to
from cepheid.kernels.memory.heap import room_for
from cepheid.kernels.memory.status import DONE, MORE_CELLS, MORE_HEAP, MORE_PLACES, MORE_WORDS


@inlined
def room_needed(transitions, turns, layout, partitions, partition, klass, widest_slot, meta):
    """Writes to `meta` the most that an event can need: whether places must be moved before it.

    Then there may be twice as many. What a vector holds comes to some others: there each time to a block as large as
    its own, and what comes may wait beside it first. Any vector may become one word longer: its block twice as large.
    """
    needs_place = transitions.choice[partitions[partition, C_ROOT], klass] >= 0
    is_full = (
        needs_place
        and partitions[partition, C_HI] - partitions[partition, C_BASE] == partitions[partition, C_ROOM]
    )
    held, room, words = partitions[partition, C_HELD], partitions[partition, C_ROOM], 1
    if is_full:
        held, room = 2 * held, 2 * room + FEWEST_PLACES
        words += held + room_for(room * layout.numbers[0])
    slots = partitions[partition, C_SLOTS]
    made = slots * turns.makes[klass, 1] + turns.makes[klass, 0] + 1
    words += (2 + 6 * turns.goals[klass]) * held + layout.states[0] * room_for(room)
    meta[NEED] = words + 2 * room_for(2 * (slots + 1 + made) * widest_slot)
    meta[NEED_CELLS] = 2 * made
    return is_full


@compiled
def count_events(tables, batch, begin, options, space):
    """Works on the events from `begin` on: why it returned, the event it stopped before."""
    transitions, turns, layout, program = tables
    heap, meta, partitions = space.heap, space.meta, space.partitions
    widest_slot = 0
    for region in range(len(layout.size)):
        widest_slot = max(widest_slot, layout.size[region])
    seen = ticks()
    for i in range(begin, len(batch.partition)):
        seen = poll(seen)
        if seen < 0:
            break
        partition, klass = batch.partition[i], batch.klass[i]
        is_full = room_needed(transitions, turns, layout, partitions, partition, klass, widest_slot, meta)
        if meta[0] + meta[NEED] > len(heap):
            return MORE_HEAP, i
        if 2 * I_WORDS * (meta[CELLS] + meta[NEED_CELLS]) > len(space.cells):
            return MORE_CELLS, i
        if 2 * partitions[partition, C_ROOM] + FEWEST_PLACES > len(space.mask):
            return MORE_PLACES, i
        if meta[WIDEST] + 8 > len(space.sums):
            return MORE_WORDS, i
        partitions[partition, C_EDGE] = batch.edge[i]
        leave_window(heap, partitions, partition, layout, batch.edge[i])
        if is_full:
            move_places(heap, meta, partitions, partition, layout)
        if end_here(transitions, layout, options, program, batch, i, space):
            if options.report:
                add_to(space.total, space.sums, 0, meta[WIDEST] + 1)
            if options.consume:
                partitions[partition, C_ROOT] = 0
                partitions[partition, C_LO] = partitions[partition, C_HI]
                continue
        if partitions[partition, C_LO] < partitions[partition, C_HI]:
            comes = 0 if turns.in_place[klass] else V_WORDS
            for j in range(turns.states.shape[1]):
                state = turns.states[klass, j]
                if state < 0:
                    break
                region = layout.region[state]
                if region == 0:
                    follow_starts(transitions, layout, options, program, batch, i, space, state, comes)
                else:
                    follow_slots(transitions, layout, options, program, batch, i, space, region, state, comes)
            if comes != 0:
                settle(layout, space, partition)
                leave_empty(layout, space, partition)
        begin_here(transitions, layout, options, batch, i, space)
        for region in range(1, len(layout.size)):
            block = C_BLOCKS + region * B_WORDS
            if partitions[partition, block + B_GONE] > 4 + partitions[partition, block + B_COUNT] // 2:
                drop_slots(heap, meta, partitions, partition, layout, space.cells, region)
    return DONE, len(batch.partition)
