"""Attach: moves each condition on several events to the atom that binds the last of them.

In: a rewritten pattern whose filters compare events. Out: the same matches without filters: an atom's condition may
read, beside its own event (var None), variables that were bound before it, so that it is decided as soon as its
event is read. Variables of different scopes get different names, for an iteration binds its own afresh.

A filter inside one alternative that reads a variable bound later splits the pattern around it: `(ρ FILTER P OR σ) ; τ`
becomes `(ρ ; τ) FILTER P OR σ ; τ`. So each part of a pattern is represented by alternatives, one for each set of
*pending* conditions, which read variables that are bound later. ALL is written out in every order
(`pattern_of_positions`). Rounds `{l,m}` with pending conditions on their own events are written out; in an iteration
without bound these events become a set. A condition on sets is attached where the last scope ends that binds one of its
other variables (`attach_sets`): it holds for a set without events, so it needs no alternatives. PART-BY compares all
events of its body with the first (`attach_keys`). A condition on whole sets goes to their events, where
registers hold what it reads of them (`attach_previous`, `attach_aggregates`); else it is a check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, pairwise
from typing import assert_never

from cepheid.algebra.conditions import (
    Attribute,
    Condition,
    conjunction,
    conjuncts,
    is_about_whole_sets,
    sets_chosen,
    sets_read,
    variables,
    with_attributes,
    with_names,
)
from cepheid.algebra.empty import EMPTY, either, is_empty, nullable
from cepheid.algebra.limits import guarded
from cepheid.algebra.nodes import (
    PREVIOUS,
    All,
    Atom,
    Bind,
    Filter,
    Nfab,
    Not,
    Or,
    PartBy,
    Pattern,
    Recognise,
    Repeat,
    Select,
    Seq,
    StrictSeq,
    Within,
    rebuild,
    walk,
)
from cepheid.algebra.pattern_alternatives import in_sequence
from cepheid.algebra.printing import print_pattern
from cepheid.algebra.variables import bound, defined, defined_once, is_iteration, names_of
from cepheid.automata.absence import beyond_single_events
from cepheid.automata.attach_aggregates import on_aggregates
from cepheid.automata.attach_atoms import NotAttachedError, non_empty, not_bound, on_first, on_last, printed
from cepheid.automata.attach_keys import with_one_key
from cepheid.automata.attach_names import MARK, pattern_with
from cepheid.automata.attach_previous import on_previous
from cepheid.automata.attach_rounds import (
    Check,
    check_bound,
    check_of,
    check_of_whole_sets,
    with_first_marked,
)
from cepheid.automata.attach_sets import NoExtremeError, on_sets
from cepheid.automata.attach_windows import Limit, check_edges, near_event, near_previous, with_window
from cepheid.automata.pattern_of_positions import pattern_of
from cepheid.automata.positions_of_pattern import positions_of
from cepheid.automata.rivals import RivalCheck
from cepheid.semantics.whole_sets import holds_of_sets

MOST_PARTS = 256


@dataclass(frozen=True, slots=True)
class Attached:
    """`variable` has for each name in the pattern the variable that it stands for. `checks` are the conditions left for
    whole matches, over names in the pattern."""

    pattern: Pattern
    variable: dict[str, str]
    checks: tuple[Check | RivalCheck, ...] = ()
    behind: Mapping[str, str] = field(default_factory=dict)
    """By register, the one before it in a row: it takes over what that has held, when an event goes to the first."""


def attach(pattern: Pattern, extremes: bool = True) -> Attached:
    """The pattern with every filter on its last atom. Without `extremes` all filters on sets are left as checks, where
    whole matches tell.

    >>> from cepheid.algebra.conditions import Comparison
    >>> from cepheid.algebra.printing import print_condition
    >>> rising = Comparison(">", Attribute("y", "price"), Attribute("x", "price"))
    >>> attached = attach(Filter(Seq(Atom("A", "x"), Atom("B", "y")), rising))
    >>> print_condition(attached.pattern.right.condition)
    'price > "x′0".price'
    """
    for node in walk(pattern):
        if (
            isinstance(node, Filter)
            and sets_read(node.condition)
            and any(isinstance(part, Not) for part in walk(node))
        ):
            raise NotAttachedError(
                f"FILTER {printed(node.condition)} also asks of events that a NOT would add to its sets"
            )
    names = _Names(extremes)
    parts = _parts(_renamed(pattern, {}, names), frozenset(), names)
    for waiting in parts:
        for condition in waiting:
            raise not_bound(condition)
    whole, checks = _near_events({(): parts[()]}, None, names)[()], []
    for limit in names.previous:
        whole = near_previous(limit, whole, names.unseen("previous"))
    _check_absences(whole, names)
    for check in names.on_sets:
        decided = _decided_by_one(check, {(): whole}, frozenset(), names)
        if decided is not None:
            whole = decided[()]
            continue
        check_bound(check, whole, check.singles)
        singles = ((name, ()) for name in sorted(check.singles))
        checks.append(replace(check, paths=(*check.paths, *singles)))
    return Attached(whole, names.variable, tuple(checks), names.behind)


def _check_absences(pattern: Pattern, names: _Names) -> None:
    """Raises for a NOT that forbids more than single events."""
    absent = [node for node in walk(pattern) if isinstance(node, Not)]
    if absent and names.on_sets:
        raise NotAttachedError("a pattern with NOT compares sets")
    if (beyond := beyond_single_events(pattern)) is not None:
        written = print_pattern(pattern_with(beyond, names.variable))
        raise NotAttachedError(f"{written} forbids more than single events")


# ── one name per variable and scope ─────────────────────────────────────────────────────────────────────────


class _Names:
    """What is not attached yet, over names made here: `on_sets`, conditions on sets; `near` and `previous`, limits of
    steps by a named event and by the one before them."""

    def __init__(self, extremes: bool) -> None:
        self.extremes = extremes
        self.variable: dict[str, str] = {}
        self.on_sets: list[Check] = []
        self.near: list[Limit] = []
        self.previous: list[Limit] = []
        self.behind: dict[str, str] = {}
        self._next = count()

    def unseen(self, name: str) -> str:
        """A new name that no match shows."""
        return f"{name.partition(MARK)[0]}{MARK}{next(self._next)}"

    def row(self, name: str, length: int) -> list[str]:
        """So many new registers, each behind the one before it."""
        registers = [self.unseen(name) for _ in range(length)]
        self.behind |= dict(pairwise(reversed(registers)))
        return registers

    def scope(self, names: frozenset[str]) -> dict[str, str]:
        """Names for these variables in a scope of their own."""
        number = next(self._next)
        return {name: self._noted(name, number) for name in sorted(names)}

    def again(self, names: frozenset[str]) -> dict[str, str]:
        """New names for the variables that these names stand for: a variable has one name in each scope."""
        return {name: self._noted(self.variable[name], next(self._next)) for name in sorted(names)}

    def _noted(self, variable: str, number: int) -> str:
        name = f"{variable}{MARK}{number}"
        self.variable[name] = variable
        return name


def _renamed(pattern: Pattern, scope: dict[str, str], names: _Names) -> Pattern:
    if not scope:
        scope = names.scope(defined_once(pattern))
    match pattern:
        case Atom(var=var):
            return replace(pattern, var=None if var is None else scope[var])
        case Repeat(body) if is_iteration(pattern):
            inner = {**scope, **names.scope(defined_once(body))}
            return replace(pattern, body=_renamed(body, inner, names))
        case Filter(body, condition):
            renamed = _in_scope(condition, scope)
            return replace(pattern, body=_renamed(body, scope, names), condition=renamed)
        case Within(body, of=str() as name) if name != PREVIOUS:
            if name not in scope:
                raise NotAttachedError(f"`{name}` is bound nowhere that WITHIN … OF could see")
            return replace(pattern, body=_renamed(body, scope, names), of=scope[name])
        case Seq() | StrictSeq() | Or() | All() | Repeat() | PartBy():
            return rebuild(pattern, lambda child: _renamed(child, scope, names))
        case Select() | Bind() | Not() | Within() | Recognise() | Nfab():
            return rebuild(pattern, lambda child: _renamed(child, scope, names))
        case _:
            assert_never(pattern)


def _in_scope(condition: Condition, scope: dict[str, str]) -> Condition:
    def named(attribute: Attribute) -> Attribute:
        if attribute.each or attribute.var is None:
            return attribute
        if attribute.var not in scope:
            raise NotAttachedError(f"`{attribute.var}` is bound nowhere that its filter could see")
        return replace(attribute, var=scope[attribute.var])

    return with_attributes(condition, named)


# ── filters to atoms ────────────────────────────────────────────────────────────────────────────────────────

Parts = dict[tuple[Condition, ...], Pattern]
"""The alternatives of a pattern, without filters, by their pending conditions."""


def _parts(pattern: Pattern, known: frozenset[str], names: _Names) -> Parts:
    """`known` are the variables that every match binds before this pattern."""
    match pattern:
        case Atom():
            return {(): pattern}
        case Filter(body, condition):
            parts = _parts(body, known, names)
            alike = dict[frozenset[str], list[Condition]]()
            for item in conjuncts(condition):
                if is_about_whole_sets(item):
                    parts = _with_whole_sets(parts, item, known, names)
                elif sets_read(item):
                    parts = _with_sets_named(parts, item, names)
                else:
                    alike.setdefault(variables(item), []).append(item)
            # Those that read the same events go to the same atoms: one by one, many would take quadratic time.
            for items in alike.values():
                item = conjunction(tuple(items))
                parts = _merged(_filtered(part, (*waiting, item), known) for waiting, part in parts.items())
            return parts
        case Seq(left, right) | StrictSeq(left, right):
            lefts, rights = _parts(left, known, names), _parts(right, known | bound(left), names)
            return _joined(partial(in_sequence, type(pattern)), lefts, rights, known)
        case All(left, right, apart):
            before = len(names.previous)
            lefts, rights = _parts(left, known, names), _parts(right, known, names)
            if names.previous[before:]:
                raise NotAttachedError(
                    f"the event before a part of {'AND' if apart else 'ALL'} is that before both"
                )
            return _joined(partial(_in_any_order, apart), lefts, rights, known)
        case Or(parts):
            return _merged([_parts(part, known, names) for part in parts])
        case Bind(body):
            return {
                waiting: part if is_empty(part) else replace(pattern, body=part)
                for waiting, part in _parts(body, known, names).items()
            }
        case Repeat(body) if is_iteration(pattern):
            before = len(names.on_sets)
            parts = _parts(body, known, names)
            parts = _near_events(parts, defined_once(body), names)
            return _repeated(pattern, _with_sets_compared(parts, before, known, names), known, names)
        case Repeat(body):
            return _repeated(pattern, _parts(body, known, names), known, names)
        case PartBy(body):
            if any(isinstance(node, Not) for node in walk(body)):
                raise NotAttachedError("PART-BY also compares what a NOT forbids")
            return {
                waiting: with_one_key(replace(pattern, body=part), names.variable, names.unseen)
                for waiting, part in _parts(body, known, names).items()
            }
        case Select(strategy):
            raise NotAttachedError(f"{strategy.value} compares matches inside the formula")
        case Not(body):
            if any(isinstance(node, Within) for node in walk(body)):
                raise NotAttachedError("a window limits what a NOT forbids")
            parts = _parts(body, known, names)
            if set(parts) != {()}:
                raise NotAttachedError(
                    f"{print_pattern(pattern_with(pattern, names.variable))} compares with a later event"
                )
            return {(): replace(pattern, body=parts[()])}
        case Within(body, window, of=None):
            check_edges(pattern)
            return {
                waiting: with_window(part, window, names.unseen("first"))
                for waiting, part in _parts(body, known, names).items()
            }
        case Within(body, window, of=str() as name):
            check_edges(pattern)
            limit = Limit(names.unseen("step"), window, name)
            (names.previous if name == PREVIOUS else names.near).append(limit)
            return {
                waiting: part if is_empty(part) else Bind(part, limit.gathered)
                for waiting, part in _parts(body, known, names).items()
            }
        case Within() | Recognise() | Nfab():
            raise NotAttachedError("an operator has no automaton yet")
        case _:
            assert_never(pattern)


def _filtered(pattern: Pattern, conditions: Iterable[Condition], known: frozenset[str]) -> Parts:
    """The pattern with all conditions on its atoms whose variables are bound by now; the others stay pending."""
    parts: Parts = {(): pattern}
    for condition in conditions:
        parts = _merged(
            {tuple(dict.fromkeys((*waiting, *more))): result}
            for waiting, part in parts.items()
            for more, result in _decided(part, condition, known).items()
        )
    return parts


def _decided(pattern: Pattern, condition: Condition, known: frozenset[str]) -> Parts:
    """A condition on variables that were all bound before has no atom in the empty match: there it stays pending."""
    binds = bound(pattern)
    if not variables(condition) <= known | binds:
        return {(condition,): pattern}
    if variables(condition) & binds:
        return {(): on_last(condition, pattern)}
    if not nullable(pattern):
        return {(): on_first(condition, pattern)}
    rest = non_empty(pattern)
    return {(condition,): EMPTY} | ({} if rest is None else {(): on_first(condition, rest)})


def _joined(
    join: Callable[[Pattern, Pattern], Pattern], lefts: Parts, rights: Parts, known: frozenset[str]
) -> Parts:
    if len(lefts) * len(rights) > MOST_PARTS:
        raise _too_many()
    parts = _merged(
        _filtered(join(left, right), (*first, *second), known)
        for first, left in lefts.items()
        for second, right in rights.items()
    )
    guarded(either(parts.values()), "attach")
    return parts


def _too_many() -> NotAttachedError:
    return NotAttachedError("filters in alternatives wait for later events in too many combinations")


def _in_any_order(apart: bool, left: Pattern, right: Pattern) -> Pattern:
    """ALL in every order, so that in each the last of the compared events is known."""
    return pattern_of(*positions_of(All(left, right, apart)))


def _merged(several: Iterable[Parts]) -> Parts:
    """One pattern for all alternatives with the same pending conditions."""
    found: dict[tuple[Condition, ...], list[Pattern]] = {}
    for parts in several:
        for waiting, part in parts.items():
            found.setdefault(waiting, []).append(part)
    return {waiting: either(parts) for waiting, parts in found.items()}


# ── rounds ──────────────────────────────────────────────────────────────────────────────────────────────────


def _repeated(pattern: Repeat, parts: Parts, known: frozenset[str], names: _Names) -> Parts:
    """The repetition itself where no condition is pending, else alternatives for each number of rounds."""
    if pattern.hi == 0:
        return {(): EMPTY}
    if set(parts) == {()}:
        return {(): replace(pattern, body=parts[()])}
    if not is_iteration(pattern):
        return parts if pattern.lo == 1 else _merged([parts, {(): EMPTY}])
    own = frozenset[str]().union(*(defined(part) for part in parts.values()))
    if not any(variables(condition) & own for waiting in parts for condition in waiting):
        return _in_all_rounds(pattern, parts)
    if pattern.hi is None:
        return _repeated(pattern, _with_rounds_gathered(parts, own, names), known, names)
    done: Parts = {(): EMPTY}
    found = [done] if pattern.lo == 0 else []
    for number in range(1, pattern.hi + 1):
        done = _joined(
            partial(in_sequence, StrictSeq if pattern.strict else Seq), done, _afresh(parts, names), known
        )
        if number >= pattern.lo:
            found.append(done)
    return _merged(found)


def _in_all_rounds(pattern: Repeat, parts: Parts) -> Parts:
    """A repetition without pending conditions on a round's own events: all rounds may share those of one round."""
    unions = [frozenset[Condition]()]
    for waiting in parts:
        unions = list(dict.fromkeys([*unions, *(union.union(waiting) for union in unions)]))
        if len(unions) > MOST_PARTS:
            raise _too_many()
    found: Parts = {}
    for union in unions:
        allowed = [part for waiting, part in parts.items() if union.issuperset(waiting)]
        ordered = tuple(dict.fromkeys(item for waiting in parts for item in waiting if item in union))
        if allowed or pattern.lo == 0:
            found[ordered] = replace(pattern, body=either(allowed)) if allowed else EMPTY
    return found


