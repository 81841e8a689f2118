"""The arguments of the loops: the automaton as tables, events as columns, options."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

UNKNOWN = -2  # a cell of the table not filled yet
DEAD = -1


class Table(NamedTuple):
    """The determinised automaton: per (state, class) where skipping leads, and a range of marks."""

    skip: np.ndarray  # [state, class]: a state, DEAD or UNKNOWN
    first: np.ndarray  # [state, class]: number of the first mark
    marks: np.ndarray  # [state, class]: how many
    label: np.ndarray  # per mark
    target: np.ndarray  # per mark: a state or DEAD
    accepts: np.ndarray  # per mark


class Batch(NamedTuple):
    """Relevant events grouped by partition, in stream order inside each."""

    partition: np.ndarray
    row: np.ndarray
    position: np.ndarray
    klass: np.ndarray
    edge: np.ndarray  # the least row (or place) a match that ends here may start at


class Options(NamedTuple):
    words: int  # words per value
    counting: bool
    windowed: bool
    by_position: bool  # the window's edge is a place, not a row
    gaps: bool  # skipping an irrelevant event changes some state
    consume: bool
    report: bool
    limit: int  # matches per partition in this call, or ROOTS
    spare: int  # matches beyond the limit up to which those that end at one event are all written
    guard: int  # events in all matches of this call
