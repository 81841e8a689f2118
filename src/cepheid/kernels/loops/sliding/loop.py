"""The loop of the compact evaluator: matches that end at each event, inside a window that slides.

Over a stretch of events the determinised automaton is a matrix: for each pair of states the runs from one to the other
(their number, or the events that they mark). The window holds the product of its events' matrices, and products slide
by the two-stack technique: the events before a *pivot* keep, one vector each, the product from them up to the pivot;
the events after it are kept as one product that every event extends by one step. When the window's edge reaches the
pivot, the events after it are made vectors, newest first, and the pivot moves to now (`move_pivot.py`). Each event is
multiplied twice, so it costs the same however long the window is, and no event that has left the window takes part: a
strategy's automaton started at the edge chooses among the matches inside the window.

Without a window the pivot never moves and only the row of the start state exists.
"""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import allocating, allocating_inlined, inlined
from cepheid.kernels.interrupts import poll, ticks
from cepheid.kernels.loops.sliding.move_pivot import move_pivot
from cepheid.kernels.loops.sliding.partition_state import (
    BACK,
    BACK_K,
    COLLECT_AT,
    EVENT_WORDS,
    EVENTS,
    EVENTS_K,
    FRONT,
    LAST,
    LOW,
    N_BACK,
    N_EVENTS,
    N_NODES,
    NODES,
    NODES_K,
    PIVOT,
    PLACE,
    ROW,
    WIDTH,
    collect,
    enter,
    leave,
    new_node,
    note_event,
    reserve_event,
    reserve_nodes,
    reset,
)
from cepheid.kernels.loops.sliding.tables import DEAD, UNKNOWN
from cepheid.kernels.matches.enumerate import emit
from cepheid.kernels.matches.nodes import BEGIN, FIRST_AT, JOIN, LABEL_BITS, N_WORDS, NONE
from cepheid.kernels.matches.output import BEFORE, BEGUN_AT, ROOTS, put_root
from cepheid.kernels.memory.big_integers import add, add_product, add_to, is_zero
from cepheid.kernels.memory.heap import resize, room_for, with_room
from cepheid.kernels.memory.status import (
    BEYOND_LIMIT,
    DONE,
    INTERRUPTED,
    MORE_OUTPUT,
    MORE_TRANSITIONS,
    MORE_WORDS,
    TOO_MANY,
)

# Why a partition's events are not taken further for the moment.
END, ROOM, EXPIRED, OUTPUT, CONSUMED, UNKNOWN_TRANSITIONS, LARGE, GARBAGE, STOPPED, BEYOND = range(10)


@allocating
def slide(table, batch, begin, options, heap, meta, partitions, total, out):
    """Takes the events from `begin` on.

    Gives (why it stopped, event it stopped at, state, class, heap). That event has not been taken, and the call can be
    repeated from there.
    """
    slot = np.full(table.skip.shape[0], -1, np.int64)
    work = np.empty(64, np.int64)
    stack = np.empty(6 * 64, np.int64)
    status, state, klass = DONE, 0, 0
    i = begin
    seen = ticks()
    while i < len(batch.partition) and status == DONE:
        seen = poll(seen)
        if seen < 0:
            break
        partition = batch.partition[i]
        if partitions[partition, N_BACK] == 0:
            heap = reset(heap, meta, partitions, partition, options.words)
        enter(heap, partitions, partition, slot, options.words)
        if out.made[BEGUN_AT] != i and (i == 0 or batch.partition[i - 1] != partition):
            out.made[BEFORE] = out.made[0]
            out.made[BEGUN_AT] = i
        limit = out.made[BEFORE] + options.limit
        why = ROOM
        while why != END and status == DONE:
            why, i, state, klass = run_partition(
                table,
                batch,
                i,
                partition,
                options,
                heap,
                partitions,
                slot,
                work,
                stack,
                total,
                limit,
                out,
            )
            if why == ROOM:
                heap, work = prepare(table, klass, options, heap, meta, partitions, partition, work)
                if len(stack) <= 6 * partitions[partition, N_NODES]:
                    stack = np.empty(6 * (2 * partitions[partition, N_NODES] + 2), np.int64)
            elif why == EXPIRED:
                status, state, klass, heap = expire(
                    table, batch.edge[i], options, heap, meta, partitions, partition, slot
                )
            elif why == STOPPED:
                status = INTERRUPTED
            elif why == BEYOND:
                status = BEYOND_LIMIT
            elif why == OUTPUT:
                status = TOO_MANY if len(out.rows) >= options.guard else MORE_OUTPUT
            elif why == CONSUMED:
                leave(heap, partitions, partition, slot, options.words)
                heap = reset(heap, meta, partitions, partition, options.words)
                enter(heap, partitions, partition, slot, options.words)
            elif why == UNKNOWN_TRANSITIONS:
                status = MORE_TRANSITIONS
            elif why == LARGE:
                status = MORE_WORDS
            elif why == GARBAGE:
                collect(heap, partitions, partition)
        leave(heap, partitions, partition, slot, options.words)
    return status, i, state, klass, heap


