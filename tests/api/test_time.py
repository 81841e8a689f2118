"""Times are exact in all units: in order, windows, comparisons and keys; zones follow one rule in every frame."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cepheid
from cepheid.algebra.moments import Moment, moment_of
from cepheid.algebra.windows import Window, WindowUnit
from cepheid.algebra.zones import known_zone, offset_at
from cepheid.errors import CepheidError
from cepheid.evaluators.columns.kinds import Times
from cepheid.evaluators.columns.parts import PARTS, part_of
from cepheid.semantics import functions as definition
from cepheid.streams.times import age_limit, recent
from support.times_at_limits import (
    EVALUATORS,
    LEAST,
    MOST,
    NS,
    PARIS,
    THEN,
    difference_in_times,
    positions,
    unless_declined,
)


def refused(call: Callable[[], object]) -> CepheidError:
    with pytest.raises(CepheidError) as caught:
        call()
    return caught.value


# All units, at the limits, against arithmetic on Python's integers


@pytest.mark.parametrize("part", range(4))
def test_all_units_are_exact_at_the_limits(part: int) -> None:
    for seed in range(20 * part, 20 * (part + 1)):
        assert difference_in_times(seed) is None


@settings(max_examples=200)
@given(st.lists(st.integers(LEAST, MOST), min_size=1, max_size=6), st.integers(0, 2**66))
def test_windows_are_exact_for_all_times(times: list[int], amount: int) -> None:
    last = max(times)
    held = recent(np.array(times, np.int64), last, amount)
    assert held.tolist() == [last - time <= amount for time in times]
    assert int(age_limit(amount)) == min(amount, 2**64 - 1)
    window = Window(amount, WindowUnit.NANOSECONDS).counted_in(WindowUnit.MICROSECONDS)
    micros = [time // 1000 for time in times]
    for time in micros:
        assert ((max(micros) - time) * 1000 <= amount) == (max(micros) - time <= window.amount)


# Nanoseconds


def nanoseconds(*values: int, zone: str | None = None) -> pa.Array:
    return pa.array(values, pa.timestamp("ns", zone))


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_events_of_one_microsecond_have_an_order_and_windows(evaluator: str) -> None:
    events = pa.table({"ts": nanoseconds(1003, 1001, 1002, 1500), "type": list("BABB")})
    assert positions(events, THEN, evaluator=evaluator) == [[0, 1], [0, 2], [0, 3]]
    assert positions(events, THEN + " WITHIN 1 nanosecond", evaluator=evaluator) == [[0, 1]]
    assert positions(events, THEN + " WITHIN 0.002 us", evaluator=evaluator) == [[0, 1], [0, 2]]
    assert positions(events, THEN + " WITHIN 0 s", evaluator=evaluator) == []
    assert cepheid.count(events, THEN + " WITHIN 498 ns", evaluator=evaluator) == 2
    assert positions(events, THEN + " PARTITION BY ts", evaluator=evaluator) == []


@pytest.mark.parametrize("evaluator", ["auto", "semantics"])
def test_windows_inside_an_expression_count_nanoseconds(evaluator: str) -> None:
    events = pa.table({"ts": nanoseconds(1, 2, 4, 5, 6), "type": list("ABABC")})
    pair = "any* . ([type = 'A'] . any* . [type = 'B'] WITHIN {}) . any* . [type = 'C'] WITHIN 10 s"
    near, far = (
        positions(events, pair.format(window), evaluator=evaluator) for window in ("1 ns", "0.004 us")
    )
    assert sorted(near) == [[0, 1, 4], [2, 3, 4]]
    assert sorted(far) == [[0, 1, 4], [0, 3, 4], [2, 3, 4]]


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_literals_have_nanoseconds(evaluator: str) -> None:
    at = 1_706_704_200_123_456_789
    events = pa.table({"ts": nanoseconds(at - 1, at, at + 1), "type": list("AAA")})
    one = "SELECT * FROM s WHERE A AS x FILTER x.ts {}"
    text = "'2024-01-31 12:30:00.123456789'"
    assert positions(events, one.format(f"= {text}"), evaluator=evaluator) == [[1]]
    assert positions(events, one.format(f"< TIMESTAMP {text}"), evaluator=evaluator) == [[0]]
    assert positions(events, one.format(f"IN ({text}, '2024-01-31')"), evaluator=evaluator) == [[1]]
    assert positions(events, one.format(f"BETWEEN {text} AND {text}"), evaluator=evaluator) == [[1]]
    micros = pa.table({"ts": pa.array([at // 1000, at // 1000 + 1], pa.timestamp("us")), "type": list("AA")})
    assert positions(micros, one.format(f"< {text}"), evaluator=evaluator) == [[0]]
    assert text in str(cepheid.query(one.format(f"= TIMESTAMP {text}")))


def test_one_event_has_one_id_in_every_unit() -> None:
    seconds = pa.table({"ts": pa.array([1, 2], pa.timestamp("s")), "type": list("AB"), "k": pa.array([5, 5])})
    query = THEN + " PARTITION BY k"
    ids = set()
    for unit in NS:
        for time in (pa.timestamp(unit), pa.timestamp(unit, "UTC")):
            k = pa.array([5, 5], pa.timestamp("s")).cast(pa.timestamp(unit)).cast(time)
            ts = seconds["ts"].cast(pa.timestamp(unit)).cast(time)
            events = seconds.set_column(0, "ts", ts).set_column(2, "k", k)
            ids |= set(cepheid.match(events, query)["match_id"].to_pylist())
    assert len(ids) == 1
    apart = pa.table({"ts": nanoseconds(1, 1, 2), "type": list("ABB"), "k": nanoseconds(7, 7, 7)})
    others = pa.table({"ts": nanoseconds(1, 1, 2), "type": list("ABB"), "k": nanoseconds(8, 8, 8)})
    found = [
        name for events in (apart, others) for name in cepheid.match(events, query)["match_id"].to_pylist()
    ]
    assert len(set(found)) == 4


def test_a_state_of_nanoseconds_goes_on_where_it_was_saved() -> None:
    events = pa.table(
        {"ts": nanoseconds(1, 2, 900, 1001), "type": list("AABB"), "k": nanoseconds(3, 4, 3, 4)}
    )
    query = cepheid.query(THEN + " FILTER x.k = y.k PARTITION BY k WITHIN 999 ns")
    engine = query.engine(events.schema)
    engine.push(events.slice(0, 2))
    assert len(cepheid.load(engine.save()).push(events.slice(2))) == 2


@pytest.mark.parametrize("make", [pa.Table.to_pandas, pl.from_arrow], ids=["pandas", "polars"])
def test_frames_with_nanoseconds_give_the_same_matches(make: Callable[[pa.Table], Any]) -> None:
    events = pa.table({"ts": nanoseconds(5003, 5001, 5002, zone=PARIS), "type": list("BAB")})
    query = THEN + " WITHIN 1 ns"
    (expected,) = cepheid.match(events, query)["match_id"].to_pylist()
    assert list(cepheid.match(make(events), query)["match_id"]) == [expected]


# Times of day and durations


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_times_of_day_and_durations_are_values(evaluator: str) -> None:
    events = pa.table(
        {
            "ts": [1, 2],
            "type": list("AB"),
            "open": pa.array([9 * 3600, 9 * 3600], pa.time32("s")),
            "at": pa.array([9 * 3600 * 10**9, 9 * 3600 * 10**9 + 1], pa.time64("ns")),
            "took": pa.array([1, 2], pa.duration("ms")),
            "most": pa.array([10**6, 10**6], pa.duration("ns")),
        }
    )
    for condition, holds in (
        ("x.at = y.open", True),
        ("y.at = x.open", False),
        ("x.took = y.most", True),
        ("y.took = x.most", False),
        ("y.at = '09:00:00.000000001' AND hour(x.open) = 9 AND second(y.at) = 0", True),
        ("y.at <= TIME '09:00'", False),
        ("x.took IS NULL", False),
    ):
        found = positions(events, f"{THEN} FILTER {condition}", evaluator=evaluator)
        assert found == ([[0, 1]] if holds else []), condition
    for keys, holds in (("x.open, y.at", False), ("x.at, y.open", True), ("x.took, y.most", True)):
        assert bool(positions(events, f"{THEN} PART-BY [{keys}]", evaluator=evaluator)) == holds
    assert positions(events, f"{THEN} PARTITION BY open, most", evaluator=evaluator) == [[0, 1]]


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_durations_of_all_units_are_exact_up_to_the_limits_of_64_bits(evaluator: str) -> None:
    most = 2**63 - 1
    ticks = {"s": [most, -most], "ms": [most, 10**18 + 1], "us": [most, 10**18], "ns": [most, -most]}
    events = pa.table(
        {"ts": [1, 2], "type": list("AB")}
        | {unit: pa.array(ticks[unit], pa.int64()).cast(pa.duration(unit)) for unit in ticks}
    )
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
    for left in ticks:
        for right in ticks:
            first, second = (
                Fraction(ticks[unit][row], per_second[unit]) for unit, row in ((left, 0), (right, 1))
            )
            for op, holds in (("<", first < second), (">=", first >= second), ("=", first == second)):
                query = f"{THEN} FILTER x.{left} {op} y.{right}"
                found = unless_declined(lambda query=query: positions(events, query, evaluator=evaluator))  # type: ignore[misc]
                assert found is None or bool(found) == holds, (left, op, right)
    for condition, holds in (
        ("least(x.s, y.ns) = y.ns", True),
        ("coalesce(x.s, y.ns) > y.ms", True),
        ("greatest(y.s, x.ns) = x.ns", True),
        ("nullif(x.s, y.ms) = y.us", False),
    ):
        query = f"{THEN} FILTER {condition}"
        found = unless_declined(lambda query=query: positions(events, query, evaluator=evaluator))  # type: ignore[misc]
        assert found is None or bool(found) == holds, condition


# Zones


def night(zone: str | None) -> pa.Table:
    """Every half hour of two days around the beginning of summer time, shown in a zone."""
    begin = int(dt.datetime(2024, 3, 30, tzinfo=dt.UTC).timestamp())
    return pa.table(
        {"ts": pa.array(range(begin, begin + 172_800, 1800), pa.timestamp("s", zone)), "type": ["A"] * 96}
    )


EARLY = "SELECT * FROM s WHERE A AS x FILTER hour(x.ts) < 3"
SINCE = "SELECT * FROM s WHERE A AS x FILTER x.ts >= '2024-03-31 02:30'"


@pytest.mark.parametrize("query", [EARLY, SINCE])
def test_a_zone_that_is_given_is_that_of_all_instants(query: str) -> None:
    in_paris = positions(night(PARIS), query)
    assert in_paris != positions(night("UTC"), query)
    for events in (night("UTC"), night("UTC").to_pandas(), pl.from_arrow(night("America/New_York"))):
        found = cepheid.match(events, query, zone=PARIS, positions=True)
        assert [list(item) for item in found["positions"].to_numpy()] == in_paris
        assert cepheid.count(events, query, zone=PARIS) == len(in_paris)
    assert positions(night(None), query, zone=PARIS) == positions(night(None), query)
    engine = cepheid.query(query).engine(night("UTC").schema, zone=PARIS, positions=True)
    assert engine.push(night("UTC"))["positions"].to_pylist() == in_paris
    assert cepheid.match(night("UTC"), query, zone=PARIS)["start"].type == pa.timestamp("s", PARIS)


def test_explain_says_which_zone_is_read() -> None:
    assert f"zone: {PARIS} for ts" in cepheid.explain(EARLY, night(PARIS))
    assert "zone: +02:00 for ts" in cepheid.explain(EARLY, night(PARIS), zone="UTC+2")
    assert "zone:" not in cepheid.explain(EARLY, night(None))


@pytest.mark.parametrize("zone", ["Mars/Base", "", "../UTC", "+25:00", 5])
def test_zones_that_are_not_known_are_refused(zone: Any) -> None:
    assert refused(lambda: cepheid.match(night("UTC"), EARLY, zone=zone)).code == "bad-argument"


def test_streams_of_different_zones_and_units_are_joined_as_instants() -> None:
    query = "SELECT * FROM a, b WHERE a AS x ; b AS y WITHIN 1 ns"
    streams = {
        "a": pa.table({"ts": pa.array([1, 2], pa.timestamp("s", PARIS))}),
        "b": pa.table({"ts": pa.array([10**9 + 1, 2 * 10**9 + 2], pa.timestamp("ns", "Asia/Tokyo"))}),
    }
    found = cepheid.match(streams, query)
    assert found["start"].to_pylist() == [pd.Timestamp(1, unit="s", tz="UTC")]
    assert found["start"].type == pa.timestamp("ns", "UTC")
    assert cepheid.match(streams, query, zone=PARIS)["end"].type == pa.timestamp("ns", PARIS)
    streams["b"] = pa.table({"ts": pa.array([1], pa.timestamp("ns"))})
    for call in (cepheid.match, lambda data, query: cepheid.explain(query, data)):
        error = refused(lambda call=call: call(streams, query))
        assert "column `ts` of `a` has a time zone, Europe/Paris, and that of `b` has none" in error.message


@pytest.mark.parametrize(
    "zone", [None, "UTC", "+05:30", "-00:44", PARIS, "America/New_York", "Australia/Lord_Howe"]
)
def test_parts_of_times_are_those_of_the_definition(zone: str | None) -> None:
    choices = random.Random(str(zone))
    for unit in NS:
        years = [choices.randrange(1890, 2060) for _ in range(30)]
        usual = [int((dt.datetime(year, 1, 1) - dt.datetime(1970, 1, 1)).total_seconds()) for year in years]
        moments = [(second + choices.randrange(31_536_000)) * 10**9 // NS[unit] for second in usual]
        moments += [LEAST, MOST, 0, -1, *(choices.randrange(LEAST, MOST) for _ in range(5))]
        kept = [moment for moment in moments if LEAST <= moment <= MOST]
        for name in PARTS:
            found = part_of(name, Times(np.array(kept), unit, zone=zone))
            expected = [definition.apply(name, [Moment(moment * NS[unit], zone)]) for moment in kept]
            assert found.tolist() == expected, (name, unit)


def test_summer_time_goes_on_after_2037() -> None:
    """Arrow's tables end there."""
    summer = int((dt.datetime(2050, 7, 1, 12) - dt.datetime(1970, 1, 1)).total_seconds())
    events = pa.table({"ts": pa.array([summer], pa.timestamp("s", PARIS)), "type": ["A"]})
    assert positions(events, "SELECT * FROM s WHERE A AS x FILTER hour(x.ts) = 14") == [[0]]
    assert offset_at(PARIS, summer) == 7200


