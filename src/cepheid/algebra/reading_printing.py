"""SREMO → text.

In: an expression. Out: text that parses back to an equal expression. What `+`, `?`, `#` and `@` are made of is
shown as these again where that is exact. A node is put in parentheses exactly when it binds looser than its
place asks for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from cepheid.algebra.expression_printing import print_condition, print_name, print_window
from cepheid.algebra.skips import gap
from cepheid.algebra.strings import (
    ANY,
    SKIP,
    Both,
    Complement,
    Concat,
    Either,
    Inside,
    Iterate,
    Read,
    Reading,
    parts_of,
    reads_nothing,
)

# How tightly a node binds, loosest first; a place asks for at least one of these.
WINDOWED, CHOICE, TOGETHER, JOINED, PREFIXED, REPEATED, UNIT, ENCLOSED = range(8)


def print_reading(reading: Reading) -> str:
    """An expression on one line.

    >>> from cepheid.algebra.conditions import Attribute
    >>> hot = Read(Attribute(None, "hot"), register="r")
    >>> print_reading(Concat((hot, SKIP, Complement(Either((ANY, hot))), Iterate(hot))))
    '[hot] > r . any* . !(any | [hot] > r) . ([hot] > r)*'
    """
    return _text(reading, WINDOWED)


def _text(reading: Reading, place: int) -> str:
    text, binding = _bare(reading)
    return text if binding >= place else f"({text})"


def _bare(reading: Reading) -> tuple[str, int]:
    """The text without parentheses around it, and how tightly it binds."""
    match reading:
        case Read():
            return _read(reading), UNIT
        case Concat(()):
            return "()", UNIT
        case Either(()):
            return "-[FALSE]", UNIT
        case Concat((only,)) | Either((only,)):
            return _bare(only)
        case Concat((body, Iterate(same))) if same == body:
            return _round(body) + "+", REPEATED
        case Concat(parts):
            skipping = _any_match(parts) or _next_match(parts)
            if skipping is not None:
                return skipping, UNIT
            return " . ".join(_text(part, PREFIXED) for part in parts), JOINED
        case Either((body, Concat(()))):
            return _round(body) + "?", REPEATED
        case Either(parts):
            return " | ".join(_text(part, TOGETHER) for part in parts), CHOICE
        case Iterate(body):
            return _round(body) + "*", REPEATED
        case Both(left, right):
            return f"{_text(left, TOGETHER)} & {_text(right, JOINED)}", TOGETHER
        case Complement(body):
            return "!" + _text(body, PREFIXED), PREFIXED
        case Inside(body, window):
            return f"{_text(body, CHOICE)} WITHIN {print_window(window)}", WINDOWED
        case _:
            assert_never(reading)


def _read(read: Read) -> str:
    if read == ANY:
        return "any"
    store = "" if read.register is None else f" > {print_name(read.register)}"
    return f"{'' if read.marked else '-'}[{print_condition(read.condition)}]{store}"


def _round(body: Reading) -> str:
    """What a repetition sign stands behind; without parentheses it would look as if it were the register's."""
    stores = isinstance(body, Read) and body.register is not None
    return _text(body, ENCLOSED if stores else REPEATED)


def _any_match(parts: tuple[Reading, ...]) -> str | None:
    """`#(…)`, where the parts are made so."""
    skipped = _rounds(Concat(parts), SKIP)
    if skipped is not None:
        return f"#({skipped})"
    if len(parts) < 3 or len(parts) % 2 == 0 or any(part != SKIP for part in parts[1::2]):
        return None
    texts = [_rounds(part, SKIP) or _once(part) for part in parts[0::2]]
    return None if None in texts else f"#({', '.join(map(str, texts))})"


def _next_match(parts: tuple[Reading, ...]) -> str | None:
    """`@(…)`, where the parts are made so."""
    if len(parts) < 3 or len(parts) % 2 == 0:
        return None
    texts: list[str | None] = []
    for index in range(0, len(parts), 2):
        body = _body(parts[index])
        if reads_nothing(body) or (index and parts[index - 1] != gap(body)):
            return None
        texts.append(_once(body) if body is parts[index] else _rounds(parts[index], gap(body)))
    return None if None in texts else f"@({', '.join(map(str, texts))})"


def _body(reading: Reading) -> Reading:
    """Of rounds with gaps in between, one round."""
    match reading:
        case Concat((body, Iterate(Concat((between, same))))) if same == body and between == gap(body):
            return body
        case _:
            return reading


def _rounds(reading: Reading, between: Reading) -> str | None:
    """An argument that is repeated with something in between: `e+`."""
    match reading:
        case Concat((body, Iterate(Concat((space, same))))) if same == body and space == between:
            return _round(body) + "+"
        case _:
            return None


def _once(reading: Reading) -> str | None:
    """An argument that is not repeated; a repetition sign would mean one with something in between."""
    match reading:
        case Iterate():
            return None
        case Concat((body, Iterate(same))) if same == body:
            return None
        case Concat((_,)) | Either((_,)):
            return None
        case _:
            return _text(reading, WINDOWED)


def reading_tree(reading: Reading, depth: int = 0) -> Iterator[str]:
    """An expression with a node per line, parts indented below it.

    >>> print(*reading_tree(Concat((SKIP, Complement(ANY)))), sep="\\n")
    .
      *
        any
      !
        any
    """
    yield "  " * depth + _head(reading)
    for part in parts_of(reading):
        yield from reading_tree(part, depth + 1)


def _head(reading: Reading) -> str:
    match reading:
        case Read():
            return _read(reading)
        case Concat(parts):
            return "." if parts else "()"
        case Either():
            return "|"
        case Iterate():
            return "*"
        case Both():
            return "&"
        case Complement():
            return "!"
        case Inside(_, window):
            return f"WITHIN {print_window(window)}"
        case _:
            assert_never(reading)
