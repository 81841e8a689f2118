"""The automaton with registers of a query, or why it has none.

In: a query as the user meant it and as rewritten. Out: the automaton that stores events in registers and compares later
events with them, or the reason why the query has none, as `explain` prints it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from cepheid.algebra.nodes import All, Bind, Not, PartBy, Pattern, Query, Recognise, Strategy, walk
from cepheid.algebra.printing import print_pattern
from cepheid.algebra.reach import edges
from cepheid.algebra.variables import shown
from cepheid.algebra.windows import Window
from cepheid.automata.attach import Attached, attach
from cepheid.automata.attach_atoms import NotAttachedError
from cepheid.automata.automaton import Automaton
from cepheid.automata.construct_reading import construct_reading
from cepheid.automata.construct_registers import construct_registers
from cepheid.automata.determinise_registers import RegisterDeterminiser
from cepheid.automata.deterministic import RegisterAutomaton
from cepheid.automata.expand_parts import expanded
from cepheid.automata.expose_registers import stores_before_marks, with_exposed_registers
from cepheid.automata.minimise import MOST_STEPS_WITH_REGISTERS, possible_classes, register_automaton
from cepheid.automata.rivals import without_rivals
from cepheid.automata.single_final import with_single_final
from cepheid.automata.strategy_parts import StrategyPart, WithParts, looking_back, with_placeholders
from cepheid.automata.trim import trim_guards
from cepheid.automata.window_guards import window_as_guards
from cepheid.errors import CepheidError


@dataclass(frozen=True, slots=True)
class Construction:
    """The automaton that runs, and the pattern with its filters on events that it was constructed from; an expression
    of SREMO has its conditions on events from the start."""

    automaton: Automaton
    attached: Attached | None


@lru_cache(maxsize=64)
def automaton_with_registers(query: Query, rewritten: Query) -> Construction | str:
    """The automaton, labelled with the variables that the query shows; or the reason why there is none. NXT, LAST and
    MAX are no part of it: they choose among all matches that it accepts. Where a partial match could remember any
    number of events, the automaton exposes its registers; where extremes of sets make it too large, or too large to
    explore beforehand, filters on sets become checks of whole matches."""
    names = tuple(item.name for item in shown(query))
    found = placeholders_for(rewritten, names)
    if isinstance(found, str):
        return found
    rewritten, parts = replace(rewritten, pattern=found.pattern), found.parts
    has_sets = any(isinstance(node, PartBy | Bind) for node in walk(rewritten.pattern))
    some: list[Construction] = []
    reasons: list[str] = []
    for extremes in (True, False) if has_sets else (True,):
        try:
            plain = _constructed(rewritten, names, extremes, parts)
            if not extremes and not plain.automaton.checks:
                break  # no filter on sets makes it large
        except CepheidError as error:
            reasons.append(_reason(error))
            continue
        for variant in _variants(plain.automaton, rewritten.window):
            try:
                automaton = variant()
                if _is_explored(determinised(rewritten, automaton)):
                    return replace(plain, automaton=automaton)
                some.append(replace(plain, automaton=automaton))
            except CepheidError as error:
                reasons.append(_reason(error))
    return some[0] if some else reasons[0]


def _variants(plain: Automaton, window: Window | None) -> Iterator[Callable[[], Automaton]]:
    """Makes the automaton or costlier equivalents: one that exposes its registers and, where events are stored before
    any is marked, one whose guards also check the window."""
    yield lambda: plain
    yield lambda: with_exposed_registers(plain, window is not None)
    if window is not None and stores_before_marks(plain):
        yield lambda: with_exposed_registers(_guarded(plain, window), windowed=False)


def _guarded(plain: Automaton, window: Window) -> Automaton:
    return trim_guards(window_as_guards(plain, window))


def _reason(error: CepheidError) -> str:
    if error.code not in ("too-large", "not-yet"):
        raise error
    return error.message


def _keeps_starts_apart(query: Query, automaton: Automaton) -> bool:
    """Whether partial matches are kept apart by their first event: for a window, and for CONSUME where only checks
    decide which matches there are."""
    windowed = query.window is not None and not automaton.guarded
    return windowed or (query.consume and bool(automaton.checks))


def determinised(query: Query, automaton: Automaton) -> RegisterAutomaton:
    """The deterministic automaton that the evaluator runs."""
    return register_automaton(automaton, _keeps_starts_apart(query, automaton))


def placeholders_for(query: Query, names: tuple[str, ...]) -> WithParts | str:
    """The query's pattern with placeholders for strategies inside, or why these have no automaton."""
    try:
        found = with_placeholders(query.pattern, frozenset(names))
    except CepheidError as error:
        return _reason(error)
    past = next(looking_back(found.parts), None)
    if query.consume and past is not None:
        return f"CONSUME also forgets what {past} compares"
    if found.parts and (absence := _beyond_gaps(found.pattern)) is not None:
        return f"{print_pattern(absence)} looks beyond the gap between two events, beside a strategy inside the formula"
    return found


