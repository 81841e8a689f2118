"""`explain` shows the automaton that runs a query, in whichever language, or says why there is none."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cepheid
from cepheid.errors import CepheidError
from cepheid.plan.explain import draw_query

TABLE = pa.table({"ts": [0], "type": ["A"], "id": [1], "v": [1.0]})
SREMO = "#([type = 'A'] > r, [type = 'B' AND v > r.v]) WITHIN 5"
NARY = "SELECT * FROM s WHERE (A AS x ; B AS y ; C AS z) FILTER x.v < z.v WITHIN 4"
CHAIN = "SELECT * FROM s WHERE ((A AS x ; B AS y) FILTER x.id = y.id) ; C AS z"
UNARY = "SELECT * FROM s WHERE A AS x ; B AS y"
ANY_ORDER = "SELECT * FROM s WHERE A ALL B"

SECTIONS = {
    SREMO: ("register transducer", "q1 ─ type = 'B' ∧ v > r.v ↑• → q2"),
    NARY: ("register transducer", "q0 ─ A ↑• ↓x"),
    CHAIN: ("chain automaton", "mark B if last.id = id as y"),
    UNARY: ("automaton", "mark A as x → 1"),
    ANY_ORDER: ("automaton", "mark A as A → 1"),
}


def sections(text: str) -> dict[str, str]:
    parts = ("\n" + text).split("\n── ")[1:]
    return {title: body.strip() for title, _, body in (part.partition(" ──\n") for part in parts)}


@pytest.mark.parametrize("query", SECTIONS)
def test_without_data_explain_shows_the_automaton(query: str) -> None:
    title, line = SECTIONS[query]
    shown = sections(cepheid.explain(query))
    assert list(shown) == ["query", "syntax tree", "algebra", "rewriting", title]
    assert line in shown[title]


@pytest.mark.parametrize("query", SECTIONS)
def test_with_data_it_shows_the_same_and_the_plan(query: str) -> None:
    title, line = SECTIONS[query]
    shown = sections(cepheid.explain(query, TABLE))
    assert list(shown) == ["query", "syntax tree", "algebra", "rewriting", title, "plan"]
    assert line in shown[title]


@pytest.mark.parametrize(
    ("query", "why"),
    [
        # The register may hold any of the events before the first mark, and which does not show in the marks.
        ("#(-[v = 2] > r, [v = 1], [v > r.v]) WITHIN 5", "an event is stored before any is marked"),
    ],
)
def test_a_query_that_only_the_definition_runs_is_told_why(query: str, why: str) -> None:
    plan = sections(cepheid.explain(query, TABLE))["plan"]
    assert plan.startswith(f"evaluator: semantics\n  because {why}; only the definition")
    with pytest.raises(CepheidError) as caught:
        draw_query(cepheid.query(query).query)
    assert (caught.value.code, why in caught.value.message) == ("not-yet", True)


def test_a_query_that_tells_its_runs_apart_says_so() -> None:
    plan = sections(cepheid.explain("#([v = 1], -[v = 2] > r, [v > r.v])", TABLE))["plan"]
    assert "evaluator: configurations" in plan
    assert "what is compared does not follow from what a match shows, so time grows with all ways" in plan


def test_who_asks_for_configurations_sees_what_it_runs() -> None:
    shown = sections(cepheid.explain(UNARY, TABLE, evaluator="configurations"))
    assert shown["register transducer"].splitlines()[0] == "start q0, final q2"
    assert "automaton" not in shown
    assert "`configurations` was asked for" in shown["plan"]


@pytest.mark.parametrize("query", [SREMO, NARY])
def test_a_transducer_is_drawn_with_its_registers(query: str) -> None:
    drawing = draw_query(cepheid.query(query).query)
    assert drawing.startswith("digraph automaton {")
    assert "shape=box, style=dashed" in drawing
    assert "↑•" in drawing
