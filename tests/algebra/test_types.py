"""Conditions are typed against the columns, and literals take their columns' type."""

import datetime as dt

import pyarrow as pa
import pytest

from cepheid.algebra.conditions import Comparison, Condition, In, Literal, attributes, children
from cepheid.algebra.functions import ALIASES, FUNCTIONS
from cepheid.algebra.kinds import Kind, kind_of
from cepheid.algebra.moments import Moment, TimeOfDay, moment_of
from cepheid.algebra.nodes import Atom, Filter, Query
from cepheid.algebra.types import check_types
from cepheid.errors import CepheidError
from cepheid.languages import lower, parse
from cepheid.pipeline import parse_query
from cepheid.schema import Schema, schema_of

COLUMNS = pa.schema(
    [
        ("ts", pa.timestamp("us")),
        ("utc", pa.timestamp("us", tz="UTC")),
        ("paris", pa.timestamp("ns", tz="Europe/Paris")),
        ("east", pa.timestamp("ms", tz="+02:00")),
        ("day", pa.date32()),
        ("type", pa.string()),
        ("name", pa.dictionary(pa.int32(), pa.string())),
        ("price", pa.float64()),
        ("volume", pa.int32()),
        ("cost", pa.decimal128(10, 2)),
        ("open", pa.bool_()),
        ("clock", pa.time64("ns")),
        ("lasted", pa.duration("s")),
        ("tags", pa.list_(pa.string())),
        ("unit price", pa.float32()),
    ]
)
SCHEMA = schema_of(COLUMNS, time="ts")


def in_zone(utc: dt.datetime, zone: str) -> Moment:
    return Moment(moment_of(utc).ns, zone)


def typed(condition: str, schema: Schema = SCHEMA) -> Condition:
    pattern = check_types(lower(parse(f"SELECT * FROM s WHERE T AS x FILTER {condition}")), schema).pattern
    assert isinstance(pattern, Filter)
    return pattern.condition


def error(condition: str, tail: str = "", schema: Schema = SCHEMA) -> CepheidError:
    with pytest.raises(CepheidError) as caught:
        check_types(lower(parse(f"SELECT * FROM s WHERE T AS x FILTER {condition} {tail}")), schema)
    return caught.value


@pytest.mark.parametrize(
    "condition",
    [
        "x.price > 100 AND x.volume <= 5 OR NOT x.open",
        "x.price + x.volume * 2 - x.cost / 3 % 7 > -x.price",
        "x.name = 'IBM' AND x.name <> x.type",
        "x.name IN ('a', 'b', NULL) AND x.volume NOT IN (1, 2.5)",
        "x.name LIKE 'I%' AND x.type RLIKE '^[A-Z]+$'",
        "x.tags IS NULL",
        "x.price = NULL",
        "NULL",
        "x.open = TRUE",
        "x.open IS TRUE",
        'x."unit price" > 1',
        "x.day = DATE '2024-01-31'",
        "x.day < x.day",
        "round(x.price, 2) = floor(x.price) AND length(upper(x.name)) > 3",
        "substr(x.name, 1) = substring(x.name, 1, 2)",
        "coalesce(x.price, x.volume, 0) > least(1, x.price, x.cost)",
        "coalesce(x.name, NULL, 'none') = 'none'",
        "nullif(x.volume, 0) > 1",
        "startswith(x.name, 'I')",
        "year(x.ts) = 2024 AND dayofweek(x.day) = 1 AND hour(x.utc) < 12",
    ],
)
def test_conditions_that_fit_the_columns_are_kept(condition: str) -> None:
    typed(condition)


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("x.ts > '2024-01-31'", moment_of(dt.datetime(2024, 1, 31))),
        ("x.ts > '2024-01-31 12:30:00'", moment_of(dt.datetime(2024, 1, 31, 12, 30))),
        ("x.ts > DATE '2024-01-31'", moment_of(dt.datetime(2024, 1, 31))),
        ("x.ts > TIMESTAMP '2024-01-31 12:30:00'", moment_of(dt.datetime(2024, 1, 31, 12, 30))),
        ("x.day > '2024-01-31'", dt.date(2024, 1, 31)),
        ("x.utc > '2024-01-31 12:30'", in_zone(dt.datetime(2024, 1, 31, 12, 30), "UTC")),
        ("x.utc > '2024-01-31 12:30+01:00'", in_zone(dt.datetime(2024, 1, 31, 11, 30), "UTC")),
        ("x.paris > '2024-07-31 12:30'", in_zone(dt.datetime(2024, 7, 31, 10, 30), "Europe/Paris")),
        ("x.paris > '2024-07-31 12:30Z'", in_zone(dt.datetime(2024, 7, 31, 12, 30), "Europe/Paris")),
        ("x.paris > '0001-01-01'", Moment(moment_of(dt.datetime.min).ns - 561 * 10**9, "Europe/Paris")),
        ("x.east > TIMESTAMP '2024-01-31 12:30'", in_zone(dt.datetime(2024, 1, 31, 10, 30), "+02:00")),
        ("x.clock > '12:30'", TimeOfDay(45_000 * 10**9)),
        ("x.clock > TIME '00:00:00.000000001'", TimeOfDay(1)),
    ],
)
def test_literals_take_the_type_of_the_time_they_are_compared_with(condition: str, value: object) -> None:
    found = typed(condition)
    assert isinstance(found, Comparison)
    assert isinstance(found.right, Literal)
    assert (type(found.right.value), found.right.value) == (type(value), value)


