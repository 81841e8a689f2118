"""Checks of a SREMO: where it may read registers, and that it can match at all.

In: a query whose pattern is a SREMO. Out: nothing, or an error with the fix. A register is read only where some path
through the expression has stored it; the two sides of `&` store different registers; a complement of more than a single
condition has a window around it (`srt`, corollary 4.12); and a run can end by reading an event that it marks
(definition 4.4).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from cepheid.algebra.conditions import Attribute, Condition, attributes
from cepheid.algebra.expression_printing import print_name
from cepheid.algebra.nodes import (
    SKIP,
    Both,
    Complement,
    Concat,
    Iterate,
    Or,
    Read,
    Reading,
    Within,
    children,
    walk,
)
from cepheid.algebra.skips import reads_nothing
from cepheid.algebra.windows import Window
from cepheid.errors import CepheidError, Span, did_you_mean, quoted


def stored_by(reading: Reading) -> frozenset[str]:
    """The registers whose contents the expression may change; a complement changes none.

    >>> from cepheid.algebra.conditions import TRUE
    >>> sorted(stored_by(Concat((Read(TRUE, register="r"), Complement(Read(TRUE, register="s"))))))
    ['r']
    """
    match reading:
        case Read(_, _, register):
            return frozenset() if register is None else frozenset([register])
        case Complement():
            return frozenset()
        case Concat() | Or() | Iterate() | Both() | Within():
            return frozenset[str]().union(*map(stored_by, children(reading)))
        case _:
            assert_never(reading)


def check_registers(reading: Reading, window: Window | None) -> None:
    """Raises the first mistake of an expression inside the query's window.

    >>> from cepheid.algebra.conditions import Comparison
    >>> rises = Read(Comparison(">", Attribute(None, "price"), Attribute("r", "price")))
    >>> check_registers(rises, None)
    Traceback (most recent call last):
    cepheid.errors.CepheidError: error[unknown-register]: nothing is stored in register `r`
      hint: store an event first: [price IS NOT NULL] > r
    """
    _check_reads(reading)
    _check_sides(reading)
    _check_complements(reading, window is not None)
    _check_marks(reading)


def _check_reads(reading: Reading) -> None:
    """One condition of the text may be several equal nodes, as `e+` is `e . e*`: it is enough that one can hold."""
    every = {node.register for node in walk(reading) if isinstance(node, Read) and node.register is not None}
    found = list(_reads(reading, frozenset()))
    sensible = {(read.var, condition) for read, condition, stored in found if read.var in stored}
    for read, condition, stored in found:
        if (read.var, condition) not in sensible:
            raise _empty(read, stored, sorted(every))


def _reads(reading: Reading, stored: frozenset[str]) -> Iterator[tuple[Attribute, Condition, frozenset[str]]]:
    """Every attribute of a register, its condition, and the registers that may hold an event there; `stored` are
    those that may hold one when the expression begins."""
    match reading:
        case Read(condition):
            reads = (read for read in attributes(condition) if read.var is not None)
            yield from ((read, condition, stored) for read in reads)
        case Concat(parts):
            for part in parts:
                yield from _reads(part, stored)
                stored |= stored_by(part)
        case Iterate(body):
            yield from _reads(body, stored | stored_by(body))
        case Or() | Both() | Complement() | Within():
            for part in children(reading):
                yield from _reads(part, stored)
        case _:
            assert_never(reading)


def _empty(read: Attribute, stored: frozenset[str], every: list[str]) -> CepheidError:
    register = read.var
    assert register is not None
    if register not in every:
        store = f"store an event first: [{print_name(read.name)} IS NOT NULL] > {print_name(register)}"
        hint = did_you_mean(register, every, f"the registers are {quoted(every)}" if every else store)
        message = f"nothing is stored in register `{register}`"
        return CepheidError("unknown-register", message, span=read.variable_span, hint=hint)
    return CepheidError(
        "empty-register",
        f"register `{register}` is always empty here, so that the condition never holds",
        span=read.variable_span,
        hint="store it before, outside of `!` and on this side of `&`; "
        f"what may be stored here: {quoted(sorted(stored)) or 'none'}",
    )


def _check_sides(reading: Reading) -> None:
    for node in walk(reading):
        if isinstance(node, Both) and (shared := stored_by(node.left) & stored_by(node.right)):
            register = min(shared)
            reads = (part for part in walk(node.right) if isinstance(part, Read))
            span = next(part.span for part in reads if part.register == register) or node.span
            message = f"both sides of `&` store register `{register}`"
            raise CepheidError("register-clash", message, span=span, hint="use another register on one side")


def _check_complements(reading: Reading, windowed: bool) -> None:
    match reading:
        case Complement(body, span) if not windowed and not is_single(body):
            raise _needs_window(span)
        case Within():
            windowed = True
        case Read() | Concat() | Or() | Iterate() | Both() | Complement():
            pass
        case _:
            assert_never(reading)
    for part in children(reading):
        _check_complements(part, windowed)


def _needs_window(span: Span | None) -> CepheidError:
    strategy = span is not None and span.text.startswith("@")
    what = "`@(…)` with more than single conditions" if strategy else "`!` of more than a single condition"
    hint = "add WITHIN and a window at the end, or around this part: (… WITHIN 5 minutes)"
    return CepheidError("needs-window", f"{what} needs a window around it", span=span, hint=hint)


def is_single(reading: Reading) -> bool:
    """Whether a complement of the reading negates one condition: of the event read, or of any event read.

    >>> from cepheid.algebra.conditions import TRUE
    >>> is_single(Read(TRUE)), is_single(Concat((SKIP, Read(TRUE), SKIP))), is_single(Concat((SKIP, SKIP)))
    (True, True, False)
    """
    match reading:
        case Read():
            return True
        case Concat((before, Read(), after)):
            return before == after == SKIP
        case Concat() | Or() | Iterate() | Both() | Complement() | Within():
            return False
        case _:
            assert_never(reading)


def _check_marks(reading: Reading) -> None:
    if _ends_marked(reading):
        return
    span = _whole(reading)
    message = "the last event read is never marked, and a match ends with a marked event"
    hint = "leave out the unmarked part at the end, or mark its event: `[…]`"
    if not _marks(reading):
        message = "nothing is marked, so that no match has an event"
        hint = "`[…]` marks the event it reads, `-[…]` and `any` do not, and `!` marks none"
    elif any(isinstance(node, Both) for node in walk(reading)):
        hint = "both sides of `&` must mark the same events, and `!` marks none"
    raise CepheidError("unsatisfiable", message, span=span, hint=hint)


def _whole(reading: Reading) -> Span | None:
    spans = [span for node in walk(reading) if (span := getattr(node, "span", None)) is not None]
    return Span(spans[0].source, min(s.start for s in spans), max(s.end for s in spans)) if spans else None


def _marks(reading: Reading) -> bool:
    match reading:
        case Read(_, marked):
            return marked
        case Complement():
            return False
        case Concat() | Or() | Iterate() | Both() | Within():
            return any(map(_marks, children(reading)))
        case _:
            assert_never(reading)


def _ends_marked(reading: Reading) -> bool:
    """Whether the last event read may be a marked one."""
    match reading:
        case Read(_, marked):
            return marked
        case Concat(parts):
            last = next((n for n in reversed(range(len(parts))) if not reads_nothing(parts[n])), 0)
            return any(map(_ends_marked, parts[last:]))
        case Or(parts):
            return any(map(_ends_marked, parts))
        case Iterate(body) | Within(body):
            return _ends_marked(body)
        case Both(left, right):
            return _ends_marked(left) and _ends_marked(right)
        case Complement():
            return False
        case _:
            assert_never(reading)
