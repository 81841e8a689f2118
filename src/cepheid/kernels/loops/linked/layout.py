"""The run DAG in a flat array: what a vertex and a cell of a list are made of (`partition-by-chain-cea`,
section 5).

A *vertex* is one event marked by all runs that took the same transition at it, kept while these may continue. It says
where they came from: `FROM` is the newest vertex of a list, `VIA` that list's index and the
links that must differ; together they are its neighbourhood, a persistent version of the list. A vertex of a
run that begins has FROM 0.

An *index* is a state and a set of links that must be equal (an ED-index of the paper, shared by the transitions
that agree on both). It has a list of vertices per partition and values of those links, and a vertex is in one list of
each index of its state. Its place in that list is a *cell* inside the vertex, so that vertices point
to vertices, always from newer to older, and cells are found at a fixed distance. Vertices follow each other
in stream order.

`LATEST` is the latest start of the runs below a vertex, exactly: no vertex without a start inside the window is ever
entered.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# words of a vertex; then its codes, its count (when counting), its cells
V_ROW, V_META, V_LATEST, V_FROM, V_VIA, V_PARTITION, V_CODES = range(7)
META_BITS = 16  # of the label in V_META; above it the state
VIA_BITS = 16  # of the index in V_VIA; above it the links that must differ, one bit each
LABEL_MASK = (1 << META_BITS) - 1
INDEX_MASK = (1 << VIA_BITS) - 1

# words of a cell: the next older vertex of the list, the next older one with a later start, the latest start from
# here on; then its count (when counting), the pointers back and the pointers to the latest starts
C_PREV, C_SKIP, C_MAX, C_MORE = range(4)

# columns of `Shape.indices`
I_STATE, I_CELL, I_BACK, I_TOP, I_EQUAL, I_DIFFER, I_POINTERS, I_FIELDS = range(8)

FIRST = 8  # offset of the first vertex; 0 is none
NEVER = np.iinfo(np.int64).min  # before every start and edge, and the stamp of a count that is not known


class Shape(NamedTuple):
    """What the lists of each state are keyed by, and where in a vertex their cells are.

    Links are given by the columns of codes they compare: the left one of the event marked last, the right one
    of the event at hand.
    """

    indices: np.ndarray  # [index, I_…]
    equal_left: np.ndarray  # [index, i]: column of link i
    equal_right: np.ndarray
    differ_left: np.ndarray
    differ_right: np.ndarray
    of_state: np.ndarray  # [state, i]
    n_indices: np.ndarray  # [state]
    size: np.ndarray  # [state]: words of a vertex
    codes: int  # columns of codes
    memo: int  # words of a count in a vertex and in a cell, or 0


class ChainTransitions(NamedTuple):
    """Transitions by class of event, those that read the same index next to each other."""

    first: np.ndarray  # [class]
    how_many: np.ndarray  # [class]
    reads: np.ndarray  # per transition: the index it reads, -1 for the start
    mask: np.ndarray  # the links of that index that must differ, one bit each
    label: np.ndarray
    target: np.ndarray  # a state or -1
    accepts: np.ndarray


class ChainTables(NamedTuple):
    transitions: ChainTransitions
    shape: Shape


class ChainBatch(NamedTuple):
    """Relevant events in stream order."""

    partition: np.ndarray
    row: np.ndarray
    start: (
        np.ndarray
    )  # what a run that begins here has as its start: the row, or the position in its partition
    klass: np.ndarray
    edge: np.ndarray  # the least start of a match that ends here
    codes: np.ndarray  # [event, column]


class ChainOptions(NamedTuple):
    windowed: bool
    by_position: bool
    counting: bool
    consume: bool
    report: bool
    limit: int  # matches in this call, or ROOTS
    spare: int  # matches beyond the limit up to which those that end at one event are all written
    guard: int  # events in all matches of this call
