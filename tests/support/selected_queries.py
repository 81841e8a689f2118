"""Random columns of SELECT, DISTINCT and EVENTS over random queries, and what the definition shows of them.

In: a case of another generator. Out: the same pattern with a SELECT of variables, expressions and EVENTS; and the rows
that a table of matches holds, written so that they can be compared with those of `semantics.output`.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

import cepheid
from cepheid.algebra.conditions import (
    EVENT,
    Aggregate,
    Arithmetic,
    Attribute,
    Call,
    Expression,
    IsNull,
    Literal,
    Previous,
    sets_chosen,
)
from cepheid.algebra.nodes import EVENTS, Bind, Computed, Query, Recognise, Strategy, WindowUnit
from cepheid.algebra.printing import print_query
from cepheid.algebra.types import check_types
from cepheid.algebra.variables import Shown, labels, output_columns, shown, with_many
from cepheid.pipeline import parse_query
from cepheid.plan.plan import Plan
from cepheid.semantics.oracle import OracleMatch, evaluate
from cepheid.semantics.output import values_shown
from cepheid.semantics.stream import Stream, events_of
from cepheid.whole import match_table
from support.agreement import POSITION, counted, numbered, plan_of, run, run_saved
from support.generators import (
    Case,
    Choices,
    Limits,
    chance,
    nary_condition,
    of_two_types,
    pick,
    query_for,
    stream,
    unary_condition,
)

Row = tuple[Hashable, ...]

FREQUENT = (
    "A AS x ; B AS y",
    "A AS x ; A AS y ; B AS z",
    "(A AS x OR A AS y) ; B AS z",
    "A+ IN X ; B AS y",
    "(A AS x ; B AS y)+ ; A AS z",
    "A AS x ; B AS y? ; A AS z",
    "A AS x ALL B AS y",
    "(A IN X)? ; (A OR B)+ IN Y",
    "A AS x ; B AS y FILTER x.id = y.id",
    "A AS x ; A AS y ; B AS z FILTER x.n < z.n",
    "A+ IN X ; B AS y FILTER X.n <> y.n",
    "A AS x ; B AS y PART-BY [x.id, y.n]",
)
"""Formulas of which short streams have many matches, for every evaluator."""


def frequent_case(choices: Choices, limits: Limits) -> Case:
    """A query with many matches, to be selected from."""
    limits = replace(limits, strategies=(*[Strategy.ALL] * 5, *Strategy), windows=(*[None] * 5, *WindowUnit))
    formula = parse_query(f"SELECT * FROM s WHERE {pick(choices, FREQUENT)}").query.pattern
    query = replace(query_for(choices, limits, formula), consume=chance(choices, 10))
    timestamps = query.window is not None and query.window.unit is WindowUnit.MICROSECONDS
    return selecting(choices, of_two_types(Case(query, stream(choices, limits, timestamps))))


def selecting(choices: Choices, case: Case) -> Case:
    """The case with columns of its own."""
    query = case.query
    names = sorted({name for name in labels(query.pattern) if name != EVENTS})
    if isinstance(query.pattern, Recognise) or not names:
        return case
    several = [item.name for item in shown(replace(query, select=tuple(names))) if item.many]
    distinct = chance(choices, 50)
    # What few matches differ in is merged.
    items: list[str | Computed] = [
        _column(choices, number, names, several) for number in range(1 if distinct else choices.below(4))
    ]
    if not distinct or chance(choices, 20):
        items += dict.fromkeys(pick(choices, names) for _ in range(choices.below(2)))
    pattern = query.pattern
    if not items or chance(choices, 15):
        items.append(EVENTS)
        pattern = Bind(pattern, EVENTS)
    select = tuple(item for item in with_many(pattern, tuple(items)) if _reads_one_set(item))
    query = replace(query, pattern=pattern, select=select or tuple(names[:1]), distinct=distinct)
    return replace(case, query=replace(query, limit=pick(choices, (None, None, None, 1, 3))))


def _reads_one_set(item: str | Computed) -> bool:
    return isinstance(item, str) or len(sets_chosen(item.value)) < 2


def _column(choices: Choices, number: int, names: Sequence[str], several: Sequence[str]) -> Computed:
    name = f"c{number}"
    if several and chance(choices, 15):
        return Computed(name, _with_previous(choices, pick(choices, several)))
    if several and chance(choices, 40):
        total = _aggregate(choices, pick(choices, several))
        if total.function in ("count", "sum", "avg") and chance(choices, 30):
            attribute = Attribute(pick(choices, names), pick(choices, ("n", "v")))
            return Computed(name, Arithmetic("-", attribute, total))
        return Computed(name, total)
    return Computed(name, _expression(choices, pick(choices, names), pick(choices, names)))


def _with_previous(choices: Choices, name: str) -> Expression:
    column = pick(choices, ("n", "v", "s"))
    before = Previous(Attribute(name, column), pick(choices, (1, 1, 2)))
    if column == "s":
        return before
    value = Attribute(name, pick(choices, ("n", "v")))
    return pick(choices, (before, Arithmetic("-", value, before), Call("coalesce", (before, value))))


def _aggregate(choices: Choices, name: str) -> Aggregate:
    value = Attribute(name, pick(choices, ("n", "v", "id")))
    match choices.below(6):
        case 0:
            return Aggregate("count", Attribute(name, EVENT))
        case 1:
            return Aggregate(
                "count", pick(choices, (value, Attribute(name, "s"))), distinct=chance(choices, 50)
            )
        case 2:
            return Aggregate(pick(choices, ("sum", "avg")), Arithmetic("*", value, Literal(2)))
        case 3:
            return Aggregate(pick(choices, ("min", "max", "first", "last")), Attribute(name, "s"))
        case _:
            return Aggregate(pick(choices, ("sum", "avg", "min", "max", "first", "last")), value)


def _expression(choices: Choices, one: str, two: str) -> Expression:
    attribute = Attribute(one, pick(choices, ("n", "v", "id")))
    other = Attribute(two, pick(choices, ("n", "v", "id")))
    match choices.below(11):
        case 0 | 1 | 2 | 3:
            return Attribute(one, pick(choices, ("n", "v", "id", "id", "s", "s", "type")))
        case 4 | 5:
            return Arithmetic(pick(choices, ("+", "-", "*", "/", "%")), attribute, other)
        case 6:
            name = pick(choices, ("coalesce", "least", "greatest", "nullif"))
            return Call(name, (attribute, other))
        case 7:
            return Call(pick(choices, ("concat", "coalesce")), (Attribute(one, "s"), Attribute(two, "s")))
        case 8:
            return unary_condition(choices, one)
        case 9:
            return nary_condition(choices, one, two)
        case _:
            return pick(choices, (Literal(1), Literal(2.5), Literal("a"), IsNull(attribute)))


def differences(case: Case, cuts: list[int], evaluator: str) -> str | None:
    """What an evaluator shows otherwise than the definition, in one piece, cut, saved and loaded, counted; or None."""
    plan = plan_of(case, evaluator)
    query, table = check_types(case.query, case.schema), numbered(case)
    wanted = rows_wanted(replace(query, limit=None), events_of(case.table, case.schema))
    if plan is None:
        return None if not wanted else f"refused as unsatisfiable, but the oracle finds {wanted}"
    most = len(wanted.keys()) if query.distinct else wanted.total()
    number = most if query.limit is None else min(most, query.limit)
    parsed = parse_query(print_query(case.query))
    ways = {
        "at once": run(plan, table, []),
        f"cut at {cuts}": run(plan, table, cuts),
        "saved": run_saved(parsed, table, cuts, evaluator),
        "whole": match_table(plan, table, positions=True),
    }
    if plan.evaluator != "semantics":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cepheid.CepheidWarning)  # of types that no event has
            reader = cepheid.match(table.to_reader(), parsed, positions=True, evaluator=evaluator)
            ways["read"] = reader.read_all()
    for way, result in ways.items():
        found = rows_found(plan, result)
        if len(result) != number or not found <= wanted:
            return f"{way}: found {found}, of the oracle's {wanted}"
        if query.limit is None and ids(result) != ids(ways["at once"]):
            return f"{way}: other ids"
    if len(set(ids(ways["at once"]))) < number:
        return "ids repeat"
    if (seen := counted(plan, table, cuts)) != number:
        return f"counted {seen}, oracle {number}"
    return _columns_wanted(plan, table, ways["at once"]) if query.limit is None else None


def _columns_wanted(plan: Plan, table: pa.Table, whole: pa.Table) -> str | None:
    """Each column alone is what it is beside the others."""
    for name in whole.column_names:
        if name != "positions":
            alone = match_table(plan, table, columns=[name])
            if alone.schema.field(name) != whole.schema.field(name) or repr(alone[name].to_pylist()) != repr(
                match_table(plan, table)[name].to_pylist()
            ):
                return f"columns=[{name!r}] differ"
    return None


def ids(result: pa.Table) -> list[str]:
    return sorted(result["match_id"].to_pylist())


def rows_wanted(query: Query, events: Stream) -> Counter[Row]:
    """The rows of the definition. Those that DISTINCT merges are known by their first and last event."""
    return Counter(_row(query, match, events) for match in evaluate(query, events))


def _row(query: Query, match: OracleMatch, events: Stream) -> Row:
    places = (match.positions[0], match.last) if query.distinct else match.positions
    return (places, *map(_plain, values_shown(query, match, events)))


def rows_found(plan: Plan, result: pa.Table) -> Counter[Row]:
    items = output_columns(plan.query)
    return Counter(
        (
            (row["positions"][0], row["positions"][-1]) if plan.query.distinct else tuple(row["positions"]),
            *(
                _plain(_places(row[item.name]) if isinstance(item, Shown) else row[item.name])
                for item in items
            ),
        )
        for row in result.to_pylist()
    )


def _places(value: Any) -> tuple[int, ...]:
    """The positions of the events of a struct, a list of structs or NULL."""
    events = [] if value is None else value if isinstance(value, list) else [value]
    return tuple(event[POSITION] for event in events)


def _plain(value: Any) -> Hashable:
    if isinstance(value, tuple | list):
        return tuple(map(_plain, value))
    return "NaN" if value != value else (type(value) is bool, value)
