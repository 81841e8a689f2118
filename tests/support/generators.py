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
    TRUE,
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
    SKIP,
    All,
    Atom,
    Bind,
    Both,
    Complement,
    Concat,
    Filter,
    Iterate,
    Or,
    PartBy,
    Pattern,
    Query,
    Read,
    Reading,
    Recognise,
    Repeat,
    Seq,
    Strategy,
    StrictSeq,
    Window,
    WindowUnit,
    Within,
    children,
    rebuild,
    walk,
)
from cepheid.algebra.registers import check_registers, stored_by
from cepheid.algebra.skips import Rounds, any_match, gap, next_match, repeated
from cepheid.algebra.variables import bound, defined, defined_once, is_iteration, sets, with_sets
from cepheid.errors import CepheidError
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
    false: no variable but sets, as in the paper on PART-BY. Of 100 parts `compared` get one more filter, over two
    variables."""

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
    compared: int = 0


ANYTHING = Limits()
UNARY = Limits(nary=False)
SETS = Limits(events=10, atoms=4, sets=True)
SREMO = Limits(events=9, atoms=5)


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


@st.composite
def sremo_cases(draw: Draw, limits: Limits = SREMO) -> Case:
    """A Hypothesis strategy for queries of SREMO with a stream; `atoms` bounds the events that an expression
    describes."""
    return sremo_case(Drawn(draw), limits)


@st.composite
def sremo_queries(draw: Draw, limits: Limits = SREMO) -> Query:
    """A Hypothesis strategy for queries of SREMO alone."""
    return sremo_query(Drawn(draw), limits)


@st.composite
def readings(draw: Draw, limits: Limits = SREMO) -> Reading:
    """A Hypothesis strategy for expressions of SREMO alone; what they negate may need a window."""
    return reading(Drawn(draw), limits)


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
    query = query_for(choices, limits, pattern(choices, limits))
    timestamps = query.window is not None and query.window.unit is WindowUnit.MICROSECONDS
    return Case(query, stream(choices, limits, timestamps))


def of_two_types(case: Case) -> Case:
    """The same with two types of events only, so that more of what conditions compare is there."""
    two = dict(zip(TYPES, "ABABA", strict=True))

    def renamed(pattern: Pattern) -> Pattern:
        if isinstance(pattern, Atom) and pattern.type is not None:
            return replace(pattern, type=two[pattern.type])
        return rebuild(pattern, renamed)

    types = pa.array([two[name] for name in case.table["type"].to_pylist()], pa.string())
    place = case.table.column_names.index("type")
    query = replace(case.query, pattern=renamed(case.query.pattern))
    return Case(query, case.table.set_column(place, "type", types))


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
        "type": event_type(choices),
        "ts": time,
        "id": pick(choices, (0, 0, 0, 0, 0, 0, 1, 1, None)),
        "n": pick(choices, (0, 1, 2, 3, -1, None)),
        "v": pick(choices, (*REALS, None)),
        "s": pick(choices, ("a", "a", "a", "a", "a", "a", *TEXTS, None)),
    }


def event_type(choices: Choices) -> str:
    """The first types are the more frequent ones, in streams and in patterns, so that patterns do match."""
    return TYPES[min(choices.below(5), choices.below(5), choices.below(5))]


# Conditions


def unary_condition(choices: Choices, var: str | None, depth: int = 1) -> Condition:
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


def nary_condition(choices: Choices, one: str | None, two: str, depth: int = 1) -> Condition:
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


def _number(choices: Choices, var: str | None) -> Expression:
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
        return Or((left, _shape(choices, limits, split, taken)))
    if limits.sets and chance(choices, limits.any_order):
        return All(left, _shape(choices, limits, split, taken))
    right = _shape(choices, limits, split, taken | defined_once(left))
    return StrictSeq(left, right) if chance(choices, limits.strict) else Seq(left, right)


def _atom(choices: Choices, limits: Limits, taken: frozenset[str]) -> Atom:
    type = event_type(choices)
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
    if limits.compared and len(known) > 1 and chance(choices, limits.compared):
        first = pick(choices, sorted(known))
        result = Filter(result, nary_condition(choices, first, pick(choices, sorted(known - {first}))))
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


def query_for(choices: Choices, limits: Limits, pattern: Pattern) -> Query:
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


# SREMO

REGISTERS = ("r", "s", "t")


def seeded_sremo(seed: int, limits: Limits = SREMO) -> Case:
    """The case of SREMO that belongs to a seed."""
    return sremo_case(Seeded(seed), limits)


def sremo_case(choices: Choices, limits: Limits = SREMO) -> Case:
    query = sremo_query(choices, limits)
    assert isinstance(query.pattern, Recognise)
    timestamps = WindowUnit.MICROSECONDS in (window.unit for window in _windows(query))
    return Case(query, stream(choices, limits, timestamps))


def _windows(query: Query) -> Iterator[Window]:
    assert isinstance(query.pattern, Recognise)
    if query.window is not None:
        yield query.window
    for node in walk(query.pattern.reading):
        if isinstance(node, Within):
            yield node.window


def sremo_query(choices: Choices, limits: Limits = SREMO) -> Query:
    units = pick(
        choices, ((WindowUnit.EVENTS, WindowUnit.PLAIN), (WindowUnit.EVENTS, WindowUnit.MICROSECONDS))
    )
    read = reading(choices, limits, units)
    window = _window(choices, pick(choices, (None, *units))) if None in limits.windows else None
    window = window or (_window(choices, pick(choices, units)) if _needs_window(read) else None)
    return Query(
        Recognise(read),
        partition_by=pick(choices, ((), (), (), ("id",))),
        window=window,
        consume=chance(choices, 15),
    )


def _needs_window(read: Reading) -> bool:
    try:
        check_registers(read, None)
    except CepheidError as error:
        if error.code != "needs-window":
            raise
        return True
    return False


def reading(
    choices: Choices,
    limits: Limits = SREMO,
    units: Sequence[WindowUnit] = (WindowUnit.EVENTS, WindowUnit.PLAIN),
) -> Reading:
    """An expression that can match: its registers are read where they may be stored, and its last event is marked."""
    events = 1 + min(choices.below(limits.atoms), choices.below(limits.atoms))
    read = _reading(choices, events, frozenset(), REGISTERS, units)
    last = _read(choices, stored_by(read), REGISTERS, marked=True)
    if _can_match(read) and chance(choices, 70):
        return read
    return pick(choices, (Concat((read, last)), Concat((read, SKIP, last))))


def _can_match(read: Reading) -> bool:
    try:
        check_registers(read, Window(1, WindowUnit.EVENTS))
    except CepheidError as error:
        if error.code != "unsatisfiable":
            raise
        return False
    return True


def _reading(
    choices: Choices,
    events: int,
    stored: frozenset[str],
    names: tuple[str, ...],
    units: Sequence[WindowUnit],
) -> Reading:
    """An expression that describes so many events. `stored`: registers that may hold an event before it; `names`: those
    that it may store."""

    def further(count: int, before: frozenset[str] = stored, allowed: tuple[str, ...] = names) -> Reading:
        return _reading(choices, count, before, allowed, units)

    if events == 1 and chance(choices, 60):
        return _read(choices, stored, names)
    if chance(choices, 25):
        return _around(choices, further(events), units)
    if events == 1:
        return _again(choices, _read(choices, stored, names))
    if names and chance(choices, 15):
        return _chained(choices, further, names)
    split = 1 + choices.below(events - 1)
    left = further(events - split)
    match choices.below(10):
        case 0 | 1 | 2:
            return Concat((left, further(split, stored | stored_by(left))))
        case 3 | 4:
            return any_match(
                [_rounds(choices, left), _rounds(choices, further(split, stored | stored_by(left)))]
            )
        case 5:
            return next_match(
                [_rounds(choices, left), _rounds(choices, further(split, stored | stored_by(left)))]
            )
        case 6 | 7:
            return Or((left, further(split)))
        case _:
            return _both(choices, left, lambda free: further(split, stored, free), names)


def _chained(
    choices: Choices, further: Callable[[int, frozenset[str]], Reading], names: tuple[str, ...]
) -> Reading:
    """Rounds that read what an earlier round, or the event before the first, has stored."""
    register = pick(choices, names)
    first = replace(_read(choices, frozenset(), names), register=register)
    body = further(1, frozenset([register]))
    if register not in stored_by(body):
        body = Concat((body, replace(_read(choices, frozenset([register]), names), register=register)))
    rounds = Iterate(pick(choices, (body, Concat((SKIP, body)))))
    return Concat((first, rounds))


def _both(
    choices: Choices, left: Reading, other: Callable[[tuple[str, ...]], Reading], names: tuple[str, ...]
) -> Reading:
    """Two sides that often agree: a mask that marks or not, or the same with more asked."""
    free = tuple(name for name in names if name not in stored_by(left))
    if chance(choices, 30):
        return Both(left, other(free))
    marked, unmarked = (_read(choices, frozenset(), free, marked=marked) for marked in (True, False))
    plain = pick(choices, (TRUE, TRUE, unary_condition(choices, None)))
    mask = Iterate(
        Or((replace(marked, condition=plain), unmarked if chance(choices, 30) else Read(TRUE, False)))
    )
    return Both(left, mask) if chance(choices, 70) else Both(mask, left)


def _around(choices: Choices, body: Reading, units: Sequence[WindowUnit]) -> Reading:
    match choices.below(5):
        case 0 | 1:
            window = _window(choices, pick(choices, units))
            assert window is not None
            return Within(body, window)
        case 2:
            return Complement(body)
        case 3:
            return gap(body)
        case _:
            return _again(choices, body)


def _again(choices: Choices, body: Reading) -> Reading:
    between = pick(choices, (None, None, SKIP))
    return repeated(_rounds(choices, body, 100), between)


def _rounds(choices: Choices, body: Reading, percent: int = 30) -> Rounds:
    bounds = pick(choices, ((1, None), (0, None), (0, 1), (1, 2), (2, 2), (2, None)))
    return Rounds(body, *bounds) if chance(choices, percent) else Rounds(body)


def _read(
    choices: Choices, stored: frozenset[str], names: tuple[str, ...], marked: bool | None = None
) -> Read:
    condition: Condition = Comparison("=", Attribute(None, "type"), Literal(event_type(choices)))
    if chance(choices, 35):
        condition = TRUE if chance(choices, 50) else unary_condition(choices, None)
    if stored and chance(choices, 50):
        relation = nary_condition(choices, None, pick(choices, sorted(stored)))
        condition = relation if condition == TRUE else Conjunction((condition, relation))
    register = pick(choices, names) if names and chance(choices, 35) else None
    return Read(condition, chance(choices, 70) if marked is None else marked, register)
