"""Expressions of several events without kernel instructions, evaluated in Python once per combination of values.

In: an expression such as `concat(x.a, y.b)` whose leaves, the parts that read one event only, are columns. Out: a
control block for `kernels.conditions.python_fallback`, whose cells cache the answers. The kernel calls Python for a
missing answer, and Python computes more: a new value of the current event is combined with all recent values of stored
events, and the other way round. So calls grow with the distinct values, not with their combinations. The cache is
bounded: when it is full, it is emptied.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cepheid.algebra.conditions import Expression
from cepheid.evaluators.columns import Columns
from cepheid.evaluators.configurations.decimal_words import array_of_words
from cepheid.evaluators.configurations.words import UNITS, words_of
from cepheid.kernels.conditions import python_fallback as answers
from cepheid.kernels.conditions import values as tagged
from cepheid.kernels.conditions.decimals import DECIMAL
from cepheid.matches.match_arrays import Ints
from cepheid.streams.partitions import Texts

MOST_ANSWERS = 1 << 18
_FEWEST_CELLS = 1 << 8
_TOGETHER = 256  # values of one side that are combined with a new one of the other


@dataclass(frozen=True, slots=True)
class Part:
    """A leaf of a fallback: its form, whether it is of the current event and, for times, the type of the column, which
    has the zone."""

    form: int
    at_hand: bool
    dtype: pa.DataType | None = None

    def array(self, keys: Ints, texts: Texts) -> pa.Array:
        """Values by tag and word."""
        null = keys[:, 0] == tagged.NULL
        words = np.where(null, 0, keys[:, 1])
        if self.form >= DECIMAL:
            return array_of_words(words, null, self.form, texts)
        if self.form == tagged.TEXT:
            if not null.any():
                return texts.of(words)
            return texts.of(words[~null]).take(pa.array(np.cumsum(~null) - 1, mask=null))
        if self.form == tagged.REAL:
            return pa.array(words.view(np.float64), mask=null)
        if self.form == tagged.BIG:
            return pa.array(words.view(np.uint64), mask=null)
        if self.form == tagged.TRUTH:
            return pa.array(words != 0, mask=null)
        plain = pa.array(words, mask=null)
        return plain if self.dtype is None else _times(plain, UNITS[self.form], self.dtype)


def _times(ticks: pa.Array, unit: str, dtype: pa.DataType) -> pa.Array:
    """Ticks of a unit as values of the column's type, which they came from."""
    if pa.types.is_time(dtype):
        return ticks.cast(pa.time64(unit)).cast(dtype)
    return ticks.cast(pa.duration(unit) if pa.types.is_duration(dtype) else pa.timestamp(unit)).cast(dtype)


class PythonFallback:
    """`expression` reads column k as the value of `parts[k]`; `form` is that of its answers.

    >>> from cepheid.algebra.conditions import Attribute, Call
    >>> both = Call("concat", (Attribute(None, "0"), Attribute(None, "1")))
    >>> parts = (Part(tagged.TEXT, False), Part(tagged.TEXT, True))
    >>> texts = Texts()
    >>> a, b = texts.numbers(pa.array(["a", "b"]))
    >>> fallback = PythonFallback(both, tagged.TEXT, parts, texts)
    >>> key = np.array([tagged.TEXT, a, tagged.TEXT, b])
    >>> tag, word = answers.answer(fallback.address, key.ctypes.data, 0)
    >>> tag == tagged.TEXT, texts.of(np.array([word])).to_pylist()
    (True, ['ab'])
    """

    def __init__(self, expression: Expression, form: int, parts: Sequence[Part], texts: Texts) -> None:
        self._expression = expression
        self._form = form
        self._parts = tuple(parts)
        self._at_hand = np.repeat([part.at_hand for part in parts], 2)
        self._control = np.zeros(answers.A_FIELDS, np.int64)
        self._control[answers.A_SELF] = id(self)  # whoever asks holds the control, which this object owns
        self._control[answers.A_KEY] = 2 * len(parts)
        self.when_texts_moved: Callable[[], None] = lambda: None
        self.forget(texts)

    @property
    def address(self) -> int:
        return int(self._control.ctypes.data)

    @property
    def memory(self) -> int:
        return self._cells.nbytes

    def forget(self, texts: Texts) -> None:
        """Empties the cache; from now on texts have the numbers of `texts`."""
        self._texts = texts
        self._recent: tuple[dict[tuple[int, ...], None], dict[tuple[int, ...], None]] = ({}, {})
        self._make_cells(_FEWEST_CELLS)

    def _make_cells(self, count: int) -> None:
        self._known = 0
        size = answers.KEY + int(self._control[answers.A_KEY])
        self._cells = np.zeros(count * size, np.int64)
        self._control[answers.A_CELLS], self._control[answers.A_COUNT] = self._cells.ctypes.data, count

    def answer(self, address: int) -> None:
        """Caches the answer for the key at an address, and others. Kernels call this."""
        size = int(self._control[answers.A_KEY])
        key = np.array((ctypes.c_int64 * size).from_address(address), np.int64)
        keys = self._with_others(key)
        found = self._answers(keys)
        self._make_room(len(keys))
        self._known += int(answers.put_answers(self._control, keys, found, self._cells))

    def _with_others(self, key: Ints) -> Ints:
        """The key, and the combinations of its new side with all recent values of the other."""
        sides = tuple(tuple(key[self._at_hand == side].tolist()) for side in (False, True))
        is_known = [sides[side] in self._recent[side] for side in range(2)]
        for side in range(2):
            self._recent[side][sides[side]] = None
            if len(self._recent[side]) > _TOGETHER:
                del self._recent[side][next(iter(self._recent[side]))]
        if not any(is_known):
            return key[None]
        other = 0 if is_known[0] else 1
        found = np.array([*self._recent[other]], np.int64)
        keys = np.tile(key, (len(found), 1))
        keys[:, self._at_hand == bool(other)] = found
        return keys

    def _answers(self, keys: Ints) -> Ints:
        arrays = {
            str(k): part.array(keys[:, 2 * k : 2 * k + 2], self._texts) for k, part in enumerate(self._parts)
        }
        rows = pa.nulls(len(keys))  # a fallback without parts has no other column
        columns = Columns(pa.table({**arrays, "": rows}))
        try:
            words, nulls = words_of(columns, self._expression, self._form, self._texts)
        finally:
            self.when_texts_moved()
        if self._form == tagged.ANY:
            return words
        tags = np.full(len(keys), self._form)
        if self._form == tagged.BIG:
            tags[words >= 0] = tagged.WHOLE
        if nulls is not None:
            tags[nulls] = tagged.NULL
        return np.stack([tags, words], axis=1)

    def _make_room(self, more: int) -> None:
        """Grows the cache so that at most half of the cells are used; empties it when it may not grow."""
        cells = int(self._control[answers.A_COUNT])
        if 2 * (self._known + more) <= cells:
            return
        wanted = min(4 * cells, 2 * MOST_ANSWERS)
        old = self._cells.reshape(cells, -1)
        kept = old[old[:, answers.USED] != 0] if wanted > cells else old[:0]
        self._make_cells(wanted)
        if len(kept):
            keys = np.ascontiguousarray(kept[:, answers.KEY :])
            found = np.ascontiguousarray(kept[:, [answers.TAG, answers.WORD]])
            self._known = int(answers.put_answers(self._control, keys, found, self._cells))
