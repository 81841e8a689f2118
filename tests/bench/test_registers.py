"""The experiments with registers: their own counters agree with the definition, and they run where the data is."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pytest
from bench.calibration import Calibration
from bench.curves import svg_of
from bench.experiments import registers_kleene, registers_length, registers_operators, registers_window
from bench.join import joined, joined_by_polars
from bench.operators import VARIANTS
from bench.register_counts import iterations, matching, middles, sequences
from bench.register_rows import KNOWN
from bench.registers import OPERATORS, Pattern, kleene, nested, sequence
from bench.results import Curve, Setting
from bench.ticks import STOCKS, TIME, day, repeated
from rich.console import Console

import cepheid
from bench import run

SMALL = {
    "seq_3": sequence(3),
    "seq_6": sequence(6),
    "k_3": kleene(3),
    "k_6": kleene(6),
    "kn_4": nested(4),
    "kn_8": nested(8),
    **OPERATORS,
}
EXPERIMENTS = {
    name: run.EXPERIMENTS[name]
    for name in ("registers-length", "registers-window", "registers-kleene", "registers-operators")
}
has_stocks = pytest.mark.skipif(not STOCKS.exists(), reason="the stock stream is not beside the project")


class Here:
    """In place of another process: this one."""

    def apply(self, function, arguments):
        return function(*arguments)


def drawn(events: int, names: list[str], types: list[str], seed: int) -> pa.Table:
    """Prices are few, so that equal ones are among them, and on both sides of the thresholds."""
    random = np.random.default_rng(seed)
    return pa.table(
        {
            "type": random.choice(types, events),
            "name": random.choice(names, events),
            "volume": random.choice([100, 4000], events),
            "price": random.choice([10.0, 12.0, 19.0, 27.0, 28.0], events),
            TIME: np.sort(random.integers(0, 3 * events, events)),
        }
    )


def like_a_match(pattern: Pattern, events: int, seed: int) -> pa.Table:
    """Events that the steps take one after the other, some of them several, so that there are matches."""
    random = np.random.default_rng(seed)
    length = len(pattern.steps)
    places = np.sort(np.append(np.arange(length), random.integers(0, length, events - length)))
    steps = [pattern.steps[place] for place in places]
    table = drawn(events, ["ELSE"], ["BUY", "SELL"], seed)
    kinds = [step.type or given for step, given in zip(steps, table["type"].to_pylist(), strict=True)]
    table = table.set_column(0, "type", pa.array(kinds))
    return table.set_column(1, "name", pa.array([step.name for step in steps]))


@pytest.mark.parametrize("name", SMALL)
def test_the_direct_program_counts_as_the_definition(name: str) -> None:
    found = 0
    for seed in range(6):
        table = like_a_match(SMALL[name], 13, seed)
        for within in (15, 40):
            expected = cepheid.count(table, SMALL[name].query(within), time=TIME, evaluator="semantics")
            assert matching(SMALL[name], table, within) == expected
            found += expected
    assert found > 0


@pytest.mark.parametrize("name", VARIANTS)
def test_the_programs_for_other_operators_count_as_the_definition(name: str) -> None:
    names = ["IPIX"] if name.startswith("strict") else ["MSFT", "ORCL", "AMAT", "INTC", "RIMM", "QQQ"]
    names = [each for each in names if f"'{each}'" in VARIANTS[name].text]
    found = 0
    for seed in range(6):
        table = drawn(16, names, ["BUY", "SELL", "SELL"], seed)
        for within in (5, 30):
            query = f"{VARIANTS[name].text} WITHIN {within}"
            expected = cepheid.count(table, query, time=TIME, evaluator="semantics")
            assert VARIANTS[name].count(table, within) == expected
            found += expected
    assert found > 0


@pytest.mark.parametrize("within", [0, 20, 200])
def test_pairs_and_the_join_and_the_direct_program_and_the_engine_agree(within: int) -> None:
    table = drawn(600, ["INTC", "RIMM", "QQQ", "IPIX"], ["BUY", "SELL"], seed=3)
    between = middles(sequence(3), table, within)
    expected = matching(sequence(3), table, within)
    assert sequences(between) == joined(table, within) == joined_by_polars(table, within) == expected
    assert iterations(between) == matching(kleene(3), table, within)
    assert cepheid.count(table, sequence(3).query(within), time=TIME) == expected
    assert cepheid.count(repeated(table, 3), sequence(3).query(within), time=TIME) == 3 * expected


@pytest.mark.parametrize("pattern", [kleene(12), nested(16)])
def test_long_patterns_run_on_configurations(pattern: Pattern) -> None:
    table = drawn(1, ["INTC"], ["BUY"], seed=0)
    assert "evaluator: configurations" in cepheid.explain(pattern.query(500), table, time=TIME)


@has_stocks
def test_the_counters_find_what_is_known_of_the_day() -> None:
    for (family, length, within), known in KNOWN.items():
        between = middles(sequence(length), day(), within)
        assert (sequences if family == "sequence" else iterations)(between) == known
    assert joined(day(), 500) == joined_by_polars(day(), 500) == KNOWN["sequence", 3, 500]
    assert matching(OPERATORS["q1"], day(), 1_000) == 686


@has_stocks
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_runs_and_its_table_fits_the_screen(name: str) -> None:
    calibration = Calibration(events=1000, copy_bytes_per_s=1e10, step_ns=2.0)
    setting = Setting(quick=True, calibration=calibration, divide=20, process=Here())  # type: ignore[arg-type]
    report = EXPERIMENTS[name](setting)
    assert report.name == name
    assert {len(line) for line in report.lines} == {len(report.header)}
    screen = Console(width=120, record=True, file=StringIO())
    run.show(screen, report)
    assert "…" not in screen.export_text()
    for curve in report.curves:
        ElementTree.fromstring(svg_of(curve))


@pytest.mark.parametrize(
    "experiment", [registers_length, registers_window, registers_kleene, registers_operators]
)
def test_without_the_data_an_experiment_says_so(experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "STOCKS", Path("nowhere.parquet"))
    setting = Setting(quick=True, calibration=Calibration(1, 1.0, 1.0))
    report = experiment.run(setting)
    assert report.rows == report.targets == report.curves == []
    assert "Skipped" in report.look


def test_a_curve_shows_the_state_beside_and_names_on_the_axis() -> None:
    curve = Curve(
        "c", "t", "pattern", ((1, 12.5e6), (2, 9e6)), memory=(17.0, 2_349.0), labels=("q1", "a & b")
    )
    root = ElementTree.fromstring(svg_of(curve))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"q1", "a & b", "17", "2,349", "12.5 M", "state, KB"} <= set(texts)
    assert not list(root.iter("{http://www.w3.org/2000/svg}polyline"))
