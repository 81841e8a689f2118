"""What an event does to the partial matches that are counted: which tests hold, which match ends, where each goes.

Starts are told apart only in region 0, by tests of the event they are: what holds of which start is a *mask* over
places, and what an outcome does is done to all starts of its mask at once. Where an event can affect only starts with
a word of its own, these are found by the index, one by one.
"""

from __future__ import annotations

from cepheid.kernels.compiled import inlined, inner
from cepheid.kernels.conditions.programs import (
    NULL_REAL,
    NULL_WORD,
    P_HOW,
    P_LEFT,
    P_LEFT_WORD,
    P_OUTCOMES,
    P_RIGHT,
    P_RIGHT_WORD,
    REALS,
    SAME_TEXTS,
    WHOLES,
    holds,
)
from cepheid.kernels.conditions.values import EQUAL, GREATER, UNORDERED, order_of
from cepheid.kernels.loops.registers.index import newest
from cepheid.kernels.loops.registers.layout import NOWHERE, OTHER, S_NEXT, S_ORDINAL, S_START, STAY
from cepheid.kernels.loops.registers.transitions import bits_of, stays
from cepheid.kernels.loops.vectors.arithmetic import (
    add_number,
    add_number_to_sum,
    add_one,
    add_sum,
    add_vector,
    alive,
    clear_row,
    first_place,
    give_back,
    is_all_zero,
    is_zero_at,
    take_away,
)
from cepheid.kernels.loops.vectors.layout import (
    B_AT,
    B_COUNT,
    B_GONE,
    B_WORDS,
    C_BASE,
    C_BLOCKS,
    C_HI,
    C_LO,
    C_ROOT,
    C_SLOTS,
    STATE_WORDS,
    V_AT,
    V_WORDS,
    WIDEST,
)
from cepheid.kernels.loops.vectors.slots import new_start, number_of_block, record_at, slot_for
from cepheid.kernels.memory.bits import as_real


@inlined
def leave_window(heap, partitions, partition, layout, edge):
    """Starts before the edge are over."""
    while partitions[partition, C_LO] < partitions[partition, C_HI]:
        if (
            heap[record_at(heap, partitions, partition, layout, partitions[partition, C_LO]) + S_START]
            >= edge
        ):
            break
        partitions[partition, C_LO] += 1


@inner
def compare_reals(heap, at, step, count, other, outcomes, bit, bits):
    """Sets a bit for each double, `step` words apart, that compares with another in one of these ways."""
    words, real = heap[at:], as_real(other)
    unordered = outcomes & UNORDERED != 0 and other != NULL_REAL
    for p in range(count):
        word = words[p * step]
        order = order_of(as_real(word), real)
        if order & outcomes != 0 or (unordered and order == 0 and word != NULL_REAL):
            bits[p] |= bit


@inner
def compare_wholes(heap, at, step, count, other, outcomes, bit, bits):
    """The same for whole numbers, unless one may be NULL: whether it was done."""
    words = heap[at:]
    if other == NULL_WORD:
        return False
    for p in range(count):
        if words[p * step] == NULL_WORD:
            return False
    for p in range(count):
        if order_of(words[p * step], other) & outcomes != 0:
            bits[p] |= bit
    return True


@inner
def ask_one_by_one(transitions, program, batch, i, space, j, bit, oldest, record, vector):
    """A test of any kind. Where it takes long, only starts with partial matches are asked."""
    heap, partitions, at = space.heap, space.partitions, space.at
    partition, test = batch.partition[i], transitions.asked_test[j]
    first = first_place(partitions, partition)
    for p in range(alive(partitions, partition)):
        if program[test, P_HOW] > SAME_TEXTS and is_zero_at(heap, partitions, partition, vector, first + p):
            continue
        for r in range(len(at)):
            at[r] = oldest + p * record + transitions.asked_columns[j, r]
        if holds(program, test, batch.words, i, heap, at, 1):
            space.bits[p] |= bit


