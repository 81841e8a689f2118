"""The most that one event can need of each array, worked out before anything is changed.

In: how many slots a partition has by region, and the tables of what one of them can do on a class of events
(`TransitionTables.creates`, `.extends`). Out, in `meta`: words of the heap, slots made, nodes; first from the
most that any slot can do, which mostly is enough to see that there is room, then region by region. Invariant: with that
much room no event writes beyond an array, whatever its tests say.
"""

from __future__ import annotations

from cepheid.kernels.compiled import inlined
from cepheid.kernels.loops.registers.layout import (
    B_CAP,
    B_COUNT,
    B_WORDS,
    CELLS,
    I_WORDS,
    L_BLOCKS,
    L_HI,
    L_LO,
    L_RING_CAP,
    L_SLOTS,
    NEED,
    NEED_NODES,
    NEED_SLOTS,
    R_WORDS,
    TOP,
)
from cepheid.kernels.matches.nodes import N_WORDS, NODES
from cepheid.kernels.memory.status import DONE, MORE_HEAP, MORE_NODES


@inlined
def room_for_any(transitions, partitions, partition, klass, widest, meta):
    """As `room_for_one`, never less, and soon done. `widest`: the words of the largest slot."""
    slots, starts = partitions[partition, L_SLOTS], partitions[partition, L_HI] - partitions[partition, L_LO]
    made = (slots + 1) * transitions.most[klass, 0]
    words = 4 * (starts + 1) * R_WORDS + 4 * (slots + made) * widest
    meta[NEED] = words
    meta[NEED_SLOTS] = made
    meta[NEED_NODES] = (slots + 1) * transitions.most[klass, 1]


@inlined
def is_short(meta, heap, made_here, index):
    """Whether there are fewer words, or cells for slots, than needed."""
    slots = 2 * (meta[NEED_SLOTS] + 1)
    return (
        meta[TOP] + meta[NEED] > len(heap)
        or 3 * slots > len(made_here)
        or 2 * I_WORDS * (meta[CELLS] + slots) > len(index)
    )


@inlined
def is_short_of_nodes(meta, nodes, counting):
    return not counting and (meta[NODES] + meta[NEED_NODES]) * N_WORDS > len(nodes)


@inlined
def room_for_one(transitions, layout, partitions, partition, klass, meta):
    """Writes to `meta` what an event of a class needs at most in a partition as it is."""
    regions = len(layout.size)
    starts, cap = partitions[partition, L_HI] - partitions[partition, L_LO], partitions[partition, L_RING_CAP]
    words, slots = 0, 0
    if starts + 1 > cap:
        words += max(2 * cap, 2) * R_WORDS
    nodes = transitions.extends[klass, regions]
    for region in range(regions):
        nodes += (
            partitions[partition, L_BLOCKS + region * B_WORDS + B_COUNT] * transitions.extends[klass, region]
        )
    for target in range(regions):
        made = transitions.creates[klass, regions, target]
        for source in range(regions):
            count = partitions[partition, L_BLOCKS + source * B_WORDS + B_COUNT]
            made += count * transitions.creates[klass, source, target]
        if target == 0:
            made = min(made, starts + 1)  # one per start
        block = L_BLOCKS + target * B_WORDS
        count = partitions[partition, block + B_COUNT] + made
        if count > partitions[partition, block + B_CAP]:
            # A block that is doubled until it is less than twice as large as needed takes less than four times that.
            words += 4 * count * layout.size[target]
        slots += made
    meta[NEED] = words
    meta[NEED_SLOTS] = slots
    meta[NEED_NODES] = nodes


@inlined
def lacking(tables, event, options, space, widest):
    """MORE_HEAP or MORE_NODES where an event may need more than there is, else DONE."""
    transitions, partitions, meta = tables.transitions, space.partitions, space.meta
    partition, klass = event.partition, event.klass
    room_for_any(transitions, partitions, partition, klass, widest, meta)
    if is_short(meta, space.heap, space.made, space.cells) or is_short_of_nodes(
        meta, space.nodes, options.counting
    ):
        room_for_one(transitions, tables.layout, partitions, partition, klass, meta)
        if is_short(meta, space.heap, space.made, space.cells):
            return MORE_HEAP
        if is_short_of_nodes(meta, space.nodes, options.counting):
            return MORE_NODES
    return DONE
