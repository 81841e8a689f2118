"""The columns that SELECT computes, over all matches at once.

In: the events that matches show, and expressions over the variables of a match. Out: for each match a value, or where
the expression reads a variable that can be several events, the list of the values for each of them. The attributes that
are read are gathered into a table with a row per match (per event of the variable), and the expression is evaluated
over its columns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cepheid.algebra.conditions import Attribute, Expression, attributes, sets_read, with_attributes
from cepheid.algebra.nodes import Computed
from cepheid.matches.lists import lists
from cepheid.matches.match_arrays import Ints
from cepheid.matches.shown_events import Chosen
from cepheid.streams.gather import Gathered, Rows

Evaluate = Callable[[Expression, pa.Table, pa.DataType], pa.Array]
"""The values of an expression over the columns of a table, as an array of a type."""

_NOT_READ = "rows"  # keeps the number of rows where an expression reads no attribute


class Expressions:
    def __init__(self, chosen: Chosen, gathered: Gathered, evaluate: Evaluate) -> None:
        self._chosen = chosen
        self._gathered = gathered
        self._evaluate = evaluate

    def column(self, item: Computed, field: Callable[[str], pa.Field]) -> pa.Array:
        """A value per match, of the type that the column's field has."""
        offsets, values = self.values(item, field(item.name).type)
        return values if offsets is None else lists(offsets, values)

    def values(self, item: Computed, dtype: pa.DataType) -> tuple[Ints | None, pa.Array]:
        """The values, and where the values of each match begin if it has a list of them."""
        if not sets_read(item.value):
            return None, self._over(item.value, dtype, None)
        (several,) = sets_read(item.value)
        offsets, rows = self._chosen.all_of(several)
        return offsets, self._over(item.value, dtype.value_type, (offsets, rows))

    def _over(self, value: Expression, dtype: pa.DataType, several: tuple[Ints, Rows] | None) -> pa.Array:
        if isinstance(value, Attribute):
            return self._attribute(value, several)
        read = tuple(dict.fromkeys(attributes(value)))
        names = {item: str(place) for place, item in enumerate(read)}
        columns = {names[item]: self._attribute(item, several) for item in read}
        plain = with_attributes(value, lambda item: Attribute(None, names[item]))
        if not columns:
            columns[_NOT_READ] = pa.nulls(self._chosen.matches)
        return self._evaluate(plain, pa.table(columns), dtype)

    def _attribute(self, item: Attribute, several: tuple[Ints, Rows] | None) -> pa.Array:
        """The attribute's value for each match, or each event of `several`; NULL where its variable is not bound."""
        assert item.var is not None
        if item.each:
            assert several is not None
            return self._gathered.column(item.name, several[1])
        rows, missing = self._chosen.one_of(item.var)
        if several is not None:
            lengths = np.diff(several[0])
            rows, missing = np.repeat(rows, lengths), None if missing is None else np.repeat(missing, lengths)
        return (
            self._gathered.column(item.name, rows)
            if missing is None
            else self._partly(item.name, rows, missing)
        )

    def _partly(self, name: str, rows: Rows, missing: npt.NDArray[np.bool_]) -> pa.Array:
        values = self._gathered.column(name, rows)
        places = np.arange(len(values))
        return values.take(pa.array(places, mask=missing))
