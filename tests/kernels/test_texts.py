"""Texts of all lengths are numbered by value, wherever they lie in their buffer."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepheid.evaluators.columns.distinct import distinct
from cepheid.kernels.texts import MOST_TEXTS

SIMILAR = [
    "",
    "a",
    "a\0",
    "\0",
    "aaaaaaaa",
    "aaaaaaaab",
    "aaaaaaaa\0",
    "aaaaaaaabbbbbbbb",
    "aaaaaaaabbbbbbbc",
    "é" * 9,
]


@given(
    st.lists(st.sampled_from(SIMILAR) | st.text(max_size=20), max_size=60),
    st.integers(0, 5),
    st.integers(0, 5),
)
def test_equal_numbers_mean_equal_texts(texts: list[str], front: int, back: int) -> None:
    column = pa.chunked_array([pa.array(["x"] * front + texts + ["y"] * back)]).slice(front, len(texts))
    codes, values = distinct(column)
    assert values.take(pa.array(codes)).to_pylist() == texts
    assert len(values) in (len(set(texts)), len(texts))


@pytest.mark.parametrize("form", ["text {}", "texts that begin alike {}"])
@pytest.mark.parametrize("many", [MOST_TEXTS, MOST_TEXTS + 1])
def test_many_distinct_texts_are_numbered_too(many: int, form: str) -> None:
    texts = pa.array([form.format(number) for number in np.arange(3 * many) % many])
    codes, values = distinct(pa.chunked_array([texts]))
    assert len(values) == many
    assert values.take(pa.array(codes)).equals(texts)
