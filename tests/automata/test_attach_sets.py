"""Filters on every event of a set, or of all rounds, that read events bound before or after: the same matches."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import cepheid
from cepheid.algebra.conditions import TRUE
from cepheid.automata.attach_rounds import Check
from cepheid.engine import Engine
from cepheid.evaluators.configurations import event_choices, match_checks
from cepheid.evaluators.configurations.event_choices import EventChoices
from cepheid.matches.match_arrays import LABEL, Found
from support.agreement import differences, is_declined
from support.generators import Case
from support.set_queries import gathered_cases
from support.small_streams import positions, stream

NAN = math.nan
ABC = stream(
    "AABACABCBAC",
    v=[1, 2, 3, 2, 3, 1, None, 4, 1, 3, 3],
    w=[1.0, NAN, 2.0, 1.0, 2.0, NAN, 3.0, None, 1.0, 2.0, NAN],
    id=[0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0],
)
TWICE = pa.concat_tables([ABC, ABC.set_column(0, "ts", pa.array(range(11, 22)))])

LATE = [
    # all of a set are below, above, at what comes later; and not so
    "A+ IN X ; C AS z FILTER X.v < z.v",
    "A+ IN X ; C AS z FILTER z.v >= X.v",
    "A+ IN X ; C AS z FILTER X.v > z.id",
    "A+ IN X ; C AS z FILTER X.id = z.id",
    "A+ IN X ; C AS z FILTER NOT X.id <> z.id",
    "A+ IN X ; C AS z FILTER NOT X.v > z.v",
    "A+ IN X ; C AS z FILTER X.v BETWEEN z.id AND z.v",
    # numbers that equal nothing
    "A+ IN X ; C AS z FILTER X.w <= z.w",
    "A+ IN X ; C AS z FILTER NOT X.w > z.w",
    "A+ IN X ; C AS z FILTER NOT X.w < z.w",
    # gathered in several places, before and after, with the event itself among them
    "(A IN X ; B)+ ; C AS z ; A* IN X FILTER X.v <= z.v",
    "(A AS x ; B AS y) IN X ; C FILTER X.id <= y.id",
    "(A IN X OR B)+ ; C AS z FILTER X.v < z.v",
    "(A IN X)? ; B ; C AS z FILTER X.v < z.v",
    "(A IN X){2,3} ; C AS z FILTER X.v < z.v",
    # bound outside of the part that is filtered
    "(A+ IN X FILTER X.v < z.v) ; B ; C AS z",
    "((A+ IN X FILTER X.v < z.v) ; B)+ ; C AS z",
    "((A+ IN X ; B AS z) FILTER X.v <= z.v)+ ; C",
    # with what else decides
    "A+ IN X ; C AS z FILTER X.v < z.v OR z.id = 0",
    "A AS x ; A+ IN X ; C AS z FILTER X.v + x.v <= z.v",
    "A+ IN X ; B AS y ; C AS z FILTER X.v <= z.v + y.id",
    # of two sets
    "A+ IN X ; B+ IN Y FILTER X.id < Y.id",
    "(A IN X OR B IN Y)+ FILTER X.v <= Y.v",
    "(A IN X OR B IN Y)+ FILTER X.id = Y.id",
    "(A IN X OR B IN Y)+ FILTER NOT X.w < Y.w",
    "(A+ IN X) IN Y ; C FILTER X.v <= Y.v",
    # of all rounds
    "(A AS x FILTER x.v < z.v)+ ; C AS z",
    "(A AS x ; B AS y FILTER x.v < z.v AND y.id = z.id)+ ; C AS z",
    "((A AS x FILTER x.v < z.v) OR B)+ ; C AS z",
    "((A AS x FILTER x.v < z.v)+ ; B)+ ; C AS z",
    "((A AS x FILTER x.v < z.v)+ ; B AS z)+ ; C",
]


@pytest.mark.parametrize("formula", LATE)
def test_one_event_of_a_set_decides_for_all(formula: str) -> None:
    query = f"SELECT * FROM s WHERE {formula}"
    assert cepheid.query(query).engine(ABC.schema).plan.evaluator == "configurations"
    found = positions(ABC, query)
    assert len(found) > 0
    assert found == positions(ABC, query, evaluator="semantics")
    assert cepheid.count(ABC, query) == len(found)


WHOLE = [
    "A+ IN X ; C AS z FILTER X.v <> z.v",
    "A+ IN X ; C AS z FILTER X.v NOT BETWEEN z.id + 2 AND z.v",
    "A+ IN X ; B AS y ; C AS z FILTER X.v * z.id < y.v + z.v",
    "A+ IN X ; B+ IN Y ; C AS z FILTER X.v + Y.v <= z.v + 1",
    "A+ IN X ; B+ IN Y FILTER X.v <> Y.v",
    "A+ IN X ; B* IN Y ; C AS z FILTER X.v < z.v AND Y.v <> z.v",
    "(A AS x ; B AS y FILTER x.v + y.id <= z.v)+ ; C AS z",
    "(A AS x FILTER x.v <> z.v)+ ; C AS z",
    "((A AS x FILTER x.v <> z.v) OR A)+ ; C AS z",
    # of one round
    "((A+ IN X ; B AS z) FILTER X.v <> z.v)+ ; C",
    "((A+ IN X ; B AS z) FILTER X.v <> z.v){1,2} ; C",
    "((A+ IN X ; B AS y) FILTER X.v < y.v + z.v)+ ; C AS z",
    "((A+ IN X ; B+ IN Y) FILTER X.v <> Y.v)+ ; C",
    "((A+ IN X ; B+ IN Y) FILTER X.v + Y.v <= z.v + 1)+ ; C AS z",
    "(((A+ IN X ; B AS y) FILTER X.v <> y.v + z.v) OR A AS y)+ ; C AS z",
    "(((A IN X)? ; B AS y) FILTER X.v <> y.v)+ ; C",
    # and written out, for an event that waits for a later one
    "((A AS x ; B* IN X ; A AS y) FILTER x.v < z.v AND X.v <> y.v){1,2} ; C AS z",
    # of rounds in rounds
    "(A AS w ; ((A IN X)* ; B AS y FILTER X.v <> y.v + w.id)+)+ ; C",
    "(A AS w ; (A* IN X ; B AS y FILTER X.v <> y.v + w.id + z.id)+){1,2} ; C AS z",
    "((A AS x ; B AS y FILTER x.v <> y.v + z.id)+ ; A AS z)+ ; C",
    "((A AS x ; B AS y FILTER x.v <> z.v + w.id + y.id)+ ; A AS z)+ ; C AS w",
]


@pytest.mark.parametrize("formula", WHOLE)
@pytest.mark.parametrize("strategy", ["", "MAX", "LAST"])
def test_what_no_one_event_decides_is_asked_of_whole_matches(formula: str, strategy: str) -> None:
    query = f"SELECT {strategy} * FROM s WHERE {formula} WITHIN 20"
    plan = cepheid.query(query).engine(ABC.schema).plan
    assert plan.evaluator == "configurations"
    assert plan.automaton is not None
    assert len(plan.automaton.checks) == 1
    assert "is checked on all matches of the query without it" in " ".join(plan.why)
    found = positions(ABC, query)
    assert len(found) > 0
    assert found == positions(ABC, query, evaluator="semantics")
    assert cepheid.count(ABC, query) == len(found)
    assert cepheid.count(ABC, f"{query} LIMIT 1") == len(cepheid.match(ABC, f"{query} LIMIT 1")) == 1


@pytest.mark.parametrize("formula", WHOLE)
@pytest.mark.parametrize(
    "clauses", ["CONSUME", "WITHIN 5 PARTITION BY id CONSUME", "WITHIN 4 EVENTS CONSUME"]
)
def test_what_passes_consumes(formula: str, clauses: str) -> None:
    query = f"SELECT * FROM s WHERE {formula} {clauses}"
    table = ABC if clauses == "CONSUME" else TWICE
    assert cepheid.query(query).engine(table.schema).plan.evaluator == "configurations"
    found = positions(table, query)
    assert found == positions(table, query, evaluator="semantics")
    assert cepheid.count(table, query) == len(found)


@pytest.mark.parametrize("keys", [1, 3])
def test_what_was_consumed_is_forgotten(keys: int) -> None:
    """In each partition every third event ends three matches, which begin after those before. As if nothing were
    consumed, there were some 2^300."""
    rows, portion = 300, 90
    table = pa.table(
        {
            "ts": np.arange(keys * rows),
            "type": np.repeat(np.tile(list("ACC"), rows // 3), keys),
            "v": np.repeat(np.tile([1, 1, 2], rows // 3), keys),
            "k": np.tile(np.arange(keys), rows),
        }
    )
    query = "SELECT * FROM s WHERE (A OR C)+ IN X ; C AS z FILTER X.v <> z.v PARTITION BY k CONSUME"
    engine = cepheid.query(query).engine(table.schema, positions=True)
    memory = []
    for at in range(0, len(table), portion):
        found = engine.push(table.slice(at, portion))["positions"].to_pylist()
        ends = [row for row in range(at, min(at + portion, len(table))) if row // keys % 3 == 2]
        assert sorted(found) == sorted(
            [*first, end]
            for end in ends
            for first in ([end - 2 * keys], [end - keys], [end - 2 * keys, end - keys])
        )
        engine = cepheid.load(engine.save())
        memory.append(engine._evaluator.memory)
    assert max(memory) <= 2 * memory[0]
    assert cepheid.count(table, query) == len(table)


def test_what_is_not_reported_consumes() -> None:
    """The first C ends a match, which leaves nothing for the second."""
    query = cepheid.query("SELECT * FROM s WHERE A+ IN X ; C AS z FILTER X.v <> z.v CONSUME")
    table = stream("ACCAC", v=[1, 2, 2, 1, 2])
    for counting in (False, True):
        engine = Engine(query.engine(table.schema).plan, positions=not counting, counting=counting)
        engine.push(table.slice(0, 2), report=False)
        found = engine.push(table.slice(2))
        assert engine.counted == 1 if counting else found["positions"].to_pylist() == [[3, 4]]


@pytest.mark.parametrize(
    "formula",
    [
        "(A AS a ; (A IN X){2,} ; ((A AS b ; ((A IN Y OR A) ; (A IN Z OR B) ; (A IN U)? FILTER b.v >= Z.v + Y.v){2,}"
        " ; (B AS c ; A AS d ; A AS e FILTER a.v >= c.v){1,2} FILTER b.v + U.v <= Y.v FILTER b.v < Z.v OR b.id > 1)"
        " OR A)* FILTER X.v + a.v = Z.v FILTER z.v = Y.v + Z.v){0,3} ; B AS z FILTER U.id >= Y.id + 1",
        "(A+ IN X FILTER X.w = z.w) ; B AS z ; (((A IN X OR A) ; A AS a ; ((A IN Y)+ ; ((A IN Z)* ; B AS b"
        " FILTER b.v <> a.v FILTER b.v + a.v >= z.v){2,} ; (A IN U)+ FILTER NOT Z.v + a.v <= U.v){1,2}"
        " FILTER NOT Z.w >= Y.w) OR A){2,} FILTER Z.w <> U.w",
    ],
)
def test_what_has_many_ways_through_rounds_is_planned_in_a_moment(formula: str) -> None:
    """One by one these ways would take hours."""
    query = cepheid.query(f"SELECT * FROM s WHERE {formula} WITHIN 3")
    assert query.engine(ABC.schema).plan.evaluator == "configurations"


def test_a_match_that_passes_in_two_ways_is_one() -> None:
    """Which of the two As is a round that is compared does not show."""
    query = "SELECT * FROM s WHERE ((A AS x FILTER x.v <> z.v) OR A AS x)+ ; C AS z"
    table = stream("AAC", v=[1, 2, 3])
    found = cepheid.match(table, query, positions=True)
    assert sorted(found["positions"].to_pylist()) == [[0, 1, 2], [0, 2], [1, 2]]
    assert cepheid.count(table, query) == 3


def test_events_of_one_round_go_together() -> None:
    """Each round adds up to 4; the first of one round and the second of the other to 6."""
    query = "SELECT * FROM s WHERE (A AS x ; B AS y FILTER x.v + y.v <= z.v)+ ; C AS z"
    table = stream("ABABC", v=[1, 3, 3, 1, 4])
    assert [0, 1, 2, 3, 4] in positions(table, query)
    assert positions(table, query) == positions(table, query, evaluator="semantics")


@pytest.mark.parametrize("most", [1, 3, 1 << 20])
def test_choices_come_in_portions(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_choices, "_MOST_CHOICES", most)
    for formula in WHOLE[-4:]:
        query = f"SELECT * FROM s WHERE {formula}"
        assert positions(ABC, query) == positions(ABC, query, evaluator="semantics")


def test_names_of_one_round_are_chosen_together() -> None:
    """Two matches; the first has two outer rounds, of which the first has two inner ones."""
    labels = [
        frozenset[str](),
        frozenset(["w", "outer"]),
        frozenset(["x", "inner"]),
        frozenset(["y"]),
        frozenset("z"),
    ]
    check = Check(TRUE, (("w", ("outer",)), ("x", ("outer", "inner")), ("y", ("outer", "inner")), ("z", ())))
    events = [1, 2, 3, 3, 2, 3, 1, 2, 3, 4], [1, 2, 0, 3, 4, 4]
    found = Found(
        np.cumsum([0, *map(len, events)]),
        np.arange(16),
        np.array([one for match in events for one in match], LABEL),
    )
    parts = list(EventChoices(check, labels).of(found))
    assert [matches.tolist() for matches, _ in parts] == [[0, 0, 0, 0, 1, 1]]
    assert parts[0][1].tolist() == [
        [0, 1, 2, 9],
        [0, 1, 3, 9],
        [0, 4, 5, 9],
        [6, 7, 8, 9],
        [10, 11, 13, 14],
        [10, 11, 13, 15],
    ]


def test_events_that_no_candidate_holds_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_checks, "_SPARE", 8)
    table = stream("AAC" * 40, v=[1, 2, 3, 3, 1, 1, 2, 2, 2, 1, 2, 1] * 10)
    query = "SELECT * FROM s WHERE A+ IN X ; C AS z FILTER X.v <> z.v WITHIN 5"
    engine = cepheid.query(query).engine(table.schema, positions=True)
    found = []
    for at in range(0, 120, 4):
        found += engine.push(table.slice(at, 4))["positions"].to_pylist()
        assert len(engine._evaluator._events) <= 24
        if at % 16 == 0:
            engine = cepheid.load(engine.save())
    assert sorted(found) == positions(table, query, evaluator="semantics")


CUTS = st.lists(st.integers(0, 12), max_size=2)
many = settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow], print_blob=True)


@many
@given(case=gathered_cases(), cuts=CUTS, saved=st.booleans())
def test_sets_and_rounds_are_compared_as_the_definition_compares_them(
    case: Case, cuts: list[int], saved: bool
) -> None:
    if is_declined(case, "configurations"):
        return
    note(repr(case))
    difference = differences(case, [min(cut, len(case.table)) for cut in cuts], "configurations", saved)
    assert difference is None, difference


@pytest.mark.parametrize("limit", [0, 1, 3])
@pytest.mark.parametrize("formula", WHOLE)
def test_a_limit_counts_what_passes(formula: str, limit: int) -> None:
    for clauses in ("", "PARTITION BY id", "CONSUME"):
        query = f"SELECT * FROM s WHERE {formula} {clauses}"
        wanted = positions(ABC, query, evaluator="semantics")
        engine = cepheid.query(query).engine(ABC.schema, positions=True, limit=limit)
        found = [
            events for row in range(11) for events in engine.push(ABC.slice(row, 1))["positions"].to_pylist()
        ]
        assert all(events in wanted for events in found)
        assert [events[-1] for events in found] == sorted(events[-1] for events in wanted)[:limit]


def test_partial_matches_that_agree_in_their_extreme_are_one() -> None:
    """Of 40 events in a set any may be in a match: there are 2^40 - 1, and the highest decides."""
    table = stream("A" * 40 + "C", v=[*range(40), 40])
    query = "SELECT * FROM s WHERE A+ IN X ; C AS z FILTER X.v < z.v"
    assert cepheid.count(table, query) == 2**40 - 1
