"""The head of a bucket: its state without the contents of pages. JSON in the state store, format 1.

It names the pages of buffered rows, in order of arrival, the pages of the saved engine, the last watermark (rows at or
before it are late) and the terms of the job. It stays when a bucket has no pages left: without the watermark, late rows
could not be recognised.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from cepheid.errors import CepheidError
from cepheid.spark.live.job import Terms
from cepheid.state_checks import is_count, is_time, reading_a_state, require

FORMAT = 1


@dataclass(slots=True)
class Waiting:
    """A page in the store with so many buffered rows; rows at or before `done` have been read, or were late."""

    number: int
    rows: int
    low: int | float
    high: int | float
    size: int
    done: int | float | None = None


@dataclass(slots=True)
class Head:
    """`taken` and `given` are the engine's numbers of rows and matches; `engine` its pages, none if it has no state;
    `until` the last time at which it may still have state; `waits_until` the time that has to pass before more matches
    are known, if no row comes."""

    terms: Terms
    watermark: int | float | None = None
    alarm: int | None = None
    calls: int = 0
    next_page: int = 0
    waiting: list[Waiting] = field(default_factory=list)
    engine: list[int] = field(default_factory=list)
    engine_bytes: int = 0
    until: int | float | None = None
    taken: int = 0
    given: int = 0
    newest_ms: int | None = None  # of all times, while Spark's watermark does not show them
    waits_until: int | float | None = None

    def number(self) -> int:
        """A number for a new page."""
        self.next_page += 1
        return self.next_page - 1

    @property
    def size(self) -> int:
        """Bytes of the pages in the store."""
        return self.engine_bytes + sum(page.size for page in self.waiting)

    def save(self) -> bytes:
        fields = {"format": FORMAT, **asdict(self)}
        for name in ("newest_ms", "waits_until"):
            if fields[name] is None:
                del fields[name]  # rarely there, and unknown to earlier releases
        return json.dumps(fields, separators=(",", ":")).encode()


def load_head(saved: bytes) -> Head:
    """
    >>> load_head(Head({}, watermark=0.1, waiting=[Waiting(3, 1, 1.5, 2.5, 99)]).save()).waiting[0].low
    1.5
    """
    with reading_a_state():
        fields: dict[str, Any] = json.loads(saved)
        found = fields.pop("format", None)
        if found != FORMAT:
            message = f"the checkpoint holds state of format {found}; this release reads format {FORMAT}"
            hint = "go on with the release that wrote it, or begin a new checkpoint"
            raise CepheidError("bad-state", message, hint=hint)
        fields["waiting"] = [Waiting(**page) for page in fields["waiting"]]
        head = Head(**fields)
        _require(head)
        return head


def _require(head: Head) -> None:
    """Numbers are numbers, and none is so large that one more would not fit."""
    counts = [head.calls, head.next_page, head.engine_bytes, head.taken, head.given, *head.engine]
    counts += [number for page in head.waiting for number in (page.number, page.rows, page.size)]
    require(all(is_count(count) for count in counts), "the head of a bucket has an invalid count")
    times = [head.watermark, head.until, head.waits_until, *(page.done for page in head.waiting)]
    times = [time for time in times if time is not None]
    times += [time for page in head.waiting for time in (page.low, page.high)]
    require(all(map(is_time, times)), "the head of a bucket has an invalid time")
    require(head.alarm is None or isinstance(head.alarm, int), "the head of a bucket has an invalid alarm")