# ── sets ────────────────────────────────────────────────────────────────────────────────────────────────────


def _with_sets_named(parts: Parts, condition: Condition, names: _Names) -> Parts:
    """Notes a condition on sets over new names, for the events that they gather here: elsewhere they may gather
    more."""
    scope = {name: names.unseen(name) for name in sorted(sets_read(condition))}
    names.on_sets.append(check_of(with_names(condition, scope)))
    return {waiting: _gathered_twice(part, scope) for waiting, part in parts.items()}


def _with_whole_sets(parts: Parts, condition: Condition, known: frozenset[str], names: _Names) -> Parts:
    """A condition on whole sets on their events, if registers hold what it reads of them; else noted, under names for
    what they gather here, and asked wherever what is filtered has a first event."""
    if names.extremes:
        with suppress(NoExtremeError):
            return {
                waiting: on_previous(condition, part, known, names.row) for waiting, part in parts.items()
            }
        with suppress(NoExtremeError):
            return {
                waiting: on_aggregates(condition, part, known, names.unseen)
                for waiting, part in parts.items()
            }
    scope = {name: names.unseen(name) for name in sorted(sets_read(condition))}
    marker = names.unseen("filter")
    names.on_sets.append(check_of_whole_sets(with_names(condition, scope), marker))
    found: Parts = {}
    for waiting, part in parts.items():
        filled = non_empty(part)
        marked = [] if filled is None else [with_first_marked(_gathered_twice(filled, scope), marker)]
        if nullable(part) and _holds_of_nothing(condition):
            marked.append(EMPTY)
        if marked:
            found[waiting] = either(marked)
    return found


