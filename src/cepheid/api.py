"""The public functions: a query and data in, matches, counts and explanations out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from cepheid.engine import Engine
from cepheid.errors import CepheidError, did_you_mean
from cepheid.frames import from_arrow, kind_of, to_arrow, unite
from cepheid.pipeline import ParsedQuery, parse_query, plan_for
from cepheid.plan.explain import explain_plan, explain_query
from cepheid.plan.plan import Plan
from cepheid.schema import DEFAULT_TYPE, Schema, schema_of
from cepheid.streams.order import sort_stream


def query(text: str, language: str | None = None) -> ParsedQuery:
    """Reads a query once, to be used many times.

    >>> import cepheid
    >>> q = cepheid.query("SELECT * FROM farm WHERE T AS x ; H AS y WITHIN 10 minutes")
    >>> q.language
    'cel'
    """
    return parse_query(text, language)


def match(
    data: Any,
    query: str | ParsedQuery,
    time: str = "ts",
    type: str | None = DEFAULT_TYPE,
    order: str | None = None,
    positions: bool = False,
    limit: int | None = None,
    evaluator: str = "auto",
    slices: int | None = None,
) -> Any:
    """All matches of a query, one row each, as data of the kind that came in.

    On a Spark DataFrame the result is lazy, and `slices` asks for so many time slices where there is no PARTITION BY.

    >>> import cepheid
    >>> events = pa.table({"ts": [1, 2, 3], "type": ["A", "B", "B"]})
    >>> found = cepheid.match(events, "SELECT * FROM s WHERE A AS x ; B AS y", positions=True)
    >>> found["positions"].to_pylist()
    [[0, 1], [0, 2]]
    """
    parsed = _parsed(query)
    _check_limit(limit)
    kind = _kind(data)
    if kind == "spark":
        from cepheid.spark.batch import match_spark

        return match_spark(
            _chosen(data, parsed),
            parsed,
            time=time,
            type=type,
            order=order,
            positions=positions,
            limit=limit,
            evaluator=evaluator,
            slices=slices,
        )
    _check_slices(slices)
    table, schema = _stream(data, parsed, time, type, order)
    engine = Engine(plan_for(parsed, schema, evaluator), positions=positions, limit=limit)
    return from_arrow(_run(engine, table), kind)


def count(
    data: Any,
    query: str | ParsedQuery,
    time: str = "ts",
    type: str | None = DEFAULT_TYPE,
    order: str | None = None,
    evaluator: str = "auto",
    slices: int | None = None,
) -> int:
    """The exact number of matches, however large; none is made.

    >>> import cepheid
    >>> events = pa.table({"ts": range(101), "type": ["A"] * 100 + ["B"]})
    >>> cepheid.count(events, "SELECT * FROM s WHERE (A AS x)+ ; B AS y") == 2**100 - 1
    True
    """
    parsed = _parsed(query)
    if _kind(data) == "spark":
        from cepheid.spark.batch import count_spark

        return count_spark(
            _chosen(data, parsed),
            parsed,
            time=time,
            type=type,
            order=order,
            evaluator=evaluator,
            slices=slices,
        )
    _check_slices(slices)
    table, schema = _stream(data, parsed, time, type, order)
    plan = plan_for(parsed, schema, evaluator)
    reads = _projected(schema, plan.reads)
    engine = Engine(plan_for(parsed, reads, evaluator), counting=True)
    engine.push(table.select(list(plan.reads)))
    engine.finish()
    return engine.counted


def explain(
    query: str | ParsedQuery,
    data: Any = None,
    time: str = "ts",
    type: str | None = DEFAULT_TYPE,
    order: str | None = None,
    evaluator: str = "auto",
) -> str:
    """Every stage on the way from the text to the plan, printed. Without data nothing is typed or planned."""
    parsed = _parsed(query)
    if data is None:
        return explain_query(parsed.tree, parsed.query)
    schema = schema_of(arrow_schema_of(data, type), time=time, type=type, order=order, stream=parsed.stream)
    plan = plan_for(parsed, schema, evaluator)
    return explain_plan(parsed.tree, plan, _explain_spark(plan) if _is_spark(data) else None)


def arrow_schema_of(data: Any, type: str | None = DEFAULT_TYPE) -> pa.Schema:
    """The Arrow schema of data of any kind; no rows of a Spark DataFrame are read."""
    if isinstance(data, pa.Schema):
        return data
    if isinstance(data, Mapping):
        parts = {name: arrow_schema_of(part, type).empty_table() for name, part in data.items()}
        return unite(parts, type).schema
    if kind_of(data) == "spark":
        from cepheid.spark.batch import arrow_schema

        return arrow_schema(data)
    return to_arrow(data).schema


def _parsed(query: str | ParsedQuery) -> ParsedQuery:
    return parse_query(query) if isinstance(query, str) else query


def _check_limit(limit: int | None) -> None:
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
        raise CepheidError("bad-argument", f"`limit` requires a whole number from 0; got `{limit!r}` instead")


def _check_slices(slices: int | None) -> None:
    if slices is not None:
        raise CepheidError(
            "bad-argument",
            "`slices` is for Spark DataFrames; in one process the stream is read once, in order",
            hint="leave it out",
        )


def _is_spark(data: Any) -> bool:
    return not isinstance(data, pa.Schema) and _kind(data) == "spark"


def _explain_spark(plan: Plan) -> str:
    from cepheid.spark.batch import explain_spark

    return explain_spark(plan)


def _kind(data: Any) -> str:
    """The kind of the data, or of the streams in a dict, which must all be one kind."""
    if not isinstance(data, Mapping):
        return kind_of(data)
    kinds = {kind_of(part) for part in data.values()}
    if len(kinds) != 1:
        found = ", ".join(sorted(kinds)) or "nothing"
        raise CepheidError("bad-data", f"the streams of a dict must be of one kind; got {found}")
    return kinds.pop()


def _chosen(data: Any, parsed: ParsedQuery) -> Any:
    """The streams that FROM names, if there are several to choose from."""
    if not isinstance(data, Mapping):
        return data
    names = parsed.query.streams or tuple(data)
    for name in names:
        if name not in data:
            hint = did_you_mean(
                name, data, "the streams given are " + ", ".join(f"`{known}`" for known in data)
            )
            raise CepheidError(
                "bad-argument", f"FROM names the stream `{name}`, which the data lacks", hint=hint
            )
    return {name: data[name] for name in names}


def _stream(
    data: Any, parsed: ParsedQuery, time: str, type: str | None, order: str | None
) -> tuple[pa.Table, Schema]:
    """In-process data as a table in stream order, and its schema."""
    chosen = _chosen(data, parsed)
    if isinstance(chosen, Mapping):
        table = unite({name: to_arrow(part) for name, part in chosen.items()}, type)
    else:
        table = to_arrow(chosen)
    schema = schema_of(table.schema, time=time, type=type, order=order, stream=parsed.stream)
    return sort_stream(table, schema), schema


def _projected(schema: Schema, names: tuple[str, ...]) -> Schema:
    arrow = pa.schema([schema.arrow.field(name) for name in names])
    return Schema(arrow, schema.time, schema.type, schema.order, schema.stream)


def _run(engine: Engine, table: pa.Table) -> pa.Table:
    return pa.concat_tables([engine.push(table), engine.finish()])