@inlined
def ask_starts(transitions, layout, options, program, batch, i, space, choice, vector):
    """Which of the tests that a choice asks hold of each start inside the window: a bit each, in `space.bits`."""
    heap, partitions, bits = space.heap, space.partitions, space.bits
    partition = batch.partition[i]
    count, record = alive(partitions, partition), layout.numbers[0]
    oldest = record_at(heap, partitions, partition, layout, partitions[partition, C_LO])
    clear_row(bits, 0, count)
    first = transitions.asked_first[choice]
    for j in range(first, transitions.asked_first[choice + 1]):
        test, bit = transitions.asked_test[j], 1 << (j - first)
        if test >= options.tests:
            window = test - options.tests
            at = oldest + transitions.asked_columns[j, 0] + options.record
            at += 1 if options.nested_by_position[window] else 0
            border = batch.nested[i, window]
            compare_wholes(heap, at, record, count, border, EQUAL | GREATER, bit, bits)
            continue
        how, outcomes = program[test, P_HOW], program[test, P_OUTCOMES]
        if how <= WHOLES and program[test, P_RIGHT] < 0:
            at = oldest + transitions.asked_columns[j, program[test, P_LEFT]] + program[test, P_LEFT_WORD]
            other = batch.words[i, program[test, P_RIGHT_WORD]]
            if how == REALS:
                compare_reals(heap, at, record, count, other, outcomes, bit, bits)
                continue
            if compare_wholes(heap, at, record, count, other, outcomes, bit, bits):
                continue
        ask_one_by_one(transitions, program, batch, i, space, j, bit, oldest, record, vector)


@inner
def set_mask(bits, mask, count, outcome):
    """The mask of the starts whose tests came out like this: whether there are any."""
    some = 0
    for p in range(count):
        mask[p] = -1 if bits[p] == outcome else 0
        some |= mask[p]
    return some != 0


@inlined
def accepted(transitions, row):
    """How many matches each partial match completes."""
    number = 0
    for mark in range(transitions.mark_first[row], transitions.mark_first[row + 1]):
        number += transitions.accepts[mark]
    return number


@inlined
def is_dear(transitions, options, program, choice):
    """Whether a test of a choice takes long, so that it is worth while to see first whether there is anything."""
    for j in range(transitions.asked_first[choice], transitions.asked_first[choice + 1]):
        if (
            transitions.asked_test[j] < options.tests
            and program[transitions.asked_test[j], P_HOW] > SAME_TEXTS
        ):
            return True
    return False


@inlined
def end_starts(transitions, layout, options, program, batch, i, space, state):
    """The matches that end at an event, of partial matches that remember nothing but their starts; into
    `space.sums`."""
    heap, partitions = space.heap, space.partitions
    partition, klass = batch.partition[i], batch.klass[i]
    vector = partitions[partition, C_BLOCKS + B_AT] + layout.value[state]
    if heap[vector + V_AT] == 0:
        return
    choice = transitions.choice[state, klass]
    asked = transitions.asked_first[choice + 1] - transitions.asked_first[choice]
    equals = transitions.equals[0, klass]
    if equals >= 0 and asked > 0:
        ordinal = newest(space.cells, number_of_block(layout, partition, 0), batch.words[i, equals])
        while ordinal >= partitions[partition, C_LO]:
            record, place = (
                record_at(heap, partitions, partition, layout, ordinal),
                ordinal - partitions[partition, C_BASE],
            )
            if not is_zero_at(heap, partitions, partition, vector, place):
                row = transitions.row_first[choice] + bits_of(
                    transitions, options, program, batch, i, heap, record, choice, space.at
                )
                for _ in range(accepted(transitions, row)):
                    add_number_to_sum(heap, partitions, partition, vector, place, space.sums)
            ordinal = heap[record + S_NEXT]
        return
    if asked > 0:
        ask_starts(transitions, layout, options, program, batch, i, space, choice, vector)
    for outcome in range(1 << asked):
        times = accepted(transitions, transitions.row_first[choice] + outcome)
        if times == 0 or (
            asked > 0 and not set_mask(space.bits, space.mask, alive(partitions, partition), outcome)
        ):
            continue
        for _ in range(times):
            add_sum(heap, partitions, partition, vector, space.mask, asked > 0, space.sums)


@inlined
def end_slots(transitions, layout, options, program, batch, i, space, region, state):
    """The same, of those that remember more."""
    heap, partitions = space.heap, space.partitions
    partition, klass = batch.partition[i], batch.klass[i]
    block, choice = C_BLOCKS + region * B_WORDS, transitions.choice[state, klass]
    dear = is_dear(transitions, options, program, choice)
    equals, k = transitions.equals[region, klass], 0
    if equals >= 0:
        k = newest(space.cells, number_of_block(layout, partition, region), batch.words[i, equals])
    while k >= 0 and k < partitions[partition, block + B_COUNT]:
        slot = partitions[partition, block + B_AT] + k * layout.size[region]
        vector = slot + layout.value[state]
        if heap[slot + S_ORDINAL] < partitions[partition, C_LO]:
            partitions[partition, block + B_GONE] += 1
        elif heap[vector + V_AT] != 0 and not (dear and is_all_zero(heap, partitions, partition, vector)):
            row = transitions.row_first[choice] + bits_of(
                transitions, options, program, batch, i, heap, slot, choice, space.at
            )
            for _ in range(accepted(transitions, row)):
                add_sum(heap, partitions, partition, vector, space.mask, False, space.sums)
        k = heap[slot + S_NEXT] if equals >= 0 else k + 1


