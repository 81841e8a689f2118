"""The part of a run DAG below one event, as far as it is inside the window, as nodes of the other loops
(`kernels.matches.nodes`).

A node is a vertex in a list: its event, the neighbourhood of the vertex, and what is older in the list. Lists that no
link must differ from are shared, by the word at which a vertex has its cell; others are made for each vertex that asks.
"""

from __future__ import annotations

from cepheid.kernels.compiled import compiled, inlined
from cepheid.kernels.interrupts import poll, ticks
from cepheid.kernels.loops.linked.enumerate import newest_in_window, read_values
from cepheid.kernels.loops.linked.layout import (
    C_PREV,
    I_CELL,
    INDEX_MASK,
    LABEL_MASK,
    V_FROM,
    V_META,
    V_ROW,
    V_VIA,
    VIA_BITS,
)
from cepheid.kernels.matches.nodes import BEGIN, FIRST, LABEL_BITS, N_WORDS, NONE, put_node
from cepheid.kernels.memory.status import DONE, INTERRUPTED, MORE_NODES

COUNT = 0  # the word of `numbers` that counts nodes: no vertex begins there
VERTEX, VIA, ASKS, LIST_WORDS = range(
    4
)  # of a node: its vertex, the list that this is in, the vertex that must differ


@inlined
def _number(heap, shape, numbers, out_lists, newest, via, asks, edge, windowed, values):
    """The number of the node of a list, whose newest vertex inside the window is looked for from `newest` on; or
    NONE."""
    index, mask = via & INDEX_MASK, via >> VIA_BITS
    if mask != 0:
        read_values(heap, shape, index, asks, values)
    vertex = newest_in_window(heap, shape, index, newest, edge, windowed, mask, values)
    if vertex == 0:
        return NONE
    made, cell = numbers[COUNT], vertex + shape.indices[index, I_CELL]
    if mask == 0 and numbers[cell] != 0:
        return numbers[cell]
    if mask == 0:
        numbers[cell] = made
    out_lists[made, VERTEX], out_lists[made, VIA], out_lists[made, ASKS] = vertex, via, asks
    numbers[COUNT] = made + 1
    return made


@compiled
def nodes_below(heap, shape, roots, asks, edge, windowed, numbers, values, out_lists, out_nodes):
    """Writes the nodes below lists, `roots[i]` being the newest vertex and the list: a status and how many there are.

    The first node has number FIRST; that of root i replaces its newest vertex. `numbers` is scratch, a zero per word of
    the heap. `asks` is the vertex at which the event is staged.
    """
    numbers[COUNT] = FIRST
    if len(out_lists) < FIRST + len(roots):
        return MORE_NODES, FIRST
    for i in range(len(roots)):
        newest, via = roots[i, 0], roots[i, 1]
        roots[i, 0] = BEGIN
        if newest != 0:
            roots[i, 0] = _number(heap, shape, numbers, out_lists, newest, via, asks, edge, windowed, values)
    at = FIRST
    seen = ticks()
    while at < numbers[COUNT]:
        seen = poll(seen)
        if seen < 0:
            return INTERRUPTED, at
        if numbers[COUNT] + 2 > len(out_lists):
            return MORE_NODES, at
        vertex, via, asked = out_lists[at, VERTEX], out_lists[at, VIA], out_lists[at, ASKS]
        newest, older = heap[vertex + V_FROM], heap[vertex + shape.indices[via & INDEX_MASK, I_CELL] + C_PREV]
        before = BEGIN
        if newest != 0:
            before = _number(
                heap, shape, numbers, out_lists, newest, heap[vertex + V_VIA], vertex, edge, windowed, values
            )
        event = heap[vertex + V_ROW] << LABEL_BITS | (heap[vertex + V_META] & LABEL_MASK)
        other = _number(heap, shape, numbers, out_lists, older, via, asked, edge, windowed, values)
        put_node(out_nodes, at * N_WORDS, event, before, other)
        at += 1
    return DONE, at
