"""No text hangs, none raises an error that is not ours."""

from __future__ import annotations

import random
import re
from typing import Any

import pyarrow as pa
import pytest

import cepheid
from cepheid.algebra.conditions import In, Like, Literal
from cepheid.algebra.types import check_types
from cepheid.languages import lower, parse
from cepheid.schema import schema_of
from cepheid.semantics.values import value_of
from support.hostile_texts import SCHEMA, findings, outcome

PREFIX = "SELECT * FROM s WHERE "


def test_hostile_texts_are_planned_or_refused_in_time() -> None:
    """More of them: `tests/programs/fuzz.py`."""
    assert list(findings(range(150))) == []


TEXTS = [
    (PREFIX + "A " + "-" * 40 + "\n", "plan"),
    ("SELECT MAX " + "-" * 60 + "\nx FROM s WHERE A AS x", "plan"),
    ("SELECT " + "-" * 60 + "\n* FROM s WHERE A", "plan"),
    (PREFIX + "MAX " + "-" * 60 + "\n(A)", "plan"),
    (PREFIX + "A AS x FILTER x.day = DATE " + "-" * 60 + "\n 1", "syntax"),
    (PREFIX + "A AS x FILTER '" + "a" * 60 + "' LIKE '" + "%a" * 25 + "%b'", "unsatisfiable"),
    (PREFIX + "(" * 100_000 + "A" + ")" * 100_000, "too-large"),
    (PREFIX + " ; ".join(["A"] * 100_000), "too-large"),
    (PREFIX + "A AS x FILTER " + "NOT " * 100_000 + "x.on", "too-large"),
    (PREFIX + "A AS x FILTER " + " OR ".join(f"x.v = {k}" for k in range(100_000)), "too-large"),
    (PREFIX + "A AS x FILTER " + " OR ".join(f"x.v = {k}" for k in range(1_000)), "plan"),
    (PREFIX + "A AS x FILTER " + " AND ".join(f"x.v <> {k}" for k in range(400)), "plan"),
    (PREFIX + "A AS x ; B AS y FILTER " + " AND ".join(f"x.v + {k} <> y.v" for k in range(400)), "plan"),
    (PREFIX + "(A AS x ; B AS y FILTER x.v < y.v){1,1000}", "plan"),
    (PREFIX + "(A IN X ; B IN Y FILTER X.v < Y.v){300}", "plan"),
    (PREFIX + " ; ".join(f"(A AS a{k})?" for k in range(60)), "plan"),
    (PREFIX + "A WITHIN 1e-99999 seconds", "syntax"),
    (PREFIX + "A WITHIN 1e-999999999999999999999 seconds", "syntax"),
    (PREFIX + "A WITHIN 1e999999999999999999999 seconds", "syntax"),
    (PREFIX + "A WITHIN 1.00000000000000000000000000001 seconds", "bad-argument"),
    (PREFIX + "A WITHIN 0e-99999 seconds", "plan"),
    (PREFIX + "A AS x FILTER x.name = '\ud800'", "syntax"),
    (PREFIX + '"\udfff" AS x', "syntax"),
    (PREFIX + "A AS x FILTER x.name RLIKE 'a{1000000}'", "bad-argument"),
    (PREFIX + "A AS x FILTER x.name LIKE '" + "_" * 20_000 + "'", "too-large"),
    (
        PREFIX + "A AS x FILTER " + "replace(" * 20 + "'aa'" + ", 'a', 'aaaaaaaaaa')" * 20 + " = 'a'",
        "too-large",
    ),
    (PREFIX + "A AS x FILTER x.v = " + "0" * 100 + "7", "plan"),
    (PREFIX + "A AS x FILTER x.v IN (" + ", ".join(f"{k}" for k in range(100_000)) + ")", "plan"),
    (PREFIX + "A AS x FILTER x.v IN (" + ", ".join(f"{k}.5" for k in range(100_000)) + ")", "plan"),
    (PREFIX + "A AS x FILTER x.name IN (" + ", ".join(f"'{k}'" for k in range(100_000)) + ")", "plan"),
    (PREFIX + "A AS x FILTER x.v IN (" + ", ".join(["1"] * 120_000) + ")", "too-large"),
    (PREFIX + "A AS x FILTER " + " OR ".join(["x.v IN (" + ",".join(["1"] * 60_000) + ")"] * 2), "too-large"),
    (PREFIX + "A AS x ; B AS y FILTER " + " AND ".join(f"x.v + {k} < y.v" for k in range(1_500)), "plan"),
    (
        PREFIX
        + "A AS x ; B AS y FILTER "
        + " AND ".join(f"x.v < y.v + {k} AND x.v = {k}" for k in range(750)),
        "plan",
    ),
    (PREFIX + "A{10000}", "plan"),
    (PREFIX + "A{10001}", "too-large"),
    (PREFIX + "A AS x ; C{1200} ; B AS y FILTER x.v + 1 < y.v", "plan"),
    (PREFIX + "A" * 3_000_000, "too-large"),
    ("-" * 1_000_000, "syntax"),
]


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_a_text_is_planned_or_refused(number: int) -> None:
    text, expected = TEXTS[number]
    assert outcome(None, text) == expected


@pytest.mark.parametrize("operand", ["x.name", "'a'", "NULL", "upper(x.name)"])
@pytest.mark.parametrize("form", ["{} RLIKE '('", "NOT ({} RLIKE '(' OR x.v = 1)", "{} NOT RLIKE '('"])
def test_a_broken_regex_is_an_error_without_data(operand: str, form: str) -> None:
    with pytest.raises(cepheid.CepheidError, match="is not a regular expression"):
        cepheid.query(f"{PREFIX}A AS x FILTER {form.format(operand)}")


