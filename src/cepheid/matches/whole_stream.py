"""A stream that is one table: the events of matches are read from it, so no history of rows is needed.

In: row numbers of the events of some matches. Out: the part of the table that they lie in. The hash that an event is
known by needs its rank among the events of its partition at the same time, so keys and times are looked at for the rows
of matches and for those of the same time before them, and for no others.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa

from cepheid.kernels.columns.events import with_ties
from cepheid.kernels.matches.rows import note_rows
from cepheid.matches.event_rows import EventRows, Identities, Places
from cepheid.matches.history import places_in
from cepheid.matches.match_arrays import Ints
from cepheid.streams.partitions import Partitions
from cepheid.streams.times import Times, same_in_all_units, ties_of

_MOST_SPREAD = 4  # rows for each event of a match up to which hashes have the places of their rows


class TableAtHand:
    """The rows of a whole stream, in its order, with their times, which come from a column of the type `time_type`.
    `new_partitions` makes partitions of the stream's partitions that no event has been numbered in."""

    def __init__(
        self, table: pa.Table, times: Times, time_type: pa.DataType, new_partitions: Callable[[], Partitions]
    ) -> None:
        self._table = table
        self._times = times
        self._time_type = time_type
        self._new_partitions = new_partitions

    def events(self, rows: Ints) -> EventRows:
        """The events of matches that have these row numbers."""
        first = int(rows.min())
        length = int(rows.max()) + 1 - first
        places = Places(rows, first, length)
        return EventRows(self._table.slice(first, length), places, partial(self._identities, places))

    def _identities(self, places: Places) -> Identities:
        occurs = np.zeros(places.end, np.bool_)
        note_rows(places.numbers, places.first, occurs)
        known = with_ties(ties_of(self._times), np.flatnonzero(occurs) + places.first)
        partitions, times = self._new_partitions(), self._times[known]
        numbers = partitions.at(self._table, known)
        _, ranks = partitions.number(numbers, times)
        known_by = same_in_all_units(times, ranks, self._time_type)
        hashes = partitions.identities(numbers, *known_by)
        if places.end > _MOST_SPREAD * len(places.numbers):
            return Places(places_in(known, places.numbers), 0, len(known)), *hashes
        ties = np.searchsorted(known, places.first)  # rows before those of the matches
        low, high = np.empty((2, places.end), np.int64)
        for spread, dense in zip((low, high), hashes, strict=True):
            spread[known[ties:] - places.first] = dense[ties:]
        return places, low, high