def test_a_literal_on_the_left_is_read_the_same_way() -> None:
    found = typed("'2024-01-31' <= x.day")
    assert isinstance(found, Comparison)
    assert found.left == Literal(dt.date(2024, 1, 31))


def test_every_bound_and_item_is_read_the_same_way() -> None:
    between = typed("x.day BETWEEN '2024-01-01' AND '2024-01-31'")
    assert [child.right.value.day for child in children(between)] == [1, 31]  # type: ignore[union-attr]
    listed = typed("x.day IN ('2024-01-01', '2024-01-31')")
    assert isinstance(listed, In)
    assert listed.items == (Literal(dt.date(2024, 1, 1)), Literal(dt.date(2024, 1, 31)))


def test_literals_beside_a_column_in_a_call_take_its_type() -> None:
    found = typed("coalesce(x.utc, '2024-01-31') > '2024-01-31'")
    midnight = Literal(in_zone(dt.datetime(2024, 1, 31), "UTC"))
    assert isinstance(found, Comparison)
    assert children(found.left)[1] == found.right == midnight


def test_other_names_of_functions_become_the_one_name() -> None:
    found = typed("substring(x.name, 1) = 'a'")
    assert isinstance(found, Comparison)
    assert found.left.function == "substr"  # type: ignore[union-attr]


def test_an_unknown_attribute_gets_the_nearest_name() -> None:
    assert str(error("x.prise > 100")) == (
        "error[unknown-attribute]: events have no attribute `prise`\n"
        "  --> query:1:39\n"
        "   |\n"
        " 1 | SELECT * FROM s WHERE T AS x FILTER x.prise > 100 \n"
        "   |                                       ^^^^^ did you mean `price`?"
    )


def test_attribute_names_are_told_apart_by_case() -> None:
    found = error("x.Price > 100")
    assert (found.code, found.hint) == ("unknown-attribute", "did you mean `price`?")


def test_an_unlike_attribute_gets_the_list_of_columns() -> None:
    assert "the columns are `ts`, `utc`" in (error("x.zzz > 100").hint or "")


def test_a_mismatch_names_both_types_and_the_fix() -> None:
    assert str(error("x.price > '100'")) == (
        "error[type-mismatch]: `x.price` is a number and `'100'` is a string: they cannot be compared\n"
        "  --> query:1:37\n"
        "   |\n"
        " 1 | SELECT * FROM s WHERE T AS x FILTER x.price > '100' \n"
        "   |                                     ^^^^^^^^^^^^^^^ write 100 without quotes"
    )


