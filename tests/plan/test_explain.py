"""`explain` shows the plan: the automaton that runs a query, in whichever language, and why; it computes nothing."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from types import FunctionType

import pyarrow as pa
import pytest

import cepheid
from cepheid.algebra.printing import print_query
from cepheid.automata.attach_names import automaton_with, readable_names
from cepheid.automata.automaton import Automaton
from cepheid.automata.determinise import Determiniser
from cepheid.automata.determinise_chain import ChainDeterminiser
from cepheid.automata.determinise_registers import RegisterDeterminiser
from cepheid.automata.minimise import minimal_with_registers
from cepheid.automata.printing import print_automaton
from cepheid.engine import Engine
from cepheid.errors import CepheidError
from cepheid.evaluators.chain.evaluator import ChainEvaluator
from cepheid.evaluators.compact.evaluator import CompactEvaluator
from cepheid.pipeline import choice_for, plan_for
from cepheid.plan import candidates
from cepheid.plan.explain import draw, explain_choice, explain_plan
from cepheid.plan.plan import Choice
from cepheid.schema import schema_of
from support.generators import seeded, seeded_sremo

TABLE = pa.table({"ts": [0], "type": ["A"], "id": [1], "v": [1.0]})
SREMO = "#([type = 'A'] > r, [type = 'B' AND v > r.v]) WITHIN 5"
NARY = "SELECT * FROM s WHERE (A AS x ; B AS y ; C AS z) FILTER x.v < z.v WITHIN 4"
CHAIN = "SELECT * FROM s WHERE ((A AS x ; B AS y) FILTER x.id = y.id) ; C AS z"
UNARY = "SELECT * FROM s WHERE A AS x ; B AS y"
ANY_ORDER = "SELECT * FROM s WHERE A ALL B"
PARTITIONED = "SELECT * FROM s WHERE A AS x ; B AS y PARTITION BY id WITHIN 5"
PART_BY = "SELECT * FROM s WHERE A AS x ; B AS y PART-BY [id]"
BEFORE_MARKS = "#(-[v = 2] > r, [v = 1], [v > r.v]) WITHIN 5"
EXPOSED = "#([v = 1], -[v = 2] > r, [v > r.v])"
SCHEMA = schema_of(TABLE.schema, time="ts")

SECTIONS = {
    SREMO: ("register r\n", "mark any [type = 'B'] if v > r.v → 2"),
    NARY: ("register x\n", "mark A as x, store x → 1"),
    CHAIN: ("state 0, initial\n", "mark B if last.id = id as y"),
    UNARY: ("state 0, initial\n", "mark A as x → 1"),
    ANY_ORDER: ("state 0, initial\n", "mark A as A → 1"),
    PARTITIONED: ("state 0, initial\n", "mark A as x → 1"),
}
FRONT = ["query", "syntax tree", "algebra", "rewriting"]


def sections(text: str) -> dict[str, str]:
    parts = ("\n" + text).split("\n── ")[1:]
    return {title: body.strip() for title, _, body in (part.partition(" ──\n") for part in parts)}


def middle(query: str) -> list[str]:
    """The sections between the rewriting and the plan."""
    return ["attached", "automaton"] if query == NARY else ["automaton"]


@pytest.mark.parametrize("query", SECTIONS)
def test_without_data_explain_shows_the_automaton(query: str) -> None:
    begin, line = SECTIONS[query]
    shown = sections(cepheid.explain(query))
    assert list(shown) == [*FRONT, *middle(query)]
    assert shown["automaton"].startswith(begin)
    assert line in shown["automaton"]


@pytest.mark.parametrize("query", SECTIONS)
def test_with_data_it_shows_the_same_and_the_plan(query: str) -> None:
    begin, line = SECTIONS[query]
    shown = sections(cepheid.explain(query, TABLE))
    assert list(shown) == [*FRONT, *middle(query), "plan"]
    assert shown["automaton"].startswith(begin)
    assert line in shown["automaton"]


@pytest.mark.parametrize("evaluator", ["auto", "compact", "chain", "configurations", "semantics"])
@pytest.mark.parametrize("query", [*SECTIONS, PART_BY, EXPOSED, BEFORE_MARKS])
def test_explaining_a_plan_computes_nothing(
    query: str, evaluator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = cepheid.query(query)
    try:
        choice, plan = choice_for(parsed, evaluator), plan_for(parsed, SCHEMA, evaluator)
    except CepheidError as error:
        assert error.code == "unsupported-evaluator"  # noqa: PT017
        return
    before = explain_choice(parsed.tree, choice), explain_plan(parsed.tree, plan)
    drawing = None if plan.automaton is None else draw(plan)
    broken = break_every_rule_and_construction(monkeypatch)
    constructions = {"construct", "construct_chain", "construct_reading", "construct_registers"}
    constructions |= {"rewrite", "attach", "trim", "trim_guards", "with_exposed_registers"}
    assert constructions <= broken
    with pytest.raises(AssertionError, match="is computed"):
        plan_for(parsed, SCHEMA, evaluator)
    assert (explain_choice(parsed.tree, choice), explain_plan(parsed.tree, plan)) == before
    assert drawing is None or draw(plan) == drawing


DETERMINISERS = (Determiniser, ChainDeterminiser, RegisterDeterminiser)


def test_an_engine_runs_the_automaton_that_explain_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    run: list[Automaton] = []
    for kind in DETERMINISERS:
        monkeypatch.setattr(kind, "__init__", noting(run, kind.__init__))
    printed, other, exposing, guarded = 0, 0, 0, 0
    texts = [*SECTIONS, PART_BY, EXPOSED, BEFORE_MARKS, EXPOSED + " WITHIN 5"]
    plans = [(cepheid.query(text), plan_for(cepheid.query(text), SCHEMA)) for text in texts]
    for language, made in (("cel", seeded), ("sremo", seeded_sremo)):
        for case in map(made, range(50)):
            parsed = cepheid.query(print_query(case.query), language)
            with contextlib.suppress(CepheidError):  # it can match nothing
                plans.append((parsed, plan_for(parsed, case.schema)))
    for parsed, plan in plans:
        shown = sections(explain_plan(parsed.tree, plan))
        for counting in (False, True):
            run.clear()
            minimal_with_registers.cache_clear()
            Engine(plan, counting=counting)
            chosen = plan.for_counting if counting and plan.for_counting is not None else plan
            own = shown.get("automaton for counting") if chosen is plan.for_counting else None
            for automaton in run:
                assert explained(automaton, chosen) == (own or shown["automaton"]), parsed.text
            assert bool(run) == (chosen.automaton is not None)
            printed, other = printed + len(run), other + (own is not None)
            exposing += any(automaton.exposes for automaton in run)
            guarded += any(automaton.guarded for automaton in run)
    assert min(printed // 100, other, exposing // 5, guarded // 3) > 0


def noting(run: list[Automaton], begin: Callable[..., None]) -> Callable[..., None]:
    """A determiniser's `__init__` that also notes the automaton it is given."""

    def init(self: object, automaton: Automaton, *args: object, **options: object) -> None:
        run.append(automaton)
        begin(self, automaton, *args, **options)

    return init


