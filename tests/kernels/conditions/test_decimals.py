"""Decimals as words: as fractions have it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from cepheid.kernels.conditions import decimals as kernel
from cepheid.kernels.conditions.values import EQUAL, GREATER, LESS

WORDS = st.integers(-(2**63), 2**63 - 1)
SCALES = st.integers(0, 76)


def order(one: Fraction, other: Fraction) -> int:
    return LESS if one < other else GREATER if one > other else EQUAL


def near(word: int, scale: int, steps: int) -> float:
    """A double at or next to a decimal."""
    real = float(Fraction(word, 10**scale))
    for _ in range(abs(steps)):
        real = float(np.nextafter(real, np.inf if steps > 0 else -np.inf))
    return real


@given(WORDS, st.integers(0, 22), st.integers(-2, 2))
@example(2**63 - 1, 0, 0)
@example(-(2**63), 0, 1)
@example(2**53 + 1, 0, 0)
def test_a_word_compares_with_the_doubles_next_to_it(word: int, scale: int, steps: int) -> None:
    real = near(word, scale, steps)
    assert kernel.order_with_real(word, scale, real) == order(Fraction(word, 10**scale), Fraction(real))


@given(WORDS, st.integers(0, 22), st.floats(allow_nan=False, allow_infinity=False))
def test_a_word_compares_with_any_double(word: int, scale: int, real: float) -> None:
    assert kernel.order_with_real(word, scale, real) == order(Fraction(word, 10**scale), Fraction(real))


@given(WORDS, SCALES, WORDS, SCALES)
def test_words_of_all_scales_compare_and_add_up(one: int, scale: int, other: int, other_scale: int) -> None:
    left, right = Fraction(one, 10**scale), Fraction(other, 10**other_scale)
    assert kernel.order_of_scaled(one, False, scale, other, False, other_scale) == order(left, right)
    small = one % 10**9, other % 10**9
    for first, second in ((one, other), small):
        left, right = Fraction(first, 10**scale), Fraction(second, 10**other_scale)
        for op, exact in (
            (kernel.ADD, left + right),
            (kernel.SUBTRACT, left - right),
            (kernel.MULTIPLY, left * right),
        ):
            tag, word = kernel.arithmetic_of_scaled(op, first, scale, second, other_scale)
            assert tag == kernel.BEYOND or Fraction(word, 10 ** (tag - kernel.DECIMAL)) == exact
    if abs(scale - other_scale) < 9 and scale + other_scale < 76:
        assert (
            kernel.arithmetic_of_scaled(kernel.MULTIPLY, *(small[0], scale), *(small[1], other_scale))[0] > 9
        )


@given(WORDS, st.integers(0, 9), WORDS, st.integers(0, 9))
@example(-75, 1, 2, 0)
@example(75, 1, -2, 0)
@example(5, 0, 0, 3)
def test_a_remainder_has_the_sign_of_what_is_divided(
    one: int, scale: int, other: int, other_scale: int
) -> None:
    left, right = Fraction(one, 10**scale), Fraction(other, 10**other_scale)
    tag, word = kernel.arithmetic_of_scaled(kernel.REMAINDER, one, scale, other, other_scale)
    if right == 0:
        assert (tag, word) == (0, 0)
    elif tag != kernel.BEYOND:
        size = abs(left) % abs(right)
        assert Fraction(word, 10 ** (tag - kernel.DECIMAL)) == (-size if left < 0 else size)


@given(WORDS, SCALES, st.integers(0, 76))
@example(5 * 10**18, 20, 1)
@example(25, 1, 0)
@example(-25, 1, 0)
@example(-(2**63), 19, 0)
def test_words_are_rounded_halves_away_from_zero(word: int, scale: int, digits: int) -> None:
    exact = Fraction(word, 10**scale)
    assert kernel.floor_scaled(word, scale) == exact.__floor__()
    assert kernel.ceil_scaled(word, scale) == exact.__ceil__()
    if digits < scale:
        doubled = abs(exact) * 10**digits * 2
        size = (doubled.numerator // doubled.denominator + 1) // 2
        assert kernel.rounded_scaled(word, scale, digits) == (-size if word < 0 else size)
