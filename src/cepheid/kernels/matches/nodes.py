"""Nodes: lists of partial matches that share what they have in common. The loop over registers makes them.

A *list* of partial matches is a node: one marked event before which comes any of the list `N_BEFORE`, or else any
partial match of the list `N_OTHER`. A node whose word is JOIN has no event: it is the two lists. Node 0 is the empty
list. Nodes never change and point to older ones.
"""

from __future__ import annotations

from cepheid.kernels.compiled import inner_inlined

N_EVENT, N_BEFORE, N_OTHER, N_WORDS = range(4)
LABEL_BITS = 16
JOIN = -1

NODES = 1  # the word of `meta` that counts the nodes made


@inner_inlined
def node(nodes, meta, event, before, other):
    """A new node: its number."""
    made = meta[NODES]
    meta[NODES] = made + 1
    nodes[made * N_WORDS + N_EVENT] = event
    nodes[made * N_WORDS + N_BEFORE] = before
    nodes[made * N_WORDS + N_OTHER] = other
    return made
