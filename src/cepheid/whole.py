"""A plan over a whole table: all matches as one table, or their number.

In: a plan and a table in stream order. Out: the matches or, where they would not fit into memory, an error that says
how many there are. Counting is cheap, but it is a second run: it is done only once matches have filled an eighth of
what is allowed, or those of one batch have millions of events.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log10

import pyarrow as pa

from cepheid.engine import Engine
from cepheid.errors import CepheidError
from cepheid.evaluators.configurations.selection import HOW
from cepheid.evaluators.interface import at_most
from cepheid.memory import VARIABLE, most_bytes
from cepheid.options import checked_columns
from cepheid.plan.candidates import CONFIGURATIONS
from cepheid.plan.plan import Plan

MANY_EVENTS = 1 << 22  # in the matches of one batch, before their number is asked for
FEWEST_BYTES = 64  # of a match
WAYS_OUT = (
    f"add WITHIN, LIMIT or a strategy such as MAX to the query, give `limit=`, use count, or set {VARIABLE}"
)


def match_table(
    plan: Plan,
    table: pa.Table,
    positions: bool = False,
    limit: int | None = None,
    columns: Sequence[str] | None = None,
) -> pa.Table:
    """All matches, in the order of their ends."""
    columns = checked_columns(columns)
    plan, table = with_columns(plan, table, plan.needs(columns))
    try:
        with at_most(MANY_EVENTS):
            return _matched(plan, table, positions, limit, columns)
    except CepheidError as error:
        if error.code != "too-many-matches" or error.hint == WAYS_OUT:
            raise
    # There are many. Where counting is cheap, their number says whether to go on; else the guard itself does.
    if counts_cheaply(plan):
        _check_size(plan, table, limit, FEWEST_BYTES, most_bytes())
    return _matched(plan, table, positions, limit, columns)


def count_table(plan: Plan, table: pa.Table) -> int:
    """The exact number of matches; only the columns that decide them are read."""
    plan, table = with_columns(plan, table, plan.needs(()))
    engine = Engine(plan, counting=True)
    engine.push(table)
    engine.finish()
    return engine.counted


def with_columns(plan: Plan, table: pa.Table, names: Sequence[str]) -> tuple[Plan, pa.Table]:
    """The plan and the table with these columns; what the others hold does not matter."""
    if set(plan.schema.shown) <= set(names):
        return plan, table
    return plan.with_schema(plan.schema.only(names)), table.select(list(names))


def _matched(
    plan: Plan, table: pa.Table, positions: bool, limit: int | None, columns: Sequence[str] | None
) -> pa.Table:
    engine = Engine(plan, positions=positions, limit=limit, columns=columns)
    allowed = most_bytes()
    found = [engine.output_schema.empty_table()]
    held, matches, is_counted = 0, 0, not counts_cheaply(plan)
    for piece in engine.whole(table):
        found.append(piece)
        held += piece.nbytes
        matches += len(piece)
        if held > allowed // 8 and not is_counted and engine.numbers[0] < len(table):
            _check_size(plan, table, limit, held // max(1, matches), allowed)
            is_counted = True
        if held > allowed:
            raise CepheidError("too-many-matches", f"matches fill more than {_size(allowed)}", hint=WAYS_OUT)
    return pa.concat_tables(found)


def counts_cheaply(plan: Plan) -> bool:
    """Whether matches are counted without being made."""
    if plan.automaton is None or plan.query.distinct:
        return False
    chooses = plan.evaluator == CONFIGURATIONS.evaluator and plan.rewritten.strategy in HOW
    return not (plan.automaton.checks or plan.automaton.exposes or chooses)


def _check_size(plan: Plan, table: pa.Table, limit: int | None, bytes_each: int, allowed: int) -> None:
    """Raises where all matches, of so many bytes each, are more than is allowed."""
    number = count_table(plan, table)
    number = number if limit is None else min(number, limit)
    if number * max(1, bytes_each) > allowed:
        message = f"there are {spoken(number)} matches, and they would fill more than {_size(allowed)}"
        raise CepheidError("too-many-matches", message, hint=WAYS_OUT)


def spoken(number: int) -> str:
    """A number of any size in a few characters.

    >>> spoken(1_234_567), spoken(2**100 - 1), spoken(3**100_000)
    ('1,234,567', 'about 1.3e30', 'about 1.3e47712')
    """
    if number < 10**15:
        return f"{number:,}"
    shift = max(0, number.bit_length() - 64)
    exponent = log10(number >> shift) + shift * log10(2)
    whole = int(exponent)
    return f"about {10 ** (exponent - whole):.1f}e{whole}"


def _size(count: int) -> str:
    return f"{count >> 20:,} MiB" if count >> 20 else f"{count:,} bytes"
