"""Correlation by equality on the chain evaluator (`partition-by-chain-cea`): what an event costs, and a match.

`A ; B ; C` with one key throughout, said by PART-BY and compared link by link, by PART-BY as it is planned (as a
partition), or by PARTITION BY on the compact evaluator; streams of 10⁵ to 10⁷ events and 10 to 10⁶ keys. And `A ; B`
of *different* keys, where all but the oldest A have B's key: the pointers of the paper's section 6 must lead past them
at once.
"""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa

import cepheid
from bench.checks import Check
from bench.counting import by_key
from bench.curves import short
from bench.results import Report, Row, Setting, Target
from bench.streams import Stream, drawn, keyed
from bench.tables import MEASURED, measured
from bench.timing import measure, require
from bench.work import FORMS, counted, enumerated

PER_KEY = 20  # events of each key in a window
PREFIX = 200_000  # events on which the count is checked
OLD = 50_000  # matches of the query for different keys
FLAT, TWICE = 1.5, 2.0  # more keys than caches hold may cost twice as much

PART_BY = "SELECT * FROM s WHERE (A AS x ; B AS y ; C AS z) PART-BY [key] WITHIN {}"
PARTITION = "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z PARTITION BY key WITHIN {}"
WAYS = {"chain": "PART-BY by links", "planned": "PART-BY", "partition": "PARTITION BY"}
DIFFERENT = "SELECT * FROM s WHERE (A AS x ; B AS y) FILTER x.key <> y.key"


def run(setting: Setting) -> Report:
    lengths = setting.points([10**5, 10**6, 10**7], [10**5, 10**6])
    numbers = setting.points([10, 10**3, 10**5, 10**6], [10, 10**5])
    repeats = min(setting.repeats, 3)
    most = setting.events(1_000_000, 400_000)
    by_length = setting.each(one, [("chain", n // setting.divide, 10**3, False, repeats) for n in lengths])
    rows: dict[tuple[str, bool], list[Row]] = {
        (way, count): setting.each(one, [(way, most, keys, count, repeats) for keys in numbers])
        for count in (False, True)
        for way in WAYS
    }
    waiting = setting.points([10**3, 10**4, 10**5], [10**3, 10**5])
    delays = setting.each(different, [(n // setting.divide, repeats) for n in waiting])
    every = [*by_length, *(row for group in rows.values() for row in group), *delays]
    per_match = [row.timing.seconds / row.matches * 1e9 for row in delays]
    lines = [(row.name, *measured(row, setting.calibration)) for row in every]
    return Report(
        "chains",
        f"A ; B ; C of one key, {PER_KEY} events of it in a window; A ; B of different keys, one B",
        ("", *MEASURED),
        lines,
        every,
        f"Look at ns/event: the same for all streams and numbers of keys but for what caches hold. The last lines make "
        f"{OLD:,} matches past ever more As of B's key: {', '.join(f'{ns:,.0f}' for ns in per_match)} ns per match.",
        [
            _target(f"PART-BY, stream {short(lengths[0])} → {short(lengths[-1])}", by_length),
            _target(f"PART-BY, keys {short(numbers[0])} → {short(numbers[-1])}", rows["chain", False], TWICE),
            *(
                _beside(
                    f"{WAYS[way]} beside PARTITION BY, {'count' if count else 'matches'}, worst", one, other
                )
                for count in (False, True)
                for way in ("chain", "planned")
                for one, other in [(rows[way, count], rows["partition", count])]
            ),
            Target(
                f"delay of different keys, {short(waiting[0])} → {short(waiting[-1])} waiting",
                FLAT,
                max(per_match) / per_match[0],
                "×",
                noisy=any(row.noisy for row in delays),
            ),
        ],
    )


def _target(work: str, rows: list[Row], goal: float = FLAT) -> Target:
    times = [row.ns_per_event for row in rows]
    return Target(
        f"{work}, time per event", goal, max(times) / min(times), "×", noisy=any(r.noisy for r in rows)
    )


def _beside(work: str, ones: list[Row], others: list[Row]) -> Target:
    worst = max(one.timing / other.timing for one, other in zip(ones, others, strict=True))
    return Target(work, TWICE, worst, "×", noisy=any(row.noisy for row in (*ones, *others)))


def one(way: str, events: int, keys: int, count: bool, repeats: int) -> Row:
    """With `count` only the number of matches, else the positions of all."""
    stream = drawn(events)
    table = keyed(stream, keys)
    query = (PARTITION if way == "partition" else PART_BY).format(PER_KEY * keys)
    check = checked(stream, table, keys)
    evaluator = {"chain": "chain", "planned": "auto", "partition": "compact"}[way]
    name = f"{WAYS[way]}, {short(keys)} keys{', count' if count else ''}"
    if count:
        return counted(name, table, query, check, repeats, evaluator=evaluator, keys=keys)
    return enumerated(name, table, query, check, repeats, FORMS[1], evaluator=evaluator)


def checked(stream: Stream, table: pa.Table, keys: int) -> Check:
    """Both ways of saying it find what trying triples finds, where keys are many enough for that; else each other's."""
    prefix, part, within = stream.prefix(PREFIX), table.slice(0, PREFIX), PER_KEY * keys
    found = cepheid.count(part, PART_BY.format(within), evaluator="chain")
    if keys >= 10**4:
        numbers, times = (part[name].to_numpy() for name in ("key", "ts"))
        expected, how = by_key(prefix, numbers, times, within), "by trying triples"
    else:
        expected, how = cepheid.count(part, PARTITION.format(within)), "PART-BY as PARTITION BY"
    require(found, expected, f"`{PART_BY.format(within)}`")
    return Check(f"first {PREFIX:,} events, {how}")


def different(waiting: int, repeats: int) -> Row:
    """Some As of another key, many of B's key; then each B has the same matches."""
    keys = np.concatenate([np.zeros(OLD), np.ones(waiting)]).astype(np.int64)
    table = pa.table({"ts": np.arange(len(keys)), "type": ["A"] * len(keys), "key": keys})
    engine = cepheid.query(DIFFERENT).engine(table.schema, columns=["positions"])
    engine.push(table)
    times = itertools.count(len(keys))

    def next_b() -> int:
        found = engine.push(pa.table({"ts": [next(times)], "type": ["B"], "key": [1]}))
        return int(found.num_rows)

    matches, timing = measure(next_b, 20 * repeats, OLD)
    name = f"different, {short(waiting)} passed over"
    return Row(name, 1, matches, table.nbytes, "by hand", timing, {"query": DIFFERENT})
