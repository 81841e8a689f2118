"""The state of a bucket is what waits and what the window holds: nothing is left when the watermark has passed both."""

from __future__ import annotations

import random
from unittest import mock

import pyarrow as pa
import pytest

from cepheid.engine import Engine
from cepheid.pipeline import parse_query, plan_for
from cepheid.saved import unpack
from cepheid.schema import schema_of
from cepheid.spark.live.bucket import Arrived, Bucket
from cepheid.spark.live.head import load_head
from cepheid.spark.live.job import Job
from cepheid.spark.live.store import Memory
from support.generators import Seeded
from support.microbatches import call, packed

PAIRS = "SELECT * FROM s WHERE A AS x ; B AS y"
COMPARES = "SELECT * FROM s WHERE A AS x ; C ; B AS y FILTER x.n < y.n"
ABSENT = "SELECT * FROM s WHERE A AS x ; NOT B"
QUERIES = {
    "compact": (PAIRS, "compact"),
    "compact, strategy": ("SELECT MAX * FROM s WHERE (A AS x)+ ; B AS y", "compact"),
    "chain": ("SELECT * FROM s WHERE A AS x ; B AS y FILTER x.n = y.n", "chain"),
    "configurations": (COMPARES, "configurations"),
    "SREMO": ("#([type = 'A'] > r, [type = 'B' AND n > r.n])", "configurations"),
    "semantics": (COMPARES, "semantics"),
    "waiting": (ABSENT, "auto"),
    "waiting for less": (f"{ABSENT} FOR 7", "auto"),
}
CLAUSES = {"stream": "WITHIN 20", "keys": "PARTITION BY k WITHIN 20"}
ROWS = 16
HEAD = 2_500  # bytes that may stay


def piece(number: int) -> pa.Table:
    """The rows of a micro-batch, 20 in time, in no order; keys are never seen again."""
    choice = random.Random(number)
    return pa.table(
        {
            "ts": pa.array([1 + 20 * number + choice.randrange(20) for _ in range(ROWS)], pa.int64()),
            "type": [choice.choice("ABC") for _ in range(ROWS)],
            "k": [f"key {5 * number + choice.randrange(5)}" for _ in range(ROWS)],
            "n": pa.array([choice.randrange(9) for _ in range(ROWS)], pa.int64()),
        }
    )


def job_for(text: str, evaluator: str, **options: object) -> Job:
    schema = schema_of(piece(0).schema, time="ts")
    return Job(plan_for(parse_query(text), schema, evaluator), (0,), **options)


def run(job: Job, store: Memory, numbers: range, delay: int = 10) -> list[int]:
    """Bytes in the store after each micro-batch."""
    sizes = []
    for number in numbers:
        watermark = max(0, 20 * number - delay)
        arrived = [page for _, page in packed(job, piece(number), 0, Seeded(number))]
        bucket, _ = call(job, store, arrived, watermark)
        sizes.append(bucket.numbers.state_bytes)
    return sizes


@pytest.mark.parametrize("clause", CLAUSES)
@pytest.mark.parametrize("name", QUERIES)
def test_nothing_is_left_when_the_watermark_has_passed_the_window(name: str, clause: str) -> None:
    text, evaluator = QUERIES[name]
    job = job_for(f"{text} {CLAUSES[clause]}", evaluator)
    store = Memory()
    run(job, store, range(6))
    last = max(piece(5)["ts"].to_pylist())
    call(job, store, [], last)
    assert len(store.pages) > 0, "a match may still end"
    call(job, store, [], last + 20)
    assert len(store.pages) > 0, "the window is closed at both ends"
    bucket, _ = call(job, store, [], last + 21)
    assert store.pages == {}
    assert (bucket.head.waiting, bucket.head.engine, bucket.head.engine_bytes) == ([], [], 0)
    saved = store.head()
    assert saved is not None
    assert bucket.numbers.state_bytes == len(saved) < HEAD
    call(job, store, [], last + 1000)
    assert store.pages == {}


@pytest.mark.parametrize("clause", [*CLAUSES.values(), "WITHIN 20 EVENTS"])
@pytest.mark.parametrize("name", QUERIES)
def test_bytes_do_not_grow_with_the_stream(name: str, clause: str) -> None:
    text, evaluator = QUERIES[name]
    sizes = run(job_for(f"{text} {clause}", evaluator), Memory(), range(40))
    assert max(sizes[20:]) <= 1.3 * max(sizes[:20])


@pytest.mark.parametrize("clause", CLAUSES)
def test_a_silent_stream_is_forgotten_in_the_call_that_releases_it(clause: str) -> None:
    """The watermark jumps from before the rows to after their window."""
    job = job_for(f"{PAIRS} {CLAUSES[clause]}", "compact")
    store = Memory()
    run(job, store, range(1))
    _, found = call(job, store, [], 1000)
    assert store.pages == {}
    assert sum(map(len, found)) > 0