def _holds_of_nothing(condition: Condition) -> bool:
    """Whether the empty match satisfies a condition on whole sets."""
    singles = variables(condition) - sets_read(condition)
    if singles and not sets_chosen(condition):
        raise NotAttachedError(f"FILTER {printed(condition)} can be asked of no event")
    return holds_of_sets(condition, dict.fromkeys(sets_read(condition), ()), {})


def _gathered_twice(pattern: Pattern, scope: dict[str, str]) -> Pattern:
    pattern = rebuild(pattern, lambda child: _gathered_twice(child, scope))
    return (
        Bind(pattern, scope[pattern.var]) if isinstance(pattern, Bind) and pattern.var in scope else pattern
    )


def _with_sets_compared(parts: Parts, before: int, known: frozenset[str], names: _Names) -> Parts:
    """One round with its conditions on sets attached, but for those that read variables bound later in other scopes,
    and those without an event that decides for all, which are noted for the events of one round."""
    mine = frozenset[str]().union(*(defined_once(part) for part in parts.values()))
    noted, names.on_sets = names.on_sets[before:], names.on_sets[:before]
    together = []
    for check in noted:
        decided = _decided_by_one(check, parts, known, names) if check.singles <= known | mine else None
        if decided is not None:
            parts = decided
        elif check.singles & mine or (len(check.paths) > 1 and not check.is_of_rounds):
            together.append(check)
        else:
            names.on_sets.append(check)
    if together:
        marker = names.unseen("round")
        for check in together:
            parts = _with_round_gathered(check, parts, marker, check.singles & mine, names)
        parts = {waiting: with_first_marked(part, marker) for waiting, part in parts.items()}
    return parts


