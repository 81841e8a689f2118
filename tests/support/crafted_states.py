"""Saved states as somebody would make them who means harm: real ones with parts changed, under a valid digest.

In: a seed. Out: the bytes of a state (`crafted`), and what comes of loading it and going on (`outcome`): `refused`, or
`taken` where it passes every check; any exception but a CepheidError is a finding.
"""

from __future__ import annotations

import copy
import json
import random
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from functools import lru_cache
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa

import cepheid
from cepheid import saved
from cepheid.engine import Engine
from cepheid.errors import CepheidError
from cepheid.pipeline import parse_query, plan_for
from cepheid.schema import schema_of

Parts = dict[str, np.ndarray]
Content = tuple[dict[str, Any], Parts]

EVENTS = 48
SETS = "SELECT * FROM s WHERE (A AS x)+ ; B AS y"
QUERIES = [  # with the evaluators that run them
    ("SELECT * FROM s WHERE A AS x ; B AS y ; C AS z", "compact chain configurations semantics"),
    ("SELECT * FROM s WHERE A AS x ; NXT(B AS y ; C AS z) PARTITION BY k", "compact configurations semantics"),
    ("SELECT * FROM s WHERE A AS x ; B AS y ; C AS z WITHIN 9", "compact chain configurations semantics"),
    ("SELECT * FROM s WHERE A AS x ; B AS y ; C AS z WITHIN 7 EVENTS", "compact chain configurations semantics"),
    (SETS + " WITHIN 6", "compact chain configurations"),
    (SETS + " PARTITION BY k", "compact chain configurations semantics"),
    (SETS + " PARTITION BY k, f WITHIN 12", "compact chain configurations"),
    (SETS + " PARTITION BY k WITHIN 5 EVENTS CONSUME", "compact configurations"),
    ("SELECT MAX * FROM s WHERE (A AS x)+ ; B AS y WITHIN 8", "compact configurations semantics"),
    ("SELECT NXT * FROM s WHERE (A AS x OR B AS y)+ ; C AS z WITHIN 20", "compact configurations"),
    ("SELECT LAST * FROM s WHERE A AS x ; (B AS y)+ ; C AS z PARTITION BY k", "compact"),
    ("SELECT STRICT * FROM s WHERE A AS x ; (B AS y OR C AS y)+ ; A AS z WITHIN 9", "compact chain"),
    ("SELECT * FROM s WHERE (A AS x OR B AS y)+ ; C AS z CONSUME", "compact chain"),
    ("SELECT * FROM s WHERE (A : B PART-BY [k])+ ; C AS z WITHIN 20", "chain"),
    ("SELECT * FROM s WHERE A AS x ; B AS y FILTER x.k = y.k WITHIN 20", "chain configurations semantics"),
    ("SELECT * FROM s WHERE A AS x ; B AS y ; C AS z FILTER x.k = y.k AND y.v <> z.v", "chain configurations"),
    ("SELECT * FROM s WHERE A AS x ; B AS y ; C AS z FILTER x.f <> y.f AND y.k <> z.k WITHIN 15", "chain"),
    ("SELECT * FROM s WHERE A AS x ; B AS y ; C AS z FILTER x.v < z.v WITHIN 25", "configurations semantics"),
    ("SELECT * FROM s WHERE A AS x ; B AS y ; C AS z FILTER x.v < y.v AND x.v < z.v", "configurations"),
    ("SELECT * FROM s WHERE A AS x ; (B AS y)+ IN Y ; C AS z FILTER x.k = z.k AND Y.k > x.k", "configurations"),
    ("SELECT * FROM s WHERE A AS x ; B AS y ; C AS z FILTER x.v + y.v < z.v WITHIN 30 CONSUME", "configurations"),
    ("SELECT MAX * FROM s WHERE A AS x ; (B AS y)+ ; C AS z FILTER x.v < z.v WITHIN 12", "configurations"),
    ("SELECT * FROM s WHERE A AS x ; (B AS y)+ IN Y ; C AS z FILTER Y.k <> z.k WITHIN 9", "configurations"),
    ("SELECT * FROM s WHERE A AS x ; B AS y ; C AS z FILTER concat(x.k, y.k) = z.k WITHIN 30", "configurations"),
    ("SELECT * FROM s WHERE A AS x ; B AS y ; C AS z FILTER coalesce(x.v, x.r) < z.r WITHIN 30", "configurations"),
    ("SELECT y FROM s WHERE A AS x ; B AS y ; C AS z FILTER x.v < z.v PARTITION BY f WITHIN 40", "configurations"),
    ("#([type = 'A'] > r, [type = 'B']+, [type = 'C' AND v > r.v]) WITHIN 20 PARTITION BY k", "configurations"),
    ("#([type = 'A'] > r, [type = 'B' AND k = r.k] > q, [type = 'C' AND v > q.v])", "configurations"),
    ("#([type = 'A'] > r, [type = 'B' AND v > r.v]+ WITHIN 5, [type = 'C' AND v > r.v])", "configurations"),
    ("#([type = 'A'] > r, [type = 'B' AND v > r.v]+ WITHIN 5 EVENTS, [v > r.v]) WITHIN 30", "configurations"),
    ("SELECT * FROM s WHERE A AS x ; B AS y FILTER x.w = y.w WITHIN 30", "chain configurations"),
    ("SELECT * FROM s WHERE A AS x ; B AS y ; C AS z FILTER x.w < y.w AND x.d + z.d > 1", "configurations"),
    ("SELECT * FROM s WHERE A AS x ; B AS y ; C AS z FILTER x.w * y.w > z.w WITHIN 30", "configurations"),
    ("PATTERN SEQ(A+ a[], B b) WHERE [k] AND a[i].v >= a[i-1].v WITHIN 9 RETURN a[].v, b.v AS w", "auto semantics"),
    ("PATTERN SEQ(~C c, A a, B+ b[], ~D d) WHERE a.v < 3 WITHIN 12 RETURN b[].v, a.v AS first", "semantics"),
]  # fmt: skip
OPTIONS: list[dict[str, Any]] = [
    {},
    {"counting": True},
    {"counting": True},
    {"positions": True},
    {"limit": 3},
    {"columns": ["start", "end"]},
    {"partition_positions": True, "positions": True},
]
WORDS = [
    0,
    1,
    2,
    3,
    7,
    8,
    63,
    64,
    255,
    1 << 16,
    (1 << 31) - 1,
    1 << 32,
    1 << 46,
    1 << 47,
    1 << 62,
    (1 << 63) - 1,
]


