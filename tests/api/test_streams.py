"""Several streams as one: a dict of data, chosen by FROM."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

import cepheid
from support.small_streams import error_of, positions, stream

A = pa.table({"ts": [1, 4], "v": [1, 2]})
B = pa.table({"ts": [2, 3, 5], "w": ["x", None, "y"]})
BOTH = "SELECT * FROM a, b WHERE a AS x ; b AS y"


def test_types_are_the_streams_names_and_missing_attributes_are_null() -> None:
    found = cepheid.match({"a": A, "b": B}, BOTH)
    assert found["x"].to_pylist()[0] == {"ts": 1, "v": 1, "type": "a", "w": None}
    assert found["y"].to_pylist()[0] == {"ts": 2, "v": None, "type": "b", "w": "x"}
    assert positions({"a": A, "b": B}, BOTH) == [[0, 1], [0, 2], [0, 4], [3, 4]]
    assert cepheid.count({"a": A, "b": B}, BOTH) == 4


def test_the_order_of_the_dict_decides_ties_and_nothing_else() -> None:
    one, two = pa.table({"ts": [1]}), pa.table({"ts": [1]})
    assert positions({"a": one, "b": two}, BOTH) == [[0, 1]]
    swapped = "SELECT * FROM b, a WHERE a AS x ; b AS y"
    assert positions({"a": one, "b": two}, swapped) == []
    assert positions({"b": B, "a": A}, BOTH) == positions({"a": A, "b": B}, BOTH)


def test_streams_may_have_types_of_their_own() -> None:
    mixed = {"a": stream("PQ"), "b": pa.table({"ts": [5]})}
    query = "SELECT * FROM a, b WHERE P AS x ; Q AS y ; b AS z"
    assert positions(mixed, query) == [[0, 1, 2]]
    named = {"a": stream("PQ").rename_columns(["ts", "kind"]), "b": pa.table({"ts": [5]})}
    assert positions(named, query, type="kind") == [[0, 1, 2]]


def test_without_a_type_column_a_stream_name_is_the_type_even_beside_an_attribute_type() -> None:
    data = {"a": stream("P"), "b": stream("Q", ts=[3])}
    found = cepheid.match(data, BOTH + " FILTER x.type = 'P'", type=None)
    assert found["x"].to_pylist() == [{"ts": 0, "type": "P", "type_": "a"}]
    assert positions({"a": A, "b": B}, BOTH, type=None) == [[0, 1], [0, 2], [0, 4], [3, 4]]


def test_a_single_stream_without_types_has_its_name_as_type() -> None:
    assert positions(A, "SELECT * FROM a WHERE a AS x") == [[0], [1]]
    assert error_of(lambda: positions(A, "SELECT * FROM a WHERE b AS x")).code == "unknown-type"
    assert positions(stream("PQ"), "SELECT * FROM a WHERE a AS x", type=None) == [[0], [1]]


def test_only_the_streams_that_from_names_are_read() -> None:
    data = {"a": A, "b": B, "unused": pa.table({"no time": ["x"]})}
    assert positions(data, BOTH) == [[0, 1], [0, 2], [0, 4], [3, 4]]
    assert positions(data, "SELECT * FROM a WHERE a AS x") == [[0], [1]]
    assert "w" not in cepheid.match(data, "SELECT * FROM a WHERE a AS x")["x"].type.names
    assert "reads: ts, type" in cepheid.explain("SELECT * FROM a WHERE a AS x", data)
    error = error_of(lambda: cepheid.explain("SELECT * FROM a WHERE a AS x FILTER x.w = 'x'", data))
    assert error.code == "unknown-attribute"


def test_a_stream_that_from_names_and_the_data_lacks_is_an_error() -> None:
    error = error_of(lambda: cepheid.match({"a": A, "bb": B}, BOTH))
    assert (error.code, error.hint) == ("bad-argument", "did you mean `bb`?")
    error = error_of(lambda: cepheid.count({"a": A, 7: B}, BOTH))
    assert error.hint == "the streams given are `a`, `7`"


def test_a_stream_without_a_time_is_named() -> None:
    error = error_of(lambda: cepheid.match({"a": A, "b": B.rename_columns(["time", "w"])}, BOTH))
    assert error.code == "unknown-column"
    assert "time of stream `b`" in error.message


def test_a_type_column_that_no_stream_has_is_an_error() -> None:
    error = error_of(lambda: cepheid.match({"a": A, "b": B}, BOTH, type="kind"))
    assert error.code == "unknown-column"


def test_numbers_and_units_of_time_are_widened_to_fit() -> None:
    reals = cepheid.match({"a": A, "b": pa.table({"ts": [2.5], "v": [0.5]})}, BOTH)
    assert reals["x"].type.field("v").type == pa.float64()
    assert reals["end"].to_pylist() == [2.5]
    small = pa.table({"ts": pa.array([1], pa.timestamp("ms"))})
    large = pa.table({"ts": pa.array([5_000_000], pa.timestamp("ns"))})
    assert positions({"a": small, "b": large}, BOTH + " WITHIN 4 ms") == [[0, 1]]
    assert positions({"a": small, "b": large}, BOTH + " WITHIN 3 ms") == []


def test_dictionaries_of_text_fit_text() -> None:
    texts = pa.table({"ts": [1], "t": pa.array(["é"]).dictionary_encode()})
    plain = pa.table({"ts": [2], "t": pa.array(["ü"])})
    for data in ({"a": texts, "b": plain}, {"a": texts, "b": texts.set_column(0, "ts", pa.array([2]))}):
        assert cepheid.match(data, BOTH)["x"].to_pylist()[0]["t"] == "é"


@pytest.mark.parametrize(
    "column",
    [pa.array(["1"]), pa.array([1], pa.timestamp("us")), pa.array([[1]])],
    ids=lambda column: str(column.type),
)
def test_attributes_that_do_not_fit_are_named(column: pa.Array) -> None:
    error = error_of(lambda: cepheid.match({"a": A, "b": pa.table({"ts": [2], "v": column})}, BOTH))
    assert error.code == "bad-data"
    assert "Field v" in error.message


@pytest.mark.parametrize("whole", [pa.int8(), pa.int64(), pa.uint64()])
def test_whole_numbers_beside_decimals_are_decimals(whole: pa.DataType) -> None:
    """Exactly: all of them fit, whatever the precision of the other stream's decimals."""
    most = 127 if whole == pa.int8() else 2**63 - 1 if whole == pa.int64() else 2**64 - 1
    one = pa.table({"ts": [1], "v": pa.array([most], whole)})
    other = pa.table({"ts": [2, 3], "v": pa.array([Decimal("0.25"), None], pa.decimal128(4, 2))})
    data = {"a": one, "b": other}
    found = cepheid.match(data, BOTH + " FILTER x.v > y.v")
    assert found["x"].to_pylist()[0]["v"] == Decimal(most)
    assert found["y"].to_pylist()[0]["v"] == Decimal("0.25")
    readers = {name: table.to_reader() for name, table in data.items()}
    assert cepheid.match(readers, BOTH + " FILTER x.v > y.v").read_all() == found
    assert cepheid.count(data, f"{BOTH} FILTER x.v = {most}.0") == 2
