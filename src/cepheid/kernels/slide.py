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

from typing import NamedTuple

import numba
import numpy as np

from cepheid.kernels.emit import emit
from cepheid.kernels.heap import resize
from cepheid.kernels.lane import (
    BACK,
    BACK_K,
    CELLS,
    CLASS,
    COLLECT_AT,
    EMPTY,
    EVENT_WORDS,
    EVENTS,
    FRONT,
    FRONT_K,
    LAST,
    LOW,
    N_BACK,
    N_CELLS,
    N_EVENTS,
    NOTHING,
    PIVOT,
    POSITION,
    ROW,
    UNION,
    WIDTH,
    append_event,
    collect,
    new_cell,
    reserve_cells,
    reset,
)
from cepheid.kernels.numbers import add, add_product, add_to, is_zero

UNKNOWN = -2  # a cell of the table not filled yet
DEAD = -1

DONE, MISSING, WIDEN, TOO_MANY = 0, 1, 2, 3  # why the loop returned


class Table(NamedTuple):
    """The determinised automaton: per (state, class) where skipping leads, and a range of marking moves."""

    skip: np.ndarray  # [state, class]: a state, DEAD or UNKNOWN
    first: np.ndarray  # [state, class]: number of the first marking move
    moves: np.ndarray  # [state, class]: how many
    label: np.ndarray  # per move
    target: np.ndarray  # per move: a state or DEAD
    accepts: np.ndarray  # per move


class Batch(NamedTuple):
    """Relevant events grouped by lane, in stream order inside each."""

    lane: np.ndarray
    row: np.ndarray
    position: np.ndarray
    klass: np.ndarray
    edge: np.ndarray  # the least row (or position) a match that ends here may start at


class Options(NamedTuple):
    words: int  # words per value
    counting: bool
    windowed: bool
    by_position: bool  # the window's edge is a position, not a row
    gaps: bool  # skipping an irrelevant event changes some state
    consume: bool
    report: bool
    limit: int  # matches per lane in this call
    guard: int  # events in all matches of this call


@numba.njit(cache=True)
def slide(table, batch, begin, options, heap, meta, lanes, total, out_offsets, out_rows, out_labels, made):
    """Takes the events from `begin` on.

    Gives (why it stopped, event it stopped at, state, class, heap, matches made, offsets, rows, labels). Where it
    stopped for MISSING or WIDEN the event has not been taken, and the call can be repeated from there.
    """
    states = table.skip.shape[0]
    slot = np.full(states, -1, np.int64)
    work = np.empty(64, np.int64)
    stack = np.empty(6 * 64, np.int64)
    status, state, klass = DONE, 0, 0
    lane = -1
    made_before = made
    i = begin
    while i < len(batch.lane):
        if batch.lane[i] != lane:
            if lane >= 0:
                leave(heap, lanes, lane, slot, options.words)
            lane = batch.lane[i]
            made_before = made
            if lanes[lane, N_BACK] == 0:
                heap = reset(heap, meta, lanes, lane, options.words, options.counting)
            enter(heap, lanes, lane, slot, options.words)
        if options.windowed:
            status, state, klass, heap = expire(table, batch.edge[i], options, heap, meta, lanes, lane, slot)
            if status != DONE:
                break
        if options.gaps and batch.position[i] != lanes[lane, LAST] + 1:
            state = first_unknown(table, 0, options, heap, lanes, lane)
            if state >= 0:
                status, klass = MISSING, 0
                break
            heap, work = prepare(table, 0, options, heap, meta, lanes, lane, work)
            n_work = take_out(table, 0, options, heap, lanes, lane, slot, work)
            skip_on(table, 0, options, heap, lanes, lane, slot, work, n_work)
            lanes[lane, LAST] = batch.position[i] - 1
        klass = batch.klass[i]
        state = first_unknown(table, klass, options, heap, lanes, lane)
        if state >= 0:
            status = MISSING
            break
        heap, work = prepare(table, klass, options, heap, meta, lanes, lane, work)
        n_work = take_out(table, klass, options, heap, lanes, lane, slot, work)
        matched = False
        if options.report or options.consume:
            if options.counting:
                matched = count_matches(table, klass, options, heap, lanes, lane, work, n_work, total)
            else:
                if len(stack) <= 6 * lanes[lane, N_CELLS]:
                    stack = np.empty(6 * (2 * lanes[lane, N_CELLS] + 2), np.int64)
                matched, made, out_offsets, out_rows, out_labels = emit_matches(
                    table,
                    klass,
                    batch.row[i],
                    options,
                    heap,
                    lanes,
                    lane,
                    work,
                    n_work,
                    stack,
                    made_before + options.limit,
                    made,
                    out_offsets,
                    out_rows,
                    out_labels,
                )
                if made < 0:
                    status = TOO_MANY
                    break
        lanes[lane, LAST] = batch.position[i]
        if options.consume and matched:
            leave(heap, lanes, lane, slot, options.words)
            heap = reset(heap, meta, lanes, lane, options.words, options.counting)
            enter(heap, lanes, lane, slot, options.words)
            i += 1
            continue
        large = skip_on(table, klass, options, heap, lanes, lane, slot, work, n_work)
        large |= mark_on(table, klass, batch.row[i], options, heap, lanes, lane, slot, work, n_work)
        if options.windowed:
            heap = append_event(heap, meta, lanes, lane, batch.row[i], batch.position[i], klass)
        elif not options.counting and lanes[lane, N_CELLS] > max(lanes[lane, COLLECT_AT], 1024):
            collect(heap, lanes, lane)
        i += 1
        if large:
            status = WIDEN
            break
    if lane >= 0:
        leave(heap, lanes, lane, slot, options.words)
    return status, i, state, klass, heap, made, out_offsets, out_rows, out_labels