def test_keys_that_are_silent_are_forgotten_while_others_go_on() -> None:
    """One key that goes on keeps an engine alive, which remembers nothing of the others."""
    job = job_for(f"{PAIRS} PARTITION BY k WITHIN 20", "compact")
    store = Memory()
    run(job, store, range(8))
    call(job, store, [], 170)
    only = pa.table({"ts": [185], "type": ["A"], "k": ["key"], "n": [1]})
    bucket, _ = call(job, store, [page for _, page in packed(job, only, 0, Seeded(0))], 190)
    _, tables, arrays = unpack(b"".join(store.pages[number] for number in bucket.head.engine))
    assert len(tables["history"]) == len(arrays["lanes:lanes.keys"]) == 1


def one_row(job: Job, at: int, key: str, type: str = "A") -> list[Arrived]:
    table = pa.table({"ts": [at], "type": [type], "k": [key], "n": [1]})
    return [page for _, page in packed(job, table, 0, Seeded(0))]


def test_an_idle_key_fires_when_the_watermark_has_passed_what_it_waits_for() -> None:
    """No row comes any more; the bucket is called since the watermark moves. It loads its engine only when there is
    something to give, and nothing is left behind."""
    job = job_for(f"{ABSENT} FOR 7 PARTITION BY k WITHIN 20", "auto")
    store = Memory()
    call(job, store, one_row(job, 5, "idle"), 0)
    call(job, store, one_row(job, 8, "idle too"), 0)
    loaded, matches = [], []
    load = Bucket._engine

    def noted(bucket: Bucket) -> Engine:
        loaded.append(watermark)
        return load(bucket)

    with mock.patch.object(Bucket, "_engine", noted):
        for watermark in range(1, 60):
            _, found = call(job, store, [], watermark)
            matches += [(watermark, row["k"]) for table in found for row in table.to_pylist()]
    assert matches == [(12, "idle"), (15, "idle too")]
    assert loaded == [5, 8, 12, 15]
    assert store.pages == {}


def test_a_bucket_in_which_nothing_waits_is_not_loaded() -> None:
    """Also while its window holds rows that a match may still need."""
    job = job_for(f"{PAIRS} PARTITION BY k WITHIN 20", "auto")
    store = Memory()
    call(job, store, one_row(job, 5, "idle"), 0)
    call(job, store, [], 9)
    with mock.patch.object(Bucket, "_engine", side_effect=AssertionError):
        for watermark in range(9, 60):
            call(job, store, [], watermark)
    assert store.pages == {}


@pytest.mark.parametrize("clause", ["", "FOR 7"])
def test_what_waits_holds_the_rows_of_two_windows_at_most(clause: str) -> None:
    """Each row waits for a window, and may need those of a window before it."""
    job = job_for(f"SELECT * FROM s WHERE C AS y ; A AS x ; NOT B {clause} PARTITION BY k WITHIN 20", "auto")
    store, now = Memory(), 0
    for now in range(10, 200):
        call(job, store, one_row(job, now, "key", "CDA"[now % 3]), max(0, now - 1))
    call(job, store, [], now)
    saved = store.head()
    assert saved is not None
    _, tables, _ = unpack(b"".join(store.pages[number] for number in load_head(saved).engine))
    times = tables["history"]["ts"].to_pylist()
    assert min(times) >= now - 40
    assert len(times) <= 41
    call(job, store, [], now + 21)
    assert store.pages == {}


@pytest.mark.parametrize(
    ("clause", "options"),
    [
        ("", {}),
        ("WITHIN 20 EVENTS", {}),
        ("PARTITION BY k", {}),
        ("PARTITION BY k WITHIN 20", {"positions": True}),
    ],
)
def test_what_a_later_match_may_need_is_never_forgotten(clause: str, options: dict[str, bool]) -> None:
    """Without a window by time, and where positions are counted in each partition."""
    job = job_for(f"{PAIRS} {clause}", "auto", **options)
    store = Memory()
    run(job, store, range(3))
    call(job, store, [], 10**6)
    saved = store.head()
    assert saved is not None
    assert load_head(saved).engine != []
    assert load_head(saved).waiting == []


def test_rows_before_the_first_watermark_wait() -> None:
    """Spark's watermark begins at 0 and never goes back: a stream of earlier times waits for its end."""
    job = job_for(f"{PAIRS} WITHIN 20", "auto")
    store = Memory()
    early = piece(0).set_column(0, "ts", pa.array(range(-ROWS, 0), pa.int64()))
    arrived = [page for _, page in packed(job, early, 0, Seeded(0))]
    bucket, found = call(job, store, arrived, 0)
    assert found == []
    assert bucket.numbers.waiting == ROWS
