"""The loop over events for patterns whose conditions compare events: slots move, nothing is cloned.

Per event only the regions with a state that takes notice of its class are visited, and of their slots only states that
hold partial matches ask their tests. Everything an event does to a slot is worked out from what the slot held before
it: first the matches that end here, which changes nothing and can be done again after more room was made; then the
moves. Slots that an event makes or that it empties are sorted out when it is done, so that a slot's number holds while
one event is worked on.
"""

from __future__ import annotations

from cepheid.kernels.compiled import compiled
from cepheid.kernels.interrupts import poll, ticks
from cepheid.kernels.loops.registers.capacity import is_short, is_short_of_nodes, room_for_any, room_for_one
from cepheid.kernels.loops.registers.ends import ending
from cepheid.kernels.loops.registers.layout import (
    B_AT,
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
    NOWHERE,
    R_SLOT,
    R_START,
    R_WORDS,
    S_ORDINAL,
    S_START,
    STAMP,
    STAY,
)
from cepheid.kernels.loops.registers.merge import forget_all, meet, now_at
from cepheid.kernels.loops.registers.slots import base_slot, other_slot, purge, ring_entry, settle_blocks
from cepheid.kernels.loops.registers.transitions import bits_of, leave, move_in_order
from cepheid.kernels.matches.nodes import BEGIN, JOIN, LABEL_BITS, node
from cepheid.kernels.memory.big_integers import add, add_to, is_zero
from cepheid.kernels.memory.status import (
    DONE,
    MORE_HEAP,
    MORE_NODES,
    MORE_WORDS,
)


