"""CEL syntax tree → algebra.

In: a `ParsedTree`. Out: a `Query` that means the same; every node knows its place in the text. `algebra.scope` checks
its variables, `algebra.types` its columns.
"""

from __future__ import annotations

from dataclasses import replace

from lark import Token, Tree

from cepheid.algebra.conditions import Attribute
from cepheid.algebra.nodes import (
    EVENTS,
    PREVIOUS,
    All,
    Atom,
    Bind,
    Computed,
    Filter,
    Not,
    Or,
    PartBy,
    Pattern,
    Query,
    Repeat,
    Select,
    Seq,
    Strategy,
    StrictSeq,
    Within,
)
from cepheid.algebra.variables import labels, listed, with_many, with_sets
from cepheid.errors import CepheidError, Source, Span
from cepheid.languages.lower_clauses import (
    clauses_of,
    names_of,
    spans_of,
    tokens_of,
    window_of_parts,
    with_clauses,
)
from cepheid.languages.lower_conditions import lower_condition
from cepheid.languages.parsed import Node, ParsedTree, Part, span_of
from cepheid.languages.words import bounds_of, integer_of, name_of

_Item = str | Computed | None
"""What SELECT lists: a variable, a column, or None for `*`."""


def lower_cel(tree: ParsedTree) -> Query:
    """The query a CEL tree stands for.

    >>> from cepheid.languages.cel.tree import parse_cel
    >>> query = lower_cel(parse_cel(Source("SELECT x FROM s WHERE A AS x ; B")))
    >>> query.pattern == Seq(Atom("A", "x"), Atom("B"))
    True
    """
    distinct, strategy, projection, streams, formula, *clauses = tree.root.children
    source = tree.source
    chosen = Strategy.ALL if strategy is None else _strategy(strategy)
    pattern = _formula(source, formula)
    if chosen is Strategy.ALL and isinstance(pattern, Select):
        # A strategy around the whole formula is the query's: SELECT NXT * … WHERE φ.
        chosen, pattern = pattern.strategy, pattern.body
    items = _items(source, projection)
    if any(_is_events(item) for item, _ in items) and EVENTS not in map(str.lower, labels(pattern)):
        pattern = _gathering(pattern)
        items = [(EVENTS if _is_events(item) else item, span) for item, span in items]
    pattern = with_sets(pattern)
    select, spans = _select(pattern, items)
    query = Query(pattern, select, names_of(streams), strategy=chosen, distinct=distinct is not None)
    query = with_clauses(query, source, clauses_of(source, clauses))
    assert query.places is not None
    places = replace(query.places, select=spans, streams=spans_of(source, streams))
    return replace(query, places=places)


def _strategy(token: Part) -> Strategy:
    word = str(token).upper()
    return Strategy.NXT if word == "NEXT" else Strategy(word)


def _items(source: Source, projection: Part) -> list[tuple[_Item, Span]]:
    """What SELECT lists, each with its place."""
    assert projection is not None
    listed = (
        projection.children if isinstance(projection, Tree) and projection.data == "items" else [projection]
    )
    return [(_item(source, part), span_of(source, part)) for part in listed if part is not None]


def _item(source: Source, part: Node | Token) -> _Item:
    """A variable, a column, or None for `*`."""
    if isinstance(part, Token):
        return name_of(part)
    if part.data == "everything":
        return None
    condition, name = part.children
    value, span = lower_condition(source, condition), span_of(source, part)
    if isinstance(name, Token):
        return Computed(name_of(name), value, span)
    if isinstance(value, Attribute):
        return Computed(value.name, value, span)
    hint = f"name it: {span.text} AS value"
    raise CepheidError("syntax", "a column that is computed has no name", span=span, hint=hint)


def _is_events(item: _Item) -> bool:
    return isinstance(item, str) and item.lower() == EVENTS


