"""The public functions: a query and data in, matches, counts and explanations out."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cepheid.algebra.event_types import check_event_types
from cepheid.algebra.zones import checked_zone
from cepheid.errors import CepheidError, did_you_mean, quoted
from cepheid.extras import require
from cepheid.feeds import FEEDS, feed_of
from cepheid.frames import (
    columns_of,
    from_arrow,
    from_spark,
    kind_of,
    require_no_index,
    schema_without_rows,
    to_arrow,
    to_spark,
    type_column,
    unite,
)
from cepheid.pipeline import ParsedQuery, ParsedScript, choice_for, parse_text, plan_for
from cepheid.plan.explain import explain_choice, explain_plan
from cepheid.plan.plan import Plan
from cepheid.schema import DEFAULT_TYPE, require_column, schema_of
from cepheid.streams.plain import plain_schema
from cepheid.streams.type_occurrence import TypeOccurrence
from cepheid.streams.zones import zoned_schema, zoned_table

if TYPE_CHECKING:
    from cepheid.piecewise import Piecewise
    from cepheid.scripts import Runner

# Modules that need the kernels (the engine, the order of a stream) are imported where they are used: reading, checking
# and explaining a query do without them, and importing numba takes longer than that.


def query(
    text: str, language: str | None = None, params: Mapping[str, Any] | None = None
) -> ParsedQuery | ParsedScript:
    """Reads a query once, to be used many times. `params` has a value for each `:name` in its conditions.

    >>> import cepheid
    >>> q = cepheid.query("SELECT * FROM farm WHERE T AS x ; H AS y WITHIN 10 minutes")
    >>> q.language
    'cel'
    """
    return parse_text(text, language, params)


def match(
    data: Any,
    query: str | ParsedQuery | ParsedScript,
    time: str = "ts",
    type: str | None = DEFAULT_TYPE,
    order: str | None = None,
    positions: bool = False,
    limit: int | None = None,
    evaluator: str = "auto",
    slices: int | None = None,
    columns: Sequence[str] | None = None,
    language: str | None = None,
    watermark: str | float | dt.timedelta | None = None,
    late: str | Path = "drop",
    zone: str | None = None,
    params: Mapping[str, Any] | None = None,
) -> Any:
    """All matches of a query, one row each, as data of the kind that came in.

    A pyarrow reader or dataset, or the path of a file or folder, is read piece by piece and gives a pyarrow
    RecordBatchReader: matches are made as it is read, in memory that the window bounds. Anything else with
    `__arrow_c_stream__`, such as a DuckDB relation, gives a pyarrow Table. A dict gives each stream under its name.

    `columns` are the columns of the output; leaving some out takes less time. On a Spark DataFrame the result is lazy,
    and `slices` is the number of time slices of a query without PARTITION BY. On a streaming DataFrame the result is a
    stream too: `watermark` is how much later than others a row may come, `late` the fate of rows that come later still:
    "drop" (they are counted), "error", a folder or the name of a table. `language` is the query's, "cel", "sremo" or
    "sase"; by default it is detected. `zone` is the time zone in which `hour(…)` and literals without an offset read
    instants; by default a column's own, and on Spark the session's. `params` has a value for each `:name` in the
    query's conditions.

    >>> import cepheid
    >>> events = pa.table({"ts": [1, 2, 3], "type": ["A", "B", "B"]})
    >>> found = cepheid.match(events, "SELECT * FROM s WHERE A AS x ; B AS y", positions=True)
    >>> found["positions"].to_pylist()
    [[0, 1], [0, 2]]
    """
    from cepheid.options import checked_columns, checked_limit
    from cepheid.whole import match_table

    parsed = _parsed(query, language, params)
    if isinstance(parsed, ParsedScript):
        runner, kind = _runner(data, parsed, time, type, order, evaluator, zone)
        _check_slices(slices)
        _check_watermark(watermark, late)
        found = runner.matches(parsed, match, positions=positions, limit=limit, columns=columns)
        return _as_kind(found, kind)
    limit = checked_limit(limit)
    options: dict[str, Any]
    data = _opened(data)
    kind = _kind(data)
    if kind == "pandas-on-spark":
        options = {"order": order, "positions": positions, "limit": limit, "evaluator": evaluator}
        options |= {"slices": slices, "columns": columns, "watermark": watermark, "late": late, "zone": zone}
        return from_spark(match(to_spark(data), parsed, time, type, **options))
    if kind == "spark":
        require("spark", "matching on Spark")
        from cepheid.spark.batch import match_spark

        chosen = _chosen(data, parsed, time)
        _check_streams(chosen, parsed, _type_column(chosen, type))
        options = {
            "time": time,
            "type": _type_column(chosen, type),
            "order": order,
            "positions": positions,
            "limit": limit,
            "evaluator": evaluator,
            "columns": columns,
            "zone": zone,
        }
        if _is_stream(chosen):
            from cepheid.spark.live.stream import match_stream

            _check_slices(slices)
            return match_stream(chosen, parsed, **options, watermark=watermark, late=late)
        _check_watermark(watermark, late)
        return match_spark(chosen, parsed, **options, slices=slices)
    _check_slices(slices)
    _check_watermark(watermark, late)
    if kind == "feed":
        pieces = _piecewise(data, parsed, time, type, order, evaluator, zone)
        return pieces.matches(positions, limit, columns)
    columns = checked_columns(columns)
    plan, table = _stream(data, parsed, time, type, order, evaluator, zone, columns)
    return from_arrow(match_table(plan, table, positions, limit, columns), kind)


def count(
    data: Any,
    query: str | ParsedQuery | ParsedScript,
    time: str = "ts",
    type: str | None = DEFAULT_TYPE,
    order: str | None = None,
    evaluator: str = "auto",
    slices: int | None = None,
    language: str | None = None,
    zone: str | None = None,
    params: Mapping[str, Any] | None = None,
) -> int:
    """The exact number of matches, however large, without making them.

    >>> import cepheid
    >>> events = pa.table({"ts": range(101), "type": ["A"] * 100 + ["B"]})
    >>> cepheid.count(events, "SELECT * FROM s WHERE (A AS x)+ ; B AS y") == 2**100 - 1
    True
    """
    from cepheid.whole import count_table

    parsed = _parsed(query, language, params)
    if isinstance(parsed, ParsedScript):
        _check_slices(slices)
        return _runner(data, parsed, time, type, order, evaluator, zone)[0].count(parsed, match, count)
    data = _opened(to_spark(data))
    kind = _kind(data)
    if kind == "spark":
        require("spark", "counting on Spark")
        from cepheid.spark.batch import count_spark

        chosen = _chosen(data, parsed, time)
        if _is_stream(chosen):
            message = "the number of matches of a stream is known only at its end"
            hint = "count the rows of `match` in a streaming query, or give a batch DataFrame"
            raise CepheidError("bad-argument", message, hint=hint)
        type = _type_column(chosen, type)
        _check_streams(chosen, parsed, type)
        return count_spark(
            chosen, parsed, time=time, type=type, order=order, evaluator=evaluator, slices=slices, zone=zone
        )
    _check_slices(slices)
    if kind == "feed":
        return _piecewise(data, parsed, time, type, order, evaluator, zone).count()
    return count_table(*_stream(data, parsed, time, type, order, evaluator, zone, ()))


def finish(session: Any, checkpoint: str | Path) -> Any:
    """The matches that end in the buffered rows of a stopped streaming query, as a batch DataFrame.

    `checkpoint` is the query's `checkpointLocation`, which is only read. Together with the matches of the stream these
    are the matches of the same query on a batch DataFrame.
    """
    require("spark", "finishing a stream")
    from cepheid.spark.live.finish import finish_stream

    return finish_stream(session, str(checkpoint))


def explain(
    query: str | ParsedQuery | ParsedScript,
    data: Any = None,
    time: str = "ts",
    type: str | None = DEFAULT_TYPE,
    order: str | None = None,
    evaluator: str = "auto",
    language: str | None = None,
    zone: str | None = None,
    params: Mapping[str, Any] | None = None,
) -> str:
    """Every stage from the text to the plan, printed: what runs, and why. Without data the query is not typed, and no
    plan is printed."""
    parsed = _parsed(query, language, params)
    if isinstance(parsed, ParsedScript):
        return _explain_script(parsed, data, time, type, order, evaluator, zone)
    if data is None:
        return explain_choice(parsed.tree, choice_for(parsed, evaluator))
    chosen = data
    if not isinstance(data, pa.Schema):
        chosen = _chosen(to_spark(_opened(data, rows=False)), parsed, time)
    type = _type_column(chosen, type)
    _check_streams(chosen, parsed, type)
    columns = zoned_schema(arrow_schema_of(chosen, type, zone), checked_zone(zone))
    schema = schema_of(columns, time=time, type=type, order=order, stream=parsed.stream)
    plan = plan_for(parsed, schema, evaluator)
    return explain_plan(parsed.tree, plan, _explain_spark(plan) if _is_spark(chosen) else None)


def arrow_schema_of(data: Any, type: str | None = DEFAULT_TYPE, zone: str | None = None) -> pa.Schema:
    """The Arrow schema of data of any kind; no rows of a Spark DataFrame, a reader or a lazy frame are read. Spark's
    timestamps are in `zone`, else in the session's."""
    if isinstance(data, pa.Schema):
        return plain_schema(data)
    if isinstance(data, Mapping):
        parts = {name: arrow_schema_of(part, zone=zone).empty_table() for name, part in data.items()}
        return unite(parts, type or DEFAULT_TYPE).schema
    if kind_of(data) == "spark":
        from cepheid.spark.streams import engine_schema

        return engine_schema(data, zone)
    return schema_without_rows(data)