@compiled
def configurations(
    moves,
    layout,
    program,
    batch,
    begin,
    options,
    heap,
    meta,
    partitions,
    nodes,
    index,
    made_here,
    work,
    total,
    stack,
    out,
):
    """Works on the events from `begin` on: why it returned, and the event it stopped before."""
    regions = len(layout.size)
    words = layout.words
    scratch, rows, before, kept, event_count, one, at = work
    made, widest = out.made[0], 0
    for region in range(regions):
        widest = max(widest, layout.size[region])
    seen = ticks()
    for i in range(begin, len(batch.partition)):
        seen = poll(seen)
        if seen < 0:
            break
        partition, klass, edge = batch.partition[i], batch.klass[i], batch.edge[i]
        room_for_any(moves, partitions, partition, klass, widest, meta)
        if is_short(meta, heap, made_here, index) or is_short_of_nodes(meta, nodes, options.counting):
            room_for_one(moves, layout, partitions, partition, klass, meta)
            if is_short(meta, heap, made_here, index):
                return MORE_HEAP, i
            if is_short_of_nodes(meta, nodes, options.counting):
                return MORE_NODES, i
        for w in range(words + 1):
            event_count[w] = 0
        matched, status, made = ending(
            moves,
            layout,
            program,
            options,
            batch,
            i,
            heap,
            partitions,
            nodes,
            index,
            at,
            one,
            event_count,
            stack,
            made,
            out,
        )
        if status != DONE:
            return status, i
        out.made[0] = made
        if matched and options.counting and options.report:
            add_to(total, event_count, 0, words)
        partitions[partition, L_EDGE] = edge
        if matched and options.consume:
            partitions[partition, L_ROOT] = 0
            partitions[partition, L_HI] = partitions[partition, L_HI] if options.windowed else 0
            partitions[partition, L_LO] = partitions[partition, L_HI]
            partitions[partition, L_SLOTS] = 0
            for region in range(regions):
                forget_all(index, heap, partition, partitions, layout, region)
                partitions[partition, L_BLOCKS + region * B_WORDS + B_COUNT] = 0
            continue
        meta[STAMP] += 1
        large = False
        if options.windowed:
            ring, cap = partitions[partition, L_RING], partitions[partition, L_RING_CAP]
            while (
                partitions[partition, L_LO] < partitions[partition, L_HI]
                and heap[ring + (partitions[partition, L_LO] & (cap - 1)) * R_WORDS + R_START] < edge
            ):
                partitions[partition, L_LO] += 1
        elif partitions[partition, L_HI] == 0:
            ring_entry(heap, meta, partition, partitions, 0)
        changed = False
        for region in range(regions):
            before[region] = partitions[partition, L_BLOCKS + region * B_WORDS + B_COUNT]
            kept[region] = before[region]
        for region in range(regions):
            if moves.in_order[region, klass]:
                longer = move_in_order(
                    moves,
                    layout,
                    program,
                    options,
                    batch,
                    i,
                    heap,
                    partitions,
                    nodes,
                    meta,
                    index,
                    made_here,
                    before[region],
                    region,
                    at,
                )
                large |= longer
                continue
            if moves.reacting[region, klass, 0] < 0:
                continue
            block, size = L_BLOCKS + region * B_WORDS, layout.size[region]
            states, numbers = layout.states[region], layout.numbers[region]
            for k in range(before[region] - 1, -1, -1):
                slot = partitions[partition, block + B_AT] + k * size
                dead = options.windowed and heap[slot + S_START] < edge
                if not dead:
                    moving = 0
                    for j in range(moves.reacting.shape[2]):
                        state = moves.reacting[region, klass, j]
                        if state < 0:
                            break
                        rows[j] = -1
                        if is_zero(heap, slot + layout.value[state], words):
                            continue
                        choice = moves.choice[state, klass]
                        row = moves.row_first[choice] + bits_of(
                            moves, options, program, batch, i, heap, slot, choice, at
                        )
                        if not moves.idle[row]:
                            rows[j] = row
                            moving += 1
                    if moving == 0:
                        continue
                    for w in range(states * words):
                        scratch[w] = heap[slot + numbers + w]
                    for j in range(moves.reacting.shape[2]):
                        state = moves.reacting[region, klass, j]
                        if state < 0:
                            break
                        if rows[j] >= 0:
                            skip = moves.skip[rows[j]]
                            if (
                                skip == NOWHERE
                                or moves.goal_state[skip] != state
                                or moves.goal_place[skip] != STAY
                            ):
                                for w in range(words):
                                    scratch[layout.number[state] * words + w] = 0
                    for j in range(moves.reacting.shape[2]):
                        state = moves.reacting[region, klass, j]
                        if state < 0:
                            break
                        row = rows[j]
                        if row < 0:
                            continue
                        value = slot + layout.value[state]
                        first, last = moves.mark_first[row], moves.mark_first[row + 1]
                        for move in range(first - 1, last):
                            marking = move >= first
                            goal = moves.goal[move] if marking else moves.skip[row]
                            if goal == NOWHERE:
                                continue
                            reached = moves.goal_state[goal]
                            place = moves.goal_place[goal]
                            if not marking and place == STAY and reached == state:
                                continue
                            if place == STAY:
                                to = layout.number[reached] * words
                                if options.counting:
                                    large |= add(scratch, to, heap, value, words)
                                elif marking:
                                    event = batch.row[i] << LABEL_BITS | moves.label[move]
                                    scratch[to] = node(nodes, meta, event, heap[value], scratch[to])
                                elif scratch[to] == 0:
                                    scratch[to] = heap[value]
                                else:
                                    scratch[to] = node(nodes, meta, JOIN, heap[value], scratch[to])
                                continue
                            goes = leave(
                                moves,
                                layout,
                                options,
                                batch,
                                i,
                                heap,
                                partitions,
                                meta,
                                index,
                                made_here,
                                slot,
                                goal,
                            )
                            slot = (
                                partitions[partition, block + B_AT] + k * size
                            )  # its own block may have been moved
                            value = slot + layout.value[state]
                            to = goes + layout.value[reached]
                            if options.counting:
                                large |= add(heap, to, heap, value, words)
                            elif marking:
                                event = batch.row[i] << LABEL_BITS | moves.label[move]
                                heap[to] = node(nodes, meta, event, heap[value], heap[to])
                            elif heap[to] == 0:
                                heap[to] = heap[value]
                            else:
                                heap[to] = node(nodes, meta, JOIN, heap[value], heap[to])
                    dead = True
                    for w in range(states * words):
                        heap[slot + numbers + w] = scratch[w]
                        if scratch[w] != 0:
                            dead = False
                if dead:
                    changed = True
                    now_at(index, heap, slot, NOWHERE)
                    if region == 0 and heap[slot + S_ORDINAL] >= partitions[partition, L_LO]:
                        entry = (heap[slot + S_ORDINAL] & (partitions[partition, L_RING_CAP] - 1)) * R_WORDS
                        heap[partitions[partition, L_RING] + entry + R_SLOT] = NOWHERE
                    kept[region] -= 1
                    source = partitions[partition, block + B_AT] + kept[region] * size
                    if source != slot:
                        for w in range(size):
                            heap[slot + w] = heap[source + w]
                        now_at(index, heap, slot, k)
                        if region == 0:
                            entry = (
                                heap[slot + S_ORDINAL] & (partitions[partition, L_RING_CAP] - 1)
                            ) * R_WORDS
                            heap[partitions[partition, L_RING] + entry + R_SLOT] = k
        root = partitions[partition, L_ROOT]
        choice = moves.choice[root, klass]
        if choice >= 0:
            row = moves.row_first[choice]
            partitions[partition, L_ROOT] = moves.goal_state[moves.skip[row]]
            began = NOWHERE
            for mark in range(moves.mark_first[row], moves.mark_first[row + 1]):
                goal = moves.goal[mark]
                if goal == NOWHERE:
                    continue
                reached = moves.goal_state[goal]
                region = layout.region[reached]
                if moves.goal_place[goal] == BASE:
                    if began == NOWHERE:
                        began = (
                            ring_entry(heap, meta, partition, partitions, batch.start[i])
                            if options.windowed
                            else 0
                        )
                    goes = base_slot(
                        heap, meta, partition, partitions, layout, index, batch, options, i, began, -1
                    )
                else:
                    goes = other_slot(
                        heap,
                        meta,
                        partition,
                        partitions,
                        layout,
                        index,
                        moves,
                        batch,
                        options,
                        i,
                        goal,
                        region,
                        0,
                        0,
                        -1,
                        made_here,
                    )
                to = goes + layout.value[reached]
                if options.counting:
                    large |= add(heap, to, one, 0, words)
                else:
                    event = batch.row[i] << LABEL_BITS | moves.label[mark]
                    heap[to] = node(nodes, meta, event, BEGIN, heap[to])
        for region in range(1, regions):
            if partitions[partition, L_BLOCKS + region * B_WORDS + B_COUNT] != before[region]:
                large |= meet(
                    heap,
                    nodes,
                    meta,
                    partition,
                    partitions,
                    layout,
                    index,
                    options.counting,
                    region,
                    before[region],
                )
        if changed:
            settle_blocks(heap, partition, partitions, layout, index, kept, before)
        for region in range(regions):
            block = L_BLOCKS + region * B_WORDS
            if partitions[partition, block + B_GONE] > 4 + partitions[partition, block + B_COUNT] // 2:
                purge(heap, partition, partitions, layout, index, region, edge)
        if large:
            return MORE_WORDS, i + 1
    return DONE, len(batch.partition)
