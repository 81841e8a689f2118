"""Ten equality tests on a column of a thousand strings: a count, and the floor it is held to.

The floor evaluates the tests once per distinct value and looks each event up, with nothing but pyarrow and numpy.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.checks import Check
from bench.results import Row
from bench.streams import named
from bench.timing import measure
from bench.work import counted

NAMES = 1_000
WANTED = tuple(f"name {97 * i}" for i in range(10))


def texts(events: int, dictionary: bool, repeats: int) -> list[Row]:
    """The floor, the ten tests in one condition, and in ten."""
    table = named(events, NAMES, dictionary)
    column = "dictionary" if dictionary else "plain"
    expected = int(np.isin(table["name"].to_numpy(), WANTED).sum())
    check = Check("whole stream, by numpy", expected)
    found, timing = measure(lambda: floor(table), repeats, expected)
    rows = [Row(f"floor, {column}", events, found, table.nbytes, check.how, timing)]
    for name, query in (("one condition", together()), ("ten conditions", apart())):
        rows.append(counted(f"{name}, {column}", table, query, check, repeats, column=column))
    return rows


def floor(table: pa.Table) -> int:
    column = table["name"].combine_chunks()
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    wanted = np.zeros(len(encoded.dictionary), np.bool_)
    for name in WANTED:
        wanted |= pc.equal(encoded.dictionary, name).to_numpy(zero_copy_only=False)
    return int(np.count_nonzero(wanted[encoded.indices.to_numpy()]))


def together() -> str:
    return f"SELECT * FROM s WHERE s AS x FILTER {' OR '.join(f'x.name = {name!r}' for name in WANTED)}"


def apart() -> str:
    atoms = [f"(s AS x{i} FILTER x{i}.name = {name!r})" for i, name in enumerate(WANTED)]
    return f"SELECT * FROM s WHERE {' OR '.join(atoms)}"
