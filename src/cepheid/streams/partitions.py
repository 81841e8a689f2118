"""Partition keys → partition numbers: each distinct key gets one, from 0, and keeps it for the life of the engine.

In: the partition columns of a batch. Out: a partition number per row. NULL is a key like any other. Each partition
carries its number of events, the last time and its rank among ties, and a hash of its key that is the same in every run
and cluster.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cepheid.kernels.columns.buffers import read_only
from cepheid.kernels.columns.events import note_ties, number_events
from cepheid.kernels.columns.interning import (
    hash_texts,
    intern_texts,
    intern_words,
    rehash_texts,
    rehash_words,
)
from cepheid.kernels.memory.hashing import hash_events, hash_words
from cepheid.state_checks import letters, require, require_ends, require_indices, words
from cepheid.streams.plain import whole
from cepheid.streams.times import Ints, Times, recent, ticks_of, ties_of

State = dict[str, npt.NDArray[np.generic]]
_BINARY = (pa.binary(), pa.large_binary())


class Texts:
    """Numbers for distinct byte strings."""

    def __init__(self) -> None:
        self.count = 0
        self._slots = np.zeros(64, np.int64)
        self._ends = np.zeros(32, np.int64)
        self._store = np.zeros(1024, np.uint8)
        self._hashes = np.zeros((2, 32), np.int64)

    def numbers(self, texts: pa.Array) -> Ints:
        """A number per string of a binary array without NULLs."""
        texts = texts.cast(pa.large_binary())
        offsets = read_only(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1]
        data = read_only(texts.buffers()[2], np.uint8)
        numbers = np.empty(len(texts), np.int64)
        done, before = 0, self.count
        while done < len(texts):
            done, self.count = intern_texts(
                offsets, data, done, self._slots, self._ends, self._store, self.count, numbers
            )
            if done < len(texts):
                self._grow(int(offsets[done + 1] - offsets[done]))
        hash_texts(self._ends, self._store, before, self.count, self._hashes[0], self._hashes[1])
        return numbers

    def hashes(self, numbers: Ints) -> tuple[Ints, Ints]:
        return self._hashes[0][numbers], self._hashes[1][numbers]

    @property
    def bytes(self) -> tuple[Ints, npt.NDArray[np.uint8]]:
        """Where each string begins and the one before it ends, and the bytes of all; both have room to spare."""
        return self._ends, self._store

    def of(self, numbers: Ints) -> pa.Array:
        """The strings that have these numbers."""
        return self.binary(numbers).cast(pa.large_string())

    def only(self, numbers: Ints) -> Texts:
        """These strings (ascending), numbered from 0."""
        kept = Texts()
        kept.numbers(self.binary(numbers))
        return kept

    def binary(self, numbers: Ints) -> pa.Array:
        """The same as bytes."""
        require_indices(numbers, 0, self.count, "texts")  # they may come from a saved state
        begins, ends = self._ends[numbers], self._ends[numbers + 1]
        offsets = np.concatenate([[0], np.cumsum(ends - begins)])
        places = np.repeat(begins - offsets[:-1], ends - begins) + np.arange(offsets[-1])
        return _binary(offsets, self._store[places])

    def _grow(self, more_bytes: int) -> None:
        if self._ends[self.count] + more_bytes > len(self._store):
            self._store = np.resize(self._store, 2 * len(self._store) + more_bytes)
        if self.count + 1 >= len(self._ends):
            self._ends = np.resize(self._ends, 2 * len(self._ends))
            self._hashes = np.concatenate([self._hashes, np.zeros_like(self._hashes)], axis=1)
        if 2 * (self.count + 1) > len(self._slots):
            self._slots = np.zeros(2 * len(self._slots), np.int64)
            rehash_texts(self._ends, self._store, self.count, self._slots)

    @property
    def memory(self) -> int:
        return sum(array.nbytes for array in (self._slots, self._ends, self._store, self._hashes))

    def save(self, prefix: str) -> State:
        ends = self._ends[: self.count + 1]
        return {f"{prefix}.ends": ends, f"{prefix}.store": self._store[: ends[-1]]}

    def load(self, prefix: str, state: State) -> None:
        ends, store = words(state, f"{prefix}.ends", None), letters(state, f"{prefix}.store")
        require_ends(ends, len(store), f"{prefix}.ends")
        self.numbers(_binary(ends, store))
        require(self.count == len(ends) - 1, f"`{prefix}` has a text twice")


class Partitions:
    """The partitions of one engine. Without `hashed` there are no hashes of keys, as none are needed for a count."""

    def __init__(
        self, columns: tuple[str, ...], hashed: bool = True, nanoseconds: tuple[bool, ...] = ()
    ) -> None:
        """`nanoseconds` says of each column whether its values are timestamps counted so."""
        self.columns = columns
        self._nanoseconds = nanoseconds
        self._hashed = hashed
        self.count = 0 if columns else 1
        self._texts = [Texts() for _ in columns]
        self._slots = np.zeros(64, np.int64)
        self._keys = np.zeros((32, len(columns) + 1), np.int64)
        self._hashes = np.zeros((2, 32), np.int64)
        self._numbers = np.zeros((3, 32), np.int64)  # events so far, last tie, last rank

    def at_noting_times(self, table: pa.Table, times: Times, places: Ints) -> Ints:
        """The partitions of the rows at these places, without numbering the events in them."""
        partitions = self.at(table, places)
        note_ties(partitions, ties_of(times), places, self._numbers[1])
        return partitions

    def at(self, table: pa.Table, places: Ints) -> Ints:
        """The partitions of the rows at these places."""
        if not self.columns:
            return np.zeros(len(places), np.int64)
        return self.of(table.select(self.columns).take(pa.array(places)))

    def of(self, table: pa.Table) -> Ints:
        """The partition of each row."""
        if not self.columns:
            return np.zeros(len(table), np.int64)
        words = np.zeros((len(table), len(self.columns) + 1), np.int64)
        for k, name in enumerate(self.columns):
            words[:, k], nulls = numbered(whole(table[name]), name, self._texts[k])
            if nulls is not None:
                words[nulls, k] = 0
                words[:, -1] |= nulls.astype(np.int64) << k
        partitions, first = np.empty(len(table), np.int64), np.empty(len(table), np.int64)
        done = 0
        while done < len(words):
            before = self.count
            done, self.count, _ = intern_words(
                words, done, self._slots, self._keys, before, partitions, first
            )
            if self._hashed:
                self._note_hashes(words[first[: self.count - before]], before)
            if done < len(words):
                self._grow()
        return partitions

    def number(self, partitions: Ints, times: Times) -> tuple[Ints, Ints]:
        """The position of each event in its partition and its rank among the partition's events of the same time."""
        positions = np.empty(len(partitions), np.int64)
        ranks = np.empty(len(partitions), np.int64)
        number_events(partitions, ties_of(times), *self._numbers, positions, ranks)
        return positions, ranks

    def identities(self, partitions: Ints, times: Times, ranks: Ints) -> tuple[Ints, Ints]:
        """Two 64-bit hashes of each event's key, time and rank among ties: the same in every run and cluster."""
        low, high = np.empty(len(partitions), np.int64), np.empty(len(partitions), np.int64)
        hash_events(*self.hashes(partitions), ties_of(times), ranks, low, high)
        return low, high

    def hashes(self, partitions: Ints) -> tuple[Ints, Ints]:
        """Two 64-bit hashes of each partition's key."""
        return self._hashes[0][partitions], self._hashes[1][partitions]

    def _note_hashes(self, keys: Ints, before: int) -> None:
        """Hashes the keys of the partitions that are new since `before`: by content, not by the numbers of texts."""
        hashes = np.stack([keys, keys])
        for place in np.flatnonzero(self._nanoseconds):
            # As microseconds, so that a key has one hash in every unit; the second hash includes the rest.
            micros, rest = np.divmod(keys[:, place], 1000)
            hashes[:, :, place] = micros, micros ^ rest << 54
        for k, texts in enumerate(self._texts):
            if texts.count:
                known = (keys[:, -1] >> k & 1) == 0
                hashes[:, known, k] = texts.hashes(keys[known, k])
        unused = np.empty(self.count - before, np.int64)
        hash_words(hashes[0], self._hashes[0, before : self.count], unused)
        hash_words(hashes[1], unused, self._hashes[1, before : self.count])

    def _grow(self) -> None:
        self._resize(np.arange(self.count), 4 * self.count)

    def keep(self, partitions: Ints) -> None:
        """Forgets all partitions but these (ascending), which get the numbers from 0 in this order."""
        for k, texts in enumerate(self._texts):
            used, places = np.unique(self._keys[partitions, k], return_inverse=True)
            if texts.count:  # else the column holds numbers
                self._texts[k] = texts.only(used)
                self._keys[partitions, k] = places.reshape(-1)
        self.count = len(partitions)
        self._resize(partitions, min(4 * len(partitions), len(self._keys)))

    def _resize(self, partitions: Ints, room: int) -> None:
        """Room for so many partitions, with these at the beginning."""
        capacity = 32
        while capacity < room:
            capacity *= 2
        keys = np.zeros((capacity, self._keys.shape[1]), np.int64)
        hashes = np.zeros((len(self._hashes), capacity), np.int64)
        numbers = np.zeros((len(self._numbers), capacity), np.int64)
        keys[: len(partitions)] = self._keys[partitions]
        hashes[:, : len(partitions)] = self._hashes[:, partitions]
        numbers[:, : len(partitions)] = self._numbers[:, partitions]
        self._keys, self._hashes, self._numbers = keys, hashes, numbers
        self._slots = np.zeros(2 * capacity, np.int64)
        rehash_words(self._keys, len(partitions), self._slots)

    def recent(self, now: np.int64 | np.float64, amount: int | float) -> Ints:
        """The partitions whose last event is at most `amount` before the time `now`."""
        ties = self._numbers[1, : self.count]
        last: Times = ties if now.dtype == np.int64 else ties.view(np.float64)
        return np.flatnonzero(recent(last, now, amount))

    def save(self) -> State:
        state: State = {
            "lanes.keys": self._keys[: self.count],
            "lanes.numbers": self._numbers[:, : self.count],
        }
        for k, texts in enumerate(self._texts):
            state |= texts.save(f"lanes.texts{k}")
        return state

    def load(self, state: State, rows: int, types: Sequence[pa.DataType]) -> None:
        """Takes over what `save` gave, after so many rows of the stream, whose partition columns have these types."""
        self._keys = words(state, "lanes.keys", None, len(self.columns) + 1)
        self.count = len(self._keys)
        require(self.columns or self.count == 1, "it has partitions without a key")
        self._hashes = np.zeros((2, self.count), np.int64)
        self._numbers = words(state, "lanes.numbers", 3, self.count)
        require_indices(self._numbers[[0, 2]], 0, rows + 1, "lanes.numbers")
        for k, (texts, dtype) in enumerate(zip(self._texts, types, strict=True)):
            texts.load(f"lanes.texts{k}", state)
            if _is_numbered_by_text(dtype):
                require_indices(
                    self._keys[:, k], 0, max(1, texts.count), "lanes.keys"
                )  # 0 is also NULL alone
            else:
                require(not texts.count, f"column `{self.columns[k]}` has no texts")
        self._resize(np.arange(self.count), self.count)
        if self._hashed and self.columns:
            self._note_hashes(self._keys[: self.count], 0)

    @property
    def memory(self) -> int:
        own = sum(array.nbytes for array in (self._slots, self._keys, self._hashes, self._numbers))
        return own + sum(texts.memory for texts in self._texts)