def _runner(
    data: Any,
    script: ParsedScript,
    time: str,
    type: str | None,
    order: str | None,
    evaluator: str,
    zone: str | None,
) -> tuple[Runner, str]:
    """What runs a script over the data, and the kind that its matches are to have."""
    from cepheid.scripts import ArrowResults, Runner

    kind = _kind(data)
    opened = _opened(to_spark(data))
    asked = {"evaluator": evaluator, "zone": zone}
    if _kind(opened) == "spark":
        require("spark", "matching on Spark")
        from cepheid.spark.results import SparkResults

        if _is_stream(opened):
            message = "several queries of one text do not yet run on a stream of Spark"
            raise CepheidError("not-yet", message, hint="run them one after the other")
        return Runner(opened, SparkResults(), time, type, order, asked), kind
    if _kind(opened) == "feed":
        message = "several queries of one text do not yet read their data piece by piece"
        hint = "read it into a table first, or run the queries one after the other"
        raise CepheidError("not-yet", message, hint=hint)
    tables = (
        {name: to_arrow(part) for name, part in opened.items()}
        if isinstance(opened, Mapping)
        else to_arrow(opened)
    )
    return Runner(tables, ArrowResults(), time, type, order, asked), kind


def _as_kind(found: Any, kind: str) -> Any:
    """The matches of a script as data of the kind that came in."""
    if kind == "spark":
        return found
    return from_spark(found) if kind == "pandas-on-spark" else from_arrow(found, kind)


