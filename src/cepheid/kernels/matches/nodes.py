"""Nodes: sets of partial matches that share what they have in common. All loops make them, one enumerator walks them.

A *set* of strings of marked events is the number of a node. NONE is the empty set, BEGIN the set of the empty string;
any other node is three words: an event (`row << LABEL_BITS | label`), a set `N_BEFORE` and a set `N_OTHER`. It means
each string of N_BEFORE with the event put in front, and those of N_OTHER; with JOIN in place of an event it is the
union of the two sets. Nodes never change and point to older ones. How a match ends is no part of them: `enumerate.emit`
is told.

Node n is at `base + n * N_WORDS`. NONE and BEGIN have no words, so `base` is `FIRST_AT` before the block of nodes.
"""

from __future__ import annotations

from cepheid.kernels.compiled import inlined

N_EVENT, N_BEFORE, N_OTHER, N_WORDS = range(4)
LABEL_BITS = 16
LABELS = (1 << LABEL_BITS) - 1
JOIN = -1
NONE, BEGIN, FIRST = 0, 1, 2  # the empty set, the set of the empty string, the first node with words
FIRST_AT = FIRST * N_WORDS


NODES = 1  # the word of the register loop's `meta` that counts its nodes, with the first two


@inlined
def put_node(nodes, at, event, before, other):
    """Writes the three words of a node."""
    nodes[at + N_EVENT] = event
    nodes[at + N_BEFORE] = before
    nodes[at + N_OTHER] = other


@inlined
def node(nodes, meta, event, before, other):
    """A new node of the register loop: its number."""
    made = meta[NODES]
    meta[NODES] = made + 1
    put_node(nodes, made * N_WORDS - FIRST_AT, event, before, other)
    return made
