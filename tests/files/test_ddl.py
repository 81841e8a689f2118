"""Schemas as texts: every type, names of every kind, and errors that show the place."""

from __future__ import annotations

import pyarrow as pa
import pytest

from cepheid.files.ddl import schema_of_text
from support.small_streams import error_of


def test_types_and_names() -> None:
    text = """ts TIMESTAMP NOT NULL, local timestamp_ntz, `a.b ``c` bigint, n: int, price decimal(10,2),
        plain decimal, tags array<string>, place struct<lat: double, lon double>, m map<string, array<int>>,
        name varchar(20), day date, ok boolean"""
    found = schema_of_text(text)
    assert found.names[2:4] == ["a.b `c", "n"]
    assert found.field("ts").type == pa.timestamp("us", "UTC")
    assert found.field("local").type == pa.timestamp("us")
    assert found.field("price").type == pa.decimal128(10, 2)
    assert found.field("plain").type == pa.decimal128(10, 0)
    assert found.field("place").type == pa.struct([("lat", pa.float64()), ("lon", pa.float64())])
    assert found.field("m").type.item_type.value_type == pa.int32()
    assert (found.field("name").type, found.field("ok").type) == (pa.string(), pa.bool_())


@pytest.mark.parametrize(
    ("text", "says", "place"),
    [
        ("ts timestmp", "did you mean `timestamp`?", "timestmp"),
        ("ts timestamp price double", "expected `,` or the end", "price"),
        ("ts", "expected a type", ""),
        ("", "expected the name of a column", ""),
        ("ts timestamp,", "expected the name of a column", ""),
        ("a array<int", "expected `>`", ""),
        ("a decimal(50, 2)", "1 to 38 digits", ")"),
        ("a decimal(x)", "expected a number", "x"),
        ("a int; b int", "expected a name", ";"),
    ],
)
def test_mistakes_are_shown(text: str, says: str, place: str) -> None:
    error = error_of(lambda: schema_of_text(text))
    assert error.code == "bad-argument"
    assert says in str(error)
    assert error.span is not None
    assert error.span.text == place


def test_a_schema_nested_without_end_is_refused() -> None:
    assert "nested too deeply" in error_of(lambda: schema_of_text("a " + "array<" * 100_000)).message