def _explain_script(
    script: ParsedScript,
    data: Any,
    time: str,
    type: str | None,
    order: str | None,
    evaluator: str,
    zone: str | None,
) -> str:
    """Every query by itself; those that read results, over the columns that these have."""
    if data is None:
        parts = [explain(query, evaluator=evaluator) for query in script.queries]
    else:
        from cepheid.scripts import ArrowResults, Runner

        schema = (
            {name: arrow_schema_of(part) for name, part in data.items()}
            if isinstance(data, Mapping)
            else None
        )
        empty: Any = (
            arrow_schema_of(data, zone=zone).empty_table()
            if schema is None
            else {name: columns.empty_table() for name, columns in schema.items()}
        )
        runner = Runner(empty, ArrowResults(), time, type, order, {"evaluator": evaluator, "zone": zone})
        parts = runner.explained(script, match, explain)
    titles = (f"══ query {number} ══\n" for number in range(1, len(parts) + 1))
    return "\n".join(title + part for title, part in zip(titles, parts, strict=True))


def _parsed(
    query: str | ParsedQuery | ParsedScript,
    language: str | None = None,
    params: Mapping[str, Any] | None = None,
) -> ParsedQuery | ParsedScript:
    if not isinstance(query, ParsedQuery | ParsedScript):
        return parse_text(query, language, params)
    if params is not None:
        message = "`params` are read with the query, and this one was read before"
        raise CepheidError("bad-argument", message, hint="give them to `cepheid.query`")
    if language is not None and str(language).casefold() != query.language:
        message = f"`language` is `{language}`, but the query was read as `{query.language}`"
        raise CepheidError("bad-argument", message, hint="leave it out, or give it to `cepheid.query`")
    return query


def _is_stream(data: Any) -> bool:
    """Whether Spark DataFrames are streaming; several must all be, or none."""
    frames = list(data.values()) if isinstance(data, Mapping) else [data]
    streaming = [bool(frame.isStreaming) for frame in frames]
    if any(streaming) and not all(streaming):
        message = "the streams of a dict must all be streaming DataFrames, or none of them"
        raise CepheidError("bad-data", message)
    return any(streaming)