def _decided_by_one(check: Check, parts: Parts, known: frozenset[str], names: _Names) -> Parts | None:
    """The parts with the condition attached, where one event of each set decides for all."""
    if check.is_of_rounds or not names.extremes:
        return None
    try:
        return {
            waiting: on_sets(check.condition, part, known, names.unseen) for waiting, part in parts.items()
        }
    except NoExtremeError:
        return None


def _with_round_gathered(
    check: Check, parts: Parts, marker: str, own: frozenset[str], names: _Names
) -> Parts:
    """Notes a condition for events of the same round: those of `own`, and those of its sets."""
    for part in parts.values():
        check_bound(check, part, own)
    scope = {name: names.unseen(name) for name in sorted(own)}
    paths = [(name, (marker, *path)) for name, path in check.paths]
    paths += [(name, (marker,)) for name in scope.values()]
    condition = with_names(check.condition, scope) if check.whole else _of_each(check.condition, scope)
    names.on_sets.append(Check(condition, tuple(paths), check.whole))
    return {waiting: _with_events_gathered(part, scope) for waiting, part in parts.items()}


def _with_rounds_gathered(parts: Parts, own: frozenset[str], names: _Names) -> Parts:
    """Rounds without pending conditions on their own events: the events of such a condition become a set of all
    rounds."""
    found: list[Parts] = []
    noted: dict[Condition, dict[str, str]] = {}
    for waiting, part in parts.items():
        kept = tuple(condition for condition in waiting if not variables(condition) & own)
        for condition in waiting:
            if condition in kept:
                continue
            mine = variables(condition) & own
            if not mine <= bound(part):
                raise not_bound(condition)
            scope = noted.setdefault(condition, {name: names.unseen(name) for name in sorted(mine)})
            part = _with_events_gathered(part, scope)
        found.append({kept: part})
    merged, marker = _merged(found), names.unseen("round")
    for condition, scope in noted.items():
        path = (marker,) if len(scope) > 1 else ()
        names.on_sets.append(
            Check(_of_each(condition, scope), tuple((name, path) for name in scope.values()))
        )
    if any(len(scope) > 1 for scope in noted.values()):
        merged = {waiting: with_first_marked(part, marker) for waiting, part in merged.items()}
    return merged


