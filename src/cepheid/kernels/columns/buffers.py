"""Arrow's buffers as arrays that kernels read.

A kernel is compiled once for arrays that may be written to and once for those that may not, and whether a buffer may
be depends on where it comes from: a table made here, a file, a stream from the JVM. Here it never may, so that no
process compiles what another one has compiled already.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Number = TypeVar("Number", bound=np.generic)


def read_only(buffer: pa.Buffer | None, dtype: type[Number]) -> npt.NDArray[Number]:
    """The numbers in a buffer; none where there is no buffer.

    >>> read_only(pa.array([3, 4]).buffers()[1], np.int64)[:2]
    array([3, 4])
    >>> read_only(None, np.uint8).flags.writeable
    False
    """
    numbers = np.frombuffer(buffer, dtype) if buffer is not None and buffer.size else np.zeros(0, dtype)
    numbers.flags.writeable = False
    return numbers
