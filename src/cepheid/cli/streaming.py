"""`cepheid run --stream`: a query on a folder that files are put into, until it is stopped.

In: folders, a query, the paths of the matches and the checkpoint. Out: matches in the output, and a line per
micro-batch on stderr. Ctrl-C stops between two micro-batches, and the same command continues from there.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import typer

import cepheid
from cepheid.cli.failures import debugging, errors
from cepheid.cli.inputs import Input
from cepheid.errors import CepheidError
from cepheid.files.described import Described

POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class Streaming:
    """`once`: stop when all files that exist have been read. `flush`: then also write the remaining matches."""

    watermark: str | None
    checkpoint: str | None
    late: str
    once: bool
    flush: bool
    files_at_once: int | None


def run_stream(
    given: list[Input],
    found: Mapping[str | None, Described | None],
    query: Any,
    target: tuple[str | None, str],
    how: Streaming,
    master: str,
    **options: Any,
) -> None:
    from cepheid.spark.files import read_stream, stream_described, write, write_stream
    from cepheid.spark.session import local_session

    output, format = target
    if output is None or output == "-":
        raise typer.BadParameter("say which folder the matches of a stream go to", param_hint="--output")
    checkpoint = how.checkpoint or f"{output}.checkpoint"
    session = local_session(master, loud=debugging(), zone=options["zone"])
    frames = {}
    for stream in given:
        folder, known = _folder(stream), found[stream.stream]
        frames[stream.stream] = (
            read_stream(session, folder, stream.format, how.files_at_once)
            if known is None
            else stream_described(session, folder, known, how.files_at_once)
        )
    watermark = _number(how.watermark)
    matches = cepheid.match(frames.get(None, frames), query, watermark=watermark, late=how.late, **options)
    writer = write_stream(matches, output, format).option("checkpointLocation", checkpoint)
    started = (writer.trigger(availableNow=True) if how.once else writer).start()
    with _stopped_at_the_end(started):
        for line in _lines(started):
            errors.print(line)
    if how.flush:
        write(cepheid.finish(session, checkpoint), f"{output}.rest", format, "append")
        errors.print(f"the remaining matches are in {output}.rest")
    errors.print(f"matches are in {output}, the checkpoint is {checkpoint}")


def _folder(stream: Input) -> str:
    if len(stream.paths) != 1:
        raise typer.BadParameter("a stream is one folder", param_hint="--input")
    return stream.paths[0]


def _number(watermark: str | None) -> str | float | None:
    """A watermark of a time column that counts in units of its own is a number."""
    if watermark is None:
        return None
    try:
        return float(watermark)
    except ValueError:
        return watermark


@contextmanager
def _stopped_at_the_end(started: Any) -> Iterator[None]:
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        started.stop()
    failure = started.exception()
    if failure is not None:
        raise failure


def _lines(started: Any) -> Iterator[str]:
    """A line per micro-batch, as soon as it has ended; ends with the query."""
    shown = -1
    while True:
        active = started.isActive
        for progress in started.recentProgress:
            if progress["batchId"] > shown and "addBatch" in progress["durationMs"]:
                shown = progress["batchId"]
                yield line_of(progress)
        if not active:
            return
        time.sleep(POLL_S)


def line_of(progress: Any) -> str:
    """One micro-batch in a line."""
    numbers = (progress["observedMetrics"] or {}).get("cepheid")
    if numbers is None:
        raise CepheidError("bad-data", "the query's progress lacks the numbers that Cepheid observes")
    seconds = progress["durationMs"]["triggerExecution"] / 1000
    return (
        f"micro-batch {progress['batchId']}: {progress['numInputRows']:,} rows in {seconds:.1f} s, "
        f"{numbers['matches']:,} matches, {numbers['late_rows']:,} late, {numbers['waiting_rows']:,} waiting, "
        f"{numbers['state_bytes'] / 1e6:.1f} MB of state"
    )
