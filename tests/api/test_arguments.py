"""Arguments of the public functions: what they take, and a useful error for everything else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cepheid
from support.small_streams import THEN, error_of, ids, positions, stream

EVENTS = stream("ABB", v=[1, 2, 3])


@pytest.mark.parametrize("role", ["time", "type", "order"])
def test_a_column_that_is_not_there_is_named_with_the_nearest(role: str) -> None:
    near = {"time": "tss", "type": "typ", "order": "vv"}[role]
    for call in (cepheid.match, cepheid.count):
        error = error_of(lambda call=call: call(EVENTS, THEN, **{role: near}))
        assert error.code == "unknown-column"
        assert error.message == f"the data has no column `{near}`, given as {role}"
        assert str(error.hint).startswith("did you mean")
    error = error_of(lambda: cepheid.match(EVENTS, THEN, **{role: "elsewhere"}))
    assert error.hint == "the columns are `ts`, `type`, `v`"
    assert error_of(lambda: cepheid.explain(THEN, EVENTS, **{role: near})).code == "unknown-column"
    assert (
        error_of(lambda: cepheid.query(THEN).engine(EVENTS.schema, **{role: near})).code == "unknown-column"
    )


def test_a_partition_column_that_is_not_there_is_shown_in_the_query() -> None:
    error = error_of(lambda: cepheid.match(EVENTS, THEN + " PARTITION BY vv"))
    assert error.code == "unknown-column"
    assert error.hint == "did you mean `v`?"
    assert error.span is not None
    assert error.span.text == "vv"


@pytest.mark.parametrize(
    "options",
    [
        {"time": None},
        {"time": 5},
        {"type": 5},
        {"order": ["v"]},
        {"evaluator": None},
        {"evaluator": []},
        {"limit": -1},
        {"limit": 2.5},
        {"limit": True},
        {"limit": "3"},
    ],
    ids=str,
)
def test_arguments_of_the_wrong_kind_are_refused(options: dict[str, Any]) -> None:
    assert error_of(lambda: cepheid.match(EVENTS, THEN, **options)).code == "bad-argument"
    assert error_of(lambda: cepheid.query(THEN).engine(EVENTS.schema, **options)).code == "bad-argument"


@pytest.mark.parametrize("query", [None, 5, b"SELECT", ["SELECT"]], ids=str)
def test_what_is_no_query_is_refused(query: Any) -> None:
    for call in (cepheid.match, cepheid.count):
        assert error_of(lambda call=call: call(EVENTS, query)).code == "bad-argument"
    assert error_of(lambda: cepheid.query(query)).code == "bad-argument"
    assert error_of(lambda: cepheid.explain(query)).code == "bad-argument"


def test_an_unknown_language_is_refused() -> None:
    for language in ("sql", 5):
        assert error_of(lambda language=language: cepheid.query(THEN, language)).code == "unknown-language"
    assert cepheid.query(THEN, "CEL").language == "cel"


def test_an_unknown_evaluator_is_refused_with_the_nearest() -> None:
    error = error_of(lambda: cepheid.match(EVENTS, THEN, evaluator="compat"))
    assert (error.code, error.hint) == ("bad-argument", "did you mean `compact`?")


def test_an_evaluator_that_cannot_run_a_query_says_why() -> None:
    nary = THEN + " FILTER x.v < y.v"
    error = error_of(lambda: cepheid.match(EVENTS, nary, evaluator="compact"))
    assert error.code == "unsupported-evaluator"
    assert "x.v < y.v" in error.message
    assert positions(EVENTS, nary) == [[0, 1], [0, 2]]


def test_a_limit_gives_the_first_matches_by_their_end() -> None:
    events = stream("ABABB")
    every = positions(events, THEN)
    assert len(every) == 5
    for evaluator in ("compact", "semantics"):
        assert positions(events, THEN, limit=1, evaluator=evaluator) == [[0, 1]]
        assert positions(events, THEN, limit=0, evaluator=evaluator) == []
        assert positions(events, THEN, limit=np.int64(2), evaluator=evaluator) in (
            [[0, 1], [0, 3]],
            [[0, 1], [2, 3]],
        )
        assert positions(events, THEN, limit=10**30, evaluator=evaluator) == every
        assert positions(events, THEN + " LIMIT 2", limit=10, evaluator=evaluator) in (
            [[0, 1], [0, 3]],
            [[0, 1], [2, 3]],
        )
        assert len(positions(events, THEN + " LIMIT 4", limit=3, evaluator=evaluator)) == 3
        assert cepheid.count(events, THEN + " LIMIT 2", evaluator=evaluator) == 2
    assert len(positions(events, THEN + f" LIMIT {2**63 - 1}")) == 5
    assert error_of(lambda: cepheid.query(THEN + " LIMIT 0")).code == "bad-argument"
    assert error_of(lambda: cepheid.query(THEN + f" LIMIT {2**63}")).span is not None


@pytest.mark.parametrize("evaluator", ["compact", "semantics"])
@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ("0", []),
        ("1", [[0, 1]]),
        ("1.5", [[0, 1]]),
        (str(2**63 - 2), [[0, 1], [0, 2]]),
        ("2 EVENTS", [[0, 1]]),
    ],
)
def test_windows_of_every_size(window: str, expected: list[list[int]], evaluator: str) -> None:
    assert positions(EVENTS, f"{THEN} WITHIN {window}", evaluator=evaluator) == expected


@pytest.mark.parametrize(
    "window", ["9" * 30, "9" * 30 + " EVENTS", "1e300", "1e999", "1e99999999", "-1", "0 EVENTS", "1.5 EVENTS"]
)
def test_windows_that_hold_nothing_or_do_not_fit_are_errors(window: str) -> None:
    error = error_of(lambda: cepheid.match(EVENTS, f"{THEN} WITHIN {window}"))
    assert error.code in ("bad-argument", "syntax")
    assert error.span is not None


def test_explaining_without_data_shows_what_needs_none() -> None:
    text = cepheid.explain(THEN + " FILTER x.v > 1")
    assert all(f"── {title} ──" in text for title in ("query", "syntax tree", "algebra", "rewriting"))
    assert "── plan ──" not in text


def test_explaining_with_data_or_its_schema_shows_the_plan() -> None:
    for data in (EVENTS, EVENTS.schema):
        text = cepheid.explain(THEN + " FILTER x.v > 1 PARTITION BY type", data)
        assert "evaluator: compact" in text
        assert "reads: ts, type, v" in text
        assert "partitions: by type" in text
    assert "evaluator: configurations" in cepheid.explain(THEN + " FILTER x.v < y.v", EVENTS)
    assert "evaluator: compact" in cepheid.explain(THEN.replace(";", "ALL"), EVENTS)
    assert "`semantics` was asked for" in cepheid.explain(THEN, EVENTS, evaluator="semantics")


def test_explaining_finds_the_mistakes_that_matching_finds() -> None:
    error = error_of(lambda: cepheid.explain(THEN + " FILTER x.vv > 1", EVENTS))
    assert (error.code, error.hint) == ("unknown-attribute", "did you mean `v`?")
    assert error_of(lambda: cepheid.explain(THEN, 5)).code == "bad-data"
    assert (
        error_of(lambda: cepheid.explain("SELECT * FROM a, b WHERE a AS x", {"a": EVENTS})).code
        == "bad-argument"
    )


def test_counts_are_exact_beyond_64_bits() -> None:
    events = stream("A" * 200 + "B")
    assert cepheid.count(events, "SELECT * FROM s WHERE (A AS x)+ ; B AS y") == 2**200 - 1
    assert cepheid.count(events, "SELECT * FROM s WHERE (A AS x)+ ; B AS y WITHIN 70") == 2**70 - 1
    assert cepheid.count(events, "SELECT * FROM s WHERE (A AS x)+") == 2**200 - 1
    keyed = pa.concat_tables([events.append_column("k", pa.array([key] * 201)) for key in range(3)])
    assert cepheid.count(keyed, "SELECT * FROM s WHERE (A AS x)+ ; B AS y PARTITION BY k") == 3 * (2**200 - 1)
    assert cepheid.count(events, "SELECT * FROM s WHERE (A AS x)+ ; B AS y LIMIT 7") == 7


def test_a_query_is_parsed_once_and_used_often() -> None:
    parsed = cepheid.query(THEN)
    other = pa.table({"ts": [1.5, 2.5], "type": ["A", "B"]})
    assert ids(cepheid.match(EVENTS, parsed)) == ids(cepheid.match(EVENTS, THEN))
    assert cepheid.count(other, parsed) == 1
    assert cepheid.count(EVENTS, parsed) == 2
