"""CAST against Spark's own TRY_CAST: the same values. (It takes 2.0**63 for the largest BIGINT, which lies below.)"""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

import cepheid

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::cepheid.errors.CepheidWarning")]

TARGETS = [
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL(10,2)",
    "DECIMAL",
    "STRING",
]
TEXTS = [
    *(
        "1",
        "-0",
        "+7",
        " 12\t",
        "1.5",
        ".5",
        "5.",
        "1e3",
        "1E-3",
        "127",
        "128",
        "-129",
        "2147483648",
        "12345678.905",
    ),
    *(
        "99999999.995",
        "9223372036854775807",
        "9223372036854775808",
        "1e400",
        "-1e400",
        "1e-400",
        "nan",
        "Infinity",
    ),
    *(
        "-inf",
        "+Inf",
        "t",
        "TRUE",
        " y ",
        "yes",
        "No",
        "0",
        "f",
        "on",
        "",
        " ",
        "x",
        "1 2",
        "0x10",
        "1_000",
        "--1",
    ),
    *(
        "2024-02-29",
        "2023-02-29",
        "2024-2-9",
        "2024-2",
        "2024",
        "24",
        "2024-02-29 10:00",
        "2024-02-29T",
        "2024-02-29x",
        None,
    ),
]
REALS = [
    0.0,
    -0.5,
    1.5,
    -2.9,
    127.9,
    1e10,
    2.0**31,
    -(2.0**63),
    2.675,
    1e300,
    1e-5,
    math.nan,
    math.inf,
    0.1,
]
WHOLES = [0, 1, -1, 127, 128, -129, 2**31 - 1, 2**31, 99_999_999, 100_000_000, 2**63 - 1, -(2**63), None]
MONEY = [
    Decimal(text)
    for text in ("0.000", "2.675", "-2.675", "127.999", "-128.999", "99999999.995", "99999999.994")
]
DAYS = [
    dt.datetime(2024, 2, 29, 23, 59, 59, 500_000),
    dt.datetime(1969, 12, 31, 0, 0),
    dt.datetime(1970, 1, 1, 12, 30),
]


def same(ours: Any, theirs: Any) -> bool:
    return ours == theirs or (isinstance(ours, float) and ours != ours and theirs != theirs)


@pytest.mark.parametrize(
    ("values", "dtype", "targets"),
    [
        (TEXTS, "string", [*TARGETS, "DATE"]),
        (REALS, "double", TARGETS),
        (WHOLES, "bigint", TARGETS),
        (MONEY, "decimal(12,3)", TARGETS),
        ([True, False, None], "boolean", TARGETS),
        (DAYS, "timestamp", ["DATE", "STRING"]),
        ([day.date() for day in DAYS], "date", ["DATE", "STRING"]),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_the_values_are_those_of_try_cast(
    spark: SparkSession, values: list[Any], dtype: str, targets: list[str]
) -> None:
    rows = spark.createDataFrame(list(enumerate(values)), f"ts bigint, v {dtype}").coalesce(1)
    theirs = rows.selectExpr("ts", *(f"try_cast(v AS {target}) AS c{k}" for k, target in enumerate(targets)))
    columns = ", ".join(f"CAST(x.v AS {target}) AS c{k}" for k, target in enumerate(targets))
    ours = cepheid.match(rows, f"SELECT x.ts AS ts, {columns} FROM s WHERE ANY AS x", time="ts", type=None)
    expected = {row["ts"]: row for row in theirs.collect()}
    for row in ours.collect():
        for k, target in enumerate(targets):
            name = f"c{k}"
            value = values[row["ts"]]
            assert same(row[name], expected[row["ts"]][name]), (
                value,
                target,
                row[name],
                expected[row["ts"]][name],
            )
    assert [field.dataType for field in ours.schema if field.name[0] == "c"] == [
        field.dataType for field in theirs.schema if field.name[0] == "c"
    ]
