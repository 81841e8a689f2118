"""A stream gives the matches of the definition, in whatever order its rows come and however they are cut.

Random queries of every language and evaluator over random short streams, by every kind of clock; see `microbatches`.
"""

from __future__ import annotations

import json
import random
from dataclasses import replace
from unittest import mock

import pyarrow as pa
import pytest

from cepheid.errors import CepheidError
from cepheid.pipeline import parse_query, plan_for
from cepheid.schema import schema_of
from cepheid.spark.live.bucket import Arrived, Bucket
from cepheid.spark.live.head import Waiting, load_head
from cepheid.spark.live.job import Job, job_of_terms
from cepheid.spark.live.merge import in_order
from cepheid.spark.live.pages import read
from cepheid.spark.live.store import Memory
from support.generators import Seeded
from support.microbatches import POSITION, Coming, call, packed, printed, run_stream, streaming_differences

CASES = {
    "unary": 110,
    "anything": 80,
    "sets": 50,
    "compared": 80,
    "sremo": 40,
    "readings": 60,
    "selected": 60,
    "waiting": 120,
    "varied": 60,
    "gathered": 40,
    "whole sets": 60,
}
PAIRS = "SELECT * FROM s WHERE A AS x ; B AS y"


def table_of(times: list[int], types: str | None = None, keys: list[int] | None = None) -> pa.Table:
    return pa.table(
        {
            "ts": pa.array(times, pa.int64()),
            "type": list(types or "A" * len(times)),
            "k": pa.array(keys or [0] * len(times), pa.int64()),
            POSITION: pa.array(range(len(times)), pa.int64()),
        }
    )


def job_for(text: str, table: pa.Table, buckets: int = 1, **options: object) -> Job:
    schema = schema_of(table.schema, time="ts")
    return Job(plan_for(parse_query(text), schema), tuple(range(buckets)), **options)


@pytest.mark.parametrize("kind", CASES)
def test_streams_give_what_the_definition_says(kind: str) -> None:
    for seed in range(CASES[kind]):
        difference = streaming_differences(seed, kind)
        assert difference is None, f"{kind}, seed {seed}: {difference}"


def test_a_row_at_the_watermark_of_an_earlier_micro_batch_is_late() -> None:
    """The third micro-batch has the watermark 4 and the second had 2: 2 is late, 3 and 4 are not."""
    table = table_of([4, 6, 2, 3, 4, 5], "AAABBB")
    ran = run_stream(job_for(PAIRS, table), table, Coming([[[0]], [[1]], [[2, 3, 4, 5]]], 2), Seeded(0))
    assert ran.late == [2]
    assert sorted((row["start"], row["end"]) for found in ran.given for row in found.to_pylist()) == [(4, 4)]
    assert [(row["start"], row["end"]) for found in ran.finished for row in found.to_pylist()] == [(4, 5)]


def test_times_before_1970_pass_by_the_same_rule() -> None:
    """Spark's watermark stays at 0. The third micro-batch has the watermark -8, the second had -10: -10 is late."""
    table = table_of([-8, -6, -10, -9, -8, -7, 1], "AAABBBB")
    batches = Coming([[[0]], [[1]], [[2, 3, 4, 5]], [[6]]], 2)
    ran = run_stream(job_for(PAIRS, table, delay_ms=2), table, batches, Seeded(0))
    assert ran.late == [2]
    assert [(row["start"], row["end"]) for found in ran.given for row in found.to_pylist()] == [(-8, -8)]
    ends = sorted((row["start"], row["end"]) for found in ran.finished for row in found.to_pylist())
    assert ends == [(-8, -7), (-8, 1), (-6, 1)]


def test_the_newest_time_is_kept_only_while_spark_does_not_show_it() -> None:
    """So that the state of other streams is as it always was."""
    store = Memory()
    for newest, kept in ((-9, -9), (-11, -9), (2, 2), (3, None)):
        job = job_for(PAIRS, table_of([1]), delay_ms=2)
        call(job, store, [], 0, newest)
        saved = store.head()
        assert saved is not None
        assert load_head(saved).newest_ms == kept
        assert (b"newest_ms" in saved) == (kept is not None)


def test_rows_are_released_when_the_watermark_has_come_to_them() -> None:
    """Once each: of a page of two rows first one and then the other."""
    table = table_of([4, 6, 7], "ABB")
    job = job_for(PAIRS, table)
    store = Memory()
    for rows, watermark, matches in (([0, 1], 0, 0), ([2], 0, 0), ([], 5, 0), ([], 6, 1), ([], 7, 1)):
        arrived = [page for _, page in packed(job, table.take(rows), 0, Seeded(0))] if rows else []
        assert sum(map(len, call(job, store, arrived, watermark)[1])) == matches
    assert [len(found) for found in Bucket(job, store).finish()] == []


