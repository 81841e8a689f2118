"""Strategies inside a formula: a part's automaton, determinised under its strategy, beside that of the formula.

In: a rewritten pattern. Out: the pattern with an atom in place of each strategy, a *placeholder*, and for each of these
a `StrategyPart`: what the strategy chooses as a deterministic automaton (`cel-cea`, theorem 4), in tables. The
automaton of the formula with placeholders is constructed as any other; `expand_parts` then puts the parts' in.

A strategy compares all complex events of its part that end together, whatever came before, so a part's automaton reads
the stream of its partition from the beginning. As long as it marks nothing it is a finite automaton over *letters*, the
classes of events that it tells apart, and its state before an event depends on the stream alone. Two derived columns
say what a formula needs of that: an event's letter, and its *beginning*, the ways in which the part can begin with this
event. So whatever a match is made of before the part, the part begins as if it were alone, and from then on its states
are states of the formula's automaton.

A part whose automaton has more than one state before it begins *looks back*.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from typing import NamedTuple, assert_never

from cepheid.algebra.conditions import (
    Attribute,
    Comparison,
    Condition,
    Literal,
    conjuncts,
    only_set,
    only_variable,
    over_current_event,
    variables,
)
from cepheid.algebra.empty import nullable, optional
from cepheid.algebra.expression_printing import HIDDEN
from cepheid.algebra.nodes import (
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
from cepheid.algebra.printing import print_condition, print_pattern
from cepheid.algebra.variables import bound, defined, defined_once, is_iteration, labels, sets
from cepheid.automata.automaton import Automaton
from cepheid.automata.construct import construct
from cepheid.automata.determinise import Determiniser
from cepheid.automata.deterministic import Class, Outcome
from cepheid.automata.minimise import Minimal, minimise
from cepheid.automata.trim import trim
from cepheid.automata.unary import is_unary
from cepheid.errors import CepheidError

MOST_STEPS = 4096  # states × classes of a part's automaton
DEAD = -1

Tests = tuple[tuple[str | None, Condition], ...]


class PartMark(NamedTuple):
    """Marking an event leads to state `goal` of the part (DEAD: it cannot go on) and completes it if `accepts`."""

    label: frozenset[str]
    goal: int
    accepts: bool


@dataclass(frozen=True, slots=True)
class StrategyPart:
    """A part of a formula under a strategy. `automaton` is that of its body, `tests` are conditions on the events of a
    variable or set (None: all), asked of what the strategy has chosen.

    `letters` gives each class of events its letter. By state and letter, `skips` says where skipping leads, `marks`
    which marks there are, `begins` the number of the beginning, of those in `beginnings`; of these number 0 has no
    marks. `looks_back`: whether skipping from state 0 leads elsewhere. `may_be_empty`: whether a match may have no
    event of the part.
    """

    name: str
    automaton: Automaton
    tests: Tests = ()
    letters: dict[Class, int] = field(default_factory=dict, compare=False, repr=False)
    skips: tuple[tuple[int, ...], ...] = field(default=(), compare=False, repr=False)
    marks: tuple[tuple[tuple[PartMark, ...], ...], ...] = field(default=(), compare=False, repr=False)
    begins: tuple[tuple[int, ...], ...] = field(default=(), compare=False, repr=False)
    beginnings: tuple[tuple[PartMark, ...], ...] = field(default=(), compare=False, repr=False)
    looks_back: bool = field(default=False, compare=False, repr=False)
    may_be_empty: bool = field(default=False, compare=False, repr=False)

    @property
    def placeholder(self) -> str:
        """The type of the atom in place of the part."""
        return HIDDEN + self.name

    @property
    def letter(self) -> str:
        """The column with the letter of each event."""
        return f"{HIDDEN}class of {self.name}"

    @property
    def beginning(self) -> str:
        """The column with the beginning of each event."""
        return f"{HIDDEN}beginning of {self.name}"

    def reads(self, letter: int) -> Condition:
        return Comparison("=", Attribute(None, self.letter), Literal(letter))

    def begins_with(self, beginning: int) -> Condition:
        return Comparison("=", Attribute(None, self.beginning), Literal(beginning))


class WithParts(NamedTuple):
    """A pattern with placeholders, and its parts by their placeholders."""

    pattern: Pattern
    parts: dict[str, StrategyPart]


def parts_in_order(automaton: Automaton) -> tuple[StrategyPart, ...]:
    """All parts whose columns an automaton reads, inner ones before those that read theirs."""
    found: dict[StrategyPart, None] = {}
    for part in automaton.parts:
        found |= dict.fromkeys((*parts_in_order(part.automaton), part))
    return tuple(found)


def with_placeholders(pattern: Pattern, shown: frozenset[str]) -> WithParts:
    """The pattern with a placeholder for each strategy inside, as events of which a match shows these names; raises
    where a part has no automaton.

    >>> from cepheid.algebra.nodes import Strategy
    >>> largest = Select(Strategy.MAX, Repeat(Atom("B"), 1, None))
    >>> pattern, parts = with_placeholders(Seq(Atom("A"), largest), frozenset())
    >>> print_pattern(pattern), [len(part.skips) for part in parts.values()]
    ('A ; ⟨MAX(B+)⟩', [1])
    """
    if not any(isinstance(node, Select) for node in walk(pattern)):
        return WithParts(pattern, {})
    parts: dict[str, StrategyPart] = {}
    return WithParts(_replaced(pattern, shown, parts), parts)


def _replaced(pattern: Pattern, shown: frozenset[str], parts: dict[str, StrategyPart]) -> Pattern:
    match pattern:
        case Select():
            return _placeholder(pattern, (), shown, parts)
        case Filter() if (filtered := _filtered(pattern)) is not None:
            select, tests, gatherers = filtered
            return reduce(Bind, gatherers, _placeholder(select, tests, shown, parts))
        case Filter(body, condition):
            if variables(condition) & _chosen(body):
                text = print_condition(condition)
                raise _no_automaton(f"FILTER {text} reads events that {_first(body)} chooses")
            return rebuild(pattern, lambda child: _replaced(child, shown, parts))
        case Seq(left, right) | StrictSeq(left, right):
            both = defined_once(left) & defined_once(right)
            if both and _has_strategies(pattern):
                raise _no_automaton(f"`{min(both)}` is bound on both sides of a strategy's part")
            return rebuild(pattern, lambda child: _replaced(child, shown, parts))
        case All() | Not() | Within() | PartBy() if _has_strategies(pattern):
            around = {All: "ALL or AND", Not: "NOT", Within: "a window of a part", PartBy: "PART-BY"}[
                type(pattern)
            ]
            raise _no_automaton(f"{_first(pattern)} stands inside of {around}")
        case Atom() | Or() | All() | Repeat() | PartBy() | Bind() | Not() | Within():
            return rebuild(pattern, lambda child: _replaced(child, shown, parts))
        case Recognise() | Nfab():
            return rebuild(pattern, lambda child: _replaced(child, shown, parts))
        case _:
            assert_never(pattern)


def _has_strategies(pattern: Pattern) -> bool:
    return any(isinstance(node, Select) for node in walk(pattern))


def _chosen(pattern: Pattern) -> frozenset[str]:
    """The variables and sets of which strategies choose events."""
    parts = [node for node in walk(pattern) if isinstance(node, Select)]
    around = [node for node in walk(pattern) if isinstance(node, Bind) and _has_strategies(node)]
    inside = frozenset[str]().union(*(defined(part) | sets(part) for part in parts))
    return inside.union(node.var for node in around)


def _first(pattern: Pattern) -> str:
    return next(print_pattern(node) for node in walk(pattern) if isinstance(node, Select))


def _no_automaton(message: str) -> CepheidError:
    return CepheidError("not-yet", message)


class _Filtered(NamedTuple):
    """A strategy under filters, each on one of its events or on all of a set, and the sets around it, the innermost
    first: the filters see what it has chosen."""

    select: Select
    tests: Tests = ()
    gatherers: tuple[str, ...] = ()


def _filtered(pattern: Pattern) -> _Filtered | None:
    match pattern:
        case Select():
            return _Filtered(pattern)
        case Bind(body, var):
            inner = _filtered(body)
            return None if inner is None else inner._replace(gatherers=(*inner.gatherers, var))
        case Filter(body, condition):
            inner = _filtered(body)
            for part in conjuncts(condition):
                inner = None if inner is None else _tested(inner, part)
            return inner
        case Atom() | Seq() | StrictSeq() | Or() | All() | Repeat():
            return None
        case PartBy() | Not() | Within() | Recognise() | Nfab():
            return None
        case _:
            assert_never(pattern)


def _tested(filtered: _Filtered, condition: Condition) -> _Filtered | None:
    """With one more condition, if it is on single events that a mark can test."""
    select, tests, gatherers = filtered
    name = only_variable(condition) or only_set(condition)
    known = (bound(select) | sets(select)) - _repeated(select)
    if name is None or name not in known.union(gatherers):
        return None
    of = None if name in gatherers else name
    return _Filtered(select, (*tests, (of, over_current_event(condition, name))), gatherers)


def _repeated(pattern: Pattern) -> frozenset[str]:
    """The variables and sets that some repetition binds, each round its own."""
    rounds = (node for node in walk(pattern) if is_iteration(node))
    return frozenset[str]().union(*(defined(node) | sets(node) for node in rounds))


def _placeholder(
    select: Select, tests: Tests, shown: frozenset[str], parts: dict[str, StrategyPart]
) -> Pattern:
    part = strategy_part(select, tests, shown & frozenset(labels(select.body)))
    parts[part.placeholder] = part
    atom = Atom(part.placeholder)
    return optional(atom) if part.may_be_empty else atom


@lru_cache(maxsize=64)
def strategy_part(select: Select, tests: Tests, shown: frozenset[str]) -> StrategyPart:
    """What a strategy chooses, as events of which a match shows these names."""
    names = tuple(
        name for name in dict.fromkeys(labels(select.body)) if name in shown | {name for name, _ in tests}
    )
    body, inner = with_placeholders(select.body, frozenset(names))
    if not is_unary(body):
        raise _no_automaton(f"{print_pattern(select)} compares matches whose events are compared with others")
    from cepheid.automata.expand_parts import expanded

    plain = construct(body, names)
    if plain.derived:
        raise _no_automaton(f"{print_pattern(select)} chooses by what lies before or after the events of its part")
    automaton = trim(expanded(plain, inner, frozenset(names)))
    try:
        small = minimise(Determiniser(automaton, select.strategy), most_steps=MOST_STEPS)
    except CepheidError as error:
        if error.code != "too-large":
            raise
        small = None
    if small is None:
        raise CepheidError("too-large", f"the determinised automaton of {print_pattern(select)} is too large")
    asked = "".join(f" [{print_condition(condition)}]" for _, condition in tests)
    part = StrategyPart(print_pattern(select) + asked, automaton, tests, may_be_empty=nullable(body))
    return _with_tables(part, small)


def _with_tables(part: StrategyPart, automaton: Minimal) -> StrategyPart:
    """The part with the transitions of its deterministic automaton, as tables over letters."""
    classes = automaton.classes or []
    states = range(len(automaton))
    columns = {
        satisfied: tuple(automaton.transitions(state, satisfied).outcomes[0] for state in states)
        for satisfied in classes
    }
    numbers = {column: number for number, column in enumerate(dict.fromkeys(columns.values()))}
    skips = tuple(tuple(_skip(column[state]) for column in numbers) for state in states)
    marks = tuple(tuple(_marks(column[state], automaton.labels) for column in numbers) for state in states)
    before = _reached_by_skips(skips)
    nothing: tuple[PartMark, ...] = ()
    beginnings = dict.fromkeys([nothing, *(letter for state in sorted(before) for letter in marks[state])])
    number_of = {beginning: number for number, beginning in enumerate(beginnings)}
    return replace(
        part,
        letters={satisfied: numbers[column] for satisfied, column in columns.items()},
        skips=skips,
        marks=marks,
        begins=tuple(tuple(number_of.get(letter, 0) for letter in marks[state]) for state in states),
        beginnings=tuple(beginnings),
        looks_back=any(goal != 0 for goal in skips[0]),
    )


def _skip(outcome: Outcome) -> int:
    return DEAD if outcome.skip is None else outcome.skip.state


def _marks(outcome: Outcome, names: tuple[frozenset[str], ...]) -> tuple[PartMark, ...]:
    return tuple(
        PartMark(names[mark.label], DEAD if mark.goal is None else mark.goal.state, mark.accepts)
        for mark in outcome.marks
    )


def _reached_by_skips(skips: tuple[tuple[int, ...], ...]) -> set[int]:
    found, waiting = {0}, [0]
    while waiting:
        new = set(skips[waiting.pop()]) - found - {DEAD}
        found |= new
        waiting += new
    return found


def looking_back(parts: dict[str, StrategyPart]) -> Iterator[str]:
    """The names of the parts whose state before they begin depends on the stream."""
    for part in parts.values():
        yield from (inner.name for inner in (*parts_in_order(part.automaton), part) if inner.looks_back)
