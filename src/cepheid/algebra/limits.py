"""The size guard: rewriting may grow a pattern exponentially (`cel-cea`, theorems 1 and 2), but only so far.

In: a pattern that a rule has made. Out: the same pattern, or an error before the next step makes it larger still.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

from cepheid.algebra.nodes import Pattern, walk
from cepheid.errors import CepheidError

MOST_NODES = 20_000


def guarded(pattern: Pattern, rule: str, *, most: int = MOST_NODES) -> Pattern:
    """The pattern itself, if it has at most `most` nodes.

    >>> from cepheid.algebra.nodes import Atom, Seq
    >>> guarded(Seq(Atom("A"), Atom("B")), "safe", most=2)
    Traceback (most recent call last):
    cepheid.errors.CepheidError: error[too-large]: rewriting rule `safe` made a pattern of more than 2 nodes
      hint: ...
    """
    if sum(1 for _ in islice(walk(pattern), most + 1)) > most:
        raise CepheidError(
            "too-large",
            f"rewriting rule `{rule}` made a pattern of more than {most} nodes",
            hint="an OR of conditions on different variables, a filter on a variable bound further out and a "
            "variable reused across `;` can each double the pattern: use fewer of them in one formula",
        )
    return pattern


@contextmanager
def not_too_deep() -> Iterator[None]:
    """Turns a RecursionError, of a deeply nested pattern, into an error for the user.

    >>> with not_too_deep():
    ...     raise RecursionError
    Traceback (most recent call last):
    cepheid.errors.CepheidError: error[too-large]: the formula is nested too deeply
      hint: ...
    """
    try:
        yield
    except RecursionError:
        raise CepheidError(
            "too-large",
            "the formula is nested too deeply",
            hint="some 300 operators in a row are the most: write many rounds as `{l,m}`, many values as IN (…), and "
            "lower the bounds of repetitions",
        ) from None
