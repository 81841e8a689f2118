"""SREMO → text.

In: an expression. Out: text that parses back to an equal expression. Expansions of `+`, `?`, `#` and `@` are printed
as these operators again where that is exact.
"""

from __future__ import annotations

from typing import assert_never

from cepheid.algebra.expression_printing import print_condition, print_name, print_window
from cepheid.algebra.nodes import ANY, SKIP, Both, Complement, Concat, Iterate, Or, Read, Reading, Within
from cepheid.algebra.skips import gap, reads_nothing

# How tightly a node binds, in CEL and in SREMO, loosest first; a place asks for at least one of these.
LOOSEST, CHOICE, TOGETHER, SEQUENCE, PREFIXED, REPEATED, UNIT, ENCLOSED = range(8)


def in_place(bare: tuple[str, int], place: int) -> str:
    """A text, and how tightly it binds: in parentheses exactly when that is looser than its place asks for."""
    text, binding = bare
    return text if binding >= place else f"({text})"


def print_reading(reading: Reading) -> str:
    """An expression on one line.

    >>> from cepheid.algebra.conditions import Attribute
    >>> hot = Read(Attribute(None, "hot"), register="r")
    >>> print_reading(Concat((hot, SKIP, Complement(Or((ANY, hot))), Iterate(hot))))
    '[hot] > r . any* . !(any | [hot] > r) . ([hot] > r)*'
    """
    return _text(reading, LOOSEST)


def _text(reading: Reading, place: int) -> str:
    return in_place(_bare(reading), place)


def _bare(reading: Reading) -> tuple[str, int]:
    """The text without parentheses around it, and how tightly it binds."""
    match reading:
        case Read():
            return print_read(reading), UNIT
        case Concat(()):
            return "()", UNIT
        case Or(()):
            return "-[FALSE]", UNIT
        case Concat((only,)) | Or((only,)):
            return _bare(only)
        case Concat((body, Iterate(same))) if same == body:
            return _round(body) + "+", REPEATED
        case Concat(parts):
            skipping = _any_match(parts) or _next_match(parts)
            if skipping is not None:
                return skipping, UNIT
            return " . ".join(_text(part, PREFIXED) for part in parts), SEQUENCE
        case Or((body, Concat(()))):
            return _round(body) + "?", REPEATED
        case Or(parts):
            return " | ".join(_text(part, TOGETHER) for part in parts), CHOICE
        case Iterate(body):
            return _round(body) + "*", REPEATED
        case Both(left, right):
            return f"{_text(left, TOGETHER)} & {_text(right, SEQUENCE)}", TOGETHER
        case Complement(body):
            return "!" + _text(body, PREFIXED), PREFIXED
        case Within(body, window):
            return f"{_text(body, CHOICE)} WITHIN {print_window(window)}", LOOSEST
        case _:
            assert_never(reading)


def print_read(read: Read) -> str:
    if read == ANY:
        return "any"
    store = "" if read.register is None else f" > {print_name(read.register)}"
    return f"{'' if read.marked else '-'}[{print_condition(read.condition)}]{store}"


def _round(body: Reading) -> str:
    """The operand of a repetition sign; parentheses keep the sign from looking like part of the register's name."""
    stores = isinstance(body, Read) and body.register is not None
    return _text(body, ENCLOSED if stores else REPEATED)


def _any_match(parts: tuple[Reading, ...]) -> str | None:
    """`#(…)`, if the parts are its expansion."""
    skipped = _rounds(Concat(parts), SKIP)
    if skipped is not None:
        return f"#({skipped})"
    if len(parts) < 3 or len(parts) % 2 == 0 or any(part != SKIP for part in parts[1::2]):
        return None
    texts = [_rounds(part, SKIP) or _once(part) for part in parts[0::2]]
    return None if None in texts else f"#({', '.join(map(str, texts))})"


def _next_match(parts: tuple[Reading, ...]) -> str | None:
    """`@(…)`, if the parts are its expansion."""
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
        case Read() | Concat() | Or() | Iterate() | Both() | Complement() | Within():
            return reading
        case _:
            assert_never(reading)


def _rounds(reading: Reading, between: Reading) -> str | None:
    """`e+`, if the reading is rounds of e with `between` in between."""
    match reading:
        case Concat((body, Iterate(Concat((space, same))))) if same == body and space == between:
            return _round(body) + "+"
        case Read() | Concat() | Or() | Iterate() | Both() | Complement() | Within():
            return None
        case _:
            assert_never(reading)


def _once(reading: Reading) -> str | None:
    """An argument without repetition; inside `#` and `@` a repetition sign would allow gaps between rounds."""
    match reading:
        case Iterate():
            return None
        case Concat((body, Iterate(same))) if same == body:
            return None
        case Concat((_,)) | Or((_,)):
            return None
        case Read() | Concat() | Or() | Both() | Complement() | Within():
            return _text(reading, LOOSEST)
        case _:
            assert_never(reading)
