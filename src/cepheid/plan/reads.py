"""The columns that deciding the matches of a query needs."""

from __future__ import annotations

from cepheid.algebra.conditions import attributes
from cepheid.algebra.nodes import PartBy, Query, conditions_in, walk
from cepheid.schema import Schema


def columns_read(query: Query, schema: Schema) -> tuple[str, ...]:
    """What conditions, type, time, order and partitions read, in the order of the schema."""
    needed = {schema.time, schema.type, schema.order, *query.partition_by, *read_by_conditions(query)}
    return tuple(name for name in schema.names if name in needed)


def read_by_conditions(query: Query) -> set[str]:
    """The attributes that some condition or PART-BY reads.

    >>> from cepheid.algebra.conditions import Attribute, IsNull
    >>> from cepheid.algebra.nodes import Atom, Filter
    >>> read_by_conditions(Query(Filter(Atom("T", "x"), IsNull(Attribute("x", "value")))))
    {'value'}
    """
    keys = {name for node in walk(query.pattern) if isinstance(node, PartBy) for _, name in node.keys}
    read = {item.name for condition in conditions_in(query.pattern) for item in attributes(condition)}
    return keys | read
