"""The candidates: each evaluator says whether it takes a query, or why not.

In: a query as meant and as rewritten. Out: what the evaluator would run, exactly one automaton, or the reason as
`explain` shows it. An automaton is constructed only where its candidate is asked, so their order is also the order of
the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import assert_never

from cepheid.algebra.conditions import sets_read
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
    Nfab,
    Not,
    Or,
    PartBy,
    Query,
    Recognise,
    Repeat,
    Select,
    Seq,
    Strategy,
    StrictSeq,
    Within,
    walk,
)
from cepheid.algebra.printing import print_condition, print_part_by, print_pattern, print_window
from cepheid.algebra.reach import edges, waits
from cepheid.algebra.variables import shown
from cepheid.automata.absence import forbidden_by
from cepheid.automata.attach import Attached
from cepheid.automata.attach_atoms import printed
from cepheid.automata.automaton import Automaton
from cepheid.automata.construct import construct
from cepheid.automata.construct_chain import NoChainError, construct_chain
from cepheid.automata.derived import counts_events
from cepheid.automata.expand_parts import expanded
from cepheid.automata.rivals import RivalCheck
from cepheid.automata.strategy_parts import WithParts
from cepheid.automata.trim import trim
from cepheid.automata.unary import is_unary
from cepheid.errors import CepheidError
from cepheid.plan.automaton_with_registers import automaton_with_registers, placeholders_for

LINKED = (
    "matches inside a window are found faster by links between partial matches, which all partitions share"
)
UNARY = "every condition is unary, so the pattern is a finite automaton: constant time per event"


@dataclass(frozen=True, slots=True)
class Taken:
    """What an evaluator would run: `why` has the reasons for it, `grows` the numbers that its time grows with."""

    automaton: Automaton | None
    why: tuple[str, ...]
    grows: tuple[str, ...] = ()
    attached: Attached | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """`takes` completes "the … evaluator" for an error; `offer` gives what would run, or the reason against it."""

    evaluator: str
    takes: str
    offer: Callable[[Query, Query], Taken | str]


def _compact(query: Query, rewritten: Query) -> Taken | str:
    names = _names(query)
    found = placeholders_for(rewritten, names)
    if isinstance(found, str):
        return found
    if not is_unary(found.pattern):
        return _beyond_unary(replace(rewritten, pattern=found.pattern))
    if (beyond := beyond_derived_columns(rewritten)) is not None:
        return beyond
    try:
        automaton = construct(found.pattern, names, rewritten.window)
    except CepheidError as error:
        if error.code != "not-yet":
            raise
        return error.message
    if automaton.registers:
        return f"{_first_absence(rewritten)} depends on how far it is from another event of the match"
    whole = trim(expanded(automaton, found.parts, frozenset(names)))
    return Taken(whole, (UNARY, *_columns_of(found)))


def _chain(query: Query, rewritten: Query) -> Taken | str:
    if query.strategy not in (Strategy.ALL, Strategy.STRICT):
        return f"{query.strategy.value} compares all matches with the same end, also those with other keys"
    try:
        chain = construct_chain(rewritten.pattern, _names(query), strict=query.strategy is Strategy.STRICT)
    except NoChainError as error:
        return error.message
    except CepheidError as error:
        if error.code != "too-large":
            raise
        return error.message
    if is_unary(rewritten.pattern):
        return Taken(trim(chain), (UNARY, LINKED))
    neighbours = "but only neighbours in a match: constant time per event, by an index of partial matches"
    return Taken(trim(chain), (f"{_beyond_unary(rewritten)}, {neighbours}",))


def _configurations(query: Query, rewritten: Query) -> Taken | str:
    if isinstance(rewritten.pattern, Nfab):
        return "the NFAᵇ of a SASE+ query has no register automaton yet"
    if (beyond := beyond_derived_columns(rewritten)) is not None:
        return beyond
    found = automaton_with_registers(query, rewritten)
    if isinstance(found, str):
        return found
    why = f"{_beyond_unary(rewritten)}: partial matches that agree in all that later conditions read are kept as one"
    return Taken(found.automaton, (why,), tuple(_grows(found.automaton, rewritten.strategy)), found.attached)


def _semantics(query: Query, rewritten: Query) -> Taken:
    return Taken(None, ("for now only the definition runs this query, and it is slow",))


COMPACT = Candidate("compact", "takes sequences with unary conditions only", _compact)
CHAIN = Candidate("chain", "compares neighbouring events of a match only", _chain)
CONFIGURATIONS = Candidate("configurations", "compares events with earlier ones only", _configurations)
SEMANTICS = Candidate("semantics", "takes every query", _semantics)

CANDIDATES = (COMPACT, CHAIN, CONFIGURATIONS, SEMANTICS)


def in_order(rewritten: Query, *, counting: bool) -> tuple[Candidate, ...]:
    """The candidates in order of preference.

    >>> from cepheid.algebra.nodes import Atom, Window, WindowUnit
    >>> [candidate.evaluator for candidate in in_order(Query(Atom("A")), counting=False)]
    ['compact', 'chain', 'configurations', 'semantics']
    >>> windowed = Query(Atom("A"), window=Window(10, WindowUnit.EVENTS))
    >>> [candidate.evaluator for candidate in in_order(windowed, counting=False)]
    ['chain', 'compact', 'configurations', 'semantics']
    """
    in_window = rewritten.window is not None and rewritten.strategy is Strategy.ALL
    linked = not counting and in_window and is_unary(rewritten.pattern)
    first = (CHAIN, COMPACT) if linked else (COMPACT, CHAIN)
    return (*first, CONFIGURATIONS, SEMANTICS)


def _columns_of(found: WithParts) -> tuple[str, ...]:
    names = ", ".join(part.name for part in found.parts.values())
    derived = f"what {names} can begin with is derived from the stream: a state per partition"
    return (derived,) if names else ()


def _names(query: Query) -> tuple[str, ...]:
    """An automaton's labels are what the query as meant shows."""
    return tuple(item.name for item in shown(query))


