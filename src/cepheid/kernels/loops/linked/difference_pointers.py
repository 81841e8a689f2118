"""Lists asked for what differs: the `[ā]` pointers and findNext of `partition-by-chain-cea`, section 6.

A list holds tuples of values, one value per link. For a sequence ā = a₁ … aₘ of links, `back` of s at ā is
the newest s' before s with s'.aₗ ≠ back(s, a₁ … aₗ₋₁).aₗ for every l ≤ m, and back(s, ε) = s. With these
pointers the newest tuple, at or before s, that differs from given values in every link of a set is found in
as many steps as there are links, and so is each pointer of a new tuple.

`top` is the same by the latest start in place of the newest position: top(s, ε) is the tuple at or before s
with the latest start, top(s, ā) the one with the latest start among those that differ from top(s, a₁ … aₗ₋₁)
in aₗ. It finds the latest start among what differs, in as many steps.

Sequences are numbered by length; number 0 is ε. Lists of more than `MOST` links have no pointers and are
walked.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from cepheid.kernels.compiled import inlined
from cepheid.kernels.loops.linked.layout import (
    C_PREV,
    I_BACK,
    I_CELL,
    I_DIFFER,
    I_POINTERS,
    I_TOP,
    V_CODES,
    V_LATEST,
)

MOST = 3


def _sequences(links: int) -> list[tuple[int, ...]]:
    return [sequence for length in range(links + 1) for sequence in permutations(range(links), length)]


SEQUENCES = np.array([len(_sequences(links)) if links else 0 for links in range(MOST + 1)])
"""By number of links, how many sequences there are."""
_CHILD = np.full((MOST + 1, SEQUENCES[MOST], MOST), -1)  # a sequence and one link more
_PARENT = np.zeros((MOST + 1, SEQUENCES[MOST]), np.int64)  # … and its last link less
_LAST = np.zeros((MOST + 1, SEQUENCES[MOST]), np.int64)
for _links in range(1, MOST + 1):
    _numbers = {sequence: number for number, sequence in enumerate(_sequences(_links))}
    for _sequence, _number in _numbers.items():
        if _sequence:
            _CHILD[_links, _numbers[_sequence[:-1]], _sequence[-1]] = _number
            _PARENT[_links, _number] = _numbers[_sequence[:-1]]
            _LAST[_links, _number] = _sequence[-1]


@inlined
def first_equal(heap, shape, index, vertex, values, mask):
    """A link of the set in which a vertex has the given value, or -1."""
    for link in range(shape.indices[index, I_DIFFER]):
        if mask >> link & 1 and heap[vertex + V_CODES + shape.differ_left[index, link]] == values[link]:
            return link
    return -1


@inlined
def newest_different(heap, shape, index, vertex, values, mask):
    """The newest vertex, at or before this one, that differs in every link of the set, or 0."""
    links = shape.indices[index, I_POINTERS]
    at, sequence = vertex, 0
    while at != 0:
        link = first_equal(heap, shape, index, at, values, mask)
        if link < 0:
            return at
        if links > 0:
            sequence = _CHILD[links, sequence, link]
            at = heap[vertex + shape.indices[index, I_BACK] + sequence]
        else:
            at = heap[at + shape.indices[index, I_CELL] + C_PREV]
    return 0


@inlined
def latest_different(heap, shape, index, vertex, values, mask):
    """The vertex with the latest start, at or before this one, that differs in every link of the set, or
    0."""
    links = shape.indices[index, I_POINTERS]
    if links > 0:
        sequence = 0
        at = heap[vertex + shape.indices[index, I_TOP]]
        while at != 0:
            link = first_equal(heap, shape, index, at, values, mask)
            if link < 0:
                return at
            sequence = _CHILD[links, sequence, link]
            at = heap[vertex + shape.indices[index, I_TOP] + sequence]
        return 0
    best, at = 0, vertex
    while at != 0:
        if best == 0 or heap[at + V_LATEST] > heap[best + V_LATEST]:
            if first_equal(heap, shape, index, at, values, mask) < 0:
                best = at
        at = heap[at + shape.indices[index, I_CELL] + C_PREV]
    return best


@inlined
def _ask(heap, shape, index, pointers, sequence, values):
    """The values that a pointer's target must differ from: (set of links, or 0 where a pointer before it is
    none)."""
    links = shape.indices[index, I_POINTERS]
    mask = 0
    while sequence != 0:
        link, sequence = _LAST[links, sequence], _PARENT[links, sequence]
        before = heap[pointers + sequence]
        if before == 0:
            return 0
        values[link] = heap[before + V_CODES + shape.differ_left[index, link]]
        mask |= 1 << link
    return mask


@inlined
def point(heap, shape, index, vertex, values):
    """Sets all pointers of a vertex that is new in a list. `values` is scratch."""
    links = shape.indices[index, I_POINTERS]
    before = heap[vertex + shape.indices[index, I_CELL] + C_PREV]
    back, top = vertex + shape.indices[index, I_BACK], vertex + shape.indices[index, I_TOP]
    heap[back] = vertex
    best = 0 if before == 0 else heap[before + shape.indices[index, I_TOP]]
    heap[top] = vertex if best == 0 or heap[vertex + V_LATEST] >= heap[best + V_LATEST] else best
    for sequence in range(1, SEQUENCES[links]):
        mask = _ask(heap, shape, index, back, sequence, values)
        heap[back + sequence] = 0
        if mask != 0 and before != 0:
            heap[back + sequence] = newest_different(heap, shape, index, before, values, mask)
        mask = _ask(heap, shape, index, top, sequence, values)
        heap[top + sequence] = 0
        if mask != 0:
            best = 0 if before == 0 else latest_different(heap, shape, index, before, values, mask)
            if best == 0 or heap[vertex + V_LATEST] > heap[best + V_LATEST]:
                if first_equal(heap, shape, index, vertex, values, mask) < 0:
                    best = vertex
            heap[top + sequence] = best
