"""Filters that read later events: alternatives and rounds taken apart, with the same matches."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import cepheid
from cepheid.algebra.conditions import Attribute, Comparison
from cepheid.algebra.nodes import Atom, Bind, Filter, Repeat, Seq, Strategy, walk
from cepheid.automata.attach import attach
from cepheid.errors import CepheidError
from cepheid.pipeline import ParsedQuery
from cepheid.rewrite.rules import rewrite
from support.agreement import differences, plan_of
from support.generators import Case, Limits, cases, of_two_types
from support.small_streams import error_of, positions, stream

LATE = Limits(
    unsafe=False, events=9, atoms=4, compared=40, strategies=(Strategy.ALL, Strategy.ALL, Strategy.STRICT)
)
ABC = stream("ABBACABAC", v=[1, 1, 3, 3, 1, 2, 3, 1, 2])


def parsed(formula: str) -> ParsedQuery:
    return cepheid.query(f"SELECT * FROM s WHERE {formula}")


@settings(max_examples=250, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
@given(case=cases(LATE), cut=st.integers(0, 9))
def test_conditions_are_decided_where_the_definition_decides_them(case: Case, cut: int) -> None:
    case = of_two_types(case)
    try:
        plan = plan_of(case, "configurations")
    except CepheidError as error:
        if error.code != "unsupported-evaluator":
            raise
        return
    if plan is not None:
        difference = differences(case, [min(cut, len(case.table))], "configurations")
        note(repr(case))
        assert difference is None, difference


@pytest.mark.parametrize(
    "formula",
    [
        # in an alternative, of what comes after it
        "((A AS x FILTER x.v < z.v) OR B AS y) ; C AS z",
        "((A AS x FILTER x.v < z.v) OR (B AS x FILTER x.v = z.v)) : C AS z",
        "((A AS x FILTER x.v < z.v) OR B) ; (A OR (B AS y FILTER y.v > z.v)) ; C AS z",
        # in a part that may be left out
        "(A AS x FILTER x.v < z.v)? ; B AS y ; C AS z",
        "(A AS x FILTER x.v < z.v)? : (B AS y FILTER y.v < z.v)? : C AS z",
        # about events before it only
        "A AS x ; B AS y ; (C OR (A FILTER x.v < y.v))",
        "A AS x ; B AS y ; (C* FILTER x.v < y.v)",
        "A AS x ; B AS y ; ((C* ; A?) FILTER x.v < y.v)",
        "A AS x ; B AS y ; ((C? OR A) FILTER x.v < y.v)+",
        # about one before and one after
        "A AS x ; (B OR (A FILTER x.v < z.v)) ; C AS z",
        "A AS x ; (B FILTER x.v < z.v)* ; C AS z",
        "A AS x ; ((B FILTER x.v < z.v) OR A OR (C FILTER x.v >= z.v))+ ; C AS z",
        "(A AS x ; (B OR (A FILTER x.v < z.v))* ; C AS z)+",
        # in rounds
        "(A AS x FILTER x.v < z.v){2} ; C AS z",
        "(A AS x FILTER x.v < z.v){0,2} ; C AS z",
        "((A AS x FILTER x.v < z.v) OR B AS x){1,2} ; C AS z",
        "((A AS x ; (B AS y FILTER x.v < z.v AND y.v <> x.v)){1,2} ; C AS z)+",
        "((A AS x FILTER x.v < z.v){1,2} ; B AS x FILTER x.v > z.v){1,2} ; C AS z",
        "(A AS x FILTER x.v < z.v){0,2} IN X ; C AS z FILTER X.v < 3",
    ],
)
def test_late_filters_have_the_matches_of_the_definition(formula: str) -> None:
    query = parsed(formula)
    assert query.engine(ABC.schema).plan.evaluator == "configurations"
    found = cepheid.match(ABC, query, positions=True)
    assert len(found) > 0
    assert positions(ABC, query) == positions(ABC, query, evaluator="semantics")
    assert sorted(found["match_id"].to_pylist()) == sorted(
        cepheid.match(ABC, query, evaluator="semantics")["match_id"].to_pylist()
    )


def test_no_filter_is_left_and_every_name_has_its_variable() -> None:
    pattern = rewrite(parsed("((A AS x FILTER x.v < z.v){1,2} OR B AS y) ; C AS z").query).query.pattern
    attached = attach(pattern)
    assert not any(isinstance(node, Filter) for node in walk(attached.pattern))
    assert set(attached.variable.values()) == {"x", "y", "z"}
    assert sum(name == "x" for name in attached.variable.values()) > 2


def test_nothing_is_taken_apart_that_does_not_wait() -> None:
    query = parsed(
        "A AS x ; ((B AS y FILTER y.v > x.v) OR C) ; (A FILTER x.v < 3)* ; C AS z FILTER z.v > x.v"
    )
    pattern = rewrite(query.query).query.pattern
    assert sum(1 for _ in walk(attach(pattern).pattern)) < sum(1 for _ in walk(pattern))


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        (" ; ".join(f"((A AS x{i} FILTER x{i}.v < z.v) OR B)" for i in range(12)) + " ; C AS z", "too many"),
    ],
)
def test_what_is_left_to_the_definition_says_why(formula: str, reason: str) -> None:
    query = parsed(formula)
    plan = query.engine(ABC.schema).plan
    assert plan.evaluator == "semantics"
    assert (plan.declined[-1].evaluator, reason in plan.declined[-1].reason) == ("configurations", True)
    error = error_of(lambda: query.engine(ABC.schema, evaluator="configurations"))
    assert error.code == "unsupported-evaluator"


@pytest.mark.parametrize("rounds", [(1, 1), (1, None)])
def test_what_not_every_round_binds_is_not_asked_of_it(rounds: tuple[int, int | None]) -> None:
    """The languages refuse such a filter; whoever makes one is told."""
    other = Comparison("<>", Attribute("X", "v", each=True), Attribute("y", "v"))
    maybe = Seq(Bind(Repeat(Atom("A"), 1, None), "X"), Repeat(Atom("B", "y"), 0, 1))
    error = error_of(lambda: attach(Repeat(Filter(maybe, other), *rounds)))
    assert "FILTER X.v <> y.v reads a variable that not every match binds" in error.message
