"""Whether a condition of the event at hand and of stored ones holds: `semantics.values.holds` on words.

In: a program, which `evaluators.configurations.tests` makes, the words of events at hand, and records of stored ones.
A condition that compares two words of one form, as nearly all do, is decided at once; any other runs a program on a
stack of tagged values. Programs are data, so that nothing is compiled for a query.

NULL in a column of words is a word of its own for each form. A whole number may be that very word: then, if the
column has a bit in a *mask* word, the bit says whether it is NULL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepheid.kernels.bits import as_real
from cepheid.kernels.compiled import compiled, inlined
from cepheid.kernels.tagged import (
    ANY,
    BIG,
    FIRST_BINARY,
    NULL,
    REAL,
    TEXT,
    TRUTH,
    UNORDERED,
    WHOLE,
    apply_to_one,
    apply_to_two,
    order_of,
    order_of_texts,
    order_of_values,
)

NULL_WORD = -0x4E554C4C4B455921  # of whole numbers, times and truths
NULL_REAL = 0x7FF8000000000ABC  # of doubles: a NaN that no value has
NULL_TEXT = -1
ABSENT = -1  # what equals no word of a record is, in a column made to be looked up, the word of NULL and this

AT_HAND = -1  # the side of the event at hand; others are numbers of registers
NO_MASK = -1
MASK_BITS = 6  # a mask is the number of its word, then so many bits for the number of its bit

# how a condition is decided: two words are the same, two words of one form, of two forms, one word is true, a program
SAME_WORDS, REALS, WHOLES, UNSIGNED, TEXTS, FORMS, TRUE_WORD, PROGRAM = range(8)

# columns of `Program.plain`: how, then of the left word, which is a register's, and of the right one
P_HOW, P_OUTCOMES, P_LEFT, P_LEFT_WORD, P_RIGHT, P_RIGHT_WORD = range(6)
P_LEFT_FORM, P_LEFT_MASK, P_RIGHT_FORM, P_RIGHT_MASK, P_FIELDS = range(6, 11)

# instructions: a column of words (side, word, form, mask) or a constant (tag, word), or an operation of `tagged`
LEAF, CONSTANT = range(2)


class Program(NamedTuple):
    """The conditions of a query; `tags` and `words` are the stack, `ends` and `store` the texts."""

    plain: np.ndarray  # [condition, P_…]
    begin: np.ndarray  # [condition]: its first instruction
    code: np.ndarray  # [instruction, operation and operands]
    tags: np.ndarray
    words: np.ndarray
    ends: np.ndarray
    store: np.ndarray


@inlined
def word_of(events, row, stored, at, stride, side, word):
    if side < 0:
        return events[row, word]
    return stored[at[side] + word * stride]


@inlined
def is_null(events, row, stored, at, stride, side, mask, value):
    """Whether a whole number, time or truth is NULL."""
    if value != NULL_WORD:
        return False
    if mask < 0:
        return True
    bits = word_of(events, row, stored, at, stride, side, mask >> MASK_BITS)
    return bits >> (mask & ((1 << MASK_BITS) - 1)) & 1 != 0


@compiled
def load(events, row, stored, at, stride, side, word, form, mask):
    """A word as a value: its tag and what goes with it."""
    value = word_of(events, row, stored, at, stride, side, word)
    if form == ANY:
        return value, word_of(events, row, stored, at, stride, side, word + 1)
    if form == REAL:
        return (NULL, 0) if value == NULL_REAL else (REAL, value)
    if form == TEXT:
        return (NULL, 0) if value < 0 else (TEXT, value)
    if is_null(events, row, stored, at, stride, side, mask, value):
        return NULL, 0
    if form == BIG and value >= 0:
        return WHOLE, value
    return form, value


@compiled
def _run(program, condition, events, row, stored, at, stride):
    """The program of a condition: whether it leaves TRUE."""
    code, tags, words = program.code, program.tags, program.words
    ends, store = program.ends, program.store
    top = -1
    for k in range(program.begin[condition], program.begin[condition + 1]):
        op = code[k, 0]
        if op == LEAF:
            top += 1
            tags[top], words[top] = load(
                events, row, stored, at, stride, code[k, 1], code[k, 2], code[k, 3], code[k, 4]
            )
        elif op == CONSTANT:
            top += 1
            tags[top], words[top] = code[k, 1], code[k, 2]
        elif op < FIRST_BINARY:
            tags[top], words[top] = apply_to_one(ends, store, op, tags[top], words[top])
        else:
            top -= 1
            tags[top], words[top] = apply_to_two(
                ends, store, op, code[k, 1], tags[top], words[top], tags[top + 1], words[top + 1]
            )
    return tags[0] == TRUTH and words[0] == 1


@compiled
def _of_two_forms(program, condition, events, row, stored, at, stride):
    plain = program.plain[condition]
    tag, word = load(
        events,
        row,
        stored,
        at,
        stride,
        plain[P_LEFT],
        plain[P_LEFT_WORD],
        plain[P_LEFT_FORM],
        plain[P_LEFT_MASK],
    )
    other_tag, other = load(
        events,
        row,
        stored,
        at,
        stride,
        plain[P_RIGHT],
        plain[P_RIGHT_WORD],
        plain[P_RIGHT_FORM],
        plain[P_RIGHT_MASK],
    )
    if tag == NULL or other_tag == NULL:
        return False
    order = order_of_values(program.ends, program.store, tag, word, other_tag, other)
    return order & plain[P_OUTCOMES] != 0


@compiled
def _of_texts(program, condition, text, other):
    if text < 0 or other < 0:
        return False
    return (
        order_of_texts(program.ends, program.store, text, other) & program.plain[condition, P_OUTCOMES] != 0
    )


@inlined
def _of_reals(outcomes, word, other):
    order = order_of(as_real(word), as_real(other))
    if order != 0:
        return order & outcomes != 0
    return outcomes & UNORDERED != 0 and word != NULL_REAL and other != NULL_REAL


@inlined
def holds(program, condition, events, row, stored, at, stride):
    """Whether a condition holds of `events[row]` and of the records of its registers.

    Word w of the record in its register number r is `stored[at[r] + w * stride]`.
    """
    plain = program.plain
    how = plain[condition, P_HOW]
    if how == PROGRAM:
        return _run(program, condition, events, row, stored, at, stride)
    word = stored[at[plain[condition, P_LEFT]] + plain[condition, P_LEFT_WORD] * stride]
    side = plain[condition, P_RIGHT]
    other = word_of(events, row, stored, at, stride, side, plain[condition, P_RIGHT_WORD])
    outcomes = plain[condition, P_OUTCOMES]
    if how == REALS:
        return _of_reals(outcomes, word, other)
    if how == SAME_WORDS:
        return word == other
    if how == WHOLES or how == UNSIGNED:
        if word == NULL_WORD or other == NULL_WORD:
            if is_null(
                events, row, stored, at, stride, plain[condition, P_LEFT], plain[condition, P_LEFT_MASK], word
            ) or is_null(events, row, stored, at, stride, side, plain[condition, P_RIGHT_MASK], other):
                return False
        if how == UNSIGNED:
            return order_of(np.uint64(word), np.uint64(other)) & outcomes != 0
        return order_of(word, other) & outcomes != 0
    if how == TRUE_WORD:
        return word == 1
    if how == TEXTS:
        return _of_texts(program, condition, word, other)
    return _of_two_forms(program, condition, events, row, stored, at, stride)
