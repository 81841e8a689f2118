"""`columns`: only what is asked for is made, and it is the same."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cepheid

TEXT = "SELECT * FROM s WHERE A AS x ; B AS y WITHIN 3"
EVENTS = pa.table({"ts": [1, 2, 3, 4, 9], "type": ["A", "A", "B", "B", "B"], "k": [7, 7, 7, 8, 8]})


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("WITHIN", "PARTITION BY k WITHIN")])
@pytest.mark.parametrize(
    "columns",
    [["positions"], ["end"], ["y", "match_id"], ["match_id", "start", "end", "x", "y"], ["positions", "x"]],
)
@pytest.mark.parametrize("cut", [0, 3])
def test_columns_asked_for_are_those_of_the_whole_output(text: str, columns: list[str], cut: int) -> None:
    whole = cepheid.match(EVENTS, text, positions=True)
    engine = cepheid.query(text).engine(EVENTS.schema, columns=columns)
    first = engine.push(EVENTS.slice(0, cut))
    engine = cepheid.load(engine.save())
    found = pa.concat_tables([first, engine.push(EVENTS.slice(cut)), engine.finish()])
    assert found.column_names == columns
    assert found.equals(whole.select(columns))
    assert cepheid.match(EVENTS, text, columns=columns).equals(found)
    assert len(found) >= 2


def test_rows_are_not_kept_for_their_numbers_alone() -> None:
    engine = cepheid.query(TEXT).engine(EVENTS.schema, columns=["positions"])
    engine.push(EVENTS)
    assert len(engine._history) == 0


def test_a_partitioned_output_has_its_keys_to_ask_for() -> None:
    found = cepheid.match(EVENTS, TEXT.replace("WITHIN", "PARTITION BY k WITHIN"), columns=["k", "positions"])
    assert sorted(found["positions"].to_pylist()) == [[0, 2], [1, 2]]
    assert found["k"].to_pylist() == [7, 7]


@pytest.mark.parametrize("columns", ["end", [], ["end", "end"], [3]])
def test_columns_are_a_list_of_names(columns: object) -> None:
    with pytest.raises(cepheid.CepheidError, match=r"bad-argument.*`columns` requires a list of names"):
        cepheid.match(EVENTS, TEXT, columns=columns)  # type: ignore[arg-type]


def test_an_unknown_column_is_named_with_what_there_is() -> None:
    with pytest.raises(cepheid.CepheidError, match=r"(?s)unknown-column.*no column `strat`.*`start`"):
        cepheid.match(EVENTS, TEXT, columns=["strat"])
