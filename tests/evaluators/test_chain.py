"""The chain evaluator against runs kept one by one, on random automata and streams, however the stream is
cut."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from cepheid.algebra.nodes import Query, WindowUnit
from cepheid.automata.automaton import ADJACENT, Link
from cepheid.errors import CepheidError
from cepheid.evaluators.chain import arena, evaluator
from support.chain_automata import (
    Automaton,
    Chain,
    Match,
    by_table,
    mark,
    matches_of,
    pieces,
    query,
    random_automaton,
    random_stream,
)

SEEDS = st.integers(0, 1 << 30)
CUTS = st.lists(st.integers(0, 25), max_size=3)
WINDOWS = [None, (2, WindowUnit.PLAIN), (5, WindowUnit.PLAIN), (3, WindowUnit.EVENTS), (7, WindowUnit.EVENTS)]
many = settings(max_examples=250, print_blob=True)
some = settings(max_examples=100, print_blob=True)

SAME = (Link("k", "k"),)
OTHER_THEN_SAME = (Link("k", "k"), Link("v", "v"))


def case(seed: int, window: tuple[int, WindowUnit] | None, **clauses: object) -> tuple[Query, pa.Table]:
    chance = random.Random(seed)
    events = 8 if window is None else chance.choice([6, 12, 25])
    table = random_stream(seed, events, chance.choice([1, 2, 3]))
    clauses.setdefault("partition_by", chance.choice([(), ("key",)]))
    return query(*(window or (None,)), **clauses), table  # type: ignore[arg-type]


def found(chain: Chain, table: pa.Table, cuts: list[int], saved: bool = False) -> list[Match]:
    matches = []
    for piece in pieces(table, cuts):
        matches += chain.push(piece)
        if saved:
            chain.saved_and_loaded()
    return matches


def first(matches: list[Match], limit: int) -> list[tuple[int, ...]]:
    """The rows of so many matches, the first by end, then by positions."""
    rows = [tuple(row for row, _ in match) for match in matches]
    return sorted(rows, key=lambda match: (match[-1], match))[:limit]


def check(automaton: Automaton, asked: Query, table: pa.Table, cuts: list[int], saved: bool = False) -> None:
    expected = matches_of(automaton, asked, table)
    matches = found(Chain(automaton, asked, table.schema), table, cuts, saved)
    assert sorted(matches) == sorted(expected)
    assert [match[-1][0] for match in matches] == [match[-1][0] for match in expected]
    counting = Chain(automaton, asked, table.schema, counting=True)
    assert found(counting, table, cuts, saved) == []
    assert counting.evaluator.counted == len(expected)


@pytest.mark.parametrize("window", WINDOWS)
def test_matches_are_those_of_all_runs(window: tuple[int, WindowUnit] | None) -> None:
    @many
    @given(seed=SEEDS, cuts=CUTS)
    def agrees(seed: int, cuts: list[int]) -> None:
        asked, table = case(seed, window)
        note(f"{asked} {table.to_pylist()}")
        check(random_automaton(seed), asked, table, cuts)

    agrees()


@some
@given(seed=SEEDS, window=st.sampled_from(WINDOWS), cuts=CUTS)
def test_a_saved_evaluator_goes_on_where_it_was(
    seed: int, window: tuple[int, WindowUnit] | None, cuts: list[int]
) -> None:
    asked, table = case(seed, window)
    check(random_automaton(seed), asked, table, cuts, saved=True)


def test_counts_without_a_window_in_the_run_dag(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is done where there are many links."""
    monkeypatch.setattr(evaluator, "_MOST_SUMMED", 0)

    @some
    @given(seed=SEEDS, cuts=CUTS)
    def agrees(seed: int, cuts: list[int]) -> None:
        asked, table = case(seed, None, consume=seed % 3 == 0)
        check(random_automaton(seed), asked, table, cuts, saved=seed % 2 == 0)

    agrees()


@some
@given(seed=SEEDS, window=st.sampled_from(WINDOWS), cuts=CUTS)
def test_consuming_forgets_the_partition(
    seed: int, window: tuple[int, WindowUnit] | None, cuts: list[int]
) -> None:
    asked, table = case(seed, window, consume=True)
    check(random_automaton(seed), asked, table, cuts, saved=seed % 2 == 0)


