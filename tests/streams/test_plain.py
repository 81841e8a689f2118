"""Columns of every Arrow type come to a plain layout with the same values, also as slices and with NULL in them."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cepheid
from cepheid.streams.plain import plain_table, plain_type

CODES = pa.array([0, 1, 0, 1, 0, 1], pa.int8())
SPARSE = pa.UnionArray.from_sparse(CODES, [pa.array([1, 0, 3, 0, None, 0]), pa.array(list("-b-d-f"))])
DENSE = pa.UnionArray.from_dense(
    CODES, pa.array([0, 0, 1, 1, 2, 2], pa.int32()), [pa.array([1, 3, None]), pa.array(list("bdf"))]
)
RUNS = pa.RunEndEncodedArray.from_arrays([2, 4, 6], [7, None, 9])
VIEWS = pa.array([["a"], None, ["b", None], [], ["c"], None], pa.list_(pa.string_view()))
COLUMNS: dict[str, pa.Array] = {
    "sparse": SPARSE,
    "dense": DENSE,
    "runs": RUNS,
    "views": VIEWS,
    "list of unions": pa.ListArray.from_arrays(pa.array([0, 1, 1, 3, 4, 5, 6], pa.int32()), DENSE),
    "struct of runs": pa.StructArray.from_arrays([RUNS, SPARSE], ["r", "u"]),
    "list views": pa.array([["a"], None, ["b"], [], ["c"], None], pa.list_view(pa.string_view())),
    "map": pa.array([[("a", "x")], None, [], [("b", "y")], None, []], pa.map_(pa.string(), pa.string_view())),
    "pairs": pa.array([["a", "b"], None, ["c", None]] * 2, pa.list_(pa.string_view(), 2)),
    "dictionary of lists": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, None] * 2), pa.array([[1], [2, 3]])
    ),
    "months": pa.array([pa.MonthDayNano([1, 2, 3]), None] * 3),
    "extension": pa.array([b"0" * 16, None] * 3, pa.uuid()),
    "decimals": pa.array([1, None] * 3, pa.decimal256(60, 2)),
}


def values(column: pa.ChunkedArray | pa.Array) -> list[object]:
    """Python's values, of a union those of the member that is not NULL."""
    return [_value(value) for value in column.to_pylist()]


def _value(value: object) -> object:
    if isinstance(value, dict) and set(value) == {"0", "1"}:
        return next((member for member in value.values() if member is not None), None)
    if isinstance(value, dict):
        return {name: _value(part) for name, part in value.items()}
    if isinstance(value, bytes):
        return value
    if hasattr(value, "bytes"):  # a UUID
        return value.bytes
    return [_value(part) for part in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize(("begin", "length"), [(0, 6), (1, 4), (2, 0)])
def test_values_stay_what_they_are(name: str, begin: int, length: int) -> None:
    column = COLUMNS[name].slice(begin, length)
    made = plain_table(pa.table({"c": column}))["c"]
    assert values(made) == values(column)
    assert made.type == plain_type(column.type) == plain_type(made.type)
    made.validate(full=True)


def test_a_list_that_is_null_hides_what_it_spans() -> None:
    """Its offsets may span values all the same."""
    offsets = pa.array([0, 1, 3, 4], pa.int32())
    strings = pa.array(list("abcd"), pa.string_view())
    lists = pa.ListArray.from_arrays(offsets, strings, mask=pa.array([False, True, False]))
    assert plain_table(pa.table({"c": lists}))["c"].to_pylist() == [["a"], None, ["d"]]


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_of_any_type_is_shown_and_kept(name: str) -> None:
    """The query does not read it, but shows whole events, through a saved state, too."""
    table = pa.table({"ts": range(6), "type": list("ABABAB"), "c": COLUMNS[name]})
    query = cepheid.query("SELECT * FROM s WHERE A AS x ; B AS y WITHIN 3 EVENTS")
    found = cepheid.match(table, query)
    expected = values(COLUMNS[name])
    assert [values(found[variable].combine_chunks().field("c")) for variable in ("x", "y")] == [
        expected[:4:2] + expected[4:5],
        expected[1::2],
    ]
    assert cepheid.count(table, query) == 3
    engine = query.engine(table.schema)
    engine.push(table.slice(0, 3))
    rest = cepheid.load(engine.save()).push(table.slice(3))
    assert rest["match_id"].to_pylist() == found["match_id"].to_pylist()[1:]
