"""What Spark calls: alarms, numbers, late rows in files. Spark's handle is played by a few dicts, with Spark's rules.

Rows are handed over first; then alarms at or before the watermark ring, and each is deleted after its call.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from cepheid.pipeline import parse_query, plan_for
from cepheid.schema import schema_of
from cepheid.spark.live.head import load_head
from cepheid.spark.live.job import Job
from cepheid.spark.live.operator import MatchOperator, unpack
from cepheid.spark.live.pack import BUCKET, PackTask
from support.microbatches import bucket_of, in_process, printed

PAIRS = "SELECT * FROM s WHERE A AS x ; B AS y PARTITION BY k WITHIN 5"
KEYS = (12, 6, 2)


@pytest.fixture(autouse=True)
def query(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no task that could tell."""
    monkeypatch.setattr("cepheid.spark.live.operator._query", lambda: "query")


class Cell:
    def __init__(self) -> None:
        self.value: tuple[bytes, ...] | None = None

    def get(self) -> tuple[bytes, ...] | None:
        return self.value

    def update(self, value: tuple[bytes, ...]) -> None:
        self.value = value


class Cells(dict):
    def getValue(self, key: tuple[int]) -> tuple[bytes]:
        return self[key]

    def updateValue(self, key: tuple[int], value: tuple[bytes]) -> None:
        self[key] = value

    def removeKey(self, key: tuple[int]) -> None:
        del self[key]


class Handle:
    """The state and alarms of one group."""

    def __init__(self) -> None:
        self.head, self.pages = Cell(), Cells()
        self.alarms: set[int] = set()

    def getValueState(self, *_: object) -> Cell:
        return self.head

    def getMapState(self, *_: object) -> Cells:
        return self.pages

    def registerTimer(self, at: int) -> None:
        self.alarms.add(at)

    def deleteTimer(self, at: int) -> None:
        self.alarms.remove(at)


