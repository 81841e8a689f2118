"""The columns that SELECT computes, over all matches at once.

In: the events that matches show, and expressions over the variables of a match. Out: for each match a value, or where
the expression reads a variable that can be several events, the list of the values for each of them. The attributes that
are read are gathered into a table with a row per match (per event of the variable), aggregates beside them, and the
expression is evaluated over its columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

import numpy as np
import pyarrow as pa

from cepheid.algebra.conditions import (
    EVENT,
    Aggregate,
    Attribute,
    Expression,
    Literal,
    Previous,
    children,
    rebuild,
    sets_chosen,
    sets_read,
)
from cepheid.algebra.nodes import Computed
from cepheid.algebra.types import type_of_value
from cepheid.matches.aggregates import Evaluate as Evaluate
from cepheid.matches.aggregates import aggregated
from cepheid.matches.lists import lists
from cepheid.matches.match_arrays import Ints
from cepheid.matches.shown_events import Chosen
from cepheid.schema import Schema
from cepheid.streams.gather import Gathered, Rows

Part = Attribute | Aggregate | Previous
"""What has a value for each match, or for each event of a set, before an expression over them is evaluated."""
_NOT_READ = "rows"  # keeps the number of rows where an expression reads no attribute


class Expressions:
    def __init__(self, chosen: Chosen, gathered: Gathered, schema: Schema, evaluate: Evaluate) -> None:
        self._chosen = chosen
        self._gathered = gathered
        self._schema = schema
        self._evaluate = evaluate

    def column(self, item: Computed) -> pa.Array:
        """A value, or a list of values, per match."""
        offsets, values = self.values(item)
        return values if offsets is None else lists(offsets, values)

    def values(self, item: Computed) -> tuple[Ints | None, pa.Array]:
        """The values, and where the values of each match begin if it has a list of them."""
        if not sets_chosen(item.value):
            return None, self._over(item.value, None)
        (several,) = sets_chosen(item.value)
        offsets, rows = self._chosen.all_of(several)
        return offsets, self._over(item.value, (offsets, rows))

    def _over(self, value: Expression, several: tuple[Ints, Rows] | None) -> pa.Array:
        """The value for each match, or for each event of `several`."""
        if isinstance(value, Part):
            return self._part(value, several)
        names = {part: str(place) for place, part in enumerate(dict.fromkeys(parts(value)))}
        columns = {name: self._part(part, several) for part, name in names.items()}
        if not columns:
            columns[_NOT_READ] = pa.nulls(self._chosen.matches if several is None else len(several[1]))
        return self._evaluate(
            over_columns(value, names), pa.table(columns), type_of_value(value, self._schema)
        )

    def _part(self, part: Part, several: tuple[Ints, Rows] | None) -> pa.Array:
        match part:
            case Attribute():
                return self._attribute(part, several)
            case Aggregate():
                return self._aggregate(part, several)
            case Previous():
                assert several is not None
                return self._previous(part, several)
            case _:
                assert_never(part)

    def _attribute(self, item: Attribute, several: tuple[Ints, Rows] | None) -> pa.Array:
        """The attribute's value for each match, or each event of `several`; NULL where its variable is not bound."""
        assert item.var is not None
        if item.each:
            assert several is not None
            return self._gathered.column(item.name, several[1])
        rows, missing = self._chosen.one_of(item.var)
        values = self._gathered.column(item.name, rows)
        if missing is not None:
            values = values.take(pa.array(np.arange(len(values)), mask=missing))
        return values if several is None else _for_each(values, several[0])

    def _previous(self, node: Previous, several: tuple[Ints, Rows]) -> pa.Array:
        """The value for the event so many places before each of `several` in the match; NULL where there is none."""
        offsets, rows = several
        places = np.arange(len(rows))
        missing = places - np.repeat(offsets[:-1], np.diff(offsets)) < node.steps
        return self._over(node.operand, several).take(
            pa.array(np.where(missing, 0, places - node.steps), mask=missing)
        )

    def _aggregate(self, node: Aggregate, several: tuple[Ints, Rows] | None) -> pa.Array:
        """The aggregate of each match, once for each event of `several`."""
        (name,) = sets_read(node.operand)
        offsets, rows = self._chosen.all_of(name)
        if isinstance(node.operand, Attribute) and node.operand.name == EVENT:
            values = pa.repeat(True, len(rows))
        else:
            values = self._over(node.operand, (offsets, rows))
        found = aggregated(node, offsets, values, type_of_value(node, self._schema), self._evaluate)
        return found if several is None else _for_each(found, several[0])


def _for_each(values: pa.Array, offsets: Ints) -> pa.Array:
    """The value of each match once for each of its events."""
    return values.take(pa.array(np.repeat(np.arange(len(values)), np.diff(offsets))))


def parts(value: Expression) -> Iterator[Part]:
    """What is known of each match before the expression is evaluated: attributes, aggregates and previous values."""
    if isinstance(value, Part):
        yield value
        return
    for child in children(value):
        if not isinstance(child, Literal):  # lists have many
            yield from parts(child)


def over_columns(value: Expression, names: Mapping[Part, str]) -> Expression:
    """The expression over the columns of a table."""
    if isinstance(value, Part):
        return Attribute(None, names[value])
    return rebuild(value, lambda child: over_columns(child, names))
