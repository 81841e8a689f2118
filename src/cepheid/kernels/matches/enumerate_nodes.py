"""Enumeration of a list of partial matches: every way down, in flat output arrays, with a delay linear in the match."""

from __future__ import annotations

from cepheid.kernels.compiled import inner_inlined
from cepheid.kernels.interrupts import poll, ticks
from cepheid.kernels.matches.nodes import JOIN, LABEL_BITS, N_BEFORE, N_EVENT, N_OTHER, N_WORDS

_LABELS = (1 << LABEL_BITS) - 1


@inner_inlined
def emit_list(nodes, first, row, label, path, waiting, limit, guard, made, out_offsets, out_rows, out_labels):
    """Writes every match that ends with the event `row` and goes on, backwards, with the list `first`, until `limit`
    are made in all: matches made, -1 where the output has no room for all, -2 where the stacks are too short."""
    events_room, matches_room = min(len(out_rows), guard), len(out_offsets) - 1
    at = out_offsets[made]
    waiting[0] = first
    waiting[1] = 0
    pending = 1
    seen = ticks()
    while pending > 0 and made < limit:
        seen = poll(seen)
        if seen < 0:
            return -1
        pending -= 1
        node, depth = waiting[2 * pending], waiting[2 * pending + 1]
        while node != 0:
            if 2 * pending + 4 > len(waiting) or depth + 1 >= len(path):
                return -2
            if nodes[node * N_WORDS + N_OTHER] != 0:
                waiting[2 * pending] = nodes[node * N_WORDS + N_OTHER]
                waiting[2 * pending + 1] = depth
                pending += 1
            if nodes[node * N_WORDS + N_EVENT] != JOIN:
                path[depth] = nodes[node * N_WORDS + N_EVENT]
                depth += 1
            node = nodes[node * N_WORDS + N_BEFORE]
        if at + depth + 1 > events_room or made == matches_room:
            return -1
        for i in range(depth - 1, -1, -1):
            out_rows[at] = path[i] >> LABEL_BITS
            out_labels[at] = path[i] & _LABELS
            at += 1
        out_rows[at] = row
        out_labels[at] = label
        at += 1
        made += 1
        out_offsets[made] = at
    return made