@inlined
def run_partition(
    table,
    batch,
    i,
    partition,
    options,
    heap,
    partitions,
    slot,
    work,
    stack,
    total,
    limit,
    out,
):
    """Takes events from `i` on as long as they are of one partition and no array has to grow or be replaced, which
    would make this loop several times slower.

    Gives (why it stopped, the event it stopped at, state, class).
    """
    key = PLACE if options.by_position else ROW
    why, state, klass = END, 0, 0
    seen = ticks()
    while i < len(batch.partition) and batch.partition[i] == partition:
        seen = poll(seen)
        if seen < 0:
            why = STOPPED
            break
        if options.windowed and pass_edge(heap, partitions, partition, key, batch.edge[i]):
            why = EXPIRED
            break
        klass = batch.klass[i]
        gap = options.gaps and batch.position[i] != partitions[partition, LAST] + 1
        if gap:
            klass = 0
        state = first_unknown(table, klass, options, heap, partitions, partition)
        if state >= 0:
            why = UNKNOWN_TRANSITIONS
            break
        if not is_prepared(table, klass, options, heap, partitions, partition, work, stack):
            why = ROOM
            break
        if gap:
            n_work = take_out(table, 0, options, heap, partitions, partition, slot, work)
            skip_on(table, 0, options, heap, partitions, partition, slot, work, n_work)
            partitions[partition, LAST] = batch.position[i] - 1
            continue
        matched = False
        if options.report or options.consume:
            if options.counting:
                matched = count_matches(table, klass, options, heap, partitions, partition, total)
            else:
                matched, status = emit_matches(
                    table, klass, batch.row[i], options, heap, partitions, partition, stack, limit, out
                )
                if status != DONE:
                    why = OUTPUT
                    if status == INTERRUPTED:
                        why = STOPPED
                    elif status == BEYOND_LIMIT:
                        why = BEYOND
                    break
        partitions[partition, LAST] = batch.position[i]
        i += 1
        if options.consume and matched:
            why = CONSUMED
            break
        n_work = take_out(table, klass, options, heap, partitions, partition, slot, work)
        large = skip_on(table, klass, options, heap, partitions, partition, slot, work, n_work)
        large |= mark_on(
            table, klass, batch.row[i - 1], options, heap, partitions, partition, slot, work, n_work
        )
        if options.windowed:
            note_event(heap, partitions, partition, batch.row[i - 1], batch.position[i - 1], klass)
        elif not options.counting and partitions[partition, N_NODES] > max(
            partitions[partition, COLLECT_AT], 1024
        ):
            why = GARBAGE
            break
        if large:
            why = LARGE
            break
    return why, i, state, klass


@inlined
def pass_edge(heap, partitions, partition, key, edge):
    """Moves the partition's low end up to the edge; whether the edge has passed the pivot."""
    events = partitions[partition, EVENTS]
    low, pivot = partitions[partition, LOW], partitions[partition, PIVOT]
    while low < pivot and heap[events + low * EVENT_WORDS + key] < edge:
        low += 1
    partitions[partition, LOW] = low
    return pivot < partitions[partition, N_EVENTS] and heap[events + pivot * EVENT_WORDS + key] < edge


@inlined
def room_needed(table, klass, options, heap, partitions, partition):
    """What one step on this class may need: (words of the back, words used of it, new nodes, words of work)."""
    width = partitions[partition, WIDTH]
    size = 1 + width * options.words
    active = partitions[partition, N_BACK]
    base = partitions[partition, BACK] + width
    marks = 0
    for entry in range(active):
        marks += 1 + table.marks[heap[base + entry * size], klass]
    used = width + active * size
    nodes = 0 if options.counting else marks * width
    return used + marks * size, used, nodes, active * size