def _beyond_unary(query: Query) -> str:
    """What makes a query more than a finite automaton can run."""
    of_sets, of_part, absence = None, None, None
    for node in walk(query.pattern):
        match node:
            case Filter(_, condition) if sets_read(condition):
                of_sets = of_sets or f"FILTER {print_condition(condition)} compares events of sets"
            case Filter(_, condition):
                return f"FILTER {print_condition(condition)} compares events"
            case PartBy(_, keys):
                return f"{print_part_by(keys)} compares events"
            case Not():
                absence = absence or (
                    None if forbidden_by(node) else f"{print_pattern(node)} forbids more than single events"
                )
            case Select(strategy):
                of_part = of_part or f"{strategy.value} inside the formula compares matches of its part"
            case Within(_, window, of=of):
                of_part = (
                    of_part
                    or f"WITHIN {print_window(window)} of a {'part' if of is None else 'step'} compares events"
                )
            case Nfab():
                return "an NFAᵇ of SASE+ has conditions of its own on each edge, and a match buffer"
            case Recognise():
                return "SREMO reads every event of a piece of the stream, with registers"
            case Atom() | Seq() | StrictSeq() | Or() | All() | Repeat() | Bind():
                pass
            case _:
                assert_never(node)
    if of_sets or of_part or absence:
        return of_sets or of_part or absence or ""
    if any(isinstance(node, Not) for node in walk(query.pattern)):
        return f"{_first_absence(query)} depends on how far it is from another event of the match"
    return "an operator has no automaton yet"


def _first_absence(query: Query) -> str:
    return next(print_pattern(node) for node in walk(query.pattern) if isinstance(node, Not))


def beyond_derived_columns(query: Query) -> str | None:
    """Why columns derived from the stream alone do not say what lies before or after a match."""
    before = edges(query.pattern, last=False)
    if query.consume and before:
        return f"CONSUME also forgets what {print_pattern(before[0][0])} forbids"
    if query.partition_by and any(counts_events(window) for window in waits(query)):
        return "a partition without further events would hold up the matches of all others"
    return None


def _grows(automaton: Automaton, strategy: Strategy) -> list[str]:
    """What the time of an automaton with registers grows with, beyond the partial matches that differ in what is
    read."""
    grows = []
    for check in automaton.checks:
        if isinstance(check, RivalCheck):
            rivals = "is checked on all matches of the query without it, with each event that it may forbid"
            grows.append(f"{check.absence} {rivals}: time grows with the pairs of these")
            continue
        no_extreme = (
            "is about whole sets, which no run holds"
            if check.whole
            else "compares any number of events with later ones, and no single event decides for all"
        )
        slow = "it is checked on all matches of the query without it, so time grows with those"
        grows.append(f"FILTER {printed(check.condition)} {no_extreme}: {slow}")
    if automaton.exposes:
        compares = "events are compared that a match does not show"
        grows.append(f"{compares}, so time grows with all runs, not with the matches")
    if strategy not in (Strategy.ALL, Strategy.STRICT):
        chooses = f"{strategy.value} chooses among all matches that end at an event"
        grows.append(f"{chooses}, so time grows with those, not with the chosen ones")
    return grows
