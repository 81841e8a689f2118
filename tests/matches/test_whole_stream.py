"""A table matched as a whole gives what an engine gives that it is pushed to in pieces: ids, rows and their order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cepheid
from cepheid import engine as engine_module

SEQUENCE = "A AS x ; B AS y ; A AS z"
QUERIES = (
    f"SELECT * FROM s WHERE {SEQUENCE} WITHIN 9",
    f"SELECT * FROM s WHERE {SEQUENCE} WITHIN 12 EVENTS",
    f"SELECT * FROM s WHERE {SEQUENCE} PARTITION BY key WITHIN 9",
    f"SELECT * FROM s WHERE {SEQUENCE} PARTITION BY key, number WITHIN 30 EVENTS",
    f"SELECT * FROM s WHERE ({SEQUENCE}) FILTER x.number < z.number WITHIN 9",
    f"SELECT * FROM s WHERE ({SEQUENCE}) FILTER x.number = y.number PARTITION BY key WITHIN 9",
    "SELECT * FROM s WHERE A AS x ; (B AS y)+ ; A AS z WITHIN 5",
    "SELECT * FROM s WHERE A AS x ; (B AS y OR A AS z) WITHIN 5",
    "SELECT MAX * FROM s WHERE A AS x ; (B AS y)+ ; A AS z PARTITION BY key WITHIN 9",
    f"SELECT * FROM s WHERE {SEQUENCE} WITHIN 9 CONSUME",
    f"SELECT * FROM s WHERE {SEQUENCE} WITHIN 9 LIMIT 7",
    "SELECT * FROM s WHERE (A AS x ; B AS y) PART-BY [key] WITHIN 9",
)


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Many ties, NULLs, texts as text and as codes, in one chunk or in several."""
    seed = draw(st.integers(0, 2**32 - 1))
    rows = draw(st.integers(1, 80))
    random = np.random.default_rng(seed)
    unit = draw(st.sampled_from([pa.int64(), pa.float64(), pa.timestamp("ns"), pa.timestamp("ms")]))
    texts = pa.array(random.choice(["", "a", "long enough", "ärger"], rows), mask=random.random(rows) < 0.1)
    table = pa.table(
        {
            "ts": pa.array(np.sort(random.integers(0, rows // 3 + 1, rows))).cast(unit),
            "type": pa.array(random.choice(["A", "B", "C"], rows)),
            "key": texts.dictionary_encode() if draw(st.booleans()) else texts,
            "number": pa.array(random.integers(0, 3, rows), mask=random.random(rows) < 0.1),
            "text": pa.array(random.choice(["x", "nine bytes", "", "eight by"], rows)),
        }
    )
    if draw(st.booleans()):
        cut = draw(st.integers(0, rows))
        table = pa.concat_tables([table.slice(0, cut), table.slice(cut)])
    return table


@given(
    table=tables(), query=st.sampled_from(QUERIES), size=st.integers(1, 40), few=st.sampled_from([1, 9, 1000])
)
def test_a_whole_table_gives_what_its_pieces_give(table: pa.Table, query: str, size: int, few: int) -> None:
    if pa.types.is_timestamp(table.schema.field("ts").type):
        unit = "nanoseconds" if table.schema.field("ts").type.unit == "ns" else "milliseconds"
        query = (
            query
            if "EVENTS" in query
            else query.replace("WITHIN 9", f"WITHIN 9 {unit}").replace("WITHIN 5", f"WITHIN 5 {unit}")
        )
    pushed = cepheid.query(query).engine(table.schema, positions=True)
    parts = [pushed.push(table.slice(begin, size)) for begin in range(0, len(table), size)]
    expected = pa.concat_tables([*parts, pushed.finish()], promote_options="permissive")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine_module, "_FEW_MATCHES", few)
        patch.setattr(engine_module, "first_size", lambda plan, counting: 1)
        whole = cepheid.match(table, query, positions=True)
    whole.validate(full=True)
    assert whole.schema == pushed.output_schema
    assert whole.to_pylist() == expected.to_pylist()


@pytest.mark.parametrize("few", [1, 1 << 20])
def test_an_engine_with_a_whole_table_takes_no_more_rows(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "_FEW_MATCHES", few)
    table = pa.table({"ts": [1, 2, 3], "type": ["A", "B", "A"]})
    engine = cepheid.query(f"SELECT * FROM s WHERE {SEQUENCE}").engine(table.schema)
    assert [len(piece) for piece in engine.whole(table)] == [1]
    with pytest.raises(cepheid.CepheidError, match="its stream was one table"):
        engine.push(table)
