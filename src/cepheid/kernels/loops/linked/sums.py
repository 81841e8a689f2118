"""Counting without a window: the only state are numbers of partial matches by key.

A count needs no vertices, so a list is one number. The number of partial matches that differ in every link of a set is
found by inclusion and exclusion: for each subset, the number of partial matches that are equal in it, alternately added
and subtracted. So beside each list there is a sum per subset of its links and their values, and an event costs the same
however many partial matches there are.

An *entry* is a key and a number. Keys are (group, partition, how often the partition forgot, values). One
group of each state holds all codes that links read of its partial matches: that of a list which compares them
all (`whole`), or else group -1 - state. From it the sums of links met later are made.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepheid.kernels.compiled import allocating, compiled, inlined
from cepheid.kernels.interrupts import poll, ticks
from cepheid.kernels.loops.linked.index import FACTOR
from cepheid.kernels.loops.linked.layout import I_DIFFER, I_EQUAL, I_STATE, ChainTransitions, Shape
from cepheid.kernels.memory.big_integers import add, add_to, is_zero, widen
from cepheid.kernels.memory.status import DONE, MORE_HEAP, MORE_TRANSITIONS, MORE_WORDS

G_GROUP, G_PARTITION, G_TIMES, G_VALUES = range(4)
_SHIFT, _HIGH = np.uint64(29), np.uint64(24)  # the higher bits of a product depend on all of its factors


class Groups(NamedTuple):
    """The groups of entries."""

    first: np.ndarray  # [index]: the group of its list; those of the parts of its links follow
    is_left: np.ndarray  # [code]: whether links read it of partial matches
    whole: np.ndarray  # [state]: the index whose list compares all of them, or -1


class Entries(NamedTuple):
    keys: np.ndarray  # [entry, word]
    slots: np.ndarray  # a hash table: 1 + the number of an entry, 0 where free
    numbers: np.ndarray  # `words` for each entry
    used: np.ndarray  # one word: how many there are
    words: int


class SumTables(NamedTuple):
    transitions: ChainTransitions
    shape: Shape
    groups: Groups


class SumScratch(NamedTuple):
    """What one event is worked on in: a key, a sum and what is taken from it, the transitions it fires and their
    numbers."""

    key: np.ndarray  # one row
    plus: np.ndarray
    minus: np.ndarray
    transition: np.ndarray
    number: np.ndarray


class SumSpace(NamedTuple):
    """All that the loop keeps its state in."""

    entries: Entries
    times: np.ndarray  # [partition]: how often it forgot
    reached: np.ndarray  # [state]: whether its transitions are known
    total: np.ndarray  # a number: all matches
    scratch: SumScratch


def sum_scratch(transitions: ChainTransitions, key_words: int, words: int) -> SumScratch:
    most = len(transitions.reads) + 1
    plus, minus = np.zeros((2, words), np.int64)
    key = np.zeros((1, key_words), np.int64)
    return SumScratch(key, plus, minus, np.empty(most, np.int64), np.empty(most * words, np.int64))


@inlined
def find_entry(keys, slots, key):
    """The slot of a key: (slot, entry or -1). `key` is one row."""
    mask = np.uint64(len(slots) - 1)
    state = np.uint64(0)
    for i in range(key.shape[1]):
        state = (state ^ (state >> _SHIFT) ^ np.uint64(key[0, i])) * FACTOR
    slot = (state >> _HIGH) & mask
    while True:
        entry = slots[slot] - 1
        if entry < 0:
            return slot, entry
        same = True
        for i in range(key.shape[1]):
            same = same and keys[entry, i] == key[0, i]
        if same:
            return slot, entry
        slot = (slot + np.uint64(1)) & mask


@inlined
def add_entry(entries, key, source, start):
    """Adds a number to the entry of a key: whether it has become large."""
    keys, slots, numbers, words = entries.keys, entries.slots, entries.numbers, entries.words
    slot, entry = find_entry(keys, slots, key)
    if entry < 0:
        entry = entries.used[0]
        entries.used[0] = entry + 1
        slots[slot] = entry + 1
        for i in range(key.shape[1]):
            keys[entry, i] = key[0, i]
        for i in range(words):
            numbers[entry * words + i] = 0
    return add(numbers, entry * words, source, start, words)


@inlined
def write_key(shape, groups, index, part, equal, differ, codes, i, key):
    """The key of a list, and of those in it that are equal in `part` of its links, for the codes of event i. Partition
    and times are there."""
    key[0, G_GROUP] = groups.first[index] + part
    key[0, G_VALUES:] = 0
    at = G_VALUES
    for k in range(shape.indices[index, I_EQUAL]):
        key[0, at] = codes[i, equal[index, k]]
        at += 1
    for k in range(shape.indices[index, I_DIFFER]):
        if part >> k & 1:
            key[0, at + k] = codes[i, differ[index, k]]


@inlined
def add_to_sums(shape, groups, state, codes, i, entries, key, source, start):
    """Adds a number of partial matches to all sums of a state: whether one has become large. `key` has partition and
    times."""
    large = False
    if groups.whole[state] < 0:
        key[0, G_GROUP] = -1 - state
        key[0, G_VALUES:] = 0
        for k in range(shape.codes):
            key[0, G_VALUES + k] = codes[i, k] if groups.is_left[k] else 0
        large = add_entry(entries, key, source, start)
    for n in range(shape.n_indices[state]):
        index = shape.of_state[state, n]
        for part in range(1 << shape.indices[index, I_DIFFER]):
            write_key(shape, groups, index, part, shape.equal_left, shape.differ_left, codes, i, key)
            large |= add_entry(entries, key, source, start)
    return large


@inlined
def count_partial_matches(shape, groups, index, mask, codes, i, entries, scratch):
    """The number of partial matches in a list that differ in `mask`, written to `scratch.plus`. `scratch.key` has
    partition and times."""
    numbers, words = entries.numbers, entries.words
    key, plus, minus = scratch.key, scratch.plus, scratch.minus
    plus[:] = 0
    minus[:] = 0
    part = mask
    while True:
        write_key(shape, groups, index, part, shape.equal_right, shape.differ_right, codes, i, key)
        _, entry = find_entry(entries.keys, entries.slots, key)
        if entry >= 0:
            odd = 0
            for k in range(shape.indices[index, I_DIFFER]):
                odd ^= part >> k & 1
            if odd:
                add(minus, 0, numbers, entry * words, words)
            else:
                add(plus, 0, numbers, entry * words, words)
        if part == 0:
            break
        part = (part - 1) & mask
    if mask != 0:
        for k in range(words):
            minus[k] = -minus[k]
        add(plus, 0, minus, 0, words)


@compiled
def chain_sums(tables, batch, begin, options, space):
    """Takes the events from `begin` on: a status and the event it stopped before."""
    transitions, shape, groups = tables
    entries, scratch, words = space.entries, space.scratch, space.entries.words
    most = 1
    for state in range(len(shape.n_indices)):
        sums = 1
        for n in range(shape.n_indices[state]):
            sums += 1 << shape.indices[shape.of_state[state, n], I_DIFFER]
        most = max(most, sums)
    seen = ticks()
    for i in range(begin, len(batch.partition)):
        seen = poll(seen)
        if seen < 0:
            break
        partition, count = batch.partition[i], transitions.how_many[batch.klass[i]]
        if count == 0:
            continue
        needed = entries.used[0] + count * most
        if needed > len(entries.keys) or 2 * needed > len(entries.slots):
            return MORE_HEAP, i
        scratch.key[0, G_PARTITION] = partition
        scratch.key[0, G_TIMES] = space.times[partition]
        status, fired, matched = fire_counted(tables, batch, i, space)
        if status != DONE:
            return status, i
        if matched and options.report:
            for k in range(fired):
                if transitions.accepts[scratch.transition[k]]:
                    add_to(space.total, scratch.number, k * words, words)
        if matched and options.consume:
            space.times[partition] += 1
            continue
        large = False
        for k in range(fired):
            state = transitions.target[scratch.transition[k]]
            if state >= 0:
                large |= add_to_sums(
                    shape, groups, state, batch.codes, i, entries, scratch.key, scratch.number, k * words
                )
        if large:
            return MORE_WORDS, i + 1
    return DONE, len(batch.partition)


@inlined
def fire_counted(tables, batch, i, space):
    """Notes the transitions that find partial matches, and how many: a status, how many transitions there are, whether
    one of them accepts."""
    transitions, entries, scratch = tables.transitions, space.entries, space.scratch
    words, klass = space.entries.words, batch.klass[i]
    fired, matched = 0, False
    first = transitions.first[klass]
    for transition in range(first, first + transitions.how_many[klass]):
        index = transitions.reads[transition]
        if index < 0:
            scratch.plus[:] = 0
            scratch.plus[0] = 1
        else:
            mask = transitions.mask[transition]
            count_partial_matches(tables.shape, tables.groups, index, mask, batch.codes, i, entries, scratch)
            if is_zero(scratch.plus, 0, words):
                continue
        target = transitions.target[transition]
        if target >= 0 and space.reached[target] == 0:
            return MORE_TRANSITIONS, fired, matched
        scratch.transition[fired] = transition
        for k in range(words):
            scratch.number[fired * words + k] = scratch.plus[k]
        fired += 1
        matched |= transitions.accepts[transition] != 0
    return DONE, fired, matched


@allocating
def rebuild_sums(entries, times, partitions, old_shape, old_indices, shape, groups, out_entries):
    """The same partial matches in sums of another shape or with longer numbers.

    `old_indices` are the indices of the groups that held all codes, -1 for other groups. `partitions` are the
    partitions' new numbers; of what a partition forgot nothing is kept.
    """
    keys, numbers, words, out_words = entries.keys, entries.numbers, entries.words, out_entries.words
    key = np.zeros((1, out_entries.keys.shape[1]), np.int64)
    number = np.zeros(out_words, np.int64)
    codes = np.zeros((1, shape.codes + 1), np.int64)
    for entry in range(entries.used[0]):
        partition = keys[entry, G_PARTITION]
        if partitions[partition] < 0 or keys[entry, G_TIMES] != times[partition]:
            continue
        state = -1 - keys[entry, G_GROUP]
        if state >= 0:
            for k in range(shape.codes):
                codes[0, k] = keys[entry, G_VALUES + k]
        else:
            index = old_indices[keys[entry, G_GROUP]]
            if index < 0:
                continue
            state = old_shape.indices[index, I_STATE]
            n_equal = old_shape.indices[index, I_EQUAL]
            for k in range(n_equal):
                codes[0, old_shape.equal_left[index, k]] = keys[entry, G_VALUES + k]
            for k in range(old_shape.indices[index, I_DIFFER]):
                codes[0, old_shape.differ_left[index, k]] = keys[entry, G_VALUES + n_equal + k]
        widen(numbers, entry * words, words, number, 0, out_words)
        key[0, G_PARTITION] = partitions[partition]
        key[0, G_TIMES] = times[partition]
        add_to_sums(shape, groups, state, codes, 0, out_entries, key, number, 0)
