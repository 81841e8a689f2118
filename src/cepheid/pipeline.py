"""The whole pipeline on one page: text → tree → algebra → rewritten algebra → plan → engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cepheid.algebra.event_types import check_event_types
from cepheid.algebra.limits import not_too_deep
from cepheid.algebra.nodes import Query
from cepheid.algebra.printing import print_query
from cepheid.algebra.reach import waits
from cepheid.algebra.scope import check_scope
from cepheid.algebra.types import check_types
from cepheid.algebra.variables import output_columns
from cepheid.algebra.zones import checked_zone
from cepheid.errors import CepheidError, quoted
from cepheid.languages import ParsedTree, Statement, lower, parse, statements_of
from cepheid.languages.parameters import with_parameters
from cepheid.plan.choose import choose, decide
from cepheid.plan.plan import Choice, Plan
from cepheid.rewrite.rules import Rewriting, rewrite
from cepheid.saved import Arrays, unpack
from cepheid.schema import DEFAULT_TYPE, Schema, is_comparable, is_time, is_type, schema_of
from cepheid.state_checks import reading_a_state, require
from cepheid.streams.plain import plain_schema
from cepheid.streams.zones import zoned_schema

if TYPE_CHECKING:
    from cepheid.engine import Engine  # it imports the kernels, which reading and planning do without


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query that has been read and found well-formed: reusable, and printable with `str`.

    >>> print(parse_query("select * from s where A as x ; B as y within 10 events"))
    SELECT *
    FROM s
    WHERE A AS x ; B AS y
    WITHIN 10 EVENTS
    """

    text: str
    tree: ParsedTree
    query: Query

    @property
    def language(self) -> str:
        return self.tree.language

    @property
    def stream(self) -> str:
        """The name that events without a type column have as their type."""
        return self.query.streams[0] if self.query.streams else "stream"

    def __str__(self) -> str:
        return print_query(self.query)

    def engine(
        self,
        arrow_schema: pa.Schema,
        time: str = "ts",
        type: str | None = DEFAULT_TYPE,
        order: str | None = None,
        positions: bool = False,
        limit: int | None = None,
        evaluator: str = "auto",
        columns: Sequence[str] | None = None,
        zone: str | None = None,
    ) -> Engine:
        """An engine in this process that takes batches of this schema, in stream order."""
        from cepheid.engine import Engine

        if not isinstance(arrow_schema, pa.Schema):
            message = f"`engine` requires a pyarrow Schema; got `{arrow_schema!r}` instead"
            raise CepheidError("bad-argument", message, hint="give the schema of the batches to push")
        plain = zoned_schema(plain_schema(arrow_schema), checked_zone(zone))
        schema = schema_of(plain, time=time, type=type, order=order, stream=self.stream)
        return Engine(plan_for(self, schema, evaluator), positions=positions, limit=limit, columns=columns)


@dataclass(frozen=True, slots=True)
class Step:
    """Queries whose results are one stream, if several by UNION. `keeps`: whether UNION ALL joins a query to those
    before it. `stream` and `type`: under which names later steps read them."""

    queries: tuple[ParsedQuery, ...]
    keeps: tuple[bool, ...] = ()
    stream: str | None = None
    type: str | None = None


@dataclass(frozen=True, slots=True)
class ParsedScript:
    """Several queries of one text: each step may read the streams that those before it name."""

    text: str
    tree: ParsedTree
    steps: tuple[Step, ...]

    @property
    def language(self) -> str:
        return self.tree.language

    @property
    def queries(self) -> tuple[ParsedQuery, ...]:
        return tuple(query for step in self.steps for query in step.queries)

    def engine(self, *_: Any, **__: Any) -> Engine:
        message = "an engine of several queries is not yet supported"
        hint = "make one of each, and push the matches of one into the next"
        raise CepheidError("not-yet", message, hint=hint)


def parse_text(
    text: str, language: str | None = None, params: Mapping[str, Any] | None = None
) -> ParsedQuery | ParsedScript:
    """Reads a text with one query, or with several.

    >>> united = parse_text("PATTERN SEQ(A a) RETURN a.v UNION PATTERN SEQ(B b) RETURN b.v")
    >>> [query.text for query in united.steps[0].queries]
    ['PATTERN SEQ(A a) RETURN a.v', 'PATTERN SEQ(B b) RETURN b.v']
    """
    if not isinstance(text, str):
        return parse_query(text, language, params)
    with not_too_deep():
        tree = parse(text, language)
        statements = statements_of(tree)
        if len(statements) == 1 and len(statements[0].parts) == 1:
            return parse_query(text, language, params)
        filled = with_parameters(tree, {} if params is None else params)
        steps = tuple(_step(statement, params is not None) for statement in statements_of(filled))
    check_steps(steps, statements)
    return ParsedScript(text, tree, steps)


def _step(statement: Statement, filled: bool) -> Step:
    queries = list[ParsedQuery]()
    for text, tree in statement.parts:
        query = lower(tree)
        check_scope(query)
        queries.append(ParsedQuery(print_query(query) if filled else text, tree, query))
    return Step(tuple(queries), statement.keeps, statement.stream, statement.type)


