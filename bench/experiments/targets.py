"""The targets that are a single figure each; those on growth are in `window`, `length` and `stream`."""

from __future__ import annotations

from collections.abc import Callable

from bench.checks import Check, prefix_check, strategy_checks
from bench.counting import by_key, sequence_of_three
from bench.experiments.stocks import counted_stocks
from bench.formulas import Q
from bench.results import Report, Row, Setting, Target
from bench.start import first_query, first_query_read_only
from bench.streams import drawn, keyed, sparse
from bench.tables import MEASURED, measured
from bench.texts import texts
from bench.ticks import MISSING, STOCKS
from bench.work import FORMS, counted, enumerated

WITHIN = 1_000
CLAUSE = f"WITHIN {WITHIN} EVENTS"
COMPARED = ("ALL", "NXT", "LAST", "MAX")
KEYS = 1_000_000
KEY_WITHIN = 1_000_000  # units of time, of which each event takes one
FEW_EVENTS, MORE_EVENTS = 30, 100  # windows in which 3 and 38 matches end per event

Measured = tuple[list[Row], list[Target]]


def run(setting: Setting) -> Report:
    measurements = [part(setting) for part in PARTS]
    rows = [row for part_rows, _ in measurements for row in part_rows]
    targets = [target for _, part_targets in measurements for target in part_targets]
    skipped = "" if STOCKS.exists() else f" {MISSING}"
    return Report(
        "targets",
        "one figure each, in one process on one core",
        ("work", *MEASURED),
        [_line(row, setting) for row in rows],
        rows,
        "Look at the table of targets at the end." + skipped,
        targets,
    )


def dense(setting: Setting) -> Measured:
    events = setting.events(4_000_000, 1_000_000)
    rows = setting.each(sequence_row, [(events, 0.6, kind, setting.repeats) for kind in (False, True)])
    return rows, [_rate(row, 20e6) for row in rows]


def rare(setting: Setting) -> Measured:
    events = setting.events(16_000_000, 4_000_000)
    rows = setting.each(sequence_row, [(events, 0.01, kind, setting.repeats) for kind in (False, True)])
    return rows, [_rate(row, 150e6) for row in rows]


def sequence_row(events: int, share: float, dictionary: bool, repeats: int) -> Row:
    """A share of 0.6 is what A, B and C have among five types that are equally likely."""
    stream = sparse(events, share)
    check = Check("whole stream, by sums", sequence_of_three(stream, WITHIN))
    kind = "dictionary" if dictionary else "plain"
    name = f"A;B;C, {share:.0%} relevant, {kind}"
    return counted(name, stream.table(dictionary), Q["Q1"].query(clauses=CLAUSE), check, repeats, types=kind)


def nested(setting: Setting) -> Measured:
    rows = setting.each(nested_row, [(setting.events(4_000_000, 500_000), setting.repeats)])
    return rows, [_rate(row, 8e6) for row in rows]


def nested_row(events: int, repeats: int) -> Row:
    stream = drawn(events)
    query = Q["Q6"].query(clauses=CLAUSE)
    check = prefix_check(Q["Q6"], stream, WITHIN, query)
    return counted("(A+ ; B)+ ; C", stream.table(), query, check, repeats)


def enumeration(setting: Setting) -> Measured:
    events = setting.events(200_000, 50_000)
    cases = [
        (form, within, events, setting.repeats)
        for within in (FEW_EVENTS, MORE_EVENTS)
        for form in range(len(FORMS))
    ]
    rows = setting.each(enumeration_row, cases)
    return rows, [Target(row.name, 15e6, row.matches_per_s, "matches/s", True, row.noisy) for row in rows]


def enumeration_row(form: int, within: int, events: int, repeats: int) -> Row:
    stream = drawn(events)
    check = Check("whole stream, by sums", sequence_of_three(stream, within))
    query = Q["Q1"].query(clauses=f"WITHIN {within} EVENTS")
    name = f"matches, window {within}, {FORMS[form].name}"
    return enumerated(name, stream.table(), query, check, repeats, FORMS[form])


