"""Whether the vertices of a saved run DAG lead only to older ones (see `layout`).

In: the heap of a state, of which anything may be wrong. Out: true where vertices follow each other up to its end, and
each leads to nothing but older vertices of the states whose lists it continues. The cells of lists are made anew by
`rebuild`, which of a cell reads only the next older vertex.
"""

from __future__ import annotations

from cepheid.kernels.compiled import compiled
from cepheid.kernels.loops.linked.difference_pointers import latest_different, newest_different
from cepheid.kernels.loops.linked.enumerate import read_values
from cepheid.kernels.loops.linked.layout import (
    C_MAX,
    C_PREV,
    FIRST,
    I_CELL,
    I_STATE,
    INDEX_MASK,
    LABEL_MASK,
    META_BITS,
    V_CODES,
    V_FROM,
    V_LATEST,
    V_META,
    V_PARTITION,
    V_VIA,
    VIA_BITS,
)


@compiled
def vertices_fit(heap, shape, indices, partitions, labels, most, state_at):
    """For so many indices, partitions and labels; codes of column c are at most `most[c]`. `state_at` is scratch, a
    zero for each word of the heap: the states of the vertices that begin there."""
    vertex = FIRST
    while vertex < len(heap):
        if vertex + V_CODES > len(heap):
            return False
        state = heap[vertex + V_META] >> META_BITS
        if state < 1 or state >= len(shape.size) or vertex + shape.size[state] > len(heap):
            return False
        if (
            heap[vertex + V_META] & LABEL_MASK >= labels
            or heap[vertex + V_PARTITION] < 0
            or heap[vertex + V_PARTITION] >= partitions
        ):
            return False
        for column in range(shape.codes):
            if heap[vertex + V_CODES + column] > most[column]:
                return False
        source = heap[vertex + V_FROM]
        if source != 0:
            index = heap[vertex + V_VIA] & INDEX_MASK
            if source < 0 or source >= vertex or index >= indices or heap[vertex + V_VIA] < 0:
                return False
            if state_at[source] != shape.indices[index, I_STATE]:
                return False
        for i in range(shape.n_indices[state]):
            older = heap[vertex + shape.indices[shape.of_state[state, i], I_CELL] + C_PREV]
            if older != 0 and (older < 0 or older >= vertex or state_at[older] != state):
                return False
        state_at[vertex] = state
        vertex += shape.size[state]
    return vertex == len(heap)


@compiled
def starts_fit(heap, top, shape, windowed, values):
    """Whether the latest start of each vertex is that of the vertices it continues: the loop enters what has a start
    inside the window without looking whether anything is there. `values` is scratch."""
    vertex = FIRST
    while vertex < top:
        source = heap[vertex + V_FROM]
        if source != 0:
            index, mask = heap[vertex + V_VIA] & INDEX_MASK, heap[vertex + V_VIA] >> VIA_BITS
            latest = heap[source + shape.indices[index, I_CELL] + C_MAX]
            if mask != 0:
                read_values(heap, shape, index, vertex, values)
                if newest_different(heap, shape, index, source, values, mask) == 0:
                    return False
                if windowed:
                    found = latest_different(heap, shape, index, source, values, mask)
                    latest = heap[found + V_LATEST]
            if windowed and latest != heap[vertex + V_LATEST]:
                return False
        vertex += shape.size[heap[vertex + V_META] >> META_BITS]
    return True
