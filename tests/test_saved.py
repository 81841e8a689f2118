"""The format of saved states: every array and table comes back as it was, whatever its shape and type."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cepheid.errors import CepheidError
from cepheid.saved import pack, unpack

ARRAYS = {
    "words": np.arange(7, dtype=np.int64),
    "byte": np.array([1, 2, 3], np.uint8),  # what follows it must still lie where its type may
    "reals": np.array([0.1, -0.0, np.inf, np.nan]),
    "empty": np.zeros(0, np.float64),
    "no rows": np.zeros((0, 5), np.int64),
    "no columns": np.zeros((3, 0), np.int32),
    "one": np.array(7, np.int16),
    "cube": np.arange(24, dtype=np.int32).reshape(2, 3, 4),
    "flags": np.array([True, False]),
    "every other": np.arange(10)[::2],
    "turned": np.arange(6).reshape(2, 3).T,
    "from the middle": np.frombuffer(bytes(range(1, 18)), np.uint8)[1:].view("<i8"),
}
TABLES = {
    "rows": pa.table({"ts": [1, 2], "s": ["ü", None], "x": [float("nan"), 1.5]}),
    "none": pa.schema([("ts", pa.timestamp("us", "UTC")), ("d", pa.date32())]).empty_table(),
    "no columns": pa.table({}),
}


def test_arrays_and_tables_come_back_as_they_were() -> None:
    header, tables, arrays = unpack(pack({"text": "é", "rows": 2**70}, TABLES, ARRAYS))
    assert (header["text"], header["rows"]) == ("é", 2**70)
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert (arrays[name].dtype, arrays[name].shape) == (array.dtype, array.shape)
        assert arrays[name].tobytes() == array.tobytes()
        assert arrays[name].flags.aligned
    for name, table in TABLES.items():
        assert tables[name].schema == table.schema
        assert str(tables[name].to_pylist()) == str(table.to_pylist())


def test_nothing_is_a_state_too() -> None:
    header, tables, arrays = unpack(pack({}, {}, {}))
    assert (header["version"], tables, arrays) == (3, {}, {})


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
@pytest.mark.parametrize("offset", [0, 1, 3])
def test_bytes_may_lie_anywhere(kind: type, offset: int) -> None:
    """A state that was put together from pages, or is a part of something larger."""
    saved = pack({}, TABLES, ARRAYS)
    given = kind(memoryview(b"x" * offset + saved)[offset:])
    _, _, arrays = unpack(given)
    assert arrays["cube"].tolist() == ARRAYS["cube"].tolist()


@pytest.mark.parametrize("part", [slice(0, 7), slice(0, 30), slice(0, -1), slice(1, None)])
def test_a_part_of_a_state_is_no_state(part: slice) -> None:
    with pytest.raises(CepheidError, match="bad-state"):
        unpack(pack({}, TABLES, ARRAYS)[part])


def test_a_state_in_an_older_format_says_so() -> None:
    with pytest.raises(CepheidError, match="format 1 or 2; this release reads format 3"):
        unpack(b"cepheid\0" + b"\0" * 16 + b"PK\3\4 and so on")
