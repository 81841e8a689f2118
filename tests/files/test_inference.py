"""Types of columns from their texts: the narrowest that fits every value, wherever the values are cut into batches."""

from __future__ import annotations

import pyarrow as pa
import pytest

from cepheid.files.inference import united, widened

NAIVE, ZONED = pa.timestamp("us"), pa.timestamp("us", "UTC")


@pytest.mark.parametrize(
    ("texts", "dtype"),
    [
        (["1", "-20", None], pa.int64()),
        (["007"], pa.int64()),
        (["9223372036854775807", "-9223372036854775808"], pa.int64()),
        (["9223372036854775808"], pa.string()),
        (["12345678901234567890"], pa.string()),
        (["1", "2.5"], pa.float64()),
        ([".5", "5.", "-1e9", "1E-3", "NaN", "inf", "-Infinity"], pa.float64()),
        (["+1"], pa.string()),
        (["0x1A"], pa.string()),
        ([" 1"], pa.string()),
        (["1_000"], pa.string()),
        (["1\n"], pa.string()),
        (["true", "FALSE", "False"], pa.bool_()),
        (["yes"], pa.string()),
        (["2024-02-29"], pa.date32()),
        (["2023-02-29"], pa.string()),
        (["2024-01-01 10:00", "2024-01-01T10:00:01.5"], NAIVE),
        (["2024-01-01", "2024-01-01T10:00:01"], NAIVE),
        (["2024-01-01T10:00:00Z", "2024-01-01 10:00:00.123456+01:00", "2024-01-01T10:00-0330"], ZONED),
        (["2024-01-01T10:00:00.123456789Z"], pa.timestamp("ns", "UTC")),
        (["2024-01-01T10:00:00Z", "2024-01-01T10:00:00"], pa.string()),
        (["2024-01-01", "2024-01-01T10:00:00Z"], pa.string()),
        (["12:30:00"], pa.string()),
        (["2024-01-01T25:00:00"], pa.string()),
        (["1", "2024-01-01"], pa.string()),
        (["true", "1"], pa.string()),
        ([""], pa.string()),
        ([None], pa.null()),
    ],
)
def test_the_narrowest_type_that_fits(texts: list[str | None], dtype: pa.DataType) -> None:
    column = pa.array(texts, pa.string())
    assert widened(pa.null(), column) == dtype
    one_by_one = pa.null()
    for at in range(len(column)):
        one_by_one = widened(one_by_one, column.slice(at, 1))
    assert one_by_one == dtype
    backwards = pa.null()
    for at in reversed(range(len(column))):
        backwards = widened(backwards, column.slice(at, 1))
    assert backwards == dtype


def test_in_json_only_times_are_more_than_text() -> None:
    assert widened(pa.null(), pa.array(["12"]), times_only=True) == pa.string()
    assert widened(pa.null(), pa.array(["2024-01-01"]), times_only=True) == pa.date32()


def test_types_unite_in_any_order() -> None:
    types = [
        pa.null(),
        pa.int64(),
        pa.float64(),
        pa.bool_(),
        pa.date32(),
        NAIVE,
        ZONED,
        pa.timestamp("ns"),
        pa.string(),
    ]
    for one in types:
        for two in types:
            assert united(one, two) == united(two, one)
            for three in types:
                if pa.string() not in (united(one, two), united(two, three), united(one, three)):
                    assert united(united(one, two), three) == united(one, united(two, three))
