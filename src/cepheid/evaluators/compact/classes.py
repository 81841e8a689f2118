"""Predicates → one class number per event: which combination of predicates it satisfies.

Conditions are evaluated over whole columns. Those on a single text column, the type among them, are evaluated once per
distinct value: a table has by value the predicates that are still possible, and an event's *key*, a bit per predicate,
is the conjunction of all tables. Class 0 satisfies no predicate and changes nothing; classes are numbered as they
occur. Arrays as long as a batch are allocated once and reused: memory that is touched for the first time is expensive.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cepheid.automata.automaton import Predicate
from cepheid.errors import CepheidError
from cepheid.evaluators.columns import Columns
from cepheid.evaluators.columns.distinct import Codes, Dictionary
from cepheid.kernels.columns.events import drop_bit, first_unnumbered, has_bit, leave_bits, pick
from cepheid.kernels.loops.sliding.partition_state import CLASS_BITS
from cepheid.matches.match_arrays import Ints
from cepheid.schema import Schema
from cepheid.state_checks import require

Keys = npt.NDArray[Any]

_KEY = np.uint16  # a bit for each of some predicates
_DIRECT = 16  # so many; a table maps their bits to the class


class Classes:
    def __init__(
        self,
        predicates: tuple[Predicate, ...],
        schema: Schema,
        notices: Callable[[], npt.NDArray[np.bool_]] | None = None,
    ) -> None:
        """`notices` is asked when there are new classes, and says by number which of them can change anything."""
        self._predicates = predicates
        self._schema = schema
        self._numbers: dict[frozenset[int], int] = {frozenset(): 0}
        self.satisfied: list[frozenset[int]] = [frozenset()]
        """By class number, the predicates its events satisfy."""
        self._notices = notices
        self._noticed: npt.NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._direct = np.full(1 << min(len(predicates), _DIRECT), -1, np.int64)
        self._direct[0] = 0
        self._picking = self._direct.copy()  # the same, and 0 for classes that nothing takes notice of
        self._places, self._picked = np.empty(0, np.int64), np.empty(0, np.int64)
        self._bits = np.empty(0, _KEY)
        self._known: dict[tuple[str | None, int], tuple[pa.Array | pa.ChunkedArray, Keys]] = {}
        self._dictionaries: dict[str, Dictionary] = {}

    def restore(self, listed: list[list[int]]) -> None:
        """Numbers the classes of a saved state, lists of predicates, before the first event."""
        numbers = range(len(self._predicates))
        known = all(type(number) is int and number in numbers for item in listed for number in item)
        require(known, "a class of events satisfies a predicate that the query has not")
        self.satisfied = [frozenset(item) for item in listed]
        self._numbers = {item: number for number, item in enumerate(self.satisfied)}
        require(len(self._numbers) == len(listed) < 1 << CLASS_BITS, "a class of events occurs twice")
        require(self.satisfied[:1] == [frozenset()], "the first class of events satisfies a predicate")

    def of(self, table: pa.Table) -> tuple[Ints, Ints]:
        """The places of the events that satisfy any predicate, and their classes, to be used before the next call."""
        columns = Columns(table, self._dictionaries)
        if len(self._places) < len(table):
            self._places, self._picked = np.empty(len(table), np.int64), np.empty(len(table), np.int64)
        if len(self._predicates) > _DIRECT:
            return self._picked_by_several(columns, len(table))
        tables, others = self._tables(columns, 0)
        if len(tables) == 1 and not others:
            count = self._picked_by(*tables[0])
        else:
            count = self._picked_by(None, self._keys(columns, tables, others, len(table), 0))
        return self._places[:count], self._picked[:count]

    def _picked_by_several(self, columns: Columns, length: int) -> tuple[Ints, Ints]:
        """The same for more predicates than a table has bits."""
        keys = [
            self._keys(columns, *self._tables(columns, begin), length, begin).copy()
            for begin in range(0, len(self._predicates), _DIRECT)
        ]
        kept = np.flatnonzero(functools.reduce(np.bitwise_or, keys))
        codes, first = np.zeros(len(kept), np.int64), kept[:1]
        for key in keys:
            _, first, codes = np.unique(codes << _DIRECT | key[kept], return_index=True, return_inverse=True)
        numbers = [self._number([int(key[kept[place]]) for key in keys]) for place in first]
        self._ask()
        classes = np.array(numbers, np.int64)[codes]
        noticed = self._noticed[classes]
        return (kept, classes) if noticed.all() else (kept[noticed], classes[noticed])

    def _ask(self) -> None:
        """Asks which classes can change a state, if there are new ones."""
        if len(self._noticed) != len(self.satisfied):
            every = np.ones(len(self.satisfied), np.bool_)
            self._noticed = every if self._notices is None else self._notices()
            self._noticed[0] = False

    def _picked_by(self, codes: Codes | None, keys: Keys) -> int:
        """How many events have a class that anything takes notice of. `keys` are theirs, or those of their codes."""
        count = -1
        if len(self._noticed) == len(self.satisfied):
            count = self._pick(codes, keys)
        if count < 0:
            self._number_all(keys)
            count = self._pick(codes, keys)
        return count

    def _pick(self, codes: Codes | None, keys: Keys) -> int:
        by_code = (keys, self._picking) if codes is None else (codes, self._picking[keys])
        return int(pick(*by_code, self._places, self._picked))

    def _number_all(self, keys: Keys) -> None:
        """Numbers the classes of a batch, all before any is asked about."""
        place = 0
        while (place := first_unnumbered(keys, self._direct, place)) < len(keys):
            self._direct[keys[place]] = self._number([int(keys[place])])
        self._ask()
        self._picking = np.where(self._noticed[self._direct], self._direct, 0)
        self._picking[self._direct < 0] = -1

    def _keys(
        self, columns: Columns, tables: list[tuple[Codes, Keys]], others: list[int], length: int, begin: int
    ) -> Keys:
        """A bit for each predicate from `begin` on, of as many as a table has bits for."""
        if len(self._bits) < length:
            self._bits = np.empty(length, _KEY)
        keys, predicates = self._bits[:length], self._predicates[begin : begin + _DIRECT]
        if not tables:
            keys[:] = self._bits_of_types(predicates)[None]
        for number, (codes, by_value) in enumerate(tables):
            leave_bits(codes, by_value, number == 0, keys)
        for bit in others:
            condition = predicates[bit].condition
            if condition is not None and has_bit(keys, 1 << bit):
                drop_bit(columns.holds(condition), 1 << bit, keys)
        return keys

    def _tables(self, columns: Columns, begin: int) -> tuple[list[tuple[Codes, Keys]], list[int]]:
        """Per text column that decides something alone, each event's code and the key of each code; and the bits of
        the predicates that are decided otherwise."""
        predicates = self._predicates[begin : begin + _DIRECT]
        by_column: dict[str, list[int]] = {}
        others = []
        for bit, predicate in enumerate(predicates):
            name = None if predicate.condition is None else columns.only_text_of(predicate.condition)
            if name is not None:
                by_column.setdefault(name, []).append(bit)
            elif predicate.condition is not None:
                others.append(bit)
        tables: dict[str, tuple[Codes, Keys]] = {}
        if self._schema.type is not None and any(predicate.type is not None for predicate in predicates):
            tables[self._schema.type] = self._by_type(columns, predicates, begin)
        for name, bits in by_column.items():
            codes, keys = self._by_text(columns, name, predicates, bits, begin)
            tables[name] = codes, keys & tables[name][1] if name in tables else keys
        return list(tables.values()), others

    def _by_type(self, columns: Columns, predicates: tuple[Predicate, ...], begin: int) -> tuple[Codes, Keys]:
        assert self._schema.type is not None
        codes, values = columns.distinct_of(self._schema.type)
        bits = self._bits_of_types(predicates)

        def keys() -> Keys:
            written = (None if item is None else str(item) for item in values.to_pylist())
            return np.array([bits.get(type, bits[None]) for type in written], _KEY)

        return codes, self._remembered((None, begin), values, keys)

    def _by_text(
        self, columns: Columns, name: str, predicates: tuple[Predicate, ...], bits: list[int], begin: int
    ) -> tuple[Codes, Keys]:
        codes, values = columns.distinct_of(name)

        def keys() -> Keys:
            everything = (1 << len(predicates)) - 1
            if self._schema.type is None:
                everything = self._bits_of_types(predicates)[None]
            found = np.full(len(values), everything, _KEY)
            for bit in bits:
                condition = predicates[bit].condition
                assert condition is not None
                found[~columns.holds_by_value(name, condition)] &= _KEY(everything & ~(1 << bit))
            return found

        return codes, self._remembered((name, begin), values, keys)

    def _remembered(
        self, of: tuple[str | None, int], values: pa.Array | pa.ChunkedArray, keys: Callable[[], Keys]
    ) -> Keys:
        """Computed again only when the distinct values differ from those of last time."""
        known = self._known.get(of)
        if known is None or not known[0].equals(values):
            known = self._known[of] = values, keys()
        return known[1]

    def _bits_of_types(self, predicates: tuple[Predicate, ...]) -> dict[str | None, int]:
        """By type the bits of the predicates that events of it can satisfy; None: any other type. Without a type
        column all events are of the stream's type."""
        types = [predicate.type for predicate in predicates]
        if self._schema.type is None:
            types = [None if type == self._schema.stream else type for type in types]
        every = sum(1 << bit for bit, type in enumerate(types) if type is None)
        bits: dict[str | None, int] = {None: every}
        for bit, type in enumerate(types):
            if type is not None:
                bits[type] = bits.get(type, every) | 1 << bit
        return bits

    def _number(self, keys: list[int]) -> int:
        """The class of events that have the bits of these keys."""
        bits = enumerate(keys)
        satisfied = frozenset(
            number * _DIRECT + bit for number, key in bits for bit in range(_DIRECT) if key >> bit & 1
        )
        if satisfied not in self._numbers:
            if len(self.satisfied) == 1 << CLASS_BITS:
                raise CepheidError(
                    "too-large",
                    f"events satisfy more than {1 << CLASS_BITS:,} combinations of the query's conditions",
                    hint="fewer conditions that overlap",
                )
            self._numbers[satisfied] = len(self.satisfied)
            self.satisfied.append(satisfied)
        return self._numbers[satisfied]
