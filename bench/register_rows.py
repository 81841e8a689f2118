"""Rows of the experiments with registers: a pattern over the stock stream, checked, then counted or enumerated."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

import cepheid
from bench.checks import Check
from bench.join import joined, joined_by_polars
from bench.operators import VARIANTS
from bench.register_counts import iterations, matching, middles, sequences
from bench.registers import FAMILIES, OPERATORS, Pattern
from bench.results import Curve, Row, Setting, Target
from bench.tables import measured
from bench.ticks import TIME, day, repeated
from bench.timing import measure_in_turns, require
from bench.work import FORMS, counted, enumerated
from cepheid.engine import Engine

COPIES, FEW_COPIES = 10, 2  # of the day
RATE = 10e6  # events/s to be reached at windows of up to a second
MORE = 3  # times as often are joins measured, which take little time
HEADER = "state\nKB"
PUSHED = 1 << 14  # rows between two looks at the state

KNOWN = {
    **{("sequence", 3, w): n for w, n in ((500, 821), (1_000, 3_560), (2_000, 11_442), (5_000, 99_037))},
    **{("kleene", 3, w): n for w, n in ((500, 1_369), (1_000, 12_589), (2_000, 128_584))},
    ("kleene", 3, 5_000): 2_238_660_353_981,
}  # in a day, by brute force


def sizes(setting: Setting) -> tuple[int, int, int]:
    """Events of the day, how often it is repeated, how often a row is measured."""
    if setting.divide > 1:
        return len(day()) // setting.divide, 1, 2
    return len(day()), FEW_COPIES if setting.quick else COPIES, 2 if setting.quick else 3


def pattern_row(family: str, length: int, within: int, events: int, copies: int, repeats: int) -> Row:
    pattern = FAMILIES[family](length)
    part = day().slice(0, events)
    check = _checked(family, length, pattern, part, within)
    return _counted(f"{family} {length}, {within:,} ms", pattern.query(within), part, copies, check, repeats)


def paper_row(name: str, within: int, events: int, copies: int, repeats: int) -> Row:
    """`q1` to `q5` counted in any window."""
    part = day().slice(0, events)
    check = Check("by a direct program", matching(OPERATORS[name], part, within))
    return _counted(f"{name}, {within:,} ms", OPERATORS[name].query(within), part, copies, check, repeats)


def operator_rows(name: str, within: int, events: int, copies: int, repeats: int) -> list[Row]:
    """`q1` to `q5` and other operators: counted, and the positions of all matches."""
    part = day().slice(0, events)
    if name in OPERATORS:
        query = OPERATORS[name].query(within)
        check = Check("by a direct program", matching(OPERATORS[name], part, within))
    else:
        variant = VARIANTS[name]
        query = f"{variant.text} WITHIN {within}"
        check = Check("by a direct program", variant.count(part, within))
    count = _counted(name, query, part, copies, check, repeats)
    table = repeated(part, copies)
    check = Check(count.checked, count.matches)
    return [count, enumerated(f"{name}, positions", table, query, check, repeats, FORMS[1], time=TIME)]


def join_rows(within: int, events: int, copies: int, repeats: int) -> list[Row]:
    """`seq_3` by the engine, parsing and planning included, and by both joins by hand: in turns, in one process."""
    part = day().slice(0, events)
    table = repeated(part, copies)
    pattern = FAMILIES["sequence"](3)
    expected = copies * sequences(middles(pattern, part, within))
    query = pattern.query(within)
    runs = {
        "in turns with joins": lambda: cepheid.count(table, query, time=TIME),
        "join by numpy": lambda: joined(table, within),
        "join by polars": lambda: joined_by_polars(table, within),
    }
    timings = measure_in_turns(list(runs.values()), MORE * repeats, expected)
    parameters = {"window": within, "state_bytes": 0}
    return [
        Row(f"{name}, {within:,} ms", len(table), expected, table.nbytes, "by pairs", timing, parameters)
        for name, timing in zip(runs, timings, strict=True)
    ]


def line(row: Row, setting: Setting) -> tuple[str, ...]:
    """Its name, what was measured, and the state."""
    state = row.parameters.get("state_bytes")
    return row.name, *measured(row, setting.calibration), f"{state / 1024:,.0f}" if state else "–"


def slowest(work: str, rows: Iterable[Row]) -> Target:
    row = min(rows, key=lambda row: row.events_per_s)
    return Target(f"{work}, slowest ({row.name})", RATE, row.events_per_s, "events/s", True, row.noisy)


def beside(work: str, one: Row, other: Row, goal: float) -> Target:
    """Time per event of one and of another."""
    return Target(work, goal, one.ns_per_event / other.ns_per_event, "×", noisy=one.noisy or other.noisy)


def beside_join(engine: Row, join: Row) -> list[Target]:
    """CPU time and wall time of the engine and of a join by hand."""
    work = f"registers, sequence of 3, beside {join.name}"
    noisy = engine.noisy or join.noisy
    cpu = engine.timing.cpu_seconds / join.timing.cpu_seconds
    return [
        Target(f"{work}, CPU time", 1.0, cpu, "×", noisy=noisy),
        Target(f"{work}, wall time", 1.0, engine.timing / join.timing, "×", noisy=noisy),
    ]


def curve(
    name: str, title: str, across: str, points: Iterable[tuple[int, Row]], labels: Iterable[str] = ()
) -> Curve:
    """Events/s, the state beside it."""
    points = list(points)
    kilobytes = tuple(row.parameters["state_bytes"] / 1024 for _, row in points)
    return Curve(
        name, title, across, tuple((x, row.events_per_s) for x, row in points), kilobytes, tuple(labels)
    )


def _checked(family: str, length: int, pattern: Pattern, part: pa.Table, within: int) -> Check:
    """Patterns of three by pairs, for all of the day; others by a direct program, where windows are long on fewer
    events."""
    if length == 3:
        between = middles(pattern, part, within)
        expected = sequences(between) if family == "sequence" else iterations(between)
        if len(part) == len(day()) and (family, length, within) in KNOWN:
            require(expected, KNOWN[family, length, within], "the check by pairs")
        return Check("whole stream, by pairs", expected)
    few = part.slice(0, 20_000 if within <= 1_000 else 4_000)
    query = pattern.query(within)
    require(cepheid.count(few, query, time=TIME), matching(pattern, few, within), f"`{query}`")
    return Check(f"first {len(few):,} events, by a direct program")


def _counted(name: str, query: str, part: pa.Table, copies: int, check: Check, repeats: int) -> Row:
    """The check is of one copy."""
    state = state_bytes(query, part)
    check = Check(check.how, None if check.expected is None else copies * check.expected)
    table = repeated(part, copies)
    return counted(name, table, query, check, repeats, time=TIME, state_bytes=state)


def state_bytes(query: str, table: pa.Table) -> int:
    """The most that the engine held between batches."""
    parsed = cepheid.query(query)
    engine = Engine(parsed.engine(table.schema, time=TIME).plan, counting=True)
    most = 0
    for begin in range(0, len(table), PUSHED):
        engine.push(table.slice(begin, PUSHED))
        most = max(most, engine.memory)
    return most