@inlined
def is_prepared(table, klass, options, heap, partitions, partition, work, stack):
    back, _, nodes, needed = room_needed(table, klass, options, heap, partitions, partition)
    if back > 1 << partitions[partition, BACK_K] or needed > len(work):
        return False
    if options.windowed and (
        partitions[partition, EVENTS] == 0
        or (partitions[partition, N_EVENTS] + 1) * EVENT_WORDS > 1 << partitions[partition, EVENTS_K]
    ):
        return False
    if options.counting:
        return True
    n_nodes = partitions[partition, N_NODES]
    return (
        partitions[partition, NODES] > 0
        and (n_nodes + nodes) * N_WORDS <= 1 << partitions[partition, NODES_K]
        and 6 * n_nodes < len(stack)
    )


@inlined
def first_unknown(table, klass, options, heap, partitions, partition):
    """An active state whose transitions on this class are not in the table yet, or -1."""
    width = partitions[partition, WIDTH]
    base = partitions[partition, BACK] + width
    for entry in range(partitions[partition, N_BACK]):
        state = heap[base + entry * (1 + width * options.words)]
        if table.skip[state, klass] == UNKNOWN:
            return state
    return -1


@allocating
def prepare(table, klass, options, heap, meta, partitions, partition, work):
    """Room for what one step can add: (heap, work)."""
    back, used, nodes, needed = room_needed(table, klass, options, heap, partitions, partition)
    heap, partitions[partition, BACK], partitions[partition, BACK_K] = resize(
        heap, meta, partitions[partition, BACK], partitions[partition, BACK_K], used, back
    )
    if not options.counting:
        heap = reserve_nodes(heap, meta, partitions, partition, nodes)
    if options.windowed:
        n_events = partitions[partition, N_EVENTS]
        heap = with_room(heap, meta[0], meta[0] + 1 + room_for((n_events + 1) * EVENT_WORDS))
        reserve_event(heap, meta, partitions, partition, n_events)
    if len(work) < needed:
        work = np.empty(2 * needed, np.int64)
    return heap, work


@inlined
def take_out(table, klass, options, heap, partitions, partition, slot, work):
    """Copies the entries with transitions on this class to `work` and removes those that leave their state.

    Gives the number of entries in `work`.
    """
    width = partitions[partition, WIDTH]
    size = 1 + width * options.words
    base = partitions[partition, BACK] + width
    n_work = 0
    kept = 0
    for entry in range(partitions[partition, N_BACK]):
        at = base + entry * size
        state = heap[at]
        stays = table.skip[state, klass] == state
        if not stays or table.marks[state, klass] > 0:
            for i in range(size):
                work[n_work * size + i] = heap[at + i]
            n_work += 1
        if stays:
            if kept != entry:
                to = base + kept * size
                for i in range(size):
                    heap[to + i] = heap[at + i]
                slot[state] = kept
            kept += 1
        else:
            slot[state] = -1
    partitions[partition, N_BACK] = kept
    return n_work


@inlined
def entry_of(state, options, heap, partitions, partition, slot):
    """Where the values of an active state begin; the state becomes active with empty values if it was not."""
    width = partitions[partition, WIDTH]
    size = 1 + width * options.words
    entry = slot[state]
    at = partitions[partition, BACK] + width + entry * size + 1
    if entry < 0:
        entry = partitions[partition, N_BACK]
        partitions[partition, N_BACK] = entry + 1
        slot[state] = entry
        at = partitions[partition, BACK] + width + entry * size + 1
        heap[at - 1] = state
        for i in range(width * options.words):
            heap[at + i] = NONE
    return at


@inlined
def skip_on(table, klass, options, heap, partitions, partition, slot, work, n_work):
    """The entries in `work` that skip to another state join it. True when a number has become large."""
    width = partitions[partition, WIDTH]
    size = 1 + width * options.words
    large = False
    for k in range(n_work):
        state = work[k * size]
        target = table.skip[state, klass]
        if target == state or target == DEAD:
            continue
        at = entry_of(target, options, heap, partitions, partition, slot)
        for p in range(width):
            if options.counting:
                large |= add(
                    heap, at + p * options.words, work, k * size + 1 + p * options.words, options.words
                )
            else:
                value = work[k * size + 1 + p]
                if heap[at + p] == NONE:
                    heap[at + p] = value
                elif value != NONE:
                    heap[at + p] = new_node(heap, partitions, partition, JOIN, heap[at + p], value)
    return large


