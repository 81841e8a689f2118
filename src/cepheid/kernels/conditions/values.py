"""Values of conditions inside kernels: a tag and a word. `semantics.values` says what each operation gives.

Whole numbers are 64 bits with a sign; those from 2^63 to 2^64 - 1, which only columns hold, have a tag of their own.
Doubles are carried by their bits, times as whole numbers of the unit that their tag says, texts by their number: text n
is the bytes from ends[n] to ends[n + 1] of `store`, both given by their addresses. Decimals are whole numbers whose tag
has their scale, or texts (`decimals`). NULL is a tag. Operands are of one kind: typing has seen to that. A result
without a word has the tag BEYOND.
"""

from __future__ import annotations

import math

import numpy as np

from cepheid.kernels.compiled import compiled, inlined
from cepheid.kernels.conditions.decimals import (
    BEYOND,
    DECIMAL,
    WIDE,
    arithmetic_of_scaled,
    ceil_scaled,
    floor_scaled,
    has_real,
    nearest_real,
    order_of_scaled,
    order_with_real,
    rounded_scaled,
)
from cepheid.kernels.conditions.rounding import rounded
from cepheid.kernels.memory.bits import (
    as_real,
    as_word,
    byte_from,
    fits,
    wide_add,
    wide_multiply,
    wide_subtract,
    word_from,
)

NULL, WHOLE, BIG, REAL, TEXT, TRUTH, MICROS, NANOS, ANY = range(9)
SECONDS, MILLIS = 10, 11
"""Tags; those of decimals, and BEYOND, are in `decimals`. As the form of a column of words BIG is any number without a
sign, and ANY a tag followed by a value."""

TIMES = {SECONDS: 0, MILLIS: 3, MICROS: 6, NANOS: 9}
"""The tags of times, and the digits after the second that each unit has."""

LESS, EQUAL, GREATER, UNORDERED = 1, 2, 4, 8
"""How two values compare; several together are the outcomes for which a comparison is true."""

# operations of one value, then of two
NOT, IS_TRUE, IS_NULL, ABS, FLOOR, CEIL, ROUND, SQRT, LN, EXP, SIGN, LENGTH = range(2, 14)
ADD, SUBTRACT, MULTIPLY, DIVIDE, REMAINDER, COMPARE, AND, OR = range(20, 28)
POWER, LEAST, GREATEST, COALESCE, NULLIF, STARTS_WITH, ENDS_WITH, CONTAINS = range(28, 36)
FIRST_BINARY = ADD

_TWO_63 = 2.0**63
_TWO_64 = 2.0**64
_SMALLEST = np.iinfo(np.int64).min
_DIGITS = np.array([TIMES.get(tag, -1) for tag in range(DECIMAL)])


@inlined
def order_of(one, other):
    """How two numbers of one type compare."""
    less, equal, greater = np.int64(one < other), np.int64(one == other), np.int64(one > other)
    return less | equal << 1 | greater << 2


@inlined
def _place(ends, text):
    """Where a text begins, and its length."""
    begin = word_from(ends, text)
    return begin, word_from(ends, text + 1) - begin


@compiled
def order_of_texts(ends, store, one, other):
    """By bytes of UTF-8, which is by characters."""
    if one == other:
        return EQUAL
    begin, length = _place(ends, one)
    other_begin, other_length = _place(ends, other)
    for i in range(min(length, other_length)):
        byte, other_byte = byte_from(store, begin + i), byte_from(store, other_begin + i)
        if byte != other_byte:
            return LESS if byte < other_byte else GREATER
    return LESS if length < other_length else GREATER


@inlined
def _whole_with_real(tag, word, real):
    """Exactly, though a double cannot hold every whole number."""
    if real != real:
        return UNORDERED
    if tag == BIG:
        if real >= _TWO_64:
            return LESS
        return GREATER if real < _TWO_63 else order_of(np.uint64(word), np.uint64(real))
    if real >= _TWO_63:
        return LESS
    if real < -_TWO_63:
        return GREATER
    below = np.floor(real)
    order = order_of(word, np.int64(below))
    return LESS if order == EQUAL and real > below else order