def numbered(column: pa.Array, name: str, texts: Texts) -> tuple[Ints, npt.NDArray[np.bool_] | None]:
    """A column as whole numbers that are equal when the values are, and where it is NULL, if anywhere."""
    nulls = pc.is_null(column).to_numpy(zero_copy_only=False) if column.null_count else None
    numbers = _as_integers(column, name)
    if numbers is not None:
        return numbers, nulls
    if pa.types.is_dictionary(column.type):
        codes = pc.fill_null(column.indices.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
        if len(column.dictionary) == 0:
            return np.zeros(len(column), np.int64), nulls
        distinct, missing = numbered(column.dictionary, name, texts)
        if missing is not None:
            nulls = missing[codes] if nulls is None else nulls | missing[codes]
        return distinct[codes], nulls
    if column.type not in (*_BINARY, pa.string(), pa.large_string()):
        column = column.cast(pa.binary() if pa.types.is_fixed_size_binary(column.type) else pa.string())
    filled = pc.fill_null(column, b"" if column.type in _BINARY else "") if nulls is not None else column
    return texts.numbers(filled), nulls


def _is_numbered_by_text(dtype: pa.DataType) -> bool:
    """Whether `numbered` numbers the texts of values of this type."""
    if pa.types.is_dictionary(dtype):
        return _is_numbered_by_text(dtype.value_type)
    return _as_integers(pa.array([], dtype), "") is None


def _binary(offsets: npt.NDArray[np.generic], data: npt.NDArray[np.generic]) -> pa.Array:
    buffers = [None, pa.py_buffer(offsets.astype(np.int64).tobytes()), pa.py_buffer(data.tobytes())]
    return pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)


