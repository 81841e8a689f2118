"""LIMIT: which matches are kept, whichever evaluator found them.

In: matches by end. Out: the first by end, those with one end by positions, and those with the same positions by what is
bound, as the definition has it (`semantics.oracle`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from cepheid.matches.match_arrays import Found, Ints


def first_matches(found: Found, count: int, labels: Sequence[frozenset[str]]) -> Found:
    """So many matches, if there are; `labels` says what the numbers of their labels mean.

    >>> rows, labels = np.array([1, 5, 0, 5, 2, 5]), np.zeros(6, np.int16)
    >>> first_matches(Found(np.array([0, 2, 4, 6]), rows, labels), 2, [frozenset()]).rows
    array([0, 5, 1, 5])
    """
    if len(found) <= count:
        return found
    ends = found.rows[found.offsets[1:] - 1]
    if not bool(np.all(ends[1:] >= ends[:-1])):
        found = found.take(np.argsort(ends, kind="stable"))
        ends = found.rows[found.offsets[1:] - 1]
    begin = int(np.searchsorted(ends, ends[count]))
    if begin >= count:
        return found.part(0, count)
    end = int(np.searchsorted(ends, ends[count], "right"))
    return found.take(
        np.concatenate([np.arange(begin), _in_order(found, begin, end, labels)[: count - begin]])
    )


def _in_order(found: Found, begin: int, end: int, labels: Sequence[frozenset[str]]) -> Ints:
    """The numbers of the matches from `begin` to before `end`, which end together, in their order."""
    words = found.rows.astype(">i8").tobytes()  # compared byte by byte as the numbers are
    offsets = (8 * found.offsets).tolist()

    def positions(match: int) -> bytes:
        return words[offsets[match] : offsets[match + 1]]

    def binding(match: int) -> list[tuple[str, int]]:
        events = slice(found.offsets[match], found.offsets[match + 1])
        pairs = zip(found.rows[events].tolist(), found.labels[events].tolist(), strict=True)
        return sorted((name, row) for row, label in pairs for name in labels[label])

    order: list[int] = []
    for _, same in groupby(sorted(range(begin, end), key=positions), key=positions):
        matches = list(same)
        order += sorted(matches, key=binding) if len(matches) > 1 else matches
    return np.array(order)
