"""Ten equality tests on a column of a thousand strings: the floor they are held to, the conditions alone, and a count.

The floor evaluates the tests once per distinct value and looks each event up, with nothing but pyarrow and numpy. It
does not check times or count matches, so it is compared with the engine's conditions alone; the count is beside it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import cepheid
from bench.checks import Check
from bench.results import Row
from bench.streams import named
from bench.timing import measure
from bench.work import counted
from cepheid.evaluators.compact.classes import Classes
from cepheid.piece_sizes import MOST_ROWS_COUNTED
from cepheid.streams.plain import plain_table

NAMES = 1_000
WANTED = tuple(f"name {97 * i}" for i in range(10))


def texts(events: int, dictionary: bool, repeats: int) -> list[Row]:
    """The floor; the ten tests in one condition, and in ten, alone and in a count."""
    table = named(events, NAMES, dictionary)
    column = "dictionary" if dictionary else "plain"
    expected = int(np.isin(table["name"].to_numpy(), WANTED).sum())
    check = Check("whole stream, by numpy", expected)
    found, timing = measure(lambda: floor(table), repeats, expected)
    rows = [Row(f"floor, {column}", events, found, table.nbytes, check.how, timing)]
    for name, query in (("one condition", together()), ("ten conditions", apart())):
        alone, timing = measure(conditions(table, query), repeats, expected)
        parameters = {"query": query, "column": column, "conditions": "alone"}
        rows.append(Row(f"{name}, {column}", events, alone, table.nbytes, check.how, timing, parameters))
        rows.append(
            counted(
                f"{name}, {column}, count", table, query, check, repeats, column=column, conditions="counted"
            )
        )
    return rows


def conditions(table: pa.Table, query: str) -> Callable[[], int]:
    """How many events are relevant, as the evaluator finds it, piece by piece; the query is planned before."""
    plan = cepheid.query(query).engine(table.schema, type=None).plan
    assert plan.automaton is not None
    classes = Classes(plan.automaton.predicates, plan.schema)
    plain = plain_table(table)
    begins = range(0, len(plain), MOST_ROWS_COUNTED)
    return lambda: sum(len(classes.of(plain.slice(begin, MOST_ROWS_COUNTED))[0]) for begin in begins)


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
