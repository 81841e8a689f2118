"""The events of matches as rows of a table, which is either the history of a stream or all of the stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from cepheid.matches.match_arrays import Ints


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Event k of some matches is at place `numbers[k] - first`; all places are less than `end`."""

    numbers: Ints
    first: int
    end: int


Identities = tuple[Places, Ints, Ints]
"""For each event a place, and two arrays that have at that place the halves of its hash (`Partitions.identities`)."""


@dataclass(frozen=True, slots=True)
class EventRows:
    """The rows of events in a table. Hashes of events are computed only where an id is asked for."""

    table: pa.Table
    places: Places
    identities: Callable[[], Identities]


class RowsOfMatches(Protocol):
    def events(self, rows: Ints) -> EventRows:
        """The events of matches that have these row numbers."""
        ...
