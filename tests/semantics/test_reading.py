"""What a SREMO reads: the paper's examples, each definition on its own, and a second reading of the definitions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given, settings

from cepheid.algebra.conditions import TRUE, Attribute, Comparison, Condition, IsNull, Literal, variables
from cepheid.algebra.nodes import (
    ANY,
    EPSILON,
    EVENTS,
    SKIP,
    Both,
    Complement,
    Concat,
    Iterate,
    Or,
    Query,
    Read,
    Reading,
    Recognise,
    Window,
    WindowUnit,
    Within,
)
from cepheid.languages import lower, parse
from cepheid.semantics.oracle import evaluate
from cepheid.semantics.reading import EMPTY, Reader, Valuation, Way, recognised
from cepheid.semantics.stream import Event, Stream
from cepheid.semantics.values import holds
from support.generators import Case, Limits, readings, sremo_cases
from support.generators import streams as random_streams
from support.paper_example import TABLE_1


def type_is(type: str) -> Condition:
    return Comparison("=", Attribute(None, "type"), Literal(type))


def reading_of(text: str) -> Reading:
    pattern = lower(parse(text, "sremo")).pattern
    assert isinstance(pattern, Recognise)
    return pattern.reading


EQUATION_1 = reading_of("[type = 'B'] > r1 . any* . [type = 'S' AND id = r1.id]")


def letters(types: str, *values: int) -> list[Event]:
    numbers = values or range(len(types))
    rows = zip(types, numbers, strict=True)
    return [Event(type, time, {"type": type, "v": v}) for time, (type, v) in enumerate(rows)]


def ways(reading: Reading, stream: Stream, start: int = 0, valuation: Valuation = EMPTY) -> set[Way]:
    return set(Reader(stream).ways(reading, start, valuation))


# The paper


def test_a_condition_is_satisfied_by_the_head_and_a_register() -> None:
    """Example 3.2: TypeIsS(~) ∧ EqualId(~, r1)."""
    assert isinstance(EQUATION_1, Concat)
    last = EQUATION_1.parts[-1]
    assert ways(last, TABLE_1, 3, frozenset([("r1", 0)])) == {Way(4, (3,), frozenset([("r1", 0)]))}
    assert ways(last, TABLE_1, 3, frozenset([("r1", 2)])) == set()
    assert ways(last, TABLE_1, 3, EMPTY) == set()


def test_the_first_element_is_marked_and_stored() -> None:
    """Example 3.5: after the first element r1 holds (B, 1, 22, 300)."""
    assert isinstance(EQUATION_1, Concat)
    assert ways(EQUATION_1.parts[0], TABLE_1) == {Way(1, (0,), frozenset([("r1", 0)]))}


def test_the_strings_and_matches_of_example_3_7() -> None:
    """S₁..₄ is accepted with M = {1, 4}, and S₁..₅ with M = {1, 5}; here positions count from 0."""
    from_first = {(way.end, way.marked) for way in ways(EQUATION_1, TABLE_1)}
    assert from_first == {(4, (0, 3)), (5, (0, 4))}


def test_the_run_of_example_4_5_is_among_those_recognised() -> None:
    assert recognised(EQUATION_1, TABLE_1) == {(0, 3), (0, 4), (1, 3), (1, 4)}


def test_skip_till_any_match_is_definition_4_13() -> None:
    assert reading_of("#([type = 'B'] > r1, [type = 'S' AND id = r1.id])") == EQUATION_1


# Each definition


def test_the_empty_expression_reads_nothing_and_changes_nothing() -> None:
    held = frozenset([("r", 0)])
    assert ways(EPSILON, letters("AB"), 1, held) == {Way(1, (), held)}


def test_a_terminal_reads_exactly_one_event() -> None:
    assert ways(Read(TRUE), letters("AB"), 1) == {Way(2, (1,), EMPTY)}
    assert ways(Read(TRUE), letters("AB"), 2) == set()
    assert ways(ANY, letters("A")) == {Way(1, (), EMPTY)}


def test_an_unmarked_event_can_be_stored() -> None:
    assert ways(Read(TRUE, marked=False, register="r"), letters("A")) == {Way(1, (), frozenset([("r", 0)]))}


def test_storing_replaces_what_a_register_held() -> None:
    held = frozenset([("r", 0), ("s", 0)])
    assert ways(Read(TRUE, register="r"), letters("AB"), 1, held) == {
        Way(2, (1,), frozenset([("r", 1), ("s", 0)]))
    }


def test_a_condition_on_an_empty_register_does_not_hold_even_where_sql_would_say_so() -> None:
    assert ways(Read(IsNull(Attribute("r", "v"))), letters("A")) == set()


def test_concatenation_threads_the_registers_from_left_to_right() -> None:
    rises = Read(Comparison(">", Attribute(None, "v"), Attribute("r", "v")))
    both = Concat((Read(TRUE, register="r"), rises))
    assert recognised(both, letters("AAA", 1, 2, 1)) == {(0, 1)}
    assert recognised(Concat((rises, Read(TRUE, register="r"))), letters("AAA", 1, 2, 1)) == set()


def test_iteration_threads_the_registers_through() -> None:
    first = Read(TRUE, register="r")
    rises = Read(Comparison(">", Attribute(None, "v"), Attribute("r", "v")), register="r")
    rising = Concat((first, Iterate(rises)))
    found = recognised(rising, letters("AAAA", 1, 2, 5, 3))
    assert found == {(0,), (1,), (2,), (3,), (0, 1), (1, 2), (0, 1, 2)}


def test_an_iteration_of_what_reads_nothing_ends() -> None:
    assert ways(Iterate(Or((EPSILON, ANY))), letters("AB")) == {Way(end, (), EMPTY) for end in range(3)}


def test_both_sides_read_the_same_and_mark_the_same() -> None:
    stream = letters("AB")
    marked, unmarked = Read(TRUE), ANY
    assert ways(Both(marked, marked), stream) == {Way(1, (0,), EMPTY)}
    assert ways(Both(marked, unmarked), stream) == set()
    assert ways(Both(Concat((marked, marked)), Iterate(marked)), stream) == {Way(2, (0, 1), EMPTY)}


def test_each_side_stores_for_what_follows_and_not_for_the_other() -> None:
    same = Comparison("=", Attribute(None, "v"), Attribute("r", "v"))
    left = Concat((Read(TRUE, register="r"), Read(TRUE)))
    assert ways(Both(left, Concat((Read(TRUE), Read(same)))), letters("AA", 1, 1)) == set()
    right = Concat((Read(TRUE), Read(TRUE, register="s")))
    assert ways(Both(left, right), letters("AA")) == {Way(2, (0, 1), frozenset([("r", 0), ("s", 1)]))}


def test_a_register_that_one_side_may_store_keeps_what_it_held_where_it_does_not() -> None:
    held = frozenset([("r", 0)])
    left = Or((Read(type_is("A"), register="r"), Read(type_is("B"))))
    assert ways(Both(left, Read(TRUE)), letters("AB"), 1, held) == {Way(2, (1,), held)}


def test_a_complement_reads_what_its_body_cannot_and_marks_and_stores_nothing() -> None:
    body = Read(type_is("A"), register="r")
    assert ways(Complement(body), letters("AB")) == {Way(0, (), EMPTY), Way(2, (), EMPTY)}
    assert ways(Complement(SKIP), letters("AB")) == set()
    assert ways(Complement(Complement(body)), letters("AB")) == {Way(1, (), EMPTY)}


def test_a_complement_sees_the_registers() -> None:
    same = Read(Comparison("=", Attribute(None, "v"), Attribute("r", "v")))
    different = Concat((Read(TRUE, register="r"), Both(ANY, Complement(same)), Read(TRUE)))
    assert recognised(different, letters("AAA", 1, 2, 1)) == {(0, 2)}
    assert recognised(different, letters("AAA", 1, 1, 1)) == set()


@pytest.mark.parametrize(
    ("window", "found"),
    [
        (Window(1, WindowUnit.PLAIN), {(0, 1), (2, 3)}),
        (Window(9, WindowUnit.PLAIN), {(0, 1), (2, 3), (1, 3)}),
        (Window(2, WindowUnit.EVENTS), {(0, 1), (2, 3)}),
        (Window(3, WindowUnit.EVENTS), {(0, 1), (2, 3), (1, 3)}),
    ],
)
def test_a_window_bounds_the_marked_events(window: Window, found: set[tuple[int, ...]]) -> None:
    times, types = (0, 1, 9, 10), "ABXB"
    stream = [Event(type, time, {"type": type}) for type, time in zip(types, times, strict=True)]
    b = Read(type_is("B"))
    pairs = Or((Concat((Read(TRUE), b)), Concat((b, ANY, b))))
    assert recognised(Within(pairs, window), stream) == found


def test_a_window_lets_pass_what_marks_nothing() -> None:
    far_apart = Within(Concat((ANY, ANY, ANY)), Window(1, WindowUnit.EVENTS))
    assert recognised(Concat((far_apart, Read(TRUE))), letters("AAAA")) == {(3,)}


def test_a_run_that_ends_without_a_mark_is_not_recognised() -> None:
    assert recognised(Concat((Read(TRUE), ANY)), letters("AB")) == set()
    assert recognised(Concat((Read(TRUE), Or((ANY, EPSILON)))), letters("AB")) == {(0,), (1,)}
    assert recognised(SKIP, letters("AB")) == set()


# The query around


def test_every_event_is_shown() -> None:
    (match,) = evaluate(Query(Recognise(Concat((Read(type_is("A")), Read(type_is("B")))))), letters("AB"))
    assert match.binding == {(EVENTS, 0), (EVENTS, 1)}


def test_a_partition_is_a_stream_of_its_own() -> None:
    query = Query(Recognise(Concat((Read(TRUE), Read(TRUE)))), partition_by=("v",))
    assert [match.positions for match in evaluate(query, letters("AAAA", 0, 1, 1, 0))] == [(1, 2), (0, 3)]


def test_consume_forgets_events_that_were_read_too() -> None:
    query = Query(Recognise(Concat((ANY, Read(type_is("B"))))), consume=True)
    assert [match.positions for match in evaluate(query, letters("ABBAB"))] == [(1,), (4,)]


@pytest.mark.parametrize("lead", [0, 1, 3, 8])
def test_events_before_the_window_are_read_in_long_streams_too(lead: int) -> None:
    """Longer than what is run at once, so that it goes window by window."""
    start = Read(type_is("A"), marked=False, register="r") if lead else Read(TRUE, register="r")
    follows = Comparison("=", Attribute(None, "v"), Attribute("r", "v"))
    reading = Concat((start, *[ANY] * max(0, lead - 1), Read(follows)))
    stream = letters("A" * 30, *([1, 2, 3] * 10))
    query = Query(Recognise(reading), window=Window(1, WindowUnit.EVENTS))
    expected = {events for events in recognised(reading, stream) if len(events) == 1}
    assert {match.positions for match in evaluate(query, stream)} == expected
    assert bool(expected) == (lead == 3)


# The definitions a second time: every string, every set of marks


def subsets(start: int, end: int) -> Iterator[frozenset[int]]:
    for size in range(end - start + 1):
        for chosen in itertools.combinations(range(start, end), size):
            yield frozenset(chosen)


def stores(reading: Reading) -> set[str]:
    match reading:
        case Read(_, _, register):
            return {register} - {None}
        case Complement():
            return set()
        case Concat(parts) | Or(parts):
            return set().union(*map(stores, parts))
        case Both(left, right):
            return stores(left) | stores(right)
        case Iterate(body) | Within(body):
            return stores(body)


class Tried:
    """(e, S[i:j], M, v) ⊢ v', asked for one string and one set of marks at a time."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream

    def after(self, e: Reading, i: int, j: int, marks: frozenset[int], v: Valuation) -> set[Valuation]:
        """Every v'."""
        match e:
            case Read(condition, marked, register):
                wanted = frozenset([i]) if marked else frozenset()
                if j != i + 1 or marks != wanted or not self.satisfied(condition, i, dict(v)):
                    return set()
                return {v if register is None else frozenset({**dict(v), register: i}.items())}
            case Concat(()):
                return {v} if i == j and not marks else set()
            case Concat((first, *rest)):
                return self.split(first, Concat(tuple(rest)), range(i, j + 1), i, j, marks, v)
            case Or(parts):
                return set().union(*(self.after(part, i, j, marks, v) for part in parts))
            case Iterate(body):
                if i == j:
                    return {v} if not marks else set()
                return self.split(body, e, range(i + 1, j + 1), i, j, marks, v)
            case Both(left, right):
                right_stores = stores(right)
                return {
                    frozenset(
                        {pair for pair in one if pair[0] not in right_stores}
                        | {pair for pair in two if pair[0] in right_stores}
                    )
                    for one in self.after(left, i, j, marks, v)
                    for two in self.after(right, i, j, marks, v)
                }
            case Complement(body):
                readable = any(self.after(body, i, j, some, v) for some in subsets(i, j))
                return set() if marks or readable else {v}
            case Within(body, window):
                return self.after(body, i, j, marks, v) if self.fits(window, marks) else set()

    def split(
        self, one: Reading, two: Reading, cuts: range, i: int, j: int, marks: frozenset[int], v: Valuation
    ) -> set[Valuation]:
        found: set[Valuation] = set()
        for cut in cuts:
            for between in self.after(one, i, cut, frozenset(m for m in marks if m < cut), v):
                found |= self.after(two, cut, j, frozenset(m for m in marks if m >= cut), between)
        return found

    def satisfied(self, condition: Condition, position: int, registers: dict[str, int]) -> bool:
        if any(name not in registers for name in variables(condition)):
            return False
        events = {name: self.stream[place].attributes for name, place in registers.items()}
        return holds(condition, {None: self.stream[position].attributes, **events})

    def fits(self, window: Window, marks: frozenset[int]) -> bool:
        if not marks:
            return True
        if window.unit is WindowUnit.EVENTS:
            return max(marks) - min(marks) < window.amount
        return self.stream[max(marks)].time - self.stream[min(marks)].time <= window.amount

    def recognised(self, e: Reading) -> set[tuple[int, ...]]:
        return {
            tuple(sorted(marks))
            for i in range(len(self.stream))
            for j in range(i + 1, len(self.stream) + 1)
            for marks in subsets(i, j)
            if j - 1 in marks and self.after(e, i, j, marks, EMPTY)
        }


@settings(max_examples=400)
@given(readings(Limits(events=4, atoms=4)), random_streams(Limits(events=4)))
def test_the_oracle_finds_what_trying_everything_finds(reading: Reading, table: object) -> None:
    stream = Case(Query(Recognise(reading)), table).events
    assert recognised(reading, stream) == Tried(stream).recognised(reading)


@settings(max_examples=300)
@given(sremo_cases(Limits(events=18, atoms=4)))
def test_window_by_window_is_the_same_as_all_at_once(case: Case) -> None:
    query = case.query
    if query.consume or query.partition_by or not isinstance(query.pattern, Recognise):
        return
    events = case.events[:14]
    fits = Tried(events).fits
    expected = {
        found
        for found in recognised(query.pattern.reading, events)
        if query.window is None or fits(query.window, frozenset(found))
    }
    assert {match.positions for match in evaluate(query, events)} == expected
