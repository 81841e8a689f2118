"""Random streams with columns of every Arrow type, values at their limits, and queries that compare them.

In: a seed. Out: `seeded_typed(seed)`, a table and the text of a query; `typed_differences(case)` says where evaluators,
frames, layouts, cuts and saved states do not agree with the definition, or None. A query over values that cannot be
compared is an error, the same one everywhere. Any exception but a CepheidError is a difference, too.
"""

from __future__ import annotations

import contextlib
import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import cepheid
from cepheid.errors import CepheidError
from cepheid.pipeline import parse_query, rewriting_of
from cepheid.schema import schema_of
from cepheid.semantics.oracle import evaluate
from cepheid.semantics.stream import events_of
from cepheid.streams.plain import plain_table

EVALUATORS = ("auto", "compact", "chain", "configurations", "semantics")
ZONES = (None, "UTC", "Europe/Berlin", "+05:30", "America/St_Johns")
UNITS = ("s", "ms", "us", "ns")
TEXTS = ("", "a", "b", "ab", "é", "日本", "A%_", "\x00", "a" * 40, "𝄞")
BYTES = tuple(text.encode() for text in TEXTS)


def _whole(bits: int, *, signed: bool) -> list[int]:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return [low, low + 1, 0, 1, 2, 3, high - 1, high]