@inlined
def _mirrored(order):
    return (order & (EQUAL | UNORDERED)) | (order & LESS) << 2 | (order & GREATER) >> 2


@inlined
def _order_of_times(tag, word, other_tag, other):
    return order_of_scaled(word, False, _DIGITS[tag], other, False, _DIGITS[other_tag])


@compiled
def _order_of_wide(ends, store, one, other):
    """Of texts of 32 bytes: their first bytes are mostly the same, so that words are skipped before bytes."""
    if one == other:
        return EQUAL
    begin, other_begin = word_from(ends, one), word_from(ends, other)
    first = 0
    while first < 24 and word_from(store + begin + first, 0) == word_from(store + other_begin + first, 0):
        first += 8
    for i in range(first, 32):
        byte, other_byte = byte_from(store, begin + i), byte_from(store, other_begin + i)
        if byte != other_byte:
            return LESS if byte < other_byte else GREATER
    return EQUAL


@compiled
def _order_of_decimals(ends, store, tag, word, other_tag, other):
    """How two numbers compare of which one is a decimal; 0 where words do not say."""
    if tag >= WIDE or other_tag >= WIDE:
        return _order_of_wide(ends, store, word, other) if tag == other_tag else 0
    if tag == REAL:
        return _mirrored(order_with_real(other, other_tag - DECIMAL, as_real(word)))
    if other_tag == REAL:
        return order_with_real(word, tag - DECIMAL, as_real(other))
    scale, other_scale = max(tag - DECIMAL, 0), max(other_tag - DECIMAL, 0)
    return order_of_scaled(word, tag == BIG, scale, other, other_tag == BIG, other_scale)


@inlined
def order_of_values(ends, store, tag, word, other_tag, other):
    """How two values compare, neither of them NULL; 0 where words do not say."""
    if tag >= DECIMAL or other_tag >= DECIMAL:
        return _order_of_decimals(ends, store, tag, word, other_tag, other)
    if tag == other_tag:
        if tag == REAL:
            order = order_of(as_real(word), as_real(other))
            return order if order != 0 else UNORDERED
        if tag == TEXT:
            return order_of_texts(ends, store, word, other)
        return order_of(np.uint64(word), np.uint64(other)) if tag == BIG else order_of(word, other)
    if tag == REAL:
        return _mirrored(_whole_with_real(other_tag, other, as_real(word)))
    if other_tag == REAL:
        return _whole_with_real(tag, word, as_real(other))
    if _DIGITS[tag] >= 0:
        return _order_of_times(tag, word, other_tag, other)
    return GREATER if tag == BIG else LESS


@inlined
def real_of(tag, word):
    """A number as the nearest double, of which there is one (`_is_real`)."""
    if tag == REAL:
        return as_real(word)
    if tag >= DECIMAL:
        return nearest_real(word, tag - DECIMAL)
    return np.float64(np.uint64(word)) if tag == BIG else np.float64(word)


@inlined
def _is_real(tag, word):
    """Whether words give the nearest double."""
    return tag < DECIMAL or (tag < WIDE and has_real(word, tag - DECIMAL))


@inlined
def _size(tag, word):
    """A whole number without its sign."""
    return np.uint64(0) - np.uint64(word) if tag == WHOLE and word < 0 else np.uint64(word)


@inlined
def _remainder_of_whole(tag, word, other_tag, other):
    if other == 0:
        return NULL, 0
    left = np.int64(_size(tag, word) % _size(other_tag, other))
    if tag == WHOLE and word < 0:
        return WHOLE, -left
    return (BIG if left < 0 else WHOLE), left


@inlined
def _of_reals(op, one, other):
    if op == ADD:
        return REAL, as_word(one + other)
    if op == SUBTRACT:
        return REAL, as_word(one - other)
    if op == MULTIPLY:
        return REAL, as_word(one * other)
    if other == 0.0:
        return NULL, 0
    if op == DIVIDE:
        return REAL, as_word(one / other)
    return REAL, as_word(math.nan if math.isinf(one) else np.fmod(one, other))


