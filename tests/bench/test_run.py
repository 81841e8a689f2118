"""The command from end to end on tiny streams: tables, JSON, curves; and a wrong count stops it."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from bench.calibration import Calibration
from bench.curves import short, svg_of
from bench.experiments import streaming, stress, targets, window
from bench.experiments.stocks import STOCKS
from bench.results import Curve, Report, Row, Setting, Target
from bench.tables import millions
from bench.timing import Timing, WrongCountError, measure
from rich.console import Console

from bench import run

has_stocks = pytest.mark.skipif(not STOCKS.exists(), reason="the stock stream is not beside the project")
CALIBRATION = Calibration(events=1000, copy_bytes_per_s=1e10, step_ns=2.0)


class Here:
    """In place of another process: this one."""

    def apply(self, function, arguments):
        return function(*arguments)


@pytest.fixture
def setting() -> Setting:
    return Setting(quick=True, calibration=CALIBRATION, divide=200, process=Here())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name",
    [
        *("targets", "window", "length", "relevance", "consumption", "strategies", "waiting", "absence"),
        pytest.param("joins", marks=has_stocks),
    ],
)
def test_an_experiment_runs_and_its_table_fits_the_screen(
    name: str, setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "PARTS", [part for part in targets.PARTS if part is not targets.start])
    report = run.EXPERIMENTS[name](setting)
    assert {len(line) for line in report.lines} == {len(report.header)}
    screen = Console(width=120, record=True, file=StringIO())
    run.show(screen, report)
    assert "…" not in screen.export_text()


@pytest.mark.spark
def test_the_streaming_experiment_finds_in_the_stream_what_the_batch_has(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "WARM_UP", 1)
    report = run.EXPERIMENTS["streaming"](setting)
    batch, stream = report.rows
    assert 0 < stream.matches <= batch.matches
    assert {len(line) for line in report.lines} == {len(report.header)}


def test_the_stress_experiment_finds_all_matches_at_the_last_event(setting: Setting) -> None:
    report = stress.run(replace(setting, divide=4))
    assert [row.matches == 0 for row in report.rows] == [True, False] * 6


def test_a_wrong_count_stops_the_run(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(window, "sequence_of_three", lambda stream, within: 1)
    with pytest.raises(WrongCountError, match="there are 1"):
        window.run(setting)

    monkeypatch.setattr(run, "isolated", lambda *_: CALIBRATION)
    monkeypatch.setitem(run.EXPERIMENTS, "window", lambda _: window.run(setting))
    assert run.main(["--only", "window", "--output", str(tmp_path)]) == 1
    assert "wrong count" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_run_in_processes_of_its_own_writes_everything(tmp_path: Path) -> None:
    arguments = ["--quick", "--divide", "200", "--only", "relevance", "--output", str(tmp_path)]
    assert run.main(arguments) == 0
    written = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))
    assert set(written) == {"quick", "machine", "calibration", "experiments"}
    assert set(written["calibration"]) == {"before", "after", "differs"}
    rows = written["experiments"]["relevance"]["rows"]
    assert [row["name"] for row in rows] == ["100 %", "10 %", "1 %", "0.1 %"]
    for row in rows:
        assert {"events", "matches", "checked", "parameters", "noisy", "peak_mb", "warm_up_seconds"} <= set(
            row
        )
        assert len(row["all_wall_seconds"]) == len(row["all_cpu_seconds"]) == 3
        assert row["times_trivial_loop"] > 0 < row["times_copy_of_input"]
    assert (tmp_path / "bench" / "relevance.svg").exists()


def test_large_numbers_survive_json(tmp_path: Path) -> None:
    row = Row("x", 10, 2**60 + 1, 100, "by hand", Timing((1.0,), (1.0,), 0.1, 5.0))
    report = Report("x", "t", ("a",), [], [row], "look", [Target("w", 2.0, 1.0, "×")])
    run.written(tmp_path, [report], CALIBRATION, CALIBRATION, quick=True)
    experiment = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))["experiments"]["x"]
    assert experiment["rows"][0]["matches"] == str(2**60 + 1)
    assert experiment["targets"][0]["met"] is True


def test_a_curve_is_well_formed_and_has_its_numbers_under_the_axis() -> None:
    curve = Curve("c", "A < B & C", "window", ((100, 12.5e6), (10_000, 9e6), (1_000_000, 350_000)))
    root = ElementTree.fromstring(svg_of(curve))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    for x, y in curve.points:
        assert short(x) in texts
        assert millions(y) in texts
    assert "A < B & C" in texts


def test_the_median_is_taken_and_the_first_run_is_warm_up() -> None:
    found = iter([7] * 4)
    matches, timing = measure(lambda: next(found), repeats=3, expected=7)
    assert matches == 7
    assert len(timing.wall_s) == 3
    assert Timing((1.0, 9.0, 2.0), (1.0, 2.0, 2.0), 0.0, 0.0).seconds == 2.0
    assert Timing((3.0,), (1.0,), 0.0, 0.0).noisy


def test_a_result_that_changes_between_runs_is_wrong() -> None:
    found = iter([7, 8])
    with pytest.raises(WrongCountError):
        measure(lambda: next(found), repeats=3)


def test_a_machine_that_changed_during_the_run_is_noticed() -> None:
    assert not CALIBRATION.differs(replace(CALIBRATION, step_ns=2.2))
    assert CALIBRATION.differs(replace(CALIBRATION, step_ns=4.0))
    assert CALIBRATION.differs(replace(CALIBRATION, copy_bytes_per_s=5e9))


def test_a_target_is_a_lower_or_an_upper_bound() -> None:
    assert Target("rate", 20e6, 21e6, "events/s", at_least=True).met
    assert not Target("ratio", 3.0, 3.1, "×").met
