"""Slots whose states hold vectors: a number of partial matches for each start (see `config_shape`)."""

from __future__ import annotations

from cepheid.kernels.compiled import inner, inner_inlined
from cepheid.kernels.config_shape import (
    L_LO,
    S_ORDINAL,
    W_AT,
    W_BITS,
    W_STARTS,
)
from cepheid.kernels.numbers import BITS, MASK, SAFE

LOOSE_BITS = 52  # words are made exact before they could exceed this
_FEWEST_BITS = BITS + 1


@inner_inlined
def first_alive(heap, lanes, lane, slot):
    """The first start of a slot's vectors that is still inside the window."""
    return max(0, lanes[lane, L_LO] - heap[slot + S_ORDINAL])


@inner_inlined
def vector_in(heap, layout, vectors, number, start):
    """Where the number of partial matches with a start, counted from the slot's first, lies; `number`: the state's
    among those of its region."""
    return heap[vectors + W_AT] + (number * heap[vectors + W_STARTS] + start) * layout.words


@inner_inlined
def vector_at(heap, layout, slot, state, start):
    """The same for a slot and a state."""
    vectors = slot + layout.numbers[layout.region[state]]
    return vector_in(heap, layout, vectors, layout.number[state], start)


@inner
def make_exact(heap, vectors, states, words):
    """Carries what exceeds 32 bits into the next words of all numbers of a slot: whether a top word is large."""
    at = heap[vectors + W_AT]
    top = 0
    for _ in range(states * heap[vectors + W_STARTS]):
        carry = 0
        for w in range(words - 1):
            word = heap[at + w] + carry
            heap[at + w] = word & MASK
            carry = word >> BITS
        heap[at + words - 1] += carry
        top = max(top, heap[at + words - 1])
        at += words
    bits = 0
    while top >> bits != 0:
        bits += 1
    heap[vectors + W_BITS] = max(bits, _FEWEST_BITS if words > 1 else 0)
    return top >= SAFE


@inner_inlined
def make_room(heap, vectors, states, words, bits):
    """Makes a slot's words exact if they could become too long by `bits` more: whether a top word is large."""
    if heap[vectors + W_BITS] + bits > LOOSE_BITS:
        return make_exact(heap, vectors, states, words)
    return False


@inner
def add_vector(heap, target, source, count):
    for w in range(count):
        heap[target + w] += heap[source + w]


@inner
def add_all(out_sums, heap, at, count, words):
    """The sum of `count` numbers, word by word."""
    for w in range(words):
        total = 0
        for k in range(count):
            total += heap[at + k * words + w]
        out_sums[w] = total
