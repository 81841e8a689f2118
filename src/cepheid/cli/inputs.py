"""The inputs of the command line: the query's text, and the data.

In: arguments as the user typed them. Out: a query's text, paths and formats of the data. Columns of files on this
machine are described without Spark, since `check` and `explain` should answer at once; Spark reads by the same
description.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import typer

from cepheid.errors import CepheidError
from cepheid.files.ddl import schema_of_text
from cepheid.files.described import Described, describe
from cepheid.files.formats import format_of
from cepheid.languages import LANGUAGES

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


def parameters_of(arguments: list[str]) -> dict[str, Any]:
    """Values by name: JSON where the text is JSON (a number, true, null, a list, a text in double quotes), else the
    text as it is.

    >>> parameters_of(["least=40", "kind=H", 'ids=[1, 2]', 'code="07"'])
    {'least': 40, 'kind': 'H', 'ids': [1, 2], 'code': '07'}
    """
    values = dict[str, Any]()
    for argument in arguments:
        name, sign, text = argument.partition("=")
        if not sign or not name:
            raise typer.BadParameter("give it as NAME=VALUE", param_hint="--param")
        try:
            values[name] = json.loads(text)
        except json.JSONDecodeError:
            values[name] = text
    return values


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


@dataclass(frozen=True, slots=True)
class Columns:
    """The user's arguments about columns: the time, its format, and perhaps the whole schema."""

    time: str | None = None
    time_format: str | None = None
    schema: pa.Schema | None = None


def schema_given(text: str | None) -> pa.Schema | None:
    """A schema as it was typed, or from the file that it names.

    >>> schema_given("ts timestamp, tmp double").names
    ['ts', 'tmp']
    """
    if text is None:
        return None
    if re.fullmatch(r"\S+", text) and Path(text).is_file():
        text = Path(text).read_text(encoding="utf-8")
    return schema_of_text(text)


def described(given: Input, columns: Columns) -> Described | None:
    """The description of a stream's files; None for files that only Spark reads."""
    names = {"time": columns.time, "time_format": columns.time_format}
    found = describe(given.paths, given.format, **names, schema=columns.schema)
    if found is None and (columns.schema is not None or columns.time_format is not None):
        option = "--schema" if columns.schema is not None else "--time-format"
        message = (
            f"{option} is for CSV, JSON, Parquet and ORC files on this machine, not for {given.paths[0]}"
        )
        raise CepheidError("bad-argument", message)
    return found