@numba.njit(cache=True, forceinline=True)
def enter(heap, lanes, lane, slot, words):
    """Notes in which entry each active state of the lane is."""
    width = lanes[lane, WIDTH]
    base = lanes[lane, BACK] + width
    for entry in range(lanes[lane, N_BACK]):
        slot[heap[base + entry * (1 + width * words)]] = entry


@numba.njit(cache=True, forceinline=True)
def leave(heap, lanes, lane, slot, words):
    width = lanes[lane, WIDTH]
    base = lanes[lane, BACK] + width
    for entry in range(lanes[lane, N_BACK]):
        slot[heap[base + entry * (1 + width * words)]] = -1


@numba.njit(cache=True, forceinline=True)
def first_unknown(table, klass, options, heap, lanes, lane):
    """An active state whose moves on this class are not in the table yet, or -1."""
    width = lanes[lane, WIDTH]
    base = lanes[lane, BACK] + width
    for entry in range(lanes[lane, N_BACK]):
        state = heap[base + entry * (1 + width * options.words)]
        if table.skip[state, klass] == UNKNOWN:
            return state
    return -1


@numba.njit(cache=True, forceinline=True)
def prepare(table, klass, options, heap, meta, lanes, lane, work):
    """Room for what one step can add: (heap, work)."""
    width = lanes[lane, WIDTH]
    words = width * options.words
    active = lanes[lane, N_BACK]
    base = lanes[lane, BACK] + width
    moves = 0
    for entry in range(active):
        moves += 1 + table.moves[heap[base + entry * (1 + words)], klass]
    used = width + active * (1 + words)
    heap, lanes[lane, BACK], lanes[lane, BACK_K] = resize(
        heap, meta, lanes[lane, BACK], lanes[lane, BACK_K], used, used + moves * (1 + words)
    )
    if not options.counting:
        heap = reserve_cells(heap, meta, lanes, lane, moves * width)
    if len(work) < active * (1 + words):
        work = np.empty(2 * active * (1 + words), np.int64)
    return heap, work


@numba.njit(cache=True, forceinline=True)
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


@numba.njit(cache=True, forceinline=True)
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


@numba.njit(cache=True, forceinline=True)
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


@numba.njit(cache=True, forceinline=True)
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


@numba.njit(cache=True, forceinline=True)
def count_matches(table, klass, options, heap, lanes, lane, work, n_work, total):
    """Adds the number of matches that end here to `total`; whether there is any."""
    width = lanes[lane, WIDTH]
    words = options.words
    size = 1 + width * words
    in_front = lanes[lane, LOW] < lanes[lane, PIVOT]
    front = lanes[lane, FRONT] + lanes[lane, LOW] * width * words
    matched = False
    for k in range(n_work):
        state = work[k * size]
        first = table.first[state, klass]
        for move in range(first, first + table.moves[state, klass]):
            if not table.accepts[move]:
                continue
            for p in range(width if in_front else 1):
                back = k * size + 1 + p * words
                if is_zero(work, back, words):
                    continue
                if not in_front:
                    matched = True
                    if options.report:
                        add_to(total, work, back, words)
                elif not is_zero(heap, front + p * words, words):
                    matched = True
                    if options.report:
                        add_product(total, heap, front + p * words, work, back, words)
    return matched


