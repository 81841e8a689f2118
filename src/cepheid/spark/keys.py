"""PART-BY around a whole formula as the key of a shuffle: which rows go to which task.

In: a query without PARTITION BY whose outermost operator is a PART-BY over all its events, or one of SASE+ with
`[attr]` under strategies that skip other keys. Out: the attributes to
shuffle by, and the rows with the *bucket* of their key. With one attribute an event has one bucket. Where
`PART-BY [X.a, Y.b]` compares different attributes, an event with both roles has up to two; a copy goes to each, marked
with the attributes whose value gave that bucket, and plays only their roles there. The events of a match have
one key, so a match is found in exactly one bucket.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sql

from cepheid.algebra.conditions import Attribute, Condition, Conjunction, IsTrue
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
    Nfab,
    Not,
    Or,
    PartBy,
    Pattern,
    Query,
    Recognise,
    Repeat,
    Select,
    Seq,
    Strategy,
    StrictSeq,
    Within,
    rebuild,
    walk,
)
from cepheid.rewrite.partition import compares_all, depends_on_whole_stream
from cepheid.schema import HIDDEN, Schema
from cepheid.spark.naming import inner
from cepheid.spark.sorting import ARRIVAL
from cepheid.spark.streams import column
from cepheid.spark.task import RANK

BUCKET = f"{HIDDEN}bucket"
BUCKETS = 4096
"""More than there are tasks, so that Spark can balance them."""


def key_attributes(query: Query) -> tuple[str, ...]:
    """The attributes that the outermost PART-BY compares, where rows can be shuffled by them; else none.

    >>> pair = PartBy(Atom("T", "x"), (("x", "id"),))
    >>> key_attributes(Query(pair)), key_attributes(Query(pair, consume=True))
    (('id',), ())
    """
    if isinstance(query.pattern, Nfab):
        equal = tuple(dict.fromkeys(one.name for one in query.pattern.equal))
        return () if depends_on_whole_stream(query) else equal
    outermost = _outermost(query.pattern)
    if query.partition_by or outermost is None or depends_on_whole_stream(query):
        return ()
    names = tuple(dict.fromkeys(name for _, name in outermost.keys))
    # Matches that end at one event compete under a strategy and are merged by DISTINCT; with two roles it has two keys.
    return names if len(names) == 1 or (query.strategy is Strategy.ALL and not query.distinct) else ()


def _outermost(pattern: Pattern) -> PartBy | None:
    match pattern:
        case Filter(body) | Bind(body):
            return _outermost(body)
        case PartBy():
            absent = any(isinstance(node, Not) for node in walk(pattern))
            return pattern if compares_all(pattern) and not absent else None
        case (
            Atom()
            | Seq()
            | StrictSeq()
            | Or()
            | All()
            | Repeat()
            | Select()
            | Not()
            | Within()
            | Recognise()
            | Nfab()
        ):
            return None
        case _:
            assert_never(pattern)


def role(attribute: str) -> str:
    """The column that is true where the event is in its bucket by this attribute."""
    return f"{HIDDEN}role_{inner(attribute)}"


def playing_roles(query: Query) -> Query:
    """The query whose events play only the roles they are marked with."""
    outermost = _outermost(query.pattern)
    assert outermost is not None

    def restricted(pattern: Pattern, around: frozenset[str]) -> Pattern:
        match pattern:
            case Bind(body, var):
                return replace(pattern, body=restricted(body, around | {var}))
            case Atom(_, var, condition):
                names = around if var is None else around | {var}
                attributes = [name for key, name in outermost.keys if key is None or key in names]
                marks: list[Condition] = [IsTrue(Attribute(None, role(name))) for name in attributes]
                parts = [*([] if condition is None else [condition]), *marks]
                return replace(pattern, condition=parts[0] if len(parts) == 1 else Conjunction(tuple(parts)))
            case Seq() | StrictSeq() | Or() | All() | Repeat() | Filter():
                return rebuild(pattern, lambda child: restricted(child, around))
            case PartBy() | Select() | Not() | Within() | Recognise() | Nfab():
                return rebuild(pattern, lambda child: restricted(child, around))
            case _:
                assert_never(pattern)

    def inside(pattern: Pattern, around: frozenset[str]) -> Pattern:
        if pattern is outermost:
            return restricted(pattern, around)
        return rebuild(pattern, lambda child: inside(child, around))

    return replace(query, pattern=inside(query.pattern, frozenset()))


def with_roles(schema: Schema, attributes: tuple[str, ...]) -> Schema:
    """The schema of rows that carry their bucket and their roles."""
    fields = [pa.field(role(name), pa.bool_()) for name in attributes]
    return replace(schema, arrow=pa.schema([*schema.arrow, *fields, pa.field(BUCKET, pa.int64())]))


def in_buckets(rows: DataFrame, schema: Schema, attributes: tuple[str, ...]) -> DataFrame:
    """Each row once per bucket that one of its attributes names."""
    keys = {name: _bucket(_comparable(schema, name, attributes)) for name in attributes}
    copies = rows.withColumn(BUCKET, sql.explode(sql.array_distinct(sql.array(*keys.values()))))
    marks = {role(name): keys[name] == sql.col(BUCKET) for name in attributes}
    return copies.withColumns(marks).repartition(sql.col(BUCKET))


def ranked(rows: DataFrame, schema: Schema) -> DataFrame:
    """The rows with their rank among all rows of the same time, from which ids are made."""
    order = [] if schema.order is None else [column(schema.order).asc_nulls_last()]
    same_time = Window.partitionBy(column(schema.time)).orderBy(*order, sql.col(ARRIVAL))
    return rows.withColumn(RANK, sql.row_number().over(same_time).cast("long") - 1)


def _bucket(key: Column) -> Column:
    return sql.pmod(sql.hash(key), sql.lit(BUCKETS)).cast("long")


def _comparable(schema: Schema, name: str, attributes: tuple[str, ...]) -> Column:
    """The attribute in a type in which equal keys have equal hashes."""
    types = {schema.arrow.field(other).type for other in attributes}
    values = column(name)
    numeric = [
        pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_decimal(dtype)
        for dtype in types
    ]
    if all(numeric) and (len(types) > 1 or any(map(pa.types.is_floating, types))):
        double = values.cast("double")
        return sql.when(sql.isnan(double), sql.lit(float("nan"))).otherwise(double + sql.lit(0.0))
    if any(pa.types.is_timestamp(dtype) for dtype in types) and len(types) > 1:
        return values.cast("timestamp")
    return values
