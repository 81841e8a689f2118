"""Streams to measure on: event types drawn independently, times 0, 1, 2, …. Seeded: the same on every machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

UNIFORM = {"A": 1.0, "B": 1.0, "C": 1.0, "D": 1.0, "E": 1.0}  # the paper's S1
S2 = {
    "A": 4.0,
    "B": 3.0,
    "C": 2.0,
    "D": 1.0,
    "E": 2.0,
}  # in tenths; they sum to 12 and are taken as shares of that


@dataclass(frozen=True)
class Stream:
    """`codes[i]` is the place of event i's type in `types`."""

    types: tuple[str, ...]
    codes: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.codes)

    def prefix(self, events: int) -> Stream:
        return Stream(self.types, self.codes[:events])

    @cached_property
    def letters(self) -> list[str]:
        return [self.types[code] for code in self.codes.tolist()]

    def places(self, type: str) -> npt.NDArray[np.bool_]:
        """Which events are of this type."""
        if type not in self.types:
            return np.zeros(len(self), np.bool_)
        return np.equal(self.codes, self.types.index(type))

    def table(self, dictionary: bool = False, first_time: int = 0) -> pa.Table:
        """Columns `ts` and `type`; the type as plain text, or as codes into a dictionary."""
        types = pa.DictionaryArray.from_arrays(self.codes, list(self.types))
        times = np.arange(first_time, first_time + len(self))
        return pa.table({"ts": times, "type": types if dictionary else types.cast(pa.string())})


def drawn(events: int, shares: Mapping[str, float] = UNIFORM, seed: int = 1) -> Stream:
    """Types with these shares, whatever their sum."""
    random = np.random.default_rng(seed)
    bounds = np.cumsum(list(shares.values()))
    codes = np.searchsorted(bounds / bounds[-1], random.random(events, np.float32), side="right")
    return Stream(tuple(shares), np.minimum(codes, len(shares) - 1).astype(np.int8))


def sparse(events: int, share: float, relevant: str = "ABC", seed: int = 1) -> Stream:
    """Together the relevant types have this share of the events; the rest are of types D and E."""
    shares = dict.fromkeys(relevant, share / len(relevant))
    if share < 1:
        shares |= dict.fromkeys("DE", (1 - share) / 2)
    return drawn(events, shares, seed)


def keyed(stream: Stream, keys: int, seed: int = 2) -> pa.Table:
    """The stream with a column `key` of so many numbers, drawn evenly."""
    drawn_keys = np.random.default_rng(seed).integers(0, keys, len(stream))
    return stream.table().append_column("key", pa.array(drawn_keys))


def named(events: int, names: int, dictionary: bool, seed: int = 3) -> pa.Table:
    """Events with no type and a column `name` of so many distinct strings, drawn evenly."""
    codes = np.random.default_rng(seed).integers(0, names, events).astype(np.int16)
    values = pa.DictionaryArray.from_arrays(codes, [f"name {i}" for i in range(names)])
    return pa.table({"ts": np.arange(events), "name": values if dictionary else values.cast(pa.string())})
