"""Which variables a query may use where: well-formedness (`cel-cea`, section 5.1).

In: a query of any language. Out: nothing, or an error that names the variable and the reason. A formula is well-formed
when for every `ρ FILTER P(x, …)` some formula around ρ, or ρ itself, binds x. Stricter than the paper in one place: an
iteration that defines x hides the x around it, since each round binds its own (the semantics of +), so the search for x
ends there.

Also checked: selected names exist and can name a column, repetitions and windows have sensible bounds. `covers` checks
set variables and PART-BY, `registers` the registers of SREMO.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from cepheid.algebra.absence import check_absences
from cepheid.algebra.conditions import (
    Attribute,
    mentioned,
    sets_chosen,
    sets_read,
)
from cepheid.algebra.covers import check_set_use, check_sets
from cepheid.algebra.empty import without_absences
from cepheid.algebra.nodes import (
    PREVIOUS,
    All,
    Atom,
    Bind,
    Both,
    Complement,
    Computed,
    Concat,
    Filter,
    Iterate,
    Not,
    Or,
    PartBy,
    Pattern,
    Places,
    Query,
    Read,
    Reading,
    Recognise,
    Repeat,
    Select,
    Seq,
    StrictSeq,
    Window,
    WindowUnit,
    Within,
    children,
    walk,
)
from cepheid.algebra.printing import print_condition, print_name, print_pattern, print_window
from cepheid.algebra.registers import check_registers
from cepheid.algebra.text_patterns import check_text_patterns
from cepheid.algebra.variables import (
    Shown,
    absent,
    bound,
    defined,
    defined_once,
    is_iteration,
    label_at,
    labels,
    output_columns,
    sets,
)
from cepheid.algebra.whole_sets import check_whole_sets, refuse_whole_sets
from cepheid.errors import CepheidError, Span, did_you_mean, quoted

OUTPUT_COLUMNS = ("match_id", "start", "end", "positions")
MOST_KEYS = 62  # a word has a bit for each that is NULL


def check_scope(query: Query) -> None:
    """Raises the first mistake in how a query uses its variables and bounds.

    >>> from cepheid.algebra.conditions import Comparison, Literal
    >>> wrong = Filter(Atom("H", "x"), Comparison("<=", Attribute("y", "tmp"), Literal(30)))
    >>> check_scope(Query(wrong))
    Traceback (most recent call last):
    cepheid.errors.CepheidError: error[unknown-variable]: no part of the formula binds `y`
      hint: the formula binds `x`
    """
    places = query.places or Places()
    for node in walk(query.pattern):
        match node:
            case Atom(_, _, condition):
                if condition is not None:
                    check_text_patterns(condition)
            case Filter(_, condition):
                check_text_patterns(condition)
                check_whole_sets(condition, query.pattern)
            case Repeat():
                check_repeat(node)
            case Not(_, window, span) | Within(_, window, span):
                _check_window(window, span)
            case Recognise(reading):
                _check_reading(reading, query.window)
            case Seq() | StrictSeq() | Or() | All() | PartBy() | Select() | Bind():
                pass
            case _:
                assert_never(node)
    check_absences(query.pattern)
    check_sets(query.pattern)
    for path, used in _uses(query.pattern, ()):
        if used.each:
            assert isinstance(path[-1], Filter)
            check_set_use(path[-1], query.pattern, used, used.variable_span)
        elif not _binds(path, used.var) and not _is_forbidden(path[-1], used.var):
            raise _out_of_scope(query.pattern, path, used)
    _check_select(query, places)
    _check_distinct(query.streams, places.streams, "FROM")
    _check_distinct(query.partition_by, places.partition_by, "PARTITION BY")
    _check_partition_by(query.partition_by, places.partition_by)
    _check_window(query.window, places.window)
    if query.limit is not None and query.limit < 1:
        message = f"`LIMIT` requires a positive number of matches; got `{query.limit}` instead"
        raise CepheidError("bad-argument", message, span=places.limit)


def _check_reading(reading: Reading, window: Window | None) -> None:
    check_registers(reading, window)
    for node in walk(reading):
        match node:
            case Within(_, window, span):
                _check_window(window, span)
            case Read(condition):
                check_text_patterns(condition)
                refuse_whole_sets(condition)
            case Concat() | Or() | Iterate() | Both() | Complement():
                pass
            case _:
                assert_never(node)


def _uses(pattern: Pattern, path: tuple[Pattern, ...]) -> Iterator[tuple[tuple[Pattern, ...], Attribute]]:
    """Every attribute of a variable that a filter reads, and every variable that a window is of, with the formulas
    around it, outermost first."""
    inside = (*path, pattern)
    match pattern:
        case Filter(_, condition):
            yield from ((inside, read) for read in mentioned(condition) if read.var is not None)
        case Within(_, _, span, str() as name) if name != PREVIOUS:
            yield inside, Attribute(name, "", span=span)
        case Atom() | Seq() | StrictSeq() | Or() | All() | Repeat() | PartBy() | Select() | Bind():
            pass
        case Not() | Within() | Recognise():
            pass
        case _:
            assert_never(pattern)
    for child in children(pattern):
        yield from _uses(child, inside)


def _binds(path: tuple[Pattern, ...], var: str | None) -> bool:
    return var is not None and any(var in bound(scope) for scope in _scopes(path, var))


def _is_forbidden(filtering: Pattern, var: str | None) -> bool:
    """Whether a filter reads what a NOT inside of what it filters binds."""
    return isinstance(filtering, Filter) and var in absent(filtering.body)


def _scopes(path: tuple[Pattern, ...], var: str) -> Iterator[Pattern]:
    """The formulas around a filter whose binding of `var` it sees, innermost first."""
    for scope in reversed(path):
        if isinstance(scope, Repeat) and is_iteration(scope) and var in defined_once(scope.body):
            return
        yield scope


def _out_of_scope(pattern: Pattern, path: tuple[Pattern, ...], used: Attribute) -> CepheidError:
    var = used.var
    assert var is not None
    span = used.variable_span
    if var not in defined(pattern):
        return _unknown(pattern, var, span)
    choices = [scope for scope in _scopes(path, var) if var in defined_once(scope)]
    if choices:
        message, hint = _why_unbound(choices[0], var)
        return CepheidError("unbound-variable", message, span=span, hint=hint)
    message = f"`{var}` is bound inside a repetition, afresh in each round, and used outside it"
    hint = f"put the filter inside: {_filter_inside(pattern, var)}"
    return CepheidError("kleene-variable", message, span=span, hint=hint)


def _unknown(pattern: Pattern, var: str, span: Span | None) -> CepheidError:
    unnamed = {node.type for node in walk(pattern) if isinstance(node, Atom) and node.var is None}
    message = f"no part of the formula binds `{var}`"
    if var in unnamed:
        name = print_name(var)
        hint: str | None = f"`{var}` is an event type: write {name} AS {var[:1].lower()} and use the variable"
    else:
        known = sorted(defined(pattern) | sets(pattern))
        first = f"name an event first, as in T AS {print_name(var)}"
        hint = did_you_mean(var, known, f"the formula binds {quoted(known)}" if known else first)
    return CepheidError("unknown-variable", message, span=span, hint=hint)


def _why_unbound(scope: Pattern, var: str) -> tuple[str, str]:
    """The innermost choice below `scope` that can be made without binding `var`."""
    for node in walk(scope):
        match node:
            case Or(parts):
                without = [part for part in parts if var not in bound(part)]
                if 0 < len(without) < len(parts):
                    return (
                        f"`{var}` is not bound when the OR takes `{print_pattern(without[0])}`",
                        f"bind `{var}` in both branches, or put the filter into the branch that binds it",
                    )
            case Repeat(body, 0, 1) if var in bound(body):
                return (
                    f"`{var}` is not bound when the optional `{print_pattern(node)}` is left out",
                    f"put the filter inside: ({print_pattern(body)} FILTER …)?",
                )
            case Not() if var in defined(node):
                return (
                    f"`{var}` is what NOT forbids, so no match binds it",
                    "put the filter around the NOT: a condition on what it forbids belongs to it",
                )
            case Atom() | Recognise():
                pass
            case Seq() | StrictSeq() | All() | Repeat() | Filter() | PartBy() | Select() | Bind():
                pass
            case Not() | Within():
                pass
            case _:
                assert_never(node)
    return f"`{var}` is not bound by every match of the formula", "bind it on every way through the formula"


def _filter_inside(pattern: Pattern, var: str) -> str:
    """The innermost iteration that binds `var`, as it looks with a filter in it."""
    for node in reversed(tuple(walk(pattern))):
        if isinstance(node, Repeat) and is_iteration(node) and var in defined_once(node.body):
            sign = print_pattern(Repeat(Atom("T"), node.lo, node.hi)).removeprefix("T")
            return f"({print_pattern(node.body)} FILTER …){sign}"
    return "(… FILTER …)+"


def check_repeat(node: Repeat) -> None:
    """Raises for bounds that no number of rounds satisfies."""
    if node.hi is None or max(1, node.lo) <= node.hi:
        return
    message = f"a repetition cannot run at least {node.lo} and at most {node.hi} times"
    hint = f"write {{{node.hi},{node.lo}}}"
    if node.hi < 1:
        message = "a repetition must allow at least one round"
        hint = "leave the part out, or write {0,1} for an optional one"
    raise CepheidError("bad-argument", message, span=node.span, hint=hint)


def _check_select(query: Query, places: Places) -> None:
    columns = output_columns(query)
    for index, column in enumerate(columns):
        span = _at(places.select, index) or _binding_span(query.pattern, column.name)
        if isinstance(column, Computed):
            _check_computed(column, query.pattern)
        else:
            _check_bound(column.name, query.pattern, span)
    taken = {*OUTPUT_COLUMNS, *query.partition_by}
    for index, column in enumerate(columns):
        if column.name in taken:
            raise _taken(query, places, index, column)
        if column.name in {before.name for before in columns[:index]}:
            message = f"SELECT names `{column.name}` twice"
            both = all(isinstance(one, Shown) for one in columns if one.name == column.name)
            hint = "keep one of them" if both else _other_name(column)
            raise CepheidError("bad-argument", message, span=_at(places.select, index), hint=hint)


def _check_computed(column: Computed, pattern: Pattern) -> None:
    check_text_patterns(column.value)
    for read in mentioned(column.value):
        assert read.var is not None
        _check_bound(read.var, pattern, read.variable_span)
    _check_sets_gathered(column, pattern)
    several = sorted(sets_chosen(column.value))
    if len(several) > 1:
        message = f"a column has the values of one set, and this one reads {quoted(several)}"
        hint = "write a column for each set"
        raise CepheidError("bad-argument", message, span=column.span, hint=hint)


def _check_sets_gathered(column: Computed, pattern: Pattern) -> None:
    """Aggregates and `prev` of SELECT may be over any variable that can be several events."""
    gathering = pattern
    for name in sets_read(column.value):
        gathering = Bind(gathering, name)
    check_whole_sets(column.value, gathering)


def _check_bound(name: str, pattern: Pattern, span: Span | None) -> None:
    """A name of SELECT is one under which a match has events."""
    known = dict.fromkeys(labels(without_absences(pattern)))
    if name in known:
        return
    if name in labels(pattern):
        message = f"SELECT names `{name}`, which NOT forbids: no match has such an event"
        raise CepheidError("unbound-variable", message, span=span, hint="select events of the match")
    hint = did_you_mean(name, known, f"the formula binds {quoted(known)}")
    message = f"SELECT names `{name}`, which nothing binds"
    raise CepheidError("unknown-variable", message, span=span, hint=hint)


def _taken(query: Query, places: Places, index: int, column: Shown | Computed) -> CepheidError:
    """The name of a selected column is that of a column which every output has."""
    span = _at(places.select, index) or _binding_span(query.pattern, column.name)
    if span is None and column.name in query.partition_by:
        span = _at(places.partition_by, query.partition_by.index(column.name))
    message = f"the output already has a column `{column.name}`"
    hint = _other_name(column) if isinstance(column, Computed) else _rename(query.pattern, column.name)
    return CepheidError("bad-argument", message, span=span, hint=hint)


def _other_name(column: Shown | Computed) -> str:
    """How to give a column another name than it has."""
    if isinstance(column, Computed) and isinstance(column.value, Attribute):
        own = f"{column.value.var}_{column.value.name}"
        return f"name it: {print_condition(column.value)} AS {print_name(own)}"
    return "give the column another name with AS"


def _rename(pattern: Pattern, name: str) -> str:
    if isinstance(pattern, Recognise):
        return f"rename the column `{name}` of the data"
    return f"give the variable another name with {'IN' if name in sets(pattern) else 'AS'}"


def _check_partition_by(names: Sequence[str], spans: Sequence[Span]) -> None:
    """Partition columns become columns of the output, which must not repeat its own."""
    if len(names) > MOST_KEYS:
        message = f"PARTITION BY names {len(names)} columns; {MOST_KEYS} are the most"
        raise CepheidError("too-large", message, span=_at(spans, MOST_KEYS))
    for index, name in enumerate(names):
        if name in OUTPUT_COLUMNS:
            message = f"the output already has a column `{name}`"
            hint = "rename the column of the data that PARTITION BY names"
            raise CepheidError("bad-argument", message, span=_at(spans, index), hint=hint)


def _check_distinct(names: Sequence[str], spans: Sequence[Span], clause: str) -> None:
    seen = set[str]()
    for index, name in enumerate(names):
        if name in seen:
            message = f"{clause} names `{name}` twice"
            raise CepheidError("bad-argument", message, span=_at(spans, index), hint="keep one of them")
        seen.add(name)


def _at(spans: Sequence[Span], index: int) -> Span | None:
    return spans[index] if index < len(spans) else None


def _binding_span(pattern: Pattern, label: str) -> Span | None:
    found = (node for node in walk(pattern) if label_at(node) == label)
    return next((node.span for node in found if isinstance(node, Atom | Bind)), None)


def _check_window(window: Window | None, span: Span | None) -> None:
    if window is None:
        return
    # A window of no duration holds events of the same time; one of no events holds nothing.
    by_count = window.unit is WindowUnit.EVENTS
    if window.amount < (1 if by_count else 0):
        size = "positive number of events" if by_count else "duration that is not negative"
        message = f"`WITHIN` requires a {size}; got `{print_window(window)}` instead"
        raise CepheidError("bad-argument", message, span=span)
    if window.unit is not WindowUnit.PLAIN and window.amount != int(window.amount):
        unit = "events" if window.unit is WindowUnit.EVENTS else "nanoseconds"
        message = f"`WITHIN` requires a whole number of {unit}; got `{window.amount}` instead"
        raise CepheidError("bad-argument", message, span=span)
