"""Whether a condition of the event at hand and of stored ones holds: `semantics.values.holds` on words.

In: a program, which `evaluators.configurations.tests` makes, the words of events at hand, and records of stored ones.
A condition that compares two words of one form, as nearly all do, is decided at once; any other runs instructions on
a stack of tagged values. Programs are data, so that nothing is compiled for a query.

NULL in a column of words is a word of its own for each form. A whole number may be that very word: then, if the
column has a bit in a *mask* word, the bit says whether it is NULL.

Where instructions come to a value that has no word, as decimals of many digits, the condition is asked of Python as a
whole: by the instructions that follow its own.
"""

from __future__ import annotations

from cepheid.kernels.compiled import compiled, inlined
from cepheid.kernels.conditions.decimals import BEYOND, WIDE
from cepheid.kernels.conditions.python_fallback import answer
from cepheid.kernels.conditions.values import (
    ANY,
    BIG,
    EQUAL,
    FIRST_BINARY,
    LESS,
    NULL,
    REAL,
    TEXT,
    TRUTH,
    UNORDERED,
    WHOLE,
    apply_to_one,
    apply_to_two,
    order_of,
    order_of_values,
)
from cepheid.kernels.interrupts import poll
from cepheid.kernels.memory.bits import as_real, put_word, stay_apart, word_from

NULL_WORD = -0x4E554C4C4B455921  # of whole numbers, times and truths
NULL_REAL = 0x7FF8000000000ABC  # of doubles: a NaN that no value has
NULL_TEXT = -1
ABSENT = -1  # what equals no word of a record is, in a column made to be looked up, the word of NULL and this

AT_HAND = -1  # the side of the event at hand; others are numbers of registers
NO_MASK = -1
MASK_BITS = 6  # a mask is the number of its word, then so many bits for the number of its bit

# how a condition is decided: two doubles, two whole numbers, whether two words are one, whether two texts are; two
# words of any forms; whether one word is true; by instructions
REALS, WHOLES, SAME_WORDS, SAME_TEXTS, WORDS, TRUE_WORD, INSTRUCTIONS = range(7)

# columns of a program, which has a row per condition: how; of the left word, which is a register's, and of the right
# one; the instructions, from where to where, and where those end that follow for what has no words; the addresses of
# all instructions, of room for a stack, of the texts; the tick that was seen last
P_HOW, P_OUTCOMES, P_LEFT, P_LEFT_WORD, P_RIGHT, P_RIGHT_WORD, P_LEFT_MASK, P_RIGHT_MASK = range(8)
P_LEFT_FORM, P_RIGHT_FORM, P_BEGIN, P_END, P_CODE, P_STACK, P_ENDS, P_STORE, P_LAST = range(8, 17)
P_SEEN, P_FIELDS = range(17, 19)

# instructions: a column of words (side, word, form, mask) or a constant (tag, word), a question (how many values it is
# about, its control), or an operation of `tagged`
LEAF, CONSTANT = range(2)
ASK = 14
C_FIELDS = 5


@inlined
def _word(event, stored, at, stride, side, word):
    if side < 0:
        return word_from(event, word)
    return word_from(stored, word_from(at, side) + word * stride)


@inlined
def _load(event, stored, at, stride, side, word, form, mask):
    """A word as a value: its tag and what goes with it."""
    value = _word(event, stored, at, stride, side, word)
    if form == REAL:
        return (NULL, 0) if value == NULL_REAL else (REAL, value)
    if form == ANY:
        return value, _word(event, stored, at, stride, side, word + 1)
    if form == TEXT:
        return (NULL, 0) if value < 0 else (TEXT, value)
    if form >= WIDE:
        return (NULL, 0) if value < 0 else (form, value)
    if value == NULL_WORD:
        if mask < 0:
            return NULL, 0
        bits = _word(event, stored, at, stride, side, mask >> MASK_BITS)
        if bits >> (mask & ((1 << MASK_BITS) - 1)) & 1:
            return NULL, 0
    return (WHOLE, value) if form == BIG and value >= 0 else (form, value)


