"""PART-BY as a partition, and over one event: exactly where no match can tell."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import cepheid
from cepheid.algebra.nodes import PartBy, Query, walk
from cepheid.algebra.printing import print_pattern
from cepheid.automata.unary import is_unary
from cepheid.languages import lower, parse
from cepheid.rewrite.rules import rewrite
from support.agreement import differences, numbered, plan_of, run
from support.generators import Case, Limits, cases

KEYS = st.sampled_from(["id", "s", "v", "n"])
LIMITS = Limits(nary=False, events=14, strict=0)
some = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)


def done(text: str) -> Query:
    return rewrite(lower(parse(f"SELECT * FROM s WHERE {text}"))).query


@pytest.mark.parametrize(
    ("before", "after", "columns"),
    [
        ("A AS x ; B AS y PART-BY [id]", "A AS x ; B AS y", "id"),
        ("A AS x ; B AS y PART-BY [x.id, y.id]", "A AS x ; B AS y", "id"),
        ("A IN X ; B+ IN Y PART-BY [X.id, Y.id]", "A IN X ; B+ IN Y", "id"),
        ("A AS x ; B AS y PART-BY [id] PART-BY [s]", "A AS x ; B AS y", "s id"),
        ("A AS x ; B AS y PART-BY [id] FILTER x.a = y.a", "A AS x ; B AS y FILTER x.a = y.a", "id"),
        ("A ; B PART-BY [id] PARTITION BY s, id", "A ; B", "s id"),
        ("(A ; B PART-BY [id]) IN X", "(A ; B) IN X", "id"),
        ("A AS x ; B AS y PART-BY [id] FILTER x.a = 1 OR y.a = 1", "", "id"),
        ("A ALL B PART-BY [id] WITHIN 5", "A ALL B", "id"),
        ("A ; B PART-BY [id] LIMIT 3", "A ; B", "id"),
        ("(A ; B PART-BY [id]) OR (C ; D PART-BY [id])", "A ; B OR C ; D", "id"),
    ],
)
def test_a_part_by_around_all_becomes_a_partition(before: str, after: str, columns: str) -> None:
    query = done(before)
    assert query.partition_by == tuple(columns.split())
    assert not any(isinstance(node, PartBy) for node in walk(query.pattern))
    assert not after or print_pattern(query.pattern) == after


@pytest.mark.parametrize(
    "text",
    [
        "A AS x ; B AS y PART-BY [x.id, y.s]",
        "A : B PART-BY [id]",
        "A ; (B : C)? PART-BY [id]",
        "A ; B PART-BY [id] CONSUME",
        "A ; B PART-BY [id] WITHIN 5 EVENTS",
        "STRICT(A ; B PART-BY [id])",
        "(A ; B PART-BY [id]) ; C",
        "(A ; B PART-BY [id])+",
        "(A ; B PART-BY [id])?",
        "(A ; B PART-BY [id]) OR (C ; D PART-BY [s])",
        "(A ; B PART-BY [id]) OR C",
        "(A ; B PART-BY [id]) ALL C",
    ],
)
def test_elsewhere_it_stays(text: str) -> None:
    query = done(text)
    assert query.partition_by == ()
    assert any(isinstance(node, PartBy) for node in walk(query.pattern))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A AS x PART-BY [x.id]", "A AS x"),
        ("(A IN X OR B IN Y)? ; C PART-BY [X.id, Y.id]", None),
        ("((A IN X OR B IN Y)? PART-BY [X.id, Y.id]) ; C", "(A IN X OR B IN Y)? ; C"),
        ("(A AS x IN X PART-BY [X.id, x.id]){2} ; C", "(A AS x IN X){2} ; C"),
        ("(A AS x PART-BY [id]) : B", "A AS x : B"),
        ("(A IN X PART-BY [X.id, X.s]) : B", "(A IN X PART-BY [X.id, X.s]) : B"),
        ("(A{1,2} PART-BY [id]) : B", "(A{1,2} PART-BY [id]) : B"),
        ("(A ALL A PART-BY [id]) : B", "(A ALL A PART-BY [id]) : B"),
    ],
)
def test_one_event_is_not_compared_with_itself(before: str, after: str | None) -> None:
    if after is None:
        with pytest.raises(cepheid.CepheidError, match="leaves out `C`"):
            cepheid.query(f"SELECT * FROM s WHERE {before}")
    else:
        assert print_pattern(done(before).pattern) == after


def parted(case: Case, *names: str) -> Case:
    pattern = case.query.pattern
    for name in names:
        pattern = PartBy(pattern, ((None, name),))
    return replace(case, query=replace(case.query, pattern=pattern))


@some
@given(
    case=cases(LIMITS),
    names=st.lists(KEYS, min_size=1, max_size=2, unique=True),
    cuts=st.lists(st.integers(0, 14)),
)
def test_partitions_or_chains_find_what_the_definition_says(
    case: Case, names: list[str], cuts: list[int]
) -> None:
    case = parted(case, *names)
    note(repr(case))
    plan = plan_of(case, "auto")
    by_partition = plan is not None and not any(
        isinstance(node, PartBy) for node in walk(plan.rewritten.pattern)
    )
    assert by_partition == (plan is not None and is_unary(plan.rewritten.pattern))
    cuts = [min(cut, len(case.table)) for cut in cuts]
    for evaluator in ("auto", "compact") if by_partition else ("auto",):
        difference = differences(case, cuts, evaluator, saved=True)
        assert difference is None, difference


@some
@given(case=cases(LIMITS), name=KEYS)
def test_ids_are_those_of_the_query_as_written(case: Case, name: str) -> None:
    case = parted(case, name)
    plans = [plan_of(case, evaluator) for evaluator in ("auto", "semantics")]
    if plans[0] is None or plans[1] is None:
        return
    found = [run(plan, numbered(case), []) for plan in plans if plan is not None]
    ids = [
        sorted(zip(table["match_id"].to_pylist(), table["positions"].to_pylist(), strict=True))
        for table in found
    ]
    assert ids[0] == ids[1]
    assert found[0].schema == found[1].schema


@pytest.mark.parametrize("asked", ["auto", "semantics"])
@pytest.mark.parametrize("evaluator", ["compact", "configurations"])
@pytest.mark.parametrize("window", ["", "WITHIN 3"])
def test_keys_that_are_forgotten_are_never_missed(
    window: str, evaluator: str, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nary = "FILTER x.ts < y.ts" if evaluator == "configurations" else ""
    text = f"SELECT * FROM s WHERE A AS x ; B AS y PART-BY [key] {nary} PARTITION BY id {window}"
    numbers = range(400)
    table = pa.table(
        {
            "ts": [number // 2 for number in numbers],
            "type": ["AB"[number * 7 % 5 % 2] for number in numbers],
            "id": [number * 3 % 4 % 3 for number in numbers],
            "key": [str(number * number % 5) for number in numbers],
        }
    )
    whole = cepheid.match(table, text, positions=True)
    monkeypatch.setattr("cepheid.engine._SPARE", -(10**9))
    monkeypatch.setattr("cepheid.engine._SPARE_PARTITIONS", -(10**9))
    engine = cepheid.query(text).engine(table.schema, positions=True, evaluator=asked)
    chosen = "chain" if evaluator == "compact" and window else evaluator
    assert engine.plan.evaluator == (chosen if asked == "auto" else asked)
    pieces = []
    for at in range(0, 400, 7):
        pieces.append(engine.push(table.slice(at, 7)))
        engine = cepheid.load(engine.save())
    found = pa.concat_tables(pieces).to_pylist()
    assert sorted(found, key=str) == sorted(whole.to_pylist(), key=str)
    assert [match["end"] for match in found] == whole["end"].to_pylist()
    assert len(whole) >= 20
    assert cepheid.count(table, text) == len(whole)


def test_the_output_has_no_column_for_the_key_and_positions_of_the_whole_stream() -> None:
    table = pa.table({"ts": [0, 1, 2, 3], "type": list("AABB"), "id": [1, 2, 1, 2]})
    found = cepheid.match(table, "SELECT * FROM s WHERE A AS x ; B AS y PART-BY [id]", positions=True)
    assert found.column_names == ["match_id", "start", "end", "x", "y", "positions"]
    assert found["positions"].to_pylist() == [[0, 2], [1, 3]]


def test_explain_says_what_became_of_it() -> None:
    schema = pa.schema([("ts", pa.int64()), ("type", pa.string()), ("id", pa.int64())])
    said = cepheid.explain("SELECT * FROM s WHERE A AS x ; B AS y PART-BY [id]", schema)
    assert "partition:\n  A AS x ; B AS y PARTITION BY id" in said
    assert "evaluator: compact" in said
    assert "PART-BY: runs as partitions by id, with the same matches" in said
    assert "partitions: none" in said
    said = cepheid.explain("SELECT * FROM s WHERE A AS x : B AS y PART-BY [id]", schema)
    assert "evaluator: chain\n  because PART-BY [id] compares events, but only neighbours in a match" in said
    assert "mark B if last.id ≡ id, next as y" in said
    said = cepheid.explain("SELECT MAX * FROM s WHERE A AS x : B AS y PART-BY [id]", schema)
    assert "evaluator: configurations\n  because PART-BY [id] compares events: partial matches" in said
    assert "MAX chooses among all matches that end at an event" in said
    said = cepheid.explain("SELECT * FROM s WHERE A+ IN X ; B+ IN Y FILTER X.id < Y.id", schema)
    assert "because FILTER X.id < Y.id compares events of sets: partial matches that agree" in said
    said = cepheid.explain("SELECT * FROM s WHERE A ALL B", schema)
    assert "evaluator: compact\n  because every condition is unary" in said
    said = cepheid.explain("SELECT * FROM s WHERE A AS x ALL B AS y FILTER x.id < y.id", schema)
    assert "evaluator: configurations\n  because FILTER x.id < y.id compares events" in said
    with pytest.raises(cepheid.CepheidError, match="PART-BY"):
        cepheid.match(schema.empty_table(), "SELECT * FROM s WHERE A : B PART-BY [id]", evaluator="compact")
