"""The order of matches that end together: by positions, those of one complex event by what each event is bound to."""

from __future__ import annotations

from cepheid.kernels.compiled import compiled, inlined


@inlined
def is_before(offsets, rows, labels, ranks, one, other):
    """Whether a match comes before another or is like it."""
    length = min(offsets[one + 1] - offsets[one], offsets[other + 1] - offsets[other])
    for i in range(length):
        of_one, of_other = rows[offsets[one] + i], rows[offsets[other] + i]
        if of_one != of_other:
            return of_one < of_other
    for i in range(length):
        rank, of_other = ranks[labels[offsets[one] + i]], ranks[labels[offsets[other] + i]]
        if rank != of_other:
            return rank < of_other
    return True


@compiled
def order_matches(offsets, rows, labels, ranks, begin, end, scratch, out_order):
    """Writes the numbers of the matches from `begin` to before `end`, which end together, in their order: neighbouring
    runs of matches are merged. `ranks` is the order of labels."""
    count = end - begin
    for i in range(count):
        out_order[i] = begin + i
    run = 1
    while run < count:
        for first in range(0, count, 2 * run):
            middle, last = min(first + run, count), min(first + 2 * run, count)
            one, other = first, middle
            for i in range(first, last):
                takes_one = one < middle
                if takes_one and other < last:
                    takes_one = is_before(offsets, rows, labels, ranks, out_order[one], out_order[other])
                if takes_one:
                    scratch[i] = out_order[one]
                    one += 1
                else:
                    scratch[i] = out_order[other]
                    other += 1
        for i in range(count):
            out_order[i] = scratch[i]
        run *= 2
