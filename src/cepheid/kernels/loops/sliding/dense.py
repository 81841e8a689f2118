"""Counting with a small automaton: the loop of `slide` over dense matrices.

The same two stacks, for automata of few states whose transitions are all known beforehand. A class is a *program*: some
updates `row[target] = factor · row[target] + Σ row[source]` of a matrix with a row per state, ordered so that they can
be made in place. `BACK` is that matrix: row q, column p is the number of runs from state p at the pivot to state q now.
`FRONT` holds for each event before the pivot the numbers of runs from the start state to each state at the pivot.

A number has `words` words in carry-save form (`memory.carry_save`). A row holds the lowest words of all its numbers,
then the next; only the first `used` words can be other than 0. Once numbers need more words than there are, the loop
returns, to be called again with more. It is compiled separately for numbers of one word.

A partition with few events in its window keeps these events only (`N_BACK` is 0): its matrix is computed from them
whenever the partition has new events. So a key costs little memory, and there may be millions of keys.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepheid.kernels.compiled import compiled, inlined
from cepheid.kernels.interrupts import poll, ticks
from cepheid.kernels.loops.sliding.partition_state import (
    BACK,
    BACK_K,
    EVENT_WORDS,
    EVENTS,
    EVENTS_K,
    FRONT,
    FRONT_K,
    LAST,
    LOW,
    N_BACK,
    N_EVENTS,
    PIVOT,
    PLACE,
    ROW,
    WIDTH,
    class_at,
    follows,
    place_of,
    reserve_event,
)
from cepheid.kernels.memory.carry_save import (
    LIMIT,
    SPARE_BITS,
    add_number,
    add_product,
    add_small_product,
    carry,
    length_of,
)
from cepheid.kernels.memory.heap import grow, release, room_for, size_class, take
from cepheid.kernels.memory.status import DONE, MORE_HEAP, MORE_WORDS

FEW = 8  # events that are replayed each time

END, ROOM, EXPIRED, LARGE = 0, 1, 2, 3  # why a partition's events are not taken further


class Program(NamedTuple):
    """The updates of class c are numbers first[c] to first[c + 1], in an order in which they can be made in place."""

    first: np.ndarray
    target: np.ndarray  # per update
    factor: np.ndarray  # per update
    begin: np.ndarray  # the sources of update k are source[begin[k]:begin[k + 1]]
    source: np.ndarray


class Dense(NamedTuple):
    """`rows` are those of the states and, below them, some for copies. `forward` extends runs by an event at their end,
    `backward` by one at their beginning; `accept_…` are per class the states whose runs an event completes. `growth`
    has by class the number of bits by which numbers can become longer."""

    states: int
    rows: int
    words: int
    forward: Program
    backward: Program
    accept_first: np.ndarray
    accept_state: np.ndarray
    growth: np.ndarray


class DenseSpace(NamedTuple):
    """The arrays that hold the state of the loop."""

    heap: np.ndarray
    meta: np.ndarray
    partitions: np.ndarray
    total: np.ndarray  # words of 48 bits: all matches
    matrix: np.ndarray  # scratch for one matrix


class Progress(NamedTuple):
    """The fields of a partition in `partitions`, kept in processor registers while its events are taken."""

    back: int
    events: int
    room: int  # for so many events
    front: int
    n_events: int
    low: int
    pivot: int
    last: int
    used: int  # words of the numbers at `back` that may be other than 0
    spent: int  # bits beyond `BITS` that their words may hold, and one more


@inlined
def update(program, klass, states, matrix, base):
    """Applies a class to a matrix of numbers of one word at `base`; the bitwise OR of all that was written."""
    seen = 0
    for k in range(program.first[klass], program.first[klass + 1]):
        row = base + program.target[k] * states
        factor = program.factor[k]
        begin, end = program.begin[k], program.begin[k + 1]
        if end - begin == 1:
            other = base + program.source[begin] * states
            for p in range(states):
                value = factor * matrix[row + p] + matrix[other + p]
                matrix[row + p] = value
                seen |= value
        else:
            for p in range(states):
                value = factor * matrix[row + p]
                for s in range(begin, end):
                    value += matrix[base + program.source[s] * states + p]
                matrix[row + p] = value
                seen |= value
    return seen


@inlined
def update_wide(program, klass, size, used, matrix, base):
    """The same for rows of `size` words in carry-save form, of which the first `used` matter."""
    for k in range(program.first[klass], program.first[klass + 1]):
        row = base + program.target[k] * size
        factor = program.factor[k]
        begin, end = program.begin[k], program.begin[k + 1]
        if factor != 1:
            for i in range(used):
                matrix[row + i] *= factor
        for s in range(begin, end):
            other = base + program.source[s] * size
            for i in range(used):
                matrix[row + i] += matrix[other + i]


@inlined
def identity(heap, base, rows, states, words):
    for i in range(rows * words * states):
        heap[base + i] = 0
    for q in range(states):
        heap[base + q * words * states + q] = 1


@compiled
def forget(heap, meta, partitions, partition, rows, states, words):
    """The partition as if no event had been seen."""
    partitions[partition, BACK], partitions[partition, BACK_K] = grow(
        heap, meta, partitions[partition, BACK], partitions[partition, BACK_K], 0, rows * words * states
    )
    identity(heap, partitions[partition, BACK], rows, states, words)
    partitions[partition, WIDTH] = states
    partitions[partition, N_BACK] = states
    partitions[partition, N_EVENTS] = 0
    partitions[partition, LOW] = 0
    partitions[partition, PIVOT] = 0


@compiled
def count_dense(dense, batch, begin, options, space, wide):
    """Takes the events from `begin` on and adds the number of matches that end in them to `space.total`.

    `wide` is None for numbers of one word, which the loop is then compiled for. Gives (why it stopped, the event to go
    on from, how long the heap must be for that). A partition's own matrix finds room whenever its events end.
    """
    heap, meta, partitions = space.heap, space.meta, space.partitions
    words = 1
    if wide is not None:
        words = dense.words
    length = dense.rows * words * dense.states
    scratch_k = size_class(length)
    needed = meta[0] + 1 + room_for(length)
    if needed > len(heap):
        return MORE_HEAP, begin, needed
    scratch = take(heap, meta, scratch_k)
    status = DONE
    i = begin
    seen = ticks()
    while i < len(batch.partition) and status == DONE:
        seen = poll(seen)
        if seen < 0:
            status = MORE_WORDS
            break
        partition = batch.partition[i]
        n_events = partitions[partition, N_EVENTS]
        needed = meta[0] + 1 + room_for(length) + room_for((n_events + 1) * EVENT_WORDS)
        if needed > len(heap):
            status = MORE_HEAP
            break
        small = partitions[partition, N_BACK] == 0 and options.windowed
        at = begin_partition(dense, batch.edge[i], options, space, partition, scratch, words)
        why = ROOM
        while why != END and status == DONE:
            why, i, at = run_partition(dense, batch, i, partition, options, heap, at, space.total, wide)
            if why == LARGE:
                status = MORE_WORDS
            elif why == EXPIRED:
                status, needed, at = advance_pivot(dense, batch.edge[i], options, space, partition, at, wide)
            elif why == ROOM:
                status, needed, at = lengthen_events(space, partition, at, length)
        if wide is not None and status != MORE_WORDS and at.spent > 1:
            if carry(heap, at.back, dense.states, words, at.used) < 0:
                status = MORE_WORDS
        partitions[partition, N_EVENTS] = at.n_events
        partitions[partition, LOW] = at.low
        partitions[partition, PIVOT] = at.pivot
        partitions[partition, LAST] = at.last
        if options.windowed and wide is None and at.n_events - at.low <= FEW:
            keep_events_only(heap, meta, partitions, partition)
        elif small:
            keep_matrix(heap, meta, partitions, partition, scratch, length, dense.states)
    release(heap, meta, scratch, scratch_k)
    return status, i, needed


@inlined
def begin_partition(dense, edge, options, space, partition, scratch, words):
    """The progress of a partition, whose matrix is computed at `scratch` if it has none of its own."""
    heap, meta, partitions = space.heap, space.meta, space.partitions
    back = scratch
    if partitions[partition, N_BACK] > 0:
        back = partitions[partition, BACK]
    elif options.windowed:
        drop_expired(heap, partitions, partition, PLACE if options.by_position else ROW, edge)
        replay(dense, options.gaps, heap, partitions, partition, back, words)
    else:
        forget(heap, meta, partitions, partition, dense.rows, dense.states, words)
        back = partitions[partition, BACK]
    n_events = partitions[partition, N_EVENTS]
    if options.windowed:
        reserve_event(heap, meta, partitions, partition, n_events)
    return Progress(
        back=back,
        events=partitions[partition, EVENTS],
        room=(1 << partitions[partition, EVENTS_K]) // EVENT_WORDS,
        front=partitions[partition, FRONT],
        n_events=n_events,
        low=partitions[partition, LOW],
        pivot=partitions[partition, PIVOT],
        last=partitions[partition, LAST],
        used=words,
        spent=1,
    )


@inlined
def lengthen_events(space, partition, at, length):
    """Makes room for one more event: (status, how long the heap must be, the progress)."""
    needed = space.meta[0] + 1 + room_for(length) + room_for((at.n_events + 1) * EVENT_WORDS)
    if needed > len(space.heap):
        return MORE_HEAP, needed, at
    reserve_event(space.heap, space.meta, space.partitions, partition, at.n_events)
    longer = Progress(
        back=at.back,
        events=space.partitions[partition, EVENTS],
        room=(1 << space.partitions[partition, EVENTS_K]) // EVENT_WORDS,
        front=at.front,
        n_events=at.n_events,
        low=at.low,
        pivot=at.pivot,
        last=at.last,
        used=at.used,
        spent=at.spent,
    )
    return DONE, needed, longer


@inlined
def advance_pivot(dense, edge, options, space, partition, at, wide):
    """Moves the pivot to now, once the edge has passed it: (status, how long the heap must be, the progress)."""
    heap, key = space.heap, PLACE if options.by_position else ROW
    words = 1
    if wide is not None:
        words = dense.words
    size = words * dense.states
    begin = at.pivot
    while begin < at.n_events and heap[at.events + begin * EVENT_WORDS + key] < edge:
        begin += 1
    count = at.n_events - begin
    needed = space.meta[0] + 1 + room_for(dense.rows * size) + room_for((count + 1) * size)
    if needed > len(heap):
        return MORE_HEAP, needed, at
    if rebuild_front(dense, begin, at.n_events, options.gaps, space, partition, at.back, wide):
        return MORE_WORDS, needed, at
    advanced = Progress(
        back=at.back,
        events=at.events,
        room=at.room,
        front=space.partitions[partition, FRONT],
        n_events=count,
        low=0,
        pivot=count,
        last=at.last,
        used=1,
        spent=1,
    )
    return DONE, needed, advanced


@inlined
def run_partition(dense, batch, i, partition, options, heap, at, total, wide):
    """Takes events from `i` on as long as they are of one partition and need no more memory.

    Gives (why it stopped, the event it stopped at, the progress). The heap is not replaced: replacing an array inside
    the loop would make it much slower.
    """
    back, events, room, front, n_events, low, pivot, last, used, spent = at
    states = dense.states
    words = 1
    if wide is not None:
        words = dense.words
    size = words * states
    key = PLACE if options.by_position else ROW
    count = len(batch.partition)
    why = END
    seen = ticks()
    while i < count and batch.partition[i] == partition:
        seen = poll(seen)
        if seen < 0:
            why = LARGE
            break
        if options.windowed:
            if n_events >= room:
                why = ROOM
                break
            edge = batch.edge[i]
            while low < pivot and heap[events + low * EVENT_WORDS + key] < edge:
                low += 1
            if pivot < n_events and heap[events + pivot * EVENT_WORDS + key] < edge:
                why = EXPIRED
                break
        klass = batch.klass[i]
        if wide is not None:
            grown = dense.growth[klass]
            if options.gaps:
                grown += dense.growth[0]
            ends = dense.accept_first[klass + 1] > dense.accept_first[klass]
            if spent + grown > SPARE_BITS or (ends and spent > 1):
                longer = carry(heap, back, states, words, used)
                if longer < 0:
                    why = LARGE
                    break
                used, spent = longer, 1
            spent += grown
        if options.gaps and batch.position[i] != last + 1:
            if wide is None:
                update(dense.forward, 0, states, heap, back)
            else:
                update_wide(dense.forward, 0, size, used * states, heap, back)
        matched = False
        if options.report or options.consume:
            oldest = front + low * size
            if wide is None:
                matched = add_matches(dense, klass, options.report, heap, back, oldest, low < pivot, total)
            else:
                matched = add_wide_matches(
                    dense, klass, options.report, heap, back, used, oldest, low < pivot, total
                )
        large = False
        if options.consume and matched:
            identity(heap, back, dense.rows, states, words)
            n_events, low, pivot = 0, 0, 0
            used, spent = 1, 1
        else:
            if wide is None:
                large = update(dense.forward, klass, states, heap, back) >= LIMIT
            else:
                update_wide(dense.forward, klass, size, used * states, heap, back)
            if options.windowed:
                event = events + n_events * EVENT_WORDS
                heap[event + ROW] = batch.row[i]
                heap[event + PLACE] = place_of(batch.position[i], klass)
                n_events += 1
        last = batch.position[i]
        i += 1
        if large:
            why = LARGE
            break
    return why, i, Progress(back, events, room, front, n_events, low, pivot, last, used, spent)


@inlined
def drop_expired(heap, partitions, partition, key, edge):
    """Forgets the events before `edge` of a partition that keeps only events."""
    events, n_events = partitions[partition, EVENTS], partitions[partition, N_EVENTS]
    gone = 0
    while gone < n_events and heap[events + gone * EVENT_WORDS + key] < edge:
        gone += 1
    partitions[partition, LOW] = gone
    keep_live_events(heap, partitions, partition)


@inlined
def keep_live_events(heap, partitions, partition):
    """Moves the events that are in the window to the beginning."""
    events, low = partitions[partition, EVENTS], partitions[partition, LOW]
    count = partitions[partition, N_EVENTS] - low
    if low > 0:
        for i in range(count * EVENT_WORDS):
            heap[events + i] = heap[events + low * EVENT_WORDS + i]
    partitions[partition, N_EVENTS] = count
    partitions[partition, LOW] = 0
    partitions[partition, PIVOT] = 0


@inlined
def replay(dense, gaps, heap, partitions, partition, back, words):
    """Makes the matrix of a partition that keeps only events."""
    states = dense.states
    size = words * states
    identity(heap, back, dense.rows, states, words)
    events = partitions[partition, EVENTS]
    for t in range(partitions[partition, N_EVENTS]):
        at = events + t * EVENT_WORDS
        if gaps and t > 0 and not follows(heap, at):
            update_wide(dense.forward, 0, size, size, heap, back)
        update_wide(dense.forward, class_at(heap, at), size, size, heap, back)
        if words > 1:
            carry(heap, back, states, words, words)


@inlined
def keep_events_only(heap, meta, partitions, partition):
    keep_live_events(heap, partitions, partition)
    for block in (FRONT, BACK):
        if partitions[partition, block] > 0:
            release(heap, meta, partitions[partition, block], partitions[partition, block + 1])
            partitions[partition, block] = 0
    partitions[partition, N_BACK] = 0


@compiled
def keep_matrix(heap, meta, partitions, partition, scratch, length, states):
    """Gives the partition a matrix of its own."""
    partitions[partition, BACK], partitions[partition, BACK_K] = grow(
        heap, meta, partitions[partition, BACK], partitions[partition, BACK_K], 0, length
    )
    for i in range(length):
        heap[partitions[partition, BACK] + i] = heap[scratch + i]
    partitions[partition, N_BACK] = states
    partitions[partition, WIDTH] = states


@inlined
def add_matches(dense, klass, report, heap, back, front, in_front, total):
    """Adds the number of matches that an event of this class ends to `total`, if asked; whether there is any."""
    states = dense.states
    matched = False
    for a in range(dense.accept_first[klass], dense.accept_first[klass + 1]):
        row = back + dense.accept_state[a] * states
        for p in range(states if in_front else 1):
            before = heap[front + p] if in_front else 1
            if before != 0 and heap[row + p] != 0:
                matched = True
                if report:
                    add_small_product(total, before, heap[row + p])
    return matched


@inlined
def add_wide_matches(dense, klass, report, heap, back, used, front, in_front, total):
    """The same for longer numbers; those at `back` have no carries left and are `used` words long."""
    states, words = dense.states, dense.words
    matched = False
    for a in range(dense.accept_first[klass], dense.accept_first[klass + 1]):
        row = back + dense.accept_state[a] * words * states
        for p in range(states if in_front else 1):
            length = length_of(heap, row + p, states, used)
            length_before = length_of(heap, front + p, states, words) if in_front else 1
            if length > 0 and length_before > 0:
                matched = True
                if report and in_front:
                    add_product(total, heap, row + p, length, front + p, length_before, states)
                elif report:
                    add_number(total, heap, row + p, length, states)
    return matched


@compiled
def rebuild_front(dense, begin, end, gaps, space, partition, back, wide):
    """Makes the events from `begin` to `end` the front, with the pivot at now. Gives whether numbers have become too
    long; then nothing is changed."""
    heap, partitions, matrix = space.heap, space.partitions, space.matrix
    states = dense.states
    words = 1
    if wide is not None:
        words = dense.words
    size = words * states
    count = end - begin
    partitions[partition, FRONT], partitions[partition, FRONT_K] = grow(
        heap,
        space.meta,
        partitions[partition, FRONT],
        partitions[partition, FRONT_K],
        0,
        max(count, 1) * size,
    )
    front = partitions[partition, FRONT]
    events = partitions[partition, EVENTS]
    identity(matrix, 0, dense.rows, states, words)
    used, spent = 1, 1
    seen = ticks()
    for t in range(count - 1, -1, -1):
        seen = poll(seen)
        if seen < 0:
            return True
        at = events + (begin + t) * EVENT_WORDS
        klass = class_at(heap, at)
        if wide is None:
            if update(dense.backward, klass, states, matrix, 0) >= LIMIT:
                return True
        else:
            grown = dense.growth[klass]
            if gaps:
                grown += dense.growth[0]
            if spent + grown > SPARE_BITS:
                used = carry(matrix, 0, states, words, used)
                if used < 0:
                    return True
                spent = 1
            spent += grown
            update_wide(dense.backward, klass, size, used * states, matrix, 0)
        for i in range(size):
            heap[front + t * size + i] = matrix[i]
        if gaps and t > 0 and not follows(heap, at):
            if wide is None:
                update(dense.backward, 0, states, matrix, 0)
            else:
                update_wide(dense.backward, 0, size, used * states, matrix, 0)
    for i in range(count * EVENT_WORDS):
        heap[events + i] = heap[events + begin * EVENT_WORDS + i]
    identity(heap, back, dense.rows, states, words)
    return False
