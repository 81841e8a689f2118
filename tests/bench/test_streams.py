"""Streams are as they say, and the same every time."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from bench.experiments.stress import stressing
from bench.streams import S2, drawn, keyed, named, sparse


def shares(codes: np.ndarray, types: int) -> list[float]:
    return (np.bincount(codes, minlength=types) / len(codes)).tolist()


def test_types_have_their_shares() -> None:
    stream = drawn(200_000, S2)
    expected = [share / 12 for share in (4, 3, 2, 1, 2)]
    np.testing.assert_allclose(shares(stream.codes, 5), expected, atol=0.005)
    few = sparse(200_000, 0.01)
    np.testing.assert_allclose(shares(few.codes, 5), [0.01 / 3] * 3 + [0.495] * 2, atol=0.005)
    assert sparse(1000, 1).types == ("A", "B", "C")


def test_a_seed_makes_the_same_stream() -> None:
    assert drawn(1000).table().equals(drawn(1000).table())
    assert not drawn(1000).table().equals(drawn(1000, seed=5).table())


def test_a_dictionary_holds_the_same_types_as_plain_text() -> None:
    stream = drawn(1000)
    plain, encoded = stream.table()["type"], stream.table(dictionary=True)["type"]
    assert pa.types.is_dictionary(encoded.type)
    assert plain.to_pylist() == encoded.to_pylist() == stream.letters


def test_keys_and_names_are_as_many_as_asked() -> None:
    assert len(keyed(drawn(20_000), 100)["key"].unique()) == 100
    assert len(named(20_000, 100, dictionary=False)["name"].unique()) == 100


def test_only_the_last_event_of_the_stress_stream_ends_matches() -> None:
    for name, last in (("Q1", "C"), ("Q2", "D")):
        letters = stressing(name, 200).letters
        assert letters.index(last) == len(letters) - 1 == 199
