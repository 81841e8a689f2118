"""Predicates → one class number per event: which combination of predicates it satisfies.

Conditions are evaluated over whole columns. Class 0 satisfies nothing and can change nothing; classes are numbered
as they are met.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from cepheid.automata.cea import Predicate
from cepheid.evaluators.columns import Columns
from cepheid.kernels.stream import pick
from cepheid.matches.found import Ints
from cepheid.schema import Schema

_DIRECT = 16  # up to this many predicates a table maps the bits to the class
_WORD = 62  # predicates that fit one key


class Classes:
    def __init__(self, predicates: tuple[Predicate, ...], schema: Schema) -> None:
        self._predicates = predicates
        self._schema = schema
        self._numbers: dict[frozenset[int], int] = {frozenset(): 0}
        self.satisfied: list[frozenset[int]] = [frozenset()]
        """By class number, the predicates its events satisfy."""
        self._direct = np.full(1 << min(len(predicates), _DIRECT), -1, np.int64)
        self._direct[0] = 0
        self._by_type_alone = (
            schema.type is not None
            and len(predicates) <= _DIRECT
            and all(predicate.condition is None for predicate in predicates)
        )
        self._places, self._picked = np.empty(0, np.int64), np.empty(0, np.int64)

    def restore(self, satisfied: list[frozenset[int]]) -> None:
        """Numbers classes as they were when saved."""
        self.satisfied = satisfied
        self._numbers = {item: number for number, item in enumerate(satisfied)}

    def of(self, table: pa.Table) -> tuple[Ints, Ints]:
        """The places of the events that satisfy any predicate, and their classes, to be used before the next call."""
        columns = Columns(table)
        if self._by_type_alone:
            return self._of_types(columns, len(table))
        begins = range(0, len(self._predicates), _WORD)
        keys = [self._keys(columns, len(table), begin) for begin in begins]
        some = keys[0] if len(keys) == 1 else np.logical_or.reduce([key != 0 for key in keys])
        kept = np.flatnonzero(some)
        classes = np.zeros(len(kept), np.int64)
        for begin, key in zip(begins, keys, strict=True):
            classes = self._combine(classes, key[kept], begin)
        return kept, classes

    def _of_types(self, columns: Columns, length: int) -> tuple[Ints, Ints]:
        """The same where nothing but its type says what an event is."""
        assert self._schema.type is not None
        codes, types = columns.types(self._schema.type)
        bits = self._bits_of_types(self._predicates)
        every = bits[None]
        keys = np.array([bits.get(type, every) for type in types], np.int64)
        classes = self._combine(np.zeros(len(keys), np.int64), keys, 0)
        if len(self._places) < length:
            self._places, self._picked = np.empty(length, np.int64), np.empty(length, np.int64)
        count = pick(codes, classes, self._places, self._picked)
        return self._places[:count], self._picked[:count]

    def _keys(self, columns: Columns, length: int, begin: int) -> Ints:
        """The predicates from `begin` on, one bit each, in as few bytes as hold them."""
        predicates = self._predicates[begin : begin + _WORD]
        dtype = np.min_scalar_type((1 << len(predicates)) - 1)
        keys = self._type_bits(columns, length, predicates).astype(dtype, copy=False)
        for bit, predicate in enumerate(predicates):
            if predicate.condition is not None and bool(np.any(keys & dtype.type(1 << bit))):
                holds = columns.holds(predicate.condition).view(np.uint8)
                everything = (1 << len(predicates)) - 1
                keys &= np.array([everything ^ (1 << bit), everything], dtype)[holds]
        return keys

    def _type_bits(
        self, columns: Columns, length: int, predicates: tuple[Predicate, ...]
    ) -> np.ndarray[Any, np.dtype[Any]]:
        """The bits of the predicates whose type is the event's, for each event."""
        bits = self._bits_of_types(predicates)
        if self._schema.type is None:
            return np.full(length, bits.get(self._schema.stream, bits[None]))
        codes, types = columns.types(self._schema.type)
        dtype = np.min_scalar_type(max(bits.values()))
        found: np.ndarray[Any, np.dtype[Any]] = np.array(
            [bits.get(type, bits[None]) for type in types], dtype
        )[codes]
        return found

    @staticmethod
    def _bits_of_types(predicates: tuple[Predicate, ...]) -> dict[str | None, int]:
        """By type the bits of the predicates that events of it can satisfy; None: any other type."""
        every = sum(1 << bit for bit, predicate in enumerate(predicates) if predicate.type is None)
        bits: dict[str | None, int] = {None: every}
        for bit, predicate in enumerate(predicates):
            if predicate.type is not None:
                bits[predicate.type] = bits.get(predicate.type, every) | 1 << bit
        return bits

    def _combine(self, classes: Ints, keys: Ints, begin: int) -> Ints:
        """The class of (class so far, further predicates)."""
        if begin == 0 and len(self._predicates) <= _DIRECT:
            found = self._direct[keys]
            for key in np.unique(keys[found < 0]):
                self._direct[key] = self._number(0, int(key), 0)
            return self._direct[keys]
        pairs, inverse = np.unique(np.stack([classes, keys.astype(np.int64)]), axis=1, return_inverse=True)
        numbers = [self._number(int(klass), int(key), begin) for klass, key in pairs.T]
        return np.array(numbers, np.int64)[inverse.reshape(-1)] if numbers else classes

    def _number(self, klass: int, key: int, begin: int) -> int:
        further = frozenset(begin + bit for bit in range(_WORD) if key >> bit & 1)
        satisfied = self.satisfied[klass] | further
        if satisfied not in self._numbers:
            self._numbers[satisfied] = len(self.satisfied)
            self.satisfied.append(satisfied)
        return self._numbers[satisfied]
