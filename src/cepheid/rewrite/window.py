"""A window around the whole formula is the window of the query.

In: a query. Out: the same matches: `(φ WITHIN 5 minutes)` as φ with a clause WITHIN, where there is none yet or one in
the same unit. Evaluators then drop what is too old instead of testing each event, and no automaton needs to remember
the first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
    Not,
    Or,
    PartBy,
    Pattern,
    Query,
    Recognise,
    Repeat,
    Select,
    Seq,
    StrictSeq,
    Window,
    Within,
)


def lift_window(query: Query) -> Query:
    """The query with the windows around its formula as its own.

    >>> from cepheid.algebra.nodes import Atom, Seq
    >>> from cepheid.algebra.windows import WindowUnit
    >>> five, pair = Window(5, WindowUnit.PLAIN), Seq(Atom("A"), Atom("B"))
    >>> lift_window(Query(Within(pair, five))) == Query(pair, window=five)
    True
    """
    pattern, window = _without_window(query.pattern, query.window)
    return replace(query, pattern=pattern, window=window)


def _without_window(pattern: Pattern, window: Window | None) -> tuple[Pattern, Window | None]:
    """The pattern without the windows around it that the query's can stand for. Filters and sets say nothing of which
    events there are, so the order does not matter."""
    match pattern:
        case Within(body, own, of=None) if window is None or window.unit is own.unit:
            narrower = own if window is None or own.amount < window.amount else window
            return _without_window(body, narrower)
        case Within(of=None) | Filter() | PartBy() | Bind():
            body, window = _without_window(pattern.body, window)
            return replace(pattern, body=body), window
        case Atom() | Seq() | StrictSeq() | Or() | All() | Repeat():
            return pattern, window
        case Select() | Not() | Within() | Recognise():
            return pattern, window
        case _:
            assert_never(pattern)
