"""What the command line reads: the query's text, and the data or just its columns.

In: arguments as the user typed them. Out: a query's text, what to read, or its Arrow schema. Columns of
the common formats are read without Spark, since `check` and `explain` should answer at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.json
import typer

from cepheid.languages import LANGUAGES

EXTENSIONS = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".orc": "orc",
}
READ_HERE = frozenset(EXTENSIONS.values())
NAMED = re.compile(r"([A-Za-z_]\w*)=(.+)")


@dataclass(frozen=True, slots=True)
class Input:
    """Where a stream is read from; `stream` None when it was given no name."""

    stream: str | None
    paths: tuple[str, ...]
    format: str


def query_text(file: Path | None, text: str | None) -> str:
    """The query, from a file or as it was typed.

    >>> query_text(None, "SELECT * FROM farm WHERE T")
    'SELECT * FROM farm WHERE T'
    """
    if file is not None and text is None:
        return file.read_text(encoding="utf-8")
    if text is not None and file is None:
        return text
    raise typer.BadParameter("give the query as a file or with -e TEXT, one of the two", param_hint="QUERY")


def language_of(file: Path | None, language: str | None) -> str | None:
    """The language that was asked for, else the one that the ending of the query's file names; None: to be detected.

    >>> language_of(Path("fires.sremo"), None), language_of(Path("fires.txt"), None), language_of(None, "cel")
    ('sremo', None, 'cel')
    """
    if language is not None or file is None:
        return language
    ending = file.suffix.removeprefix(".").lower()
    return ending if ending in LANGUAGES else None


def inputs_of(arguments: list[str], format: str | None) -> list[Input]:
    """Each stream once, in the order given.

    >>> inputs_of(["a=x.csv", "b=y.parquet"], None)[1]
    Input(stream='b', paths=('y.parquet',), format='parquet')
    """
    named = [NAMED.fullmatch(argument) for argument in arguments]
    if not any(named):
        return [Input(None, tuple(arguments), format or format_of(arguments[0]))] if arguments else []
    if not all(named):
        raise typer.BadParameter("give every --input a name (NAME=PATH) or none", param_hint="--input")
    paths: dict[str, list[str]] = {}
    for found in named:
        assert found is not None
        paths.setdefault(found[1], []).append(found[2])
    return [Input(name, tuple(many), format or format_of(many[0])) for name, many in paths.items()]


def format_of(path: str) -> str:
    """The format that a path's ending says; Parquet when it says none.

    >>> format_of("readings.jsonl"), format_of("readings.csv.gz"), format_of("readings/")
    ('json', 'csv', 'parquet')
    """
    for suffix in reversed(Path(path).suffixes):
        if suffix.lower() in EXTENSIONS:
            return EXTENSIONS[suffix.lower()]
    return "parquet"


def read_columns(inputs: list[Input]) -> pa.Schema | dict[str, pa.Schema] | None:
    """The columns of the data from its first bytes; None where only Spark can read the format."""
    if any(given.format not in READ_HERE for given in inputs):
        return None
    schemas = {given.stream: _columns(given) for given in inputs}
    return schemas[None] if None in schemas else {str(name): schema for name, schema in schemas.items()}


def _columns(given: Input) -> pa.Schema:
    path = given.paths[0]
    if given.format == "csv" and Path(path).is_file():
        return pyarrow.csv.open_csv(path).schema
    if given.format == "json" and Path(path).is_file():
        return pyarrow.json.open_json(path).schema
    return pyarrow.dataset.dataset(path, format=given.format).schema