def _decimals(precision: int, scale: int) -> list[Decimal]:
    digits = int("9" * precision)
    ticks = [0, 1, -1, 10, 25, digits, digits - 1, -digits, digits // 3]
    return [Decimal((int(tick < 0), tuple(map(int, str(abs(tick)))), -scale)) for tick in ticks]


REALS = [0.0, -0.0, 1.0, 2.5, -1.0, float("inf"), float("-inf"), float("nan"), 5e-324, 1e308, 0.1, 3.0]
FLOATS = {
    "halffloat": [0.0, -0.0, 1.0, 2.5, 65504.0, 6e-8, float("inf"), float("nan"), 3.0],
    "float": [0.0, -0.0, 1.0, 2.5, 3.4028234663852886e38, 1e-45, float("-inf"), float("nan"), 3.0],
    "double": REALS,
}


def _ticks(unit: str) -> list[int]:
    """Times as numbers: the epoch, what lies beside it, and the ends of the calendar that Python knows."""
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    first, last = -62135596800, 253402300799
    if unit == "ns":
        first, last = -9223372036, 9223372035
    usual = [0, 1, -1, 1_700_000_000 * per_second, 1_700_000_000 * per_second + 1, 1_711_846_800 * per_second]
    return [*usual, first * per_second, last * per_second, (last + 1) * per_second - 1]


def scalar_types() -> dict[str, tuple[pa.DataType, list[Any]]]:
    """By name the types whose values are not made of others, with values of each."""
    found: dict[str, tuple[pa.DataType, list[Any]]] = {
        "null": (pa.null(), [None]),
        "bool": (pa.bool_(), [True, False]),
        "string": (pa.string(), list(TEXTS)),
        "large_string": (pa.large_string(), list(TEXTS)),
        "string_view": (pa.string_view(), list(TEXTS)),
        "binary": (pa.binary(), list(BYTES)),
        "large_binary": (pa.large_binary(), list(BYTES)),
        "binary_view": (pa.binary_view(), list(BYTES)),
        "fixed_binary": (pa.binary(3), [b"abc", b"abd", b"\0\0\0"]),
        "date32": (pa.date32(), [-719162, -1, 0, 1, 2932896, 19000]),
        "date64": (pa.date64(), [-719162 * 86400000, -86400000, 0, 86400000, 2932896 * 86400000]),
        "month_day_nano": (pa.month_day_nano_interval(), [(0, 0, 0), (1, -1, 1), (12, 0, 10**15)]),
    }
    for bits in (8, 16, 32, 64):
        found[f"int{bits}"] = getattr(pa, f"int{bits}")(), _whole(bits, signed=True)
        found[f"uint{bits}"] = getattr(pa, f"uint{bits}")(), _whole(bits, signed=False)
    for name, dtype in (("halffloat", pa.float16()), ("float", pa.float32()), ("double", pa.float64())):
        found[name] = dtype, FLOATS[name]
    for bits, precision in ((32, 9), (64, 18), (128, 38), (256, 76)):
        for scale in (0, 2, precision):
            make = getattr(pa, f"decimal{bits}")
            found[f"decimal{bits}({precision},{scale})"] = make(precision, scale), _decimals(precision, scale)
    for unit in UNITS:
        for zone in ZONES:
            found[f"timestamp[{unit},{zone}]"] = pa.timestamp(unit, zone), _ticks(unit)
        found[f"duration[{unit}]"] = pa.duration(unit), [0, 1, -1, (1 << 63) - 1, -(1 << 63) + 1]
    for unit, make, day in (
        ("s", pa.time32, 86400),
        ("ms", pa.time32, 86400 * 10**3),
        ("us", pa.time64, 86400 * 10**6),
        ("ns", pa.time64, 86400 * 10**9),
    ):
        found[f"time[{unit}]"] = make(unit), [0, 1, day - 1, day // 2]
    return found


SCALARS = scalar_types()
TIMES = [
    name
    for name in SCALARS
    if name.startswith(("timestamp", "date", "int", "uint", "double", "float", "halffloat"))
]


def _scalar_array(name: str, values: list[Any]) -> pa.Array:
    """Values as `SCALARS` has them: numbers of ticks for temporal types."""
    dtype = SCALARS[name][0]
    if name.startswith(("timestamp", "duration", "date", "time")):
        width = pa.int32() if dtype.bit_width == 32 else pa.int64()
        return (
            pa.array(values, width).cast(dtype)
            if not name.startswith("date64")
            else pa.array(values, width).view(dtype)
        )
    if name == "halffloat":
        return pa.array([None if value is None else np.float16(value) for value in values], dtype)
    return pa.array(values, dtype)


class Drawing:
    """Columns that a seed draws."""

    def __init__(self, rng: random.Random, rows: int) -> None:
        self.rng = rng
        self.rows = rows

    def scalar(self, name: str, nulls: bool = True) -> pa.Array:
        values = SCALARS[name][1]
        few = self.rng.sample(values, min(len(values), self.rng.choice([2, 3, 4, 9])))
        drawn = [self.rng.choice(few) for _ in range(self.rows)]
        if nulls and self.rng.randrange(2):
            drawn = [None if self.rng.randrange(4) == 0 else value for value in drawn]
        return _scalar_array(name, drawn)

    def any_column(self) -> tuple[str, pa.Array]:
        name = self.rng.choice(sorted(SCALARS))
        if self.rng.randrange(3):
            return name, self.scalar(name)
        wrapped = self.rng.choice(WRAPPINGS)
        return wrapped(self, name)


def _dictionary(drawing: Drawing, name: str) -> tuple[str, pa.Array]:
    column = drawing.scalar(name)
    try:
        return f"dictionary<{name}>", column.dictionary_encode()
    except pa.ArrowException:
        return name, column


def _runs(drawing: Drawing, name: str) -> tuple[str, pa.Array]:
    column = drawing.scalar(name)
    try:
        return f"runs<{name}>", pc.run_end_encode(column)
    except pa.ArrowException:
        return name, column


def _listed(kind: Callable[[pa.DataType], pa.DataType]) -> Callable[[Drawing, str], tuple[str, pa.Array]]:
    def make(drawing: Drawing, name: str) -> tuple[str, pa.Array]:
        column = drawing.scalar(name)
        offsets = pa.array([*range(drawing.rows), drawing.rows], pa.int32())
        try:
            return f"list<{name}>", pa.ListArray.from_arrays(offsets, column).cast(kind(column.type))
        except pa.ArrowException:
            return f"list<{name}>", pa.ListArray.from_arrays(offsets, column)

    return make


def _struct(drawing: Drawing, name: str) -> tuple[str, pa.Array]:
    return f"struct<{name}>", pa.StructArray.from_arrays([drawing.scalar(name)], ["inner"])


def _map(drawing: Drawing, name: str) -> tuple[str, pa.Array]:
    offsets = pa.array([*range(drawing.rows), drawing.rows], pa.int32())
    keys = pa.array(["k"] * drawing.rows)
    return f"map<{name}>", pa.MapArray.from_arrays(offsets, keys, drawing.scalar(name))


def _union(drawing: Drawing, name: str) -> tuple[str, pa.Array]:
    codes = pa.array([drawing.rng.randrange(2) for _ in range(drawing.rows)], pa.int8())
    children = [drawing.scalar(name), pa.array(range(drawing.rows))]
    if drawing.rng.randrange(2):
        return f"sparse_union<{name}>", pa.UnionArray.from_sparse(codes, children)
    offsets = pa.array(range(drawing.rows), pa.int32())
    return f"dense_union<{name}>", pa.UnionArray.from_dense(codes, offsets, children)


def _extension(drawing: Drawing, name: str) -> tuple[str, pa.Array]:
    which = drawing.rng.randrange(4)
    if which == 0:
        ids = [uuid.UUID(int=drawing.rng.randrange(3)).bytes for _ in range(drawing.rows)]
        return "uuid", pa.ExtensionArray.from_storage(pa.uuid(), pa.array(ids, pa.binary(16)))
    if which == 1:
        texts = pa.array(
            [drawing.rng.choice(['{"a":1}', "1", "null"]) for _ in range(drawing.rows)], pa.string()
        )
        return "json", pa.ExtensionArray.from_storage(pa.json_(), texts)
    if which == 2:
        flags = pa.array([drawing.rng.randrange(2) for _ in range(drawing.rows)], pa.int8())
        return "bool8", pa.ExtensionArray.from_storage(pa.bool8(), flags)
    column = drawing.scalar(name)
    return f"opaque<{name}>", pa.ExtensionArray.from_storage(
        pa.opaque(column.type, "thing", "somebody"), column
    )


WRAPPINGS: tuple[Callable[[Drawing, str], tuple[str, pa.Array]], ...] = (
    _dictionary,
    _dictionary,
    _runs,
    _listed(pa.list_),
    _listed(pa.large_list),
    _listed(pa.list_view),
    _listed(pa.large_list_view),
    _listed(lambda dtype: pa.list_(dtype, 1)),
    _struct,
    _map,
    _union,
    _extension,
)

SHAPES = (
    "A AS x ; B AS y",
    "A AS x ; B AS y ; A AS z",
    "A AS x ; (B AS y)+",
    "A AS x : B AS y",
    "(A AS x OR B AS y) ; A AS z",
)
OPERATORS = ("=", "<>", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class TypedCase:
    """`types`: what the columns `ts`, `a` and `b` are."""

    types: tuple[str, str, str]
    table: pa.Table
    query: str


def seeded_typed(seed: int) -> TypedCase:
    rng = random.Random(seed)
    drawing = Drawing(rng, rng.choice([0, 1, 3, 6, 9]))
    time = rng.choice(TIMES)
    ts = _sorted_times(drawing, time)
    one, a = drawing.any_column()
    other, b = (one, drawing.scalar(one)) if one in SCALARS and rng.randrange(2) else drawing.any_column()
    type = pa.array([rng.choice("ABAB") for _ in range(drawing.rows)], pa.string())
    table = pa.table([ts, type, a, b], names=["ts", "type", "a", "b"])
    return TypedCase((time, one, other), _laid_out(table, rng), _query(rng, one))


def _sorted_times(drawing: Drawing, name: str) -> pa.Array:
    """Times of this type in ascending order, some alike."""
    values = [
        value
        for value in SCALARS[name][1]
        if value is not None and value == value and abs(value) != float("inf")
    ]
    few = drawing.rng.sample(values, min(len(values), 4))
    return _scalar_array(name, sorted(drawing.rng.choice(few) for _ in range(drawing.rows)))


def _laid_out(table: pa.Table, rng: random.Random) -> pa.Table:
    """The same rows as slices of something longer, in chunks, some of them empty."""
    how = rng.randrange(4)
    if how == 0 or len(table) == 0:
        return table
    try:
        if how == 1:
            return (
                pa.concat_tables([table.slice(0, 1), table, table.slice(0, 1)])
                .combine_chunks()
                .slice(1, len(table))
            )
        cut = rng.randint(0, len(table))
        return pa.concat_tables([table.slice(0, cut), table.slice(0, 0), table.slice(cut)])
    except pa.ArrowException:  # not all types can be put together
        return table


LITERALS = (
    *("0", "1", "2.5", "-1", "1e30", "'a'", "''", "TRUE", "NULL"),
    *("TIMESTAMP '2023-11-14 22:13:20'", "DATE '1970-01-01'"),
)


def _query(rng: random.Random, one: str) -> str:
    condition = rng.choice(
        [
            f"x.a {rng.choice(OPERATORS)} x.b",
            f"x.a {rng.choice(OPERATORS)} z.a" if rng.randrange(2) else f"x.a {rng.choice(OPERATORS)} y.b",
            f"x.a {rng.choice(OPERATORS)} y.a",
            f"x.a {rng.choice(OPERATORS)} y.b",
            f"x.a {rng.choice(OPERATORS)} {rng.choice(LITERALS)}",
            f"x.a {rng.choice(OPERATORS)} x.b AND x.b {rng.choice(OPERATORS)} y.b",
            "x.a IS NULL",
            "x.a IS NOT NULL AND y.b IS NULL",
            f"x.a IN ({rng.choice(LITERALS)}, {rng.choice(LITERALS)})",
            f"x.a + 1 {rng.choice(OPERATORS)} y.b",
            f"x.a * y.b {rng.choice(OPERATORS)} 1",
            f"x.a - x.b {rng.choice(OPERATORS)} 0",
            f"abs(x.a) {rng.choice(OPERATORS)} y.a",
            f"year(x.a) {rng.choice(OPERATORS)} year(y.b)",
            f"hour(x.a) {rng.choice(OPERATORS)} 12",
            f"length(x.a) {rng.choice(OPERATORS)} 1",
            f"coalesce(x.a, x.b) {rng.choice(OPERATORS)} y.b",
            "x.a LIKE '%a%'",
        ]
    )
    shape = rng.choice(SHAPES)
    if " z" not in shape:
        condition = condition.replace("z.", "y.")
    text = f"SELECT * FROM s WHERE {shape}"
    if rng.randrange(5):
        text += f" FILTER {condition}"
    if rng.randrange(3) == 0:
        text += f" PARTITION BY {rng.choice(['a', 'b', 'a, b'])}"
    if rng.randrange(2):
        text += rng.choice(
            [" WITHIN 1", " WITHIN 3 EVENTS", " WITHIN 1 second", " WITHIN 300 days", " WITHIN 1e9"]
        )
    return text


Outcome = tuple[str, Any]


def _outcome(run: Callable[[], list[Any]]) -> Outcome:
    try:
        return "matches", run()
    except CepheidError as error:
        return "error", error.code


def _positions(table: pa.Table) -> list[Any]:
    return sorted(zip(table["positions"].to_pylist(), table["match_id"].to_pylist(), strict=True))


def _by_definition(case: TypedCase) -> list[Any]:
    """Positions of the matches that the definition gives."""
    parsed = parse_query(case.query)
    table = plain_table(case.table)
    schema = schema_of(table.schema, time="ts", stream="s")
    query = rewriting_of(parsed, schema)[0]
    return sorted(list(match.positions) for match in evaluate(query, events_of(table, schema)))


def _cut(case: TypedCase, at: int, saved: bool) -> pa.Table:
    engine = parse_query(case.query).engine(case.table.schema, positions=True)
    pieces = [engine.push(case.table.slice(0, at))]
    if saved:
        engine = cepheid.load(engine.save())
    pieces.append(engine.push(case.table.slice(at)))
    return pa.concat_tables([*pieces, engine.finish()])


def typed_differences(case: TypedCase, rng: random.Random) -> str | None:
    """Where one way of running a case differs from another, or None."""
    first = _outcome(lambda: _positions(cepheid.match(case.table, case.query, positions=True)))
    matched = first[0] == "matches"
    if matched:
        wanted = _outcome(lambda: _by_definition(case))
        if wanted != ("matches", [positions for positions, _ in first[1]]):
            return _apart("definition", wanted, ("matches", [positions for positions, _ in first[1]]))
        number = _outcome(lambda: [cepheid.count(case.table, case.query)])
        if number != ("matches", [len(first[1])]):
            return _apart("count", number, ("matches", [len(first[1])]))
    at = rng.randint(0, len(case.table))
    ways: dict[str, Callable[[], list[Any]]] = {
        evaluator: lambda evaluator=evaluator: _positions(  # type: ignore[misc]
            cepheid.match(case.table, case.query, positions=True, evaluator=evaluator)
        )
        for evaluator in EVALUATORS[1:]
    }
    ways["chunks joined"] = lambda: _positions(
        cepheid.match(case.table.combine_chunks(), case.query, positions=True)
    )
    if matched:
        ways["cut"] = lambda: _positions(_cut(case, at, saved=False))
        ways["saved"] = lambda: _positions(_cut(case, at, saved=True))
    for name, run in ways.items():
        found = _outcome(run)
        if found == ("error", "unsupported-evaluator"):
            continue
        if found != first:
            return _apart(name, found, first)
    return _frame_difference(case, first)


def _apart(name: str, found: Outcome, auto: Outcome) -> str:
    """What one way gives and the other does not."""
    if found[0] != "matches" or auto[0] != "matches":
        return f"{name}: {str(found)[:300]}, auto: {str(auto)[:300]}"
    missing = [match for match in auto[1] if match not in found[1]]
    extra = [match for match in found[1] if match not in auto[1]]
    return f"{name}: {len(missing)} missing, as {missing[:2]}, {len(extra)} extra, as {extra[:2]}"


def _frame_difference(case: TypedCase, first: Outcome) -> str | None:
    """Whether frames of pandas and polars with the same values give the same positions."""
    for name, frame in _frames(case.table).items():
        found = _outcome(
            lambda frame=frame: _frame_positions(
                cepheid.match(frame, case.query, positions=True, columns=["positions"])
            )
        )  # type: ignore[misc]
        wanted = first if first[0] == "error" else ("matches", sorted(positions for positions, _ in first[1]))
        if found != wanted:
            return _apart(name, found, wanted)
    return None


def _frame_positions(found: Any) -> list[Any]:
    column = found["positions"]
    return sorted([int(place) for place in positions] for positions in column)


def _frames(table: pa.Table) -> dict[str, Any]:
    """Frames that hold the same values in the same types, where there are such."""
    import pandas as pd
    import polars as pl

    frames: dict[str, Any] = {}
    with contextlib.suppress(pa.ArrowException, NotImplementedError, TypeError, ValueError):
        frame = table.to_pandas(types_mapper=pd.ArrowDtype)
        if all(_holds(frame[name], table[name]) for name in table.column_names):
            frames["pandas"] = frame
    if all(_is_polars(dtype) for dtype in table.schema.types):
        frames["polars"] = pl.from_arrow(table)
    return frames


def _holds(series: Any, column: pa.ChunkedArray) -> bool:
    """Whether a column of pandas is what it was made of. On the way pyarrow loses the offset of run-end encoded arrays,
    so that other values come out, and cuts the NULLs in lists and maps, so that offsets point behind them."""
    values = series.array.__arrow_array__()
    try:
        values.validate(full=True)
    except pa.ArrowInvalid:
        return False
    if not pa.types.is_run_end_encoded(column.type):
        return True
    both = (
        pa.chunked_array(map(pc.run_end_decode, held.chunks), column.type.value_type)
        for held in (values, column)
    )
    return next(both).equals(next(both))


def _is_polars(dtype: pa.DataType) -> bool:
    """Whether polars has this very type, up to how it is laid out."""
    if pa.types.is_timestamp(dtype):
        return dtype.unit != "s" and dtype.tz in (None, "UTC", "Europe/Berlin")
    alike = (
        *(
            pa.types.is_boolean,
            pa.types.is_integer,
            pa.types.is_float32,
            pa.types.is_float64,
            pa.types.is_date32,
        ),
        *(pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null),
        *(pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view),
    )
    return any(test(dtype) for test in alike)


def described(case: TypedCase) -> str:
    columns = {}
    for name, column in zip(case.table.column_names, case.table.columns, strict=True):
        columns[name] = column if _is_strange(column) else column.to_pylist()
    return f"{case.types}\n{case.query}\n{columns}"


def _is_strange(column: pa.ChunkedArray) -> bool:
    """Whether Python has no values for it."""
    try:
        column.to_pylist()
    except (ValueError, OverflowError, pa.ArrowException, NotImplementedError):
        return True
    return False
