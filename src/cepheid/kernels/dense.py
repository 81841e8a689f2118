"""Counting with a small automaton: the loop of `slide` over dense matrices of machine words.

The same two stacks, for automata of few states whose moves are all known beforehand. A class is a *program*: a few
updates `row[target] = factor · row[target] + Σ row[source]` of a matrix with a row per state, ordered so that they can
be made in place. `BACK` is that matrix: row q, column p is the number of ways from state p at the pivot to state q now.
`FRONT` holds for each event before the pivot the numbers of ways from the start state to each state at the pivot.

What one event adds to numbers below `LIMIT` still fits a word. Once a number is above it the loop gives up, and `slide`
takes over with numbers of any size.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from cepheid.kernels.heap import resize
from cepheid.kernels.lane import (
    BACK,
    BACK_K,
    CLASS,
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
    POSITION,
    ROW,
    WIDTH,
)

LIMIT = 1 << 56
DIGIT = 30  # bits of a digit of the total
_MASK = (1 << DIGIT) - 1

DONE, GIVE_UP = 0, 1


class Program(NamedTuple):
    """The updates of class c are numbers first[c] to first[c + 1], in an order in which they can be made in place."""

    first: np.ndarray
    target: np.ndarray  # per update
    factor: np.ndarray  # per update
    begin: np.ndarray  # the sources of update k are source[begin[k]:begin[k + 1]]
    source: np.ndarray


class Dense(NamedTuple):
    """`rows` are those of the states and, below them, some for copies. `forward` moves runs on, `backward` puts an
    event in front of what is known; `accept` are per class the states whose runs an event completes."""

    states: int
    rows: int
    forward: Program
    backward: Program
    accept_first: np.ndarray
    accept_state: np.ndarray


@numba.njit(cache=True, forceinline=True)
def update(program, klass, states, matrix, base):
    """Applies a class to a matrix at `base`; the bitwise OR of all numbers written."""
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


@numba.njit(cache=True)
def identity(heap, base, rows, states):
    for i in range(rows * states):
        heap[base + i] = 0
    for q in range(states):
        heap[base + q * states + q] = 1


@numba.njit(cache=True)
def forget(heap, meta, lanes, lane, rows, states):
    """The lane as if no event had been seen."""
    heap, lanes[lane, BACK], lanes[lane, BACK_K] = resize(
        heap, meta, lanes[lane, BACK], lanes[lane, BACK_K], 0, rows * states
    )
    identity(heap, lanes[lane, BACK], rows, states)
    lanes[lane, WIDTH] = states
    lanes[lane, N_BACK] = states
    lanes[lane, N_EVENTS] = 0
    lanes[lane, LOW] = 0
    lanes[lane, PIVOT] = 0
    return heap


@numba.njit(cache=True)
def count_dense(dense, batch, begin, options, heap, meta, lanes, total):
    """Takes the events from `begin` on and adds the number of matches that end in them to `total`, digits of 30 bits.

    Gives (why it stopped, the event to go on from, heap).
    """
    states = dense.states
    by_position = options.by_position
    key = POSITION if by_position else ROW
    matrix = np.empty(dense.rows * states, np.int64)
    large = False
    i = begin
    count = len(batch.lane)
    while i < count:
        lane = batch.lane[i]
        if lanes[lane, N_BACK] == 0:
            heap = forget(heap, meta, lanes, lane, dense.rows, states)
        back = lanes[lane, BACK]
        events = lanes[lane, EVENTS]
        room = (1 << lanes[lane, EVENTS_K]) // EVENT_WORDS if events > 0 else 0
        n_events = lanes[lane, N_EVENTS]
        low, pivot = lanes[lane, LOW], lanes[lane, PIVOT]
        front = lanes[lane, FRONT]
        last = lanes[lane, LAST]
        while i < count and batch.lane[i] == lane:
            if options.windowed:
                edge = batch.edge[i]
                while low < pivot and heap[events + low * EVENT_WORDS + key] < edge:
                    low += 1
                if pivot < n_events and heap[events + pivot * EVENT_WORDS + key] < edge:
                    while pivot < n_events and heap[events + pivot * EVENT_WORDS + key] < edge:
                        pivot += 1
                    heap, large = turn_dense(
                        dense, pivot, n_events, options.gaps, heap, meta, lanes, lane, matrix
                    )
                    if large:
                        lanes[lane, LOW] = low
                        lanes[lane, N_EVENTS] = n_events
                        lanes[lane, LAST] = last
                        return GIVE_UP, i, heap
                    n_events -= pivot
                    low, pivot = 0, n_events
                    front = lanes[lane, FRONT]
                    lanes[lane, PIVOT] = pivot
            if options.gaps and batch.position[i] != last + 1:
                update(dense.forward, 0, states, heap, back)
                last = batch.position[i] - 1
            klass = batch.klass[i]
            matched = False
            if options.report or options.consume:
                matched = add_matches(
                    dense, klass, options.report, heap, back, front + low * states, low < pivot, total
                )
            if options.consume and matched:
                identity(heap, back, dense.rows, states)
                n_events, low, pivot = 0, 0, 0
                lanes[lane, PIVOT] = 0
            else:
                large = update(dense.forward, klass, states, heap, back) >= LIMIT
                if options.windowed:
                    if n_events >= room:
                        heap, lanes[lane, EVENTS], lanes[lane, EVENTS_K] = resize(
                            heap,
                            meta,
                            lanes[lane, EVENTS],
                            lanes[lane, EVENTS_K],
                            n_events * EVENT_WORDS,
                            (n_events + 1) * EVENT_WORDS,
                        )
                        events = lanes[lane, EVENTS]
                        room = (1 << lanes[lane, EVENTS_K]) // EVENT_WORDS
                    at = events + n_events * EVENT_WORDS
                    heap[at + ROW] = batch.row[i]
                    heap[at + POSITION] = batch.position[i]
                    heap[at + CLASS] = klass
                    n_events += 1
            last = batch.position[i]
            i += 1
            if large:
                break
        lanes[lane, N_EVENTS] = n_events
        lanes[lane, LOW] = low
        lanes[lane, PIVOT] = pivot
        lanes[lane, LAST] = last
        if large:
            return GIVE_UP, i, heap
    return DONE, i, heap


@numba.njit(cache=True, forceinline=True)
def add_matches(dense, klass, report, heap, back, front, in_front, total):
    """Adds the number of matches that an event of this class ends to `total`, if asked; whether there is any."""
    states = dense.states
    matched = False
    for a in range(dense.accept_first[klass], dense.accept_first[klass + 1]):
        row = back + dense.accept_state[a] * states
        if not in_front:
            if heap[row] != 0:
                matched = True
                if report:
                    add_digits(total, heap[row], 1)
            continue
        for p in range(states):
            if heap[row + p] != 0 and heap[front + p] != 0:
                matched = True
                if report:
                    add_digits(total, heap[row + p], heap[front + p])
    return matched


@numba.njit(cache=True, forceinline=True)
def add_digits(total, a, b):
    """total += a · b, for numbers below 2⁶⁰; the last digit of `total` takes what is over."""
    a_low, a_high = a & _MASK, a >> DIGIT
    b_low, b_high = b & _MASK, b >> DIGIT
    low = a_low * b_low
    middle = a_low * b_high + a_high * b_low
    word = total[0] + (low & _MASK)
    total[0] = word & _MASK
    word = total[1] + (low >> DIGIT) + (middle & _MASK) + (word >> DIGIT)
    total[1] = word & _MASK
    word = total[2] + (middle >> DIGIT) + a_high * b_high + (word >> DIGIT)
    total[2] = word & _MASK
    total[3] += word >> DIGIT


@numba.njit(cache=True)
def turn_dense(dense, begin, end, gaps, heap, meta, lanes, lane, matrix):
    """Makes the events from `begin` to `end` the front, the pivot now: (heap, whether it gave up, changing nothing)."""
    states = dense.states
    count = end - begin
    heap, lanes[lane, FRONT], lanes[lane, FRONT_K] = resize(
        heap, meta, lanes[lane, FRONT], lanes[lane, FRONT_K], 0, max(count, 1) * states
    )
    front = lanes[lane, FRONT]
    events = lanes[lane, EVENTS]
    identity(matrix, 0, dense.rows, states)
    for t in range(count - 1, -1, -1):
        at = events + (begin + t) * EVENT_WORDS
        if update(dense.backward, heap[at + CLASS], states, matrix, 0) >= LIMIT:
            return heap, True
        for p in range(states):
            heap[front + t * states + p] = matrix[p]
        if gaps and t > 0 and heap[at + POSITION] != heap[at - EVENT_WORDS + POSITION] + 1:
            update(dense.backward, 0, states, matrix, 0)
    for i in range(count * EVENT_WORDS):
        heap[events + i] = heap[events + begin * EVENT_WORDS + i]
    identity(heap, lanes[lane, BACK], dense.rows, states)
    return heap, False