def events(rng: random.Random, count: int = EVENTS) -> pa.Table:
    """A stream with texts, whole numbers, doubles and decimals, NULL in all of them."""

    def some(values: list[Any]) -> list[Any]:
        return [rng.choice(values) for _ in range(count)]

    return pa.table(
        {
            "ts": pa.array(sorted(rng.randrange(count) for _ in range(count)), pa.int64()),
            "type": pa.array(some(["A", "A", "B", "B", "C", "D"]), pa.string()),
            "k": pa.array(some(["p", "q", "pq", "é", "", None]), pa.string()),
            "f": pa.array(some([0.0, -0.0, float("nan"), 2.5, None]), pa.float64()),
            "v": pa.array(some([0, 1, 2, 3, -7, 1 << 40, None]), pa.int64()),
            "r": pa.array(some([0.5, 1.5, 4.0, None]), pa.float64()),
            "d": pa.array(some([Decimal("0.50"), Decimal("1.25"), None]), pa.decimal128(12, 2)),
            "w": pa.array(some([Decimal(1), Decimal(10) ** 20, Decimal("-0.5"), None]), pa.decimal128(38, 9)),
        }
    )


@lru_cache(maxsize=4096)
def _plan(text: str, evaluator: str) -> Any:
    parsed = parse_query(text)
    schema = schema_of(events(random.Random(0), 1).schema, time="ts", stream=parsed.stream)
    return plan_for(parsed, schema, evaluator)


