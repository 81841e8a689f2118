"""The command line without Spark: usage, queries, errors and their exit codes."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from cepheid.cli.app import app

GOOD = "SELECT * FROM farm WHERE (T AS x ; H AS y) FILTER (x.tmp > 40 AND y.hum <= 25) WITHIN 5"
TABLE = pa.table({"ts": [1, 2], "type": ["T", "H"], "tmp": [45.0, None], "hum": [None, 20.0]})


def cepheid(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def farm(tmp_path: Path) -> Path:
    path = tmp_path / "farm.parquet"
    pq.write_table(TABLE, path)
    return path


def test_a_good_query_checks_out() -> None:
    result = cepheid("check", "-e", GOOD)
    assert (result.exit_code, result.stdout) == (0, "ok\n")


def test_a_query_file_is_read_and_named_in_errors(tmp_path: Path) -> None:
    file = tmp_path / "fires.cel"
    file.write_text("SELECT * FROM farm\nWHERE T AS x FILTER y.tmp > 40")
    result = cepheid("check", file)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert f"--> {file}:2:" in result.stderr
    assert "^" in result.stderr


def test_the_ending_of_a_query_file_says_its_language(tmp_path: Path, farm: Path) -> None:
    file = tmp_path / "fires.sremo"
    file.write_text("#([type = 'T' AND tmp > 40], [hum <= 25]) WITHIN 5")
    result = cepheid("explain", file, "--input", farm, "--time", "ts")
    assert result.exit_code == 0, result.stderr
    assert "any_match" in result.stdout
    file.write_text("T ; H")
    assert "expected an expression such as" in cepheid("check", file).stderr
    assert "expected SELECT" in cepheid("check", file, "--language", "cel").stderr
    assert cepheid("check", "--language", "sremo", "-e", "[hum <= 25]").stdout == "ok\n"


def test_check_against_data_finds_a_misspelt_attribute(farm: Path) -> None:
    result = cepheid("check", "-e", GOOD.replace("x.tmp", "x.tpm"), "--input", farm, "--time", "ts")
    assert result.exit_code == 1
    assert "did you mean `tmp`?" in result.stderr


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".json"])
def test_columns_are_read_without_spark(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    path = tmp_path / f"farm{suffix}"
    if suffix == ".parquet":
        pq.write_table(TABLE, path)
    elif suffix == ".csv":
        pyarrow.csv.write_csv(TABLE, path)
    else:
        path.write_text('{"ts": 1, "type": "T", "tmp": 45.0, "hum": 1.0}\n')
    result = cepheid("explain", "-e", GOOD, "--input", path, "--time", "ts")
    assert result.exit_code == 0, result.stderr
    assert "compact" in result.stdout


def test_explain_needs_no_data() -> None:
    result = cepheid("explain", "-e", GOOD)
    assert result.exit_code == 0
    assert "T" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["check"], "QUERY"),
        (["check", "-e", GOOD, "also.cel"], "QUERY"),
        (["run", "-e", GOOD], "--input"),
        (["run", "-e", GOOD, "--input", "farm.parquet"], "--time"),
        (
            ["run", "-e", GOOD, "--input", "farm.parquet", "--time", "ts", "--evaluator", "magic"],
            "--evaluator",
        ),
        (["run", "-e", GOOD, "--input", "a=x", "--input", "y", "--time", "ts"], "--input"),
        (["run", "-e", GOOD, "--input", "x", "--time", "ts", "--limit", "-1"], "--limit"),
        (["run", "-e", GOOD, "--input", "x", "--time", "ts", "-o", "-", "--output-format", "csv"], "JSON"),
        (["march"], "march"),
    ],
)
def test_bad_usage_exits_with_2_and_names_the_argument(arguments: list[str], says: str) -> None:
    result = cepheid(*arguments)
    assert result.exit_code == 2
    assert says in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["check", "missing.cel"], "missing.cel: No such file"),
        (["check", "-e", "SELECT * FROM farm WHERE"], "error[syntax]"),
        (["check", "-e", GOOD, "--language", "sql"], "error[unknown-language]"),
        (["check", "-e", GOOD, "--input", "missing.parquet", "--time", "ts"], "missing.parquet"),
    ],
)
def test_bad_queries_and_data_exit_with_1(
    arguments: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = cepheid(*arguments)
    assert result.exit_code == 1
    assert says in result.stderr
    assert result.stdout == ""


def test_a_file_that_is_not_what_it_says_exits_with_1(tmp_path: Path) -> None:
    path = tmp_path / "farm.parquet"
    path.write_text("no parquet")
    result = cepheid("check", "-e", GOOD, "--input", path, "--time", "ts")
    assert result.exit_code == 1
    assert "farm.parquet" in result.stderr


def test_without_java_run_says_what_to_do(farm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr("cepheid.spark.java._from_package", lambda: None)
    result = cepheid("run", "-e", GOOD, "--input", farm, "--time", "ts")
    assert result.exit_code == 1
    assert "install Java 17 or later" in result.stderr


def test_a_bug_is_an_apology_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("cepheid.query", broken)
    monkeypatch.delenv("CEPHEID_DEBUG", raising=False)
    result = cepheid("check", "-e", GOOD)
    assert result.exit_code == 70
    assert "CEPHEID_DEBUG=1" in result.stderr
    assert "Traceback" not in result.stderr


def test_explain_draws_the_automaton() -> None:
    done = cepheid("explain", "--dot", "-e", "SELECT * FROM s WHERE A AS x ; B AS y")
    assert done.exit_code == 0
    assert done.stdout.startswith("digraph automaton {")
    assert '0 -> 1 [label="A as x"];' in done.stdout


def test_explain_without_an_automaton_says_why() -> None:
    done = cepheid("explain", "--dot", "-e", "#(-[v = 2] > r, [v = 1], [v > r.v]) WITHIN 5")
    assert done.exit_code == 1
    assert "an event is stored before any is marked" in done.stderr


def test_a_file_of_sremo_is_explained_and_drawn_with_its_registers(tmp_path: Path, farm: Path) -> None:
    file = tmp_path / "rising.sremo"
    file.write_text("#([type = 'T'] > r, [type = 'T' AND tmp > r.tmp]) WITHIN 5")
    for arguments in ([file], [file, "--input", farm, "--time", "ts"]):
        done = cepheid("explain", *arguments)
        assert done.exit_code == 0, done.stderr
        assert "── register transducer ──\nstart q0, final q2, register r\n" in done.stdout
    drawn = cepheid("explain", "--dot", file)
    assert drawn.exit_code == 0, drawn.stderr
    assert drawn.stdout.startswith("digraph automaton {")
    assert '"register r" [label="r", shape=box, style=dashed];' in drawn.stdout


def test_a_zone_is_that_of_all_instants(tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    pq.write_table(pa.table({"ts": pa.array([1], pa.timestamp("us", "Asia/Tokyo"))}), path)
    asked = (
        "explain",
        "-e",
        "SELECT * FROM s WHERE s AS x FILTER hour(x.ts) = 1",
        "-i",
        path,
        "--time",
        "ts",
    )
    assert "zone: UTC for ts" in cepheid(*asked).stdout
    assert "zone: Europe/Paris for ts" in cepheid(*asked, "--zone", "Europe/Paris").stdout
    assert "time zone `Mars` is not known here" in cepheid(*asked, "--zone", "Mars").stderr
