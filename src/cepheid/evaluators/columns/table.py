"""Conditions on single events, evaluated over a whole table at once, without a step of Python per row.

In: an Arrow table and conditions over its columns (attributes of the current event, `var` None). Out: a mask of the
rows where the condition is true. Invariant: the mask equals `semantics.values.holds` row by row.

Three ways, from fast to slow, all exact. Arrow and NumPy compute over whole columns. An expression that reads one text
column only is computed once per distinct text and looked up. An expression without an exact form over columns is
evaluated by the definition, once per distinct combination of the columns it reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np
import pyarrow as pa

from cepheid.algebra.conditions import (
    Aggregate,
    Arithmetic,
    Attribute,
    Call,
    Case,
    Cast,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    Element,
    Expression,
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Negation,
    Previous,
    RLike,
    attributes,
    rebuild,
)
from cepheid.algebra.elements import places
from cepheid.evaluators.columns.arithmetic import arithmetic
from cepheid.evaluators.columns.casts import cast
from cepheid.evaluators.columns.choose import switched
from cepheid.evaluators.columns.compare import all_of, compare, negated
from cepheid.evaluators.columns.distinct import Codes, Dictionary, distinct, repeats
from cepheid.evaluators.columns.elements import element
from cepheid.evaluators.columns.functions import apply
from cepheid.evaluators.columns.kinds import (
    Mask,
    Nothing,
    RowByRowError,
    Truth,
    Value,
    is_text,
    nulls_of,
    of_column,
    of_literal,
    spread,
)
from cepheid.evaluators.columns.members import is_member
from cepheid.evaluators.columns.texts import like, rlike
from cepheid.semantics.rows import rows_of
from cepheid.semantics.values import value_of
from cepheid.streams.plain import whole


@dataclass(frozen=True, slots=True)
class _Encoded:
    """The distinct values of a column, NULL among them, and each row's number among those."""

    codes: Codes
    distinct: Columns


