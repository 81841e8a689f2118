"""Numbers of many words are Python's integers."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cepheid.kernels import dense
from cepheid.kernels.numbers import BITS, MASK, SAFE, add, add_product, from_int, is_zero, to_int, widen

WIDTHS = st.integers(1, 6)


def words_of(value: int, width: int) -> np.ndarray:
    """A number as a lane holds it: 32 bits to a word but for the top one, which takes the rest."""
    low = [value >> BITS * i & MASK for i in range(width - 1)]
    return np.array([*low, value >> BITS * (width - 1)], np.int64)


def value_of(words: np.ndarray) -> int:
    return sum(int(word) << BITS * i for i, word in enumerate(words))


def numbers(width: int) -> st.SearchStrategy[int]:
    """Below the bound that a number keeps between two events; all ones and their neighbours among them."""
    most = (SAFE << BITS * (width - 1)) - 1
    edges = [value for bits in range(0, 46 + BITS * width, 16) for value in ((1 << bits) - 1, 1 << bits)]
    known = st.sampled_from([value for value in edges if value <= most])
    return known | st.integers(0, most) | st.integers(most // 2, most)


@settings(max_examples=400)
@given(st.data(), WIDTHS, st.integers(0, 3), st.integers(0, 3))
def test_a_sum_is_exact_and_says_when_it_grows_large(
    data: st.DataObject, width: int, at: int, start: int
) -> None:
    one, two = data.draw(numbers(width)), data.draw(numbers(width))
    target = np.concatenate([np.full(at, 7), words_of(one, width), [7]])
    source = np.concatenate([np.full(start, 9), words_of(two, width), [9]])
    large = add(target, at, source, start, width)
    assert value_of(target[at : at + width]) == one + two
    assert large == (one + two >= SAFE << BITS * (width - 1))
    assert all(0 <= word <= MASK for word in target[at : at + width - 1])
    assert (*target[:at], target[-1]) == (7,) * (at + 1)


@settings(max_examples=400)
@given(st.data(), WIDTHS, st.integers(0, 2**300))
def test_a_product_is_added_exactly(data: st.DataObject, width: int, before: int) -> None:
    one, two = data.draw(numbers(width)), data.draw(numbers(width))
    total = from_int(before, 32)
    add_product(total, words_of(one, width), 0, words_of(two, width), 0, width)
    assert to_int(total) == before + one * two


@settings(max_examples=400)
@given(st.data(), WIDTHS, st.integers(1, 4))
def test_a_wider_number_is_the_same_number(data: st.DataObject, width: int, more: int) -> None:
    value = data.draw(numbers(width))
    target = np.full(width + more, -5, np.int64)
    widen(words_of(value, width), 0, width, target, 0, width + more)
    assert value_of(target) == value
    assert all(0 <= word <= MASK for word in target)
    assert is_zero(target, 0, width + more) == (value == 0)


def up_to(bound: int) -> st.SearchStrategy[int]:
    return st.integers(0, bound - 1) | st.integers(bound // 2, bound - 1)


@given(st.integers(0, 2**256 - 1))
def test_words_and_integers_are_told_apart_by_nothing(value: int) -> None:
    assert to_int(from_int(value, 8)) == value


@settings(max_examples=400)
@given(st.lists(st.tuples(up_to(dense.LIMIT), up_to(64 * dense.LIMIT)), max_size=20))
def test_the_total_of_dense_counting_is_exact(factors: list[tuple[int, int]]) -> None:
    """What lies before the pivot is below the limit; after it a step over a gap may have added up a few states'."""
    total = np.zeros(8, np.int64)
    for one, two in factors:
        dense.add_word_product(total, one, two)
    assert total_of(total) == sum(a * b for a, b in factors)


def total_of(digits: np.ndarray) -> int:
    return sum(int(digit) << dense.DIGIT * k for k, digit in enumerate(digits))


@given(st.integers(2, 8), st.data())
def test_products_of_several_words_are_exact(words: int, data: st.DataObject) -> None:
    """Numbers lie with the words of others between theirs; the highest word may be a little longer than the others."""
    numbers = st.integers(0, (1 << dense.BITS * words + 5) - 1)
    total, wanted = np.zeros(8 * words + 32, np.int64), 0
    digits = np.empty(2 * (2 * words + 1), np.int64)
    for one, two, in_front in data.draw(st.lists(st.tuples(numbers, numbers, st.booleans()), max_size=4)):
        heap = np.full(2 * words, -1, np.int64)
        for place, value in ((0, one), (1, two)):
            for k in range(words):
                bits = value >> dense.BITS * k
                heap[2 * k + place] = bits & (dense.LIMIT - 1) if k < words - 1 else bits
        dense.add_product(total, heap, 0, 1, in_front, 2, words, digits)
        wanted += one * (two if in_front else 1)
    assert total_of(total) == wanted
