"""Choosing among matches that end at the same event: NXT, LAST and MAX of `cel-cea`, section 4, over flat arrays.

Match m is `rows[offsets[m]:offsets[m+1]]`, ascending; matches with the same last row lie next to each other. Only rows
are compared, so all matches that are the same complex event under other labels stay or go together.
"""

from __future__ import annotations

from cepheid.kernels.compiled import compiled, inlined
from cepheid.kernels.interrupts import poll, ticks

NEXT, LATEST, LARGEST = range(3)
_SIGNATURE = 63


@compiled
def choose(how, offsets, rows, scratch, counts, out_chosen):
    """Writes the numbers of the chosen matches, by end; gives how many there are. For MAX `scratch` is two numbers per
    match, and `counts` has one more than the longest match has events."""
    matches = len(offsets) - 1
    begin, chosen = 0, 0
    while begin < matches:
        end = begin + 1
        last = rows[offsets[begin + 1] - 1]
        while end < matches and rows[offsets[end + 1] - 1] == last:
            end += 1
        if end == begin + 1:
            out_chosen[chosen] = begin
            chosen += 1
        elif how == LARGEST:
            chosen = _largest(offsets, rows, begin, end, scratch, counts, chosen, out_chosen)
        else:
            chosen = _best(how, offsets, rows, begin, end, chosen, out_chosen)
        begin = end
    return chosen


@inlined
def _best(how, offsets, rows, begin, end, chosen, out_chosen):
    """Adds the one complex event of a group that is better than all others, under all its labels."""
    first = chosen
    for match in range(begin, end):
        better = 1 if match == begin else _compared(how, offsets, rows, match, out_chosen[first])
        if better > 0:
            chosen = first
        if better >= 0:
            out_chosen[chosen] = match
            chosen += 1
    return chosen


@inlined
def _compared(how, offsets, rows, one, two):
    """Positive where `one` is better. Under NXT the least row that only one of them has decides, under LAST the
    greatest. With the same last row none is the beginning of another, but it may be the end of one."""
    first, other = offsets[one], offsets[two]
    one_length, two_length = offsets[one + 1] - first, offsets[two + 1] - other
    common = min(one_length, two_length)
    if how == NEXT:
        for i in range(common):
            difference = rows[other + i] - rows[first + i]
            if difference != 0:
                return difference
        return 0
    first += one_length
    other += two_length
    for i in range(1, common + 1):
        difference = rows[first - i] - rows[other - i]
        if difference != 0:
            return difference
    return one_length - two_length


@inlined
def _largest(offsets, rows, begin, end, scratch, counts, chosen, out_chosen):
    """Adds those without a strict superset in the group. The longest come first, so that only longer ones that were
    chosen need be looked at; and of these not the rows where a signature shows that one is missing."""
    signatures, order = scratch[0], scratch[1]
    if _by_length(offsets, begin, end, order, counts):
        for match in range(begin, end):
            out_chosen[chosen] = match
            chosen += 1
        return chosen
    for match in range(begin, end):
        signature = 0
        for at in range(offsets[match], offsets[match + 1]):
            signature |= 1 << (rows[at] & _SIGNATURE)
        signatures[match] = signature
    first, longer, length = chosen, chosen, 0
    seen = ticks()
    for place in range(begin, end):
        seen = poll(seen)
        if seen < 0:
            break
        match = order[place]
        if offsets[match + 1] - offsets[match] != length:
            length = offsets[match + 1] - offsets[match]
            longer = chosen
        is_largest = True
        for i in range(first, longer):
            larger = out_chosen[i]
            if signatures[match] & ~signatures[larger] == 0 and _contains(offsets, rows, larger, match):
                is_largest = False
                break
        if is_largest:
            out_chosen[chosen] = match
            chosen += 1
    return chosen


@inlined
def _by_length(offsets, begin, end, order, counts):
    """Puts a group in order of length, the longest first, unless all are of one, and says whether they are."""
    shortest = longest = offsets[begin + 1] - offsets[begin]
    for match in range(begin + 1, end):
        longest = max(longest, offsets[match + 1] - offsets[match])
        shortest = min(shortest, offsets[match + 1] - offsets[match])
    if shortest == longest:
        return True
    for length in range(longest + 1):
        counts[length] = 0
    for match in range(begin, end):
        counts[offsets[match + 1] - offsets[match]] += 1
    at = begin
    for length in range(longest, -1, -1):
        at += counts[length]
        counts[length] = at - counts[length]
    for match in range(begin, end):
        length = offsets[match + 1] - offsets[match]
        order[counts[length]] = match
        counts[length] += 1
    return False


@inlined
def _contains(offsets, rows, larger, smaller):
    """Whether all rows of one are rows of the other."""
    at, last = offsets[larger], offsets[larger + 1]
    for i in range(offsets[smaller], offsets[smaller + 1]):
        while at < last and rows[at] < rows[i]:
            at += 1
        if at == last or rows[at] != rows[i]:
            return False
        at += 1
    return True