def _with_events_gathered(pattern: Pattern, scope: dict[str, str]) -> Pattern:
    if not isinstance(pattern, Atom):
        return rebuild(pattern, lambda child: _with_events_gathered(child, scope))
    found: Pattern = pattern
    for name in sorted(names_of(pattern) & scope.keys()):
        found = Bind(found, scope[name])
    return found


def _of_each(condition: Condition, scope: dict[str, str]) -> Condition:
    return with_attributes(
        condition, lambda one: replace(one, var=scope[one.var], each=True) if one.var in scope else one
    )


# ── windows of steps ────────────────────────────────────────────────────────────────────────────────────────


def _near_events(parts: Parts, mine: frozenset[str] | None, names: _Names) -> Parts:
    """A scope with the limits attached that are about its own variables, `mine`; None: about any."""
    limits = [limit for limit in names.near if mine is None or limit.of in mine]
    names.near = [limit for limit in names.near if limit not in limits]
    for limit in limits:
        register = names.unseen("step")
        parts = {waiting: near_event(limit, part, register) for waiting, part in parts.items()}
    return parts


# ── names in other rounds ───────────────────────────────────────────────────────────────────────────────────


def _afresh(parts: Parts, names: _Names) -> Parts:
    """One more round, with variables of its own."""
    scope = names.again(frozenset[str]().union(*(defined(part) for part in parts.values())))
    return {
        tuple(with_names(condition, scope) for condition in waiting): _copied(part, scope)
        for waiting, part in parts.items()
    }


def _copied(pattern: Pattern, scope: dict[str, str]) -> Pattern:
    if not isinstance(pattern, Atom):
        return rebuild(pattern, lambda child: _copied(child, scope))
    condition = None if pattern.condition is None else with_names(pattern.condition, scope)
    var, also = (
        (None if pattern.var is None else scope[pattern.var]),
        tuple(map(scope.__getitem__, pattern.also)),
    )
    near = tuple((scope.get(name, name), window) for name, window in pattern.near)
    return replace(pattern, var=var, also=also, condition=condition, near=near)