def test_a_broken_regex_is_an_error_in_sremo() -> None:
    with pytest.raises(cepheid.CepheidError, match="is not a regular expression"):
        cepheid.explain("[name RLIKE '(']")


def test_like_finds_what_a_regular_expression_finds() -> None:
    choices = random.Random(3)
    for _ in range(2_000):
        pattern = "".join(
            choices.choices(["a", "b", "%", "%", "_", "\\%", "\\_", "\\a", "\n"], k=choices.randint(0, 6))
        )
        text = "".join(choices.choices("ab%_\n", k=choices.randint(0, 6)))
        signs = re.findall(r"\\.|.", pattern, re.DOTALL)
        regex = "".join({"%": ".*", "_": "."}.get(sign) or re.escape(sign[-1]) for sign in signs)
        expected = re.fullmatch(regex, text, re.DOTALL) is not None
        assert value_of(Like(Literal(text), pattern), {}) is expected, (text, pattern)


def test_a_long_list_of_literals_is_the_same_as_item_by_item() -> None:
    items = [
        "1",
        "-2",
        "3.5",
        "-.5",
        "1e3",
        "'a'",
        "'it''s'",
        "''",
        "0",
        "7 -- seven\n",
        "-0.0",
        "'--'",
        "'('",
    ] * 2
    text = f"{PREFIX}A AS x FILTER x.v IN ({' , '.join(items)})"
    whole = lower(parse(text))
    # One item that is no literal makes the parser read all of them one by one.
    single = lower(parse(text.replace("IN (", "IN (x.w, ")))
    assert isinstance(whole.pattern.condition, In)  # type: ignore[union-attr]
    assert whole.pattern.condition.items == single.pattern.condition.items[1:]  # type: ignore[union-attr]
    spans = [item.span.text for item in whole.pattern.condition.items]  # type: ignore[union-attr]
    assert spans == [item.split(" ")[0] for item in items]


def test_a_hundred_thousand_values_are_a_list() -> None:
    events = pa.table({"ts": range(4), "type": ["A"] * 4, "v": [5, -1, 99_999, 100_000]})
    listed = ", ".join(map(str, range(100_000)))
    assert cepheid.count(events, f"{PREFIX}A AS x FILTER x.v IN ({listed})") == 2


def test_a_list_that_is_too_long_says_where_values_belong() -> None:
    with pytest.raises(cepheid.CepheidError, match="6 values of a list counted as one") as caught:
        cepheid.query(f"{PREFIX}A AS x FILTER x.v IN ({', '.join(['1'] * 120_000)})")
    assert "join them" in str(caught.value.hint)


def test_a_value_of_a_list_is_compared_as_it_would_be_alone() -> None:
    """1e-300 is held by no decimal; the number beside it is told apart from its neighbours only as a decimal."""
    events = pa.table({"ts": range(3), "type": ["A"] * 3, "v": [2**53, 2**53 + 1, 2**53 + 2]})
    for listed in ("9007199254740993.0", "9007199254740993.0, 1e-300", "1e-300, 9007199254740993.0, 0.5"):
        for evaluator in ("auto", "semantics"):
            found = cepheid.match(
                events, f"{PREFIX}A AS x FILTER x.v IN ({listed})", time="ts", evaluator=evaluator
            )
            assert len(found) == 1, (listed, evaluator)


@pytest.mark.parametrize("column", ["v", "w", "d", "t"])
def test_values_of_a_list_are_typed_as_those_of_comparisons(column: str) -> None:
    """A list is typed at once where its items are literals, item by item where one is not."""
    columns = pa.schema(
        [
            ("ts", pa.int64()),
            ("v", pa.int64()),
            ("w", pa.float64()),
            ("d", pa.decimal128(20, 3)),
            ("t", pa.timestamp("us", tz="Europe/Madrid")),
        ]
    )
    schema = schema_of(columns, time="ts")
    numbers = ["1", "-2", "0.10", "0.0", "-0.0", "1e15", "1e16", "1e22", "1e23", "1e-50", "1e-77", "1e-78"]
    numbers += ["9007199254740993.0", "12345678901234567.89", "1e77", "1e78", "4503599627370497.5", "1e300"]
    items = ["'2024-01-31'", "'2024-01-31 12:30:00.5'", "'1969-12-31T23:59:59.999999'"] * 6
    listed = items if column == "t" else numbers

    def typed(condition: str) -> Any:
        query = lower(parse(f"{PREFIX}A AS x FILTER x.{column} {condition}"))
        return check_types(query, schema).pattern.condition  # type: ignore[union-attr]

    assert list(typed(f"IN ({', '.join(listed)})").items) == [typed(f"= {item}").right for item in listed]


@pytest.mark.parametrize(
    "text",
    [
        PREFIX + "A AS x FILTER x." + "v" * 100_000 + " = 1",
        PREFIX + "A AS x FILTER " + "9" * 100_000 + " = x.v",
        "SELECT * FROM " + " " * 100_000 + "s WHRE A",
    ],
    ids=["name", "number", "spaces"],
)
def test_an_error_is_short_however_long_the_text(text: str) -> None:
    with pytest.raises(cepheid.CepheidError) as caught:
        cepheid.explain(text, SCHEMA)
    assert len(str(caught.value)) < 6_000
    place = next(line for line in str(caught.value).splitlines() if "^" in line)
    assert len(place) < 2_500