def _gathering(pattern: Pattern) -> Pattern:
    """All events of a match in the set `events`: SELECT EVENTS is sugar for `(φ) IN events`. Filters and PART-BY stay
    around, where rewriting looks for them."""
    if isinstance(pattern, Filter | PartBy):
        return replace(pattern, body=_gathering(pattern.body))
    return Bind(pattern, EVENTS)


def _select(
    pattern: Pattern, items: list[tuple[_Item, Span]]
) -> tuple[tuple[str | Computed, ...] | None, tuple[Span, ...]]:
    """What the query selects, with places; `*` beside other items stands for the variables that it shows."""
    if [item for item, _ in items] == [None]:
        return None, ()
    chosen = list[tuple[str | Computed, Span]]()
    for item, span in items:
        chosen += [(name, span) for name in listed(pattern)] if item is None else [(item, span)]
    return with_many(pattern, tuple(item for item, _ in chosen)), tuple(span for _, span in chosen)


def _formula(source: Source, part: Part) -> Pattern:
    """The pattern of a formula; one case per rule of the grammar."""
    assert isinstance(part, Tree)
    span = span_of(source, part)
    match str(part.data), part.children:
        case "atom", [Token() as type, var]:
            if type.upper() == "NOT":
                raise _not_alone(var, span)
            return Atom(name_of(type), name_of(var) if isinstance(var, Token) else None, span=span)
        case "seq", [left, right]:
            return Seq(_formula(source, left), _formula(source, right))
        case "strict_seq", [left, right]:
            return StrictSeq(_formula(source, left), _formula(source, right))
        case "or", [left, right]:
            return Or((_formula(source, left), _formula(source, right)))
        case "all" | "and" as operator, [left, right]:
            return All(_formula(source, left), _formula(source, right), apart=operator == "and")
        case "absent", [body]:
            return Not(_formula(source, body), span=span)
        case "absent_for", [body, amount, unit]:
            return Not(_formula(source, body), window_of_parts(source, amount, unit), span)
        case "within", [body, amount, unit]:
            return Within(_formula(source, body), window_of_parts(source, amount, unit), span)
        case "within_of", [body, _, amount, unit, Token() as anchor]:
            of = PREVIOUS if anchor.type == "PREVIOUS" else name_of(anchor)
            return Within(_formula(source, body), window_of_parts(source, amount, unit), span, of)
        case "any", [_, Token() as var]:
            return Atom(None, name_of(var), span=span)
        case "bind", [body, Token() as var]:
            return Bind(_formula(source, body), name_of(var), span)
        case "part_by", [body, *keys]:
            places = tuple(span_of(source, key) for key in keys if isinstance(key, Tree))
            return PartBy(_formula(source, body), tuple(map(_key, keys)), span, places)
        case "filter", [body, condition]:
            return Filter(_formula(source, body), lower_condition(source, condition), span)
        case "strategy", [strategy, body]:
            chosen, pattern = _strategy(strategy), _formula(source, body)
            return pattern if chosen is Strategy.ALL else Select(chosen, pattern, span)
        case repetition, [body, *_]:
            rule = repetition.removeprefix("strict_")
            lo, hi = bounds_of(rule, [integer_of(source, token) for token in tokens_of(part)])
            return Repeat(_formula(source, body), lo, hi, span, strict=rule != repetition and hi != 1)
        case other:
            raise AssertionError(other)


def _not_alone(var: Part, span: Span) -> CepheidError:
    """For `NOT AS x`, which says of no type that it must not come."""
    name = var if isinstance(var, Token) else "x"
    hint = f'name the event type, as in A ; NOT B AS {name} ; C; a type of this name is quoted: "NOT"'
    return CepheidError("syntax", "NOT without an event type after it", span=span, hint=hint)


def _key(key: Part) -> tuple[str | None, str]:
    """`X.a`, or `a` for all events."""
    var, *name = names_of(key)
    return (var, name[0]) if name else (None, var)