@pytest.mark.parametrize(
    ("condition", "message", "hint"),
    [
        ("x.name = 5", "`5` is a number", "write '5' in quotes"),
        ("x.name = TRUE", "`TRUE` is a boolean", "write 'true' in quotes"),
        ("x.open = 1", "`x.open` is a boolean", "write TRUE or FALSE"),
        ("x.open = 'true'", "`'true'` is a string", "write TRUE without quotes"),
        ("x.ts > 5", "`5` is a number", "write a time as TIMESTAMP"),
        ("x.day > 5", "`5` is a number", "write a date as DATE"),
        ("x.ts > 'soon'", "'soon' is not a timestamp", "'2024-01-31 12:30:00'"),
        ("x.day > 'soon'", "'soon' is not a date", "'2024-01-31'"),
        ("x.ts > x.day", "`x.day` is a date", "year(…), month(…) and day(…)"),
        ("x.ts > '2024-01-31T00:00:00Z'", "has a time zone", "without the zone"),
        ("x.tags = 'a'", "`x.tags` is of another type", "x.tags[0]"),
        ("x.name IN ('a', 5)", "`5` is a number", "write '5' in quotes"),
        ("x.price LIKE '1%'", "LIKE takes a string; `x.price` is a number", "compare it"),
        ("x.price RLIKE '1'", "RLIKE takes a string", "compare it"),
        ("x.name + 'a' = 'b'", "`+` takes numbers; `x.name` is a string", "concat"),
        ("x.ts - x.ts > 5", "is a duration and `5` is a number", "INTERVAL"),
        ("x.price", "a condition must be true or false; `x.price` is a number", "compare it with something"),
        ("x.price AND x.open", "a condition must be true or false", "compare it with something"),
        ("NOT x.name", "a condition must be true or false", "compare it with something"),
        ("abs(x.name) > 1", "`abs` takes a number here; `x.name` is a string", "call it as abs(x)"),
        ("round(x.price, 1, 2) > 1", "`round` cannot take 3 arguments", "call it as round(x[, digits])"),
        ("least(1) > 1", "`least` cannot take 1 argument", "call it as least(a, b, …)"),
        ("coalesce(x.name, 1) = 'a'", "`coalesce` takes values of one type", "coalesce(a, b, …)"),
        ("hour(x.day) = 1", "`hour` takes a time of day or a timestamp here", "call it as hour(t)"),
        ("year(x.clock) = 1", "`year` takes a date or a timestamp here", "call it as year(t)"),
        ("x.clock > 'noon'", "'noon' is not a time of day", "'12:30:00'"),
        ("x.clock > 5", "`5` is a number", "write a time of day as TIME"),
        ("x.ts > x.clock", "`x.clock` is a time of day", ""),
        ("x.lasted > 5", "`x.lasted` is a duration", "INTERVAL 5 MINUTES"),
        ("x.lasted > '5 seconds'", "`x.lasted` is a duration", "INTERVAL 5 MINUTES"),
        (
            "x.lasted + 1 > 5",
            "`+` takes numbers; `x.lasted` is a duration",
            "a duration is added to durations",
        ),
        ("x.ts > x.utc", "`x.utc` has a time zone and `x.ts` has none", "give both columns a zone"),
        ("least(x.utc, x.ts) > '2024-01-31'", "`x.utc` has a time zone and `x.ts` has none", "a zone"),
        ("x.ts > '2024-01-31 12:30:00.0000000001'", "is not a timestamp", "'2024-01-31 12:30:00'"),
    ],
)
def test_mismatches_name_the_likely_fix(condition: str, message: str, hint: str) -> None:
    found = error(condition)
    assert found.code == "type-mismatch"
    assert message in found.message
    assert hint in (found.hint or "")
    assert found.span is not None


def test_an_unknown_function_gets_the_nearest_name() -> None:
    found = error("lenght(x.name) > 1")
    assert (found.code, found.hint) == ("unknown-function", "did you mean `length`?")


def test_a_regex_that_cannot_be_read_is_an_error_of_the_query() -> None:
    with pytest.raises(CepheidError) as caught:
        parse_query("SELECT * FROM s WHERE T AS x FILTER x.name RLIKE '(a'")
    found = caught.value
    assert (found.code, found.hint) == ("bad-argument", "the syntax is RE2's: no look-around")


