"""Variables are used where they are bound, and bounds make sense."""

import pytest

from cepheid.algebra.nodes import Atom, Query, Repeat, Seq
from cepheid.algebra.scope import check_scope
from cepheid.errors import CepheidError
from cepheid.languages import lower, parse


def check(formula: str, head: str = "SELECT *", tail: str = "") -> None:
    check_scope(lower(parse(f"{head} FROM s WHERE {formula} {tail}")))


def error(formula: str, head: str = "SELECT *", tail: str = "") -> CepheidError:
    with pytest.raises(CepheidError) as caught:
        check(formula, head, tail)
    return caught.value


@pytest.mark.parametrize(
    "formula",
    [
        "T AS x FILTER x.a = 1",
        "(T AS x ; H AS y) OR (H AS y ; T AS x) FILTER x.a = y.a",
        "T AS x ; (H AS y FILTER y.a = x.a)+",
        "T AS x ; ((T AS y FILTER x.a > 1) OR (H AS y FILTER x.a < 1))",
        "T AS x ; ((H AS y FILTER y.a = 1)+ ; T AS z FILTER x.a = z.a)*",
        "(T AS x FILTER x.a = 1)?",
        "(T AS x){1} FILTER 1 = 1",
        "(T AS y FILTER y.a = x.a)+ ; H AS x",
        "(T AS x FILTER x.a = 1)+ ; H AS x FILTER x.a = 2",
        "T AS x : H AS y FILTER x.a = y.a FILTER x.b = y.b",
    ],
)
def test_a_variable_is_seen_wherever_a_formula_around_the_filter_binds_it(formula: str) -> None:
    check(formula)


def test_phi_5_uses_a_variable_nothing_binds() -> None:
    assert str(error("(H AS x) FILTER (y.tmp <= 30)")) == (
        "error[unknown-variable]: no part of the formula binds `y`\n"
        "  --> query:1:40\n"
        "   |\n"
        " 1 | SELECT * FROM s WHERE (H AS x) FILTER (y.tmp <= 30) \n"
        "   |                                        ^ the formula binds `x`"
    )


def test_a_misspelt_variable_gets_the_nearest_name() -> None:
    found = error("T AS temperature FILTER temprature.a = 1")
    assert (found.code, found.hint) == ("unknown-variable", "did you mean `temperature`?")


def test_a_type_used_as_a_variable_is_told_apart() -> None:
    found = error("SELL FILTER SELL.price > 1")
    assert found.code == "unknown-variable"
    assert found.hint == "`SELL` is an event type: write SELL AS s and use the variable"


def test_a_variable_of_one_branch_only_is_unbound() -> None:
    assert str(error("(T AS x OR H AS y) FILTER x.a = 1")) == (
        "error[unbound-variable]: `x` is not bound when the OR takes `H AS y`\n"
        "  --> query:1:49\n"
        "   |\n"
        " 1 | SELECT * FROM s WHERE (T AS x OR H AS y) FILTER x.a = 1 \n"
        "   |                                                 ^ bind `x` in both branches, "
        "or put the filter into the branch that binds it"
    )


def test_a_variable_of_an_optional_part_is_unbound() -> None:
    found = error("T AS x? ; H AS y FILTER x.a = y.a")
    assert found.code == "unbound-variable"
    assert found.message == "`x` is not bound when the optional `(T AS x)?` is left out"
    assert found.hint == "put the filter inside: (T AS x FILTER …)?"


def test_a_variable_of_a_repetition_is_not_seen_outside() -> None:
    assert str(error("H AS x ; (T AS y)+ FILTER y.id = 1")) == (
        "error[kleene-variable]: `y` is bound inside a repetition, afresh in each round, "
        "and used outside it\n"
        "  --> query:1:49\n"
        "   |\n"
        " 1 | SELECT * FROM s WHERE H AS x ; (T AS y)+ FILTER y.id = 1 \n"
        "   |                                                 ^ put the filter inside: (T AS y FILTER …)+"
    )


@pytest.mark.parametrize("sign", ["+", "*", "{2}", "{1,3}", "{0,2}"])
def test_every_repetition_but_the_optional_opens_a_scope(sign: str) -> None:
    assert error(f"(T AS y){sign} FILTER y.id = 1").code == "kleene-variable"


def test_an_inner_repetition_hides_from_the_outer_one() -> None:
    assert error("((A AS x)+ ; B AS y FILTER x.a = 1)+").code == "kleene-variable"