@some
@given(seed=SEEDS, window=st.sampled_from(WINDOWS), limit=st.integers(0, 6), cuts=CUTS)
def test_a_limit_and_events_that_are_not_reported(
    seed: int, window: tuple[int, WindowUnit] | None, limit: int, cuts: list[int]
) -> None:
    asked, table = case(seed, window, consume=seed % 3 == 0)
    expected = matches_of(random_automaton(seed), asked, table)
    limited = Chain(random_automaton(seed), asked, table.schema, limit=limit)
    at = 0
    for piece in pieces(table, cuts):
        here = [match for match in expected if at <= match[-1][0] < at + len(piece)]
        matches = limited.push(piece)
        assert set(matches) <= set(here)
        assert first(matches, limit) == first(here, limit)
        at += len(piece)
    for counting in (False, True):
        chain = Chain(random_automaton(seed), asked, table.schema, counting=counting)
        assert chain.push(table.slice(0, 5), report=False) == []
        late = [match for match in expected if match[-1][0] >= 5]
        matches = chain.push(table.slice(5))
        assert sorted(matches) == ([] if counting else sorted(late))
        if counting:
            assert chain.evaluator.counted == len(late)


@some
@given(seed=SEEDS, window=st.sampled_from(WINDOWS))
def test_later_matches_are_made_of_living_rows(seed: int, window: tuple[int, WindowUnit] | None) -> None:
    asked, table = case(seed, window)
    chain = Chain(random_automaton(seed), asked, table.schema)
    for at in range(len(table)):
        living = set(chain.evaluator.live_rows().tolist()) | {at}
        for match in chain.push(table.slice(at, 1)):
            assert {row for row, _ in match} <= living


@some
@given(seed=SEEDS, within=st.sampled_from([2, 5]))
def test_partitions_that_are_silent_can_be_forgotten(seed: int, within: int) -> None:
    asked, table = case(seed, (within, WindowUnit.PLAIN), partition_by=("key",))
    expected = matches_of(random_automaton(seed), asked, table)
    chain, matches = Chain(random_automaton(seed), asked, table.schema), []
    if chain.evaluator.positional:
        return  # positions are counted from the beginning of a partition, which the engine then keeps
    for at in range(0, len(table), 3):
        piece = table.slice(at, 3)
        matches += chain.push(piece)
        chain.keep_partitions_within(piece, within)
    assert sorted(matches) == sorted(expected)


def rows(types: str, **columns: list[object]) -> pa.Table:
    return pa.table({"ts": list(range(len(types))), "type": list(types), **columns})


def sequence(different: bool = False) -> Automaton:
    """A ; B ; C, each with the key of the one before; with `different` also another v."""
    links, other = OTHER_THEN_SAME if different else SAME, (1,) if different else ()
    return by_table(
        links,
        "ABC",
        {
            (0, "A"): (mark(1, 1),),
            (1, "B"): (mark(2, 2, (0,), other),),
            (2, "C"): (mark(3, None, (0,), other, True),),
        },
    )


def test_example_6_a_chain_of_replies() -> None:
    """t ; r+ ; s where each is a reply to the one before: r.tweet = t.id."""
    replies = by_table(
        (Link("id", "tweet"),),
        "TRS",
        {
            (0, "T"): (mark(1, 1),),
            (1, "R"): (mark(2, 2, (0,)),),
            (2, "R"): (mark(2, 2, (0,)),),
            (2, "S"): (mark(3, None, (0,), (), True),),
        },
    )
    table = rows("TRRRSS", id=[1, 2, 3, 4, 5, 6], tweet=[None, 1, 2, 1, 3, 4])
    matches = Chain(replies, query(), table.schema).push(table)
    assert [[row for row, _ in match] for match in matches] == [[0, 1, 2, 4], [0, 3, 5]]


def test_neighbours_are_by_position_in_the_partition() -> None:
    pair = by_table((ADJACENT,), "AB", {(0, "A"): (mark(1, 1),), (1, "B"): (mark(2, None, (0,), (), True),)})
    table = rows("AABXAXBAB", key=[0, 1, 0, 0, 0, 1, 0, 1, 1])
    for partition_by, expected in (((), [(1, 2), (7, 8)]), (("key",), [(0, 2), (4, 6), (7, 8)])):
        matches = Chain(pair, query(partition_by=partition_by), table.schema).push(table)
        assert [tuple(row for row, _ in match) for match in matches] == expected


