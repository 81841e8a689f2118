"""A stream as Spark runs it, without Spark: rows that come in some order, cut into micro-batches, under its watermark.

In: a `generators.Case`, and choices of how its rows come: when, in which micro-batch, read by which task of the
source. Out: what streaming does otherwise than the definition, or None. The rules of Spark are written here once
more: the watermark of a micro-batch is the latest time of all earlier ones less the delay, in whole milliseconds; it
never goes back; what is at or before the watermark of an earlier micro-batch is late. Spark shows it only above 0.
Rows are packed, handed to buckets and kept by `cepheid.spark.live`, in stores of this process, in pages of few rows.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from unittest import mock

import numpy as np
import pyarrow as pa

from cepheid.algebra.nodes import (
    Not,
    Pattern,
    Query,
    Recognise,
    Tree,
    Window,
    WindowUnit,
    Within,
    rebuild,
    walk,
)
from cepheid.algebra.printing import print_query
from cepheid.algebra.reach import longest_wait
from cepheid.algebra.types import check_types
from cepheid.engine import Engine
from cepheid.errors import CepheidError
from cepheid.pipeline import parse_query, plan_for
from cepheid.plan.plan import Plan
from cepheid.schema import Schema, schema_of
from cepheid.semantics.oracle import evaluate
from cepheid.semantics.stream import events_of
from cepheid.spark.live.bucket import Arrived, Bucket
from cepheid.spark.live.head import load_head
from cepheid.spark.live.job import Job, job_of_terms
from cepheid.spark.live.merge import in_order
from cepheid.spark.live.pack import BUCKET, PackTask, newest_of, number_of
from cepheid.spark.live.pages import Page
from cepheid.spark.live.store import Memory
from cepheid.streams.times import times_of
from support.agreement import POSITION, Match, found_in, within_patience
from support.compared_queries import seeded_compared
from support.generators import (
    ANYTHING,
    SETS,
    UNARY,
    Case,
    Choices,
    Limits,
    Seeded,
    chance,
    pick,
    seeded,
    seeded_sremo,
)
from support.random_sremo import case_of, reading_case, seeded_reading
from support.selected_queries import frequent_case, rows_found, rows_wanted
from support.set_queries import seeded_gathered
from support.varied_patterns import seeded_varied, seeded_waiting
from support.whole_set_queries import seeded_whole

Rows = list[int]
"""Numbers of rows of the case's table."""


# ── times ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Clock:
    """A kind of time column. The times of a case, whole numbers from 0, become `first + scale · time`."""

    dtype: pa.DataType
    scale: int | float
    first: int | float

    def column(self, times: list[int]) -> pa.Array:
        return pa.array([self.first + self.scale * time for time in times], self.dtype)

    def window(self, window: Window) -> Window:
        if window.unit is WindowUnit.EVENTS:
            return window
        scale = self.scale * 86_400_000_000 if pa.types.is_date(self.dtype) else self.scale
        return replace(window, amount=window.amount * scale)


WHOLE = tuple(
    Clock(dtype, scale, first)
    for dtype, scale, first in (
        (pa.int64(), 1, 0),
        (pa.int64(), 1, 1),
        (pa.int32(), 1000, 5),
        (pa.int64(), 3, -20),
        (pa.int64(), 1, -(10**15)),
        (pa.int64(), 1, 9 * 10**15),
        (pa.float64(), 0.001, 0.0),
        (pa.float64(), 0.1, 1e9),
        (pa.float64(), 0.0007, 0.25),
        (pa.float64(), 0.5, -6.0),
        (pa.float32(), 0.25, 1.0),
    )
)
MOMENTS = tuple(
    Clock(dtype, scale, first)
    for dtype, scale, first in (
        (pa.timestamp("us"), 700, 1),
        (pa.timestamp("us"), 1000, 0),
        (pa.timestamp("us", "UTC"), 1_000_003, 1_700_000_000_000_000),
        (pa.timestamp("us"), 333, -9_000),
        (pa.timestamp("us"), 1, 253_402_300_000_000_000),
        (pa.date32(), 1, 20_000),
        (pa.date32(), 1, -8),
        (pa.date32(), 1, 2_900_000),
    )
)


