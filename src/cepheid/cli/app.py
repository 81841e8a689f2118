"""The command line: `cepheid run`, `explain`, `check`, `demo`.

Each command is the public API with files around it. Only results go to stdout; progress, warnings and errors go to
stderr. Exit codes: 0, 1 for a bad query or bad data, 2 for bad usage, such as a missing file.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.status import Status

import cepheid
from cepheid.algebra.zones import known_zone
from cepheid.cli.checking import Data, look_for_types
from cepheid.cli.failures import debugging, errors, interrupted, reported
from cepheid.cli.inputs import (
    Columns,
    Input,
    described,
    inputs_of,
    language_of,
    parameters_of,
    query_text,
    schema_given,
)
from cepheid.cli.streaming import Streaming, run_stream
from cepheid.errors import CepheidError
from cepheid.extras import require
from cepheid.files.described import Described
from cepheid.files.formats import format_of
from cepheid.pipeline import ParsedScript, choice_for
from cepheid.plan.explain import draw
from cepheid.schema import DEFAULT_TYPE

FIRST = 20
"""How many matches are shown when they are not written anywhere."""

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


class Evaluator(StrEnum):
    """All of `plan.choose.EVALUATORS`."""

    auto = "auto"
    compact = "compact"
    chain = "chain"
    configurations = "configurations"
    semantics = "semantics"


class OutputFormat(StrEnum):
    parquet = "parquet"
    json = "json"
    csv = "csv"


QueryFile = Annotated[
    Path | None, typer.Argument(metavar="QUERY", help="A file with the query.", show_default=False)
]
QueryText = Annotated[
    str | None, typer.Option("--expression", "-e", metavar="TEXT", help="The query itself.")
]
InputPaths = Annotated[
    list[str] | None,
    typer.Option("--input", "-i", metavar="PATH", help="Events; NAME=PATH, repeated, for several streams."),
]
InputFormat = Annotated[
    str | None, typer.Option("--format", help="parquet, csv, json, …; else by the path's ending.")
]
Time = Annotated[str | None, typer.Option("--time", metavar="COL", help="The time column.")]
TimeFormat = Annotated[
    str | None,
    typer.Option("--time-format", metavar="FORMAT", help="How times are written, like '%d.%m.%Y %H:%M'."),
]
SchemaText = Annotated[
    str | None,
    typer.Option("--schema", metavar="DDL", help="Columns, like 'ts timestamp, tmp double', or a file."),
]
Type = Annotated[
    str | None,
    typer.Option("--type", metavar="COL", help="The column with the event types; `type` if there is one."),
]
NoType = Annotated[
    bool, typer.Option("--no-type", help="No type column: the stream's name is every event's type.")
]
Order = Annotated[
    str | None,
    typer.Option("--order", metavar="COL", help="The column that orders events with the same time."),
]
ChosenEvaluator = Annotated[
    Evaluator, typer.Option("--evaluator", help="Which evaluator must run the query.")
]
Language = Annotated[
    str | None, typer.Option("--language", help="cel, sremo or sase; else by the file's ending or the text.")
]
Master = Annotated[str, typer.Option("--master", metavar="URL", help="The Spark master.")]
Zone = Annotated[
    str, typer.Option("--zone", metavar="ZONE", help="The time zone of times: Europe/Paris, UTC, +02:00.")
]


Params = Annotated[
    list[str] | None,
    typer.Option(
        "--param", metavar="NAME=VALUE", help="The value of :NAME; a number, text, or list as JSON."
    ),
]


def _of_streams(name: str, **settings: Any) -> Any:
    """An option of the panel `Streams` in the help."""
    return typer.Option(name, rich_help_panel="Streams", **settings)


WATERMARK = 'How much later than others a row may come, like "10 seconds".'


def _show_version(asked: bool) -> None:
    if asked:
        print(f"cepheid {cepheid.__version__}")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Complex event recognition on Spark: a query, a stream of events, its matches."""


