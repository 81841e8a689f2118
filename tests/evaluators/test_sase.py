"""SASE+: the definition against the letter of the paper, and the engine against the definition, on random queries."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest

import cepheid
from cepheid.algebra.nfab import Nfab
from cepheid.algebra.nodes import WindowUnit
from cepheid.algebra.types import check_types
from cepheid.errors import CepheidWarning
from cepheid.pipeline import ParsedQuery
from cepheid.schema import schema_of
from cepheid.semantics.nfab import all_matches
from cepheid.semantics.stream import events_of
from support.generators import Seeded
from support.literal_nfab import Buffer, literal_matches
from support.random_sase import SaseCase, sase_case
from support.small_streams import positions, stream

pytestmark = pytest.mark.filterwarnings("ignore:`!` has no effect", "ignore:no event is of type")


def parsed(case: SaseCase) -> ParsedQuery:
    return cepheid.query(case.text)


def defined(case: SaseCase) -> list[Buffer]:
    """The matches of the definition."""
    schema = schema_of(case.table.schema, time="ts")
    query = check_types(parsed(case).query, schema)
    assert isinstance(query.pattern, Nfab)
    events = events_of(case.table, schema)
    return sorted(match.buffer for match in all_matches(query.pattern, query.window, events))


def by_the_letter(case: SaseCase) -> list[Buffer]:
    schema = schema_of(case.table.schema, time="ts")
    query = check_types(parsed(case).query, schema)
    assert isinstance(query.pattern, Nfab)
    return sorted(literal_matches(query.pattern, query.window, events_of(case.table, schema)))


def bindings(case: SaseCase, found: pa.Table) -> list[Buffer]:
    """The buffers that an output shows, by the numbers of their events."""
    pattern = parsed(case).query.pattern
    assert isinstance(pattern, Nfab)
    names = [part.var for part in pattern.positive]
    return sorted(tuple(tuple(_several(row[name])) for name in names) for row in found.to_pylist())


def _several(value: Any) -> list[int]:
    return value if isinstance(value, list) else [value]


def in_pieces(case: SaseCase, cuts: list[int], evaluator: str) -> pa.Table:
    """The output of an engine that is saved and loaded between pieces of the stream."""
    engine = parsed(case).engine(case.table.schema, evaluator=evaluator)
    pieces = list[pa.Table]()
    for begin, end in pairwise([0, *cuts, len(case.table)]):
        pieces.append(engine.push(case.table.slice(begin, end - begin)))
        engine = cepheid.load(engine.save())
    return pa.concat_tables([*pieces, engine.finish()])


def check(seed: int, events: int = 8) -> int:
    """Compares everything on the case of a seed; gives the number of matches."""
    choices = Seeded(seed)
    case = sase_case(choices, events)
    expected = by_the_letter(case)
    assert Counter(defined(case)) == Counter(expected), (seed, case)
    cuts = sorted(choices.below(len(case.table) + 1) for _ in range(choices.below(4)))
    for evaluator in ("auto", "semantics"):
        assert bindings(case, in_pieces(case, cuts, evaluator)) == expected, (seed, evaluator, cuts, case)
    assert cepheid.count(case.table, case.text) == len(expected), (seed, case)
    return len(expected)


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_the_definition_and_the_engine_agree_with_the_letter_of_the_paper(first: int) -> None:
    found = [check(seed) for seed in range(first, first + 50)]
    assert sum(map(bool, found)) > 10


@pytest.mark.parametrize("seed", range(200, 260))
def test_a_query_prints_as_text_that_reads_as_the_same_query(seed: int) -> None:
    query = parsed(sase_case(Seeded(seed)))
    again = cepheid.query(str(query))
    assert again.query == query.query
    assert str(again) == str(query)


def test_what_lies_before_a_match_is_kept_until_its_run_stops() -> None:
    """Both runs end with the B at 5, in whose window the A at 0 lies, and stop only when the X comes."""
    table = stream("ABBX").set_column(0, "ts", pa.array([0, 4, 5, 20]))
    engine = cepheid.query("PATTERN SEQ(~A a, B+ b[]) WITHIN 5 RETURN b[].type AS b").engine(
        table.schema, positions=True
    )
    found = [engine.push(table.slice(row, 1)) for row in range(len(table))]
    assert pa.concat_tables([*found, engine.finish()]).num_rows == 0


def test_a_match_comes_with_the_event_that_shows_its_end() -> None:
    table = stream("AAB", v=[1, 2, 3])
    queries = {
        "strict_contiguity(a[])": [0, 0, 2],
        "skip_till_next_match(a[])": [0, 0, 0],
        "skip_till_any_match(a[])": [1, 2, 0],
    }
    for strategy, numbers in queries.items():
        text = f"PATTERN SEQ(A+ a[]) WHERE {strategy} {{ a[i].v > a[i-1].v }} RETURN a[].v"
        engine = cepheid.query(text).engine(table.schema)
        assert [len(engine.push(table.slice(row, 1))) for row in range(3)] == numbers
        assert len(engine.finish()) == (2 if "next" in strategy else 0)


def test_runs_are_forgotten_once_they_have_stopped() -> None:
    """Without a window, strict contiguity keeps the runs that go on, and only their events."""
    engine = cepheid.query(
        "PATTERN SEQ(A+ a[]) WHERE strict_contiguity { a[i].v > a[i-1].v } RETURN a[].v"
    ).engine(stream("A", v=[1]).schema)
    sizes = list[int]()
    for begin in range(0, 400, 40):
        values = [number % 4 for number in range(begin, begin + 40)]
        engine.push(stream("A" * 40, v=values).set_column(0, "ts", pa.array(range(begin, begin + 40))))
        sizes.append(len(engine._evaluator.live_rows()))
    assert max(sizes) <= 4


def test_equality_runs_as_partitions_where_no_strategy_minds_other_keys() -> None:
    table = stream("AAAA", k=[1, 2, 1, 2], v=[1, 1, 2, 2])
    for strategy, columns in (("skip_till_any_match", "k"), ("strict_contiguity", None)):
        text = f"PATTERN SEQ(A a, A b) WHERE {strategy} {{ [k] }} RETURN a.v, b.v AS w"
        shown = cepheid.explain(text, table)
        assert ("equality: runs as partitions by k" in shown) is (columns == "k")
        assert positions(table, text) == positions(table, text, evaluator="semantics")


def test_a_cut_that_has_no_effect_is_warned_of() -> None:
    with pytest.warns(CepheidWarning, match=r"`!` has no effect on `a\[\]`"):
        cepheid.query("PATTERN SEQ(A+ a[]) WHERE skip_till_next_match(a[]!) { } RETURN a[].v")


def test_parameters_are_literals_of_each_query() -> None:
    table = stream("AB", v=[1, 2])
    one = "PATTERN SEQ(A a) WHERE a.v < :most RETURN a.v"
    assert cepheid.count(table, one, params={"most": 2}) == 1
    both = f"{one} UNION PATTERN SEQ(B b) WHERE b.v = :exactly RETURN b.v"
    assert cepheid.count(table, both, params={"most": 0, "exactly": 2}) == 1
    with pytest.raises(cepheid.CepheidError) as caught:
        cepheid.count(table, both, params={"most": 0})
    assert caught.value.code == "unknown-parameter"


def test_all_frames_give_the_columns_of_return() -> None:
    polars = pytest.importorskip("polars")
    table = stream("AAB", v=[1, 2, 3], w=["x", "y", None])
    text = "PATTERN SEQ(A+ a[], B b) RETURN a[].v, b.(v, w), a[].(w, v) AS each, sum(a[].v)"
    expected = cepheid.match(table, text)
    assert expected.schema.field("b").type == pa.struct({"v": pa.int64(), "w": pa.string()})
    assert expected.schema.field("each").type == pa.list_(pa.struct({"w": pa.string(), "v": pa.int64()}))
    rows = expected.to_pylist()
    assert cepheid.match(polars.from_arrow(table), text).to_dicts() == rows
    assert pa.Table.from_pandas(cepheid.match(table.to_pandas(), text)).to_pylist() == rows
    reader = cepheid.match(table.to_reader(), text)
    assert reader.read_all().to_pylist() == rows


def test_an_engine_of_several_queries_says_that_there_is_none_yet() -> None:
    both = cepheid.query("PATTERN SEQ(A a) RETURN a.v UNION PATTERN SEQ(B b) RETURN b.v")
    with pytest.raises(cepheid.CepheidError) as caught:
        both.engine(stream("A", v=[1]).schema)
    assert caught.value.code == "not-yet"


def test_what_time_makes_known_is_what_the_end_of_the_stream_would() -> None:
    """Passing time between batches, as a watermark does, gives the same matches, and none of them later than it can."""
    early = 0
    for seed in range(120):
        choices = Seeded(seed)
        case = sase_case(choices)
        query = parsed(case)
        engine = query.engine(case.table.schema)
        pieces, times = list[pa.Table](), case.table["ts"].to_pylist()
        for row, time in enumerate(times):
            pieces.append(engine.push(case.table.slice(row, 1)))
            following = times[row + 1] if row + 1 < len(times) else time + 20
            if following > time + 1 and choices.below(2):
                passed = list(engine.pass_time(following - 1))
                early += sum(map(len, passed))
                pieces += passed
            if choices.below(3) == 0:
                engine = cepheid.load(engine.save())
        window = query.query.window
        if window is not None and window.unit is not WindowUnit.EVENTS:
            pieces += engine.pass_time(times[-1] + 20)
            assert engine.waits_until is None
            assert len(engine.finish()) == 0
        else:
            pieces.append(engine.finish())
        assert bindings(case, pa.concat_tables(pieces)) == by_the_letter(case), (seed, case)
    assert early > 3


def test_matches_that_end_in_unreported_events_are_never_given() -> None:
    """As in the overlap of time slices: the runs that begin at 0 and 1 end at 1, and stop only at 2."""
    table = stream("AAB", v=[1, 2, 3])
    engine = cepheid.query(
        "PATTERN SEQ(A+ a[]) WHERE strict_contiguity { a[i].v > a[i-1].v } RETURN a[].v"
    ).engine(table.schema)
    assert len(engine.push(table.slice(0, 2), report=False)) == 0
    engine = cepheid.load(engine.save())
    assert len(engine.push(table.slice(2))) == 0
    assert len(engine.finish()) == 0


def test_a_limit_takes_the_matches_that_end_first_however_the_stream_is_cut() -> None:
    compared = 0
    for seed in range(60):
        choices = Seeded(seed)
        case = sase_case(choices)
        ends = sorted(max(places)[-1] for places in [sorted(buffer) for buffer in by_the_letter(case)])
        for limit in range(1, min(len(ends), 3)):
            whole = cepheid.match(case.table, case.text, limit=limit)
            engine = parsed(case).engine(case.table.schema, limit=limit)
            pieces = list[pa.Table]()
            for row in range(len(case.table)):
                pieces.append(engine.push(case.table.slice(row, 1)))
                engine = cepheid.load(engine.save())
            cut = pa.concat_tables([*pieces, engine.finish()])
            assert sorted(cut["match_id"].to_pylist()) == sorted(whole["match_id"].to_pylist()), (seed, case)
            assert sorted(max(sum(buffer, ())) for buffer in bindings(case, cut)) == ends[:limit], (
                seed,
                case,
            )
            compared += 1
    assert compared > 10
