"""Predicates → one class number per event: which combination of predicates it satisfies.

Conditions are evaluated over whole columns. Class 0 satisfies nothing and can change nothing; classes are numbered
as they are met.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cepheid.automata.cea import Predicate
from cepheid.evaluators.columns import Columns, type_equals
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

    def restore(self, satisfied: list[frozenset[int]]) -> None:
        """Numbers classes as they were when saved."""
        self.satisfied = satisfied
        self._numbers = {item: number for number, item in enumerate(satisfied)}

    def of(self, table: pa.Table) -> Ints:
        """The class of each event."""
        classes = np.zeros(len(table), np.int64)
        columns = Columns(table)
        for begin in range(0, len(self._predicates), _WORD):
            keys = self._keys(columns, len(table), begin)
            classes = self._combine(classes, keys, begin)
        return classes

    def _keys(self, columns: Columns, length: int, begin: int) -> Ints:
        """The predicates from `begin` on, one bit each."""
        keys = np.zeros(length, np.int64)
        types: dict[str, np.ndarray[tuple[int], np.dtype[np.bool_]]] = {}
        for bit, predicate in enumerate(self._predicates[begin : begin + _WORD]):
            mask = None
            if predicate.type is not None:
                if predicate.type not in types:
                    types[predicate.type] = self._is_type(columns, length, predicate.type)
                mask = types[predicate.type]
            if predicate.condition is not None and (mask is None or bool(mask.any())):
                holds = columns.holds(predicate.condition)
                mask = holds if mask is None else mask & holds
            if mask is None:
                keys |= 1 << bit
            else:
                keys |= mask.astype(np.int64) << bit
        return keys

    def _is_type(
        self, columns: Columns, length: int, name: str
    ) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        if self._schema.type is None:
            return np.full(length, name == self._schema.stream)
        return type_equals(columns, self._schema.type, name)

    def _combine(self, classes: Ints, keys: Ints, begin: int) -> Ints:
        """The class of (class so far, further predicates)."""
        if begin == 0 and len(self._predicates) <= _DIRECT:
            found = self._direct[keys]
            for key in np.unique(keys[found < 0]):
                self._direct[key] = self._number(0, int(key), 0)
            return self._direct[keys]
        pairs, inverse = np.unique(np.stack([classes, keys]), axis=1, return_inverse=True)
        numbers = [self._number(int(klass), int(key), begin) for klass, key in pairs.T]
        return np.array(numbers, np.int64)[inverse.reshape(-1)] if numbers else classes

    def _number(self, klass: int, key: int, begin: int) -> int:
        further = frozenset(begin + bit for bit in range(_WORD) if key >> bit & 1)
        satisfied = self.satisfied[klass] | further
        if satisfied not in self._numbers:
            self._numbers[satisfied] = len(self.satisfied)
            self.satisfied.append(satisfied)
        return self._numbers[satisfied]
