"""Copying the live vertices of a run DAG, to free memory or to give old vertices the lists of a new shape.

A vertex is alive while a run below it began inside the window, its partition is kept and has not forgotten it. Vertices
are copied oldest first and enter the lists of the new index, so every pointer of their cells is computed anew. A
neighbourhood whose newest vertex is dead begins at the next older vertex that is alive: in the old heap the words that
pointed to the next older vertex are overwritten with its place in the new heap.
"""

from __future__ import annotations

from cepheid.kernels.compiled import compiled, inlined
from cepheid.kernels.loops.linked.index import enter_lists
from cepheid.kernels.loops.linked.layout import (
    C_PREV,
    FIRST,
    I_CELL,
    INDEX_MASK,
    META_BITS,
    NEVER,
    V_CODES,
    V_FROM,
    V_LATEST,
    V_META,
    V_PARTITION,
    V_VIA,
)


@inlined
def is_alive(heap, vertex, born, edge, edges, partitions):
    """`edge` holds for all partitions, `edges` for each; one of the two is NEVER. `partitions` are the partitions' new
    numbers."""
    partition = heap[vertex + V_PARTITION]
    latest = heap[vertex + V_LATEST]
    return (
        vertex >= born[partition]
        and partitions[partition] >= 0
        and latest >= edge
        and latest >= edges[partition]
    )


@compiled
def measure(heap, top, shape, born, edge, edges, partitions, new_shape):
    """The size of the live vertices in the new shape: (words, cells)."""
    vertex, words, cells = FIRST, FIRST, 0
    while vertex < top:
        state = heap[vertex + V_META] >> META_BITS
        if is_alive(heap, vertex, born, edge, edges, partitions):
            words += new_shape.size[state]
            cells += new_shape.n_indices[state]
        vertex += shape.size[state]
    return words, cells


@compiled
def rebuild(heap, top, shape, born, edge, edges, partitions, new_shape, young, values, out_heap, out_slots):
    """Copies the live vertices; the old heap is unusable afterwards. Gives (first free word, slots used).

    `young` is `born` for the copy, which has forgotten nothing: all 0. `values` is scratch.
    """
    vertex, at, used = FIRST, FIRST, 0
    while vertex < top:
        state = heap[vertex + V_META] >> META_BITS
        alive = is_alive(heap, vertex, born, edge, edges, partitions)
        if alive:
            for i in range(V_CODES + shape.codes):
                out_heap[at + i] = heap[vertex + i]
            out_heap[at + V_PARTITION] = partitions[heap[vertex + V_PARTITION]]
            if heap[vertex + V_FROM] != 0:
                index = heap[vertex + V_VIA] & INDEX_MASK
                out_heap[at + V_FROM] = heap[heap[vertex + V_FROM] + shape.indices[index, I_CELL] + C_PREV]
            if new_shape.memo > 0:
                out_heap[at + V_CODES + shape.codes] = NEVER
            used += enter_lists(out_heap, out_slots, young, new_shape, at, values)
        for i in range(shape.n_indices[state]):
            cell = shape.indices[shape.of_state[state, i], I_CELL]
            older = heap[vertex + cell + C_PREV]
            if alive:
                heap[vertex + cell + C_PREV] = at
            elif older != 0:
                heap[vertex + cell + C_PREV] = heap[older + cell + C_PREV]
        if alive:
            at += new_shape.size[state]
        vertex += shape.size[state]
    return at, used


@compiled
def find_vertices(heap, top, shape, out_vertices):
    """Where vertices begin, one after another: how many."""
    vertex, count = FIRST, 0
    while vertex < top:
        out_vertices[count] = vertex
        count += 1
        vertex += shape.size[heap[vertex + V_META] >> META_BITS]
    return count
