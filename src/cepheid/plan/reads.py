"""The columns of the data that a query needs: to decide its matches, and to show them."""

from __future__ import annotations

from collections.abc import Sequence

from cepheid.algebra.conditions import attributes
from cepheid.algebra.nodes import Computed, Nfab, PartBy, Query, conditions_in, walk
from cepheid.algebra.variables import output_columns
from cepheid.schema import Schema


def columns_read(query: Query, schema: Schema) -> tuple[str, ...]:
    """What conditions, type, time, order and partitions read, in the order of the schema."""
    needed = {schema.time, schema.type, schema.order, *query.partition_by, *read_by_conditions(query)}
    return tuple(name for name in schema.names if name in needed)


def columns_shown(query: Query, schema: Schema, columns: Sequence[str] | None) -> tuple[str, ...]:
    """What the output reads where it has these `columns` (None: all): every column for whole events, else those that
    the expressions read. DISTINCT compares all that is selected.

    >>> import pyarrow as pa
    >>> from cepheid.algebra.conditions import Attribute
    >>> from cepheid.algebra.nodes import Atom, Computed
    >>> from cepheid.schema import schema_of
    >>> schema = schema_of(pa.schema([("ts", pa.int64()), ("type", pa.string()), ("v", pa.int64())]), time="ts")
    >>> query = Query(Atom("A", "x"), ("x", Computed("v", Attribute("x", "v"))))
    >>> columns_shown(query, schema, ["v"]), columns_shown(query, schema, ["x"])
    (('v',), ('ts', 'type', 'v'))
    """
    needed = set[str]()
    for item in output_columns(query):
        is_asked = columns is None or item.name in columns
        if isinstance(item, Computed) and (is_asked or query.distinct):
            needed.update(read.name for read in attributes(item.value))
        elif is_asked and not isinstance(item, Computed):
            return schema.names
    return tuple(name for name in schema.names if name in needed)


def read_by_columns(query: Query) -> set[str]:
    """The attributes that some expression of SELECT reads."""
    computed = (item for item in output_columns(query) if isinstance(item, Computed))
    return {read.name for item in computed for read in attributes(item.value)}


def read_by_conditions(query: Query) -> set[str]:
    """The attributes that some condition or PART-BY reads.

    >>> from cepheid.algebra.conditions import Attribute, IsNull
    >>> from cepheid.algebra.nodes import Atom, Filter
    >>> read_by_conditions(Query(Filter(Atom("T", "x"), IsNull(Attribute("x", "value")))))
    {'value'}
    """
    keys = {name for node in walk(query.pattern) if isinstance(node, PartBy) for _, name in node.keys}
    keys |= {equal.name for node in walk(query.pattern) if isinstance(node, Nfab) for equal in node.equal}
    read = {item.name for condition in conditions_in(query.pattern) for item in attributes(condition)}
    return keys | read
