"""The rows of matches: which rows occur in one and, of matches with the same labels, the k-th rows side by side."""

from __future__ import annotations

from cepheid.kernels.compiled import compiled, inlined


@compiled
def have_same_labels(offsets, labels):
    """Whether all matches have the same labels in the same order; there is one at least."""
    length, matches = offsets[1], len(offsets) - 1
    return (
        offsets[matches] == length * matches
        and _differ(offsets[1:], offsets[:-1], length) == 0
        and _differ(labels[length:], labels[: len(labels) - length], 0) == 0
    )


@inlined
def _differ(right, left, by):
    """How many numbers do not differ by so much."""
    count = 0
    for i in range(len(right)):
        count += right[i] - left[i] != by
    return count


@compiled
def split_rows(rows, first, out_places):
    """`out_places[k, match]`: row k of a match, counted from `first`."""
    length = len(out_places)
    for k in range(length):
        column = out_places[k]
        for m in range(len(column)):
            column[m] = rows[m * length + k] - first


@compiled
def note_rows(rows, first, out_occurs):
    """Notes the rows that occur, counted from `first`."""
    for i in range(len(rows)):
        out_occurs[rows[i] - first] = True
