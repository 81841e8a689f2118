"""Counting the matches below a vertex inside a window, without enumerating.

The count of a vertex is the sum over the list it continues; the count of a list from a cell on is that of its
vertex and of the list from the next older cell on. Both are kept with the edge they hold for, so that the count of each
live vertex and cell is computed once per edge, however many matches there are. Where links must differ, the sum is over
the vertices that do.

Numbers are those of `memory.big_integers`; a count in the heap is a stamp, the edge it is for, and the words of a
number.
"""

from __future__ import annotations

from cepheid.kernels.compiled import compiled, inlined
from cepheid.kernels.interrupts import poll, ticks
from cepheid.kernels.loops.linked.enumerate import newest_in_window, read_values
from cepheid.kernels.loops.linked.layout import (
    C_MAX,
    C_MORE,
    C_PREV,
    C_SKIP,
    I_CELL,
    INDEX_MASK,
    V_CODES,
    V_FROM,
    V_LATEST,
    V_VIA,
    VIA_BITS,
)
from cepheid.kernels.memory.big_integers import add
from cepheid.kernels.memory.status import DONE, INTERRUPTED, MORE_STACK, MORE_WORDS

NO_ROOM = -1
_VERTEX = -1  # in place of a index: the count of the vertex itself


@inlined
def _place(shape, vertex, index):
    return vertex + (V_CODES + shape.codes if index == _VERTEX else shape.indices[index, I_CELL] + C_MORE)


@inlined
def _set(heap, at, edge, words, value):
    heap[at] = edge
    heap[at + 1] = value
    for i in range(2, words + 1):
        heap[at + i] = 0


@inlined
def _push(heap, shape, vertex, index, edge, stack, depth):
    """Notes what must be counted before, if it is not known: how much waits, or NO_ROOM."""
    if heap[_place(shape, vertex, index)] == edge:
        return depth
    if 2 * depth + 2 > len(stack):
        return NO_ROOM
    stack[2 * depth] = vertex
    stack[2 * depth + 1] = index
    return depth + 1


@compiled
def count_below(heap, shape, root, edge, values, stack):
    """Works out the count of `root`: a status."""
    words = shape.memo - 1
    depth = _push(heap, shape, root, _VERTEX, edge, stack, 0)
    seen = ticks()
    while depth > 0:
        seen = poll(seen)
        if seen < 0:
            return INTERRUPTED
        vertex, index = stack[2 * depth - 2], stack[2 * depth - 1]
        at = _place(shape, vertex, index)
        if heap[at] == edge:
            depth -= 1
            continue
        before = depth
        if index != _VERTEX:
            inside = heap[vertex + V_LATEST] >= edge
            cell = vertex + shape.indices[index, I_CELL]
            older = heap[cell + C_PREV] if inside else heap[cell + C_SKIP]
            if older != 0 and heap[older + shape.indices[index, I_CELL] + C_MAX] < edge:
                older = 0
            if inside:
                depth = _push(heap, shape, vertex, _VERTEX, edge, stack, depth)
            if older != 0 and depth != NO_ROOM:
                depth = _push(heap, shape, older, index, edge, stack, depth)
            if depth == before:
                _set(heap, at, edge, words, 0)
                large = False
                if inside:
                    large |= add(heap, at + 1, heap, _place(shape, vertex, _VERTEX) + 1, words)
                if older != 0:
                    large |= add(heap, at + 1, heap, _place(shape, older, index) + 1, words)
                if large:
                    return MORE_WORDS
        elif heap[vertex + V_FROM] == 0:
            _set(heap, at, edge, words, 1)
        else:
            index, mask = heap[vertex + V_VIA] & INDEX_MASK, heap[vertex + V_VIA] >> VIA_BITS
            first = heap[vertex + V_FROM]
            if mask == 0:
                depth = _push(heap, shape, first, index, edge, stack, depth)
                if depth == before:
                    _set(heap, at, edge, words, 0)
                    add(heap, at + 1, heap, _place(shape, first, index) + 1, words)
            else:
                read_values(heap, shape, index, vertex, values)
                one = newest_in_window(heap, shape, index, first, edge, True, mask, values)
                while one != 0 and depth != NO_ROOM:
                    depth = _push(heap, shape, one, _VERTEX, edge, stack, depth)
                    one = heap[one + shape.indices[index, I_CELL] + C_PREV]
                    one = newest_in_window(heap, shape, index, one, edge, True, mask, values)
                if depth == before:
                    _set(heap, at, edge, words, 0)
                    one = newest_in_window(heap, shape, index, first, edge, True, mask, values)
                    while one != 0:
                        if add(heap, at + 1, heap, _place(shape, one, _VERTEX) + 1, words):
                            return MORE_WORDS
                        one = heap[one + shape.indices[index, I_CELL] + C_PREV]
                        one = newest_in_window(heap, shape, index, one, edge, True, mask, values)
        if depth == NO_ROOM:
            return MORE_STACK
    return DONE