def test_a_class_met_late_finds_what_waits_already() -> None:
    """The marks of a state on a new class ask for other links: lists are made for vertices that are there."""
    automaton = by_table(
        OTHER_THEN_SAME,
        "ABCD",
        {
            (0, "A"): (mark(1, 1),),
            (1, "B"): (mark(2, None, (0,), (), True),),
            (1, "C"): (mark(2, None, (1,), (0,), True),),
            (1, "D"): (mark(2, None, (), (0, 1), True),),
        },
    )
    table = rows("AAABACAD", k=[1, 2, 1, 1, 3, 2, 4, 1], v=[1, 1, 2, 2, 2, 1, 3, 3])
    check(automaton, query(), table, [4, 5, 6])
    check(automaton, query(6), table, [4, 5, 6], saved=True)


@pytest.mark.parametrize("within", [None, 1_000])
def test_counts_have_any_number_of_digits(within: int | None) -> None:
    """Every set of As that ends in an A: 2ⁿ - 1 of n."""
    automaton = by_table(
        SAME, "A", {(0, "A"): (mark(1, 1, accepts=True),), (1, "A"): (mark(1, 1, (0,), (), True),)}
    )
    table = rows("A" * 400, k=[7] * 400)
    chain = Chain(automaton, query(within), table.schema, counting=True)
    for piece in pieces(table, [30, 61, 62, 63, 64, 65, 130]):
        chain.push(piece)
        chain.saved_and_loaded()
    assert chain.evaluator.counted == 2**400 - 1


@pytest.mark.parametrize("within", [None, 1_000])
def test_counts_of_what_differs_have_any_number_of_digits(within: int | None) -> None:
    """Sequences of As in which neighbours differ, against the recurrence: f(n) = 1 + Σ of f where v
    differs."""
    automaton = by_table(
        (Link("v", "v"),),
        "A",
        {(0, "A"): (mark(1, 1, accepts=True),), (1, "A"): (mark(1, 1, (), (0,), True),)},
    )
    values = random.Random(5).choices(range(4), k=250)
    by_value = [0] * 4
    total = 0
    for value in values:
        new = 1 + sum(by_value) - by_value[value]
        by_value[value] += new
        total += new
    table = rows("A" * len(values), v=values)
    chain = Chain(automaton, query(within), table.schema, counting=True)
    chain.push(table)
    assert chain.evaluator.counted == total
    assert total > 2**90


@pytest.mark.parametrize("unit", [WindowUnit.PLAIN, WindowUnit.EVENTS])
@pytest.mark.parametrize("different", [False, True])
def test_long_windows(unit: WindowUnit, different: bool) -> None:
    """Thousands of events through a window of hundreds, against a program that knows the query."""
    chance = np.random.default_rng(8)
    table = rows(
        "".join(chance.choice(list("ABC"), 3_000)),
        k=chance.integers(0, 5, 3_000).tolist(),
        v=chance.integers(0, 3, 3_000).tolist(),
    )
    asked = query(200 if unit is WindowUnit.EVENTS else 199, unit)
    expected = 0
    events = table.to_pylist()
    for at, c in enumerate(events):
        if c["type"] != "C":
            continue
        inside = events[max(0, at - 199) : at]
        after = 0
        for place, b in enumerate(inside):
            if b["type"] == "B" and b["k"] == c["k"] and not (different and b["v"] == c["v"]):
                after += sum(
                    a["type"] == "A" and a["k"] == b["k"] and not (different and a["v"] == b["v"])
                    for a in inside[:place]
                )
        expected += after
    counting = Chain(sequence(different), asked, table.schema, counting=True)
    matching = Chain(sequence(different), asked, table.schema)
    matches = 0
    for begin in range(0, len(table), 700):
        counting.push(table.slice(begin, 700))
        matches += len(matching.found(table.slice(begin, 700)))
    assert counting.evaluator.counted == expected
    assert matches == expected


def test_too_many_matches_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluator, "GUARD", 1_000)
    table = rows("A" * 20 + "B" * 20 + "C", k=[1] * 41)
    chain = Chain(sequence(), query(), table.schema)
    with pytest.raises(CepheidError, match="hold more than 1,000 events \\(at row 40\\)"):
        chain.push(table)
    assert len(chain.push(rows("A", k=[1]))) == 0


def test_texts_that_left_the_window_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena, "_SPARE_TEXTS", 20)
    names = [f"n{number // 4}" for number in range(600)]
    table = rows("ABCX" * 150, k=names)
    chain = Chain(sequence(), query(5), table.schema)
    matches = [match for begin in range(0, 600, 7) for match in chain.push(table.slice(begin, 7))]
    assert [match[0][0] for match in matches] == list(range(0, 600, 4))
    assert chain.evaluator._keys.numbered < 60
