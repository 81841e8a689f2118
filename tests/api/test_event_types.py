"""Event types that cannot occur are an error with the fix; those that do not a warning that lists those that do."""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cepheid
from support.small_streams import error_of, stream

PLAIN = pa.table({"ts": [1, 2], "tmp": [45.0, 20.0]})


def warning_of(data: Any, query: str, **options: Any) -> str:
    with pytest.warns(cepheid.CepheidWarning) as caught:
        cepheid.count(data, query, **options)
    assert [item.filename for item in caught] == [__file__]
    return str(caught[0].message)


def silent(data: Any, query: str, **options: Any) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("error", cepheid.CepheidWarning)
        return cepheid.count(data, query, **options)


def test_without_a_type_column_only_the_streams_name_is_a_type() -> None:
    query = "SELECT * FROM farm WHERE T AS x ; farm AS y"
    for call in (
        lambda: cepheid.match(PLAIN, query),
        lambda: cepheid.count(PLAIN, query),
        lambda: cepheid.explain(query, PLAIN),
        lambda: cepheid.query(query).engine(PLAIN.schema),
        lambda: cepheid.match(PLAIN.to_reader(), query),
    ):
        error = error_of(call)
        assert error.code == "unknown-type"
        assert "the data has no type column, so every event's type is `farm`" in error.message
        assert "write `farm AS x`" in str(error.hint)
        assert "`type=`" in str(error.hint)
        assert error.span is not None
        assert error.span.text == "T AS x"
    assert silent(PLAIN, "SELECT * FROM farm WHERE farm AS x ; farm AS y") == 1


def test_of_several_streams_without_types_the_names_are_the_types() -> None:
    data = {"a": PLAIN, "b": PLAIN}
    assert silent(data, "SELECT * FROM a, b WHERE a AS x ; b AS y") == 3
    error = error_of(lambda: cepheid.count(data, "SELECT * FROM a, b WHERE a AS x ; c AS y"))
    assert (error.code, "one of `a`, `b`" in str(error.hint)) == ("unknown-type", True)
    assert error_of(lambda: cepheid.count(data, "SELECT * FROM a WHERE b AS x")).code == "unknown-type"


@pytest.mark.parametrize(
    "kind",
    [lambda t: t, lambda t: t.to_pandas(), pl.from_arrow, lambda t: t.to_reader()],
    ids=["arrow", "pandas", "polars", "reader"],
)
def test_a_type_that_never_occurs_is_a_warning_that_lists_those_that_do(kind: Any) -> None:
    said = warning_of(kind(stream("ABAC")), "SELECT * FROM s WHERE A AS x ; (B OR D)")
    assert said.startswith("no event is of type `D`: column `type` holds `A`, `B`, `C`")
    assert silent(kind(stream("ABAC")), "SELECT * FROM s WHERE A AS x ; (B OR C)") == 3


def test_a_column_that_is_called_type_by_chance_is_found_out() -> None:
    said = warning_of(stream("AB"), "SELECT * FROM farm WHERE farm AS x")
    assert "no event is of type `farm`" in said
    assert "`type=None` (`--no-type`)" in said
    assert silent(stream("AB"), "SELECT * FROM farm WHERE farm AS x", type=None) == 2


def test_a_name_that_is_nearly_right_is_proposed() -> None:
    events = pa.table({"ts": [1, 2], "kind": ["SELL", "BUY"]})
    said = warning_of(events, "SELECT * FROM s WHERE SEL AS x", type="kind")
    assert "did you mean `SELL`?" in said
    assert "--no-type" not in said


def test_the_list_is_short_however_many_types_there_are() -> None:
    events = pa.table({"ts": range(5000), "type": [f"t{n}" for n in range(5000)]})
    assert len(warning_of(events, "SELECT * FROM s WHERE Q AS x")) < 500


def test_types_are_compared_as_text_and_constants_of_conditions_count() -> None:
    numbers = pa.table({"ts": [1, 2], "type": [7, 8]})
    assert silent(numbers, 'SELECT * FROM s WHERE "7" AS x ; "8" AS y') == 1
    assert "holds `7`, `8`" in warning_of(numbers, 'SELECT * FROM s WHERE "9" AS x')
    coded = stream("AB").set_column(1, "type", pa.array(["A", "B"]).dictionary_encode())
    assert "`Z`" in warning_of(coded, "SELECT * FROM s WHERE A AS x ; Z AS y")
    assert "`Z`" in warning_of(stream("AB"), "#([type = 'A'], [type = 'Z']) WITHIN 5")
    assert "`Z`" in warning_of(stream("AB"), "SELECT * FROM s WHERE A AS x FILTER x.type IN ('A', 'Z')")
    assert silent(stream("AB"), "#([type = 'A'], [type = 'B']) WITHIN 5") == 1


def test_a_type_that_comes_late_is_no_reason_to_warn() -> None:
    events = stream("A" * 9_999 + "B")
    assert silent(events, "SELECT * FROM s WHERE A AS x : B AS y") == 1
    assert silent(events.to_reader(max_chunksize=100), "SELECT * FROM s WHERE A AS x : B AS y") == 1


def test_without_rows_nothing_is_said() -> None:
    assert silent(stream("").cast(stream("A").schema), "SELECT * FROM s WHERE A AS x") == 0
    assert silent(pd.DataFrame({"ts": [1], "type": [None]}).iloc[:0], "SELECT * FROM s WHERE A AS x") == 0
