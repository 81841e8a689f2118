"""Automata of SREMO: the paper's examples, and for random expressions exactly the matches of the definition."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import pytest
from hypothesis import HealthCheck, event, given, settings

from cepheid.algebra.conditions import (
    FALSE,
    TRUE,
    Attribute,
    Comparison,
    Condition,
    Conjunction,
    IsNull,
    Literal,
    variables,
)
from cepheid.algebra.nodes import EPSILON, Both, Complement, Concat, Iterate, Or, Read, Reading, Within
from cepheid.algebra.windows import Window, WindowUnit
from cepheid.automata.automaton import Automaton, Predicate
from cepheid.automata.construct_reading import NoAutomatonError, construct_reading
from cepheid.automata.guards import exclude, exclusions
from cepheid.automata.printing import automaton_dot, print_automaton
from cepheid.semantics.stream import Event, inside
from cepheid.semantics.values import holds
from support.literal_runs import simulate
from support.paper_example import TABLE_1
from support.random_sremo import (
    ANY,
    SKIP,
    ReadingCase,
    absent,
    crossed,
    plus,
    reading_case,
    reading_cases,
    remembering,
    seeded_reading,
    then_any,
    then_next,
)

Positions = frozenset[int]
Held = tuple[tuple[str, int], ...]
many = settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow], print_blob=True)


# ── the definition, written out ─────────────────────────────────────────────────────────────────────────────


def defined(reading: Reading, stream: list[Event], window: Window | None = None) -> set[Positions]:
    """The complex events by the definition of each operator, nothing else: all M with (e, S[i..j], M, #) ⊢ v' that end
    with the last event read."""

    @cache
    def ways(e: Reading, i: int, j: int, v: Held) -> frozenset[tuple[Positions, Held]]:
        """All (M, v') with (e, S[i..j), M, v) ⊢ v'."""
        match e:
            case Read(condition, marked, register):
                if j != i + 1 or not true_of(condition, i, dict(v)):
                    return frozenset()
                stored = {} if register is None else {register: i}
                return frozenset([(frozenset([i] if marked else []), held(dict(v) | stored))])
            case Concat(parts):
                if not parts:
                    return frozenset([(frozenset(), v)] if i == j else [])
                return joined(
                    (one, ways(Concat(parts[1:]), k, j, after))
                    for k in range(i, j + 1)
                    for one, after in ways(parts[0], i, k, v)
                )
            case Or(parts):
                return frozenset().union(*(ways(part, i, j, v) for part in parts))
            case Iterate(body):
                if i == j:
                    # Rounds that read nothing leave everything as it is.
                    return frozenset([(frozenset(), v)])
                return joined(
                    (one, ways(e, k, j, after))
                    for k in range(i + 1, j + 1)
                    for one, after in ways(body, i, k, v)
                )
            case Both(left, right):
                return frozenset(
                    (one, held({name: at for name, at in left_after if name not in stores(right)} | yours))
                    for one, left_after in ways(left, i, j, v)
                    for two, right_after in ways(right, i, j, v)
                    if one == two
                    for yours in [{name: at for name, at in right_after if name in stores(right)}]
                )
            case Complement(body):
                return frozenset() if ways(body, i, j, v) else frozenset([(frozenset(), v)])
            case Within(body, bound):
                return frozenset(
                    (one, after)
                    for one, after in ways(body, i, j, v)
                    if not one or inside(bound, stream, min(one), max(one))
                )

    def true_of(condition: Condition, at: int, v: dict[str, int]) -> bool:
        if not variables(condition) <= v.keys():
            return False
        return holds(
            condition, {None: stream[at].attributes, **{r: stream[p].attributes for r, p in v.items()}}
        )

    ends = range(1, len(stream) + 1)
    found = {one for j in ends for i in range(j) for one, _ in ways(reading, i, j, ()) if j - 1 in one}
    return {one for one in found if inside(window, stream, min(one), max(one))}


def held(valuation: dict[str, int]) -> Held:
    return tuple(sorted(valuation.items()))


def joined(
    pairs: Iterable[tuple[Positions, frozenset[tuple[Positions, Held]]]],
) -> frozenset[tuple[Positions, Held]]:
    return frozenset((one | two, after) for one, ways in pairs for two, after in ways)


def stores(reading: Reading) -> set[str]:
    """The registers that it can store; a complement stores nothing."""
    match reading:
        case Read(_, _, register):
            return set() if register is None else {register}
        case Concat(parts) | Or(parts):
            return set().union(*map(stores, parts))
        case Iterate(body) | Within(body):
            return stores(body)
        case Both(left, right):
            return stores(left) | stores(right)
        case Complement():
            return set()


def found_by(automaton: Automaton, stream: list[Event], window: Window | None = None) -> set[Positions]:
    return {frozenset(position for position, _ in marked) for marked in simulate(automaton, stream, window)}


def agrees(reading: Reading, stream: list[Event], window: Window | None = None) -> Automaton:
    automaton = construct_reading(reading, window=window)
    assert found_by(automaton, stream, window) == defined(reading, stream, window), (
        f"{reading}\n{print_automaton(automaton)}"
    )
    return automaton


# ── at random ───────────────────────────────────────────────────────────────────────────────────────────────


SEEDS = 250
KINDS = {"anything": reading_case, "crossed": crossed, "remembering": remembering}


@pytest.mark.parametrize("kind", KINDS)
def test_random_expressions_have_the_matches_of_their_definition(kind: str) -> None:
    @many
    @given(reading_cases(KINDS[kind]))
    def agree(case: ReadingCase) -> None:
        try:
            agrees(case.reading, case.stream, case.window)
        except NoAutomatonError:
            event("no transducer")

    agree()


@pytest.mark.parametrize("kind", KINDS)
def test_seeded_expressions_have_the_matches_of_their_definition(kind: str) -> None:
    matching = refused = 0
    for seed in range(SEEDS):
        case = seeded_reading(seed, KINDS[kind])
        try:
            automaton = construct_reading(case.reading, window=case.window)
        except NoAutomatonError:
            refused += 1
            continue
        expected = defined(case.reading, case.stream, case.window)
        assert found_by(automaton, case.stream, case.window) == expected, f"seed {seed}: {case}"
        matching += bool(expected)
    assert matching >= SEEDS / 5
    assert refused <= SEEDS / 10


@many
@given(reading_cases(reading_case))
def test_guards_look_at_registers_that_are_full(case: ReadingCase) -> None:
    """On every way to a transition its registers were written."""
    try:
        automaton = construct_reading(case.reading, window=case.window)
    except NoAutomatonError:
        return
    full: dict[int, frozenset[str]] = {0: frozenset()}
    waiting = [0]
    while waiting:
        state = waiting.pop()
        for one in automaton.transitions:
            if one.source == state:
                after = full[state] | one.writes
                known = full.get(one.target)
                if known is None or not known <= after:
                    full[one.target] = after if known is None else known & after
                    waiting.append(one.target)
    for one in automaton.transitions:
        assert one.guard.registers <= full[one.source], print_automaton(automaton)


@settings(many, max_examples=40)
@given(reading_cases(reading_case), reading_cases(reading_case))
def test_closed_under_union_concatenation_iteration_and_complement(
    one: ReadingCase, two: ReadingCase
) -> None:
    first, second, stream = one.reading, two.reading, one.stream
    for reading in (
        Or((first, second)),
        Concat((first, second)),
        Iterate(first),
        Concat((Read(TRUE), Complement(Complement(first)), Read(TRUE))),
        Concat((Read(TRUE), Complement(Or((Complement(first), Complement(second)))), Read(TRUE))),
    ):
        try:
            agrees(reading, stream)
        except NoAutomatonError:
            event("no transducer")


def test_the_same_expression_gives_the_same_text() -> None:
    for seed in range(50):
        case = seeded_reading(seed, remembering)
        again = seeded_reading(seed, remembering)
        assert text_of(case) == text_of(again)


def text_of(case: ReadingCase) -> str:
    try:
        return print_automaton(construct_reading(case.reading, window=case.window))
    except NoAutomatonError as error:
        return error.message


# ── the paper's examples ────────────────────────────────────────────────────────────────────────────────────


def when(left: str, op: str, right: str | int) -> Comparison:
    """Registers have a dot; other texts on the right are constants in quotes, or attributes."""
    return Comparison(op, _operand(left), _operand(right))


def _operand(given: str | int) -> Attribute | Literal:
    if isinstance(given, int):
        return Literal(given)
    if given.startswith("'"):
        return Literal(given.strip("'"))
    return Attribute(*given.split(".")) if "." in given else Attribute(None, given)


BUY = when("type", "=", "'B'")
SELL = when("type", "=", "'S'")
SAME = when("id", "=", "r1.id")
EQUATION_1 = Concat((Read(BUY, register="r1"), SKIP, Read(Conjunction((SELL, SAME)))))


def numbered(automaton: Automaton, window: Window | None = None) -> list[list[int]]:
    """The matches over table 1 by the paper's indices, which begin with 1."""
    return sorted(sorted(at + 1 for at in match) for match in found_by(automaton, TABLE_1, window))


def test_figure_1_is_the_transducer_of_equation_1() -> None:
    """Examples 4.2 and 4.9."""
    assert print_automaton(construct_reading(EQUATION_1)).splitlines() == [
        "register r1",
        "state 0, initial",
        "  mark any [type = 'B'], store r1 → 1",
        "state 1",
        "  mark any [type = 'S'] if id = r1.id → 2",
        "  skip → 1",
        "state 2, final",
    ]


def test_figure_1_is_drawn_with_its_register() -> None:
    assert automaton_dot(construct_reading(EQUATION_1)).splitlines() == [
        "digraph automaton {",
        "  rankdir=LR;",
        "  node [shape=circle];",
        "  start [shape=point];",
        "  2 [shape=doublecircle];",
        "  start -> 0;",
        "  0 -> 1 [label=\"any [type = 'B'], store r1\"];",
        "  1 -> 1 [style=dashed];",
        "  1 -> 2 [label=\"any [type = 'S'] if id = r1.id\"];",
        '  "register r1" [label="r1", shape=box, style=dashed];',
        "}",
    ]


def test_the_matches_of_equation_1_over_table_1() -> None:
    """Examples 3.7 and 4.5 give {1, 4} and {1, 5}; a run may also begin at event 2."""
    assert numbered(construct_reading(EQUATION_1)) == [[1, 4], [1, 5], [2, 4], [2, 5]]
    assert numbered(construct_reading(EQUATION_1), Window(3, WindowUnit.EVENTS)) == [[2, 4]]
    assert numbered(construct_reading(EQUATION_1), Window(3, WindowUnit.PLAIN)) == [[1, 4], [2, 4], [2, 5]]


def test_skipping_to_any_match_is_its_definition() -> None:
    """Definition 4.13."""
    assert construct_reading(
        then_any(Read(BUY, register="r1"), Read(Conjunction((SELL, SAME))))
    ) == construct_reading(EQUATION_1)


def test_skipping_to_the_next_match_passes_over_none() -> None:
    automaton = construct_reading(then_next(Read(BUY, register="r1"), Read(Conjunction((SELL, SAME)))))
    assert numbered(automaton) == [[1, 4], [2, 4]]
    assert "skip if not (id = r1.id AND type = 'S') → 1" in print_automaton(automaton)


# ── operators ───────────────────────────────────────────────────────────────────────────────────────────────

A, B = when("a", "=", 0), when("b", "=", 0)


def lines(reading: Reading, window: Window | None = None) -> list[str]:
    return print_automaton(construct_reading(reading, window=window)).splitlines()


def test_the_absence_of_a_condition_is_one_state() -> None:
    assert lines(Concat((Read(A), absent(Read(B)), Read(A)))) == [
        "state 0, initial",
        "  mark any [a = 0] → 1",
        "state 1",
        "  mark any [a = 0] → 2",
        "  skip if not (b = 0) → 1",
        "state 2, final",
    ]


def test_labels_are_shown_only_when_asked_for() -> None:
    assert {one.label for one in construct_reading(Read(A)).transitions} == {frozenset(["events"])}
    assert {one.label for one in construct_reading(Read(A), shown=()).transitions} == {frozenset()}
    unmarked = construct_reading(Concat((ANY, Read(A)))).transitions[0]
    assert not unmarked.label


def test_what_is_never_looked_at_is_not_stored() -> None:
    assert lines(Concat((Read(A, register="r1"), Read(B, register="r2")))) == [
        "state 0, initial",
        "  mark any [a = 0] → 1",
        "state 1",
        "  mark any [b = 0] → 2",
        "state 2, final",
    ]


@pytest.mark.parametrize(
    "reading",
    [
        EPSILON,
        SKIP,
        Read(FALSE),
        Or(()),
        Read(when("a", "=", "r1.a")),
        Concat((Read(A), ANY)),
        Complement(Read(A)),
        Read(Conjunction((when("a", "=", 0), when("a", "=", 1)))),
        Concat((Read(A), Complement(SKIP), Read(A))),
        Both(Read(A), Read(A, marked=False)),
    ],
    ids=str,
)
def test_what_matches_nothing_has_no_transitions(reading: Reading) -> None:
    assert construct_reading(reading) == Automaton(1, (), frozenset())


def test_a_run_may_begin_anywhere_so_leading_skips_are_dropped() -> None:
    assert construct_reading(Concat((SKIP, Read(A)))) == construct_reading(Read(A))
    both = construct_reading(Iterate(Or((Read(A), ANY))))
    assert [one.label is not None for one in both.transitions] == [True, False]


def test_iterations_pass_registers_on() -> None:
    assert lines(Concat((Read(TRUE, register="r1"), plus(Read(when("a", ">", "r1.a"), register="r1"))))) == [
        "register r1",
        "state 0, initial",
        "  mark any, store r1 → 1",
        "state 1",
        "  mark any if a > r1.a, store r1 → 2",
        "state 2, final",
        "  mark any if a > r1.a, store r1 → 2",
    ]


def test_intersection_asks_for_both_and_reads_what_was_there_before() -> None:
    """One side stores in r1 what the other compares with the r1 of before: two registers, turn and turn about."""
    left = Concat((Read(TRUE, register="r1"), Read(TRUE)))
    right = Concat((Read(A), Read(when("a", "<", "r1.a"))))
    assert lines(Concat((Read(TRUE, register="r1"), Iterate(Both(left, right))))) == [
        "registers r1, r1_2",
        "state 0, initial",
        "  mark any, store r1 → 1",
        "state 1, final",
        "  mark any [a = 0], store r1_2 → 2",
        "state 2",
        "  mark any if a < r1.a → 3",
        "state 3, final",
        "  mark any [a = 0], store r1 → 4",
        "state 4",
        "  mark any if a < r1_2.a → 1",
    ]


def test_a_side_that_need_not_store_leaves_what_was_there() -> None:
    sometimes = Both(Or((Read(A, register="r1"), Read(B))), Read(TRUE))
    reading = Concat((Read(TRUE, register="r1"), sometimes, Read(when("a", ">", "r1.a"))))
    stream = [
        Event(None, at, {"a": a, "b": b})
        for at, (a, b) in enumerate([(1, 1), (2, 0), (3, 1), (0, 2), (1, 3)])
    ]
    assert found_by(agrees(reading, stream), stream) == {frozenset([0, 1, 2]), frozenset([2, 3, 4])}


def test_a_second_register_has_a_name_that_nobody_uses() -> None:
    left = Concat((Read(TRUE, register="r1"), Read(TRUE, register="r1_2")))
    right = Concat((Read(TRUE), Read(when("a", "<", "r1.a"))))
    end = Read(Conjunction((when("a", "<", "r1.a"), when("a", "<", "r1_2.a"))))
    written = lines(Concat((Read(TRUE, register="r1"), Both(left, right), end)))
    assert written[0] == "registers r1, r1_2, r1_3"


def test_a_window_inside_keeps_its_first_event() -> None:
    inner = Within(then_any(Read(A), Read(B)), Window(5, WindowUnit.PLAIN))
    assert lines(then_any(inner, Read(A))) == [
        "register first",
        "state 0, initial",
        "  mark any [a = 0], store first → 1",
        "state 1",
        "  mark any [b = 0] if within 5 of first → 2",
        "  skip → 1",
        "state 2",
        "  mark any [a = 0] → 3",
        "  skip → 2",
        "state 3, final",
    ]


def test_an_event_that_opens_a_window_and_is_stored_is_kept_once() -> None:
    inner = Within(
        then_any(Read(A, register="r1"), Read(when("a", "<", "r1.a"))), Window(5, WindowUnit.PLAIN)
    )
    assert lines(inner)[0] == "register r1"


# ── complements that store ──────────────────────────────────────────────────────────────────────────────────

FALLS = (Read(A, register="r1"), Read(when("b", "<", "r1.b")))


def test_a_complement_that_forgets_in_time_needs_no_window() -> None:
    """Only the event before is compared with, so one register is enough."""
    assert lines(Concat((Read(A), absent(Concat(FALLS)), Read(A)))) == [
        "register r1",
        "state 0, initial",
        "  mark any [a = 0] → 1",
        "state 1",
        "  mark any [a = 0] → 3",
        "  skip any [a = 0], store r1 → 2",
        "  skip if not (a = 0) → 1",
        "state 2",
        "  mark any [a = 0] → 3",
        "  skip any [a = 0] if not (b < r1.b), store r1 → 2",
        "  skip if not (a = 0), not (b < r1.b) → 1",
        "state 3, final",
    ]


def test_a_complement_is_unrolled_to_the_length_of_its_window() -> None:
    """Theorem 4.11 and corollary 4.12: of five events three lie between the marked ones; two are remembered."""
    remembers = Concat((Read(A), absent(then_any(*FALLS)), Read(A)))
    short = construct_reading(remembers, window=Window(5, WindowUnit.EVENTS))
    assert print_automaton(short).splitlines()[0] == "registers r1, r1_2"
    for length in (6, 8):
        longer = construct_reading(remembers, window=Window(length, WindowUnit.EVENTS))
        assert longer.states > short.states
    for window in (None, Window(5, WindowUnit.PLAIN), Window(40, WindowUnit.EVENTS)):
        with pytest.raises(NoAutomatonError, match="more than 12 events at once"):
            construct_reading(remembers, window=window)


def test_before_the_first_mark_no_window_bounds_a_complement() -> None:
    with pytest.raises(NoAutomatonError):
        construct_reading(Concat((absent(then_any(*FALLS)), Read(A))), window=Window(4, WindowUnit.EVENTS))


def test_windows_inside_a_complement() -> None:
    def around(window: Window) -> Reading:
        return Concat((Read(A), absent(Within(then_any(Read(A), Read(B)), window)), Read(A)))

    stream = [
        Event(None, at, {"a": a, "b": b})
        for at, (a, b) in enumerate([(0, 1), (0, 1), (1, 1), (1, 0), (0, 1)])
    ]
    for amount in range(1, 5):
        agrees(around(Window(amount, WindowUnit.EVENTS)), stream)
    with pytest.raises(NoAutomatonError, match="window of its own"):
        construct_reading(around(Window(3, WindowUnit.PLAIN)))


def test_a_counted_window_that_is_over_lets_nothing_be_marked() -> None:
    """The body reads a run of at least two, all marked, within two events: so exactly two."""
    pairs = Within(Concat((Read(A), plus(Read(A)))), Window(2, WindowUnit.EVENTS))
    reading = Concat((Read(B), Complement(pairs), Read(B)))
    stream = [Event(None, at, {"a": 0, "b": int(0 < at < 4)}) for at in range(5)]
    assert found_by(agrees(reading, stream), stream) == {frozenset([0, 4])}
    assert found_by(agrees(reading, stream[1:4] + stream[:1]), stream[1:4] + stream[:1]) == set()


def test_long_sequences_are_as_long_as_they_are() -> None:
    steps = [Read(when("b", "<", f"r{step - 1}.b") if step else A, register=f"r{step}") for step in range(60)]
    automaton = construct_reading(then_any(*steps))
    assert (automaton.states, len(automaton.transitions)) == (61, 119)


def test_what_is_too_large_is_refused() -> None:
    with pytest.raises(NoAutomatonError, match="more than 512 states"):
        construct_reading(Concat((Read(A),) * 600))
    deep: Reading = Read(A)
    for _ in range(200):
        deep = Iterate(deep)
    with pytest.raises(NoAutomatonError, match="nested more than"):
        construct_reading(deep)


def test_exclusions_are_those_of_every_pair() -> None:
    names = [Attribute(None, "v"), Attribute("x", "v"), Attribute(None, "w")]
    values = [Literal(1), Literal(2), Literal(True), Literal("1"), Literal(2**60), Literal(2**60 + 1)]
    conditions: list[Condition | None] = [None, IsNull(names[0])]
    conditions += [Comparison(op, one, two) for op in ("=", "<") for one in names for two in values]
    conditions += [Comparison("=", two, one) for one in names for two in values]
    tests = [Predicate(type, condition) for type in (None, "A", "B") for condition in conditions]
    assert exclusions(tests) == [
        {number for number, other in enumerate(tests) if exclude(other, test)} for test in tests
    ]
