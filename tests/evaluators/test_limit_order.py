"""LIMIT keeps the first matches by end, then by positions, then by what is bound, whichever evaluator runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

import pyarrow as pa
import pytest

import cepheid
from cepheid.algebra.nodes import Strategy, WindowUnit
from cepheid.plan.choose import EVALUATORS
from support.agreement import expected, found_in, is_taken, numbered, plan_of, run
from support.compared_queries import seeded_compared, seeded_mixed
from support.generators import Case, Limits, seeded, seeded_sremo
from support.set_queries import seeded_gathered

UNARY = Limits(nary=False, events=14, windows=(None, *WindowUnit))
CHAINS = Limits(events=10, atoms=4, sets=True, any_order=0, strategies=(Strategy.ALL, Strategy.STRICT))
KINDS: dict[str, Callable[[int], Case]] = {
    "unary": lambda seed: seeded(seed, UNARY),
    "chains": lambda seed: seeded(seed, CHAINS),
    "compared": seeded_compared,
    "mixed": seeded_mixed,
    "gathered": seeded_gathered,
    "sremo": seeded_sremo,
}


def difference(case: Case, seed: int) -> str | None:
    """What an evaluator keeps otherwise than the definition, or None."""
    everything = len(expected(replace(case, query=replace(case.query, limit=None))))
    if everything == 0:
        return None
    limited = replace(case, query=replace(case.query, limit=1 + seed % everything))
    wanted = expected(limited)
    table = numbered(limited)
    for evaluator in EVALUATORS[1:]:
        if not is_taken(limited, evaluator):
            continue
        plan = plan_of(limited, evaluator)
        assert plan is not None
        names = [item.name for item in plan.shown]
        for cuts in ([], [seed % (len(table) + 1), seed % 7 % (len(table) + 1)]):
            found = found_in(run(plan, table, cuts), names)
            if found != wanted:
                return (
                    f"{evaluator}, cut at {cuts}, limit {limited.query.limit}: {found}, definition {wanted}"
                )
    return None


@pytest.mark.parametrize("spare", [None, 0], ids=["sorted", "walked"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_first_matches_are_kept(kind: str, spare: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where few more matches end than are kept, they are sorted; with no such room the nodes are walked."""
    without_spare(spare, monkeypatch)
    for seed in range(60):
        case = KINDS[kind](seed)
        assert difference(case, seed) is None, seed


def without_spare(spare: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if spare is not None:
        for evaluator in ("compact", "chain", "configurations"):
            monkeypatch.setattr(f"cepheid.evaluators.{evaluator}.evaluator.spare_of", lambda limit: spare)


def subsets(rows: list[int], end: int) -> Iterator[list[int]]:
    """Every non-empty choice of rows, with the end behind it, in order."""

    def chosen(before: list[int], at: int) -> Iterator[list[int]]:
        for i in range(at, len(rows)):
            yield from chosen([*before, rows[i]], i + 1)
        if before:
            yield [*before, end]

    return chosen([], 0)


@pytest.mark.parametrize("evaluator", ["compact", "chain", "configurations"])
@pytest.mark.parametrize("window", ["", " WITHIN 1000"])
def test_a_few_of_very_many_matches_are_found_at_once(evaluator: str, window: str) -> None:
    """2⁴⁰⁰ matches end at one event, and 2⁸⁰⁰ later."""
    table = pa.table({"ts": range(804), "type": ["A"] * 400 + ["C", "B"] + ["A"] * 400 + ["C", "B"]})
    text = f"SELECT * FROM s WHERE A+ ; B{window}"
    found = cepheid.match(table, text, evaluator=evaluator, limit=7, columns=["positions"])
    assert found["positions"].to_pylist() == list(islice(subsets(list(range(400)), 401), 7))


def test_very_many_bindings_of_one_complex_event_are_few_where_few_are_asked_for() -> None:
    table = pa.table({"ts": range(21), "type": ["A"] * 20 + ["B"]})
    found = []
    for evaluator in ("compact", "chain"):
        text = "SELECT * FROM s WHERE (A AS x OR A AS y)+ ; B WITHIN 100"
        matches = cepheid.match(table, text, evaluator=evaluator, limit=3, positions=True)
        assert matches["positions"].to_pylist() == [list(range(21))] * 3
        found.append(sorted(matches["match_id"].to_pylist()))
    assert found[0] == found[1]


def test_a_limit_counts_rows_that_are_distinct() -> None:
    """Of many equal rows only the first counts, so that more of a long stream is read."""
    part = ["A", "A", "B", "B", "B", "C", *["D"] * 20_000]
    table = pa.table({"ts": range(2 * len(part)), "type": part * 2, "v": range(2 * len(part))})
    text = "SELECT DISTINCT x.v AS v FROM s WHERE A AS x ; B+ ; C WITHIN 100 LIMIT 3"
    assert cepheid.match(table, text)["v"].to_pylist() == [0, 1, len(part)]


@pytest.mark.parametrize("differs", ["y", "w"])
def test_a_list_that_must_differ_is_not_one_that_need_not(
    differs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_spare(0, monkeypatch)
    other = "wy".replace(differs, "")
    text = (
        f"SELECT * FROM s WHERE (A AS x ; B AS {differs} FILTER x.id <> {differs}.id) ; C AS z "
        f"OR A AS x ; B AS {other} ; C AS z WITHIN 100 LIMIT 2"
    )
    table = pa.table({"ts": range(4), "type": list("AABC"), "id": [1, 2, 1, 0]})
    found = cepheid.match(table, text, evaluator="chain", positions=True)
    assert sorted(found["positions"].to_pylist()) == [[0, 2, 3], [1, 2, 3]]
