"""Every error a user can meet: a code, a place in the query, a message and a hint.

In: what went wrong and where. Out: an exception whose `str` is complete on its own, since what comes back
from a Spark worker is text. Every code has a section in `docs/errors.md`; a test compares the two lists.
"""

from __future__ import annotations

import difflib
import inspect
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

CODES: dict[str, str] = {
    "syntax": "the query text does not parse",
    "unknown-language": "no such query language",
    "unknown-attribute": "a condition names a column that the events do not have",
    "unknown-variable": "a variable is used that no atom binds",
    "unbound-variable": "a variable is used where it is not bound (well-formedness)",
    "kleene-variable": "a variable bound inside a repetition is used outside it",
    "needs-set": "an aggregate or `prev` is asked of what is no set",
    "unknown-parameter": "a parameter has no value, or a value no parameter",
    "unknown-type": "the query names an event type that no event can have",
    "unknown-register": "a condition reads a register that nothing is stored in",
    "empty-register": "a register is read where it can never hold an event",
    "register-clash": "both sides of an intersection store one register",
    "misplaced-not": "a NOT says nothing where it stands",
    "misplaced-condition": "a condition of SASE+ stands where it cannot be asked",
    "needs-window": "a complement or a strategy needs a window around it",
    "uncovered-event": "PART-BY lists no attribute of some event of its formula",
    "unsatisfiable": "the formula can match nothing, on any stream",
    "type-mismatch": "an operator is applied to values of the wrong type",
    "unknown-function": "a condition calls a function that does not exist",
    "bad-argument": "an argument of the API, the command line or a clause has a bad value",
    "unknown-column": "a column named in an argument or clause is not in the data",
    "bad-time": "the time column is missing, NULL, NaN or of a type that cannot order events",
    "unsorted": "a pushed batch or a reader is not in stream order",
    "late-row": "a row of a stream came after the watermark had passed it",
    "bad-data": "the data cannot be read as events",
    "too-large": "a query, a rewriting or an automaton outgrew its limit",
    "too-many-matches": "more matches than the guard allows",
    "not-yet": "valid, but not yet supported",
    "unsupported-evaluator": "the evaluator asked for cannot run this query",
    "bad-state": "saved state cannot be loaded",
    "bad-worker": "the Python of Spark's workers cannot run this package",
    "not-installed": "packages of one of Cepheid's extras, or Java, are missing",
}


LONGEST_MESSAGE = 2_000  # characters of a message or a hint
LONGEST_LINE = 160  # characters of the query's line in an excerpt
LONGEST_NAME = 100  # characters of a name for which a similar one is looked for
MOST_NAMES = 1_000  # among which it is looked for
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Source:
    """A query text and the name it is reported under."""

    text: str
    name: str = "query"


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of characters in a source.

    >>> span = Span(Source("SELECT *\\nFROM s"), 9, 13)
    >>> span.line, span.column, span.text
    (2, 1, 'FROM')
    """

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        return self.source.text.count("\n", 0, self.start) + 1

    @property
    def column(self) -> int:
        return self.start - (self.source.text.rfind("\n", 0, self.start) + 1) + 1

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]


class CepheidError(Exception):
    """A user's mistake: `code`, `message`, `span` (or None) and `hint` (or None) are fields.

    >>> text = "SELECT * FROM s WHERE SELL AS m FILTER m.prise > 100"
    >>> print(CepheidError("unknown-attribute", "events have no attribute `prise`",
    ...                    span=Span(Source(text), 41, 46), hint="did you mean `price`?"))
    error[unknown-attribute]: events have no attribute `prise`
      --> query:1:42
       |
     1 | SELECT * FROM s WHERE SELL AS m FILTER m.prise > 100
       |                                          ^^^^^ did you mean `price`?
    """

    def __init__(self, code: str, message: str, *, span: Span | None = None, hint: str | None = None) -> None:
        assert code in CODES, code
        super().__init__(code, clipped(printable(message)))
        self.code = code
        self.message = clipped(printable(message))
        self.span = span
        self.hint = None if hint is None else clipped(printable(hint))

    def __str__(self) -> str:
        head = f"error[{self.code}]: {self.message}"
        if self.span is None:
            return head if self.hint is None else f"{head}{_HINT}{self.hint}"
        return head + "\n" + excerpt(self.span, self.hint)

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (self.code, self.message, self.span, self.hint)


_HINT = "\n  hint: "


def error_in(text: str) -> CepheidError | None:
    """The `CepheidError` inside Spark's text of a worker's failure; None if there is none.

    >>> text = "thrown from the Python worker:\\ncepheid.errors.CepheidError: error[bad-time]: the time is NULL"
    >>> error_in(text + "\\n  hint: leave such rows out\\n\\n\\tat org.apache.spark…").hint
    'leave such rows out'
    """
    missing = re.search(r"ModuleNotFoundError: No module named '(cepheid|numba|numpy|pandas|pyarrow)\b", text)
    if missing is not None:
        hint = "install cepheid in the Python that the workers run, or name another with PYSPARK_PYTHON"
        message = f"the Python of Spark's workers has no package {missing[1]}"
        return CepheidError("bad-worker", message, hint=hint)
    found = re.search(
        r"CepheidError: error\[([a-z-]+)\]: (.*?)(?:\n\s*\n|\n\s*at |\n\S|\s*SQLSTATE:|\Z)", text, re.DOTALL
    )
    if found is None or found[1] not in CODES:
        return None
    message, _, hint = found[2].rstrip().partition(_HINT)
    return CepheidError(found[1], message, hint=hint or None)


class CepheidWarning(UserWarning):
    """A warning: something works, but costs more or means something else than the user may expect."""


def warn(message: str) -> None:
    """Warns at the user's own line."""
    warnings.warn(message, CepheidWarning, stacklevel=callers())


