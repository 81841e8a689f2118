"""Random streams, conditions, patterns and queries, for Hypothesis and for plain seeds.

In: a `Choices`, which answers one question: a whole number below n. Out: a `Case`, a query with a stream to
run it on. Hypothesis answers through `cases()` and shrinks what it answered; a seed answers through
`seeded(seed)`, which gives the same case for ever:

    @given(generators.cases())
    def test_engine_agrees(case): assert matches_of_engine(case) == case.expected()

    for seed, case in generators.seeded_cases(first_seed): ...   # until the time is over; print the seed

Invariant: every pattern is well-formed (`cel-cea`, section 5.1): a filter mentions only variables bound
around it or by what it filters, with the variables of an iteration belonging to that iteration; a set, only
where what is filtered gathers it; and the keys of a PART-BY cover what it compares. Number 0 is always the
simplest answer, so that shrinking goes the right way.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import pyarrow as pa
from hypothesis import strategies as st

from cepheid.algebra.conditions import (
    Arithmetic,
    Attribute,
    Call,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    Expression,
    In,
    IsNull,
    Like,
    Literal,
    Negation,
    RLike,
)
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
    Or,
    PartBy,
    Pattern,
    Query,
    Repeat,
    Seq,
    Strategy,
    StrictSeq,
    Window,
    WindowUnit,
    children,
    rebuild,
    walk,
)
from cepheid.algebra.variables import bound, defined, defined_once, is_iteration, sets, with_sets
from cepheid.schema import Schema, schema_of
from cepheid.semantics.oracle import OracleMatch, evaluate
from cepheid.semantics.stream import Event, events_of

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[int]], int]

TYPES = ("A", "B", "C", "D", "E")
NAMES = ("x", "y", "z", "w", "u")
SET_NAMES = ("X", "X", "Y", "Z")
TEXTS = ("a", "b", "é", "日本", "", "A%_")
REALS = (0.0, 1.0, 2.5, -1.0, float("nan"))


class Choices(Protocol):
    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        ...


class Seeded:
    """Choices that a seed makes."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, n: int) -> int:
        return self._random.randrange(n)


