"""Attributes of links → columns of whole numbers that are equal exactly when the values are one key.

In: the relevant rows of a batch. Out: a code per row and column. A column is an attribute read in one way: as
what its link's other side is. Columns that are read alike share their numbering, so that both sides of a
link, and several links, can be compared. Equality is that of `semantics/keys.py`: NULL is a key like any
other, so is NaN, and numbers of all types are equal by value. For a link of values, as FILTER compares them, NULL and
NaN have one code on its left side and another on its right, so that they equal nothing.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cepheid.automata.automaton import ADJACENT, Link, LinkKind
from cepheid.errors import CepheidError
from cepheid.evaluators.interface import State
from cepheid.matches.match_arrays import Ints
from cepheid.schema import Schema, counts_nanoseconds
from cepheid.semantics.keys import key_of
from cepheid.semantics.rows import values_of
from cepheid.state_checks import letters, require
from cepheid.streams.partitions import Texts, numbered
from cepheid.streams.plain import whole

KEY, LEFT, RIGHT = 0, 1, 2  # NULL as a key, or as a value of one side

_NULL = -0x4E554C4C4B455921  # the code of NULL beside whole numbers and times; those of values are just below
_NULL_REAL = 0x7FF8000000000ABC  # … beside doubles: a NaN that no value has
_NULL_NUMBER = -1  # … beside numbers given to texts and the like

_WHOLE, _REAL, _TIME, _TRUTH, _NOTHING = "whole", "real", "time", "truth", "nothing"
_NANOSECONDS = "time in nanoseconds"
_NEXT, _HERE = "next position", "position"
_OF_FIXED_WIDTH = (_WHOLE, "unsigned", _REAL, _TIME, _NANOSECONDS, _TRUTH, _NOTHING)


class Keys:
    """`left[link]` and `right[link]` are the columns that a link compares.

    >>> from cepheid.schema import schema_of
    >>> tweets = pa.table({"ts": [0, 1, 2], "id": ["p", "q", None], "reply_to": [None, "p", "q"]})
    >>> keys = Keys((Link("id", "reply_to"),), schema_of(tweets.schema, time="ts"))
    >>> codes = keys.of(tweets, np.arange(3), np.arange(3))
    >>> codes[:, keys.left[0]].tolist(), codes[:, keys.right[0]].tolist()
    ([0, 1, -1], [-1, 0, 1])
    """

    def __init__(self, links: tuple[Link, ...], schema: Schema) -> None:
        self._columns: dict[tuple[str, str, int], int] = {}
        self.left: list[int] = []
        self.right: list[int] = []
        self._texts: dict[str, Texts] = {}
        self._mixed: dict[str, dict[Any, int]] = {}
        for number, link in enumerate(links):
            reading = self._reading(number, link, schema)
            first, second = (_NEXT, _HERE) if link == ADJACENT else (reading, reading)
            one, other = (LEFT, RIGHT) if link.kind is LinkKind.VALUE else (KEY, KEY)
            self.left.append(self._columns.setdefault((link.left, first, one), len(self._columns)))
            self.right.append(self._columns.setdefault((link.right, second, other), len(self._columns)))
        self.positional = ADJACENT in links
        compared = {name for link in links if link.kind is LinkKind.VALUE for name in (link.left, link.right)}
        self._decimals = any(pa.types.is_decimal(schema.arrow.field(name).type) for name in compared)

    def __len__(self) -> int:
        return len(self._columns)

    def _reading(self, number: int, link: Link, schema: Schema) -> str:
        """How both sides of a link are read; a link of two types has a numbering of its own."""
        if link == ADJACENT:
            return _HERE
        types = [schema.arrow.field(name).type for name in (link.left, link.right)]
        one, other = (_family(dtype) for dtype in types)
        if one == other or other == _NOTHING:
            return one
        if one == _NOTHING:
            return other
        reading = f"link {number}"
        self._mixed[reading] = {}
        return reading

    def of(self, table: pa.Table, places: Ints, positions: Ints) -> Ints:
        """The codes of the rows at these places: a row each, a column each."""
        codes = np.empty((len(places), max(len(self._columns), 1)), np.int64)
        taken = None
        for (name, reading, side), column in self._columns.items():
            if reading in (_NEXT, _HERE):
                codes[:, column] = positions + (reading == _NEXT)
                continue
            if taken is None:
                names = dict.fromkeys(name for name, how, _ in self._columns if how not in (_NEXT, _HERE))
                taken = table.select(list(names))
                taken = taken if len(places) == len(table) else taken.take(pa.array(places))
            codes[:, column] = self._read(whole(taken[name]), name, reading, side)
        return codes

    def _read(self, values: pa.Array, name: str, reading: str, side: int) -> Ints:
        if side != KEY:
            values = _known(values)
        if reading in self._mixed:
            return self._numbered(values, self._mixed[reading], side)
        texts = self._texts.setdefault(reading, Texts())
        codes, nulls = numbered(values, name, texts)
        null = (_NULL_REAL if reading == _REAL else _NULL) - side
        if reading not in _OF_FIXED_WIDTH:
            null = _NULL_NUMBER - side
        elif reading != _REAL:
            clash = (codes <= _NULL) & (codes >= _NULL - RIGHT)
            if bool((clash if nulls is None else clash & ~nulls).any()):
                message = (
                    f"column `{name}` holds a value around {_NULL}, which cannot be compared with others"
                )
                raise CepheidError("bad-data", message, hint="replace it by another number")
        return codes if nulls is None else np.where(nulls, null, codes)

    @staticmethod
    def _numbered(values: pa.Array, numbers: dict[Any, int], side: int) -> Ints:
        """Numbers for values of two types: one lookup per distinct value."""
        encoded = values.dictionary_encode()
        given = values_of(encoded.dictionary)
        by_code = np.array([numbers.setdefault(key_of(value), len(numbers)) for value in given], np.int64)
        places = encoded.indices.fill_null(len(by_code)).to_numpy(zero_copy_only=False)
        codes: Ints = np.append(by_code, _NULL_NUMBER - side)[places]
        return codes

    @property
    def numbered(self) -> int:
        """How many texts are held."""
        return sum(texts.count for texts in self._texts.values())

    def columns_of_texts(self) -> dict[str, list[int]]:
        """The columns whose codes are numbers of texts, by what numbers them."""
        return {
            reading: [column for (_, how, _), column in self._columns.items() if how == reading]
            for reading, texts in self._texts.items()
            if texts.count
        }

    def most_codes(self) -> Ints:
        """By column, the largest code there may be: of a column of texts, the number of the last."""
        most = np.full(len(self._columns), np.iinfo(np.int64).max)
        for (_, reading, _), column in self._columns.items():
            if reading not in (*_OF_FIXED_WIDTH, _NEXT, _HERE, *self._mixed):
                most[column] = self._texts[reading].count - 1 if reading in self._texts else -1
        return most

    def keep(self, reading: str, numbers: Ints) -> None:
        """Forgets all texts but these (ascending), which are numbered from 0 from now on."""
        self._texts[reading] = self._texts[reading].only(numbers)

    @property
    def memory(self) -> int:
        return sum(texts.memory for texts in self._texts.values())

    def save(self) -> State:
        state: dict[str, npt.NDArray[np.generic]] = {}
        if self._decimals:
            state["decimals"] = np.ones(1, np.uint8)
        for reading, texts in self._texts.items():
            state |= texts.save(f"texts:{reading}")
        for reading, numbers in self._mixed.items():
            written = json.dumps([_written(key) for key in numbers]).encode()
            state[f"mixed:{reading}"] = np.frombuffer(written, np.uint8)
        return state

    def load(self, state: State) -> None:
        if self._decimals and "decimals" not in state:
            raise CepheidError(
                "bad-state",
                "the state was saved by a version that compared decimals as doubles",
                hint="match the stream again from its beginning",
            )
        for name in state:
            if name.startswith("texts:") and name.endswith(".ends"):
                reading = name.removeprefix("texts:").removesuffix(".ends")
                require(
                    any(how == reading for _, how, _ in self._columns),
                    "it compares attributes that the query does not",
                )
                self._texts[reading] = Texts()
                self._texts[reading].load(f"texts:{reading}", dict(state))
        for reading, numbers in self._mixed.items():
            numbers.clear()
            for written in json.loads(letters(state, f"mixed:{reading}").tobytes()):
                numbers[_unwritten(written)] = len(numbers)


def _known(values: pa.Array) -> pa.Array:
    """Values as FILTER compares them: NULL where nothing can be equal."""
    if not pa.types.is_floating(values.type):
        return values
    return pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)


def _family(dtype: pa.DataType) -> str:
    """Columns of one family have codes that can be compared; decimals of one type are compared as texts."""
    if pa.types.is_null(dtype):
        return _NOTHING
    if pa.types.is_boolean(dtype):
        return _TRUTH
    if dtype == pa.uint64():
        return "unsigned"
    if pa.types.is_integer(dtype):
        return _WHOLE
    if pa.types.is_floating(dtype):
        return _REAL
    if pa.types.is_timestamp(dtype) or pa.types.is_date(dtype):
        return _NANOSECONDS if counts_nanoseconds(dtype) else _TIME
    if pa.types.is_time(dtype) or pa.types.is_duration(dtype):
        return str(dtype)
    if pa.types.is_dictionary(dtype):
        return _family(dtype.value_type)
    if pa.types.is_string(dtype) or pa.types.is_large_string(dtype):
        return "text"
    return str(dtype)


def _written(key: Any) -> list[str]:
    """A key of numbers as JSON."""
    if key == "NaN":
        return ["NaN", ""]
    (value,) = key
    return [type(value).__name__, value.hex() if isinstance(value, float) else str(value)]


def _unwritten(written: list[str]) -> Any:
    kind, text = written
    match kind:
        case "NaN":
            return "NaN"
        case "float":
            return (float.fromhex(text),)
        case "int":
            return (int(text),)
        case "bool":
            return (text == "True",)
        case "Decimal":
            return (Decimal(text),)
        case _:
            raise AssertionError(kind)
