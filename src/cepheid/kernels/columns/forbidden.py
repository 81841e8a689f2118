"""Loops over a batch for what must not come: the nearest forbidden event before each event, and the nearest after it.

Events have numbers in the order in which they come, those of all batches together; all arrays by partition are carried
from batch to batch.
"""

from __future__ import annotations

from cepheid.kernels.compiled import compiled


@compiled
def last_forbidden(events, forbidden, last, out):
    """By event the last forbidden event before it in its partition.

    Of an event there is its row, partition, position and time, `events[field, i]`. `last[partition, field]` is the last
    forbidden one so far; where there is none, that is what it says.
    """
    for i in range(len(forbidden)):
        noted = last[events[1, i]]
        for field in range(len(noted)):
            out[field, i] = noted[field]
            if forbidden[i]:
                noted[field] = events[field, i]


@compiled
def note_next(partitions, forbidden, first, first_known, newest, before, next_one):
    """Notes for events the number of the next forbidden event in their partition, for which they wait in a list.

    `newest[partition]` is the last event that waits, or -1; `before` and `next_one` of the event `first_known + k` are
    at `k`. The events from number `first` on are new, `partitions` and `forbidden` are theirs; those before
    `first_known` wait no longer.
    """
    for i in range(len(partitions)):
        number, partition = first + i, partitions[i]
        if forbidden[i]:
            waiting = newest[partition]
            while waiting >= first_known:
                next_one[waiting - first_known] = number
                waiting = before[waiting - first_known]
            newest[partition] = -1
        before[number - first_known] = newest[partition]
        newest[partition] = number