def _as_integers(column: pa.Array, name: str) -> Ints | None:
    """Values of a fixed width as whole numbers, or None for text and the like. NULL is any number."""
    dtype = column.type
    if pa.types.is_null(dtype):
        return np.zeros(len(column), np.int64)
    if pa.types.is_boolean(dtype) or (pa.types.is_integer(dtype) and dtype != pa.uint64()):
        return _numbers(column.cast(pa.int64()))
    if dtype == pa.uint64():
        return _numbers(column).view(np.int64)
    if pa.types.is_timestamp(dtype) or pa.types.is_date(dtype):
        zero = pa.scalar(0, pa.int32() if pa.types.is_date32(dtype) else pa.int64()).cast(dtype)
        return np.array(ticks_of(pc.fill_null(column, zero), f"column `{name}`"), np.int64)
    if pa.types.is_floating(dtype):
        reals = pc.fill_null(column.cast(pa.float64()), 0.0).to_numpy(zero_copy_only=False) + 0.0
        reals[np.isnan(reals)] = np.nan  # one NaN
        bits: Ints = reals.view(np.int64)
        return bits
    return None


def _numbers(column: pa.Array) -> Ints:
    filled = pc.fill_null(column, 0) if column.null_count else column
    return np.asarray(filled.to_numpy(zero_copy_only=False)).view(np.int64)
