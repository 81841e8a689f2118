"""Counting with a small automaton: the loop of `slide` over dense matrices.

The same two stacks, for automata of few states whose moves are all known beforehand. A class is a *program*: a few
updates `row[target] = factor · row[target] + Σ row[source]` of a matrix with a row per state, ordered so that they can
be made in place. `BACK` is that matrix: row q, column p is the number of ways from state p at the pivot to state q now.
`FRONT` holds for each event before the pivot the numbers of ways from the start state to each state at the pivot.

A number is `words` words of 56 bits, lowest first; a row holds the lowest words of all its numbers, then the next. The
highest word may hold a little more: what one event adds to it below `LIMIT` still fits. Once one is above it the loop
gives up, to be called again with more words.
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

BITS = 56
LIMIT = 1 << BITS
_WORD = LIMIT - 1
DIGIT = 28  # bits of a digit of the total
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
    words: int
    forward: Program
    backward: Program
    accept_first: np.ndarray
    accept_state: np.ndarray


def scratch_for(dense: Dense) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The last two arguments of `count_dense`."""
    if dense.words == 1:
        return None, None
    return np.zeros(dense.states, np.int64), np.empty(2 * (2 * dense.words + 1), np.int64)


@numba.njit(cache=True, forceinline=True)
def update(program, klass, states, words, matrix, base, carry):
    """Applies a class to a matrix at `base`; the bitwise OR of all highest words written. `carry` is all 0 between."""
    if carry is not None:
        return update_words(program, klass, states, words, matrix, base, carry)
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


@numba.njit(cache=True, forceinline=True)
def update_words(program, klass, states, words, matrix, base, carry):
    seen = 0
    size = words * states
    for k in range(program.first[klass], program.first[klass + 1]):
        row = base + program.target[k] * size
        factor = program.factor[k]
        begin, end = program.begin[k], program.begin[k + 1]
        for at in range(0, size - states, states):
            for p in range(states):
                value = factor * matrix[row + at + p] + carry[p]
                for s in range(begin, end):
                    value += matrix[base + program.source[s] * size + at + p]
                matrix[row + at + p] = value & _WORD
                carry[p] = value >> BITS
        at = size - states
        for p in range(states):
            value = factor * matrix[row + at + p] + carry[p]
            for s in range(begin, end):
                value += matrix[base + program.source[s] * size + at + p]
            matrix[row + at + p] = value
            carry[p] = 0
            seen |= value
    return seen


@numba.njit(cache=True)
def identity(heap, base, rows, states, words):
    for i in range(rows * words * states):
        heap[base + i] = 0
    for q in range(states):
        heap[base + q * words * states + q] = 1


@numba.njit(cache=True)
def forget(heap, meta, lanes, lane, rows, states, words):
    """The lane as if no event had been seen."""
    heap, lanes[lane, BACK], lanes[lane, BACK_K] = resize(
        heap, meta, lanes[lane, BACK], lanes[lane, BACK_K], 0, rows * words * states
    )
    identity(heap, lanes[lane, BACK], rows, states, words)
    lanes[lane, WIDTH] = states
    lanes[lane, N_BACK] = states
    lanes[lane, N_EVENTS] = 0
    lanes[lane, LOW] = 0
    lanes[lane, PIVOT] = 0
    return heap


@numba.njit(cache=True)
def count_dense(dense, batch, begin, options, heap, meta, lanes, total, carry, digits):
    """Takes the events from `begin` on and adds the number of matches that end in them to `total`, digits of 28 bits.

    `carry` (a number per state, all 0) and `digits` (two numbers' worth) are scratch for numbers of several words, and
    None for numbers of one, which the loop is then compiled for. Gives (why it stopped, the event to go on from, heap).
    """
    states = dense.states
    words = 1
    if carry is not None:
        words = dense.words
    size = words * states
    by_position = options.by_position
    key = POSITION if by_position else ROW
    matrix = np.empty(dense.rows * size, np.int64)
    large = False
    i = begin
    count = len(batch.lane)
    while i < count:
        lane = batch.lane[i]
        if lanes[lane, N_BACK] == 0:
            heap = forget(heap, meta, lanes, lane, dense.rows, states, words)
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
                        dense, pivot, n_events, options.gaps, heap, meta, lanes, lane, matrix, carry
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
                update(dense.forward, 0, states, words, heap, back, carry)
                last = batch.position[i] - 1
            klass = batch.klass[i]
            matched = False
            if options.report or options.consume:
                matched = add_matches(
                    dense, klass, options.report, heap, back, front + low * size, low < pivot, digits, total
                )
            if options.consume and matched:
                identity(heap, back, dense.rows, states, words)
                n_events, low, pivot = 0, 0, 0
                lanes[lane, PIVOT] = 0
            else:
                large = update(dense.forward, klass, states, words, heap, back, carry) >= LIMIT
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
def add_matches(dense, klass, report, heap, back, front, in_front, digits, total):
    """Adds the number of matches that an event of this class ends to `total`, if asked; whether there is any."""
    states, words = dense.states, dense.words
    matched = False
    if digits is None:
        for a in range(dense.accept_first[klass], dense.accept_first[klass + 1]):
            row = back + dense.accept_state[a] * states
            for p in range(states if in_front else 1):
                before = heap[front + p] if in_front else 1
                if before != 0 and heap[row + p] != 0:
                    matched = True
                    if report:
                        add_word_product(total, before, heap[row + p])
        return matched
    for a in range(dense.accept_first[klass], dense.accept_first[klass + 1]):
        row = back + dense.accept_state[a] * words * states
        for p in range(states if in_front else 1):
            if is_some(heap, row + p, states, words) and (
                not in_front or is_some(heap, front + p, states, words)
            ):
                matched = True
                if report:
                    add_product(total, heap, row + p, front + p, in_front, states, words, digits)
    return matched