@app.command()
def run(
    file: QueryFile = None,
    text: QueryText = None,
    input: InputPaths = None,
    format: InputFormat = None,
    time: Time = None,
    time_format: TimeFormat = None,
    schema: SchemaText = None,
    type: Type = None,
    no_type: NoType = False,
    order: Order = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="The file or folder for matches; - is stdout, as JSON lines.",
        ),
    ] = None,
    output_format: Annotated[
        OutputFormat | None,
        typer.Option("--output-format", help="The format of the output; else by the path's ending."),
    ] = None,
    positions: Annotated[bool, typer.Option("--positions", help="Add each match's positions.")] = False,
    count: Annotated[bool, typer.Option("--count", help="Print only the exact number of matches.")] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", min=0, help="The largest number of matches.")
    ] = None,
    evaluator: ChosenEvaluator = Evaluator.auto,
    master: Master = "local[*]",
    language: Language = None,
    zone: Zone = "UTC",
    param: Params = None,
    stream: Annotated[bool, _of_streams("--stream", help="Read folders as streams, until stopped.")] = False,
    watermark: Annotated[str | None, _of_streams("--watermark", metavar="DELAY", help=WATERMARK)] = None,
    checkpoint: Annotated[
        str | None,
        _of_streams("--checkpoint", metavar="PATH", help="The folder of the state; else OUTPUT.checkpoint."),
    ] = None,
    late: Annotated[
        str,
        _of_streams(
            "--late", help="What becomes of later rows: drop (and count), error, a folder or a table."
        ),
    ] = "drop",
    once: Annotated[
        bool, _of_streams("--once", help="Stop when all files that exist have been read.")
    ] = False,
    flush: Annotated[
        bool, _of_streams("--flush", help="At the end, write the remaining matches to OUTPUT.rest.")
    ] = False,
    files_at_once: Annotated[
        int | None,
        _of_streams("--files-at-once", min=1, help="The largest number of files in a micro-batch."),
    ] = None,
) -> None:
    """Run a query on Spark; without --output, show the first matches."""
    with reported(file):
        require("spark", "`cepheid run`")
        given = _required(inputs_of(input or [], format))
        if not stream and (watermark or checkpoint or late != "drop" or once or flush or files_at_once):
            hint = "--watermark, --checkpoint, --late, …"
            raise typer.BadParameter("goes with --stream only", param_hint=hint)
        if stream and count:
            message = "the number of matches of a stream is known only at its end"
            raise typer.BadParameter(message, param_hint="--count")
        target = _target(output, output_format, exists=stream)
        query = _parsed(file, text, language, param)
        time = _required_time(time)
        columns = Columns(time, time_format, schema_given(schema))
        options: dict[str, Any] = {
            "time": time,
            "type": _type(type, no_type),
            "order": order,
            "evaluator": str(evaluator),
            "zone": known_zone(zone),
        }
        found = {stream.stream: described(stream, columns) for stream in given}
        if stream:
            how = Streaming(watermark, checkpoint, late, once, flush, files_at_once)
            run_stream(given, found, query, target, how, master, positions=positions, limit=limit, **options)
            return
        with _working("starting Spark"):
            data = _frames(given, found, master, zone)
        if count:
            with _working("counting"):
                number = cepheid.count(data, query, **options)
            # Python prints no whole number of more than 4,300 digits, but every decimal.
            print(Decimal(number if limit is None else min(number, limit)))
            return
        matches = cepheid.match(data, query, positions=positions, limit=limit, **options)
        _deliver(matches, target, time)


@app.command()
def explain(
    file: QueryFile = None,
    text: QueryText = None,
    input: InputPaths = None,
    format: InputFormat = None,
    time: Time = None,
    time_format: TimeFormat = None,
    schema: SchemaText = None,
    type: Type = None,
    no_type: NoType = False,
    order: Order = None,
    evaluator: ChosenEvaluator = Evaluator.auto,
    language: Language = None,
    zone: Zone = "UTC",
    param: Params = None,
    dot: Annotated[bool, typer.Option("--dot", help="Print only the automaton, as Graphviz text.")] = False,
) -> None:
    """Print every stage of a query: tree, algebra, rewrites, automaton, plan and why."""
    with reported(file):
        if dot:
            parsed = _parsed(file, text, language, param)
            for query in parsed.queries if isinstance(parsed, ParsedScript) else [parsed]:
                print(draw(choice_for(query, str(evaluator))))
            return
        columns = Columns(time, time_format, schema_given(schema))
        data = Data(inputs_of(input or [], format), columns, _type(type, no_type), order)
        print(_explained(_parsed(file, text, language, param), data, evaluator, zone))


@app.command()
def check(
    file: QueryFile = None,
    text: QueryText = None,
    input: InputPaths = None,
    format: InputFormat = None,
    time: Time = None,
    time_format: TimeFormat = None,
    schema: SchemaText = None,
    type: Type = None,
    no_type: NoType = False,
    order: Order = None,
    evaluator: ChosenEvaluator = Evaluator.auto,
    language: Language = None,
    zone: Zone = "UTC",
    param: Params = None,
) -> None:
    """Say what is wrong with a query, where, and the likely fix; exit with 1 if anything is."""
    with reported(file):
        columns = Columns(time, time_format, schema_given(schema))
        data = Data(inputs_of(input or [], format), columns, _type(type, no_type), order)
        query = _parsed(file, text, language, param)
        _explained(query, data, evaluator, zone)
        look_for_types(query, data)
        print("ok")