def any_real(rng: random.Random) -> tuple[bytes, pa.Table]:
    """A state of any query, evaluator and options; other ones where the matches of the stream are too many."""
    while True:
        text, evaluators = rng.choice(QUERIES)
        try:
            return real(rng, text, rng.choice(evaluators.split()), rng.choice(OPTIONS))
        except CepheidError as error:
            if error.code != "too-many-matches":
                raise


def real(rng: random.Random, text: str, evaluator: str, options: dict[str, Any]) -> tuple[bytes, pa.Table]:
    """A state as an engine saved it at some moment, and the events that come next."""
    stream = events(rng)
    if options.get("counting") and rng.randrange(4) == 0:  # long numbers
        stream = stream.set_column(1, "type", pa.array(["A"] * (EVENTS - 6) + ["B", "C"] * 3))
    engine = Engine(_plan(text, evaluator), **options)
    taken = rng.choice([0, 1, EVENTS // 2, rng.randrange(EVENTS), EVENTS - 5])
    cut = rng.randint(0, taken)
    engine.push(stream.slice(0, cut))
    engine.push(stream.slice(cut, taken - cut))
    return engine.save(), stream.slice(taken)


def taken_apart(state: bytes) -> Content:
    """The header with the names, types, shapes and places of the parts, and the parts."""
    behind = state[len(saved.MARK) + 16 :]
    content = saved.CODEC.decompress(behind[8:], struct.unpack("<Q", behind[:8])[0]).to_pybytes()
    begin = struct.unpack("<Q", content[:8])[0] + 8
    header = json.loads(content[8:begin])
    parts = {}
    for name, dtype, shape, place in header.pop("parts"):
        count = int(np.prod(shape, dtype=np.int64))
        parts[name] = np.frombuffer(content, dtype, count, begin + place).reshape(shape).copy()
    return header, parts


def put_together(header: dict[str, Any], parts: Parts, rng: random.Random, bent: str = "") -> bytes:
    """A state of these parts with a valid digest; `bent` names what of the form itself is wrong."""
    places: list[Any] = []
    body = b""
    for name, part in parts.items():
        body += b"\0" * (-len(body) % 64)
        places.append([name, part.dtype.str, list(part.shape), len(body)])
        body += part.tobytes()
    if bent == "places" and places:
        place = rng.choice(places)
        field = rng.randrange(4)
        place[field] = rng.choice(
            [
                [place[0] + "x", "", 7, None, rng.choice(places)[0]],
                ["|O", "<f4", ">i8", "<i4", "<U4", "V8", "i8,i8", "", 5, "<M8[us]", "|b1"],
                [[-1], [], [1 << 62], [1 << 32, 1 << 32], [2.5], ["3"], 7, [0, 1 << 40], [len(body)]],
                [-1, -64, len(body), 1 << 62, 2.0, None, rng.choice(places)[3], place[3] + 1],
            ][field]
        )
    head = json.dumps({"version": saved.VERSION, **header, "parts": places}).encode()
    if bent == "json":
        head = rng.choice(
            [head[: len(head) // 2], b"[" * 100_000, b"null", b"[]", b"{}", b"\xff" + head, head + b"}"]
        )
    head = head.ljust(-(-(8 + len(head)) // 64) * 64 - 8)
    length = len(head)
    if bent == "header":
        length = rng.choice([0, length - 64, length + 64, 1 << 62, (1 << 64) - 8, (1 << 64) - 1])
    content = struct.pack("<Q", length) + head + body
    if bent == "cut":
        content = content[: rng.randrange(len(content))]
    size = len(content)
    if bent == "size":
        size = rng.choice([0, 7, size - 1, size + 1, 1 << 34, 1 << 40, 1 << 60, 1 << 63, (1 << 64) - 1])
    packed = saved.CODEC.compress(content, asbytes=True)
    if bent == "bomb":
        size = 1 << 36
        packed = _zeros(size)
    elif bent == "packed":
        packed = _flipped(packed, rng)
    behind = struct.pack("<Q", size) + packed
    return saved.MARK + saved._digest(behind) + behind


@lru_cache(maxsize=1)
def _zeros(size: int) -> bytes:
    """Zeros as a Zstandard frame of blocks that repeat one byte."""
    blocks, most = [], 1 << 17
    for k in range(size // most):
        blocks.append((most << 3 | 1 << 1 | (k == size // most - 1)).to_bytes(3, "little") + b"\0")
    return struct.pack("<IBQ", 0xFD2FB528, 0xE0, size) + b"".join(blocks)


def _flipped(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8])):
        if changed:
            changed[rng.randrange(len(changed))] = rng.choice([0, 1, 0xFF, 0x80, rng.randrange(256)])
    return bytes(changed)


def _number(rng: random.Random, near: int, size: int) -> int:
    """At a limit, beside what was there, or an index of an array of this size or just outside of it."""
    found = rng.choice(
        [
            rng.choice(WORDS),
            -rng.choice(WORDS) - rng.randrange(2),
            near + rng.choice([-1, 1, 2, -64, 64]),
            size,
            size - 1,
            rng.randrange(-3, 40),
            rng.randrange(size + 1),
        ]
    )
    return max(min(found, (1 << 63) - 1), -(1 << 63))


def _changed_array(array: np.ndarray, rng: random.Random, others: list[np.ndarray]) -> np.ndarray | None:
    """An array with some of its numbers, its shape or its type changed; None: it is dropped."""
    how = rng.randrange(26)
    flat = array.reshape(-1)
    if how < 15 and flat.size and array.dtype.kind in "iu":
        changed = flat.astype(np.int64)
        for _ in range(rng.choice([1, 1, 1, 2, 3, 10])):
            at = rng.randrange(flat.size)
            if rng.randrange(4) == 0:
                changed[at] = changed[rng.randrange(flat.size)]
            else:
                changed[at] = _number(rng, int(changed[at]), rng.choice([flat.size, len(array), 8]))
        return changed.astype(array.dtype).reshape(array.shape)
    match how:
        case 15:
            return None
        case 16:
            return flat[: rng.randrange(flat.size + 1)]
        case 17:
            return array[: rng.randrange(len(array) + 1)]
        case 18:
            return np.concatenate([array, array[: rng.randrange(len(array) + 1)]])
        case 19:
            return np.zeros_like(array)
        case 20:
            return array.astype(rng.choice(["<i4", "<f8", "|u1", ">i8", "|b1", "<u8", "<i2"]))
        case 21:
            return np.ascontiguousarray(array.T)
        case 22:
            return np.array(rng.sample(flat.tolist(), flat.size), array.dtype).reshape(array.shape)
        case 23:
            return flat.reshape(-1, 1)
        case _:
            return rng.choice(others)


def _changed_json(value: Any, rng: random.Random) -> Any:
    """A tree with one leaf or branch changed."""
    if isinstance(value, list) and value and rng.randrange(5):
        at = rng.randrange(len(value))
        if rng.randrange(8) == 0:
            return rng.choice(
                [value[:at] + value[at + 1 :], [*value, value[at]], [value[at]] * 3, value[::-1]]
            )
        return [*value[:at], _changed_json(value[at], rng), *value[at + 1 :]]
    if isinstance(value, dict) and value and rng.randrange(10):
        key = rng.choice(sorted(value))
        if rng.randrange(12) == 0:
            return {name: item for name, item in value.items() if name != key}
        return {**value, key: _changed_json(value[key], rng)}
    if isinstance(value, int) and not isinstance(value, bool) and rng.randrange(4):
        return _number(rng, value, 8)
    strange = [
        None,
        -1,
        0,
        1,
        3,
        2.5,
        "x",
        "ts",
        "",
        [],
        {},
        True,
        False,
        10**30,
        [0],
        [[0]],
        "auto",
        1 << 62,
    ]
    return rng.choice(strange)


def _changed_table(part: np.ndarray, rng: random.Random, others: list[np.ndarray]) -> np.ndarray | None:
    how = rng.randrange(8)
    if how < 4:
        return np.frombuffer(_flipped(part.tobytes(), rng), np.uint8)
    if how == 4:
        return None
    if how == 5:
        return rng.choice(others)
    try:
        table = pa.ipc.open_stream(part.tobytes()).read_all()
        _ = table.column_names  # they may not be texts
    except (pa.ArrowException, OSError, UnicodeDecodeError):  # it was changed before
        return np.frombuffer(_flipped(part.tobytes(), rng), np.uint8)
    if how == 6 and len(table):
        at = [rng.randrange(len(table)) for _ in range(rng.randint(0, len(table) + 1))]
        table = table.take(pa.array(at, pa.int64()))
    elif table.num_columns:
        column = rng.randrange(table.num_columns)
        values = rng.choice(
            [
                pa.nulls(len(table)),
                pa.nulls(len(table), table.schema.types[column]),
                pa.array(["x"] * len(table)),
                pa.array([rng.randrange(9) for _ in range(len(table))]),
                pa.array(["x"] * len(table)).dictionary_encode(),
            ]
        )
        table = table.set_column(column, table.column_names[column], values)
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=rng.choice([None, None, "zstd", "lz4"]))
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return np.frombuffer(sink.getvalue(), np.uint8)


def crafted(seed: int) -> tuple[bytes, pa.Table]:
    """A state with something changed, and events to go on with."""
    rng = random.Random(seed)
    state, rest = any_real(rng)
    header, parts = copy.deepcopy(taken_apart(state))
    bent = ""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        how = rng.randrange(20)
        if how == 0:
            bent = rng.choice(
                ["places", "places", "places", "json", "header", "cut", "size", "packed", "bomb"]
            )
        elif how == 1:
            header = _changed_json(header, rng)
            header = header if isinstance(header, dict) else {}
        elif how == 2:  # the header of one, the parts of another
            header = taken_apart(any_real(rng)[0])[0]
        elif parts:
            _change_part(parts, rng)
    return put_together(header, parts, rng, bent), rest


def _json(part: np.ndarray) -> Any:
    """The tree that a part is the text of, or None."""
    if part.dtype != np.uint8 or part[:1].tobytes() not in (b"{", b"["):
        return None
    try:
        return json.loads(part.tobytes())
    except ValueError:
        return None


def _change_part(parts: Parts, rng: random.Random) -> None:
    name = rng.choice(sorted(parts))
    others = list(parts.values())
    if rng.randrange(6) == 0:
        foreign = taken_apart(any_real(rng)[0])[1]
        others = [foreign[name]] if name in foreign else list(foreign.values())
    changed: np.ndarray | None
    if name.startswith("table:"):
        changed = _changed_table(parts[name], rng, others)
    elif (tree := _json(parts[name])) is not None and rng.randrange(4):
        changed = np.frombuffer(json.dumps(_changed_json(tree, rng)).encode(), np.uint8)
    else:
        changed = _changed_array(parts[name], rng, others)
    if changed is None:
        del parts[name]
    else:
        parts[name] = np.ascontiguousarray(changed)


@contextmanager
def few_matches() -> Iterator[None]:
    """Matches of a batch are too many much earlier than they would be: what a limit lets through is no finding."""
    names = ("compact", "chain", "configurations")
    with ExitStack() as stack:
        for name in names:
            stack.enter_context(mock.patch(f"cepheid.evaluators.{name}.evaluator.GUARD", 1 << 18))
        yield


def outcome(state: bytes, rest: pa.Table) -> str:
    """`refused`, or `taken` by an engine that then took the rest of the stream, was saved, loaded and finished."""
    try:
        engine = cepheid.load(state)
    except CepheidError:
        return "refused"
    with few_matches():
        return _gone_on(engine, rest)


def _gone_on(engine: Engine, rest: pa.Table) -> str:
    try:
        half = len(rest) // 2
        engine.push(rest.slice(0, half))
        engine.expire(len(rest) // 4)
        engine.push(rest.slice(half))
        _ = engine.memory, engine.counted if engine._counting else 0
        engine = cepheid.load(engine.save())
        engine.finish()
    except CepheidError as error:
        return f"taken, then {error.code}"
    return "taken"