@inlined
def end_here(transitions, layout, options, program, batch, i, space):
    """The matches that end at an event, into `space.sums`: whether there are any."""
    partitions, partition = space.partitions, batch.partition[i]
    sums = space.sums[: space.meta[WIDEST] + 1]
    for w in range(len(sums)):
        sums[w] = 0
    choice = transitions.choice[partitions[partition, C_ROOT], batch.klass[i]]
    if choice >= 0:
        sums[0] += accepted(transitions, transitions.row_first[choice])
    for region in range(len(layout.size) if partitions[partition, C_LO] < partitions[partition, C_HI] else 0):
        for j in range(transitions.accepting.shape[2]):
            state = transitions.accepting[region, batch.klass[i], j]
            if state < 0:
                break
            if region == 0:
                end_starts(transitions, layout, options, program, batch, i, space, state)
            else:
                end_slots(transitions, layout, options, program, batch, i, space, region, state)
    for w in range(len(sums)):
        if sums[w] != 0:
            return True
    return False


@inlined
def goal_vector(transitions, layout, options, batch, i, space, goal, region, number, newest_start):
    """The address of the vector that a goal leads to from a region's slot of this number."""
    heap, partitions = space.heap, space.partitions
    partition, reached = batch.partition[i], transitions.goals.state[goal]
    other = layout.region[reached]
    if transitions.goals.place[goal] == OTHER:
        number = slot_for(transitions.goals, layout, batch, i, options, space, goal, region, number)
    elif transitions.goals.place[goal] != STAY:
        number = 0
    slot = partitions[partition, C_BLOCKS + other * B_WORDS + B_AT] + number * layout.size[other]
    heap[slot + S_ORDINAL] = max(heap[slot + S_ORDINAL], newest_start)
    return slot + layout.value[reached]


@inlined
def go(transitions, layout, options, batch, i, space, row, state, is_masked, comes):
    """What an outcome does to the starts of the mask, or to all. `comes`: what is added to the address of a vector that
    something comes to."""
    heap, partitions, partition = space.heap, space.partitions, batch.partition[i]
    vector = partitions[partition, C_BLOCKS + B_AT] + layout.value[state]
    first, last = transitions.mark_first[row], transitions.mark_first[row + 1]
    skip = transitions.skip[row]
    for mark in range(first - 1, last):
        goal = skip if mark < first else transitions.goal[mark]
        if goal == NOWHERE or (mark < first and stays(transitions, goal, state)):
            continue
        target = goal_vector(
            transitions, layout, options, batch, i, space, goal, 0, 0, partitions[partition, C_HI] - 1
        )
        add_vector(heap, space.meta, partitions, partition, target + comes, vector, space.mask, is_masked)
    if not stays(transitions, skip, state):
        take_away(heap, partitions, partition, vector, space.mask, is_masked)


@inlined
def follow_starts(transitions, layout, options, program, batch, i, space, state, comes):
    """What an event does to a state of region 0."""
    heap, partitions = space.heap, space.partitions
    partition, klass = batch.partition[i], batch.klass[i]
    vector = partitions[partition, C_BLOCKS + B_AT] + layout.value[state]
    if heap[vector + V_AT] == 0:
        return
    choice = transitions.choice[state, klass]
    asked = transitions.asked_first[choice + 1] - transitions.asked_first[choice]
    equals = transitions.equals[0, klass]
    if equals >= 0 and asked > 0 and comes == 0:
        ordinal = newest(space.cells, number_of_block(layout, partition, 0), batch.words[i, equals])
        while ordinal >= partitions[partition, C_LO]:
            record, place = (
                record_at(heap, partitions, partition, layout, ordinal),
                ordinal - partitions[partition, C_BASE],
            )
            if not is_zero_at(heap, partitions, partition, vector, place):
                row = transitions.row_first[choice] + bits_of(
                    transitions, options, program, batch, i, heap, record, choice, space.at
                )
                for mark in range(transitions.mark_first[row], transitions.mark_first[row + 1]):
                    if transitions.goal[mark] != NOWHERE:
                        target = goal_vector(
                            transitions,
                            layout,
                            options,
                            batch,
                            i,
                            space,
                            transitions.goal[mark],
                            0,
                            0,
                            ordinal,
                        )
                        add_number(heap, space.meta, partitions, partition, target, vector, place)
            ordinal = heap[record + S_NEXT]
        return
    if asked > 0:
        ask_starts(transitions, layout, options, program, batch, i, space, choice, vector)
    for outcome in range(1 << asked):
        row = transitions.row_first[choice] + outcome
        if transitions.idle[row]:
            continue
        if asked == 0 or set_mask(space.bits, space.mask, alive(partitions, partition), outcome):
            go(transitions, layout, options, batch, i, space, row, state, asked > 0, comes)