def partitions(setting: Setting) -> Measured:
    events, keys = setting.events(4_000_000, 1_000_000), KEYS // setting.divide
    rows = setting.each(partitions_row, [(events, keys, min(setting.repeats, 3))])
    return rows, [_rate(row, 5e6) for row in rows]


def partitions_row(events: int, keys: int, repeats: int) -> Row:
    stream = drawn(events)
    table = keyed(stream, keys)
    numbers, times = (table[name].to_numpy() for name in ("key", "ts"))
    check = Check("whole stream, by trying triples", by_key(stream, numbers, times, KEY_WITHIN))
    query = Q["Q1"].query(clauses=f"PARTITION BY key WITHIN {KEY_WITHIN}")
    return counted(f"A;B;C, {keys:,} partitions", table, query, check, repeats, keys=keys)


def conditions(setting: Setting) -> Measured:
    events = setting.events(4_000_000, 1_000_000)
    groups = setting.each(texts, [(events, kind, setting.repeats) for kind in (False, True)])
    targets = [
        Target(
            f"10 tests on strings beside the floor, {row.name}",
            1.0,
            row.timing / group[0].timing,
            "×",
            noisy=row.noisy or group[0].noisy,
        )
        for group in groups
        for row in group[1:]
        if row.parameters["conditions"] == "alone"
    ]
    return [row for group in groups for row in group], targets


def compared(setting: Setting) -> Measured:
    """Of each strategy the worst of Q1–Q5 beside ALL of the same query."""
    events = setting.events(1_000_000, 200_000)
    groups = setting.each(compared_rows, [(name, events, 3) for name in list(Q)[:5]])
    targets = []
    for place, strategy in enumerate(COMPARED[1:], start=1):
        ratios = [rows[place].timing / rows[0].timing for rows in groups]
        worst = groups[ratios.index(max(ratios))]
        work = f"{strategy} beside ALL, worst of Q1–Q5 ({worst[0].name[:2]})"
        targets.append(Target(work, 3.0, max(ratios), "×", noisy=worst[place].noisy or worst[0].noisy))
    return [row for rows in groups for row in rows], targets


def compared_rows(name: str, events: int, repeats: int) -> list[Row]:
    stream = drawn(events)
    table = stream.table()
    queries = {strategy: Q[name].query(strategy, CLAUSE) for strategy in COMPARED}
    checks = strategy_checks(name, stream, queries, WITHIN)
    return [
        counted(f"{name} {strategy}", table, query, checks[strategy], repeats, strategy=strategy)
        for strategy, query in queries.items()
    ]


def iteration(setting: Setting) -> Measured:
    if not STOCKS.exists():
        return [], []
    row = setting.each(counted_stocks, [("iteration", 10_000, setting.repeats)])[0]
    return [row], [
        Target("stocks, (BUY RIMM)+ within 10 s, count", 1.0, row.timing.seconds, "s", noisy=row.noisy)
    ]


def start(setting: Setting) -> Measured:
    """The read-only package compiles its kernels once more, which is not quick."""
    rows = [first_query(2 if setting.quick else 5)]
    if not setting.quick:
        rows.append(first_query_read_only(3))
    return rows, [Target(row.name, 1.5, row.timing.seconds, "s", noisy=row.noisy) for row in rows]


def _line(row: Row, setting: Setting) -> tuple[str, ...]:
    """A first query is not about events: of it only the warm-up and the memory are shown."""
    cells = measured(row, setting.calibration)
    return (row.name, *(cells if row.events > FEW_EVENTS else ("–",) * 6 + cells[6:]))


def _rate(row: Row, goal: float) -> Target:
    return Target(f"{row.name}, count", goal, row.events_per_s, "events/s", at_least=True, noisy=row.noisy)


PARTS: tuple[Callable[[Setting], Measured], ...] = (
    dense,
    rare,
    nested,
    enumeration,
    partitions,
    conditions,
    compared,
    iteration,
    start,
)
