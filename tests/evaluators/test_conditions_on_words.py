"""Conditions of several events on words: what the definition says of the events."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numba
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
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
    IsTrue,
    Like,
    Literal,
    Negation,
    rebuild,
)
from cepheid.errors import CepheidError
from cepheid.evaluators.configurations.guards import CompiledTests
from cepheid.evaluators.configurations.word_forms import NoTestError, computes_times
from cepheid.kernels.compiled import KernelCompiler
from cepheid.kernels.conditions import programs as kernel
from cepheid.kernels.conditions.programs import NULL_WORD
from cepheid.schema import Schema
from cepheid.semantics import values as definition
from cepheid.streams.plain import plain_table
from support import random_conditions as expressions
from support.condition_agreement import check, columns, schema_for
from support.generators import Choices, Drawn, Seeded, chance, pick
from support.random_conditions import LARGE, NAN, NUMBERS, REALS, TEXTS

OPERATORS = ("=", "<>", "<", "<=", ">", ">=")
EVENTS: tuple[str | None, ...] = (None, "r", "q")


def given_to(
    choices: Choices, expression: Expression, chosen: str | None, decided: bool = False
) -> Expression:
    """The expression with its attributes given to several events: all below a node to one, or each to its own."""
    if not decided and chance(choices, 35):
        chosen, decided = pick(choices, EVENTS), True
    if isinstance(expression, Attribute):
        return Attribute(chosen if decided else pick(choices, EVENTS), expression.name)
    return rebuild(expression, lambda child: given_to(choices, child, chosen, decided))


def condition(choices: Choices) -> Condition:
    """Half are comparisons of two events, plain or nearly so."""
    if chance(choices, 50):
        return given_to(choices, expressions.condition(choices), None)
    kind = pick(choices, (expressions.Kind.NUMBER, *expressions.ORDERED))
    left, right = (expressions.expression(choices, kind, choices.below(2)) for _ in range(2))
    one, other = pick(choices, ((None, "r"), ("r", None), ("q", "r")))
    compared = Comparison(
        pick(choices, ("=", *OPERATORS)),
        given_to(choices, left, one, True),
        given_to(choices, right, other, True),
    )
    return pick(
        choices, (compared, compared, Negation(compared), IsTrue(compared), Negation(IsTrue(compared)))
    )


def compiled(conditions: Sequence[Condition], schema: Schema) -> tuple[list[Condition], CompiledTests]:
    """The conditions that have a compiled form, and their tests."""
    fit = []
    for one in conditions:
        try:
            CompiledTests([one], schema)
        except NoTestError:
            continue
        fit.append(one)
    return fit, CompiledTests(fit, schema)


@settings(max_examples=150)
@given(st.data())
def test_conditions_hold_of_words_as_of_events(data: st.DataObject) -> None:
    check_some(Drawn(data.draw))


@pytest.mark.parametrize("seed", range(40))
def test_many_conditions_hold_of_words_as_of_events(seed: int) -> None:
    choices = Seeded(seed)
    assert sum(check_some(choices, 6) for _ in range(20)) == 120


def check_some(choices: Choices, count: int = 3) -> int:
    table = plain_table(expressions.table(choices))
    drawn = [expressions.typed(condition(choices), table) for _ in range(count)]
    beyond = [one for one in drawn if computes_times(one) and _is_refused(one, table)]
    conditions, ours = compiled([one for one in drawn if one not in beyond], schema_for(table))
    if len(table):
        check(conditions, table, ours)
    return len(conditions) + len(beyond)


def _is_refused(condition: Condition, table: pa.Table) -> bool:
    """Whether a sum or product of times of one event leaves 64 bits, which is an error."""
    try:
        CompiledTests([condition], schema_for(table)).of(table, np.arange(len(table)))
    except NoTestError:
        return False
    except CepheidError as error:
        if error.code != "bad-data":
            raise
        return True
    return False


def of(name: str, register: str = "r") -> Attribute:
    return Attribute(register, name)


def here(name: str) -> Attribute:
    return Attribute(None, name)


NUMBER_COLUMNS = {
    "i": ([*NUMBERS, *LARGE], pa.int64()),
    "u": ([0, 1, 5, 2**53 + 1, 2**63, 2**63 + 2**11, 2**64 - 1], pa.uint64()),
    "v": ([*REALS, -(2.0**63), 2.0**64], pa.float64()),
    "m": ([Decimal("0.1"), Decimal(7), None], pa.decimal128(25, 3)),
    "s": ([*NUMBERS, -128, None], pa.int8()),
}
TIME_COLUMNS = {
    "t": ([*expressions.TIMES, dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31)], pa.timestamp("us")),
    "tn": ([0, 1, -1, 1_700_000_000_123_456_789, 1_709_251_199_999_999_000], pa.timestamp("ns")),
    "tz": ([0, -1, 1_709_251_199_999], pa.timestamp("ms", expressions.PARIS)),
    "d": ([time.date() for time in expressions.TIMES], pa.date32()),
}
NUMBER_TABLE = columns(**NUMBER_COLUMNS)


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("table", [NUMBER_COLUMNS, TIME_COLUMNS])
def test_every_pair_of_numbers_and_of_times_compares_exactly(op: str, table: dict[str, Any]) -> None:
    pairs = list(itertools.product(table, repeat=2))
    compared = [Comparison(op, here(left), of(right)) for left, right in pairs]
    compared += [Negation(Comparison(op, of(left, "q"), of(right))) for left, right in pairs]
    check(compared, columns(**table), most=600)


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "%"])
def test_arithmetic_of_several_events_is_exact_and_null_where_it_leaves_64_bits(op: str) -> None:
    for left, right in itertools.product(("i", "u", "v"), repeat=2):
        result = Arithmetic(op, here(left), of(right))
        bounds = (Literal(0), Literal(-1), Literal(2**63 - 1), Literal(1.5), Literal(2**63 + 1))
        conditions = [IsNull(result), *(Comparison("<=", result, bound) for bound in bounds)]
        check(conditions, NUMBER_TABLE, most=600)


def test_a_remainder_of_numbers_without_a_sign_has_none() -> None:
    dividends, divisors = [2**63 + 5, 2**64 - 1, 7, 2**63], [2**64 - 1, 2**63, 3, 0]
    table = columns(
        u=(dividends, pa.uint64()), w=(divisors, pa.uint64()), i=([5, -1, 1, 2**63 - 1], pa.int64())
    )
    rest = Arithmetic("%", of("u"), of("w"))
    check([Comparison(op, here("i"), rest) for op in OPERATORS], table)
    check([Comparison("<=", Arithmetic("%", here("u"), of("w")), here("u"))], table)


@pytest.mark.parametrize("function", ["abs", "floor", "ceil", "sqrt", "ln", "exp", "sign"])
def test_functions_of_what_several_events_give(function: str) -> None:
    for name, change in (
        ("v", Arithmetic("-", here("v"), of("v"))),
        ("i", Call("least", (here("i"), of("v")))),
    ):
        result = Call(function, (change,))
        conditions = [
            IsNull(result),
            *(Comparison("<=", result, here(name)), Comparison("=", result, of("u"))),
        ]
        check(conditions, NUMBER_TABLE, most=600)


@pytest.mark.parametrize("digits", [(), (Literal(2),), (Literal(1.5),), (Literal(None),), (Literal(15),)])
def test_what_several_events_give_is_rounded(digits: tuple[Literal, ...]) -> None:
    for change in (Arithmetic("-", here("v"), of("v")), Call("least", (here("i"), of("v"), of("u")))):
        result = Call("round", (change, *digits))
        check(
            [IsNull(result), Comparison("=", result, change), Comparison("<", result, of("v"))],
            NUMBER_TABLE,
            most=600,
        )


def test_powers_of_one_event_to_another() -> None:
    power = Call("power", (here("v"), of("v")))
    check(
        [IsNull(power), *(Comparison("<=", power, Literal(real)) for real in REALS)],
        NUMBER_TABLE,
        most=600,
    )


@pytest.mark.parametrize("function", ["least", "greatest", "coalesce", "nullif"])
def test_one_of_several_events_values_is_chosen(function: str) -> None:
    for left, right in itertools.product(("i", "u", "v"), repeat=2):
        chosen = Call(function, (here(left), of(right)))
        conditions = [
            Comparison(op, chosen, other) for op in ("=", "<") for other in (here("i"), of("v"), Literal(1))
        ]
        check([IsNull(chosen), *conditions], NUMBER_TABLE)
    for left, right in itertools.product(("t", "tn"), repeat=2):
        check([Comparison("<=", Call(function, (here(left), of(right))), of("tn"))], columns(**TIME_COLUMNS))


LONG = (
    "a longer text",
    "a longer text and more",
    "a longer tex",
    "a longer texu",
    "日本 日本 日本",
    "日本 日本 日本 ",
)


def test_texts_of_several_columns_compare_by_characters() -> None:
    table = columns(
        a=([*TEXTS, *LONG, None], pa.string()),
        b=([None, *LONG, *TEXTS], pa.large_string()),
        c=([*LONG, None, *TEXTS], pa.dictionary(pa.int32(), pa.string())),
    )
    pairs = [("a", "a"), ("a", "b"), ("c", "a")]
    check([Comparison(op, here(one), of(other)) for op in OPERATORS for one, other in pairs], table, most=600)
    for function in ("startswith", "endswith", "contains"):
        check([Call(function, (here(one), of(other))) for one, other in pairs], table, most=600)
    check([Comparison(">", Call("length", (Call("least", (here("a"), of("b"))),)), Literal(2))], table)
    upper = Comparison("=", Call("upper", (here("a"),)), Call("upper", (of("b"),)))
    starts = Comparison("=", Call("substr", (here("a"), Literal(1), Literal(1))), of("b"))
    check([upper, starts, Like(of("a"), "a%"), In(here("a"), (of("b"), Literal("é"), Literal(None)))], table)
    check([Comparison("=", Call("coalesce", (of("a"), here("b"), Literal("x"))), Literal("a"))], table)


def test_null_and_nan_are_no_values() -> None:
    table = columns(v=([NAN, 1.0, None, 0.0, -0.0], pa.float64()), b=([True, False, None], pa.bool_()))
    conditions = [Comparison(op, here("v"), of("v")) for op in OPERATORS]
    conditions += [Negation(one) for one in conditions]
    conditions += [Negation(IsTrue(one)) for one in conditions[:6]]
    check(
        [*conditions, Comparison("=", here("b"), of("b")), Comparison("<", of("b"), here("b"))],
        table,
        most=1000,
    )
    check(
        [Disjunction((here("b"), of("b"))), Conjunction((of("b"), here("b"))), of("b"), Negation(of("b"))],
        table,
    )


def test_the_number_that_stands_for_null_is_a_number_where_numbers_are_compared() -> None:
    table = columns(
        i=([NULL_WORD, None, NULL_WORD - 1, 0], pa.int64()), u=([NULL_WORD + 2**64, None, 3], pa.uint64())
    )
    conditions = [
        Comparison(op, here(name), of(name)) for op in OPERATORS if op != "=" for name in ("i", "u")
    ]
    conditions += [
        Comparison("<", Arithmetic("-", here("i"), of("i")), Literal(1)),
        IsNull(Call("abs", (of("i"),))),
    ]
    check(conditions, table)
    for name in ("i", "u"):
        ours = CompiledTests([Comparison("=", here(name), of(name))], schema_for(table))
        with pytest.raises(CepheidError, match="has a value around"):
            ours.of(table, np.arange(len(table)))
        assert ours.of(table.slice(3), np.arange(1)).shape == (1, 2)


def test_a_double_may_have_any_bits() -> None:
    bits = np.array([NULL_WORD, NULL_WORD - 1, kernel.NULL_REAL, kernel.NULL_REAL - 1]).view(np.float64)
    table = columns(v=([*bits.tolist(), None], pa.float64()))
    check([Comparison(op, here("v"), of("v")) for op in OPERATORS], table)


def test_more_whole_columns_than_bits_of_a_word() -> None:
    names = [f"c{number}" for number in range(70)]
    table = columns(**{name: ([NULL_WORD, None, number], pa.int64()) for number, name in enumerate(names)})
    conditions = [Comparison("<", here(name), of(name)) for name in names]
    check(conditions, table, ours := CompiledTests(conditions, schema_for(table)))
    assert (ours.record, ours.words) == (72, 72)
    assert (ours.reads(0), ours.reads(69)) == (((0, 70),), ((69, 71),))


def test_what_is_kept_of_an_event() -> None:
    schema = schema_for(expressions.table(Seeded(0)))
    higher = Comparison(">", here("v"), of("v"))
    same = Comparison("=", here("s"), of("c"))
    sum_of_two = Comparison(
        "<", Arithmetic("+", here("f"), of("v")), Arithmetic("*", of("v", "q"), Literal(2))
    )
    ours = CompiledTests([higher, same, sum_of_two], schema)
    assert ours.registers == [("r",), ("r",), ("r", "q")]
    assert (ours.record, ours.words) == (3, 5)  # v, c, v * 2; then s as c has it, and f
    assert [ours.equality(number) for number in range(3)] == [None, (3, 0, 1), None]
    assert [ours.reads(number) for number in range(3)] == [((0,),), ((1,),), ((0,), (2,))]


def test_narrow_columns_need_no_bits_for_null() -> None:
    table = columns(s=([-128, None, 127], pa.int8()), t=(expressions.TIMES, pa.timestamp("us")))
    ours = CompiledTests([Comparison("<", here(name), of(name)) for name in ("s", "t")], schema_for(table))
    assert (ours.record, ours.words) == (2, 2)


def test_what_has_no_compiled_form_says_why() -> None:
    condition = Comparison("<", Arithmetic("+", here("i"), of("i")), Literal(2**64))
    with pytest.raises(NoTestError, match="is no number of 64 bits") as error:
        CompiledTests([condition], schema_for(expressions.table(Seeded(0))))
    assert error.value.code == "not-yet"


def test_a_batch_may_have_no_rows_and_a_condition_no_attributes() -> None:
    table = pa.table(
        {"k": pa.array([], pa.int64()), "v": pa.array([], pa.float64()), "s": pa.array([], pa.string())}
    )
    conditions = [
        Comparison("<", here("v"), of("v")),
        Comparison("=", here("s"), of("s")),
        Literal(True),
        IsNull(of("v")),
    ]
    ours = CompiledTests(conditions, schema_for(table))
    assert ours.of(table, np.arange(0)).shape == (0, ours.words)
    alone = CompiledTests([Literal(True), Literal(None)], schema_for(table))
    rows = alone.of(pa.table({"k": [1], "v": [1.0], "s": [""]}), np.arange(1))
    nowhere = np.zeros(1, np.int64)
    assert [kernel.holds(alone.program, n, rows, 0, rows[0], nowhere, 1) for n in range(2)] == [True, False]


def test_places_choose_rows() -> None:
    table = columns(v=([1.0, 2.0, 3.0], pa.float64()), s=(["a", "b", "c"], pa.string()))
    ours = CompiledTests(
        [Comparison("<", here("v"), of("v")), Comparison("<", here("s"), of("s"))], schema_for(table)
    )
    assert ours.of(table, np.array([2, 0])).tolist() == [[4613937818241073152, 0], [4607182418800017408, 1]]


@pytest.mark.parametrize("saved", [False, True])
def test_texts_that_nothing_refers_to_are_forgotten(saved: bool) -> None:
    conditions = [
        Comparison("=", here("s"), of("s")),
        Comparison("<", here("s"), of("s")),
        Comparison("=", Call("coalesce", (of("s"), here("s"))), Literal("kept")),
        Comparison("<", of("s", "q"), of("s")),
    ]
    schema = schema_for(columns(s=([], pa.string())))
    ours = CompiledTests(conditions, schema)
    texts = [f"text {number}" for number in range(500)] + [None, "kept"]
    old = ours.of(columns(s=(texts, pa.string())), np.arange(len(texts)))
    chosen = [3, 499, 7, 500]
    records = old[chosen, : ours.record]
    assert ours.columns_of_texts() == [0]
    before, memory = ours.numbered, ours.memory
    renumbered = ours.keep(np.unique(records[:, 0]))
    records[:, 0] = renumbered[records[:, 0]]
    assert (before, ours.numbered) == (502, 4)  # one of those before stood below NULL
    assert ours.memory < memory
    if saved:
        state = ours.save()
        ours = CompiledTests(conditions, schema)
        ours.load(state)
        assert ours.numbered == 4
    nothing, record = np.zeros((1, ours.words), np.int64), ours.record
    for one, other in itertools.product(
        range(3), repeat=2
    ):  # of texts 3, 499 and 7, before any event is read
        places = np.array([one, other]) * record
        found = kernel.holds(
            ours.program, 3, nothing, 0, np.ascontiguousarray(records).reshape(-1), places, 1
        )
        assert found == (texts[chosen[one]] < texts[chosen[other]])
    now = ["text 7", "text 499", "text 0", "kept", None]
    rows = ours.of(columns(s=(now, pa.string())), np.arange(5))
    for number, condition in enumerate(conditions[:3]):
        for row, place in itertools.product(range(5), range(4)):
            bound = {None: {"s": now[row]}, "r": {"s": texts[chosen[place]]}}
            stored = np.ascontiguousarray(records[place])
            found = kernel.holds(ours.program, number, rows, row, stored, np.zeros(1, np.int64), 1)
            assert found == definition.holds(condition, bound)


def test_other_conditions_compile_nothing() -> None:
    @numba.njit(nogil=True, pipeline_class=KernelCompiler)
    def decide(program: Any, events: Any, stored: Any, at: Any) -> int:
        found = 0
        for condition in range(len(program)):
            for row in range(len(events)):
                found += kernel.holds(program, condition, events, row, stored, at, 1)
        return found

    for seed in range(8):
        choices = Seeded(seed)
        table = plain_table(expressions.table(choices))
        conditions, ours = compiled([condition(choices) for _ in range(5)], schema_for(table))
        rows = ours.of(table, np.arange(len(table)))
        if len(rows):
            stored = np.append(rows[0, : ours.record], 0)
            decide(ours.program, rows, stored, np.zeros(3, np.int64))
        assert len(decide.signatures) <= 1, conditions
    assert len(decide.signatures) == 1