@given(st.datetimes(dt.datetime(1, 1, 3), dt.datetime(9999, 12, 29), timezones=st.timezones()))
@settings(max_examples=200)
def test_a_moment_is_what_python_says_it_is(time: dt.datetime) -> None:
    zone = getattr(time.tzinfo, "key", None)
    if zone is None:
        return
    moment = Moment(moment_of(time).ns, known_zone(zone))
    there = time.astimezone(dt.UTC).astimezone(
        time.tzinfo
    )  # an hour that is skipped becomes one that is there
    assert moment.date == (there.year, there.month, there.day)
    assert moment.time == (there.hour, there.minute, there.second, there.microsecond * 1000)
    assert moment.day_of_week == there.isoweekday() % 7 + 1


# The ends of the calendar


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Tokyo", "America/New_York", "+14:00", "-12:00"])
def test_the_ends_of_the_calendar_are_times_like_others(zone: str | None, evaluator: str) -> None:
    first = moment_of(dt.datetime.min).ns // 1000
    last = moment_of(dt.datetime.max).ns // 1000
    for ends in ([first, last], [LEAST, MOST], [first - 1, last + 1]):
        events = pa.table({"ts": pa.array(ends, pa.timestamp("us", zone)), "type": list("AB")})
        for condition in (
            "x.ts < '0001-01-02' AND y.ts > '9999-12-30 23:59:59.999999999'",
            "year(x.ts) <= 1 AND year(y.ts) >= 9999",
            "x.ts < y.ts AND hour(x.ts) BETWEEN 0 AND 23",
            "least(x.ts, y.ts) = x.ts",
        ):
            query = f"{THEN} FILTER {condition}"
            found = unless_declined(
                lambda events=events, query=query: positions(events, query, evaluator=evaluator)
            )
            assert found in (None, [[0, 1]]), condition
        assert positions(events, THEN + " WITHIN 1 day", evaluator=evaluator) == []
        engine = cepheid.query(THEN).engine(events.schema)
        assert (
            refused(lambda events=events, engine=engine: engine.push(events.take([1, 0]))).code == "unsorted"
        )


def test_literals_at_the_ends_of_the_calendar_print_and_parse() -> None:
    events = pa.table({"ts": pa.array([0], pa.timestamp("us", "Asia/Tokyo")), "type": ["A"]})
    for text in ("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "0001-01-01 00:00:00+14:00"):
        shown = cepheid.explain(f"SELECT * FROM s WHERE A AS x FILTER x.ts <> '{text}'", events)
        query = shown.split("── query ──\n")[1].split("\n\n")[0]
        assert cepheid.explain(query, events).split("── query ──\n")[1].split("\n\n")[0] == query
        assert text in query
