"""The loop of the compact evaluator: matches that end at each event, inside a window that slides.

Over a stretch of events the determinised automaton is a matrix: for each pair of states the ways from one to the other
(their number, or the marks they make). What a window holds is the product of its events' matrices, and products slide
by the two-stack technique: the events before a *pivot* keep, one vector each, the product from them up to the pivot;
the events after it are kept as one product that every event extends by one step. When the window's edge reaches the
pivot, the events after it are turned into vectors, newest first, and the pivot moves to now. Each event is
extended once and turned once, so an event costs the same however long the window is, and nothing that has left the
window can be seen: a strategy's automaton started at the edge chooses among what is inside.

Without a window nothing is ever turned and only the row of the start state exists.
"""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import allocating, allocating_inlined, inlined
from cepheid.kernels.interrupts import interrupted, poll, ticks
from cepheid.kernels.loops.sliding.move_pivot import turn
from cepheid.kernels.loops.sliding.partition_state import (
    BACK,
    BACK_K,
    CELLS,
    CELLS_K,
    COLLECT_AT,
    EVENT_WORDS,
    EVENTS,
    EVENTS_K,
    FRONT,
    LAST,
    LOW,
    N_BACK,
    N_CELLS,
    N_EVENTS,
    PIVOT,
    PLACE,
    ROW,
    WIDTH,
    collect,
    enter,
    leave,
    new_cell,
    note_event,
    reserve_cells,
    reserve_event,
    reset,
)
from cepheid.kernels.loops.sliding.tables import DEAD, UNKNOWN
from cepheid.kernels.matches.cells import CELL_WORDS, EMPTY, NOTHING, UNION
from cepheid.kernels.matches.enumerate_cells import emit, enlarged
from cepheid.kernels.memory.big_integers import add, add_product, add_to, is_zero
from cepheid.kernels.memory.heap import resize, room_for, with_room
from cepheid.kernels.memory.status import DONE, INTERRUPTED, MORE_TRANSITIONS, MORE_WORDS, TOO_MANY

# Why a lane's events are not taken further for the moment.
END, ROOM, EXPIRED, OUTPUT, CONSUMED, UNKNOWN_MOVES, LARGE, GARBAGE, STOPPED = range(9)


@allocating
def slide(table, batch, begin, options, heap, meta, lanes, total, out_offsets, out_rows, out_labels, made):
    """Takes the events from `begin` on.

    Gives (why it stopped, event it stopped at, state, class, heap, matches made, offsets, rows, labels). Where it
    stopped for MORE_TRANSITIONS or MORE_WORDS the event has not been taken, and the call can be repeated from there.
    """
    slot = np.full(table.skip.shape[0], -1, np.int64)
    work = np.empty(64, np.int64)
    stack = np.empty(6 * 64, np.int64)
    status, state, klass = DONE, 0, 0
    i = begin
    seen = ticks()
    while i < len(batch.lane) and status == DONE:
        seen = poll(seen)
        if seen < 0:
            break
        lane = batch.lane[i]
        if lanes[lane, N_BACK] == 0:
            heap = reset(heap, meta, lanes, lane, options.words, options.counting)
        enter(heap, lanes, lane, slot, options.words)
        limit = made + options.limit
        why = ROOM
        while why != END and status == DONE:
            why, i, state, klass, made = run_lane(
                table,
                batch,
                i,
                lane,
                options,
                heap,
                lanes,
                slot,
                work,
                stack,
                total,
                limit,
                made,
                out_offsets,
                out_rows,
                out_labels,
            )
            if why == ROOM:
                heap, work = prepare(table, klass, options, heap, meta, lanes, lane, work)
                if len(stack) <= 6 * lanes[lane, N_CELLS]:
                    stack = np.empty(6 * (2 * lanes[lane, N_CELLS] + 2), np.int64)
            elif why == EXPIRED:
                status, state, klass, heap = expire(
                    table, batch.edge[i], options, heap, meta, lanes, lane, slot
                )
            elif why == STOPPED:
                status = INTERRUPTED
            elif why == OUTPUT:
                if interrupted():
                    status = INTERRUPTED
                    break
                if len(out_rows) >= options.guard:
                    status = TOO_MANY
                out_offsets = enlarged(out_offsets)
                out_rows = enlarged(out_rows)
                out_labels = enlarged(out_labels)
            elif why == CONSUMED:
                leave(heap, lanes, lane, slot, options.words)
                heap = reset(heap, meta, lanes, lane, options.words, options.counting)
                enter(heap, lanes, lane, slot, options.words)
            elif why == UNKNOWN_MOVES:
                status = MORE_TRANSITIONS
            elif why == LARGE:
                status = MORE_WORDS
            elif why == GARBAGE:
                collect(heap, lanes, lane)
        leave(heap, lanes, lane, slot, options.words)
    return status, i, state, klass, heap, made, out_offsets, out_rows, out_labels


