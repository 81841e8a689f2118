"""The engine: batches in stream order in, tables of matches out, incrementally and in one process.

In: a plan. The engine checks and numbers the rows, hands them to the plan's evaluator, keeps the rows that later
matches may contain and turns what was found into tables. Invariant: however the stream is cut into batches, and
however often the state is saved and loaded between them, the union of the tables is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cepheid.algebra.nodes import Computed, WindowUnit
from cepheid.algebra.reach import longest_wait, looks_everywhere
from cepheid.algebra.unmarked_prefix import lead
from cepheid.algebra.variables import output_columns
from cepheid.errors import CepheidError
from cepheid.evaluators.columns.arrays import array_of
from cepheid.evaluators.evaluator_for import evaluator_for
from cepheid.evaluators.interface import Bounds, Events, named, part_of
from cepheid.matches.distinct import distinct
from cepheid.matches.event_rows import RowsOfMatches
from cepheid.matches.history import HIDDEN, POSITION, ROW, History
from cepheid.matches.match_arrays import Found, Gathering, Ints
from cepheid.matches.table import Layout, tabulate
from cepheid.matches.whole_stream import TableAtHand
from cepheid.memory import VARIABLE, most_bytes
from cepheid.options import checked_columns, checked_limit
from cepheid.piece_sizes import MANY_MATCHES, MOST_ROWS, MOST_ROWS_COUNTED, first_size, next_size
from cepheid.plan.plan import Plan
from cepheid.saved import Arrays, pack
from cepheid.schema import Schema, counts_nanoseconds
from cepheid.state_checks import is_count, reading_a_state, require
from cepheid.streams.input_order import InputOrder
from cepheid.streams.partitions import Partitions
from cepheid.streams.times import Times, recent, same_in_all_units

_FEW_MATCHES = 1 << 16  # fewer wait for more before a piece of output is made
_FEW_EVENTS = 1 << 20  # … and so do fewer events of matches
_FEW_BYTES = 1 << 28  # … if their rows are about so small
_SPARE_PARTITIONS = 1 << 14  # partitions kept beyond twice those that were active
_SPARE = MOST_ROWS  # rows kept beyond twice what is needed before they are looked through


class Engine:
    """Runs one plan over one stream. `partition_positions` counts positions inside each partition."""

    def __init__(
        self,
        plan: Plan,
        *,
        positions: bool = False,
        limit: int | None = None,
        counting: bool = False,
        partition_positions: bool = False,
        columns: Sequence[str] | None = None,
    ) -> None:
        self.plan = plan
        limit = checked_limit(limit)
        columns = checked_columns(columns)
        positions = positions or (columns is not None and "positions" in columns)
        self._options = {
            "positions": positions,
            "columns": columns,
            "limit": limit,
            "counting": counting,
            "lane_positions": partition_positions,  # the name in saved states
        }
        limits = [given for given in (limit, plan.query.limit) if given is not None]
        self._limit = min(limits) if limits else None
        # Matches that are merged are made to be counted; a count shows nothing.
        self._merges, self._counts_rows = plan.query.distinct, counting and plan.query.distinct
        if counting and (
            self._merges or any(isinstance(item, Computed) for item in output_columns(plan.query))
        ):
            columns = ("end",)  # what expressions read need not be there
        counting = counting and not self._merges
        self._counting = counting
        self._evaluator = evaluator_for(plan, counting, None if self._merges else self._limit)
        layout = Layout(
            plan.schema,
            plan.query.partition_by,
            output_columns(plan.query),
            None if not positions else POSITION if partition_positions else ROW,
            columns,
        )
        self._layout, self.output_schema = layout, layout.arrow
        plan.schema.require_readable(plan.reads if counting else plan.needs(columns))
        self._nothing = self.output_schema.empty_table()
        self._keeps_rows = layout.reads_events and not counting
        self._partitions = _partitions_of(plan.query.partition_by, plan.schema, hashed=not counting)
        # What the evaluator runs by: finer where the rewriting made a partition of a PART-BY. Output and ids are not.
        split = plan.rewritten.partition_by != plan.query.partition_by
        self._split = Partitions(plan.rewritten.partition_by, hashed=False) if split else self._partitions
        self._history = History(plan.schema.arrow)
        self._rows_of_matches: RowsOfMatches = self._history
        self._size = first_size(plan, counting)
        self._most_rows = MOST_ROWS
        self._rows = 0
        self._reported = 0
        self._input = InputOrder(plan.schema)
        self._ended: str | None = None  # why no more rows are taken
        self._alive = 0
        self._active = 0

    def push(self, batch: pa.RecordBatch | pa.Table, report: bool = True) -> pa.Table:
        """Takes the next rows, in stream order, and gives the matches that end in them.

        With `report` false they are only taken in: matches that end in them are not reported.
        """
        found = [self._nothing]
        held, allowed = 0, most_bytes()
        for piece in self.pieces(batch, report):
            if self._counts_rows:
                continue
            found.append(piece)
            held += piece.nbytes
            if held > allowed:
                raise CepheidError(
                    "too-many-matches",
                    f"the matches of one push fill more than {allowed:,} bytes, half of the memory there is",
                    hint="add LIMIT, a shorter WITHIN or a strategy such as MAX, push smaller batches, use count, "
                    f"or set {VARIABLE}",
                )
        return pa.concat_tables(found)

    def pieces(
        self, batch: pa.RecordBatch | pa.Table, report: bool = True, ranks: Ints | None = None
    ) -> Iterator[pa.Table]:
        """The same piece by piece, so that few matches are held at a time however many there are.

        Where the rows are only a part of their stream, `ranks` are theirs among all of the same time.
        """
        self._check_has_not_ended()
        table = self._input.checked(batch)
        times = self._input.times(table, self._rows)
        self._ended = "an earlier push failed, and part of its rows was taken"
        for found in self._advance_all(table, times, report, ranks):
            yield from self._tabulated(found)
        self._ended = None

    def pass_time(self, now: int | float) -> Iterator[pa.Table]:
        """No event at or before the time `now` will come any more: the matches that are known by that, piece by
        piece. They are those that a NOT after their last event may still have rejected. Times are as in
        `streams.times`."""
        self._check_has_not_ended()
        self._input.passed = now
        self._ended = "time was passed, and not all of the matches were taken"
        yield from self._tabulated(self._evaluator.pass_time(now))
        self._ended = None

    @property
    def waits_until(self) -> int | float | None:
        """The time that has to pass before `pass_time` may give a match, if no row comes; None: no match waits for
        time to pass."""
        since, wait = self._evaluator.waiting_since, longest_wait(self.plan.rewritten)
        if since is None or wait is None or wait == inf:
            return None
        return since + int(wait) if isinstance(since, int) else _reached(since, wait)

    def _check_has_not_ended(self) -> None:
        if self._ended is not None:
            hint = "make a new engine, or load a state that was saved before"
            raise CepheidError("bad-argument", f"nothing can be pushed: {self._ended}", hint=hint)

    def whole(self, table: pa.Table) -> Iterator[pa.Table]:
        """The matches of a stream that is one table, in large pieces. Takes the place of `pieces` and `finish`.

        The rows of matches are read from the table, so none are kept. Matches are gathered over several batches until
        there are enough of them for one piece of output.
        """
        table = self._input.checked(table)
        times = self._input.times(table, self._rows)
        self._ended = "its stream was one table"
        self._keeps_rows, self._most_rows = False, MOST_ROWS_COUNTED
        self._rows_of_matches = TableAtHand(
            table,
            times,
            self.plan.schema.time_type,
            partial(_partitions_of, self.plan.query.partition_by, self.plan.schema),
        )
        most_events = min(_FEW_EVENTS, len(table) * _FEW_BYTES // max(1, table.nbytes))
        waiting = Gathering()
        for found in self._advance_all(table, times, True, None):
            if len(found) < _FEW_MATCHES or len(waiting.found):
                waiting.add(found)
                found = waiting.found
            if len(found) >= _FEW_MATCHES or len(found.rows) >= most_events:
                yield from self._tabulated(found)
                waiting.clear()
        waiting.add(self._evaluator.finish())
        yield from self._tabulated(waiting.found)

    def _advance_all(
        self, table: pa.Table, times: Times, report: bool, ranks: Ints | None
    ) -> Iterator[Found]:
        """The matches of one batch after another, each to be read before the next is asked for."""
        at = 0
        while at < len(table):
            end = at + self._size
            piece, piece_times = table.slice(at, self._size), times[at:end]
            found = self._advance(piece, piece_times, report, None if ranks is None else ranks[at:end])
            yield found
            self._tidy(piece_times)
            at = end
            if not self._counting:
                self._size = next_size(self._size, len(found), self._most_rows)

    def expire(self, now: int | float) -> bool:
        """No event at or before the time `now` will come any more: forgets what no later match can contain. Matches
        that are known by that must have been taken (`pass_time`).

        Says whether anything is left that a later match may need: if not, `resume` in a new engine does as well.
        """
        if not self._forgets:
            self._forget()
            return True
        moment = self._moment(now)
        if self._split.columns:
            self._forget_partitions(moment)
            return self._split.count > 0
        last = self._input.last_time
        if last is None:
            return False
        if self._recent(last, moment)[0]:
            self._forget()
            return True
        self._evaluator.keep_partitions(np.zeros(0, np.int64))
        self._forget()
        self._input.last = None
        return False

    def remembers_until(self, now: int | float) -> int | float | None:
        """The last time at which something up to `now` may still play a part, if no row comes; None: it always may."""
        if not self._forgets:
            return None
        return now + (self._memory if isinstance(now, float) else int(self._memory))

    @property
    def numbers(self) -> tuple[int, int]:
        """How many rows were taken and matches given: all that is left of a stream that has expired."""
        return self._rows, self._reported

    def resume(self, numbers: tuple[int, int]) -> None:
        """Goes on, with nothing remembered, after so many rows and matches."""
        self._rows, self._reported = numbers

    def finish(self) -> pa.Table:
        """The stream has ended: the matches that were waiting for that."""
        self._ended = "`finish` ended the stream"
        return pa.concat_tables([self._nothing, *self._tabulated(self._evaluator.finish())])

    @property
    def counted(self) -> int:
        """The exact number of matches so far, for an engine made for counting."""
        counted = self._reported if self._counts_rows else self._evaluator.counted
        return counted if self._limit is None else min(counted, self._limit)

    @property
    def memory(self) -> int:
        """Bytes of state held between two batches."""
        partitions = {id(partitions): partitions.memory for partitions in (self._partitions, self._split)}
        return self._evaluator.memory + self._history.memory + sum(partitions.values())

    def save(self) -> bytes:
        """The whole state, to go on from with `cepheid.load`."""
        schema = self.plan.schema
        header = {
            "text": self.plan.text,
            "language": self.plan.language,
            "evaluator": self.plan.asked,
            "ran": self.plan.evaluator,
            "names": {
                "time": schema.time,
                "type": schema.type,
                "order": schema.order,
                "stream": schema.stream,
            },
            "options": self._options,
            "exact": True,
            "rows": self._rows,
            "reported": self._reported,
            "ended": self._ended,
            "passed": self._input.passed,
        }
        tables = {"history": self._history.save(), "schema": schema.arrow.empty_table()}
        if self._input.last is not None:
            tables["last"] = self._input.last
        arrays: Arrays = {}
        for partitions, prefix in self._saved_partitions():
            arrays |= named(prefix, partitions.save())
        arrays |= named("evaluator:", self._evaluator.save())
        return pack(header, tables, arrays)

    def _saved_partitions(self) -> list[tuple[Partitions, str]]:
        """The partitions that a state holds, and how the names of their arrays begin."""
        own = [(self._partitions, "lanes:")]
        return own if self._split is self._partitions else [*own, (self._split, "split:")]

    def restore(self, header: dict[str, Any], tables: dict[str, pa.Table], arrays: Arrays) -> None:
        """Takes over a saved state; the plan and the options are those it was saved with. An engine that it was refused
        by is of no use any more."""
        _check_exact(header, self.plan)
        with reading_a_state():
            rows, reported, ended = header["rows"], header["reported"], header["ended"]
            require(is_count(rows), f"it has taken {rows} rows")
            require(is_count(reported, 1 << 62), f"it has given {reported} matches")
            require(ended is None or isinstance(ended, str), "the reason why it ended is not a text")
            self._rows, self._reported, self._ended = rows, reported, ended
            self._history.load(tables["history"], rows)
            self._alive = len(tables["history"])
            self._input.load(tables.get("last"), header.get("passed"))
            for partitions, prefix in self._saved_partitions():
                types = [self.plan.schema.arrow.field(name).type for name in partitions.columns]
                partitions.load(part_of(arrays, prefix), rows, types)
            bounds = Bounds(rows, self._split.count, self.plan.schema.time_type)
            self._evaluator.load(part_of(arrays, "evaluator:"), bounds)
            if self._keeps_rows:
                self._history.require(self._evaluator.live_rows())

    def _advance(self, table: pa.Table, times: Times, report: bool, given: Ints | None) -> Found:
        own, ranks = None, None
        if self._keeps_rows:
            partitions = self._partitions.of(table)
            positions, ranks = self._partitions.number(partitions, times)
            own = (partitions, positions)
            ranks = ranks if given is None else given
        keyed = own if self._split is self._partitions else None
        events = Events(table, self._rows, times, self._keyed(table, times, keyed), report)
        with self._hint_about_window():
            found = self._evaluator.advance(events)
        if ranks is not None:
            self._keep(Events(table, self._rows, times, own), ranks)
        self._rows += len(table)
        return found

    @contextmanager
    def _hint_about_window(self) -> Iterator[None]:
        """Too many matches of a query without WITHIN: that is what is missing, more often than not."""
        try:
            yield
        except CepheidError as error:
            if error.code != "too-many-matches" or self.plan.rewritten.window is not None:
                raise
            message = f"{error.message}, and without WITHIN a match can begin at any time in the past"
            hint = f"add WITHIN; {error.hint}" if error.hint else "add WITHIN"
            raise CepheidError(error.code, message, hint=hint) from None

    def _keyed(
        self, table: pa.Table, times: Times, known: tuple[Ints, Ints] | None
    ) -> tuple[Ints, Ints] | Callable[[Ints], Ints] | None:
        """The partitions that the evaluator runs by, with positions in them only where it needs those."""
        if not self._split.columns:
            return None
        if known is not None:
            return known
        if not self._evaluator.positional:
            return partial(self._split.at_noting_times, table, times)
        partitions = self._split.of(table)
        return partitions, self._split.number(partitions, times)[0]

    def _tidy(self, times: Times) -> None:
        """Forgets what no later match can contain, where that has become much."""
        if len(self._history) > 2 * self._alive + _SPARE:
            self._forget()
        if self._split.columns and self._split.count > 2 * self._active + _SPARE_PARTITIONS:
            self._forget_partitions(times[-1])

    def _keep(self, events: Events, ranks: Ints) -> None:
        """Keeps the rows that a match may contain, and what they are known by."""
        keep = self._evaluator.relevant - events.first
        rows, partitions, positions = events.at(keep)
        known_by = same_in_all_units(events.times[keep], ranks[keep], self.plan.schema.time_type)
        names = self._partitions.identities(partitions, *known_by)
        table = events.table.take(pa.array(keep))
        columns = [*table.columns, *(pa.array(numbers) for numbers in (rows, positions, *names))]
        self._history.add(pa.table(columns, names=[*table.column_names, *HIDDEN]).combine_chunks())

    def _forget(self) -> None:
        rows = self._evaluator.live_rows()
        self._history.keep(rows)
        self._alive = len(rows)

    @property
    def _forgets(self) -> bool:
        """Whether what happened long ago can play no part any more."""
        query = self.plan.rewritten
        reaches = lead(query.pattern) or looks_everywhere(query.pattern)
        return self._memory < inf and not reaches and not self._options["lane_positions"]

    @property
    def _memory(self) -> int | float:
        """How long an event can play a part: in matches within the window, and in those that wait to become known."""
        window = self.plan.rewritten.window
        if window is None or window.unit is WindowUnit.EVENTS:
            return inf
        return max(window.amount, longest_wait(self.plan.rewritten) or 0)

    def _moment(self, now: int | float) -> np.int64 | np.float64:
        return np.float64(now) if pa.types.is_floating(self.plan.schema.time_type) else np.int64(now)

    def _recent(self, times: Times, now: np.int64 | np.float64) -> npt.NDArray[np.bool_]:
        return recent(times, now, self._memory)

    def _forget_partitions(self, now: np.int64 | np.float64) -> None:
        """Forgets the partitions that have been silent for long, where nothing counts on them."""
        if not self._forgets:
            self._active = self._split.count
            return
        active = self._split.recent(now, self._memory)
        if self._split is not self._partitions and self._partitions.columns:
            self._partitions.keep(self._partitions.recent(now, self._memory))
        self._split.keep(active)
        self._evaluator.keep_partitions(active)
        self._forget()
        self._active = len(active)

    def _tabulated(self, found: Found) -> Iterator[pa.Table]:
        """The matches that are to be given, as tables of at most `MANY_MATCHES`."""
        labels, rows = self._evaluator.labels, self._rows_of_matches
        if self._merges and len(found):
            found = distinct(found, labels, self._layout, rows, array_of)
        if self._limit is not None:
            found = found.part(0, max(0, self._limit - self._reported))
        self._reported += len(found)
        for begin in range(0, len(found), MANY_MATCHES):
            part = found.part(begin, begin + MANY_MATCHES)
            yield tabulate(part, labels, self._layout, rows, array_of)


def _reached(since: float, wait: int | float) -> float:
    """The earliest time by which, as reals are rounded, so much time may have passed."""
    return since + wait - 4 * float(np.spacing(max(abs(since), wait)))


def _partitions_of(columns: tuple[str, ...], schema: Schema, hashed: bool = True) -> Partitions:
    return Partitions(
        columns, hashed, tuple(counts_nanoseconds(schema.arrow.field(name).type) for name in columns)
    )


def _check_exact(header: dict[str, Any], plan: Plan) -> None:
    """States were once saved with nanoseconds cut to microseconds, and cannot be gone on with."""
    cut = [name for name in plan.reads if counts_nanoseconds(plan.schema.arrow.field(name).type)]
    if cut and not header.get("exact"):
        raise CepheidError(
            "bad-state",
            f"the state was saved by a release that cut the nanoseconds of `{cut[0]}` to microseconds",
            hint="start the query anew",
        )