class Columns:
    """A table's columns, each decoded and dictionary-encoded at most once however many conditions read it.

    >>> columns = Columns(pa.table({"type": ["T", "H", "T"], "value": [45, 20, None]}))
    >>> hot = Comparison(">", Attribute(None, "value"), Literal(40))
    >>> columns.holds(hot), columns.distinct_of("type")[0]
    (array([ True, False, False]), array([0, 1, 0], dtype=int32))
    """

    def __init__(self, table: pa.Table, dictionaries: dict[str, Dictionary] | None = None) -> None:
        """With `dictionaries`, by column, texts of earlier tables keep their codes; codes are then valid until the next
        table is encoded."""
        self.table = table
        self._dictionaries = dictionaries
        self._values: dict[str, Value] = {}
        self._encoded: dict[str, _Encoded] = {}
        self._repeating: dict[str, bool] = {}
        self._all_distinct = False

    def holds(self, condition: Condition) -> Mask:
        """For each row, whether the condition is true; NULL is not."""
        true = self._truth(condition).true
        return np.array(np.broadcast_to(true, self.table.num_rows))

    def distinct_of(self, name: str) -> tuple[Codes, pa.ChunkedArray]:
        """For each row the number of its value, and the values by number."""
        encoded = self._encode(name)
        return encoded.codes, encoded.distinct.table.column(0)

    def holds_by_value(self, name: str, condition: Condition) -> Mask:
        """The same as `holds` by value of the only column that the condition reads."""
        return self._encode(name).distinct.holds(condition)

    def by_definition(self, expression: Expression) -> tuple[list[Any], Codes]:
        """The value by the definition, for each distinct combination of columns, and each row's combination."""
        inside = [place for place in dict.fromkeys(places(expression)) if isinstance(place, Element)]
        if inside:
            return self._with_columns(inside).by_definition(_over_columns(expression, inside))
        names = list(dict.fromkeys(attribute.name for attribute in attributes(expression)))
        first, codes = self._combinations(names)
        read = pa.table({name: self._column(name).take(pa.array(first)) for name in names})
        rows = rows_of(read) if names else [{} for _ in first]
        return [value_of(expression, {None: row}) for row in rows], codes

    def _with_columns(self, inside: Sequence[Element]) -> Columns:
        """The table with elements as columns of their own."""
        table = self.table
        for number, place in enumerate(inside):
            table = table.append_column(f"\0{number}", self._place(place))
        return Columns(table)

    def _truth(self, condition: Expression) -> Truth:
        try:
            value = self.value(condition)
        except RowByRowError:
            return self._by_definition(condition)
        if isinstance(value, Nothing):
            return Truth(np.asarray(False), np.asarray(True))
        assert isinstance(value, Truth), condition
        return value

    def value(self, expression: Expression) -> Value:
        """The value of any expression, one per row or one for all; `RowByRowError` where columns have no exact form."""
        text = self.only_text_of(expression)
        if text is None:
            return self._over_rows(expression)
        encoded = self._encode(text)
        return spread(encoded.distinct.value(expression), encoded.codes)

    def only_text_of(self, expression: Expression) -> str | None:
        """The only column that an expression reads, if it is a text column with repeated values."""
        if self._all_distinct or isinstance(expression, (Literal, Attribute)):
            return None
        names = {attribute.name for attribute in attributes(expression)}
        name = names.pop() if len(names) == 1 else None
        return name if name is not None and self._repeats(name) else None

    def _repeats(self, name: str) -> bool:
        """Whether a column holds texts that repeat; encoding others costs more than it saves."""
        if name not in self._repeating:
            column = self._column(name)
            is_known = name in self._encoded or bool(self._dictionaries and name in self._dictionaries)
            self._repeating[name] = is_text(column.type) and (is_known or repeats(column))
        return self._repeating[name]

    def _over_rows(self, expression: Expression) -> Value:
        match expression:
            case Literal(value):
                return of_literal(value)
            case Attribute(_, name):
                return self._attribute(name)
            case Arithmetic(op, left, right):
                return arithmetic(op, self.value(left), self.value(right), expression.result)
            case Comparison(op, left, right):
                return compare(op, self.value(left), self.value(right))
            case Conjunction(operands):
                return self._all(operands)
            case Disjunction(operands):
                return negated(self._all(tuple(Negation(operand) for operand in operands)))
            case Negation(operand):
                return negated(self._truth(operand))
            case IsTrue(operand):
                return Truth(self._truth(operand).true)
            case IsNull(operand):
                return Truth(nulls_of(self.value(operand)))
            case In(operand, items):
                return is_member(self.value(operand), [self.value(item) for item in items])
            case Like(operand, pattern):
                return like(self.value(operand), pattern)
            case RLike(operand, pattern):
                return rlike(self.value(operand), pattern)
            case Call(function, arguments):
                return apply(function, [self.value(argument) for argument in arguments])
            case Element():
                return of_column(pa.chunked_array([self._place(expression)]))
            case Case(conditions, values, otherwise):
                return self._first_true(conditions, values, otherwise)
            case Cast(operand, target):
                return cast(self.value(operand), target, expression.kind)
            case Aggregate() | Previous():
                raise AssertionError(expression)  # of whole matches, not of rows
            case _:
                assert_never(expression)

    def _all(self, operands: tuple[Expression, ...]) -> Truth:
        result = Truth(np.asarray(True))
        for operand in operands:
            result = all_of(result, self._truth(operand))
        return result

    def _first_true(
        self, conditions: tuple[Expression, ...], values: tuple[Expression, ...], otherwise: Expression
    ) -> Value:
        chosen = self.value(otherwise)
        for condition, value in reversed(list(zip(conditions, values, strict=True))):
            chosen = switched(self._truth(condition).true, self.value(value), chosen)
        return chosen

    def _place(self, place: Expression) -> pa.Array:
        """The values of an attribute, or of elements of it."""
        if isinstance(place, Element):
            return element(self._place(place.operand), place.key)
        (attribute,) = attributes(place)
        return whole(self._column(attribute.name))

    def _column(self, name: str) -> pa.ChunkedArray:
        """The column as it is, but for string views, which Arrow's kernels do not all take."""
        column = self.table.column(name)
        return column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column

    def _attribute(self, name: str) -> Value:
        if name not in self._values:
            self._values[name] = of_column(self._column(name))
        return self._values[name]

    def _encode(self, name: str) -> _Encoded:
        if name not in self._encoded:
            codes, values = self._distinct(name)
            columns = Columns(pa.table({name: values}))
            columns._all_distinct = True
            self._encoded[name] = _Encoded(codes, columns)
        return self._encoded[name]

    def _distinct(self, name: str) -> tuple[Codes, pa.Array | pa.ChunkedArray]:
        if self._dictionaries is None:
            return distinct(self._column(name))
        dictionary = self._dictionaries.pop(name, None) or Dictionary()
        codes, values = distinct(self._column(name), dictionary)
        if len(dictionary.values):
            self._dictionaries[name] = dictionary
        return codes, values

    def _by_definition(self, condition: Expression) -> Truth:
        """The definition's answer for one row of each distinct combination, looked up for the others."""
        values, codes = self.by_definition(condition)
        true = np.array([value is True for value in values], np.bool_)
        null = np.array([value is None for value in values], np.bool_)
        return Truth(true[codes], null[codes])

    def _combinations(self, names: list[str]) -> tuple[Codes, Codes]:
        """One row of each distinct combination of values, and for each row the number of its combination."""
        codes = np.zeros(self.table.num_rows, np.int64)
        first = codes[:1]
        for name in names:
            other = self._encode(name)
            pairs = codes * other.distinct.table.num_rows + other.codes
            _, first, codes = np.unique(pairs, return_index=True, return_inverse=True)
        return first, codes


def _over_columns(expression: Expression, inside: Sequence[Element]) -> Expression:
    if isinstance(expression, Element):
        return Attribute(None, f"\0{inside.index(expression)}")
    return rebuild(expression, lambda child: _over_columns(child, inside))


def holds(condition: Condition, table: pa.Table) -> Mask:
    """For each row of the table, whether the condition is true of it.

    >>> from cepheid.algebra.conditions import Like
    >>> holds(Like(Attribute(None, "s"), "a%"), pa.table({"s": ["ab", "ba", None]}))
    array([ True, False, False])
    """
    return Columns(table).holds(condition)