@inlined
def run_lane(
    table,
    batch,
    i,
    lane,
    options,
    heap,
    lanes,
    slot,
    work,
    stack,
    total,
    limit,
    made,
    out_offsets,
    out_rows,
    out_labels,
):
    """Takes events from `i` on as long as they are of one lane and no array has to grow or be exchanged: which inside
    of this loop would make it several times slower.

    Gives (why it stopped, the event it stopped at, state, class, matches made).
    """
    key = PLACE if options.by_position else ROW
    why, state, klass = END, 0, 0
    seen = ticks()
    while i < len(batch.lane) and batch.lane[i] == lane:
        seen = poll(seen)
        if seen < 0:
            why = STOPPED
            break
        if options.windowed and pass_edge(heap, lanes, lane, key, batch.edge[i]):
            why = EXPIRED
            break
        klass = batch.klass[i]
        gap = options.gaps and batch.position[i] != lanes[lane, LAST] + 1
        if gap:
            klass = 0
        state = first_unknown(table, klass, options, heap, lanes, lane)
        if state >= 0:
            why = UNKNOWN_MOVES
            break
        if not is_prepared(table, klass, options, heap, lanes, lane, work, stack):
            why = ROOM
            break
        if gap:
            n_work = take_out(table, 0, options, heap, lanes, lane, slot, work)
            skip_on(table, 0, options, heap, lanes, lane, slot, work, n_work)
            lanes[lane, LAST] = batch.position[i] - 1
            continue
        matched = False
        if options.report or options.consume:
            if options.counting:
                matched = count_matches(table, klass, options, heap, lanes, lane, total)
            else:
                matched, after = emit_matches(
                    table,
                    klass,
                    batch.row[i],
                    options,
                    heap,
                    lanes,
                    lane,
                    stack,
                    limit,
                    made,
                    out_offsets,
                    out_rows,
                    out_labels,
                )
                if after < 0:
                    why = OUTPUT
                    break
                made = after
        lanes[lane, LAST] = batch.position[i]
        i += 1
        if options.consume and matched:
            why = CONSUMED
            break
        n_work = take_out(table, klass, options, heap, lanes, lane, slot, work)
        large = skip_on(table, klass, options, heap, lanes, lane, slot, work, n_work)
        large |= mark_on(table, klass, batch.row[i - 1], options, heap, lanes, lane, slot, work, n_work)
        if options.windowed:
            note_event(heap, lanes, lane, batch.row[i - 1], batch.position[i - 1], klass)
        elif not options.counting and lanes[lane, N_CELLS] > max(lanes[lane, COLLECT_AT], 1024):
            why = GARBAGE
            break
        if large:
            why = LARGE
            break
    return why, i, state, klass, made


@inlined
def pass_edge(heap, lanes, lane, key, edge):
    """Moves the lane's low end up to the edge; whether the edge has passed the pivot."""
    events = lanes[lane, EVENTS]
    low, pivot = lanes[lane, LOW], lanes[lane, PIVOT]
    while low < pivot and heap[events + low * EVENT_WORDS + key] < edge:
        low += 1
    lanes[lane, LOW] = low
    return pivot < lanes[lane, N_EVENTS] and heap[events + pivot * EVENT_WORDS + key] < edge


