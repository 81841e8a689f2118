"""SELECT DISTINCT: of the matches that end at the same event and agree in all that is selected, the first.

In: matches by their end, all that end at an event together. Out: one of each group, in the same order. Two matches
agree in an event if it is the same event, in a set if it is the same events, in a value if it is the same for
PARTITION BY, where NULL equals NULL and NaN equals NaN. The one that is kept begins first; of those that begin at the
same event, it has the smallest id. So the result does not depend on the order in which an evaluator finds matches, and
nothing is remembered from one event to the next.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cepheid.algebra.nodes import Computed
from cepheid.matches.computed import Evaluate, Expressions
from cepheid.matches.event_rows import RowsOfMatches
from cepheid.matches.match_arrays import Found, Ints
from cepheid.matches.shown_events import Chosen
from cepheid.matches.table import Labels, Layout, ids_of
from cepheid.streams.gather import Gathered
from cepheid.streams.partitions import Texts, numbered
from cepheid.streams.plain import whole

_ID = 32  # characters


def distinct(found: Found, labels: Labels, layout: Layout, rows: RowsOfMatches, evaluate: Evaluate) -> Found:
    """The first of all matches that are one row."""
    ends = found.rows[found.offsets[1:] - 1]
    same = np.append(False, ends[1:] == ends[:-1])
    if not same.any():
        return found
    shared = np.flatnonzero(same | np.append(same[1:], False))
    kept = _firsts(found.take(shared), labels, layout, rows, evaluate)
    alone = np.ones(len(found), np.bool_)
    alone[shared] = False
    return found.take(np.flatnonzero(alone | np.isin(np.arange(len(found)), shared[kept])))


def _firsts(found: Found, labels: Labels, layout: Layout, rows: RowsOfMatches, evaluate: Evaluate) -> Ints:
    """The numbers of the matches that are kept."""
    at = rows.events(found.rows)
    chosen, gathered = Chosen(found, labels, at.places), Gathered(at.table)
    keys: list[Ints] = [found.rows[found.offsets[1:] - 1]]
    expressions = Expressions(chosen, gathered, layout.schema, evaluate)
    for item in layout.items:
        if isinstance(item, Computed):
            offsets, values = expressions.values(item)
            keys += numbers_of_values(values) if offsets is None else [numbers_of_lists(offsets, values)]
        elif item.many:
            offsets, events = chosen.all_of(item.name)
            keys.append(numbers_of_lists(offsets, pa.array(events)))
        else:
            event, missing = chosen.one_of(item.name)
            place = event.astype(np.int64)
            keys.append(place if missing is None else np.where(missing, -1, place))
    ids = np.frombuffer(ids_of(found, labels, chosen, at.identities()).buffers()[2], f"S{_ID}")
    order = np.lexsort((ids, found.rows[found.offsets[:-1]], *keys))
    differs = [key[order][1:] != key[order][:-1] for key in keys]
    firsts: Ints = order[np.append(True, np.logical_or.reduce(differs))]
    return firsts


def numbers_of_values(values: pa.Array) -> list[Ints]:
    """Whole numbers that are equal where values are."""
    numbers, null = numbered(values, "", Texts())
    return [numbers] if null is None else [np.where(null, 0, numbers), null.astype(np.int64)]


def numbers_of_lists(offsets: Ints, values: pa.Array) -> Ints:
    """A whole number per list that is equal where lists are: lists of one length are told apart one place after
    another.

    >>> numbers = numbers_of_lists(np.array([0, 2, 2, 4, 5]), pa.array([7, 8, 7, 8, 7])).tolist()
    >>> numbers[0] == numbers[2], len(set(numbers))
    (True, 3)
    """
    elements = _codes(np.stack(numbers_of_values(values))) if len(values) else np.zeros(0, np.int64)
    width = int(elements.max(initial=0)) + 1
    lengths = np.diff(offsets)
    numbers: npt.NDArray[np.int64] = np.unique(lengths, return_inverse=True)[1].reshape(-1)
    longest_first = np.argsort(-lengths, kind="stable")
    used = int(numbers.max(initial=0)) + 1
    for place in range(int(lengths.max(initial=0))):
        longer = longest_first[: np.searchsorted(-lengths[longest_first], -place)]
        pairs = numbers[longer] * width + elements[offsets[longer] + place]
        codes = np.unique(pairs, return_inverse=True)[1].reshape(-1)
        numbers[longer] = codes + used
        used += int(codes.max(initial=0)) + 1
    return numbers


def _codes(rows: npt.NDArray[np.int64]) -> Ints:
    """A number per column of a matrix, equal for equal columns."""
    return np.unique(rows, axis=1, return_inverse=True)[1].reshape(-1)


def numbers_of_columns(columns: list[pa.ChunkedArray]) -> Ints:
    """A whole number per row that is equal where rows are.

    >>> lists, texts = pa.chunked_array([[[1], [1], [2]]]), pa.chunked_array([["a", "a", "a"]])
    >>> numbers_of_columns([lists, texts]).tolist()
    [0, 0, 1]
    >>> numbers_of_columns([pa.chunked_array([[[], None, []]], pa.list_(pa.int64()))]).tolist()
    [0, 1, 0]
    """
    keys = [key for column in columns for key in _numbers_of_any(whole(column))]
    return _codes(np.stack(keys))


def _numbers_of_any(values: pa.Array) -> list[Ints]:
    """Whole numbers that are equal where values, lists or structs are."""
    missing = values.is_null().to_numpy(zero_copy_only=False).astype(np.int64)
    if pa.types.is_struct(values.type):
        fields = [values.field(place) for place in range(values.type.num_fields)]
        return [missing, *(key for field in fields for key in _numbers_of_any(field))]
    if pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
        elements = values.flatten()  # without those that a missing list may have
        lengths = np.where(missing, 0, np.diff(values.offsets.to_numpy().astype(np.int64)))
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        numbers = _codes(np.stack(_numbers_of_any(elements))) if len(elements) else np.zeros(0, np.int64)
        return [missing, numbers_of_lists(offsets, pa.array(numbers))]
    return numbers_of_values(values)