def _check_watermark(watermark: str | float | dt.timedelta | None, late: str | Path) -> None:
    if watermark is not None or late != "drop":
        name = "late" if watermark is None else "watermark"
        message = f"`{name}` is for streaming DataFrames; a batch has no late rows"
        raise CepheidError("bad-argument", message, hint="leave it out")


def _check_slices(slices: int | None) -> None:
    if slices is not None:
        message = "`slices` is for batch DataFrames on Spark; elsewhere the stream is read once, in order"
        raise CepheidError("bad-argument", message, hint="leave it out")


def _is_spark(chosen: Any) -> bool:
    return not isinstance(chosen, pa.Schema) and _kind(chosen) == "spark"


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


def _opened(data: Any, *, rows: bool = True) -> Any:
    """Readers, datasets and paths as feeds; Arrow streams, which may give their rows only once, as tables; other data
    as it is. Without `rows` only columns are read."""
    if isinstance(data, Mapping):
        return {name: _opened(part, rows=rows) for name, part in data.items()}
    if isinstance(data, pa.Schema) and not rows:
        return data.empty_table()
    kind = kind_of(data)
    if kind == "stream":
        return to_arrow(data) if rows else schema_without_rows(data).empty_table()
    return feed_of(data) if kind in FEEDS else data


def _chosen(data: Any, parsed: ParsedQuery, time: str) -> Any:
    """The streams that FROM names, each with a time, if there are several to choose from."""
    if not isinstance(data, Mapping):
        require_no_index(data, time)
        return data
    names = parsed.query.streams or tuple(data)
    for name in names:
        if name not in data:
            known = [str(stream) for stream in data]
            hint = did_you_mean(name, known, f"the streams given are {quoted(known)}")
            message = f"FROM names the stream `{name}`, which the data lacks"
            raise CepheidError("bad-argument", message, hint=hint)
        require_no_index(data[name], time)
        require_column(columns_of(data[name]), time, f"time of stream `{name}`")
    return {name: data[name] for name in names}


def _check_streams(chosen: Any, parsed: ParsedQuery, type: str | None) -> None:
    """Refuses event types that are no stream's name, where no stream has a type column."""
    if isinstance(chosen, Mapping) and not any(type in columns_of(part) for part in chosen.values()):
        check_event_types(parsed.query, [str(name) for name in chosen])


def _look_for_types(table: pa.Table, plan: Plan) -> None:
    """Warns of event types that the query names and the data lacks."""
    occurring = TypeOccurrence(plan.query, plan.schema.type)
    occurring.look(table)
    occurring.warn()


def _type_column(chosen: Any, type: str | None) -> str | None:
    """The column with an event's type; several streams may get a new one."""
    if not isinstance(chosen, Mapping):
        return type
    return type_column({name: columns_of(part) for name, part in chosen.items()}, type)


def _stream(
    data: Any,
    parsed: ParsedQuery,
    time: str,
    type: str | None,
    order: str | None,
    evaluator: str,
    zone: str | None,
    columns: Sequence[str] | None,
) -> tuple[Plan, pa.Table]:
    """A plan for in-process data, and these as a table in stream order, with what is needed for the `columns` of the
    output."""
    from cepheid.streams.order import sort_stream
    from cepheid.whole import with_columns

    zone = checked_zone(zone)
    chosen = _chosen(data, parsed, time)
    type = _type_column(chosen, type)
    _check_streams(chosen, parsed, type)
    if isinstance(chosen, Mapping):
        table = unite({name: to_arrow(part) for name, part in chosen.items()}, type or DEFAULT_TYPE)
    else:
        table = to_arrow(chosen)
    table = zoned_table(table, zone)
    schema = schema_of(table.schema, time=time, type=type, order=order, stream=parsed.stream)
    plan = plan_for(parsed, schema, evaluator)
    _look_for_types(table, plan)
    plan, table = with_columns(plan, table, plan.needs(columns))
    return plan, sort_stream(table, plan.schema)


def _piecewise(
    data: Any,
    parsed: ParsedQuery,
    time: str,
    type: str | None,
    order: str | None,
    evaluator: str,
    zone: str | None,
) -> Piecewise:
    from cepheid.piecewise import Piecewise

    feeds = _chosen(data, parsed, time)
    type = _type_column(feeds, type)
    _check_streams(feeds, parsed, type)
    columns = zoned_schema(arrow_schema_of(feeds, type), checked_zone(zone))
    schema = schema_of(columns, time=time, type=type, order=order, stream=parsed.stream)
    return Piecewise(feeds, parsed, schema, evaluator)