def timed(case: Case, clock: Clock) -> Case:
    """The same case by another clock, its windows included."""
    times = case.table["ts"].cast(pa.int64()).to_pylist()
    place = case.table.column_names.index("ts")
    table = case.table.set_column(place, "ts", clock.column(times))
    window = None if case.query.window is None else clock.window(case.query.window)
    pattern: Pattern = _windows_by(clock, case.query.pattern)
    return Case(replace(case.query, pattern=pattern, window=window), table)


def _windows_by(clock: Clock, node: Tree) -> Tree:
    made = rebuild(node, partial(_windows_by, clock))
    match made:
        case Within(_, window):
            return replace(made, window=clock.window(window))
        case Not(_, window) if window is not None:
            return replace(made, within=clock.window(window))
        case Recognise(reading):
            return replace(made, reading=_windows_by(clock, reading))
    return made


def is_by_moments(case: Case) -> bool:
    """Whether some window of the query needs a clock of timestamps."""
    return pa.types.is_timestamp(case.table.schema.field("ts").type)


def is_by_numbers(case: Case) -> bool:
    """Whether some window of the query needs a clock of numbers."""
    parts = [part for part in walk(case.query.pattern) if isinstance(part, Not | Within)]
    windows = [part.within if isinstance(part, Not) else part.window for part in parts]
    windows.append(case.query.window)
    return any(window is not None and window.unit is WindowUnit.PLAIN for window in windows)


# ── Spark's rules ───────────────────────────────────────────────────────────────────────────────────────────


