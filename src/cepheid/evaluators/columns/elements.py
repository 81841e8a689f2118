"""Elements of structs, lists and maps for all rows at once.

In: an Arrow array and a key. Out: the array of the elements, NULL where there is none.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def element(array: pa.Array, key: str | int) -> pa.Array:
    """The field, the item or the value of a key.

    >>> element(pa.array([["a", "b"], [], None]), 0).to_pylist()
    ['a', None, None]
    """
    dtype = array.type
    if pa.types.is_dictionary(dtype):
        return element(array.cast(dtype.value_type), key)
    if pa.types.is_struct(dtype):
        return pc.struct_field(array, [key])
    if pa.types.is_map(dtype):
        return pc.map_lookup(array, pa.scalar(key, dtype.key_type), "first")
    assert isinstance(key, int)
    if pa.types.is_fixed_size_list(dtype):
        inside = 0 <= key < dtype.list_size
        return pc.list_element(array, key) if inside else pa.nulls(len(array), dtype.value_type)
    return _item(array, key)


def _item(array: pa.ListArray | pa.LargeListArray, place: int) -> pa.Array:
    offsets = array.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    lengths = np.diff(offsets)
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    missing = (lengths <= place) | (place < 0) | ~valid
    return array.values.take(pa.array(np.where(missing, 0, offsets[:-1] + place), mask=missing))
