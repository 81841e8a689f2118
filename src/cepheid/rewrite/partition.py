"""Partition: a PART-BY around the whole formula, on one attribute of all events, becomes a partition.

In: a query. Out: a query with the same matches, with partition columns for its outermost PART-BYs. The events of a
match have one key, so they lie in one partition, and so do all matches that compete with it under a strategy: they
end at the same event. Operators that depend on the whole stream rule this out: neighbours (`:`, STRICT), the number of
events in between (windows by count), consumption (CONSUME). The output stays that of the query as written: no column
for the key, positions and ids of the whole stream.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from cepheid.algebra.covers import uncovered
from cepheid.algebra.nfab_edges import skips_other_keys
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
    Nfab,
    Not,
    Or,
    PartBy,
    Pattern,
    Query,
    Recognise,
    Repeat,
    Select,
    Seq,
    Strategy,
    StrictSeq,
    WindowUnit,
    Within,
    walk,
)
from cepheid.algebra.scope import MOST_KEYS


def partition(query: Query) -> Query:
    """The query with its outermost PART-BYs as partition columns, where that is the same.

    >>> pair = Seq(Atom("T", "x"), Atom("H", "y"))
    >>> partition(Query(PartBy(pair, ((None, "id"),)))) == Query(pair, partition_by=("id",))
    True
    >>> partition(Query(PartBy(pair, ((None, "id"),)), consume=True)).partition_by
    ()
    """
    pattern, names = _without_outer_part_bys(query.pattern)
    columns = tuple(dict.fromkeys((*query.partition_by, *names)))
    if not names or len(columns) > MOST_KEYS or depends_on_whole_stream(query):
        return query
    return replace(query, pattern=pattern, partition_by=columns)


def _without_outer_part_bys(pattern: Pattern) -> tuple[Pattern, tuple[str, ...]]:
    """The pattern without the PART-BYs over all its events, and their attributes. The operators around them only filter
    matches, so the order does not matter."""
    match pattern:
        case PartBy(body, keys):
            inner, names = _without_outer_part_bys(body)
            attributes = {name for _, name in keys}
            if len(attributes) == 1 and compares_all(pattern):
                return inner, (*attributes, *names)
            return replace(pattern, body=inner), names
        case Filter(body) | Bind(body):
            inner, names = _without_outer_part_bys(body)
            return replace(pattern, body=inner), names
        case Or(parts):
            taken = [_without_outer_part_bys(part) for part in parts]
            names = taken[0][1]
            if any(set(others) != set(names) for _, others in taken):
                return pattern, ()
            return Or(tuple(part for part, _ in taken)), names
        case Nfab(_, _, equal):
            return pattern, tuple(dict.fromkeys(one.name for one in equal))  # NULL still equals nothing
        case Atom() | Seq() | StrictSeq() | All() | Repeat() | Select() | Not() | Within() | Recognise():
            return pattern, ()
        case _:
            assert_never(pattern)


def compares_all(node: PartBy) -> bool:
    variables = frozenset(var for var, _ in node.keys if var is not None)
    return any(var is None for var, _ in node.keys) or not any(uncovered(node.body, variables))


def depends_on_whole_stream(query: Query) -> bool:
    by_count = query.window is not None and query.window.unit is WindowUnit.EVENTS
    if by_count or query.consume or query.strategy is Strategy.STRICT:
        return True
    return any(map(_depends_on_whole_stream, walk(query.pattern)))


def _depends_on_whole_stream(node: Pattern) -> bool:
    match node:
        case StrictSeq() | Select() | Recognise():
            return True
        case Nfab():
            return not skips_other_keys(node)
        case Repeat(strict=strict):
            return strict
        case Not(_, window) | Within(_, window):
            return window is not None and window.unit is WindowUnit.EVENTS
        case Atom() | Seq() | Or() | All() | Filter() | PartBy() | Bind():
            return False
        case _:
            assert_never(node)
