"""What an event does to slots: the tests it asks, and moves in place, in an order that makes that safe."""

from __future__ import annotations

from cepheid.kernels.compiled import inner, inner_inlined
from cepheid.kernels.conditions.programs import holds
from cepheid.kernels.loops.registers.index import newest
from cepheid.kernels.loops.registers.layout import (
    B_AT,
    B_GONE,
    B_WORDS,
    BASE,
    L_BLOCKS,
    NOWHERE,
    S_NEXT,
    S_ORDINAL,
    S_START,
    STAY,
)
from cepheid.kernels.loops.registers.slots import base_slot, other_slot
from cepheid.kernels.matches.nodes import LABEL_BITS, node
from cepheid.kernels.memory.big_integers import add, is_zero


@inner_inlined
def bits_of(moves, options, program, batch, i, heap, slot, choice, at):
    """Which of the tests that a choice asks hold, a bit each."""
    bits = 0
    first = moves.asked_first[choice]
    for j in range(first, moves.asked_first[choice + 1]):
        test = moves.asked_test[j]
        if test < options.tests:
            for r in range(len(at)):
                at[r] = slot + moves.asked_columns[j, r]
            passed = holds(program, test, batch.words, i, heap, at, 1)
        else:
            window = test - options.tests
            of = slot + moves.asked_columns[j, 0] + options.record
            stored = heap[of + 1] if options.nested_by_position[window] else heap[of]
            passed = stored >= batch.nested[i, window]
        if passed:
            bits |= 1 << (j - first)
    return bits


@inner
def leave(moves, layout, options, batch, i, heap, partitions, meta, index, made_here, slot, goal):
    """The address of the slot that a goal leads to from another."""
    partition, ordinal, start = batch.partition[i], heap[slot + S_ORDINAL], heap[slot + S_START]
    if moves.goal_place[goal] == BASE:
        return base_slot(heap, meta, partition, partitions, layout, index, batch, options, i, ordinal, slot)
    region = layout.region[moves.goal_state[goal]]
    return other_slot(
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
        ordinal,
        start,
        slot,
        made_here,
    )


@inner_inlined
def move_in_order(
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
    count,
    region,
    at,
):
    """Marks where the order of the states makes it safe to do so in place, in the first `count` slots of a region:
    whether a number has become large."""
    partition, klass, edge = batch.partition[i], batch.klass[i], batch.edge[i]
    block, size = L_BLOCKS + region * B_WORDS, layout.size[region]
    large = False
    equals = moves.equals[region, klass]
    k = 0
    if equals >= 0:
        k = newest(index, partition * len(layout.size) + region + 1, batch.words[i, equals])
    while k >= 0 and (equals >= 0 or k < count):
        slot = partitions[partition, block + B_AT] + k * size
        if k >= count:
            pass  # made by this event
        elif options.windowed and heap[slot + S_START] < edge:
            partitions[partition, block + B_GONE] += 1
            if equals >= 0 and region == 0:
                break  # those before it began even earlier
        else:
            for j in range(moves.reacting.shape[2]):
                state = moves.reacting[region, klass, j]
                if state < 0:
                    break
                value = slot + layout.value[state]
                if is_zero(heap, value, layout.words):
                    continue
                choice = moves.choice[state, klass]
                row = moves.row_first[choice] + bits_of(
                    moves, options, program, batch, i, heap, slot, choice, at
                )
                for mark in range(moves.mark_first[row], moves.mark_first[row + 1]):
                    goal = moves.goal[mark]
                    if goal == NOWHERE:
                        continue
                    reached = moves.goal_state[goal]
                    if moves.goal_place[goal] == STAY:
                        to = slot + layout.value[reached]
                    else:
                        to = layout.value[reached] + leave(
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
                    if options.counting:
                        large |= add(heap, to, heap, value, layout.words)
                    else:
                        event = batch.row[i] << LABEL_BITS | moves.label[mark]
                        heap[to] = node(nodes, meta, event, heap[value], heap[to])
        k = heap[slot + S_NEXT] if equals >= 0 else k + 1
    return large