@inlined
def _of_real(op, real):
    if op == SQRT:
        return (NULL, 0) if real < 0.0 else (REAL, as_word(math.sqrt(real)))
    if op == LN:
        return (NULL, 0) if real <= 0.0 else (REAL, as_word(math.log(real)))
    if op == EXP:
        return REAL, as_word(math.exp(real))
    sign = real if real != real else np.float64(np.int64(real > 0.0) - np.int64(real < 0.0))
    return REAL, as_word(sign)


@compiled
def _with_decimals(op, tag, word, other_tag, other):
    """Arithmetic of which one side is a decimal: in doubles where the other is one, else exact."""
    if tag == REAL or other_tag == REAL:
        if not _is_real(tag, word) or not _is_real(other_tag, other):
            return BEYOND, 0
        return _of_reals(op, real_of(tag, word), real_of(other_tag, other))
    if tag >= WIDE or other_tag >= WIDE or tag == BIG or other_tag == BIG:
        return BEYOND, 0
    return arithmetic_of_scaled(op, word, max(tag - DECIMAL, 0), other, max(other_tag - DECIMAL, 0))


@compiled
def _of_decimal(op, digits, tag, word):
    """An operation of one decimal."""
    if tag >= WIDE:
        return BEYOND, 0
    scale = tag - DECIMAL
    if op == FLOOR:
        return DECIMAL, floor_scaled(word, scale)
    if op == CEIL:
        return DECIMAL, ceil_scaled(word, scale)
    if op == ROUND:
        return (tag, word) if digits >= scale else (DECIMAL + digits, rounded_scaled(word, scale, digits))
    if op == ABS:
        return (BEYOND, 0) if word == _SMALLEST else (tag, abs(word))
    if op == SIGN:
        return _of_real(op, np.float64(word))
    return _of_real(op, nearest_real(word, scale)) if has_real(word, scale) else (BEYOND, 0)


@inlined
def arithmetic(op, tag, word, other_tag, other):
    """+ - * / % of two numbers, neither of them NULL."""
    if tag >= DECIMAL or other_tag >= DECIMAL:
        return _with_decimals(op, tag, word, other_tag, other)
    if op == DIVIDE or tag == REAL or other_tag == REAL:
        return _of_reals(op, real_of(tag, word), real_of(other_tag, other))
    if op == REMAINDER:
        return _remainder_of_whole(tag, word, other_tag, other)
    big, other_big = tag == BIG, other_tag == BIG
    if op == ADD:
        high, low = wide_add(word, big, other, other_big)
    elif op == SUBTRACT:
        high, low = wide_subtract(word, big, other, other_big)
    elif big and other_big:
        return NULL, 0  # the product may need more than 128 bits
    else:
        high, low = wide_multiply(word, big, other, other_big)
    return (WHOLE, low) if fits(high, low) else (NULL, 0)


@compiled
def power(base, exponent):
    """NULL where there is no real, and at a pole."""
    if base < 0.0 and math.isfinite(base) and math.isfinite(exponent) and exponent != np.floor(exponent):
        return NULL, 0
    if base == 0.0 and exponent < 0.0 and math.isfinite(exponent):
        return NULL, 0
    return REAL, as_word(math.pow(base, exponent))


@inlined
def _made_whole(op, tag, word):
    if tag != REAL:
        return (WHOLE, word) if tag == WHOLE else (NULL, 0)
    whole = np.floor(as_real(word)) if op == FLOOR else np.ceil(as_real(word))
    return (WHOLE, np.int64(whole)) if -_TWO_63 <= whole < _TWO_63 else (NULL, 0)


@inlined
def _absolute(tag, word):
    if tag == REAL:
        return REAL, as_word(abs(as_real(word)))
    return (WHOLE, abs(word)) if tag == WHOLE and word != _SMALLEST else (NULL, 0)


