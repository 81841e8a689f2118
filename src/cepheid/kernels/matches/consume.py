"""CONSUME over matches that were listed without it: an end uses up all events of its partition so far.

Match m is `rows[offsets[m]:offsets[m+1]]`, ascending; matches with the same last row lie next to each other.
"""

from __future__ import annotations

from cepheid.kernels.compiled import compiled


@compiled
def consume(offsets, rows, partitions, consumed, passes):
    """Leaves of the matches that pass, each in one of `partitions`, those that begin after the last row `consumed` in
    their partition; one that is left consumes up to its end, but not what ends there with it."""
    end, before = -1, -1
    for match in range(len(offsets) - 1):
        if rows[offsets[match + 1] - 1] != end:
            end, before = rows[offsets[match + 1] - 1], consumed[partitions[match]]
        if rows[offsets[match]] <= before:
            passes[match] = False
        elif passes[match]:
            consumed[partitions[match]] = end
