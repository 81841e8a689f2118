"""Rounding inside kernels gives the double that rounding its shortest decimal gives."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from cepheid.kernels.conditions.rounding import MOST_DIGITS, rounded
from cepheid.semantics.numbers import round_half_away

Kind = Callable[[random.Random, int], float]


def near_halves(choices: random.Random, digits: int) -> float:
    """A decimal that ends in 5 just after the digits kept, of any size, or a double next to it."""
    size = 10 ** choices.uniform(-3, 17 - digits)
    written = f"{size:.{digits}f}5"
    return float(written) * choices.choice((1, 1, 1 + 2**-52, 1 - 2**-52, -1))


def any_size(choices: random.Random, digits: int) -> float:
    return choices.choice((1, -1)) * 10 ** choices.uniform(-20, 20)


def just_below_the_dense(choices: random.Random, digits: int) -> float:
    """Where a double has one digit more than is kept, or two, or none."""
    return 2 ** choices.uniform(46, 55) / 10**digits


@pytest.mark.parametrize("kind", [near_halves, any_size, just_below_the_dense])
@pytest.mark.parametrize("digits", range(MOST_DIGITS + 1))
def test_a_double_rounds_as_its_shortest_decimal(kind: Kind, digits: int) -> None:
    choices = random.Random(digits)
    for _ in range(2000):
        real = kind(choices, digits)
        assert rounded(real, digits) == round_half_away(real, digits), (real, digits)


def test_what_is_not_finite_stays() -> None:
    for real in (float("inf"), float("-inf"), 0.0, -0.0, 1.7976931348623157e308, 5e-324):
        assert rounded(real, 2) == round_half_away(real, 2)
    assert rounded(float("nan"), 2) != rounded(float("nan"), 2)
