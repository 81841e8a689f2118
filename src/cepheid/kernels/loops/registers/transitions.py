"""What an event does to slots: the tests it asks, and the transitions that their outcomes choose.

Where the states of a region can be followed in an order in which each is read before anything is added to it, that is
done in place (`follow_in_order`). Otherwise the numbers of a slot are worked out anew in `Work.scratch`, from what the
slot held before the event (`follow_slot`).
"""

from __future__ import annotations

from cepheid.kernels.compiled import inlined
from cepheid.kernels.conditions.programs import holds
from cepheid.kernels.loops.registers.index import alive_from, newest, next_listed
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
from cepheid.kernels.loops.registers.slots import base_slot, drop_slot, other_slot
from cepheid.kernels.matches.nodes import JOIN, LABEL_BITS, node
from cepheid.kernels.memory.big_integers import add, is_zero


@inlined
def bits_of(transitions, options, program, batch, i, heap, slot, choice, at):
    """Which of the tests that a choice asks hold, a bit each."""
    bits = 0
    first = transitions.asked_first[choice]
    for j in range(first, transitions.asked_first[choice + 1]):
        test = transitions.asked_test[j]
        if test < options.tests:
            for r in range(len(at)):
                at[r] = slot + transitions.asked_columns[j, r]
            passed = holds(program, test, batch.words, i, heap, at, 1)
        else:
            window = test - options.tests
            of = slot + transitions.asked_columns[j, 0] + options.record
            stored = heap[of + 1] if options.nested_by_position[window] else heap[of]
            passed = stored >= batch.nested[i, window]
        if passed:
            bits |= 1 << (j - first)
    return bits


@inlined
def row_of(tables, batch, event, options, space, slot, state):
    """The row of transitions that a state of a slot takes at an event."""
    transitions = tables.transitions
    choice = transitions.choice[state, event.klass]
    return transitions.row_first[choice] + bits_of(
        transitions, options, tables.program, batch, event.i, space.heap, slot, choice, space.work.at
    )


@inlined
def goal_slot(tables, batch, event, options, space, slot, goal):
    """The address of the slot that a goal leads to from another."""
    goals, layout = tables.transitions.goals, tables.layout
    if goals.place[goal] == BASE:
        return base_slot(layout, batch, event, options, space, space.heap[slot + S_ORDINAL], slot)
    return other_slot(goals, layout, batch, event, options, space, goal, slot)


@inlined
def extend(space, counting, words, target, to, source, value, marked):
    """Adds the partial matches of one number or list to another, each with an event more, or with JOIN as they are:
    whether a number has become large."""
    if counting:
        return add(target, to, source, value, words)
    if marked == JOIN and target[to] == 0:
        target[to] = source[value]
    else:
        target[to] = node(space.nodes, space.meta, marked, source[value], target[to])
    return False


@inlined
def follow_in_order(tables, batch, event, options, space, region):
    """Follows the marking transitions of a region's slots in place; skipping leaves all as it is. Gives whether a
    number has become large."""
    transitions, layout, heap, partitions = tables.transitions, tables.layout, space.heap, space.partitions
    partition, klass, edge = event.partition, event.klass, event.edge
    block = L_BLOCKS + region * B_WORDS
    size, count = layout.size[region], space.work.before[region]
    equals, large = transitions.equals[region, klass], False
    at = partitions[partition, block + B_AT]
    k = 0
    if equals >= 0:
        k = newest(space.cells, partition * len(layout.size) + region + 1, batch.words[event.i, equals])
    while True:
        if equals >= 0:
            while k >= count:  # made by this event
                k = heap[at + k * size + S_NEXT]
            k, gone = next_listed(heap, at, size, k, edge, region == 0)
        else:
            alive = alive_from(heap, at, size, k, count, edge)
            k, gone = alive, alive - k
        if gone > 0:
            partitions[partition, block + B_GONE] += gone
        if k < 0 or k >= count:
            return large
        for j in range(transitions.reacting.shape[2]):
            state = transitions.reacting[region, klass, j]
            if state < 0:
                break
            if not is_zero(heap, at + k * size + layout.value[state], layout.words):
                large |= follow_marks(tables, batch, event, options, space, region, k, state)
                at = partitions[partition, block + B_AT]  # may have been moved
        k = heap[at + k * size + S_NEXT] if equals >= 0 else k + 1


