"""Whether the partitions of a saved compact evaluator lead only to what is there (see `partition` and `dense`).

In: the heap and the partitions of a state, of which anything may be wrong but that each block lies inside the heap and
overlaps no other. Out: true where every number that is used as an index is in its range, and every number of matches
in that which arithmetic relies on.
"""

from __future__ import annotations

from cepheid.kernels.compiled import compiled, inlined
from cepheid.kernels.loops.sliding.partition_state import (
    BACK,
    BACK_K,
    COLLECT_AT,
    EVENT_WORDS,
    EVENTS,
    EVENTS_K,
    FRONT,
    FRONT_K,
    LOW,
    N_BACK,
    N_EVENTS,
    N_NODES,
    NODES,
    NODES_K,
    PIVOT,
    PLACE,
    ROW,
    WIDTH,
    class_at,
)
from cepheid.kernels.matches.nodes import FIRST, FIRST_AT, JOIN, LABEL_BITS, N_EVENT, N_WORDS, NONE
from cepheid.kernels.matches.verify import NO_ROW, nodes_fit
from cepheid.kernels.memory.big_integers import MASK, SAFE
from cepheid.kernels.memory.heap import META, SMALLEST

_LARGEST = 46  # of size classes: no heap is so long


@compiled
def free_blocks(heap, meta, out_begins, out_lengths):
    """The blocks that wait to be used again: how many, or -1 where a list of them leads outside or is endless."""
    count = 0
    for k in range(META - 1):
        offset = meta[1 + k]
        if offset != 0 and (k < SMALLEST or k > _LARGEST):
            return -1
        while offset != 0:
            if offset < 0 or offset >= len(heap) or count == len(out_begins):
                return -1
            out_begins[count] = offset
            out_lengths[count] = 1 << k
            count += 1
            offset = heap[offset]
    return count


@inlined
def has_room(partitions, partition, block, words):
    """Whether a block is there and has room for so many words."""
    return words == 0 or (partitions[partition, block] > 0 and words <= 1 << partitions[partition, block + 1])


@inlined
def _events_fit(heap, partitions, partition, classes):
    """Events of the window are of classes there are, and in the order of the stream."""
    n_events, low, pivot = (
        partitions[partition, N_EVENTS],
        partitions[partition, LOW],
        partitions[partition, PIVOT],
    )
    if not (0 <= low <= pivot <= n_events <= len(heap)):
        return False
    if not has_room(partitions, partition, EVENTS, n_events * EVENT_WORDS):
        return False
    for i in range(n_events):
        at = partitions[partition, EVENTS] + i * EVENT_WORDS
        if class_at(heap, at) >= classes:
            return False
        if i == 0:
            continue
        before = at - EVENT_WORDS
        if heap[at + ROW] <= heap[before + ROW] or heap[at + PLACE] <= heap[before + PLACE]:
            return False
    return True


@inlined
def _is_value(heap, at, words, counting, n_nodes):
    """Whether a number, or a set of partial matches, is one."""
    if not counting:
        return NONE <= heap[at] < n_nodes
    for i in range(words - 1):
        if heap[at + i] < 0 or heap[at + i] > MASK:
            return False
    return 0 <= heap[at + words - 1] < SAFE


@inlined
def _nodes_fit(heap, partitions, partition, labels, out_least):
    """Nodes lie in their block and lead to older ones only; see `matches.verify`."""
    n_nodes = partitions[partition, N_NODES]
    if n_nodes < 0 or n_nodes > len(heap) + FIRST:
        return False
    if n_nodes > FIRST and not has_room(partitions, partition, NODES, (n_nodes - FIRST) * N_WORDS):
        return False
    return nodes_fit(heap, partitions[partition, NODES] - FIRST_AT, n_nodes, labels, out_least)


@inlined
def _rows_fit(heap, partitions, partition):
    """Every node marks an event of the window."""
    n_events, events = partitions[partition, N_EVENTS], partitions[partition, EVENTS]
    for number in range(FIRST, partitions[partition, N_NODES]):
        event = heap[partitions[partition, NODES] - FIRST_AT + number * N_WORDS + N_EVENT]
        if event == JOIN:
            continue
        row, low, high = event >> LABEL_BITS, 0, n_events
        while low < high:
            middle = (low + high) // 2
            if heap[events + middle * EVENT_WORDS + ROW] < row:
                low = middle + 1
            else:
                high = middle
        if low == n_events or heap[events + low * EVENT_WORDS + ROW] != row:
            return False
    return True


