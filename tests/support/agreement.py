"""Runs a random case on an engine in every way that must give the oracle's matches.

In: a `generators.Case`. Out: matches as the oracle writes them, so that both can be compared as they are. Every event
carries its position in a column of its own, through which bindings are read back from the output.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from cepheid.algebra.types import check_types
from cepheid.engine import Engine
from cepheid.errors import CepheidError
from cepheid.evaluators.derived_columns import DerivedColumns
from cepheid.pipeline import ParsedQuery, parse_query
from cepheid.plan.choose import choose
from cepheid.plan.plan import Plan
from cepheid.rewrite.rules import rewrite
from cepheid.schema import schema_of
from support.cpu_time_limit import OvertimeError, within_seconds
from support.generators import Case

POSITION = "position_in_stream"
PATIENCE = 5
"""Seconds of CPU time for the definition, which can take hours for a dozen events."""

Match = tuple[tuple[int, ...], tuple[tuple[str, int], ...]]


def numbered(case: Case) -> pa.Table:
    return case.table.append_column(POSITION, pa.array(range(len(case.table)), pa.int64()))


def plan_of(case: Case, evaluator: str) -> Plan | None:
    """None for a query that can match nothing, which the rewriting refuses."""
    schema = schema_of(numbered(case).schema, time="ts")
    query = check_types(case.query, schema)
    try:
        without = ("partition",) if evaluator == "chain" else ()
        return choose(query, rewrite(query, without), schema, evaluator)
    except CepheidError as error:
        if error.code != "unsatisfiable":
            raise
        return None


def is_chain(case: Case) -> bool:
    """Whether the chain evaluator takes the query."""
    return is_taken(case, "chain")


def is_taken(case: Case, evaluator: str) -> bool:
    """Whether an evaluator takes the query."""
    return not is_declined(case, evaluator) and plan_of(case, evaluator) is not None


def is_declined(case: Case, evaluator: str) -> bool:
    """Whether an evaluator says that it cannot run the query."""
    try:
        plan_of(case, evaluator)
    except CepheidError as error:
        if error.code != "unsupported-evaluator":
            raise
        return True
    return False


def within_patience(case: Case) -> tuple[Case, list[Match]]:
    """The case and what the definition finds; of a stream that takes it too long, half, a quarter, … is left."""
    while True:
        try:
            with within_seconds(PATIENCE):
                return case, expected(case)
        except OvertimeError:
            case = replace(case, table=case.table.slice(0, len(case.table) // 2))
            print(f"the definition takes too long: cut to {len(case.table)} events", flush=True)  # noqa: T201


def expected(case: Case) -> list[Match]:
    return sorted((match.positions, tuple(sorted(match.binding))) for match in case.expected())


def found_in(table: pa.Table, names: list[str]) -> list[Match]:
    matches = []
    for row in table.to_pylist():
        binding = []
        for name in names:
            value = row[name]
            events = [] if value is None else value if isinstance(value, list) else [value]
            binding += [(name, event[POSITION]) for event in events]
        matches.append((tuple(row["positions"]), tuple(sorted(binding))))
    return sorted(matches)


def run(plan: Plan, table: pa.Table, cuts: list[int]) -> pa.Table:
    """The matches when the stream is pushed in pieces that end at these places."""
    engine = Engine(plan, positions=True)
    pieces, at = [], 0
    for cut in [*sorted(cuts), len(table)]:
        pieces.append(engine.push(table.slice(at, cut - at)))
        at = cut
    return pa.concat_tables([*pieces, engine.finish()])


def run_saved(parsed: ParsedQuery, table: pa.Table, cuts: list[int], evaluator: str) -> pa.Table:
    """The same with the engine saved and loaded after every piece."""
    from cepheid import load

    engine = parsed.engine(table.schema, positions=True, evaluator=evaluator)
    pieces, at = [], 0
    for cut in [*sorted(cuts), len(table)]:
        pieces.append(engine.push(table.slice(at, cut - at)))
        engine = load(engine.save())
        at = cut
    return pa.concat_tables([*pieces, engine.finish()])


def counted(plan: Plan, table: pa.Table, cuts: list[int], dense: bool = True) -> int:
    """The count; with `dense` false by the loop that takes over where machine words do not suffice."""
    engine = Engine(plan, counting=True)
    if not dense:
        evaluator = engine._evaluator
        evaluator = evaluator._inner if isinstance(evaluator, DerivedColumns) else evaluator
        evaluator._is_dense = False
    at = 0
    for cut in [*sorted(cuts), len(table)]:
        engine.push(table.slice(at, cut - at))
        at = cut
    engine.finish()
    return engine.counted


def same(one: pa.Table, two: pa.Table, names: list[str]) -> bool:
    """Whether two outputs hold the same matches under the same ids (columns may hold NaN, which equals nothing)."""
    ids = [
        sorted(zip(table["match_id"].to_pylist(), table["positions"].to_pylist(), strict=True))
        for table in (one, two)
    ]
    return ids[0] == ids[1] and found_in(one, names) == found_in(two, names)


def differences(case: Case, cuts: list[int], evaluator: str = "compact", saved: bool = False) -> str | None:
    """What an evaluator does otherwise than the oracle, or None. The stream is cut where the oracle takes too long."""
    case, wanted = within_patience(case)
    cuts = [min(cut, len(case.table)) for cut in cuts]
    plan = plan_of(case, evaluator)
    if plan is None:
        return None if not wanted else f"refused as unsatisfiable, but the oracle finds {wanted}"
    table = numbered(case)
    names = [item.name for item in plan.shown]
    whole = run(plan, table, [])
    if found_in(whole, names) != wanted:
        return f"found {found_in(whole, names)}, oracle {wanted}"
    ids = whole["match_id"].to_pylist()
    if len(set(ids)) != len(ids):
        return f"ids repeat: {ids}"
    number = counted(plan, table, cuts)
    if number != len(wanted):
        return f"counted {number}, oracle {len(wanted)}"
    if evaluator == "compact" and (number := counted(plan, table, cuts, dense=False)) != len(wanted):
        return f"counted {number} by the general loop, oracle {len(wanted)}"
    pieces = run(plan, table, cuts)
    if not same(pieces, whole, names):
        return f"cut at {cuts}: found {found_in(pieces, names)}, oracle {wanted}"
    if saved:
        from cepheid.algebra.printing import print_query

        again = run_saved(parse_query(print_query(case.query)), table, cuts, evaluator)
        if not same(again, whole, names):
            return f"saved at {cuts}: found {found_in(again, names)}, oracle {wanted}"
    return None
