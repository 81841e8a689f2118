"""Loops over the columns of a batch before matching: partitions, positions, ties, window edges."""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import allocating, compiled


@compiled
def first_descent(numbers):
    """The first place whose number is less than the one before it, or -1."""
    begin = 1
    while begin < len(numbers):
        end = min(begin + 4096, len(numbers))
        left, right = numbers[begin - 1 : end - 1], numbers[begin:end]
        descents = 0
        for i in range(len(right)):
            descents += right[i] < left[i]
        if descents > 0:
            while numbers[begin] >= numbers[begin - 1]:
                begin += 1
            return begin
        begin = end
    return -1


@compiled
def first_out_of_order(times, ties):
    """The first row that comes before the one at its left by time, of the same time by the second number, or -1."""
    begin = 1
    while begin < len(times):
        end = min(begin + 4096, len(times))
        left, right = times[begin - 1 : end - 1], times[begin:end]
        left_ties, right_ties = ties[begin - 1 : end - 1], ties[begin:end]
        descents = 0
        for i in range(len(right)):
            descents += (right[i] < left[i]) | ((right[i] == left[i]) & (right_ties[i] < left_ties[i]))
        if descents > 0:
            i = 0
            while right[i] > left[i] or (right[i] == left[i] and right_ties[i] >= left_ties[i]):
                i += 1
            return begin + i
        begin = end
    return -1


@compiled
def leave_bits(codes, bits_of_code, is_first, out_keys):
    """Leaves of each key the bits that the event's code has; the first time these are the key."""
    if is_first:
        for i in range(len(codes)):
            out_keys[i] = bits_of_code[codes[i]]
    else:
        for i in range(len(codes)):
            out_keys[i] &= bits_of_code[codes[i]]


@compiled
def has_bit(keys, bit):
    """Whether any key has a bit."""
    for i in range(len(keys)):
        if keys[i] & bit:
            return True
    return False


@compiled
def drop_bit(holds, bit, out_keys):
    """Takes a bit from the keys where a condition does not hold."""
    for i in range(len(out_keys)):
        out_keys[i] &= ~(0 if holds[i] else bit)


@compiled
def pick(codes, class_of_code, out_places, out_classes):
    """The places whose code has a class other than 0, and their classes: how many, or -1 where a code has no class yet
    (-1).

    A place is written whether it is kept or not, so that nothing depends on what the events are.
    """
    count, seen = 0, 0
    for i in range(len(codes)):
        klass = class_of_code[codes[i]]
        seen |= klass
        out_places[count] = i
        out_classes[count] = klass
        count += klass != 0
    return count if seen >= 0 else -1


@compiled
def first_unnumbered(codes, class_of_code, begin):
    """The first place from `begin` on whose code has no class yet (-1), or the number of codes."""
    for i in range(begin, len(codes)):
        if class_of_code[codes[i]] < 0:
            return i
    return len(codes)


# what events of a class can do: begin a match, end one, change what waits for a beginning
BEGINS, ENDS, TURNS = 1, 2, 4


@compiled
def keep_near(clock, now, roles, amount, begun, begin, ends, out_places, out_classes):
    """Of events in order keeps those between a beginning and an end that are at most `amount` apart, those that turn,
    and the last, so that windows move on: how many, whether any has begun so far, and when the last one did.

    `clock` ascends; whole numbers come as uint64, whose differences do not overflow. `begun` and `begin` are of
    earlier events. Later ones, which may end matches, come at `now` or after it. `ends` is room for as many numbers.
    """
    end = now
    for i in range(len(clock) - 1, -1, -1):
        end = clock[i] if roles[out_classes[i]] & ENDS else end
        ends[i] = end
    count = 0
    for i in range(len(clock)):
        role = roles[out_classes[i]]
        begins = role & BEGINS != 0
        begin = clock[i] if begins else begin
        begun = begun or begins
        out_places[count] = out_places[i]
        out_classes[count] = out_classes[i]
        is_near = begun and ends[i] - begin <= amount
        count += is_near or role & TURNS != 0 or i == len(clock) - 1
    return count, begun, begin


@compiled
def number_events(partitions, ties, positions, last_tie, last_rank, out_position, out_rank):
    """The position of each event in its partition, and its rank among the partition's events of the same time.

    `positions` (events so far), `last_tie` and `last_rank` are per partition and carried from batch to batch.
    """
    for i in range(len(partitions)):
        partition = partitions[i]
        out_position[i] = positions[partition]
        if positions[partition] > 0 and last_tie[partition] == ties[i]:
            last_rank[partition] += 1
        else:
            last_rank[partition] = 0
            last_tie[partition] = ties[i]
        out_rank[i] = last_rank[partition]
        positions[partition] += 1


@compiled
def note_ties(partitions, ties, places, last_tie):
    """Notes per partition the time of its last event; the events at `places` are in these partitions."""
    for i in range(len(partitions)):
        last_tie[partitions[i]] = ties[places[i]]


@compiled
def window_edges(times, rows, begin, amount, out_edge):
    """For each event from `begin` on, the row of the first event that is at most `amount` older.

    Times ascend; whole numbers come as uint64, whose differences do not overflow. Gives the index of that first event
    for the last one.
    """
    low = 0
    for i in range(begin, len(times)):
        while times[i] - times[low] > amount:
            low += 1
        out_edge[i - begin] = rows[low]
    return low


@allocating
def with_ties(ties, rows):
    """These rows (ascending) and all rows of the same time before them, ascending."""
    count, last = 0, -1
    for row in rows:
        begin = row
        while begin > last + 1 and ties[begin - 1] == ties[row]:
            begin -= 1
        count += row + 1 - begin
        last = row
    out = np.empty(count, np.int64)
    at = len(out)
    for k in range(len(rows) - 1, -1, -1):
        row = rows[k]
        before = rows[k - 1] if k > 0 else -1
        while True:
            at -= 1
            out[at] = row
            row -= 1
            if row == before or ties[row] != ties[rows[k]]:
                break
    return out


@allocating
def group_by_partition(partitions, n_partitions):
    """A stable order that brings equal partitions together, in time linear in both numbers."""
    start = np.zeros(n_partitions + 1, np.int64)
    for partition in partitions:
        start[partition + 1] += 1
    for partition in range(n_partitions):
        start[partition + 1] += start[partition]
    order = np.empty(len(partitions), np.int64)
    for i in range(len(partitions)):
        order[start[partitions[i]]] = i
        start[partitions[i]] += 1
    return order


@allocating
def take_lists(order, offsets, rows, labels):
    """Matches in another order: (offsets, rows, labels)."""
    new_offsets = np.empty(len(order) + 1, np.int64)
    new_offsets[0] = 0
    for m in range(len(order)):
        new_offsets[m + 1] = new_offsets[m] + offsets[order[m] + 1] - offsets[order[m]]
    new_rows = np.empty(new_offsets[-1], np.int64)
    new_labels = np.empty(new_offsets[-1], labels.dtype)
    for m in range(len(order)):
        begin, to = offsets[order[m]], new_offsets[m]
        for k in range(new_offsets[m + 1] - to):
            new_rows[to + k] = rows[begin + k]
            new_labels[to + k] = labels[begin + k]
    return new_offsets, new_rows, new_labels