@inlined
def follow_slots(transitions, layout, options, program, batch, i, space, region, state, comes):
    """What an event does to a state of the slots of another region, where skipping leaves all as it is."""
    heap, partitions = space.heap, space.partitions
    partition, klass = batch.partition[i], batch.klass[i]
    block, choice = C_BLOCKS + region * B_WORDS, transitions.choice[state, klass]
    dear = is_dear(transitions, options, program, choice)
    equals, k, count = transitions.equals[region, klass], 0, partitions[partition, block + B_COUNT]
    if equals >= 0:
        k = newest(space.cells, number_of_block(layout, partition, region), batch.words[i, equals])
    while k >= 0 and k < count:
        slot = partitions[partition, block + B_AT] + k * layout.size[region]
        vector = slot + layout.value[state]
        if heap[slot + S_ORDINAL] < partitions[partition, C_LO]:
            partitions[partition, block + B_GONE] += 1
        elif heap[vector + V_AT] != 0 and not (dear and is_all_zero(heap, partitions, partition, vector)):
            row = transitions.row_first[choice] + bits_of(
                transitions, options, program, batch, i, heap, slot, choice, space.at
            )
            for mark in range(transitions.mark_first[row], transitions.mark_first[row + 1]):
                if transitions.goal[mark] == NOWHERE:
                    continue
                target = goal_vector(
                    transitions,
                    layout,
                    options,
                    batch,
                    i,
                    space,
                    transitions.goal[mark],
                    region,
                    k,
                    heap[slot + S_ORDINAL],
                )
                slot = (
                    partitions[partition, block + B_AT] + k * layout.size[region]
                )  # its own block may have been moved
                vector = slot + layout.value[state]
                add_vector(heap, space.meta, partitions, partition, target + comes, vector, space.mask, False)
        k = heap[slot + S_NEXT] if equals >= 0 else k + 1


@inner
def settle(layout, space, partition):
    """What has come to states is theirs."""
    heap, meta, partitions = space.heap, space.meta, space.partitions
    for region in range(len(layout.size)):
        block, size = C_BLOCKS + region * B_WORDS, layout.size[region]
        for k in range(partitions[partition, block + B_COUNT]):
            slot = partitions[partition, block + B_AT] + k * size
            for vector in range(slot + layout.numbers[region], slot + size, STATE_WORDS):
                came = vector + V_WORDS
                if heap[came + V_AT] == 0:
                    continue
                if heap[vector + V_AT] == 0:
                    for w in range(V_WORDS):
                        heap[vector + w] = heap[came + w]
                        heap[came + w] = 0
                else:
                    add_vector(heap, meta, partitions, partition, vector, came, space.mask, False)
                    give_back(heap, meta, partitions, partition, came)


@inner
def leave_empty(layout, space, partition):
    """Starts without partial matches are over, up to the first that has any; where there are slots, they may have."""
    heap, partitions = space.heap, space.partitions
    if partitions[partition, C_SLOTS] > 0:
        return
    slot = partitions[partition, C_BLOCKS + B_AT]
    while partitions[partition, C_LO] < partitions[partition, C_HI]:
        place = first_place(partitions, partition)
        for vector in range(slot + layout.numbers[0], slot + layout.size[0], STATE_WORDS):
            if not is_zero_at(heap, partitions, partition, vector, place):
                return
        partitions[partition, C_LO] += 1


@inlined
def begin_here(transitions, layout, options, batch, i, space):
    """What begins with an event."""
    heap, meta, partitions = space.heap, space.meta, space.partitions
    partition = batch.partition[i]
    choice = transitions.choice[partitions[partition, C_ROOT], batch.klass[i]]
    if choice < 0:
        return
    row = transitions.row_first[choice]
    partitions[partition, C_ROOT] = transitions.goals.state[transitions.skip[row]]
    place = -1
    for mark in range(transitions.mark_first[row], transitions.mark_first[row + 1]):
        if transitions.goal[mark] != NOWHERE:
            if place < 0:
                place = new_start(layout, batch, i, options, space)
            vector = (
                partitions[partition, C_BLOCKS + B_AT]
                + layout.value[transitions.goals.state[transitions.goal[mark]]]
            )
            add_one(heap, meta, partitions, partition, vector, place)