class Drawn:
    """Choices that Hypothesis makes."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw

    def below(self, n: int) -> int:
        return self._draw(st.integers(0, n - 1))


@dataclass(frozen=True, slots=True)
class Limits:
    """What a case may contain. `nary`: conditions over two variables. `unsafe`: a variable may be bound
    twice in a sequence (such parts match nothing). `events` and `atoms` bound the sizes; `strategies` and
    `windows` are what is drawn from (a window None: none); of 100 sequences `strict` are strict ones.
    `sets`: IN, PART-BY, ALL and conditions on sets, and of 100 parts that are no OR `any_order` are an ALL; `names`
    false: no variable but sets, as in the paper on PART-BY."""

    nary: bool = True
    unsafe: bool = True
    events: int = 12
    atoms: int = 5
    strategies: tuple[Strategy, ...] = (Strategy.ALL, *Strategy)
    windows: tuple[WindowUnit | None, ...] = (None, None, *WindowUnit)
    strict: int = 20
    sets: bool = False
    names: bool = True
    any_order: int = 35


ANYTHING = Limits()
UNARY = Limits(nary=False)
SETS = Limits(events=10, atoms=4, sets=True)


@dataclass(frozen=True, slots=True)
class Case:
    query: Query
    table: pa.Table

    @property
    def schema(self) -> Schema:
        return schema_of(self.table.schema, time="ts")

    @property
    def events(self) -> list[Event]:
        return events_of(self.table, self.schema)

    def expected(self) -> list[OracleMatch]:
        return evaluate(self.query, self.events)

    def shifted(self, ticks: int) -> Case:
        """The same events later, or earlier, by so many units of their time column."""
        times = self.table["ts"]
        later = pa.array([value + ticks for value in times.cast(pa.int64()).to_pylist()], pa.int64()).cast(
            times.type
        )
        place = self.table.column_names.index("ts")
        return replace(self, table=self.table.set_column(place, "ts", later))

    def __repr__(self) -> str:
        rows = "\n".join(f"  {index}: {row}" for index, row in enumerate(self.table.to_pylist()))
        return f"Case(\n  {self.query!r}\n{rows}\n)"


@st.composite
def cases(draw: Draw, limits: Limits = ANYTHING) -> Case:
    """A Hypothesis strategy for whole cases."""
    return case(Drawn(draw), limits)


@st.composite
def streams(draw: Draw, limits: Limits = ANYTHING) -> pa.Table:
    """A Hypothesis strategy for streams alone, with a numeric time."""
    return stream(Drawn(draw), limits)


@st.composite
def patterns(draw: Draw, limits: Limits = ANYTHING) -> Pattern:
    """A Hypothesis strategy for well-formed patterns alone."""
    return pattern(Drawn(draw), limits)


def seeded(seed: int, limits: Limits = ANYTHING) -> Case:
    """The case that belongs to a seed."""
    return case(Seeded(seed), limits)


def seeded_cases(first: int = 0, limits: Limits = ANYTHING) -> Iterator[tuple[int, Case]]:
    """Endless cases, each with the seed that makes it again."""
    seed = first
    while True:
        yield seed, seeded(seed, limits)
        seed += 1


def case(choices: Choices, limits: Limits) -> Case:
    query = _query(choices, limits, pattern(choices, limits))
    timestamps = query.window is not None and query.window.unit is WindowUnit.MICROSECONDS
    return Case(query, stream(choices, limits, timestamps))


def pick(choices: Choices, options: Sequence[T]) -> T:
    return options[choices.below(len(options))]


def chance(choices: Choices, percent: int) -> bool:
    return choices.below(100) >= 100 - percent


# Streams


def stream(choices: Choices, limits: Limits, timestamps: bool = False) -> pa.Table:
    """Rows in stream order: type, ts (with many ties), id and n (whole numbers), v (reals), s (text)."""
    length = max(choices.below(limits.events + 1), choices.below(limits.events + 1))
    time = 0
    rows = []
    for _ in range(length):
        time += pick(choices, (0, 0, 1, 1, 2, 5))
        rows.append(_row(choices, time))
    schema = pa.schema(
        [
            ("type", pa.string()),
            ("ts", pa.timestamp("us") if timestamps else pa.int64()),
            ("id", pa.int64()),
            ("n", pa.int64()),
            ("v", pa.float64()),
            ("s", pa.string()),
        ]
    )
    return pa.Table.from_pylist(rows, schema)


def _row(choices: Choices, time: int) -> dict[str, object]:
    return {
        "type": _type(choices),
        "ts": time,
        "id": pick(choices, (0, 0, 0, 0, 0, 0, 1, 1, None)),
        "n": pick(choices, (0, 1, 2, 3, -1, None)),
        "v": pick(choices, (*REALS, None)),
        "s": pick(choices, ("a", "a", "a", "a", "a", "a", *TEXTS, None)),
    }


def _type(choices: Choices) -> str:
    """The first types are the more frequent ones, in streams and in patterns, so that patterns do match."""
    return TYPES[min(choices.below(5), choices.below(5), choices.below(5))]


# Conditions


def unary_condition(choices: Choices, var: str, depth: int = 1) -> Condition:
    """A condition over one variable."""
    if depth and chance(choices, 30):
        return _combined(choices, lambda: unary_condition(choices, var, depth - 1))
    match choices.below(8):
        case 0 | 1 | 2:
            return Comparison(_operator(choices), _number(choices, var), _number_literal(choices))
        case 3:
            return Comparison(_operator(choices), Attribute(var, "s"), Literal(pick(choices, TEXTS)))
        case 4:
            return IsNull(Attribute(var, pick(choices, ("n", "v", "s"))))
        case 5:
            items = (Literal(pick(choices, (0, 1, 2))), Literal(pick(choices, (3, None))))
            return In(Attribute(var, "n"), items)
        case 6:
            return Like(Attribute(var, "s"), pick(choices, ("%", "_", "a%", "A\\%\\_", "日_")))
        case _:
            return RLike(Attribute(var, "s"), pick(choices, ("a", "^.$", "[é日]")))


def nary_condition(choices: Choices, one: str, two: str, depth: int = 1) -> Condition:
    """A condition over two variables."""
    if depth and chance(choices, 20):
        return _combined(choices, lambda: nary_condition(choices, one, two, depth - 1))
    if chance(choices, 25):
        return Comparison(_operator(choices), Attribute(one, "s"), Attribute(two, "s"))
    return Comparison(_operator(choices), _number(choices, one), _number(choices, two))


def _combined(choices: Choices, part: Callable[[], Condition]) -> Condition:
    match choices.below(3):
        case 0:
            return Negation(part())
        case 1:
            return Conjunction((part(), part()))
        case _:
            return Disjunction((part(), part()))


def _operator(choices: Choices) -> str:
    return pick(choices, ("=", "<=", ">", "<>", "<", ">="))


def _number(choices: Choices, var: str) -> Expression:
    attribute = Attribute(var, pick(choices, ("n", "v", "id")))
    match choices.below(10):
        case 8:
            op, by = pick(choices, (("+", 1), ("*", 2), ("-", 1), ("/", 2), ("%", 2), ("/", 0)))
            return Arithmetic(op, attribute, Literal(by))
        case 9:
            return pick(choices, (Call("abs", (attribute,)), Call("length", (Attribute(var, "s"),))))
        case _:
            return attribute


def _number_literal(choices: Choices) -> Literal:
    return Literal(pick(choices, (1, 0, 2, 1.0, 2.5, -1)))


# Patterns


def pattern(choices: Choices, limits: Limits = ANYTHING) -> Pattern:
    """A well-formed pattern: first its shape, then filters where their variables are at hand."""
    atoms = 1 + min(choices.below(limits.atoms), choices.below(limits.atoms))
    shape = _shape(choices, limits, atoms, frozenset())
    return with_sets(_filtered(choices, limits, shape, frozenset()))


def _shape(choices: Choices, limits: Limits, atoms: int, taken: frozenset[str]) -> Pattern:
    """A pattern of that many atoms; the names in `taken` are bound before it in the same scope."""
    if limits.sets and chance(choices, 30):
        gathers_many = chance(choices, 40)
        body = _repeat if gathers_many else _shape
        return Bind(body(choices, limits, atoms, taken), pick(choices, SET_NAMES))
    if chance(choices, 25):
        return _repeat(choices, limits, atoms, taken)
    if atoms == 1:
        return _atom(choices, limits, taken)
    split = 1 + choices.below(atoms - 1)
    left = _shape(choices, limits, atoms - split, taken)
    if chance(choices, 25):
        return Or(left, _shape(choices, limits, split, taken))
    if limits.sets and chance(choices, limits.any_order):
        return All(left, _shape(choices, limits, split, taken))
    right = _shape(choices, limits, split, taken | defined_once(left))
    return StrictSeq(left, right) if chance(choices, limits.strict) else Seq(left, right)


def _atom(choices: Choices, limits: Limits, taken: frozenset[str]) -> Atom:
    type = _type(choices)
    if not limits.names or chance(choices, 15):
        return Atom(type)
    untaken = [name for name in NAMES if name not in taken]
    if not untaken or (limits.unsafe and chance(choices, 10)):
        return Atom(type, pick(choices, NAMES)) if limits.unsafe else Atom(type)
    # Mostly the first name: so branches of an OR and iterations reuse names of each other.
    return Atom(type, untaken[0] if chance(choices, 60) else pick(choices, untaken))


def _repeat(choices: Choices, limits: Limits, atoms: int, taken: frozenset[str]) -> Pattern:
    lo, hi = pick(choices, ((1, None), (0, 1), (0, None), (1, 2), (2, None), (2, 3), (0, 2), (2, 2), (1, 1)))
    # An iteration has names of its own: now and then one that hides a name from outside.
    hides = hi != 1 and chance(choices, 20)
    body = _shape(choices, limits, atoms, frozenset() if hides else taken)
    return body if isinstance(body, Repeat) and chance(choices, 50) else Repeat(body, lo, hi)


def _filtered(choices: Choices, limits: Limits, shape: Pattern, around: frozenset[str]) -> Pattern:
    """The shape with filters at any depth; `around` are the variables bound around it that it does not
    hide."""
    known = around | bound(shape)
    inner = known - defined_once(shape.body) if isinstance(shape, Repeat) and is_iteration(shape) else known
    result = rebuild(shape, lambda child: _filtered(choices, limits, child, inner))
    percent = 15 if isinstance(shape, Atom) else 10
    while known and chance(choices, percent):
        result = Filter(result, _condition(choices, limits, sorted(known), bound(shape)))
        percent = 10
    return _correlated(choices, limits, shape, result, sorted(known)) if limits.sets else result


def _correlated(
    choices: Choices, limits: Limits, shape: Pattern, result: Pattern, known: Sequence[str]
) -> Pattern:
    """Conditions on the sets that the shape gathers, and PART-BY, in any order."""
    gathered = sorted(sets(shape))
    while gathered and chance(choices, 25):
        result = Filter(result, _condition_on_sets(choices, limits, gathered, known))
    while chance(choices, 8 if isinstance(shape, Atom | Bind) else 25):
        result = PartBy(result, _keys(choices, shape))
    return result


def _condition_on_sets(
    choices: Choices, limits: Limits, gathered: Sequence[str], known: Sequence[str]
) -> Condition:
    first = pick(choices, gathered)
    others = [name for name in (*gathered, *known) if name != first]
    if not others or chance(choices, 60):
        return unary_condition(choices, first)
    second = pick(choices, others)
    if limits.nary and chance(choices, 50):
        return nary_condition(choices, first, second)
    return _combined(choices, lambda: unary_condition(choices, pick(choices, (first, second))))


def _keys(choices: Choices, shape: Pattern) -> tuple[tuple[str | None, str], ...]:
    """One attribute of all events, or one of each variable of a cover; mostly `id`, which is often equal."""
    repeated = {
        node.var
        for repeat in walk(shape)
        if isinstance(repeat, Repeat) and is_iteration(repeat)
        for node in walk(repeat)
        if isinstance(node, Atom)
    }
    names = sorted(sets(shape) | (defined(shape) - repeated))
    if not covers(shape, frozenset(names)) or chance(choices, 40):
        return ((None, pick(choices, ("id", "id", "s", "n", "v"))),)
    for name in list(names):
        fewer = [other for other in names if other != name]
        if covers(shape, frozenset(fewer)) and chance(choices, 50):
            names = fewer
    attributes = pick(choices, (("id",), ("id", "id", "n", "v"), ("s",)))
    return tuple((name, pick(choices, attributes)) for name in names)


def covers(shape: Pattern, names: frozenset[str]) -> bool:
    """Whether the names form a variable cover (`partition-by-chain-cea`, section 3)."""
    if isinstance(shape, Atom | Bind) and shape.var in names:
        return True
    return not isinstance(shape, Atom) and all(covers(child, names) for child in children(shape))


def _condition(choices: Choices, limits: Limits, known: Sequence[str], own: frozenset[str]) -> Condition:
    # Mostly about what is filtered; now and then about a variable of a wider scope only.
    first = pick(choices, sorted(own)) if own and chance(choices, 75) else pick(choices, known)
    others = [name for name in known if name != first]
    if limits.nary and others and chance(choices, 40):
        return nary_condition(choices, first, pick(choices, others))
    if others and chance(choices, 15):
        return Disjunction(
            (unary_condition(choices, first, 0), unary_condition(choices, pick(choices, others), 0))
        )
    return unary_condition(choices, first)


def is_safe(pattern: Pattern) -> bool:
    """No sequence binds a variable on both sides (`cel-cea`, section 5.1)."""
    return not any(
        defined_once(node.left) & defined_once(node.right)
        for node in walk(pattern)
        if isinstance(node, (Seq, StrictSeq))
    )


# Queries


def _query(choices: Choices, limits: Limits, pattern: Pattern) -> Query:
    names = sorted(defined(pattern) | sets(pattern))
    select: tuple[str, ...] | None = None
    if names and chance(choices, 50):
        select = tuple(dict.fromkeys(pick(choices, names) for _ in range(1 + choices.below(2))))
    return Query(
        pattern,
        select=select,
        streams=("s",),
        partition_by=pick(choices, ((), (), (), (), (), ("id",), ("id",), ("id", "s"))),
        window=_window(choices, pick(choices, limits.windows)),
        strategy=pick(choices, limits.strategies),
        consume=chance(choices, 20),
    )


def _window(choices: Choices, unit: WindowUnit | None) -> Window | None:
    match unit:
        case None:
            return None
        case WindowUnit.PLAIN:
            return Window(pick(choices, (3, 0, 0.5, 1, 2, 4, 5, 8, 2.5)), unit)
        case WindowUnit.EVENTS:
            return Window(1 + choices.below(8), unit)
        case WindowUnit.MICROSECONDS:
            return Window(choices.below(9), unit)