def test_each_round_has_its_own_variable_whatever_is_bound_around() -> None:
    found = error("((A AS x OR B AS y) FILTER x.a = 1)+ ; C AS x")
    assert (found.code, found.message) == (
        "unbound-variable",
        "`x` is not bound when the OR takes `B AS y`",
    )


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("A{3,2}", "a repetition cannot run at least 3 and at most 2 times"),
        ("A{0}", "a repetition must allow at least one round"),
        ("A{0,0}", "a repetition must allow at least one round"),
    ],
)
def test_repetition_bounds_must_allow_something(formula: str, message: str) -> None:
    found = error(formula)
    assert (found.code, found.message) == ("bad-argument", message)
    assert found.span is not None
    assert found.span.text == formula


@pytest.mark.parametrize(
    ("clause", "message"),
    [
        ("WITHIN 0 EVENTS", "`WITHIN` requires a positive number of events; got `0 EVENTS` instead"),
        ("WITHIN -5 seconds", "`WITHIN` requires a duration that is not negative; got `-5 seconds` instead"),
        ("WITHIN -1", "`WITHIN` requires a duration that is not negative; got `-1` instead"),
        ("WITHIN 2.5 EVENTS", "`WITHIN` requires a whole number of events; got `2.5` instead"),
        ("WITHIN 0.5 ns", "`WITHIN` requires a whole number of nanoseconds; got `0.5` instead"),
        ("LIMIT 0", "`LIMIT` requires a positive number of matches; got `0` instead"),
        ("LIMIT -3", "`LIMIT` requires a positive number of matches; got `-3` instead"),
    ],
)
def test_windows_and_limits_must_hold_something(clause: str, message: str) -> None:
    found = error("A", tail=clause)
    assert (found.code, found.message) == ("bad-argument", message)
    assert found.span is not None
    assert found.span.text == clause


def test_a_window_of_no_duration_holds_events_of_one_time() -> None:
    check("A ; B", tail="WITHIN 0 seconds")


def test_selecting_an_unknown_variable_is_an_error() -> None:
    found = error("T AS temp ; H", head="SELECT tmp")
    assert (found.code, found.hint) == ("unknown-variable", "did you mean `temp`?")
    assert found.span is not None
    assert found.span.text == "tmp"


def test_an_unnamed_event_is_selected_by_its_type() -> None:
    check("T AS x ; H", head="SELECT x, H")


def test_a_variable_of_a_repetition_can_be_selected() -> None:
    check("(T AS x)+", head="SELECT x")


@pytest.mark.parametrize(
    ("head", "formula", "tail"),
    [
        ("SELECT x, x", "T AS x", ""),
        ("SELECT *", "T", "PARTITION BY a, a"),
    ],
)
def test_a_name_is_listed_once(head: str, formula: str, tail: str) -> None:
    found = error(formula, head, tail)
    assert found.code == "bad-argument"
    assert found.message.endswith("twice")


def test_a_stream_is_listed_once() -> None:
    with pytest.raises(CepheidError, match="FROM names `a` twice"):
        check_scope(lower(parse("SELECT * FROM a, b, a WHERE T")))


@pytest.mark.parametrize("name", ["match_id", "start", "end", "positions", "sensor"])
def test_a_variable_must_not_be_named_like_an_output_column(name: str) -> None:
    found = error(f"T AS {name}", tail="PARTITION BY sensor")
    assert (found.code, found.message) == ("bad-argument", f"the output already has a column `{name}`")
    assert found.span is not None
    assert found.span.text == f"T AS {name}"


def test_a_variable_that_is_not_shown_may_have_any_name() -> None:
    check("T AS start ; H AS x", head="SELECT x")


def test_what_not_forbids_is_read_by_filters_around_it_only() -> None:
    check("A AS a ; NOT B AS b ; C FILTER b.x = a.x")
    assert error("A AS a ; NOT B AS b ; (C AS c FILTER b.x = c.x)").code == "unbound-variable"
    assert error("(A AS a ; NOT B AS b)+ ; C AS c FILTER b.x = c.x").code == "kleene-variable"


def test_a_query_without_text_is_checked_all_the_same() -> None:
    with pytest.raises(CepheidError) as caught:
        check_scope(Query(Seq(Atom("A"), Repeat(Atom("B"), 5, 2))))
    assert caught.value.span is None