@inlined
def mark_on(table, klass, row, options, heap, partitions, partition, slot, work, n_work):
    """Makes the marks of the entries in `work`: whether a number has become large."""
    width = partitions[partition, WIDTH]
    size = 1 + width * options.words
    large = False
    for k in range(n_work):
        state = work[k * size]
        first = table.first[state, klass]
        for mark in range(first, first + table.marks[state, klass]):
            if table.target[mark] == DEAD:
                continue
            at = entry_of(table.target[mark], options, heap, partitions, partition, slot)
            for p in range(width):
                if options.counting:
                    large |= add(
                        heap, at + p * options.words, work, k * size + 1 + p * options.words, options.words
                    )
                elif work[k * size + 1 + p] != NONE:
                    event = row << LABEL_BITS | table.label[mark]
                    heap[at + p] = new_node(
                        heap, partitions, partition, event, work[k * size + 1 + p], heap[at + p]
                    )
    return large


@inlined
def count_matches(table, klass, options, heap, partitions, partition, total):
    """Adds the number of matches that end here to `total`; whether there is any."""
    width = partitions[partition, WIDTH]
    words = options.words
    size = 1 + width * words
    base = partitions[partition, BACK] + width
    in_front = partitions[partition, LOW] < partitions[partition, PIVOT]
    front = partitions[partition, FRONT] + partitions[partition, LOW] * width * words
    matched = False
    for entry in range(partitions[partition, N_BACK]):
        at = base + entry * size
        first = table.first[heap[at], klass]
        for mark in range(first, first + table.marks[heap[at], klass]):
            if not table.accepts[mark]:
                continue
            for p in range(width if in_front else 1):
                back = at + 1 + p * words
                if is_zero(heap, back, words):
                    continue
                if not in_front:
                    matched = True
                    if options.report:
                        add_to(total, heap, back, words)
                elif not is_zero(heap, front + p * words, words):
                    matched = True
                    if options.report:
                        add_product(total, heap, front + p * words, heap, back, words)
    return matched


@inlined
def emit_matches(table, klass, row, options, heap, partitions, partition, stack, limit, out):
    """Writes the matches that end here: (whether there is any, a status)."""
    width = partitions[partition, WIDTH]
    size = 1 + width
    base = partitions[partition, BACK] + width
    in_front = partitions[partition, LOW] < partitions[partition, PIVOT]
    front = partitions[partition, FRONT] + partitions[partition, LOW] * width
    matched, made = False, out.made[0]
    for entry in range(partitions[partition, N_BACK]):
        at = base + entry * size
        first = table.first[heap[at], klass]
        for mark in range(first, first + table.marks[heap[at], klass]):
            if not table.accepts[mark]:
                continue
            for p in range(width if in_front else 1):
                before = heap[front + p] if in_front else BEGIN
                if before == NONE or heap[at + 1 + p] == NONE:
                    continue
                matched = True
                if options.report and options.limit == ROOTS:
                    ending = row << LABEL_BITS | table.label[mark]
                    status, made = put_root(before, heap[at + 1 + p], ending, made, out)
                    if status != DONE:
                        return matched, status
                elif options.report and out.made[0] < limit:
                    status, made = emit(
                        heap,
                        partitions[partition, NODES] - FIRST_AT,
                        before,
                        heap[at + 1 + p],
                        row << LABEL_BITS | table.label[mark],
                        limit + options.spare,
                        options.guard,
                        stack,
                        made,
                        out,
                    )
                    if status != DONE:
                        return matched, status
    out.made[0] = made
    return matched, BEYOND_LIMIT if matched and options.limit == ROOTS else DONE


@allocating_inlined
def expire(table, edge, options, heap, meta, partitions, partition, slot):
    """Moves the pivot to now, the edge having passed it."""
    events = partitions[partition, EVENTS]
    key = PLACE if options.by_position else ROW
    begin, end = partitions[partition, PIVOT], partitions[partition, N_EVENTS]
    while begin < end and heap[events + begin * EVENT_WORDS + key] < edge:
        begin += 1
    if begin == end:
        leave(heap, partitions, partition, slot, options.words)
        heap = reset(heap, meta, partitions, partition, options.words)
        enter(heap, partitions, partition, slot, options.words)
        return DONE, 0, 0, heap
    return move_pivot(table, begin, options, heap, meta, partitions, partition, slot)