def check_steps(steps: tuple[Step, ...], statements: tuple[Statement, ...]) -> None:
    """Raises where the results of queries do not go together."""
    for step, statement in zip(steps, statements, strict=True):
        _check_columns(step)
        if step is steps[-1]:
            return
        if step.stream is None:
            message = "the results of this query go nowhere: another query follows"
            hint = "name them, IN STREAM s, and read them with FROM s; or join the two with UNION"
            raise CepheidError("syntax", message, span=statement.span, hint=hint)
        for query in step.queries:
            if waits(query.query):
                message = "a match of this query is known only after its last event, so that its time is not yet known"
                hint = "end the pattern with an event, or with a condition on its last component"
                raise CepheidError("not-yet", message, span=statement.span, hint=hint)


def _check_columns(step: Step) -> None:
    first, *others = ([column.name for column in output_columns(query.query)] for query in step.queries)
    for query, names in zip(step.queries[1:], others, strict=True):
        if names != first:
            message = f"UNION joins queries with equal columns: {quoted(first)}, and {quoted(names)}"
            places = query.query.places
            span = places.select[0] if places is not None and places.select else None
            raise CepheidError("bad-argument", message, span=span, hint="name the columns with AS")


def parse_query(
    text: str, language: str | None = None, params: Mapping[str, Any] | None = None
) -> ParsedQuery:
    """Reads a query: syntax, then the scope of its variables. With `params` its text is the query with their values as
    literals, so that states and checkpoints are of the whole query.

    >>> parse_query("SELECT * FROM s WHERE A AS x FILTER x.v > :least", params={"least": 3}).text
    'SELECT *\\nFROM s\\nWHERE A AS x FILTER x.v > 3'
    """
    if not isinstance(text, str):
        raise CepheidError(
            "bad-argument", f"a query is text, or what `cepheid.query` gave; got `{text!r}` instead"
        )
    with not_too_deep():
        tree = parse(text, language)
        query = lower(tree, params)
        check_scope(query)
    return ParsedQuery(print_query(query) if params else text, tree, query)


def rewriting_of(
    parsed: ParsedQuery, schema: Schema | None, evaluator: str = "auto"
) -> tuple[Query, Rewriting]:
    """The query typed against the schema, if there is one, and in normal form. For the chain evaluator PART-BY stays a
    comparison and does not become a partition."""
    query = parsed.query if schema is None else check_types(parsed.query, schema)
    if schema is not None and schema.type is None:
        check_event_types(query, [schema.stream])
    return query, rewrite(query, without=("partition",) if evaluator == "chain" else ())


def choice_for(parsed: ParsedQuery, evaluator: str = "auto") -> Choice:
    """The choice of an evaluator, without the columns of the data."""
    with not_too_deep():
        return decide(*rewriting_of(parsed, None, evaluator), evaluator)


def plan_for(parsed: ParsedQuery, schema: Schema, evaluator: str = "auto", ran: str | None = None) -> Plan:
    """The plan of a query over events of this schema; `ran`: the evaluator that `auto` chose when the state began."""
    with not_too_deep():
        query, rewriting = rewriting_of(parsed, schema, evaluator)
        plan = choose(query, rewriting, schema, evaluator, ran)
    return replace(plan, text=parsed.text, language=parsed.language)


def load(saved: bytes) -> Engine:
    """An engine as it was when `Engine.save` gave these bytes.

    Load only states that you saved yourself: the digest reveals damage, not forgery. Bytes that are no state of an
    engine raise the error `bad-state`; a forged state never crashes the process, but gives the matches it encodes.
    """
    from cepheid.engine import Engine
    from cepheid.options import checked_options

    header, tables, arrays = unpack(saved)
    with reading_a_state():
        schema = _saved_schema(tables["schema"], header["names"])
        ran = header.get("ran") or _ran(arrays)
        plan = plan_for(parse_query(header["text"], header["language"]), schema, header["evaluator"], ran)
        engine = Engine(plan, **checked_options(header["options"]))
    engine.restore(header, tables, arrays)
    return engine


def _ran(arrays: Arrays) -> str | None:
    """The evaluator of a state that does not name it: the definition has arrays of its own; others are chosen again."""
    return "semantics" if "evaluator:counted" in arrays else None


def _saved_schema(table: pa.Table, names: dict[str, Any]) -> Schema:
    columns = table.schema
    require(len(table) == 0, "its schema has rows")
    require(
        columns.types == plain_schema(columns).types, "its schema has columns of types that no engine keeps"
    )
    require(len(set(columns.names)) == len(columns), "its schema has a column twice")
    time, type, order, stream = names["time"], names["type"], names["order"], names["stream"]
    texts = all(isinstance(name, str) or name is None for name in (time, type, order))
    require(texts, "the name of a column is not a text")
    require(time in columns.names and is_time(columns.field(time).type), "its time column cannot hold times")
    require(type is None or is_type(columns.field(type).type), "its type column cannot hold types")
    require(order is None or is_comparable(columns.field(order).type), "its order column cannot be ordered")
    require(isinstance(stream, str), "its stream has no name")
    return Schema(columns, time, type, order, stream)