def callers() -> int:
    """The distance to the first frame outside of this package, so that a warning names the user's line."""
    depth, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "cepheid":
        depth, frame = depth + 1, frame.f_back
    return depth


def _restore(code: str, message: str, span: Span | None, hint: str | None) -> CepheidError:
    return CepheidError(code, message, span=span, hint=hint)


def excerpt(span: Span, note: str | None) -> str:
    """The line a span lies on, with carets below it and a note beside them."""
    text = span.source.text
    line, column = span.line, span.column
    begin = span.start - column + 1
    end = text.find("\n", begin)
    end = len(text) if end < 0 else end
    width = max(1, min(span.end, end) - span.start)
    shown, place = printable(text[begin:end]), column - 1
    if len(shown) > LONGEST_LINE:
        shown, place, width = _part_of_line(shown, place, width)
    margin = " " * len(str(line))
    carets = " " * place + "^" * width
    return "\n".join(
        [
            f" {margin}--> {span.source.name}:{line}:{column}",
            f" {margin} |",
            f" {line} | {shown}",
            f" {margin} | {carets}" + (f" {note}" if note else ""),
        ]
    )


def _part_of_line(line: str, place: int, width: int) -> tuple[str, int, int]:
    """The part of a long line around a place, where that lies in it, and how much of the width it shows."""
    begin = max(0, min(place - LONGEST_LINE // 3, len(line) - LONGEST_LINE))
    part = line[begin : begin + LONGEST_LINE]
    before = "…" if begin else ""
    after = "…" if begin + LONGEST_LINE < len(line) else ""
    here = place - begin
    return before + part + after, len(before) + here, max(1, min(width, len(part) - here))


def printable(text: str) -> str:
    """The text with each lone surrogate, which no encoding has, replaced by U+FFFD.

    >>> printable("a\\ud800b")
    'a�b'
    """
    return _SURROGATE.sub("\ufffd", text)


def clipped(text: str, most: int = LONGEST_MESSAGE) -> str:
    """The text, its middle left out where it is longer than `most`.

    >>> clipped("abcdefghij", 7)
    'abc…hij'
    """
    if len(text) <= most:
        return text
    kept = (most - 1) // 2
    return f"{text[:kept]}…{text[-kept:]}"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like `name`, if one is close, without regard to case.

    >>> nearest("prise", ["volume", "price"])
    'price'
    """
    if len(name) > LONGEST_NAME:
        return None
    close = (item for item in known if len(item) <= 2 * LONGEST_NAME)
    by_folded = {item.casefold(): item for item in islice(close, MOST_NAMES)}
    found = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def quoted(names: Iterable[object]) -> str:
    """
    >>> quoted(["x", "y"])
    '`x`, `y`'
    """
    return ", ".join(f"`{name}`" for name in names)


def did_you_mean(name: str, known: Iterable[str], otherwise: str | None = None) -> str | None:
    """A hint that offers the nearest known name."""
    found = nearest(name, known)
    return f"did you mean `{found}`?" if found else otherwise