@inlined
def follow_marks(tables, batch, event, options, space, region, k, state):
    """Follows the marking transitions of one state of slot number k in place: whether a number has become large."""
    transitions, layout, heap = tables.transitions, tables.layout, space.heap
    partition, block = event.partition, L_BLOCKS + region * B_WORDS
    slot = space.partitions[partition, block + B_AT] + k * layout.size[region]
    row = row_of(tables, batch, event, options, space, slot, state)
    large = False
    for mark in range(transitions.mark_first[row], transitions.mark_first[row + 1]):
        goal = transitions.goal[mark]
        if goal == NOWHERE:
            continue
        goes = slot
        if transitions.goals.place[goal] != STAY:
            goes = goal_slot(tables, batch, event, options, space, slot, goal)
            slot = space.partitions[partition, block + B_AT] + k * layout.size[region]  # may have been moved
        to, value = goes + layout.value[transitions.goals.state[goal]], slot + layout.value[state]
        marked = event.row << LABEL_BITS | transitions.label[mark]
        large |= extend(space, options.counting, layout.words, heap, to, heap, value, marked)
    return large


@inlined
def follow_in_scratch(tables, batch, event, options, space, region):
    """Follows all transitions of a region's slots; those left without partial matches are dropped. Gives whether a
    number has become large."""
    layout, heap, partitions = tables.layout, space.heap, space.partitions
    partition = event.partition
    block, size = L_BLOCKS + region * B_WORDS, layout.size[region]
    large = False
    for k in range(space.work.before[region] - 1, -1, -1):
        slot = partitions[partition, block + B_AT] + k * size
        dead = heap[slot + S_START] < event.edge
        if not dead:
            if not find_rows(tables, batch, event, options, space, region, slot):
                continue
            large |= follow_slot(tables, batch, event, options, space, region, k)
            slot = partitions[partition, block + B_AT] + k * size  # its block may have been moved
            dead = put_back(layout, space, region, slot)
        if dead:
            drop_slot(layout, space, partition, region, k)
    return large


@inlined
def find_rows(tables, batch, event, options, space, region, slot):
    """Asks the tests of a slot's states, and puts the numbers that stay into `scratch`: whether anything changes."""
    transitions, layout, heap = tables.transitions, tables.layout, space.heap
    klass, words, rows, scratch = event.klass, layout.words, space.work.rows, space.work.scratch
    changes = False
    for j in range(transitions.reacting.shape[2]):
        state = transitions.reacting[region, klass, j]
        if state < 0:
            break
        rows[j] = -1
        if is_zero(heap, slot + layout.value[state], words):
            continue
        row = row_of(tables, batch, event, options, space, slot, state)
        if not transitions.idle[row]:
            rows[j] = row
            changes = True
    if not changes:
        return False
    for w in range(layout.states[region] * words):
        scratch[w] = heap[slot + layout.numbers[region] + w]
    for j in range(transitions.reacting.shape[2]):
        state = transitions.reacting[region, klass, j]
        if state < 0:
            break
        if rows[j] >= 0 and not stays(transitions, transitions.skip[rows[j]], state):
            for w in range(words):
                scratch[layout.number[state] * words + w] = 0
    return True


@inlined
def stays(transitions, goal, state):
    """Whether a goal leads a state to itself."""
    goals = transitions.goals
    return goal != NOWHERE and goals.state[goal] == state and goals.place[goal] == STAY


@inlined
def follow_slot(tables, batch, event, options, space, region, k):
    """Adds what the states of slot number k lead to, in `scratch` and in other slots: whether a number has become
    large."""
    transitions, layout, heap, work = tables.transitions, tables.layout, space.heap, space.work
    partition, words = event.partition, layout.words
    block, size = L_BLOCKS + region * B_WORDS, layout.size[region]
    slot = space.partitions[partition, block + B_AT] + k * size
    large = False
    for j in range(transitions.reacting.shape[2]):
        state = transitions.reacting[region, event.klass, j]
        if state < 0:
            break
        row = work.rows[j]
        if row < 0:
            continue
        first, last = transitions.mark_first[row], transitions.mark_first[row + 1]
        for mark in range(first - 1, last):
            goal = transitions.goal[mark] if mark >= first else transitions.skip[row]
            if goal == NOWHERE or (mark < first and stays(transitions, goal, state)):
                continue
            marked = event.row << LABEL_BITS | transitions.label[mark] if mark >= first else JOIN
            reached, value = transitions.goals.state[goal], slot + layout.value[state]
            if transitions.goals.place[goal] == STAY:
                to = layout.number[reached] * words
                large |= extend(space, options.counting, words, work.scratch, to, heap, value, marked)
                continue
            goes = goal_slot(tables, batch, event, options, space, slot, goal)
            slot = space.partitions[partition, block + B_AT] + k * size  # its block may have been moved
            to, value = goes + layout.value[reached], slot + layout.value[state]
            large |= extend(space, options.counting, words, heap, to, heap, value, marked)
    return large


@inlined
def put_back(layout, space, region, slot):
    """The numbers of a slot are those of `scratch`: whether all are 0."""
    heap, scratch = space.heap, space.work.scratch
    is_empty = True
    for w in range(layout.states[region] * layout.words):
        heap[slot + layout.numbers[region] + w] = scratch[w]
        if scratch[w] != 0:
            is_empty = False
    return is_empty