@compiled
def _length(ends, store, text):
    """Characters: bytes that do not continue one."""
    begin, length = _place(ends, text)
    characters = 0
    for i in range(begin, begin + length):
        if byte_from(store, i) & 0xC0 != 0x80:
            characters += 1
    return characters


@inlined
def apply_to_one(ends, store, op, digits, tag, word):
    """An operation of one value; `digits` are those to round to."""
    if op == IS_NULL:
        return TRUTH, np.int64(tag == NULL)
    if op == IS_TRUE:
        return TRUTH, np.int64(tag == TRUTH and word == 1)
    if tag == NULL:
        return NULL, 0
    if op == NOT:
        return TRUTH, 1 - word
    if tag >= DECIMAL:
        return _of_decimal(op, digits, tag, word)
    if op == ABS:
        return _absolute(tag, word)
    if op == FLOOR or op == CEIL:
        return _made_whole(op, tag, word)
    if op == ROUND:
        return (REAL, as_word(rounded(as_real(word), digits))) if tag == REAL else (tag, word)
    if op == LENGTH:
        return WHOLE, _length(ends, store, word)
    return _of_real(op, real_of(tag, word))


@compiled
def _found(ends, store, op, text, part):
    """STARTS_WITH, ENDS_WITH, CONTAINS."""
    begin, length = _place(ends, text)
    part_begin, part_length = _place(ends, part)
    first, last = 0, length - part_length
    if op == STARTS_WITH:
        last = min(last, 0)
    elif op == ENDS_WITH:
        first = max(last, 0)
    for i in range(first, last + 1):
        same = 0
        while same < part_length and byte_from(store, begin + i + same) == byte_from(
            store, part_begin + same
        ):
            same += 1
        if same == part_length:
            return True
    return False


@inlined
def _is_nan(tag, word):
    return tag == REAL and as_real(word) != as_real(word)


@inlined
def _chosen(ends, store, op, tag, word, other_tag, other):
    """LEAST, GREATEST, COALESCE, NULLIF: one of the two, or NULL."""
    if tag == NULL:
        return (NULL, 0) if op == NULLIF else (other_tag, other)
    if other_tag == NULL or op == COALESCE:
        return tag, word
    if op != NULLIF and (_is_nan(tag, word) or _is_nan(other_tag, other)):
        return REAL, as_word(math.nan)
    order = order_of_values(ends, store, tag, word, other_tag, other)
    if order == 0:
        return BEYOND, 0
    if op == NULLIF:
        return (NULL, 0) if order == EQUAL else (tag, word)
    takes_other = GREATER if op == LEAST else LESS
    return (other_tag, other) if order == takes_other else (tag, word)


@inlined
def _both(op, tag, word, other_tag, other):
    """AND, OR: decided by one of the two, else NULL if one is."""
    decides = np.int64(op == OR)
    if (tag == TRUTH and word == decides) or (other_tag == TRUTH and other == decides):
        return TRUTH, decides
    return (NULL, 0) if tag == NULL or other_tag == NULL else (TRUTH, 1 - decides)


@inlined
def apply_to_two(ends, store, op, outcomes, tag, word, other_tag, other):
    """An operation of two values; `outcomes` are those for which a comparison is true."""
    if op == AND or op == OR:
        return _both(op, tag, word, other_tag, other)
    if LEAST <= op <= NULLIF:
        return _chosen(ends, store, op, tag, word, other_tag, other)
    if tag == NULL or other_tag == NULL:
        return NULL, 0
    if op == COMPARE:
        order = order_of_values(ends, store, tag, word, other_tag, other)
        return (TRUTH, np.int64(order & outcomes != 0)) if order != 0 else (BEYOND, 0)
    if op == POWER:
        if not _is_real(tag, word) or not _is_real(other_tag, other):
            return BEYOND, 0
        return power(real_of(tag, word), real_of(other_tag, other))
    if op >= STARTS_WITH:
        return TRUTH, np.int64(_found(ends, store, op, word, other))
    return arithmetic(op, tag, word, other_tag, other)
