"""Numbers of many words are Python's integers."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cepheid.kernels.memory import carry_save
from cepheid.kernels.memory.big_integers import (
    BITS,
    MASK,
    SAFE,
    add,
    add_product,
    from_int,
    is_zero,
    to_int,
    widen,
)

WIDTHS = st.integers(1, 6)


def words_of(value: int, width: int) -> np.ndarray:
    """A number as a partition holds it: 32 bits to a word but for the top one, which takes the rest."""
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


@given(st.integers(0, 2**256 - 1))
def test_words_and_integers_are_told_apart_by_nothing(value: int) -> None:
    assert to_int(from_int(value, 8)) == value


def total_of(words: np.ndarray) -> int:
    return sum(int(word) << carry_save.BITS * k for k, word in enumerate(words))


def loose_words(count: int, bits: int) -> st.SearchStrategy[list[int]]:
    """A number's words, each of up to so many bits; the highest may be 0."""
    word = st.integers(0, (1 << bits) - 1) | st.sampled_from(
        [0, carry_save.LIMIT - 1, carry_save.LIMIT, (1 << bits) - 1]
    )
    return st.lists(word, min_size=count, max_size=count)


SETTLED, MOST = carry_save.BITS + 1, carry_save.BITS + carry_save.SPARE_BITS


@given(st.integers(1, 8), st.data())
def test_products_of_loose_words_are_exact(words: int, data: st.DataObject) -> None:
    """Numbers lie with the words of others between theirs."""
    total, wanted = np.zeros(2 * words + 32, np.int64), 0
    pairs = st.tuples(loose_words(words, SETTLED), loose_words(words, MOST))
    for one, two in data.draw(st.lists(pairs, max_size=4)):
        heap = np.array([one, two]).T.reshape(-1).copy()
        lengths = [carry_save.length_of(heap, place, 2, words) for place in (0, 1)]
        assert lengths == [len(np.trim_zeros(number, "b")) for number in (one, two)]
        if min(lengths) > 0:
            carry_save.add_product(total, heap, 0, lengths[0], 1, lengths[1], 2)
            carry_save.add_number(total, heap, 0, lengths[0], 2)
            wanted += total_of(one) * total_of(two) + total_of(one)
    assert total_of(total) == wanted
    assert all(0 <= word < carry_save.LIMIT for word in total)


@given(st.integers(2, 5), st.integers(1, 3), st.data())
def test_settled_words_are_the_same_numbers(words: int, states: int, data: st.DataObject) -> None:
    numbers = [data.draw(loose_words(words - 1, MOST)) for _ in range(states * states)]
    matrix = np.zeros((states, words, states), np.int64)
    for place, number in enumerate(numbers):
        matrix[place // states, : words - 1, place % states] = number
    tight = matrix[:, : words - 1].copy().reshape(-1)
    flat = matrix.reshape(-1)
    used = carry_save.carry(flat, 0, states, words, words - 1)
    for place, number in enumerate(numbers):
        settled = flat.reshape(states, words, states)[place // states, :, place % states]
        assert total_of(settled) == total_of(np.array(number))
        assert all(0 <= word < 1 << SETTLED for word in settled)
        assert not settled[used:].any()
    longer = any(number[-1] >= carry_save.LIMIT for number in numbers)
    assert used == words - 1 + longer
    assert carry_save.carry(tight, 0, states, words - 1, words - 1) == (-1 if longer else words - 1)
