"""Sets are used where they gather, and PART-BY compares every event."""

import pytest

from cepheid.algebra.conditions import Attribute, Comparison, Literal
from cepheid.algebra.nodes import Atom, Bind, Filter, PartBy, Query, Repeat, Seq
from cepheid.algebra.scope import check_scope
from cepheid.algebra.variables import Shown, shown, with_sets
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
        "T IN X ; H IN Y PART-BY [X.id, Y.id]",
        "T AS x ; H AS y PART-BY [x.id, y.id]",
        "(T AS x ; H AS y) IN X PART-BY [X.id]",
        "(T AS x IN X ; H AS y) IN Y PART-BY [Y.id]",
        "T AS x OR H AS y PART-BY [x.id, y.id]",
        "T AS x? ; H AS y PART-BY [x.id, y.id]",
        "((T AS x ; H AS y) PART-BY [x.id, y.id])+",
        "(T IN X)+ ; H IN X PART-BY [X.id]",
        "(T AS x)+ ; (H ; H) PART-BY [id]",
        "T ALL H IN X PART-BY [s]",
        "T AS x IN X PART-BY [X.id, x.s]",
        "(T IN X OR H) FILTER X.id = 1",
        "(T IN X)? ; H AS y FILTER X.id = y.id",
        "T IN X ; H AS y PART-BY [X.id, y.id] PART-BY [X.s, y.s]",
    ],
)
def test_variables_that_cover_the_formula_are_keys(formula: str) -> None:
    check(formula)


def test_the_error_names_the_events_left_out_and_the_fix() -> None:
    assert str(error("T IN X ; H AS y ; (H ; T){2} PART-BY [X.id]")) == (
        "error[uncovered-event]: PART-BY compares all events of its formula, but [X.id] leaves out "
        "`H AS y`, `H`, `T`\n"
        "  --> query:1:32\n"
        "   |\n"
        " 1 | SELECT * FROM s WHERE T IN X ; H AS y ; (H ; T){2} PART-BY [X.id] \n"
        "   |                                ^^^^^^ list an attribute of `y` too: PART-BY [X.id, y.…]"
    )


def test_an_event_without_a_name_is_covered_by_a_new_set() -> None:
    found = error("T IN X ; H PART-BY [X.id]")
    assert found.code == "uncovered-event"
    assert found.hint == "name a set, H IN Y, and list it too: PART-BY [X.id, Y.…]"


def test_a_set_inside_does_not_cover_what_is_around_it() -> None:
    assert error("(T IN X ; H) IN Y PART-BY [X.id]").code == "uncovered-event"


def test_a_variable_of_a_repetition_is_no_key() -> None:
    found = error("T AS x ; (H AS y)+ PART-BY [x.id, y.id]")
    assert found.code == "kleene-variable"
    assert found.hint == "name the set: (H AS y)+ IN X, and list X instead"
    assert found.span is not None
    assert found.span.text == "y.id"


def test_a_key_is_bound_inside_of_what_is_compared() -> None:
    found = error("T IN X ; (H AS y PART-BY [X.id, y.id])")
    assert (found.code, found.message) == (
        "unbound-variable",
        "`X` is bound outside of what this PART-BY compares",
    )


def test_an_unknown_key_gets_the_nearest_name() -> None:
    found = error("T IN Reading PART-BY [Readin.id]")
    assert (found.code, found.hint) == ("unknown-variable", "did you mean `Reading`?")


@pytest.mark.parametrize(
    ("keys", "hint"),
    [("id, s", "write PART-BY [id] PART-BY [s]"), ("X.id, s", "say whose attribute s is")],
)
def test_one_plain_attribute_stands_alone(keys: str, hint: str) -> None:
    found = error(f"T IN X PART-BY [{keys}]")
    assert (found.code, found.hint) == ("bad-argument", hint)


def test_a_filter_on_a_set_stands_where_the_set_gathers() -> None:
    found = error("(T IN X) ; (H AS y FILTER X.id = y.id)")
    assert found.code == "unbound-variable"
    assert found.hint == "put the filter where the set is: (T IN X FILTER …), or around it"
    assert found.span is not None
    assert found.span.text == "X"


def test_an_unknown_variable_is_told_the_sets_too() -> None:
    assert error("T IN X ; H AS y FILTER q.id = 1").hint == "the formula binds `X`, `y`"


def test_a_set_must_not_be_named_like_an_output_column() -> None:
    found = error("T IN start")
    assert (found.message, found.hint) == (
        "the output already has a column `start`",
        "give the variable another name with IN",
    )
    assert error("T IN id", tail="PARTITION BY id").code == "bad-argument"


def test_a_set_can_be_selected() -> None:
    check("T IN X", head="SELECT X")
    check("T IN X", head="SELECT X, T")
    assert error("T IN X", head="SELECT Y").hint == "the formula binds `X`, `T`"


def test_sets_are_shown_as_arrays_and_types_only_outside_of_them() -> None:
    pattern = Seq(Atom("H"), Bind(Seq(Atom("T"), Repeat(Atom("H", "y"), 1, None)), "X"))
    assert shown(Query(pattern)) == (Shown("H", False), Shown("y", True), Shown("X", True))


def test_attributes_of_sets_say_so_wherever_they_stand() -> None:
    one = Comparison("=", Attribute("X", "a"), Literal(1))
    marked = with_sets(Filter(Seq(Filter(Bind(Atom("T"), "X"), one), Atom("H", "y")), one))
    each = Comparison("=", Attribute("X", "a", each=True), Literal(1))
    assert marked == Filter(Seq(Filter(Bind(Atom("T"), "X"), each), Atom("H", "y")), each)


def test_a_query_without_text_is_checked_all_the_same() -> None:
    with pytest.raises(CepheidError) as caught:
        check_scope(Query(PartBy(Seq(Atom("T", "x"), Atom("H")), (("x", "id"),))))
    assert (caught.value.code, caught.value.span) == ("uncovered-event", None)
