"""States that earlier releases saved go on as if they had been saved by this one.

`released_states/{name}.state` was saved after the first half of `stream()`, by the release before the match graph had
one format of nodes. Run this file with an older release on the path to make them again.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import cepheid

STATES = Path(__file__).parent / "released_states"
ROWS = 120
QUERIES = {
    "compact-window": ("compact", "SELECT * FROM s WHERE (A AS x)+ ; B AS y ; C AS z WITHIN 9"),
    "compact-events": (
        "compact",
        "SELECT * FROM s WHERE A AS x ; (B AS y OR C AS y) ; C AS z WITHIN 12 EVENTS",
    ),
    "compact-next": ("compact", "SELECT NXT * FROM s WHERE (A AS x)+ ; C AS z WITHIN 30"),
    "compact-no-window": ("compact", "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z CONSUME"),
    "compact-strict": ("compact", "SELECT STRICT * FROM s WHERE (A AS x OR B AS x)+ ; C AS z WITHIN 20"),
    "compact-keys": ("compact", "SELECT * FROM s WHERE A AS x ; B AS y PARTITION BY k WITHIN 30"),
    "chain": ("chain", "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z FILTER x.k = y.k WITHIN 20"),
    "configurations": (
        "configurations",
        "SELECT * FROM s WHERE A AS x ; (B AS y)+ ; C AS z FILTER x.v < z.v WITHIN 9",
    ),
    "configurations-no-window": (
        "configurations",
        "SELECT * FROM s WHERE A AS x ; B AS y FILTER x.v < y.v LIMIT 999",
    ),
}


def stream() -> pa.Table:
    return pa.table(
        {
            "ts": range(ROWS),
            "type": ["ABC"[n * 7 % 11 % 3] for n in range(ROWS)],
            "k": [n * 5 % 7 % 3 for n in range(ROWS)],
            "v": [n * 37 % 101 for n in range(ROWS)],
        }
    )


@pytest.mark.parametrize("counting", [False, True], ids=["matches", "count"])
@pytest.mark.parametrize("name", QUERIES)
def test_a_state_of_an_earlier_release_goes_on(name: str, counting: bool) -> None:
    evaluator, text = QUERIES[name]
    rows = stream()
    engine = cepheid.load((STATES / f"{name}{'-count' * counting}.state").read_bytes())
    later = engine.push(rows.slice(ROWS // 2))
    if counting:
        assert engine.counted == cepheid.count(rows, text, evaluator=evaluator)
        return
    whole = cepheid.query(text).engine(rows.schema, evaluator=evaluator)
    whole.push(rows.slice(0, ROWS // 2))
    assert later.num_rows > 0
    assert later.equals(whole.push(rows.slice(ROWS // 2)))


if __name__ == "__main__":
    for name, (evaluator, text) in QUERIES.items():
        for counting in (False, True):
            made = cepheid.query(text).engine(stream().schema, evaluator=evaluator)
            engine = type(made)(made.plan, counting=counting)
            engine.push(stream().slice(0, ROWS // 2))
            (STATES / f"{name}{'-count' * counting}.state").write_bytes(engine.save())
