"""Numbers of partial matches by start, in flat arrays: what a partition, a start, a slot and a vector are made of.

Where matches are counted inside a window, and nothing asks how a partial match began once it remembers other events,
what an event does to one it does to all that began otherwise. So per state there is a *vector*, a number for each
start, and what an event does, it does to whole vectors (`arithmetic`).

A *start* is an event that matches of a partition began with; its record is laid out as a slot that holds no numbers.
Starts have ordinals. Those of a partition lie one after another: ordinal o at *place* o - `C_BASE`, from `C_LO` on
inside the window, up to `C_HI`, with room for `C_ROOM`.

A *slot* is all partial matches of a partition that agree in the words that later tests read of the events they
remember, besides the start; `S_ORDINAL` is no less than the ordinal of any of their starts. Slots that remember equally
many events are a *region* and lie in one block. Region 0, which remembers none, is a single slot.

A vector has one word, or more where numbers are large, for each place: word w of place p is at
`V_AT + w * C_ROOM + p` and counts 2³²ʷ. Words are *loose*: all may be of up to `V_BITS` bits, so that vectors are added
without carrying. From place `C_HI - C_BASE` on all are 0. Each state
has a current and a pending vector; pending is used where transitions form a cycle and cannot be followed in place.

Blocks of the heap are those of `memory.heap`; the index is that of `registers.layout`, where starts go by their
ordinals.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepheid.kernels.loops.registers.layout import Layout, TransitionTables
from cepheid.kernels.memory.heap import META

# words of a partition: its root, the least start of a match that may still end, the ordinals; its starts and their
# block's size class; the words of all vectors' blocks, the number of slots after region 0; then the blocks of slots
C_ROOT, C_EDGE, C_BASE, C_LO, C_HI, C_ROOM, C_STARTS, C_STARTS_K, C_HELD, C_SLOTS, C_BLOCKS = range(11)
# words of a block of slots: where it begins, its size class, how many there are, how often one was met that had left
# the window
B_AT, B_K, B_COUNT, B_GONE, B_WORDS = range(5)
# words of a vector: where it begins (0: nothing but zeros), the size class of its block, words per number, bits
V_AT, V_K, V_LENGTH, V_BITS, V_WORDS = range(5)
STATE_WORDS = 2 * V_WORDS

# words of `meta` after those of the heap: cells of the index used, the most words per number; then what an event needs
# at most: words of the heap, cells
CELLS, WIDEST, NEED, NEED_CELLS, M_WORDS = range(META, META + 5)


class Turns(NamedTuple):
    """In which order the transitions of states are followed."""

    states: np.ndarray  # [class, i]: those that react, then -1
    in_place: np.ndarray  # [class]: each of them is read before anything is added to it
    goals: np.ndarray  # [class]: most vectors that what one holds comes to
    makes: np.ndarray  # [class, 2]: most slots made for what comes from region 0, and from another slot


class VectorTables(NamedTuple):
    transitions: TransitionTables
    turns: Turns
    layout: Layout
    program: np.ndarray  # [test, word]: see `conditions.programs`


class Space(NamedTuple):
    """All that the loop writes to."""

    heap: np.ndarray
    meta: np.ndarray
    partitions: np.ndarray
    cells: np.ndarray  # the index
    bits: np.ndarray  # [place]: which tests hold of a start
    mask: np.ndarray  # [place]: all bits where a start transitions, none where not
    at: np.ndarray  # where the registers of a test are
    sums: np.ndarray  # [word]: matches that end at an event, loose
    total: np.ndarray  # [word]: all matches
