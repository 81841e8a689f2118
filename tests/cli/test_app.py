"""The command line without Spark: usage, queries, errors and their exit codes."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from cepheid.cli.app import Evaluator, app
from cepheid.plan.choose import EVALUATORS

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


def test_parameters_are_given_as_name_and_value() -> None:
    text = "SELECT * FROM farm WHERE H AS x FILTER x.hum < :most AND x.id IN :ids AND x.kind = :kind"
    given = ("--param", "most=30", "--param", "ids=[1, 2]", "--param", "kind=dry air")
    explained = cepheid("explain", "-e", text, *given).stdout
    assert "FILTER x.hum < 30 AND x.id IN (1, 2) AND x.kind = 'dry air'" in explained
    assert "the parameter `:kind` has no value" in cepheid("check", "-e", text, *given[:4]).stderr
    assert "NAME=VALUE" in cepheid("check", "-e", text, "--param", "most").stderr


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
        (["check", "-e", "SELECT * FROM farm WHERE"], "error[syntax]"),
        (["check", "-e", GOOD, "--language", "sql"], "error[unknown-language]"),
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


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["check", "missing.cel"], "error[bad-argument]: missing.cel: No such file"),
        (["check", "."], "error[bad-argument]: .: Is a directory"),
        (
            ["check", "-e", GOOD, "--input", "frm.parquet", "--time", "ts"],
            "frm.parquet: no such file or folder",
        ),
        (["check", "-e", GOOD, "--input", "frm.parquet", "--time", "ts"], "did you mean farm.parquet?"),
        (
            ["run", "-e", GOOD, "--input", "frm.parquet", "--time", "ts"],
            "frm.parquet: no such file or folder",
        ),
        (["run", "-e", GOOD, "--input", "none", "--time", "ts"], "none: the folder holds no files"),
        (["run", "-e", GOOD, "--input", "a.feather", "--time", "ts"], "Spark does not read Arrow files"),
        (["run", "-e", GOOD, "--input", "farm.parquet", "--time", "ts", "-o", "none"], "none exists already"),
        (
            ["check", "-e", GOOD, "--input", "farm.csv", "--time", "ts", "--schema", "ts timestmp"],
            "`timestamp`?",
        ),
        (
            ["check", "-e", GOOD, "--input", "farm.csv", "--time", "ts", "--time-format", "%Q"],
            "`%Q` is not known",
        ),
        (["check", "-e", GOOD, "--type", "a", "--no-type"], "--no-type"),
    ],
)
def test_what_is_not_there_exits_with_2(
    arguments: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(TABLE, "farm.parquet")
    pyarrow.csv.write_csv(TABLE, "farm.csv")
    Path("none").mkdir()
    result = cepheid(*arguments)
    assert (result.exit_code, result.stdout) == (2, ""), result.stderr
    assert says in result.stderr
    assert "Traceback" not in result.stderr


def test_every_evaluator_can_be_asked_for(farm: Path) -> None:
    assert [item.value for item in Evaluator] == list(EVALUATORS)
    for evaluator in EVALUATORS:
        query = "SELECT * FROM farm WHERE T AS x ; H AS y"
        done = cepheid("explain", "-e", query, "--input", farm, "--time", "ts", "--evaluator", evaluator)
        assert done.exit_code == 0, done.stderr
        assert f"evaluator: {'compact' if evaluator == 'auto' else evaluator}" in done.stdout


def test_check_warns_of_types_that_do_not_occur(farm: Path, tmp_path: Path) -> None:
    data = ["--input", str(farm), "--time", "ts"]
    done = cepheid("check", "-e", "SELECT * FROM farm WHERE T AS x ; Z AS y", *data)
    assert (done.exit_code, done.stdout) == (0, "ok\n")
    assert "warning: no event is of type `Z`: column `type` holds `T`, `H`" in done.stderr
    assert "--no-type" in done.stderr
    assert cepheid("check", "-e", GOOD, *data).stderr == ""
    only = cepheid("check", "-e", "SELECT * FROM farm WHERE farm AS x", *data, "--no-type")
    assert (only.exit_code, only.stdout, only.stderr) == (0, "ok\n", "")
    wrong = cepheid("check", "-e", GOOD, *data, "--no-type")
    assert (wrong.exit_code, "error[unknown-type]" in wrong.stderr) == (1, True)


def test_check_and_explain_take_several_named_inputs(tmp_path: Path, farm: Path) -> None:
    (tmp_path / "b.json").write_text('{"ts": 1, "w": 2}\n')
    data = ["--input", f"a={farm}", "--input", f"b={tmp_path / 'b.json'}", "--time", "ts"]
    query = "SELECT * FROM a, b WHERE T AS x ; b AS y FILTER y.w > 1"
    for command in ("check", "explain"):
        done = cepheid(command, "-e", query, *data)
        assert (done.exit_code, done.stderr) == (0, ""), done.stderr
    assert "`w`" in cepheid("check", "-e", query.replace("y.w", "y.ww"), *data).stderr
    assert "`q`" in cepheid("check", "-e", query.replace("T AS", "q AS"), *data).stderr


def test_times_that_are_text_are_read_or_it_is_said_how(tmp_path: Path) -> None:
    query = "SELECT * FROM s WHERE s AS x FILTER hour(x.ts) = 12"
    for name, text, good in (
        ("iso.json", '{"ts": "2024-01-01T12:00:00Z"}\n', []),
        ("iso.csv", "ts\n2024-01-01 12:00:00\n", []),
        ("own.csv", "ts\n31.01.2024 12:00\n", ["--time-format", "%d.%m.%Y %H:%M"]),
        ("given.csv", "ts\n2024-01-31 12:00\n", ["--schema", "ts timestamp"]),
    ):
        path = tmp_path / name
        path.write_text(text)
        done = cepheid("check", "-e", query, "--input", path, "--time", "ts", *good)
        assert (done.exit_code, done.stdout) == (0, "ok\n"), done.stderr
    bad = cepheid("check", "-e", query, "--input", tmp_path / "own.csv", "--time", "ts")
    assert (bad.exit_code, "--time-format" in bad.stderr) == (1, True)
    pq.write_table(pa.table({"ts": ["2024-01-01T12:00:00"]}), tmp_path / "text.parquet")
    done = cepheid("check", "-e", query, "--input", tmp_path / "text.parquet", "--time", "ts")
    assert (done.exit_code, done.stdout) == (0, "ok\n"), done.stderr


def test_the_hint_of_the_demo_names_the_program_that_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cepheid.cli.demo import program

    installed = tmp_path / "cepheid"
    installed.write_text("")
    installed.chmod(0o755)
    monkeypatch.setattr("sys.argv", [str(installed)])
    monkeypatch.setenv("PATH", "")
    assert program() == [str(installed)]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program() == ["cepheid"]
    monkeypatch.setattr("sys.argv", ["pytest"])
    assert program() == [sys.executable, "-m", "cepheid"]


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
    done = cepheid(
        "explain", "--dot", "-e", "[v = 1] . !(any* . ([v = 2] . [v = 3] WITHIN 2) . any*) . [v = 4] WITHIN 9"
    )
    assert done.exit_code == 1
    assert "a complement of a part with a window of its own has no automaton" in done.stderr


def test_a_file_of_sremo_is_explained_and_drawn_with_its_registers(tmp_path: Path, farm: Path) -> None:
    file = tmp_path / "rising.sremo"
    file.write_text("#([type = 'T'] > r, [type = 'T' AND tmp > r.tmp]) WITHIN 5")
    for arguments in ([file], [file, "--input", farm, "--time", "ts"]):
        done = cepheid("explain", *arguments)
        assert done.exit_code == 0, done.stderr
        assert "── automaton ──\nregister r\nstate 0, initial\n" in done.stdout
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


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("two.csv", "ts,ts,type\n1,1,A\n", "column names must be distinct; repeated: `ts`"),
        ("none.csv", "ts,type\n", "time column `ts` has no values"),
        ("null.csv", "ts,type\n,A\n", "time column `ts` has no values"),
        ("mixed.csv", "ts,type\n2024-01-01T00:00Z,A\n2024-01-01,B\n", "with an offset or none"),
        ("list.json", '[{"ts": 1, "type": "A"}]\n', "one object per line"),
    ],
)
def test_files_without_a_time_or_with_two_columns_of_one_name_are_refused(
    tmp_path: Path, name: str, text: str, says: str
) -> None:
    (tmp_path / name).write_text(text)
    query = "SELECT * FROM s WHERE A AS x"
    result = cepheid("check", "-e", query, "--input", tmp_path / name, "--time", "ts")
    assert (result.exit_code, says in " ".join(result.stderr.split())) == (1, True)
