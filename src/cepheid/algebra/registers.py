"""Which registers a SREMO may read where, and what makes it one that can match.

In: a query whose pattern is a SREMO. Out: nothing, or the error that says what is wrong and how to mend it. A register
is read only where some way through the expression has stored it before; both sides of `&` do not store the same one;
what negates more than a single condition has a window around it (`srt`, corollary 4.12); and a run can end by reading
an event that it marks (definition 4.4).
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
from cepheid.errors import CepheidError, Span, did_you_mean


def stored_by(reading: Reading) -> frozenset[str]:
    """The registers whose contents may be others after the expression; those that a complement stores are not among
    them.

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
    every = frozenset(
        node.register for node in walk(reading) if isinstance(node, Read) and node.register is not None
    )
    _check_reads(reading, every)
    _check_sides(reading)
    _check_complements(reading, window is not None)
    _check_marks(reading)


def _check_reads(reading: Reading, every: frozenset[str]) -> None:
    """What stands once in the text may have become several nodes, `e+` is `e . e*`, which are printed one by one: of
    conditions that are equal one that can hold is enough."""
    found = list(_reads(reading, frozenset()))
    sensible = {(read.var, condition) for read, condition, stored in found if read.var in stored}
    for read, condition, stored in found:
        if (read.var, condition) not in sensible:
            raise _empty(read, stored, every)


def _reads(reading: Reading, stored: frozenset[str]) -> Iterator[tuple[Attribute, Condition, frozenset[str]]]:
    """Every attribute of a register and the condition it is in, with the registers that may hold an event there;
    `stored`: those that may when the expression begins."""
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


def _empty(read: Attribute, stored: frozenset[str], every: frozenset[str]) -> CepheidError:
    register = read.var
    assert register is not None
    span = _register_span(read)
    if register not in every:
        listed = ", ".join(f"`{name}`" for name in sorted(every))
        store = f"store an event first: [{print_name(read.name)} IS NOT NULL] > {print_name(register)}"
        hint = did_you_mean(register, sorted(every), f"the registers are {listed}" if every else store)
        message = f"nothing is stored in register `{register}`"
        return CepheidError("unknown-register", message, span=span, hint=hint)
    now = ", ".join(f"`{name}`" for name in sorted(stored)) or "none"
    return CepheidError(
        "empty-register",
        f"register `{register}` is always empty here, so that the condition never holds",
        span=span,
        hint=f"store it before, outside of `!` and on this side of `&`; what may be stored here: {now}",
    )


def _register_span(read: Attribute) -> Span | None:
    """The register alone, where the text shows it plainly."""
    if read.span is None or read.var is None or not read.span.text.startswith(read.var):
        return read.span
    return Span(read.span.source, read.span.start, read.span.start + len(read.var))


def _check_sides(reading: Reading) -> None:
    for node in walk(reading):
        if isinstance(node, Both) and (shared := stored_by(node.left) & stored_by(node.right)):
            register = min(shared)
            places = [
                part.span for part in walk(node.right) if isinstance(part, Read) and part.register == register
            ]
            raise CepheidError(
                "register-clash",
                f"both sides of `&` store register `{register}`",
                span=places[0] or node.span,
                hint="use another register on one side",
            )


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
    return CepheidError(
        "needs-window",
        f"{what} needs a window around it",
        span=span,
        hint="add WITHIN and a window at the end, or around this part: (… WITHIN 5 minutes)",
    )


def is_single(reading: Reading) -> bool:
    """Whether what is negated is one condition, or that an event for which it holds is among those read.

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
    if not _marks(reading):
        raise CepheidError(
            "unsatisfiable",
            "nothing is marked, so that no match has an event",
            span=span,
            hint="`[…]` marks the event it reads, `-[…]` and `any` do not, and nothing under `!` is",
        )
    hint = "leave out what is read at the end without being marked, or mark it: `[…]`"
    if any(isinstance(node, Both) for node in walk(reading)):
        hint = "both sides of `&` must mark the same events, and `!` marks none"
    message = "the last event read is never marked, and a match ends with one that is"
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
