"""LIMIT: which matches are kept, whichever evaluator found them.

In: matches by end. Out: the first by end, those with one end by positions, and those with the same positions by what
each event is bound to, as the definition has it (`semantics.oracle`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cepheid.kernels.matches.order import order_matches
from cepheid.matches.match_arrays import Found


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
    scratch, order = np.empty((2, end - begin), np.int64)
    order_matches(
        found.offsets, found.rows, found.labels, np.array(ranks_of(labels)), begin, end, scratch, order
    )
    return found.take(np.concatenate([np.arange(begin), order[: count - begin]]))


def ranks_of(labels: Sequence[frozenset[str]]) -> list[int]:
    """The order of labels, by their names.

    >>> ranks_of([frozenset(), frozenset("y"), frozenset("x")])
    [0, 2, 1]
    """
    order = sorted(range(len(labels)), key=lambda label: sorted(labels[label]))
    return [order.index(label) for label in range(len(labels))]
