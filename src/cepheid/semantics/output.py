"""What SELECT shows of a match, and which matches DISTINCT makes one: the definition, match by match.

In: matches of a query and the stream. Out: for each match a value per item of SELECT: a variable's events as their
positions, an expression's value, or the list of its values for the events of the variable that can be several.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from cepheid.algebra.conditions import sets_chosen, sets_read, variables
from cepheid.algebra.nodes import Computed, Query
from cepheid.algebra.variables import Shown, output_columns
from cepheid.semantics.keys import key_of
from cepheid.semantics.stream import Stream
from cepheid.semantics.values import Attributes, value_of
from cepheid.semantics.whole_sets import with_aggregates, with_previous

if TYPE_CHECKING:
    from cepheid.semantics.oracle import OracleMatch

_UNBOUND: Attributes = defaultdict(lambda: None)
"""The attributes of a variable that a match does not bind: all NULL."""


def values_shown(query: Query, match: OracleMatch, stream: Stream) -> tuple[Any, ...]:
    """A value per item of SELECT, tuples for positions and lists.

    >>> from cepheid.algebra.conditions import Attribute
    >>> from cepheid.algebra.nodes import Atom
    >>> from cepheid.semantics.oracle import evaluate
    >>> from cepheid.semantics.stream import Event
    >>> query, stream = Query(Atom("A", "x"), ("x", Computed("v", Attribute("x", "v")))), [Event("A", 0, {"v": 7})]
    >>> [values_shown(query, match, stream) for match in evaluate(query, stream)]
    [((0,), 7)]
    """
    bound: Mapping[str, tuple[int, ...]] = {
        name: tuple(sorted(place for other, place in match.binding if other == name))
        for name, _ in match.binding
    }
    return tuple(_value(item, bound, stream) for item in output_columns(query))


def _value(item: Shown | Computed, bound: Mapping[str, tuple[int, ...]], stream: Stream) -> Any:
    if isinstance(item, Shown):
        return bound.get(item.name, ())
    gathered = {
        name: [stream[place].attributes for place in bound.get(name, ())] for name in sets_read(item.value)
    }
    value = with_aggregates(item.value, gathered)
    several = sets_chosen(value)
    single: dict[str | None, Attributes] = {
        name: stream[bound[name][0]].attributes if name in bound else _UNBOUND
        for name in variables(value) - several
    }
    if not several:
        return value_of(value, single)
    (name,) = several
    return tuple(
        value_of(with_previous(value, {name: number}, gathered), {**single, name: attributes})
        for number, attributes in enumerate(gathered[name])
    )


def first_of_equal(query: Query, matches: Iterable[OracleMatch], stream: Stream) -> list[OracleMatch]:
    """DISTINCT: of the matches that end at one event and show the same, the one that begins first. Values are the same
    when they are as keys; of matches that begin together any stands for them."""
    kept: dict[Hashable, OracleMatch] = {}
    for match in sorted(matches, key=lambda match: (match.last, match.positions[0])):
        kept.setdefault((match.last, _key(values_shown(query, match, stream))), match)
    return list(kept.values())


def _key(value: Any) -> Hashable:
    return tuple(map(_key, value)) if isinstance(value, tuple) else key_of(value)