@inlined
def room_needed(table, klass, options, heap, lanes, lane):
    """What one step on this class may need: (words of the back, words used of it, new cells, words of work)."""
    width = lanes[lane, WIDTH]
    size = 1 + width * options.words
    active = lanes[lane, N_BACK]
    base = lanes[lane, BACK] + width
    moves = 0
    for entry in range(active):
        moves += 1 + table.moves[heap[base + entry * size], klass]
    used = width + active * size
    cells = 0 if options.counting else moves * width
    return used + moves * size, used, cells, active * size


@inlined
def is_prepared(table, klass, options, heap, lanes, lane, work, stack):
    back, _, cells, needed = room_needed(table, klass, options, heap, lanes, lane)
    if back > 1 << lanes[lane, BACK_K] or needed > len(work):
        return False
    if options.windowed and (
        lanes[lane, EVENTS] == 0 or (lanes[lane, N_EVENTS] + 1) * EVENT_WORDS > 1 << lanes[lane, EVENTS_K]
    ):
        return False
    if options.counting:
        return True
    n_cells = lanes[lane, N_CELLS]
    return (
        lanes[lane, CELLS] > 0
        and (n_cells + cells) * CELL_WORDS <= 1 << lanes[lane, CELLS_K]
        and 6 * n_cells < len(stack)
    )


@inlined
def first_unknown(table, klass, options, heap, lanes, lane):
    """An active state whose moves on this class are not in the table yet, or -1."""
    width = lanes[lane, WIDTH]
    base = lanes[lane, BACK] + width
    for entry in range(lanes[lane, N_BACK]):
        state = heap[base + entry * (1 + width * options.words)]
        if table.skip[state, klass] == UNKNOWN:
            return state
    return -1


@allocating
def prepare(table, klass, options, heap, meta, lanes, lane, work):
    """Room for what one step can add: (heap, work)."""
    back, used, cells, needed = room_needed(table, klass, options, heap, lanes, lane)
    heap, lanes[lane, BACK], lanes[lane, BACK_K] = resize(
        heap, meta, lanes[lane, BACK], lanes[lane, BACK_K], used, back
    )
    if not options.counting:
        heap = reserve_cells(heap, meta, lanes, lane, cells)
    if options.windowed:
        n_events = lanes[lane, N_EVENTS]
        heap = with_room(heap, meta[0], meta[0] + 1 + room_for((n_events + 1) * EVENT_WORDS))
        reserve_event(heap, meta, lanes, lane, n_events)
    if len(work) < needed:
        work = np.empty(2 * needed, np.int64)
    return heap, work


@inlined
def take_out(table, klass, options, heap, lanes, lane, slot, work):
    """Copies the entries that this class moves to `work`; those that do not stay where they are leave the lane.

    Gives the number of entries in `work`.
    """
    width = lanes[lane, WIDTH]
    size = 1 + width * options.words
    base = lanes[lane, BACK] + width
    n_work = 0
    kept = 0
    for entry in range(lanes[lane, N_BACK]):
        at = base + entry * size
        state = heap[at]
        stays = table.skip[state, klass] == state
        if not stays or table.moves[state, klass] > 0:
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
    lanes[lane, N_BACK] = kept
    return n_work


@inlined
def entry_of(state, options, heap, lanes, lane, slot):
    """Where the values of an active state begin; the state becomes active with empty values if it was not."""
    width = lanes[lane, WIDTH]
    size = 1 + width * options.words
    entry = slot[state]
    at = lanes[lane, BACK] + width + entry * size + 1
    if entry < 0:
        entry = lanes[lane, N_BACK]
        lanes[lane, N_BACK] = entry + 1
        slot[state] = entry
        at = lanes[lane, BACK] + width + entry * size + 1
        heap[at - 1] = state
        nothing = 0 if options.counting else EMPTY
        for i in range(width * options.words):
            heap[at + i] = nothing
    return at