def _beyond_gaps(pattern: Pattern) -> Not | None:
    """A NOT that does not only say what may not lie between two events that follow one another."""
    at_edges = [node for last in (True, False) for node, _ in edges(pattern, last=last)]
    beside = (part for node in walk(pattern) if isinstance(node, All) for part in walk(node))
    return next((node for node in (*at_edges, *beside) if isinstance(node, Not)), None)


def _constructed(
    query: Query, names: tuple[str, ...], extremes: bool, parts: dict[str, StrategyPart]
) -> Construction:
    attached = None
    if isinstance(query.pattern, Recognise):
        whole = construct_reading(query.pattern.reading, names, query.window)
    else:
        strict = query.strategy is Strategy.STRICT
        try:
            attached = attach(query.pattern, extremes)
            whole = construct_registers(attached, names, strict, query.window)
        except CepheidError as error:
            if error.code != "not-yet" or not any(isinstance(node, Not) for node in walk(query.pattern)):
                raise
            attached = _attached_without_rivals(query, extremes, error)
            whole = construct_registers(attached, names, strict, query.window)
        if parts and attached.checks:
            raise NotAttachedError(
                "checks of whole matches do not know the events that a strategy inside chooses"
            )
        whole = expanded(whole, parts, frozenset(names), strict)
    return Construction(trim_guards(with_single_final(whole)), attached)


def _attached_without_rivals(query: Query, extremes: bool, error: CepheidError) -> Attached:
    """The pattern without the NOTs that are left for whole matches; the error where there are none."""
    pattern, rivals = without_rivals(query.pattern, query.window)
    if not rivals:
        raise error
    attached = attach(pattern, extremes)
    return replace(attached, checks=(*attached.checks, *rivals))


def _is_explored(automaton: RegisterAutomaton) -> bool:
    """Whether all states that can be reached are known."""
    return not isinstance(automaton, RegisterDeterminiser) or _explore(automaton)


def _explore(automaton: RegisterDeterminiser) -> bool:
    """Explores an automaton that is built on demand, so that a query with too many states is refused by the planner and
    not while its data is read. Explores by the largest classes of events, which reach most states, and by those of one
    predicate where there are too many classes to list. Returns whether all states that these reach are known."""
    largest: list[frozenset[int]] = []
    classes_met = possible_classes(automaton.predicates, MOST_STEPS_WITH_REGISTERS)
    for satisfied in sorted(classes_met or (), key=len, reverse=True):
        if not any(satisfied < other for other in largest):
            largest.append(satisfied)
    singles = (frozenset([number]) for number in range(len(automaton.predicates)))
    classes = list(dict.fromkeys([*largest, frozenset(), *singles]))
    state = 0
    while state < len(automaton) and state * len(classes) <= MOST_STEPS_WITH_REGISTERS:
        for satisfied in classes:
            automaton.transitions(state, satisfied)
        state += 1
    return state == len(automaton)