@numba.njit(cache=True)
def emit_matches(
    table,
    klass,
    row,
    options,
    heap,
    lanes,
    lane,
    work,
    n_work,
    stack,
    limit,
    made,
    out_offsets,
    out_rows,
    out_labels,
):
    """Writes the matches that end here; (whether there is any, matches made, offsets, rows, labels)."""
    width = lanes[lane, WIDTH]
    size = 1 + width
    in_front = lanes[lane, LOW] < lanes[lane, PIVOT]
    front = lanes[lane, FRONT] + lanes[lane, LOW] * width
    matched = False
    for k in range(n_work):
        state = work[k * size]
        first = table.first[state, klass]
        for move in range(first, first + table.moves[state, klass]):
            if not table.accepts[move]:
                continue
            for p in range(width if in_front else 1):
                before = heap[front + p] if in_front else NOTHING
                if before == EMPTY or work[k * size + 1 + p] == EMPTY:
                    continue
                matched = True
                if not options.report:
                    continue
                made, out_offsets, out_rows, out_labels = emit(
                    heap,
                    lanes[lane, CELLS],
                    before,
                    work[k * size + 1 + p],
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
                    return matched, made, out_offsets, out_rows, out_labels
    return matched, made, out_offsets, out_rows, out_labels


@numba.njit(cache=True, forceinline=True)
def expire(table, edge, options, heap, meta, lanes, lane, slot):
    """Moves the lane's low end up to the edge, and its pivot to now if the edge has passed it."""
    events = lanes[lane, EVENTS]
    key = POSITION if options.by_position else ROW
    low = lanes[lane, LOW]
    pivot = lanes[lane, PIVOT]
    while low < pivot and heap[events + low * EVENT_WORDS + key] < edge:
        low += 1
    lanes[lane, LOW] = low
    end = lanes[lane, N_EVENTS]
    if pivot == end or heap[events + pivot * EVENT_WORDS + key] >= edge:
        return DONE, 0, 0, heap
    while pivot < end and heap[events + pivot * EVENT_WORDS + key] < edge:
        pivot += 1
    if pivot == end:
        leave(heap, lanes, lane, slot, options.words)
        heap = reset(heap, meta, lanes, lane, options.words, options.counting)
        enter(heap, lanes, lane, slot, options.words)
        return DONE, 0, 0, heap
    return turn(table, pivot, options, heap, meta, lanes, lane, slot)


@numba.njit(cache=True)
def turn(table, begin, options, heap, meta, lanes, lane, slot):
    """Makes the events from `begin` on the front: the pivot moves to now. (status, state, class, heap)"""
    count = lanes[lane, N_EVENTS] - begin
    events = lanes[lane, EVENTS]
    step_class = np.empty(2 * count, np.int64)
    step_event = np.empty(2 * count, np.int64)
    steps = 0
    for t in range(count):
        at = events + (begin + t) * EVENT_WORDS
        if t > 0 and options.gaps and heap[at + POSITION] != heap[at - EVENT_WORDS + POSITION] + 1:
            step_class[steps] = 0
            step_event[steps] = -1
            steps += 1
        step_class[steps] = heap[at + CLASS]
        step_event[steps] = t
        steps += 1
    status, state, klass, offsets, active = reach(table, step_class[:steps])
    if status != DONE:
        return status, state, klass, heap
    pivots = active[offsets[steps] : offsets[steps + 1]]
    width = len(pivots)
    words = options.words
    if not options.counting:
        leave(heap, lanes, lane, slot, words)
        lanes[lane, N_CELLS] = 1
    heap, lanes[lane, FRONT], lanes[lane, FRONT_K] = resize(
        heap, meta, lanes[lane, FRONT], lanes[lane, FRONT_K], 0, count * width * words
    )
    heap, large = fold(
        table, begin, step_class, step_event, steps, offsets, active, options, heap, meta, lanes, lane
    )
    if large:
        return WIDEN, 0, 0, heap
    if options.counting:
        leave(heap, lanes, lane, slot, words)
    for i in range(count * EVENT_WORDS):
        heap[events + i] = heap[events + begin * EVENT_WORDS + i]
    lanes[lane, N_EVENTS] = count
    lanes[lane, LOW] = 0
    lanes[lane, PIVOT] = count
    heap, lanes[lane, BACK], lanes[lane, BACK_K] = resize(
        heap, meta, lanes[lane, BACK], lanes[lane, BACK_K], 0, width + width * (1 + width * words)
    )
    lanes[lane, WIDTH] = width
    lanes[lane, N_BACK] = width
    base = lanes[lane, BACK]
    nothing = 0 if options.counting else EMPTY
    for p in range(width):
        heap[base + p] = pivots[p]
        at = base + width + p * (1 + width * words)
        heap[at] = pivots[p]
        for i in range(width * words):
            heap[at + 1 + i] = nothing
        heap[at + 1 + p * words] = 1 if options.counting else NOTHING
    enter(heap, lanes, lane, slot, words)
    return DONE, 0, 0, heap


@numba.njit(cache=True)
def reach(table, step_class):
    """Which states a run that starts at any of the steps can be in before each step and after the last.

    Gives (status, state, class, offsets, states): those before step s are states[offsets[s]:offsets[s+1]], 0 first.
    """
    steps = len(step_class)
    seen = np.full(table.skip.shape[0], -1, np.int64)
    offsets = np.empty(steps + 2, np.int64)
    active = np.empty(max(64, 4 * steps), np.int64)
    active[0] = 0
    offsets[0] = 0
    offsets[1] = 1
    for s in range(steps):
        klass = step_class[s]
        n = offsets[s + 1]
        if n + table.skip.shape[0] + 1 > len(active):
            larger = np.empty(2 * len(active) + table.skip.shape[0] + 1, np.int64)
            larger[:n] = active[:n]
            active = larger
        active[n] = 0
        seen[0] = s
        n += 1
        for k in range(offsets[s], offsets[s + 1]):
            state = active[k]
            skip = table.skip[state, klass]
            if skip == UNKNOWN:
                return MISSING, state, klass, offsets, active
            if skip != DEAD and seen[skip] != s:
                seen[skip] = s
                active[n] = skip
                n += 1
            first = table.first[state, klass]
            for move in range(first, first + table.moves[state, klass]):
                target = table.target[move]
                if target != DEAD and seen[target] != s:
                    seen[target] = s
                    active[n] = target
                    n += 1
        offsets[s + 2] = n
    return DONE, 0, 0, offsets, active


@numba.njit(cache=True)
def fold(table, begin, step_class, step_event, steps, offsets, active, options, heap, meta, lanes, lane):
    """Multiplies the steps together from the last to the first and keeps the start state's row before each event.

    The lane's event `begin` is event 0 of the steps. Gives (heap, whether it gave up since a number became large).
    """
    words = options.words
    width = offsets[steps + 1] - offsets[steps]
    size = width * words
    nothing = 0 if options.counting else EMPTY
    rows = np.full((table.skip.shape[0], size), nothing, np.int64)
    for p in range(width):
        rows[active[offsets[steps] + p], p * words] = 1 if options.counting else NOTHING
    changed = np.empty((8, size), np.int64)
    changed_state = np.empty(8, np.int64)
    for s in range(steps - 1, -1, -1):
        klass = step_class[s]
        first_active, end_active = offsets[s], offsets[s + 1]
        if end_active - first_active > len(changed_state):
            changed = np.empty((2 * (end_active - first_active), size), np.int64)
            changed_state = np.empty(2 * (end_active - first_active), np.int64)
        row = 0
        if step_event[s] >= 0:
            row = heap[lanes[lane, EVENTS] + (begin + step_event[s]) * EVENT_WORDS + ROW]
        if not options.counting:
            moves = 0
            for k in range(first_active, end_active):
                moves += table.moves[active[k], klass]
            heap = reserve_cells(heap, meta, lanes, lane, moves * width)
        n = 0
        large = False
        for k in range(first_active, end_active):
            state = active[k]
            skip = table.skip[state, klass]
            if skip == state and table.moves[state, klass] == 0:
                continue
            changed_state[n] = state
            for i in range(size):
                changed[n, i] = nothing if skip == DEAD else rows[skip, i]
            first = table.first[state, klass]
            for move in range(first, first + table.moves[state, klass]):
                target = table.target[move]
                if target == DEAD:
                    continue
                for p in range(width):
                    if options.counting:
                        large |= add(changed[n], p * words, rows[target], p * words, words)
                    elif rows[target, p] != EMPTY:
                        changed[n, p] = new_cell(
                            heap, lanes, lane, row, table.label[move], rows[target, p], changed[n, p]
                        )
            n += 1
        if large:
            return heap, True
        for k in range(n):
            for i in range(size):
                rows[changed_state[k], i] = changed[k, i]
        if step_event[s] >= 0:
            at = lanes[lane, FRONT] + step_event[s] * size
            for i in range(size):
                heap[at + i] = rows[0, i]
    return heap, False
