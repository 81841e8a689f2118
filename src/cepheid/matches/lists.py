"""Arrays of lists from offsets: int32 where they fit, as Arrow and Spark prefer them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cepheid.matches.match_arrays import Ints
from cepheid.streams.gather import new_array


def lists(offsets: Ints, values: pa.Array) -> pa.Array:
    if offsets[-1] > np.iinfo(np.int32).max:
        return pa.LargeListArray.from_arrays(copied(offsets, np.int64), values)
    return pa.ListArray.from_arrays(copied(offsets, np.int32), values)


def copied(numbers: Ints, dtype: npt.DTypeLike) -> pa.Array:
    buffer, copy = new_array(len(numbers), dtype)
    copy[:] = numbers
    return pa.Array.from_buffers(pa.from_numpy_dtype(dtype), len(numbers), [None, buffer])
