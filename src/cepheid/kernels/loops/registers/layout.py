"""Configurations in flat arrays: what a slot, a ring, a node and the tables of transitions are made of.

A *slot* is all partial matches of one partition that began with the same event (or, without a window, with any) and
agree in the words that later tests read of the events they remember: the configurations that can be told apart by
nothing but their state. It holds one of each of those events and, per state, how many partial matches there are, or a
list of them. Which words later tests read depends on the state, so slots are of one *kind* or another. Slots that
remember equally many events are a *region*; those of a partition and region lie in one block, densely, in no order.

The *ring* of a partition holds the events that matches began with, by ordinal: where they began, and the slot that
remembers nothing else.

The *index* leads to slots by a hash: of all words by which they are told apart, so that no two agree (`merge`);
and, where an event can change only slots in which one word equals one of its own, of that word, to the newest, and
`S_NEXT` of each leads to the one before (`index`).

A *list* of partial matches is a node of `matches.nodes`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepheid.kernels.matches.nodes import BEGIN

# words of a partition; then those of a block for each region
L_ROOT, L_RING, L_RING_CAP, L_LO, L_HI, L_SLOTS, L_EDGE, L_BLOCKS = range(8)
# words of a block: where it begins, for how many slots there is room, how many there are, how often one was met that
# had left the window
B_AT, B_CAP, B_COUNT, B_GONE, B_WORDS = range(5)
# words of a ring's entry
R_START, R_SLOT, R_WORDS = range(3)
# words of a slot, of which the fourth is its kind and the fifth its cell in the index, or NOWHERE; then the columns it
# remembers, then a number or list per state
S_ORDINAL, S_START, S_NEXT, S_KIND, S_CELL, S_COLUMNS = range(6)
# words of a cell of the index: a partition and region (0: none; negative where the word is a hash of all that tells
# slots apart), a word of a slot, the newest slot with it
I_BLOCK, I_WORD, I_SLOT, I_WORDS = range(4)

# where a transition leads
STAY, BASE, OTHER = range(3)
NOWHERE = -1
NEVER = np.iinfo(np.int64).min  # before every start

# words of `meta`: heap used, nodes used, number of the event, cells of the index used; then what the event needs at
# most: words of the heap, slots, nodes
TOP, STAMP, CELLS, NEED, NEED_SLOTS, NEED_NODES, M_WORDS = 0, 2, 3, 4, 5, 6, 7


class Goals(NamedTuple):
    """Where transitions lead, and what they take along."""

    state: np.ndarray
    place: np.ndarray  # STAY, BASE or OTHER
    carry: np.ndarray  # [goal, i]: where columns to take along begin, -1 for the event, then -2
    origin: (
        np.ndarray
    )  # [goal, i]: where the words of its kind are taken from; -1 for the event, and after them


class TransitionTables(NamedTuple):
    """The automaton over the classes met so far."""

    choice: np.ndarray  # [state, class]: a number, or -1 where the state takes no notice
    reacting: np.ndarray  # [region, class, i]: the states that do, then -1
    in_order: np.ndarray  # [region, class]: `reacting` is such that each state can be followed in place
    creates: (
        np.ndarray
    )  # [class, region, region]: most slots of the second made by one of the first; last, by a root
    extends: np.ndarray  # [class, region]: most nodes made by a slot; last, by a root
    most: np.ndarray  # [class, 2]: of slots made by any one slot or root, and of nodes
    equals: np.ndarray  # [region, class]: the word of the event that a slot's indexed word must equal, or -1
    accepting: np.ndarray  # [region, class, i]: the states that may complete a match, then -1
    asked_first: np.ndarray  # [choice + 1]
    asked_test: np.ndarray  # per test asked
    asked_columns: np.ndarray  # [asked, i]: the words of a slot at which column i begins
    row_first: np.ndarray  # [choice]: its first row, by the bits of what holds
    idle: np.ndarray  # [row]: nothing changes
    skip: np.ndarray  # [row]: a goal, or NOWHERE
    mark_first: np.ndarray  # [row + 1]
    label: np.ndarray  # per mark
    goal: np.ndarray  # per mark: a goal or NOWHERE
    accepts: np.ndarray  # per mark
    goals: Goals


class Layout(NamedTuple):
    """The words of a slot."""

    region: np.ndarray  # [state]; -1 for a root
    number: np.ndarray  # [state]: among those of its region
    states: np.ndarray  # [region]: how many
    value: np.ndarray  # [state]: at which word of its slots its number begins
    numbers: np.ndarray  # [region]: at which word the first state's number begins
    size: np.ndarray  # [region]
    column: int  # words of a column: those of a record, then row and position
    home: int  # words that the event a match began with takes: those of a column, or 0
    words: int  # of a number, or 1 for a list
    indexed: np.ndarray  # [region]: the word of its slots that the index goes by, or -1
    kind: np.ndarray  # [state]: of the slots that are made for it
    keys: np.ndarray  # [kind, i]: the words that tell its slots apart, then -1


class RegisterTables(NamedTuple):
    transitions: TransitionTables
    layout: Layout
    program: np.ndarray  # [test, word]: see `conditions.programs`


class ConfigBatch(NamedTuple):
    """Events that may change something, in stream order."""

    partition: np.ndarray
    row: np.ndarray
    position: np.ndarray
    start: (
        np.ndarray
    )  # what a match that begins here has as its start: the row, or the position in its partition
    klass: np.ndarray
    edge: np.ndarray  # the least start of a match that ends here
    words: np.ndarray  # [event, word]: what tests read, the record first
    nested: np.ndarray  # [event, window]: the least row or position inside a nested window


class Event(NamedTuple):
    """The event at hand, read once: what a function reads from arrays again costs each time anew, since the compiler
    cannot know that nothing was written there (a loop that did took up to 1.4 times as long)."""

    i: int  # its number in the batch
    partition: int
    klass: int
    edge: int  # NEVER without a window
    row: int


class ConfigOptions(NamedTuple):
    windowed: bool  # starts are told apart, and those before an event's edge are over
    by_partition: bool  # edges are of partitions, not of the whole stream
    counting: bool
    consume: bool
    report: bool
    limit: int  # matches in this call, or ROOTS
    spare: int  # matches beyond the limit up to which those that end at one event are all written
    guard: int  # events in all matches of this call
    record: int  # words of a record
    tests: int  # what is asked from this number on are nested windows
    nested_by_position: np.ndarray  # [window]


class Work(NamedTuple):
    """Room for what is worked out per event."""

    scratch: np.ndarray  # the numbers of a slot
    rows: np.ndarray  # a row per state that reacts, or -1 where nothing changes
    before: np.ndarray  # [region]: slots before the event
    kept: np.ndarray  # [region]: … and of those, slots that are left
    event_count: np.ndarray  # a number
    first: np.ndarray  # what partial matches begin from: the number 1, or BEGIN, which is the same
    at: np.ndarray  # where the registers of a test are


class RegisterSpace(NamedTuple):
    """All that the loop keeps its state in."""

    heap: np.ndarray
    meta: np.ndarray
    partitions: np.ndarray
    nodes: np.ndarray
    cells: np.ndarray  # the index
    made: np.ndarray  # a hash table of the slots made by an event: its number, the kind, the slot's number
    total: np.ndarray  # a number: all matches
    stack: np.ndarray  # for enumeration
    work: Work


def work_for(layout: Layout, transitions: TransitionTables) -> Work:
    most, regions = int(layout.states.max()) + 1, len(layout.size)
    first = np.zeros(layout.words, np.int64)
    first[0] = BEGIN
    return Work(
        scratch=np.zeros(most * layout.words, np.int64),
        rows=np.zeros(most, np.int64),
        before=np.zeros(regions, np.int64),
        kept=np.zeros(regions, np.int64),
        event_count=np.zeros(layout.words + 1, np.int64),
        first=first,
        at=np.zeros(transitions.asked_columns.shape[1], np.int64),
    )