@app.command()
def demo(
    events: Annotated[
        int, typer.Option("--events", min=1_000, help="The number of readings to make.")
    ] = 200_000,
    output: Annotated[Path, typer.Option("--output", help="The folder for all output.")] = Path("out/demo"),
    master: Master = "local[*]",
) -> None:
    """Find fires and rain in a made-up stream of farm sensors."""
    with reported():
        require("spark", "`cepheid demo`")
        from cepheid.cli.demo import show_demo

        show_demo(events, output, master)


def main() -> None:
    """The program `cepheid`."""
    try:
        app()
    except KeyboardInterrupt:
        interrupted()
    except BrokenPipeError:
        # The reader of our output went away (`… | head`).
        sys.stderr.close()
        sys.exit(0)


def _parsed(file: Path | None, text: str | None, language: str | None, param: list[str] | None = None) -> Any:
    values = parameters_of(param or [])
    return cepheid.query(query_text(file, text), language=language_of(file, language), params=values or None)


def _type(type: str | None, no_type: bool) -> str | None:
    """The type column: the argument, none, or the default, which may be missing."""
    if no_type and type is not None:
        raise typer.BadParameter("goes without --no-type", param_hint="--type")
    return None if no_type else type or DEFAULT_TYPE


def _explained(query: Any, data: Data, evaluator: Evaluator, zone: str) -> str:
    if not data.given:
        return cepheid.explain(query, evaluator=str(evaluator))
    time = _required_time(data.columns.time)
    read: Any = {name: None if found is None else found.schema for name, found in data.found.items()}
    if None in read.values():
        read = _frames(data.given, data.found, "local[1]", zone)
    read = read.get(None, read) if isinstance(read, dict) else read
    columns: dict[str, Any] = {"time": time, "type": data.type, "order": data.order}
    return cepheid.explain(query, read, **columns, evaluator=str(evaluator), zone=zone)


def _frames(given: list[Input], found: Mapping[str | None, Described | None], master: str, zone: str) -> Any:
    """One DataFrame, or one per named stream."""
    require("spark", "reading these data")
    # Importing Spark takes a second, which only commands that need it should pay.
    from cepheid.spark.files import read, read_described
    from cepheid.spark.session import local_session

    session = local_session(master, loud=debugging(), zone=zone)
    frames = {}
    for stream in given:
        known = found[stream.stream]
        frames[stream.stream] = (
            read(session, stream.paths, stream.format) if known is None else read_described(session, known)
        )
    return frames.get(None, frames)


def _required(given: list[Input]) -> list[Input]:
    if not given:
        raise typer.BadParameter("say where the events are", param_hint="--input")
    return given


def _required_time(time: str | None) -> str:
    if time is None:
        raise typer.BadParameter("say which column holds the time", param_hint="--time")
    return time


def _target(output: str | None, format: OutputFormat | None, *, exists: bool) -> tuple[str | None, str]:
    """The path and the format of the matches; the path may exist if `exists`, as that of a continued stream."""
    if output is not None and Path(output).exists() and not exists:
        hint = "remove it or name another --output"
        raise CepheidError("bad-argument", f"{output} exists already", hint=hint)
    if output != "-":
        return output, str(format) if format is not None else format_of(output or "")
    if format not in (None, OutputFormat.json):
        raise typer.BadParameter(f"stdout takes JSON lines, not {format}", param_hint="--output-format")
    return output, "json"


def _deliver(matches: Any, target: tuple[str | None, str], time: str) -> None:
    from cepheid.cli.table import matches_table
    from cepheid.spark.files import json_lines, write

    output, format = target
    if output is None:
        with _working("matching"):
            first = matches.limit(FIRST + 1).toArrow()
        Console().print(matches_table(first.slice(0, FIRST), time))
        if first.num_rows > FIRST:
            errors.print(f"The first {FIRST} matches; --output PATH keeps all, --count counts them.")
    elif output == "-":
        for line in json_lines(matches):
            print(line)
    else:
        with _working("matching"):
            write(matches, output, format)
        errors.print(f"matches are in {output}")


def _working(what: str) -> Status:
    """Shows that something is under way, on a terminal."""
    return errors.status(f"{what} …")
