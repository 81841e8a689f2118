"""The events of matches as rows of a table, which is either the history of a stream or all of the stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from cepheid.matches.match_arrays import Ints

Identities = tuple[Ints, Ints, Ints]
"""For each event a place, and two arrays that have at that place the halves of its hash (`Partitions.identities`)."""


@dataclass(frozen=True, slots=True)
class EventRows:
    """Event k is row `index[k]` of `table`. Its hash is computed only where an id is asked for."""

    table: pa.Table
    index: Ints
    identities: Callable[[], Identities]


class RowsOfMatches(Protocol):
    def events(self, rows: Ints) -> EventRows:
        """The events of matches that have these row numbers."""
        ...