@numba.njit(cache=True, forceinline=True)
def add_word_product(total, a, b):
    """total += a · b, for numbers of one word: one below the limit, the other below 64 times as much."""
    a_low, a_high = a & _MASK, a >> DIGIT
    b_low, b_high = b & _MASK, b >> DIGIT
    low = a_low * b_low
    middle = a_low * b_high + a_high * b_low
    word = total[0] + (low & _MASK)
    total[0] = word & _MASK
    word = total[1] + (low >> DIGIT) + (middle & _MASK) + (word >> DIGIT)
    total[1] = word & _MASK
    carry = (middle >> DIGIT) + a_high * b_high + (word >> DIGIT)
    k = 2
    while carry != 0:
        word = total[k] + carry
        total[k] = word & _MASK
        carry = word >> DIGIT
        k += 1


@numba.njit(cache=True, forceinline=True)
def is_some(heap, at, states, words):
    """Whether the number whose lowest word is at `at` is not 0."""
    for k in range(words):
        if heap[at + k * states] != 0:
            return True
    return False


@numba.njit(cache=True, forceinline=True)
def split(heap, at, states, words, out_digits, begin):
    """The digits of a number, from `begin` on, of which the last is not 0: how many."""
    for k in range(words):
        word = heap[at + k * states]
        out_digits[begin + 2 * k] = word & _MASK
        out_digits[begin + 2 * k + 1] = (word >> DIGIT) & _MASK
    n = 2 * words + 1
    out_digits[begin + n - 1] = heap[at + (words - 1) * states] >> BITS
    while n > 1 and out_digits[begin + n - 1] == 0:
        n -= 1
    return n


@numba.njit(cache=True)
def add_product(total, heap, ways, before, in_front, states, words, digits):
    """total += the number at `ways` times that at `before`, or 1; total being long enough."""
    half = len(digits) // 2
    n_a = split(heap, ways, states, words, digits, 0)
    n_b = 1
    digits[half] = 1
    if in_front:
        n_b = split(heap, before, states, words, digits, half)
    carry = 0
    for k in range(n_a + n_b - 1):
        # At most some hundred products of 56 bits: they fit.
        word = total[k] + carry
        for i in range(max(0, k - n_b + 1), min(k + 1, n_a)):
            word += digits[i] * digits[half + k - i]
        total[k] = word & _MASK
        carry = word >> DIGIT
    k = n_a + n_b - 1
    while carry != 0:
        word = total[k] + carry
        total[k] = word & _MASK
        carry = word >> DIGIT
        k += 1


@numba.njit(cache=True)
def turn_dense(dense, begin, end, gaps, heap, meta, lanes, lane, matrix, carry):
    """Makes the events from `begin` to `end` the front, the pivot now: (heap, whether it gave up, changing nothing)."""
    states = dense.states
    words = 1
    if carry is not None:
        words = dense.words
    size = words * states
    count = end - begin
    heap, lanes[lane, FRONT], lanes[lane, FRONT_K] = resize(
        heap, meta, lanes[lane, FRONT], lanes[lane, FRONT_K], 0, max(count, 1) * size
    )
    front = lanes[lane, FRONT]
    events = lanes[lane, EVENTS]
    identity(matrix, 0, dense.rows, states, words)
    for t in range(count - 1, -1, -1):
        at = events + (begin + t) * EVENT_WORDS
        if update(dense.backward, heap[at + CLASS], states, words, matrix, 0, carry) >= LIMIT:
            return heap, True
        for i in range(size):
            heap[front + t * size + i] = matrix[i]
        if gaps and t > 0 and heap[at + POSITION] != heap[at - EVENT_WORDS + POSITION] + 1:
            update(dense.backward, 0, states, words, matrix, 0, carry)
    for i in range(count * EVENT_WORDS):
        heap[events + i] = heap[events + begin * EVENT_WORDS + i]
    identity(heap, lanes[lane, BACK], dense.rows, states, words)
    return heap, False