class Played:
    """Micro-batches of one query, as Spark runs them."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.handles = {key: Handle() for key in job.keys}
        self.matches: list[pa.Table] = []
        self.numbers = pd.DataFrame()
        self.calls = 0

    def micro_batch(self, rows: pa.Table | None, watermark: int) -> pd.DataFrame:
        """What the operator gave; rows None: no task of the source ran."""
        given: list[pd.DataFrame] = []
        frame = pd.DataFrame() if rows is None else self._packed(rows)
        values = SimpleNamespace(getCurrentWatermarkInMs=lambda: watermark)
        for key, handle in self.handles.items():
            operator = MatchOperator(self.job)
            operator.init(handle)
            own = frame if rows is None else frame[frame["bucket"] == key]
            if len(own):
                given += operator.handleInputRows((key,), iter([own[:1], own[1:]]), values)
                self.calls += 1
            for alarm in sorted(at for at in handle.alarms if at <= watermark):
                given += operator.handleExpiredTimer((key,), values, SimpleNamespace())
                handle.alarms.discard(alarm)
                self.calls += 1
            operator.close()
        numbers = pd.concat(given) if given else pd.DataFrame()
        if given:
            batch = pa.record_batch({"content": pa.array(numbers["content"].tolist(), pa.binary())})
            self.matches += map(
                pa.Table.from_batches, ([piece] for piece in unpack([batch], self.job.engine().output_schema))
            )
        return numbers

    def _packed(self, rows: pa.Table) -> pd.DataFrame:
        buckets = bucket_of(rows, self.job.plan.query.partition_by, len(self.job.keys))
        task = PackTask(self.job.plan.schema, self.job.keys)
        return pd.concat(
            [
                batch.to_pandas()
                for batch in task(rows.append_column(BUCKET, buckets).to_batches(max_chunksize=7))
            ]
        )


def events(first: int, last: int) -> pa.Table:
    times = [time for time in range(first, last) for _ in range(4)]
    return pa.table(
        {
            "ts": pa.array(times, pa.int64()),
            "type": ["AB"[place // 3 % 2] for place in range(len(times))],
            "k": [f"key {place % 5}" for place in range(len(times))],
        }
    )


def job_for(late: str = "drop") -> Job:
    return Job(plan_for(parse_query(PAIRS), schema_of(events(0, 1).schema, time="ts")), KEYS, late=late)


def test_the_operator_gives_the_matches_up_to_the_watermark() -> None:
    played = Played(job_for())
    table = events(1, 40)
    for first in range(1, 40, 3):
        played.micro_batch(events(1, 40).slice(4 * (first - 1), 12), max(0, first - 3))
    played.micro_batch(None, 36)
    expected = in_process(played.job.plan, table.slice(0, 4 * 36))
    assert printed(pa.concat_tables(played.matches)) == printed(expected)
    assert len(expected) > 100


def test_each_bucket_is_called_when_the_watermark_has_moved_and_only_then() -> None:
    """Whether rows have come for it or not, and once."""
    played = Played(job_for())
    played.micro_batch(events(1, 3), 0)
    assert played.calls == len(KEYS)
    for watermark, calls in ((0, 0), (1, 3), (1, 0), (9, 3), (9, 0), (10**15, 3)):
        before = played.calls
        played.micro_batch(None, watermark)
        assert played.calls - before == calls
        assert [handle.alarms for handle in played.handles.values()] == [{watermark + 1}] * len(KEYS)
    before = played.calls
    played.micro_batch(events(1, 2), 10**15)
    assert played.calls - before == len(KEYS)


def test_a_bucket_without_rows_knows_which_are_late() -> None:
    """The watermark moved on while only others had rows."""
    played = Played(job_for())
    played.micro_batch(events(20, 22), 0)
    played.micro_batch(None, 15)
    numbers = played.micro_batch(events(14, 17), 15)
    assert numbers["late"].sum() == 8
    assert numbers["waiting"].sum() == 12


def test_numbers_say_what_was_done_and_what_is_left() -> None:
    played = Played(job_for())
    numbers = played.micro_batch(events(1, 11), 0)
    assert len(numbers) == len(KEYS)
    assert (numbers["waiting"].sum(), numbers["matches"].sum()) == (40, 0)
    stored = sum(
        len(handle.head.value[0]) + sum(len(page) for (page,) in handle.pages.values())
        for handle in played.handles.values()
        if handle.head.value is not None
    )
    assert numbers["state_bytes"].sum() == stored
    numbers = played.micro_batch(None, 10)
    assert numbers["matches"].sum() == sum(map(len, played.matches)) > 0
    assert numbers["waiting"].sum() == 0
    assert numbers["memory"].sum() > 0


def test_late_rows_are_written_once_to_files_that_their_bucket_names(tmp_path: Path) -> None:
    """A micro-batch that is run again writes the same files again."""
    folder = str(tmp_path / "late")
    played = Played(job_for(folder))
    played.micro_batch(events(20, 22), 0)
    played.micro_batch(None, 15)
    kept = {
        key: (handle.head.value, dict(handle.pages), set(handle.alarms))
        for key, handle in played.handles.items()
    }
    for _ in range(2):
        for key, handle in played.handles.items():
            handle.head.value, pages, alarms = kept[key]
            handle.pages, handle.alarms = Cells(pages), set(alarms)
        played.micro_batch(events(14, 17), 15)
    played.micro_batch(events(2, 3), 15)
    names = sorted(path.name for path in (tmp_path / "late").iterdir())
    calls = {key: load_head(handle.head.value[0]).calls for key, handle in played.handles.items()}
    used = {KEYS[bucket] for bucket in bucket_of(events(2, 3), ("k",), len(KEYS)).to_pylist()}
    assert names == sorted(f"query-{key}-{calls[key] - back}.parquet" for key in used for back in (1, 2))
    written = pyarrow.parquet.read_table(tmp_path / "late")
    assert sorted(written["ts"].to_pylist()) == [2] * 4 + [14] * 4 + [15] * 4


@pytest.mark.parametrize("name", ["drop", "error"])
def test_late_rows_that_nobody_wants_are_not_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    played = Played(job_for(name))
    played.micro_batch(events(20, 22), 0)
    played.micro_batch(None, 15)
    if name == "drop":
        played.micro_batch(events(14, 17), 15)
    else:
        with pytest.raises(Exception, match="late-row"):
            played.micro_batch(events(14, 17), 15)
    assert list(tmp_path.iterdir()) == []