@inlined
def _run(row, event, stored, at, stride):
    """The instructions of a condition: whether they leave TRUE."""
    code, stack = word_from(row, P_CODE), word_from(row, P_STACK)
    ends, store = word_from(row, P_ENDS), word_from(row, P_STORE)
    top = -2
    k, end = word_from(row, P_BEGIN), word_from(row, P_END)
    while k < end:
        at_code = k * C_FIELDS
        k += 1
        op, first = word_from(code, at_code), word_from(code, at_code + 1)
        if op == LEAF:
            top += 2
            word, form, mask = (
                word_from(code, at_code + 2),
                word_from(code, at_code + 3),
                word_from(code, at_code + 4),
            )
            tag, value = _load(event, stored, at, stride, first, word, form, mask)
        elif op == CONSTANT:
            top += 2
            tag, value = first, word_from(code, at_code + 2)
        elif op == ASK:
            top -= 2 * (first - 1)
            tag, value = answer(word_from(code, at_code + 2), stack, top)
            ends, store = word_from(row, P_ENDS), word_from(row, P_STORE)  # an answer may be a new text
        elif op < FIRST_BINARY:
            tag, value = apply_to_one(
                ends, store, op, first, word_from(stack, top), word_from(stack, top + 1)
            )
        else:
            top -= 2
            tag, value = apply_to_two(
                ends,
                store,
                op,
                first,
                word_from(stack, top),
                word_from(stack, top + 1),
                word_from(stack, top + 2),
                word_from(stack, top + 3),
            )
        put_word(stack, top, tag)
        put_word(stack, top + 1, value)
        if tag == BEYOND:
            k, end, top = word_from(row, P_END), word_from(row, P_LAST), -2
    return word_from(stack, 0) == TRUTH and word_from(stack, 1) == 1


@inlined
def _compare(row, event, stored, at, stride):
    """Two words of any forms."""
    side, word = word_from(row, P_LEFT), word_from(row, P_LEFT_WORD)
    form, mask = word_from(row, P_LEFT_FORM), word_from(row, P_LEFT_MASK)
    tag, value = _load(event, stored, at, stride, side, word, form, mask)
    side, word = word_from(row, P_RIGHT), word_from(row, P_RIGHT_WORD)
    form, mask = word_from(row, P_RIGHT_FORM), word_from(row, P_RIGHT_MASK)
    other_tag, other = _load(event, stored, at, stride, side, word, form, mask)
    if tag == NULL or other_tag == NULL:
        return False
    ends, store = word_from(row, P_ENDS), word_from(row, P_STORE)
    order = order_of_values(ends, store, tag, value, other_tag, other)
    return order & word_from(row, P_OUTCOMES) != 0


@compiled
def _decide(row, event, stored, at, stride):
    """What is not decided at once. All but the stride are addresses. With long texts one event takes long, so
    that it may be interrupted; nothing holds then."""
    stay_apart()
    seen = poll(word_from(row, P_SEEN))
    put_word(row, P_SEEN, seen)
    if seen < 0:
        return False
    if word_from(row, P_HOW) == INSTRUCTIONS:
        return _run(row, event, stored, at, stride)
    return _compare(row, event, stored, at, stride)


@inlined
def holds(program, condition, events, row, stored, at, stride):
    """Whether a condition holds of `events[row]` and of the records of its registers.

    Word w of the record in its register number r is `stored[at[r] + w * stride]`. All arrays are contiguous.
    """
    how = program[condition, P_HOW]
    outcomes = program[condition, P_OUTCOMES]
    if how <= SAME_TEXTS:
        word = stored[at[program[condition, P_LEFT]] + program[condition, P_LEFT_WORD] * stride]
        side, place = program[condition, P_RIGHT], program[condition, P_RIGHT_WORD]
        other = events[row, place] if side < 0 else stored[at[side] + place * stride]
        if how == REALS:
            order = order_of(as_real(word), as_real(other))
            if order != 0:
                return order & outcomes != 0
            return outcomes & UNORDERED != 0 and word != NULL_REAL and other != NULL_REAL
        if how == SAME_WORDS:
            return word == other
        if how == SAME_TEXTS:
            return word >= 0 and other >= 0 and (EQUAL if word == other else LESS) & outcomes != 0
        if word != NULL_WORD and other != NULL_WORD:
            return order_of(word, other) & outcomes != 0
    elif how == TRUE_WORD:
        return stored[at[program[condition, P_LEFT]] + program[condition, P_LEFT_WORD] * stride] == 1
    return _decide(
        program.ctypes.data + 8 * condition * P_FIELDS,
        events.ctypes.data + 8 * row * events.shape[1],
        stored.ctypes.data,
        at.ctypes.data,
        stride,
    )
