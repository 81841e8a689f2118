"""Names of columns between Spark and the engine.

Spark resolves names: dots lead into structs, `*` is every column, and by default `v` and `V` are one. So in every
DataFrame of ours a user's column goes by its *inner* name, which is made of letters, digits and underscores; the
engine, the checkpoint and the output know it by the user's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import pyarrow as pa

from cepheid.schema import HIDDEN

INNER = f"{HIDDEN}c_"
_ESCAPED = re.compile(r"[^a-z0-9]")


def inner(name: str) -> str:
    """The name that a column goes by in Spark: different for different names, in Spark's eyes too.

    >>> inner("price"), inner("V"), inner("a.b"), inner(HIDDEN + "arrival")
    ('__cepheid_c_price', '__cepheid_c__56_', '__cepheid_c_a_2e_b', '__cepheid_arrival')
    """
    if name.startswith(HIDDEN):
        return name
    return INNER + _ESCAPED.sub(lambda found: f"_{ord(found[0]):x}_", name)


def outer(batches: Iterable[pa.RecordBatch], names: Iterable[str]) -> Iterator[pa.RecordBatch]:
    """The batches, as Spark hands them to a worker, with the users' names."""
    known = {inner(name): name for name in names}
    for batch in batches:
        yield batch.rename_columns([known.get(name, name) for name in batch.schema.names])