def explained(automaton: Automaton, choice: Choice) -> str:
    """An automaton as `explain` prints it."""
    names = (
        None
        if choice.attached is None
        else readable_names(choice.attached.pattern, choice.attached.behind.values())
    )
    return print_automaton(automaton if names is None else automaton_with(automaton, names))


PRINTING = {"printing", "attach_names"}
READ_BY_PRINTING = {"registers_of", "exposed"}


def break_every_rule_and_construction(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Every function of rewrite/ and automata/ but those that print raises, wherever it was imported."""
    broken = set()
    modules = [module for name, module in sys.modules.items() if name.startswith("cepheid.")]
    for module in modules:
        for name, found in list(vars(module).items()):
            folder, _, home = getattr(found, "__module__", "").removeprefix("cepheid.").partition(".")
            if not isinstance(found, FunctionType) or folder not in ("rewrite", "automata"):
                continue
            if home not in PRINTING and name not in READ_BY_PRINTING:
                broken.add(name)
                monkeypatch.setattr(module, name, raising(name))
    return broken


def raising(name: str) -> Callable[..., object]:
    def raises(*_args: object, **_options: object) -> object:
        raise AssertionError(f"{name} is computed")

    return raises


def test_matches_and_counts_of_partitions_run_differently_and_explain_says_so() -> None:
    plan = plan_for(cepheid.query(PARTITIONED), SCHEMA)
    assert plan.for_counting is not None
    assert (plan.evaluator, plan.for_counting.evaluator) == ("chain", "compact")
    assert isinstance(Engine(plan)._evaluator, ChainEvaluator)
    assert isinstance(Engine(plan, counting=True)._evaluator, CompactEvaluator)
    shown = sections(cepheid.explain(PARTITIONED, TABLE))["plan"]
    assert shown.startswith("evaluator: chain\n  because every condition is unary")
    assert "\nto count: compact, because every condition is unary" in shown
    asked = plan_for(cepheid.query(PARTITIONED), SCHEMA, "chain")
    assert asked.for_counting is None


def test_explain_prints_the_rewriting_that_runs() -> None:
    assert "partition:" in sections(cepheid.explain(PART_BY, TABLE))["rewriting"]
    for evaluator in ("chain", "semantics"):
        shown = sections(cepheid.explain(PART_BY, TABLE, evaluator=evaluator))
        assert shown["rewriting"] == "none: the query runs as written"
    assert (
        "mark B if last.id ≡ id as y"
        in sections(cepheid.explain(PART_BY, TABLE, evaluator="chain"))["automaton"]
    )


def test_attached_filters_have_the_names_that_the_user_wrote() -> None:
    shown = sections(cepheid.explain(NARY, TABLE))
    assert shown["attached"] == "A AS x ; B AS y ; C[x.v < v] AS z"
    rounds = "SELECT * FROM s WHERE (A AS x FILTER x.v < z.v){2} ; B+ IN X ; C AS z FILTER X.v <> z.v"
    shown = sections(cepheid.explain(rounds, TABLE))
    assert shown["attached"].splitlines() == [
        "A AS x ; A AS x_2 ; B+ IN X IN X_2 ; C[x.v < v AND x_2.v < v] AS z",
        "checked on whole matches: FILTER X_2.v <> z.v",
    ]
    assert "as x, store x_2" in shown["automaton"]
    assert "′" not in cepheid.explain(rounds, TABLE) + draw(choice_for(cepheid.query(rounds)))


def test_the_reasons_of_preferred_evaluators_are_printed() -> None:
    plan = sections(cepheid.explain(NARY, TABLE))["plan"].splitlines()
    assert plan[0] == "evaluator: configurations"
    assert plan[2:4] == [
        "  not compact: FILTER x.v < z.v compares events",
        "  not chain: FILTER x.v < z.v is more than an equality of two attributes",
    ]


def test_a_candidate_is_asked_only_when_those_before_it_decline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "automaton_with_registers", raising("automaton_with_registers"))
    monkeypatch.setattr(candidates, "construct_chain", raising("construct_chain"))
    assert plan_for(cepheid.query(UNARY), SCHEMA).evaluator == "compact"
    with pytest.raises(AssertionError, match="construct_chain"):
        plan_for(cepheid.query(NARY), SCHEMA)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (
            "[v = 1] . !(any* . ([v = 2] . [v = 3] WITHIN 2) . any*) . [v = 4] WITHIN 9",
            "a complement of a part with a window of its own has no automaton",
        ),
    ],
)
def test_a_query_that_only_the_definition_runs_is_told_why(query: str, why: str) -> None:
    shown = sections(cepheid.explain(query, TABLE))
    assert shown["plan"].startswith(
        "evaluator: semantics\n  because for now only the definition runs this query"
    )
    assert f"\n  not configurations: {why}\n" in shown["plan"]
    assert shown["automaton"] == f"none: {why}"
    with pytest.raises(CepheidError) as caught:
        draw(choice_for(cepheid.query(query)))
    assert (caught.value.code, why in caught.value.message) == ("not-yet", True)


def test_a_query_that_tells_its_runs_apart_says_so() -> None:
    shown = sections(cepheid.explain(EXPOSED, TABLE))
    assert "evaluator: configurations" in shown["plan"]
    assert "events are compared that a match does not show, so time grows with all runs" in shown["plan"]


def test_registers_that_the_running_automaton_exposes_are_shown() -> None:
    plan = plan_for(cepheid.query(EXPOSED), SCHEMA)
    assert plan.automaton is not None
    assert any("↓r" in (transition.label or ()) for transition in plan.automaton.transitions)
    shown = sections(cepheid.explain(EXPOSED, TABLE))["automaton"]
    assert "\n  mark any [v = 1] → 1\n" in shown
    assert "\n  skip any [v = 2], expose r → 2\n" in shown


def test_a_window_that_became_guards_is_shown() -> None:
    shown = sections(cepheid.explain(BEFORE_MARKS, TABLE))["automaton"]
    assert shown.startswith("registers r, ⊢ (the first marked event)\n")
    assert "if v > r.v, within 5 of ⊢ → " in shown


def test_who_asks_for_configurations_sees_what_it_runs() -> None:
    shown = sections(cepheid.explain(UNARY, TABLE, evaluator="configurations"))
    assert "register" not in shown["automaton"]
    assert "`configurations` was asked for" in shown["plan"]


@pytest.mark.parametrize("query", [SREMO, NARY])
def test_an_automaton_is_drawn_with_its_registers(query: str) -> None:
    drawing = draw(choice_for(cepheid.query(query)))
    assert drawing.startswith("digraph automaton {")
    assert "shape=box, style=dashed" in drawing
    assert ", store " in drawing