def test_a_checkpoint_is_gone_on_with_by_what_began_it() -> None:
    table = table_of([4])
    store = Memory()
    call(job_for(PAIRS, table, positions=True), store, [], 0)
    for other, said in (
        (job_for(PAIRS.replace("B", "C"), table, positions=True), "another query: .*; B .*now it is .*; C"),
        (job_for(PAIRS, table, buckets=3, positions=True), "number of buckets: 1; now it is 3"),
        (job_for(PAIRS, table.drop_columns("k"), positions=True), "set of columns: ts int64, type string, k"),
        (job_for(PAIRS, table), "positions: True; now it is False"),
    ):
        with pytest.raises(CepheidError, match=f"(?s)bad-state.*{said}"):
            Bucket(other, store)
    saved = store.head()
    assert saved is not None
    store.put_head(saved.replace(b'"format":1', b'"format":9'))
    with pytest.raises(CepheidError, match=r"bad-state.*format 9"):
        Bucket(job_for(PAIRS, table, positions=True), store)


@pytest.mark.parametrize("field", ["watermark", "until", "waits_until"])
def test_a_head_whose_times_are_none_is_refused(field: str) -> None:
    table = table_of([4])
    store = Memory()
    call(job_for("SELECT * FROM s WHERE A AS x ; NOT B WITHIN 9", table), store, arrivals(table), 5)
    saved = store.head()
    assert saved is not None
    for value in ("NaN", "Infinity", '"4"', "true"):
        fields = json.dumps({**json.loads(saved), field: 0})
        head = fields.replace(f'"{field}": 0', f'"{field}": {value}').encode()
        with pytest.raises(CepheidError, match=r"bad-state.*invalid time"):
            load_head(head)
    assert load_head(saved).waits_until == 13


def arrivals(table: pa.Table) -> list[Arrived]:
    job = job_for(PAIRS, table)
    return [page for _, page in packed(job, table, 0, Seeded(0))]


def test_rows_of_one_time_keep_the_order_of_their_arrival() -> None:
    """By micro-batch, task of the source, and place in it."""
    table = table_of([5, 5, 5, 5, 5])
    coming = Coming([[[2], [3, 0]], [[1, 4]]], 0)
    found = run_stream(job_for("SELECT * FROM s WHERE A AS x", table), table, coming, Seeded(0))
    matches = pa.concat_tables(found.given + found.finished)
    assert [event[POSITION] for event in matches["x"].to_pylist()] == [2, 3, 0, 1, 4]


def test_late_rows_may_be_an_error() -> None:
    table = table_of([4, 9, 3], "ABB")
    job = job_for(PAIRS, table, late="error")
    store = Memory()
    call(job, store, [page for _, page in packed(job, table.slice(0, 2), 0, Seeded(0))], 0)
    call(job, store, [], 3)
    bucket = Bucket(job, store)
    with pytest.raises(CepheidError, match=r"late-row.*watermark had passed.*'ts': 3"):
        bucket.take([page for _, page in packed(job, table.slice(2), 0, Seeded(0))])


@pytest.mark.parametrize("limit", [0, 1, 3, 99])
def test_a_limit_is_for_all_micro_batches_of_a_bucket_together(limit: int) -> None:
    table = table_of(list(range(1, 13)), "AB" * 6)
    job = job_for(f"{PAIRS} WITHIN 3", table, limit=limit)
    coming = Coming([[[2 * at, 2 * at + 1]] for at in range(6)], 0)
    found = run_stream(job, table, coming, Seeded(0))
    assert sum(map(len, found.given + found.finished)) == min(limit, 11)


def test_positions_go_on_after_everything_was_forgotten() -> None:
    table = table_of([1, 2, 50, 51, 100, 101], "ABABAB")
    job = job_for(f"{PAIRS} WITHIN 3", table, positions=True)
    store, positions = Memory(), []
    for at, watermark in ((0, 30), (2, 80), (4, 101)):
        arrived = [page for _, page in packed(job, table.slice(at, 2), 0, Seeded(0))]
        bucket, found = call(job, store, arrived, watermark)
        positions += [match for matches in found for match in matches["positions"].to_pylist()]
        assert (bucket.head.engine == []) == (watermark < 101)
    assert positions == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 1000])