@inlined
def _is_after(heap, partitions, partition, event, row):
    """Whether a row is not before an event of the window, by number; after the last there is none."""
    if event >= partitions[partition, N_EVENTS]:
        return row >= NO_ROW
    return row >= heap[partitions[partition, EVENTS] + event * EVENT_WORDS + ROW]


@compiled
def partitions_fit(heap, partitions, words, counting, windowed, states, classes, labels, seen, least):
    """For partitions of `slide`. `seen` is scratch, a zero for each state, and so is `least`, a word for each node.

    In a window, what leads from an event to the pivot marks nothing before that event, and the back nothing before the
    pivot: so whatever has left the window, nothing leads to it.
    """
    for partition in range(len(partitions)):
        if not _events_fit(heap, partitions, partition, classes) or not _nodes_fit(
            heap, partitions, partition, labels, least
        ):
            return False
        if windowed and not counting and not _rows_fit(heap, partitions, partition):
            return False
        if partitions[partition, COLLECT_AT] < 0 or partitions[partition, COLLECT_AT] > 4 * len(heap) + 4096:
            return False
        active, width = partitions[partition, N_BACK], partitions[partition, WIDTH]
        if active == 0:
            continue
        if active < 0 or active > states or width < 1 or width > states:
            return False
        if not windowed and partitions[partition, PIVOT] != 0:
            return False
        size = 1 + width * words
        if not has_room(partitions, partition, BACK, width + active * size):
            return False
        back, n_nodes = partitions[partition, BACK], partitions[partition, N_NODES]
        if not counting and n_nodes < FIRST:
            return False
        for p in range(width):
            if heap[back + p] < 0 or heap[back + p] >= states:
                return False
        for entry in range(active):
            at = back + width + entry * size
            state = heap[at]
            if state < 0 or state >= states or seen[state] == partition + 1:
                return False
            seen[state] = partition + 1
            for p in range(width):
                if not _is_value(heap, at + 1 + p * words, words, counting, n_nodes):
                    return False
                if windowed and not counting:
                    if not _is_after(
                        heap, partitions, partition, partitions[partition, PIVOT], least[heap[at + 1 + p]]
                    ):
                        return False
        low, pivot = partitions[partition, LOW], partitions[partition, PIVOT]
        if low < pivot:
            if not has_room(partitions, partition, FRONT, pivot * width * words):
                return False
            for i in range(low * width, pivot * width):
                at = partitions[partition, FRONT] + i * words
                if not _is_value(heap, at, words, counting, n_nodes):
                    return False
                if not counting and not _is_after(heap, partitions, partition, i // width, least[heap[at]]):
                    return False
    return True


@compiled
def dense_partitions_fit(heap, partitions, windowed, rows, states, words, classes, most_back, most_front):
    """For partitions of `dense`: numbers of the back and of the front are at most so large. Without a window no events
    are kept: a partition that has no matrix has nothing."""
    size = words * states
    for partition in range(len(partitions)):
        if not _events_fit(heap, partitions, partition, classes) or (
            not windowed and partitions[partition, N_EVENTS] > 0
        ):
            return False
        if partitions[partition, N_BACK] == 0:
            if partitions[partition, LOW] != 0 or partitions[partition, PIVOT] != 0:
                return False
            continue
        if partitions[partition, N_BACK] != states or partitions[partition, WIDTH] != states:
            return False
        if not has_room(partitions, partition, BACK, rows * size):
            return False
        for i in range(states * size):
            word = heap[partitions[partition, BACK] + i]
            if word < 0 or word > most_back:
                return False
        low, pivot = partitions[partition, LOW], partitions[partition, PIVOT]
        if low < pivot:
            if not has_room(partitions, partition, FRONT, pivot * size):
                return False
            for i in range(low * size, pivot * size):
                word = heap[partitions[partition, FRONT] + i]
                if word < 0 or word > most_front:
                    return False
    return True


BLOCKS = ((EVENTS, EVENTS_K), (NODES, NODES_K), (FRONT, FRONT_K), (BACK, BACK_K))
"""The fields of a partition that say where its blocks are, and of which size class."""