def milliseconds(times: pa.ChunkedArray) -> list[int]:
    """Times as Spark's watermark sees them: whole numbers as they are, real ones in thousandths."""
    if pa.types.is_date(times.type):
        return [day * 86_400_000 for day in times.cast(pa.int32()).to_pylist()]
    if pa.types.is_timestamp(times.type):
        return [moment // 1000 for moment in times.cast(pa.int64()).to_pylist()]
    if pa.types.is_floating(times.type):
        return [int(np.floor(time * 1_000_000)) // 1000 for time in times.to_pylist()]
    return list(times.to_pylist())


def is_late(time: object, dtype: pa.DataType, watermark: int | None) -> bool:
    """Whether a time, as the oracle's events have it, is at or before an earlier watermark."""
    assert isinstance(time, int | float)
    if watermark is None:
        return False
    if pa.types.is_floating(dtype):
        return time <= watermark / 1000
    return time <= (watermark if pa.types.is_integer(dtype) else watermark * 1000)


@dataclass(frozen=True, slots=True)
class Coming:
    """How rows come: micro-batches of the rows that each task of the source reads; none where no task ran, since only
    the watermark had moved. `delay` is in milliseconds of the watermark."""

    batches: list[list[Rows]]
    delay: int

    @property
    def rows(self) -> Rows:
        """All rows in the order of their arrival."""
        return [row for sources in self.batches for rows in sources for row in rows]

    def watermarks(self, table: pa.Table) -> list[int | None]:
        """The watermark of each micro-batch; None before any row has come."""
        seen = milliseconds(table["ts"])
        found: list[int | None] = []
        times: list[int] = []
        for sources in self.batches:
            found.append(max(times, default=None))
            times += [seen[row] - self.delay for rows in sources for row in rows]
        return found

    def late(self, table: pa.Table) -> set[int]:
        """The rows that come too late."""
        found: set[int] = set()
        times = [event.time for event in events_of(table, schema_of(table.schema, time="ts"))]
        before: int | None = None
        for sources, now in zip(self.batches, self.watermarks(table), strict=True):
            rows = [row for rows in sources for row in rows]
            found |= {row for row in rows if is_late(times[row], table.schema.field("ts").type, before)}
            before = now
        return found


def coming(choices: Choices, table: pa.Table) -> Coming:
    """Rows that are held up for a while each, a few for longer than the watermark waits."""
    seen = milliseconds(table["ts"])
    length = (max(seen) - min(seen)) if seen else 0
    delay = pick(choices, (0, length // 8, 0, 1, length // 8, length // 3, length // 4, length, 10 * length))
    held_up = [choices.below(delay + 1) if chance(choices, 60) else 0 for _ in seen]
    held_up = [wait if chance(choices, 85) else wait + delay + length // 2 for wait in held_up]
    order = sorted(range(len(seen)), key=lambda row: (seen[row] + held_up[row], choices.below(3)))
    batches: list[list[Rows]] = []
    while order:
        taken = 1 + choices.below(pick(choices, (1, 3, 6, 20)))
        part, order = order[:taken], order[taken:]
        sources: list[Rows] = [[] for _ in range(1 + choices.below(3))]
        for row in part:
            pick(choices, sources).append(row)
        batches.append(sources)
        if chance(choices, 20):
            batches.append([])
    if chance(choices, 50):
        batches.append([])
    return Coming(batches, delay)


# ── running ─────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class Ran:
    """What buckets gave: matches while the stream ran, those at its end, and numbers of late rows. `by`: after each
    micro-batch the time that had passed, and how many matches had been given."""

    given: list[pa.Table]
    finished: list[pa.Table]
    late: list[int]
    by: list[tuple[int | float | None, int]] = field(default_factory=list)

    def table(self, schema: pa.Schema) -> pa.Table:
        return pa.concat_tables([schema.empty_table(), *self.given, *self.finished])


def bucket_of(table: pa.Table, by: tuple[str, ...], buckets: int) -> pa.Array:
    """A bucket for each row, the same for equal keys."""
    keys = [tuple(row[name] for name in by) for row in table.select(list(by) or ["ts"]).to_pylist()]
    return pa.array([zlib.crc32(repr(key).encode()) % buckets if by else 0 for key in keys], pa.int32())


def run_stream(job: Job, table: pa.Table, coming: Coming, choices: Choices) -> Ran:
    """Runs every micro-batch; now and then one that is lost and run again from the state before it."""
    keys = job.keys
    stores = {key: Memory() for key in keys}
    ran = Ran([], [], [])
    for sources, watermark in zip(coming.batches, coming.watermarks(table), strict=True):
        arrived: dict[int, list[Arrived]] = {key: [] for key in keys}
        told: list[bytes] = []
        for source, rows in enumerate(sources):
            for key, page in packed(job, table.take(pa.array(rows, pa.int64())), source, choices, told):
                arrived[key].append(page)
        shown = (max(watermark or 0, 0), newest_of(told))
        for key in keys:
            lost = Memory(stores[key].head(), stores[key].pages) if chance(choices, 20) else None
            before = None if lost is None else call(job, lost, arrived[key], *shown)
            bucket, found = call(job, stores[key], arrived[key][::-1], *shown)
            if before is not None:
                assert [printed(table) for table in before[1]] == [printed(table) for table in found]
                assert known(before[0]) == known(bucket)
            ran.given += found
            ran.late += [number for late in bucket.late for number in late[POSITION].to_pylist()]
            check_store(stores[key], bucket)
        ran.by.append((bucket.head.watermark, sum(map(len, ran.given))))
    for key in keys:
        kept = Memory(stores[key].head(), stores[key].pages)
        if (head := kept.head()) is not None:
            ran.finished += list(Bucket(job_of_terms(load_head(head).terms), kept).finish())
            assert (kept.head(), kept.pages) == (stores[key].head(), stores[key].pages)
    return ran


def packed(
    job: Job, rows: pa.Table, source: int, choices: Choices, newest: list[bytes] | None = None
) -> Iterator[tuple[int, Arrived]]:
    """The pages that a task of the source makes of its rows, by the key of their bucket. What empty ones tell of the
    newest time is added to `newest`."""
    schema = job.plan.schema
    real = pa.types.is_floating(schema.time_type)
    placed = rows.append_column(BUCKET, bucket_of(rows, job.plan.query.partition_by, len(job.keys)))
    batches = placed.to_batches(max_chunksize=1 + choices.below(6))
    told = set()
    for batch in PackTask(schema, job.keys)(batches):
        for row in batch.to_pylist():
            told.add(row["bucket"])
            if row["rows"]:
                low, high = (number_of(row[name], real=real) for name in ("low", "high"))
                yield (
                    row["bucket"],
                    Arrived(source, row["number"], Page(row["rows"], low, high, row["content"])),
                )
            elif newest is not None:
                newest.append(row["high"])
    assert told == set(job.keys), "every bucket hears of every micro-batch"


def call(
    job: Job, store: Memory, arrived: list[Arrived], watermark: int, newest: int | None = None
) -> tuple[Bucket, list[pa.Table]]:
    """One call of a bucket, with what it found; `watermark` is Spark's, `newest` the newest time of the micro-batch."""
    bucket = Bucket(job, store)
    bucket.take(arrived)
    found = list(bucket.release(bucket.passed(watermark)))
    bucket.note_newest(newest)
    bucket.close()
    assert bucket.numbers.matches == sum(map(len, found))
    assert bucket.numbers.late == sum(map(len, bucket.late))
    return bucket, found


def known(bucket: Bucket) -> tuple[object, ...]:
    """What two tries must agree in. A saved engine has room in it that nobody has written to."""
    head = bucket.head
    return head.watermark, head.waiting, head.until, head.taken, head.given, head.calls


def check_store(store: Memory, bucket: Bucket) -> None:
    """The head names all that is kept, and nothing else is; what is kept is not at or before the watermark."""
    saved = store.head()
    assert saved is not None
    head = load_head(saved)
    waiting = {page.number: page for page in head.waiting}
    assert sorted(store.pages) == sorted([*waiting, *head.engine])
    assert {number: len(store.pages[number]) for number in waiting} == {
        number: page.size for number, page in waiting.items()
    }
    assert head.engine_bytes == sum(len(store.pages[number]) for number in head.engine)
    assert bucket.numbers.state_bytes == len(saved) + sum(map(len, store.pages.values()))
    assert bucket.numbers.waiting == sum(page.rows for page in head.waiting)
    assert all(page.done is None or page.done <= page.high for page in head.waiting)
    if head.watermark is not None:
        assert all(page.high > head.watermark for page in head.waiting)


@contextmanager
def small_pages(choices: Choices) -> Iterator[None]:
    """Pages of a few rows, merged a few at a time, and saved engines in many pages."""
    with (
        mock.patch("cepheid.spark.live.pages.BYTES", pick(choices, (1, 120, 400, 1 << 18))),
        mock.patch("cepheid.spark.live.pack.SORTED_BYTES", pick(choices, (1, 300, 1 << 20))),
        mock.patch(
            "cepheid.spark.live.bucket.in_order", partial(in_order, rows=pick(choices, (1, 2, 5, 99)))
        ),
        mock.patch("cepheid.spark.live.bucket.CHUNK", pick(choices, (200, 1 << 19))),
    ):
        yield


# ── comparing ───────────────────────────────────────────────────────────────────────────────────────────────


def written(seed: int) -> Case:
    """The first case of SREMO from this seed on that can be written: one that reads no register that nothing stores."""
    for next_seed in count(1000 * seed):
        case = case_of(seeded_reading(next_seed, reading_case))
        try:
            parse_query(print_query(case.query))
        except CepheidError as error:
            if error.code not in ("unknown-register", "empty-register", "needs-window", "unsatisfiable"):
                raise
        else:
            return case
    raise AssertionError


def selected(seed: int) -> Case:
    """A case with columns of its own; which rows LIMIT takes is the stream's affair."""
    case = frequent_case(Seeded(seed), replace(ANYTHING, events=10, atoms=4))
    return replace(case, query=replace(case.query, limit=None))


def selected_rows_differ(plan: Plan, kept: pa.Table, query: Query) -> str | None:
    """What the engine shows otherwise than the definition, or None."""
    place = kept.column_names.index(POSITION)
    table = kept.set_column(place, POSITION, pa.array(range(len(kept)), pa.int64()))
    wanted = rows_wanted(check_types(query, plan.schema), events_of(table, plan.schema))
    found = rows_found(plan, in_process(plan, table))
    return None if found == wanted else f"in-process showed {found}, oracle {wanted}"


KINDS: dict[str, Callable[[int], Case]] = {
    "unary": lambda seed: seeded(seed, UNARY),
    "anything": lambda seed: seeded(seed, ANYTHING),
    "sets": lambda seed: seeded(seed, SETS),
    "compared": seeded_compared,
    "sremo": seeded_sremo,
    "readings": written,
    "selected": selected,
    "waiting": lambda seed: seeded_waiting(
        seed, Limits(events=9, atoms=3, nary=seed % 2 == 1, windows=WAITING)
    ),
    "varied": lambda seed: seeded_varied(seed, Limits(events=8, atoms=3, nary=seed % 2 == 1)),
    "gathered": seeded_gathered,
    "whole sets": seeded_whole,
}
WAITING = (None, WindowUnit.EVENTS, *[WindowUnit.PLAIN] * 3, WindowUnit.MICROSECONDS)
EVALUATORS = ("auto", "auto", "auto", "semantics", "chain", "configurations", "compact")


def streaming_case(seed: int, kind: str) -> Case:
    """A case of this kind by a clock that the seed chooses."""
    case = KINDS[kind](seed)
    choices = Seeded(seed)
    if is_by_moments(case):
        clocks = MOMENTS
    elif not is_by_numbers(case) and not isinstance(case.query.pattern, Recognise):
        clocks = WHOLE + MOMENTS
    else:
        clocks = WHOLE
    return timed(case, pick(choices, clocks))


def streaming_differences(seed: int, kind: str) -> str | None:
    """What the stream of a seed gives otherwise than the definition, or None."""
    choices = Seeded(seed + 1)
    case, _ = within_patience(streaming_case(seed, kind))
    table = case.table.append_column(POSITION, pa.array(range(len(case.table)), pa.int64()))
    order = pick(choices, (None, None, None, "n" if "n" in table.column_names else "a", POSITION))
    schema = schema_of(table.schema, time="ts", order=order)
    rows = coming(choices, table)
    late = rows.late(table)
    kept = in_stream_order(table, [row for row in rows.rows if row not in late], schema)
    wanted = definition(case.query, kept, schema)
    plan = planned(case.query, schema, pick(choices, EVALUATORS))
    if plan is None:
        return None if not wanted else f"refused as unsatisfiable, but the oracle finds {wanted}"
    keys = tuple(range(10, 10 + pick(choices, (1, 2, 3))))
    job = Job(plan, keys, chance(choices, 30), delay_ms=rows.delay)
    with small_pages(choices):
        ran = run_stream(job, table, rows, choices)
    if sorted(ran.late) != sorted(late):
        return f"late were {sorted(ran.late)}, by the rule {sorted(late)} ({rows})"
    found, whole = ran.table(job.engine().output_schema), in_process(plan, kept)
    names = [item.name for item in plan.shown]
    if kind == "selected":
        if (differs := selected_rows_differ(plan, kept, case.query)) is not None:
            return differs
    elif (seen := by_number(found_in(whole, names), kept)) != wanted:
        return f"in-process found {seen}, oracle {wanted}"
    if printed(found) != printed(whole):
        return f"{plan.evaluator}: found {printed(found)}, in-process {printed(whole)} ({rows})"
    if (differs := belated(ran, plan, whole)) is not None:
        return f"{differs} ({rows})"
    merged = plan.query.distinct  # any of the matches that begin together stands for them
    if (
        job.positions
        and not merged
        and (placed := by_partition(found, kept, plan.query.partition_by))
        != sorted(positions for positions, _ in wanted)
    ):
        return f"positions {placed}, oracle {wanted} ({rows})"
    return None


def belated(ran: Ran, plan: Plan, whole: pa.Table) -> str | None:
    """What was given later than it was known, by the time that had passed; or None."""
    wait = longest_wait(plan.query) or 0
    ends = times_of(whole["end"], "end").tolist()
    for passed, given in ran.by:
        if passed is None:
            continue
        over = (
            passed if isinstance(passed, float) else passed + 1
        )  # the earliest time at which a row may come
        known = sum(end <= passed and (not wait or over - end > wait) for end in ends)
        if given < known:
            return f"at {passed} only {given} were given of {known} that were known"
    return None


def in_stream_order(table: pa.Table, rows: Rows, schema: Schema) -> pa.Table:
    """The rows, given in order of arrival, in stream order: by time, the order column with NULL last, arrival."""
    times = [event.time for event in events_of(table, schema_of(table.schema, time="ts"))]
    ranks = [None] * len(table) if schema.order is None else table[schema.order].to_pylist()
    ordered = sorted(rows, key=lambda row: (times[row], ranks[row] is None, ranks[row] or 0))
    return table.take(pa.array(ordered, pa.int64()))


def definition(query: Query, kept: pa.Table, schema: Schema) -> list[Match]:
    found = evaluate(query, events_of(kept, schema))
    return by_number([(match.positions, tuple(sorted(match.binding))) for match in found], kept, bound=True)


def by_number(matches: list[Match], kept: pa.Table, bound: bool = False) -> list[Match]:
    """Matches whose positions in `kept` become the numbers that its rows carry; with `bound` in bindings, too."""
    numbers = kept[POSITION].to_pylist()
    return sorted(
        (
            tuple(numbers[place] for place in positions),
            tuple(sorted((name, numbers[place]) for name, place in binding)) if bound else binding,
        )
        for positions, binding in matches
    )


def by_partition(found: pa.Table, kept: pa.Table, by: tuple[str, ...]) -> list[tuple[int, ...]]:
    """The numbers of the rows of each match, whose positions count inside its partition."""
    partitions: dict[tuple[object, ...], list[int]] = {}
    for row in kept.to_pylist():
        partitions.setdefault(tuple(row[name] for name in by), []).append(row[POSITION])
    return sorted(
        tuple(partitions[tuple(row[name] for name in by)][place] for place in row["positions"])
        for row in found.to_pylist()
    )


def planned(query: Query, schema: Schema, evaluator: str) -> Plan | None:
    """A plan for the query as text; None where it can match nothing. Where the evaluator declines, `auto` chooses."""
    parsed = parse_query(print_query(query))
    try:
        return plan_for(parsed, schema, evaluator)
    except CepheidError as error:
        if error.code == "unsatisfiable":
            return None
        if error.code != "unsupported-evaluator":
            raise
        return plan_for(parsed, schema)


def in_process(plan: Plan, kept: pa.Table) -> pa.Table:
    engine = Engine(plan, positions=True)
    return pa.concat_tables([engine.push(kept), engine.finish()])


def printed(matches: pa.Table) -> list[str]:
    """All but positions, which are counted inside partitions here and over the stream there."""
    names = [name for name in matches.column_names if name != "positions"]
    return sorted(map(repr, matches.select(names).to_pylist()))
