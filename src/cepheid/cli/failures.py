"""Turns failures into a message on stderr and an exit code: 1 for a bad query or bad data, 2 for bad usage, such as a
bad argument or a missing file.

A user's mistake never shows a traceback, wherever it was found: here, in Spark's analysis, or as text from a
Spark worker. A bug of ours shows one only when CEPHEID_DEBUG is set.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import typer
from rich.console import Console
from rich.text import Text

from cepheid.errors import CepheidError, CepheidWarning, error_in

BAD_INPUT = 1
BAD_USAGE = 2
BUG = 70  # EX_SOFTWARE of sysexits.h

errors = Console(stderr=True, soft_wrap=True, highlight=False)


def debugging() -> bool:
    return os.environ.get("CEPHEID_DEBUG", "") not in ("", "0")


@contextmanager
def reported(query_name: Path | None = None) -> Iterator[None]:
    """Runs a command's body; an exception ends the program with a message and a code.

    Places in the query are given under `query_name`, its file.
    """
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("always", category=CepheidWarning)
            warnings.showwarning = _show_warning  # type: ignore[assignment]
            yield
    except (typer.Exit, typer.BadParameter, KeyboardInterrupt, BrokenPipeError):
        raise
    except Exception as error:
        if debugging():
            traceback.print_exc()
        message = explained(_named(error, query_name))
        if message is None:
            _apologise(error)
            raise typer.Exit(BUG) from None
        errors.print(coloured(message))
        raise typer.Exit(exit_code(error, message)) from None


def exit_code(error: Exception, message: str) -> int:
    """The exit code; a bad argument inside of the query's text is a bad query.

    >>> exit_code(FileNotFoundError(2, "No such file or directory", "q.cel"), "error[bad-argument]: …")
    2
    """
    of_query = (
        isinstance(error, CepheidError) and error.span is not None and error.span.source.name != "schema"
    )
    return BAD_USAGE if message.startswith("error[bad-argument]") and not of_query else BAD_INPUT


def explained(error: Exception) -> str | None:
    """The message for a user's mistake; None when the error looks like a bug.

    >>> explained(FileNotFoundError(2, "No such file or directory", "q.cel"))
    'error[bad-argument]: q.cel: No such file or directory'
    """
    if isinstance(error, CepheidError):
        return str(error)
    from_worker = error_in(str(error))
    if from_worker is not None:
        return str(from_worker)
    if isinstance(error, OSError | UnicodeDecodeError):
        return f"error[bad-argument]: {_of_system(error)}"
    if _is_of_spark(error) and "Traceback (most recent call last)" not in str(error):
        usage = any(code in str(error) for code in ("[DATA_SOURCE_NOT_FOUND]", "[PATH_NOT_FOUND]"))
        return f"error[{'bad-argument' if usage else 'bad-data'}]: {spark_message(str(error))}"
    if type(error).__module__.startswith("pyarrow"):
        return f"error[bad-data]: {error}"
    return None


def _named(error: Exception, query_name: Path | None) -> Exception:
    if query_name is None or not isinstance(error, CepheidError) or error.span is None:
        return error
    if error.span.source.name == "schema":
        return error
    span = replace(error.span, source=replace(error.span.source, name=str(query_name)))
    return CepheidError(error.code, error.message, span=span, hint=error.hint)


def coloured(message: str) -> Text:
    """The message with its head in red and its carets in yellow, for terminals that show colour."""
    text = Text(message)
    text.highlight_regex(r"^error\[[a-z-]+\]", "bold red")
    text.highlight_regex(r"^warning", "bold yellow")
    text.highlight_regex(r"(?m)^\s*\d* \|", "blue")
    text.highlight_regex(r"(?m)^\s*-->", "blue")
    text.highlight_regex(r"(?m)(?<=\| )\s*\^+.*$", "yellow")
    text.highlight_regex(r"(?m)^  hint:", "cyan")
    return text


def _of_system(error: OSError | UnicodeDecodeError) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _is_of_spark(error: Exception) -> bool:
    return type(error).__module__.partition(".")[0] in ("pyspark", "py4j")


def spark_message(text: str) -> str:
    """Spark's message without classes and codes; of a chain of causes, the last.

    >>> spark_message("[PATH_NOT_FOUND] Path does not exist: x. SQLSTATE: 42K03")
    'Path does not exist: x.'
    >>> spark_message("An error occurred while calling o1.load.\\n: org.apache.spark.SparkException: failed\\n"
    ...               "\\tat a.b\\nCaused by: java.io.IOException: cannot make directory\\n\\tat c.d")
    'cannot make directory'
    """
    lines = text.strip().splitlines() or ["Spark gave no reason"]
    causes = [line for line in lines if line.startswith((": ", "Caused by: "))]
    causes = [line for line in causes if "java.lang.ClassNotFoundException" not in line]  # a bare name
    said = re.sub(r"^(Caused by)?: [\w.$]+: ", "", causes[-1]) if causes else lines[0]
    return re.sub(r"^\[[A-Z0-9_.]+\]\s*", "", said).split(" SQLSTATE:")[0]


def _show_warning(message: Warning | str, category: type[Warning], *_: object) -> None:
    if category.__module__.startswith("cepheid") or debugging():
        errors.print(coloured(f"warning: {message}"))


def _apologise(error: Exception) -> None:
    kind = type(error).__name__
    errors.print(
        f"Sorry, this is a bug in Cepheid ({kind}). Run the command again with CEPHEID_DEBUG=1 and report "
        "what it prints, with the query."
    )


def interrupted() -> None:
    """Leaves as a shell expects of a program stopped with Ctrl-C."""
    sys.exit(130)
