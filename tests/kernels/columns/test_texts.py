"""Texts of all lengths are numbered by value, wherever they lie in their buffer."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepheid.evaluators.columns.distinct import Dictionary, distinct
from cepheid.kernels.columns.texts import MOST_TEXTS

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


def test_a_dictionary_keeps_its_numbers_until_there_are_too_many() -> None:
    dictionary = Dictionary()
    short, long = (
        ["T", "", "eight by"],
        ["more than eight", "more than seven bytes", "more than eighty bytes" * 4],
    )
    assert codes_of(dictionary, [*short, *long]) == [0, 1, 2, 3, 4, 5]
    assert codes_of(dictionary, [*reversed(long), "new", *short]) == [5, 4, 3, 6, 0, 1, 2]
    many = [f"text {number}" for number in range(MOST_TEXTS - 1)]
    codes = codes_of(dictionary, [*many, "T"])
    assert dictionary.values.take(pa.array(codes)).to_pylist() == [*many, "T"]
    assert len(dictionary.values) == MOST_TEXTS
    assert dictionary.codes(pa.array(f"other {number}" for number in range(MOST_TEXTS + 1))) is None
    assert codes_of(dictionary, ["W", "T"]) == [0, 1]


def codes_of(dictionary: Dictionary, texts: list[str]) -> list[int]:
    codes = dictionary.codes(pa.array(texts))
    assert codes is not None
    return [int(code) for code in codes]


def test_texts_of_one_hash_are_told_apart() -> None:
    """The second words of two texts are such that they undo the difference of the first ones."""
    one = b"texts of one has"
    rest = int.from_bytes(one[8:], "little") ^ mixed(one[:8])
    other = next(
        begin + end.to_bytes(8, "little")
        for begin in (f"{number:08d}".encode() for number in range(100_000))
        if (end := rest ^ mixed(begin)) & 0x8080808080808080 == 0
    )
    texts = pa.array([one.decode(), other.decode(), one.decode(), other.decode()])
    codes, values = distinct(pa.chunked_array([texts]))
    assert values.take(pa.array(codes)).equals(texts)


def mixed(begin: bytes) -> int:
    """What `kernels.columns.texts` makes of the first eight bytes of sixteen."""
    key = (16 ^ int.from_bytes(begin, "little")) * 0x9E3779B97F4A7C15 % 2**64
    return key ^ key >> 29