def test_an_unknown_partition_column_is_shown_in_its_place() -> None:
    found = error("x.price > 1", tail="PARTITION BY name, volum")
    assert (found.code, found.hint) == ("unknown-column", "did you mean `volume`?")
    assert found.span is not None
    assert found.span.text == "volum"


NUMERIC = schema_of(pa.schema([("t", pa.int64()), ("price", pa.float64())]), time="t")


def test_a_duration_needs_a_timestamp_or_date() -> None:
    found = error("x.price > 1", tail="WITHIN 5 seconds", schema=NUMERIC)
    assert found.code == "bad-argument"
    assert found.hint == "give the window as a plain number in the column's own unit"


def test_a_plain_window_needs_a_numeric_time() -> None:
    found = error("x.price > 1", tail="WITHIN 5")
    assert found.code == "bad-argument"
    assert found.hint == "write WITHIN 5 seconds, minutes, …, or EVENTS"


def test_a_window_by_count_goes_with_any_time() -> None:
    for schema in (SCHEMA, NUMERIC):
        check_types(lower(parse("SELECT * FROM s WHERE T WITHIN 5 EVENTS")), schema)


def test_an_atoms_own_condition_is_typed_too() -> None:
    late = Comparison(">", next(attributes(typed("x.day > '2024-01-01'"))), Literal("2024-01-31"))
    pattern = check_types(Query(Atom("T", None, late)), SCHEMA).pattern
    assert isinstance(pattern, Atom)
    assert isinstance(pattern.condition, Comparison)
    assert pattern.condition.right == Literal(dt.date(2024, 1, 31))


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        (pa.uint64(), Kind.NUMBER),
        (pa.float16(), Kind.NUMBER),
        (pa.large_string(), Kind.STRING),
        (pa.string_view(), Kind.STRING),
        (pa.bool_(), Kind.BOOLEAN),
        (pa.date64(), Kind.DATE),
        (pa.timestamp("s", "UTC"), Kind.TIMESTAMP),
        (pa.null(), Kind.NULL),
        (pa.binary(), Kind.OTHER),
        (pa.struct([("a", pa.int64())]), Kind.OTHER),
        (pa.duration("s"), Kind.DURATION),
        (pa.time32("ms"), Kind.TIME),
        (pa.time64("ns"), Kind.TIME),
        (pa.month_day_nano_interval(), Kind.OTHER),
    ],
)
def test_columns_have_kinds(dtype: pa.DataType, kind: Kind) -> None:
    assert kind_of(dtype) is kind


def test_aliases_lead_to_functions() -> None:
    assert set(ALIASES.values()) <= set(FUNCTIONS)
    assert not set(ALIASES) & set(FUNCTIONS)


def part_by(keys: str) -> None:
    check_types(lower(parse(f"SELECT * FROM s WHERE T AS x ; T AS y PART-BY [{keys}]")), SCHEMA)


@pytest.mark.parametrize(
    "keys",
    ["name", "x.name, y.type", "x.price, y.volume", "x.cost, y.price", "x.utc, y.paris", "day", "open"],
)
def test_part_by_compares_what_a_condition_could(keys: str) -> None:
    part_by(keys)


@pytest.mark.parametrize(
    ("keys", "code", "said", "place"),
    [
        ("x.nme, y.type", "unknown-attribute", "events have no attribute `nme`", "nme"),
        ("x.price, y.name", "type-mismatch", "`x.price` is a number and `y.name` is a string", "y.name"),
        ("x.ts, y.day", "type-mismatch", "`x.ts` is a timestamp and `y.day` is a date", "y.day"),
        (
            "x.utc, y.ts",
            "type-mismatch",
            "one of `x.utc` and `y.ts` has a time zone, the other none",
            "y.ts",
        ),
        ("tags", "type-mismatch", "`tags` has type list<", "tags"),
    ],
)
def test_part_by_keys_of_other_types_are_refused(keys: str, code: str, said: str, place: str) -> None:
    with pytest.raises(CepheidError) as caught:
        part_by(keys)
    assert caught.value.code == code
    assert said in caught.value.message
    assert caught.value.span is not None
    assert caught.value.span.text == place