@inlined
def skip_on(table, klass, options, heap, lanes, lane, slot, work, n_work):
    """The entries in `work` that skip to another state join it. True when a number has become large."""
    width = lanes[lane, WIDTH]
    size = 1 + width * options.words
    large = False
    for k in range(n_work):
        state = work[k * size]
        target = table.skip[state, klass]
        if target == state or target == DEAD:
            continue
        at = entry_of(target, options, heap, lanes, lane, slot)
        for p in range(width):
            if options.counting:
                large |= add(
                    heap, at + p * options.words, work, k * size + 1 + p * options.words, options.words
                )
            else:
                value = work[k * size + 1 + p]
                if value == EMPTY:
                    continue
                if heap[at + p] == EMPTY:
                    heap[at + p] = value
                else:
                    heap[at + p] = new_cell(heap, lanes, lane, 0, UNION, heap[at + p], value)
    return large


@inlined
def mark_on(table, klass, row, options, heap, lanes, lane, slot, work, n_work):
    """The marking moves of the entries in `work`. True when a number has become large."""
    width = lanes[lane, WIDTH]
    size = 1 + width * options.words
    large = False
    for k in range(n_work):
        state = work[k * size]
        first = table.first[state, klass]
        for move in range(first, first + table.moves[state, klass]):
            if table.target[move] == DEAD:
                continue
            at = entry_of(table.target[move], options, heap, lanes, lane, slot)
            for p in range(width):
                if options.counting:
                    large |= add(
                        heap, at + p * options.words, work, k * size + 1 + p * options.words, options.words
                    )
                elif work[k * size + 1 + p] != EMPTY:
                    heap[at + p] = new_cell(
                        heap, lanes, lane, row, table.label[move], work[k * size + 1 + p], heap[at + p]
                    )
    return large


@inlined
def count_matches(table, klass, options, heap, lanes, lane, total):
    """Adds the number of matches that end here to `total`; whether there is any."""
    width = lanes[lane, WIDTH]
    words = options.words
    size = 1 + width * words
    base = lanes[lane, BACK] + width
    in_front = lanes[lane, LOW] < lanes[lane, PIVOT]
    front = lanes[lane, FRONT] + lanes[lane, LOW] * width * words
    matched = False
    for entry in range(lanes[lane, N_BACK]):
        at = base + entry * size
        first = table.first[heap[at], klass]
        for move in range(first, first + table.moves[heap[at], klass]):
            if not table.accepts[move]:
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
def emit_matches(
    table, klass, row, options, heap, lanes, lane, stack, limit, made, out_offsets, out_rows, out_labels
):
    """Writes the matches that end here: (whether there is any, matches made, or -1 where there is no room)."""
    width = lanes[lane, WIDTH]
    size = 1 + width
    base = lanes[lane, BACK] + width
    in_front = lanes[lane, LOW] < lanes[lane, PIVOT]
    front = lanes[lane, FRONT] + lanes[lane, LOW] * width
    matched = False
    for entry in range(lanes[lane, N_BACK]):
        at = base + entry * size
        first = table.first[heap[at], klass]
        for move in range(first, first + table.moves[heap[at], klass]):
            if not table.accepts[move]:
                continue
            for p in range(width if in_front else 1):
                before = heap[front + p] if in_front else NOTHING
                if before == EMPTY or heap[at + 1 + p] == EMPTY:
                    continue
                matched = True
                if options.report:
                    made = emit(
                        heap,
                        lanes[lane, CELLS],
                        before,
                        heap[at + 1 + p],
                        row,
                        table.label[move],
                        stack,
                        limit,
                        options.guard,
                        made,
                        out_offsets,
                        out_rows,
                        out_labels,
                    )
                    if made < 0:
                        return matched, made
    return matched, made


@allocating_inlined
def expire(table, edge, options, heap, meta, lanes, lane, slot):
    """Moves the pivot to now, the edge having passed it."""
    events = lanes[lane, EVENTS]
    key = PLACE if options.by_position else ROW
    begin, end = lanes[lane, PIVOT], lanes[lane, N_EVENTS]
    while begin < end and heap[events + begin * EVENT_WORDS + key] < edge:
        begin += 1
    if begin == end:
        leave(heap, lanes, lane, slot, options.words)
        heap = reset(heap, meta, lanes, lane, options.words, options.counting)
        enter(heap, lanes, lane, slot, options.words)
        return DONE, 0, 0, heap
    return turn(table, begin, options, heap, meta, lanes, lane, slot)