def test_pages_are_merged_in_stream_order(rows: int) -> None:
    """Whatever part of them has been read before, in tables that never share a time."""
    choice = random.Random(rows)
    for _ in range(60):
        pages, kept = _random_pages(choice)
        last = choice.choice([None, choice.randrange(12)])
        schema = schema_of(table_of([]).schema, time="ts")
        found = list(in_order(pages, lambda page, kept=kept: kept[page.number], last, schema, rows=rows))
        expected = [
            (time, place, row)
            for place, page in enumerate(pages)
            for row, time in enumerate(kept[page.number]["ts"].to_pylist())
            if (page.done is None or time > page.done) and (last is None or time <= last)
        ]
        numbers = [kept[pages[place].number][POSITION][row].as_py() for _, place, row in sorted(expected)]
        assert [number for table in found for number in table[POSITION].to_pylist()] == numbers
        assert all(len(table) for table in found)
        times = [set(table["ts"].to_pylist()) for table in found]
        assert sum(map(len, times)) == len(set().union(*times))


def _random_pages(choice: random.Random) -> tuple[list[Waiting], dict[int, pa.Table]]:
    pages, kept = [], {}
    for number in range(choice.randrange(7)):
        times = sorted(choice.randrange(12) for _ in range(1 + choice.randrange(5)))
        done = choice.choice([None, None, choice.randrange(12)])
        kept[number] = table_of(times).set_column(
            3, POSITION, pa.array([100 * number + row for row in range(len(times))], pa.int64())
        )
        pages.append(Waiting(number, len(times), times[0], times[-1], 0, done))
    return pages, kept


def test_a_page_is_its_own_rows_only() -> None:
    """Bytes do not grow with what a page was cut from."""
    from cepheid.spark.live.pages import pages_of, written

    table = table_of(list(range(5000)))
    schema = schema_of(table.schema, time="ts")
    with mock.patch("cepheid.spark.live.pages.BYTES", 4000):
        pages = list(pages_of(table, schema))
    assert sum(page.rows for page in pages) == 5000
    assert [page.low for page in pages[1:]] == [page.high + 1 for page in pages[:-1]]
    assert max(len(page.content) for page in pages) < len(written(table)) / 5
    assert pa.concat_tables([read(page.content, schema) for page in pages]).equals(table)


def test_buckets_and_cuts_change_no_byte_of_the_output() -> None:
    """One bucket or five, one micro-batch or many: the same rows, ids included."""
    choice = random.Random(5)
    times = sorted(choice.randrange(1, 60) for _ in range(120))
    table = table_of(times, "".join(choice.choices("AB", k=120)), choice.choices(range(7), k=120))
    text = f"{PAIRS} PARTITION BY k WITHIN 6"
    outputs = set()
    for buckets in (1, 2, 5):
        for size in (1, 7, 120):
            cuts = [[list(range(at, min(120, at + size)))] for at in range(0, 120, size)]
            ran = run_stream(job_for(text, table, buckets), table, Coming(cuts, 3), Seeded(size))
            assert ran.late == []
            outputs.add(tuple(printed(pa.concat_tables(ran.given + ran.finished))))
    assert len(outputs) == 1
    assert len(next(iter(outputs))) > 50


def test_a_checkpoint_keeps_the_zone_that_it_was_begun_in() -> None:
    text = "SELECT * FROM s WHERE A AS x FILTER hour(x.ts) = 1 WITHIN 1 day"

    def job_in(zone: str | None, *more: pa.Field) -> Job:
        columns = pa.schema([("ts", pa.timestamp("us", zone)), ("type", pa.string()), *more])
        return Job(plan_for(parse_query(text), schema_of(columns, time="ts")), (0,))

    job_in("UTC").continuing(job_in("UTC").terms)
    with pytest.raises(CepheidError, match="begun in the time zone UTC; now it is Europe/Paris") as caught:
        job_in("Europe/Paris").continuing(job_in("UTC").terms)
    assert 'zone="UTC"' in str(caught.value.hint)
    for other in (job_in(None), job_in("Europe/Paris", pa.field("v", pa.int64()))):
        with pytest.raises(CepheidError, match="begun with another set of columns"):
            other.continuing(job_in("UTC").terms)
    assert job_of_terms(job_in("Europe/Paris").terms).plan.schema.arrow.field("ts").type.tz == "Europe/Paris"


def test_a_checkpoint_goes_on_with_the_evaluator_that_it_was_begun_with() -> None:
    text = "#(-[type = 'B'] > r, [type = 'A'], [type = 'A' AND k > r.k]) WITHIN 9"
    table = table_of(list(range(1, 41)), "BAAB" * 10, [5, 1, 7, 3] * 10)
    now = job_for(text, table, 2)
    begun = replace(now, plan=plan_for(parse_query(text), now.plan.schema, ran="semantics"))
    assert (now.plan.evaluator, begun.plan.evaluator) == ("configurations", "semantics")
    assert now.continuing(begun.terms).plan == begun.plan
    assert job_of_terms(begun.terms).plan.evaluator == "semantics"
    asked = replace(now, plan=plan_for(parse_query(text), now.plan.schema, "configurations"))
    with pytest.raises(CepheidError, match="begun with another evaluator"):
        asked.continuing(begun.terms)
