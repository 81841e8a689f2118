"""Matches that no event makes known: they come when time has passed, once each, and what is kept for them goes."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

import cepheid
from cepheid.algebra.nodes import WindowUnit
from cepheid.algebra.reach import longest_wait
from cepheid.engine import Engine
from cepheid.errors import CepheidError
from cepheid.plan.plan import Plan
from cepheid.streams.times import times_of
from support.agreement import found_in, numbered, plan_of, within_patience
from support.generators import Case, Limits, Seeded, chance
from support.varied_patterns import seeded_waiting

WINDOWS = (None, WindowUnit.PLAIN, WindowUnit.PLAIN, WindowUnit.EVENTS, WindowUnit.MICROSECONDS)
SMALL = Limits(events=9, atoms=3, windows=WINDOWS)
ABSENT = "SELECT * FROM s WHERE A AS a ; NOT B"


def case_of(seed: int) -> Case:
    return seeded_waiting(seed, replace(SMALL, nary=seed % 2 == 1))


def live(plan: Plan, table: pa.Table, choices: Seeded) -> tuple[pa.Table, pa.Table]:
    """The matches given while a stream runs, whose time passes now and then, and those at its end. The engine is saved
    and loaded, or made anew where it has nothing left. Whenever time has passed, all is there that must be."""
    engine = Engine(plan, positions=True)
    times = table["ts"].cast(pa.int64()).to_pylist()
    found = [engine.output_schema.empty_table()]
    wait = longest_wait(plan.query)
    now, at = min(times, default=0) - 1, 0
    whole = in_process(plan, table)
    while at < len(table):
        now += 1 + choices.below(4)
        end = next((place for place in range(at, len(table)) if times[place] > now), len(table))
        found.append(engine.push(table.slice(at, end - at)))
        at = end
        due = engine.waits_until
        passed = list(engine.pass_time(now))
        assert due is None or now >= due or not sum(map(len, passed)), "nothing comes before it is due"
        found += passed
        if wait is not None:
            known = [
                row["end"] for row in whole.to_pylist() if time_of(row["end"]) + int(min(wait, 99)) <= now
            ]
            given = [row["end"] for piece in found for row in piece.to_pylist()]
            assert len(given) >= len(known), f"at {now} of {known} only {given} were given"
        if not engine.expire(now):
            assert engine.memory == 0 or len(engine._history) == 0
            numbers = engine.numbers
            engine = Engine(plan, positions=True)
            engine.resume(numbers)
        elif chance(choices, 50):
            engine = cepheid.load(engine.save()) if plan.text else engine
    return pa.concat_tables(found), engine.finish()


def time_of(value: object) -> int:
    return int(pa.scalar(value).cast(pa.int64()).as_py()) if not isinstance(value, int) else value


def in_process(plan: Plan, table: pa.Table) -> pa.Table:
    engine = Engine(plan, positions=True)
    return pa.concat_tables([engine.push(table), engine.finish()])


def test_time_that_passes_makes_known_what_the_end_of_the_stream_would() -> None:
    """By seeds, which can be counted: many matches are to come because time has passed, and the rest at the end."""
    live_ones = at_the_end = 0
    for seed in range(300):
        case, wanted = within_patience(case_of(seed))
        plan = plan_of(case, "auto")
        if plan is None:
            continue
        names = [item.name for item in plan.shown]
        given, rest = live(plan, numbered(case), Seeded(seed))
        assert found_in(pa.concat_tables([given, rest]), names) == wanted, (seed, case)
        if longest_wait(plan.query) is not None:
            live_ones += len(given)
            at_the_end += len(rest)
    assert live_ones > 100, live_ones
    assert at_the_end > 100, at_the_end


def test_matches_are_reported_by_their_last_event_whenever_they_become_known() -> None:
    """As in a time slice: of a run of events only those in the middle end matches that are reported."""
    reported = 0
    for seed in range(1000, 1250):
        case = case_of(seed)
        case = replace(case, query=replace(case.query, consume=False))
        case, wanted = within_patience(case)
        plan = plan_of(case, "auto")
        if plan is None:
            continue
        table, choices = numbered(case), Seeded(seed)
        first, last = sorted((choices.below(len(table) + 1), choices.below(len(table) + 1)))
        cut = first + choices.below(last - first + 1)
        engine = Engine(plan, positions=True)
        pieces = [engine.push(table.slice(0, first), report=False)]
        pieces += [engine.push(table.slice(a, b - a)) for a, b in ((first, cut), (cut, last))]
        if last:
            pieces += engine.pass_time(time_of(table["ts"][last - 1].as_py()) - choices.below(2) - 1)
        pieces += [engine.push(table.slice(last), report=False), engine.finish()]
        names = [item.name for item in plan.shown]
        expected = [match for match in wanted if first <= match[0][-1] < last]
        assert found_in(pa.concat_tables(pieces), names) == expected, (seed, first, cut, last, case)
        reported += len(expected)
    assert reported > 100


KINDS = [
    (pa.int64(), 5, "5"),
    (pa.int64(), 5, "5.5"),
    (pa.float64(), 5.5, "5.5"),
    (pa.timestamp("ns"), 5, "5 nanoseconds"),
    (pa.timestamp("us"), 5_000_000, "5 seconds"),
    (pa.timestamp("s", "UTC"), 5_000_000, "5 seconds"),
    (pa.date32(), 5 * 86_400_000_000, "5 days"),
]


@pytest.mark.parametrize("clause", ["WITHIN {}", "PARTITION BY k WITHIN {}", "FOR {}"])
@pytest.mark.parametrize("before", [0, -100])
@pytest.mark.parametrize(("dtype", "wait", "written"), KINDS, ids=lambda kind: str(kind))
def test_a_match_is_known_when_all_that_may_forbid_it_has_come(
    dtype: pa.DataType, wait: float, written: str, before: int, clause: str
) -> None:
    """The window is inclusive: an event at its very end still forbids, so its last moment has to pass."""
    number = pa.array([before], pa.int32() if dtype == pa.date32() else pa.int64())
    table = pa.table({"ts": number.cast(dtype), "type": ["A"], "k": [1]})
    engine = cepheid.query(f"{ABSENT} {clause.format(written)}").engine(table.schema)
    assert engine.waits_until is None
    assert len(engine.push(table)) == 0
    (time,) = table["ts"].to_pylist()
    last = times_of(table["ts"], "ts")[0].item() + wait
    step = 0.25 if dtype == pa.float64() else 1
    assert last - step / 2 < engine.waits_until <= last
    assert [len(piece) for piece in engine.pass_time(last - step)] == []
    assert [piece["end"].to_pylist() for piece in engine.pass_time(last + step)] == [[time]]
    assert engine.waits_until is None


def test_an_event_at_the_end_of_the_window_still_forbids_and_one_after_it_does_not() -> None:
    table = pa.table({"ts": [0, 5, 10, 16], "type": ["A", "B", "A", "B"]})
    engine = cepheid.query(f"{ABSENT} WITHIN 5").engine(table.schema)
    found = []
    for row, now in enumerate((4, 9, 14, 30)):
        found += engine.push(table.slice(row, 1))["end"].to_pylist()
        found += [end for piece in engine.pass_time(now) for end in piece["end"].to_pylist()]
    assert found == [10]


def test_rows_may_not_come_after_their_time_has_passed() -> None:
    """Also in an engine that was saved and loaded."""
    table = pa.table({"ts": [3, 4], "type": ["A", "B"]})
    engine = cepheid.query(f"{ABSENT} WITHIN 5").engine(table.schema)
    assert [len(piece) for piece in engine.pass_time(3)] == []
    for again in (engine, cepheid.load(engine.save())):
        with pytest.raises(
            CepheidError, match=r"unsorted.*row 0 \(time 3\) comes after that time was passed"
        ):
            again.push(table)
        assert len(again.push(table.slice(1))) == 0
    engine.finish()
    with pytest.raises(CepheidError, match="`finish` ended the stream"):
        list(engine.pass_time(9))


def test_a_partition_that_waits_is_not_forgotten_before_and_is_soon_after() -> None:
    """The window is shorter than the wait would be without it, and longer than FOR; keys fall silent at once."""
    for clause, known, gone in (("FOR 9", 9, 13), ("FOR 20", 12, 13), ("", 12, 13)):
        text = f"{ABSENT} {clause} PARTITION BY k WITHIN 12"
        table = pa.table({"ts": [0, 0], "type": ["A", "A"], "k": [1, 2]})
        engine = cepheid.query(text).engine(table.schema)
        assert len(engine.push(table)) == 0
        for now in range(14):
            given = sum(len(piece) for piece in engine.pass_time(now))
            assert given == (2 if now == known else 0), (clause, now)
            assert engine.expire(now) == (now < gone), (clause, now)
        assert engine.numbers == (2, 2)


def test_limits_distinct_and_counts_hold_for_what_time_makes_known() -> None:
    table = pa.table({"ts": [0, 1, 2, 3], "type": ["A", "A", "A", "A"], "k": [1, 1, 2, 2]})
    for select, clause, number in (
        ("*", "LIMIT 3", 3),
        ("DISTINCT c", "", 3),
        ("DISTINCT c", "LIMIT 2", 2),
        ("*", "", 6),
        ("EVENTS", "", 6),
        ("count(X) AS n", "", 6),
    ):
        pattern = "(A AS a ; A AS c) IN X ; NOT B"
        text = f"SELECT {select} FROM s WHERE {pattern} WITHIN 9 {clause}"
        plan = cepheid.query(text).engine(table.schema).plan
        for counting in (False, True):
            engine = Engine(plan, counting=counting)
            engine.push(table)
            given = sum(len(piece) for piece in engine.pass_time(99))
            assert (engine.counted if counting else given) == number, (text, counting)
            assert len(engine.finish()) == 0


def test_events_of_the_partition_end_a_wait_that_counts_them_and_so_does_the_window_of_the_query() -> None:
    table = pa.table({"ts": [0, 1, 1], "type": ["A", "C", "C"]})
    for clause, for_rows, for_time in (
        ("FOR 3 EVENTS", [0, 0, 1], None),
        ("FOR 3 EVENTS WITHIN 9", [0, 0, 1], 9),
        ("FOR 30 EVENTS WITHIN 9", [0, 0, 0], 9),
    ):
        engine = cepheid.query(f"{ABSENT} {clause}").engine(table.schema)
        engine.push(table.slice(0, 1))
        assert engine.waits_until == for_time
        found = [len(engine.push(table.slice(1, 1))), len(engine.push(table.slice(2, 1)))]
        assert [0, *found] == for_rows
        late = sum(len(piece) for piece in engine.pass_time(99))
        assert late == (1 if for_time is not None and not sum(found) else 0)


@pytest.mark.parametrize("select", ["*", "DISTINCT a"])
def test_a_limit_takes_the_matches_that_end_first_and_not_those_that_are_known_first(select: str) -> None:
    """The first A waits for events of its partition, which come last; those of the second key are there at once."""
    table = pa.table({"ts": range(6), "type": list("AACCCC"), "k": [1, 2, 2, 2, 1, 1]})
    text = f"SELECT {select} FROM s WHERE A AS a ; NOT B FOR 3 EVENTS PARTITION BY k"
    for limit, wanted in ((1, [0]), (2, [0, 1])):
        engine = cepheid.query(f"{text} LIMIT {limit}").engine(table.schema)
        pieces = [engine.push(table.slice(row, 1)) for row in range(6)]
        assert [end for piece in pieces for end in piece["end"].to_pylist()] == wanted
        counting = Engine(cepheid.query(f"{text} LIMIT {limit}").engine(table.schema).plan, counting=True)
        for row in range(6):
            counting.push(table.slice(row, 1))
        counting.finish()
        assert counting.counted == limit


@pytest.mark.parametrize("clause", ["FOR 5", "FOR 40", "FOR 3 EVENTS"])
def test_silent_partitions_are_forgotten_between_batches_too(
    clause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without anybody saying that time has passed: the stream itself says so."""
    monkeypatch.setattr("cepheid.engine._SPARE_PARTITIONS", 4)
    begun = [(time, "A", time) for time in range(150)]
    ended = [(time + 4 + time % 5, "B", time) for time in range(0, 150, 3)]
    times, types, keys = zip(*sorted(begun + ended), strict=True)
    table = pa.table({"ts": times, "type": types, "k": keys})
    query = cepheid.query(f"{ABSENT} {clause} PARTITION BY k WITHIN 30")
    engine = query.engine(table.schema)
    pieces = [engine.push(table.slice(at, 7)) for at in range(0, len(table), 7)]
    assert engine._split.count < 90, "of 150"
    found = pa.concat_tables([*pieces, engine.finish()])
    assert sorted(found["match_id"].to_pylist()) == sorted(
        cepheid.match(table, query)["match_id"].to_pylist()
    )
    assert len(found) > 20


@pytest.mark.parametrize("evaluator", ["auto", "configurations", "semantics"])
def test_a_key_of_which_nothing_is_known_yet_may_be_the_only_one_that_is_kept(evaluator: str) -> None:
    """Its events are held, the other key is forgotten, and the engine is saved and loaded."""
    table = pa.table(
        {"ts": [0, 1, 9, 9, 20], "type": list("BCBCB"), "k": [1, 1, 2, 2, 3], "v": [1, 2, 1, 2, 1]}
    )
    text = "SELECT LAST * FROM s WHERE B AS x ; C AS u ; NOT A FOR 2 FILTER x.v < u.v PARTITION BY k WITHIN 4"
    engine = cepheid.query(text).engine(table.schema, evaluator=evaluator)
    ends = []
    for begin, end, now in ((0, 2, 8), (2, 4, 9), (4, 5, 20)):
        ends += engine.push(table.slice(begin, end - begin))["end"].to_pylist()
        ends += [time for piece in engine.pass_time(now) for time in piece["end"].to_pylist()]
        engine.expire(now)
        engine = cepheid.load(engine.save())
    assert ends == [1, 9]
