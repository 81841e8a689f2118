"""Which evaluator runs a query, and why.

In: the query as meant, its rewriting, and the schema. Out: a plan. Candidates are asked in order of preference, and the
first that takes the query runs it. A query that no evaluator can run is an error, never an approximation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from cepheid.algebra.nodes import Query
from cepheid.algebra.variables import shown
from cepheid.errors import CepheidError, did_you_mean
from cepheid.plan.candidates import CANDIDATES, SEMANTICS, Candidate, Taken, in_order
from cepheid.plan.plan import Choice, Declined, Plan
from cepheid.plan.reads import columns_read
from cepheid.rewrite.rules import Rewriting
from cepheid.schema import Schema

AUTO = "auto"
EVALUATORS = (AUTO, *(candidate.evaluator for candidate in CANDIDATES))


def choose(
    query: Query, rewriting: Rewriting, schema: Schema, evaluator: str = AUTO, ran: str | None = None
) -> Plan:
    """The plan for a query over events of a schema; `evaluator` forces one, if it can run the query. `ran` is the
    evaluator that `auto` chose when a state was saved: the query continues with it, whatever `auto` would choose
    now."""
    choice = decide(query, rewriting, evaluator, ran)
    reads = columns_read(query, schema)
    counting = _decide_for_counting(choice)
    counted = None if counting is None else Plan(**_fields(counting), schema=schema, reads=reads)
    return Plan(**_fields(choice), schema=schema, reads=reads, for_counting=counted)


def decide(query: Query, rewriting: Rewriting, evaluator: str = AUTO, ran: str | None = None) -> Choice:
    """How a query runs as far as that is known without data."""
    if evaluator == SEMANTICS.evaluator:
        rewriting = Rewriting(query, ())  # who asks for the definition gets it of the query as written
    if evaluator == AUTO:
        order = in_order(rewriting.query, counting=False)
        return _first([one for one in order if ran in (None, one.evaluator)], query, rewriting)
    (candidate,) = (one for one in CANDIDATES if one.evaluator == _known(evaluator))
    taken = candidate.offer(query, rewriting.query)
    if isinstance(taken, str):
        raise CepheidError(
            "unsupported-evaluator",
            f"the {evaluator} evaluator {candidate.takes}, and {taken}",
            hint="leave the evaluator to `auto`",
        )
    why = f"`{evaluator}` was asked for", *taken.grows
    return _choice(candidate, taken, query, rewriting, asked=evaluator, why=why)


def _decide_for_counting(choice: Choice) -> Choice | None:
    """How matches are counted, where an evaluator that makes them more slowly counts them faster."""
    if choice.asked != AUTO:
        return None
    order = in_order(choice.rewritten, counting=True)
    before = order[: [one.evaluator for one in order].index(choice.evaluator)]
    known = {declined.evaluator for declined in choice.declined}
    for candidate in before:
        if candidate.evaluator not in known:
            taken = candidate.offer(choice.query, choice.rewritten)
            if not isinstance(taken, str):
                return _choice(candidate, taken, choice.query, choice.rewriting)
    return None


def _first(order: Sequence[Candidate], query: Query, rewriting: Rewriting) -> Choice:
    """The first candidate that takes the query."""
    declined: list[Declined] = []
    for candidate in order:
        taken = candidate.offer(query, rewriting.query)
        if not isinstance(taken, str):
            return _choice(candidate, taken, query, rewriting, declined=tuple(declined))
        declined.append(Declined(candidate.evaluator, taken))
    reasons = "; ".join(f"{one.evaluator}: {one.reason}" for one in declined)
    raise CepheidError("bad-state", f"no evaluator goes on with the query: {reasons or 'it is not known'}")


def _choice(
    candidate: Candidate,
    taken: Taken,
    query: Query,
    rewriting: Rewriting,
    *,
    asked: str = AUTO,
    why: tuple[str, ...] | None = None,
    declined: tuple[Declined, ...] = (),
) -> Choice:
    return Choice(
        query=query,
        rewriting=rewriting,
        evaluator=candidate.evaluator,
        asked=asked,
        why=(*taken.why, *taken.grows) if why is None else why,
        declined=declined,
        shown=shown(query),
        attached=taken.attached,
        automaton=taken.automaton,
    )


def _fields(choice: Choice) -> dict[str, Any]:
    return {field.name: getattr(choice, field.name) for field in fields(choice)}


def _known(evaluator: str) -> str:
    if evaluator not in EVALUATORS:
        listed = ", ".join(f"`{name}`" for name in EVALUATORS)
        raise CepheidError(
            "bad-argument",
            f"`evaluator` is one of {listed}; got `{evaluator}` instead",
            hint=did_you_mean(str(evaluator), EVALUATORS),
        )
    return evaluator
