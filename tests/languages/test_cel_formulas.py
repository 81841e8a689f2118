"""CEL formulas become the patterns the paper and the precedence rules say."""

import pytest

from cepheid.algebra.conditions import (
    Arithmetic,
    Attribute,
    Comparison,
    Conjunction,
    Disjunction,
    Literal,
    Negation,
)
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
    Or,
    PartBy,
    Pattern,
    Query,
    Repeat,
    Select,
    Seq,
    Strategy,
    StrictSeq,
    Window,
    WindowUnit,
)
from cepheid.algebra.scope import check_scope
from cepheid.languages import lower, parse

A, B, C = Atom("A"), Atom("B"), Atom("C")


def formula(text: str) -> Pattern:
    return lower(parse(f"SELECT * FROM s WHERE {text}")).pattern


def query(text: str) -> Query:
    return lower(parse(text))


def compare(var: str, name: str, op: str, value: object) -> Comparison:
    right = value if isinstance(value, Attribute) else Literal(value)  # type: ignore[arg-type]
    return Comparison(op, Attribute(var, name), right)


PHI_1 = "(T AS x ; H AS y) FILTER (x.tmp > 40 ∧ y.hum <= 25 ∧ x.id = 0 ∧ y.id = 0)"
PHI_2 = "((T AS x ; H AS y) OR (H AS y ; T AS x)) FILTER (x.tmp > 40 ∧ y.hum <= 25 ∧ x.id = 0 ∧ y.id = 0)"
PHI_3 = "(H AS x; (T AS y FILTER y.id = 1)+ ; H AS z) FILTER (x.hum < 30 ∧ z.hum > 60 ∧ x.id = z.id = 1)"
PHI_4 = "(H AS x; (T AS y FILTER y.id = x.id)+ ; H AS z) FILTER (x.hum < 30 ∧ z.hum > 60 ∧ x.id = z.id)"
PHI_5 = "(H AS x) FILTER (y.tmp <= 30)"
PHI_6 = "(T AS x) ; ((T AS y FILTER x.temp >= 40) OR (H AS y FILTER x.temp < 40))"

FIRE = Conjunction(
    (
        compare("x", "tmp", ">", 40),
        compare("y", "hum", "<=", 25),
        compare("x", "id", "=", 0),
        compare("y", "id", "=", 0),
    )
)
T_X, H_Y = Atom("T", "x"), Atom("H", "y")


def test_phi_1_is_a_filtered_sequence() -> None:
    assert formula(PHI_1) == Filter(Seq(T_X, H_Y), FIRE)


def test_phi_2_filters_both_orders() -> None:
    assert formula(PHI_2) == Filter(Or((Seq(T_X, H_Y), Seq(H_Y, T_X))), FIRE)


def test_phi_3_filters_inside_the_iteration_and_spreads_the_chain() -> None:
    rising = Conjunction(
        (
            compare("x", "hum", "<", 30),
            compare("z", "hum", ">", 60),
            compare("x", "id", "=", 1),
            compare("z", "id", "=", 1),
        )
    )
    between = Repeat(Filter(Atom("T", "y"), compare("y", "id", "=", 1)), 1, None)
    assert formula(PHI_3) == Filter(Seq(Seq(Atom("H", "x"), between), Atom("H", "z")), rising)


def test_phi_4_correlates_inside_the_iteration() -> None:
    inner = Filter(Atom("T", "y"), compare("y", "id", "=", Attribute("x", "id")))
    pattern = formula(PHI_4)
    assert isinstance(pattern, Filter)
    assert pattern.body == Seq(Seq(Atom("H", "x"), Repeat(inner, 1, None)), Atom("H", "z"))


def test_phi_6_chooses_by_the_first_event() -> None:
    hot = Filter(Atom("T", "y"), compare("x", "temp", ">=", 40))
    cold = Filter(Atom("H", "y"), compare("x", "temp", "<", 40))
    assert formula(PHI_6) == Seq(T_X, Or((hot, cold)))


@pytest.mark.parametrize("text", [PHI_1, PHI_2, PHI_3, PHI_4, PHI_6])
def test_the_papers_formulas_are_well_formed(text: str) -> None:
    check_scope(query(f"SELECT * FROM farm WHERE {text}"))


A_X, B_Y, C_Z, D_W = Atom("A", "x"), Atom("B", "y"), Atom("C", "z"), Atom("D", "w")


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("A AS x; B AS y; C AS z", Seq(Seq(A_X, B_Y), C_Z)),
        ("A AS x; B AS y; C AS z; D AS w", Seq(Seq(Seq(A_X, B_Y), C_Z), D_W)),
        ("((A AS x OR B AS y) OR C AS z); D AS w", Seq(Or((Or((A_X, B_Y)), C_Z)), D_W)),
        ("(A AS x)+;(B AS y)", Seq(Repeat(A_X, 1, None), B_Y)),
        ("(A AS x)+;(B AS y)+;C AS z", Seq(Seq(Repeat(A_X, 1, None), Repeat(B_Y, 1, None)), C_Z)),
        ("((A AS x)+;(B AS y))+;C AS z", Seq(Repeat(Seq(Repeat(A_X, 1, None), B_Y), 1, None), C_Z)),
    ],
    ids=["Q1", "Q2", "Q3", "Q4", "Q5", "Q6"],
)
def test_the_papers_queries(text: str, pattern: Pattern) -> None:
    assert formula(text) == pattern


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("A ; B OR C", Or((Seq(A, B), C))),
        ("A OR B ; C", Or((A, Seq(B, C)))),
        ("A : B ; C", Seq(StrictSeq(A, B), C)),
        ("A ; B : C", StrictSeq(Seq(A, B), C)),
        ("A ; (B ; C)", Seq(A, Seq(B, C))),
        ("A ; B+", Seq(A, Repeat(B, 1, None))),
        ("A AS x+", Repeat(A_X, 1, None)),
        ("(A)+?", Repeat(Repeat(A, 1, None), 0, 1)),
        ("A*", Repeat(A, 0, None)),
        ("A?", Repeat(A, 0, 1)),
        ("A{2}", Repeat(A, 2, 2)),
        ("A{2,}", Repeat(A, 2, None)),
        ("A{2,5}", Repeat(A, 2, 5)),
        ("A OR B FILTER x.a = 1", Filter(Or((A, B)), compare("x", "a", "=", 1))),
        (
            "A ; B FILTER x.a = 1 FILTER x.b = 2",
            Filter(Filter(Seq(A, B), compare("x", "a", "=", 1)), compare("x", "b", "=", 2)),
        ),
        ("A ; (B FILTER x.a = 1)", Seq(A, Filter(B, compare("x", "a", "=", 1)))),
        ("A ; NXT(B)", Seq(A, Select(Strategy.NXT, B))),
        ("A ; next (B) ; LAST(C)", Seq(Seq(A, Select(Strategy.NXT, B)), Select(Strategy.LAST, C))),
        ("A ; ALL(B)", Seq(A, B)),
        ("((((A))))", A),
    ],
)
def test_operators_bind_as_documented(text: str, pattern: Pattern) -> None:
    assert formula(text) == pattern


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("last AS max ; date", Seq(Atom("last", "max"), Atom("date"))),
        (
            "A AS within FILTER within.limit = 1",
            Filter(Atom("A", "within"), compare("within", "limit", "=", 1)),
        ),
        ('"my type" AS `x y`', Atom("my type", "x y")),
        ('"a ""b""" AS `c``d`', Atom('a "b"', "c`d")),
        ("Température AS größe", Atom("Température", "größe")),
        ('A AS x FILTER x."unit price" = 1', Filter(A_X, compare("x", "unit price", "=", 1))),
        ("A AS x FILTER x.select = 1", Filter(A_X, compare("x", "select", "=", 1))),
        ("a AS x", Atom("a", "x")),
    ],
)
def test_names_may_be_quoted_foreign_or_keywords_elsewhere(text: str, pattern: Pattern) -> None:
    assert formula(text) == pattern


def test_keywords_are_read_in_any_case_and_comments_skipped() -> None:
    text = """-- fires
    select nExT x, y -- both
    from farm, barn where T as x ; H as y filter x.a = 1 -- hot
    partition by id within 10 minutes consume limit 5"""
    assert query(text) == Query(
        Filter(Seq(T_X, H_Y), compare("x", "a", "=", 1)),
        select=("x", "y"),
        streams=("farm", "barn"),
        partition_by=("id",),
        window=Window(600_000_000, WindowUnit.MICROSECONDS),
        strategy=Strategy.NXT,
        consume=True,
        limit=5,
    )


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("500", Window(500, WindowUnit.PLAIN)),
        ("2.5", Window(2.5, WindowUnit.PLAIN)),
        ("100 EVENTS", Window(100, WindowUnit.EVENTS)),
        ("1 event", Window(1, WindowUnit.EVENTS)),
        ("7 microseconds", Window(7, WindowUnit.MICROSECONDS)),
        ("500 milliseconds", Window(500_000, WindowUnit.MICROSECONDS)),
        ("500ms", Window(500_000, WindowUnit.MICROSECONDS)),
        ("1.5 seconds", Window(1_500_000, WindowUnit.MICROSECONDS)),
        ("0.1 s", Window(100_000, WindowUnit.MICROSECONDS)),
        ("1 Minute", Window(60_000_000, WindowUnit.MICROSECONDS)),
        ("10 min", Window(600_000_000, WindowUnit.MICROSECONDS)),
        ("2 h", Window(7_200_000_000, WindowUnit.MICROSECONDS)),
        ("1 d", Window(86_400_000_000, WindowUnit.MICROSECONDS)),
        ("2 weeks", Window(1_209_600_000_000, WindowUnit.MICROSECONDS)),
    ],
)
def test_windows_take_durations_counts_and_plain_numbers(text: str, window: Window) -> None:
    assert query(f"SELECT * FROM s WHERE A WITHIN {text}").window == window


def test_a_plain_number_of_a_window_takes_no_part_by_for_its_unit() -> None:
    assert formula("A ; NOT B FOR 2 PART-BY [id]") == PartBy(formula("A ; NOT B FOR 2"), ((None, "id"),))


def test_a_strategy_around_the_whole_formula_is_the_querys() -> None:
    lifted = query("SELECT x FROM s WHERE MAX(A AS x)")
    assert (lifted.strategy, lifted.pattern) == (Strategy.MAX, A_X)


def test_a_strategy_after_select_leaves_the_inner_one_in_place() -> None:
    kept = query("SELECT STRICT * FROM s WHERE MAX(A)")
    assert (kept.strategy, kept.pattern) == (Strategy.STRICT, Select(Strategy.MAX, A))


@pytest.mark.parametrize("word", ["ALL", "STRICT", "NXT", "NEXT", "LAST", "MAX"])
def test_every_strategy_may_follow_select(word: str) -> None:
    expected = Strategy.NXT if word == "NEXT" else Strategy(word)
    assert query(f"SELECT {word} * FROM s WHERE A").strategy is expected


def test_a_variable_named_like_a_strategy_can_be_selected() -> None:
    assert query("SELECT last, max FROM s WHERE A AS last ; B AS max").select == ("last", "max")


def test_clauses_come_in_any_order() -> None:
    one = query("SELECT * FROM s WHERE A LIMIT 5 WITHIN 3 PARTITION BY k")
    assert one == query("SELECT * FROM s WHERE A PARTITION BY k WITHIN 3 LIMIT 5")


def test_nodes_know_their_place() -> None:
    pattern = formula("A ; B AS x FILTER x.price > 1")
    assert isinstance(pattern, Filter)
    assert isinstance(pattern.condition, Comparison)
    assert pattern.condition.left.span is not None
    assert pattern.condition.left.span.text == "x.price"
    assert isinstance(pattern.body, Seq)
    assert isinstance(pattern.body.right, Atom)
    assert pattern.body.right.span is not None
    assert pattern.body.right.span.text == "B AS x"


def test_a_condition_may_use_and_or_of_both_spellings() -> None:
    a, b, c = (compare("x", name, "=", 1) for name in "abc")
    expected = Disjunction((Conjunction((a, b)), Negation(c)))
    assert formula("A FILTER x.a = 1 AND x.b = 1 OR NOT x.c = 1") == Filter(A, expected)
    assert formula("A FILTER x.a = 1 ∧ x.b = 1 ∨ ¬ x.c = 1") == Filter(A, expected)


def test_arithmetic_binds_as_usual() -> None:
    a, b, c = (Attribute("x", name) for name in "abc")
    total = Arithmetic("+", a, Arithmetic("*", b, c))
    expected = Comparison("=", Arithmetic("-", total, Literal(-1)), Arithmetic("-", Literal(0), a))
    assert formula("A FILTER x.a + x.b * x.c - -1 = -x.a") == Filter(A, expected)


def test_thousands_of_parentheses_are_only_parentheses() -> None:
    assert formula("(" * 5000 + "A" + ")" * 5000) == A


def test_the_sets_of_a_formula_are_marked_where_conditions_read_them() -> None:
    body = Seq(Bind(Atom("T"), "X"), Atom("R", "y"))
    condition = Conjunction(
        (Comparison("=", Attribute("X", "a", each=True), Literal(1)), compare("y", "a", "=", 2))
    )
    assert formula("T IN X ; R AS y FILTER X.a = 1 AND y.a = 2") == Filter(body, condition)


def test_phi_2_of_the_paper_on_part_by() -> None:
    """Example 4, with the parentheses that the precedence of PART-BY asks for."""
    same_user = PartBy(Repeat(Atom("R"), 1, None), ((None, "user_id"),))
    body = Seq(Seq(Bind(Atom("T"), "X"), Bind(same_user, "Y")), Bind(Atom("R"), "Z"))
    keys = (("X", "id"), ("Y", "tweet-id"), ("Z", "tweet-id"))
    text = '(T IN X ; ((R+) PART-BY [user_id]) IN Y ; R IN Z) PART-BY [X.id, Y."tweet-id", Z."tweet-id"]'
    assert formula(text) == PartBy(body, keys)


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("A IN X+", "(A IN X)+"),
        ("A+ IN X", "(A+) IN X"),
        ("A AS x IN X IN Y", "((A AS x) IN X) IN Y"),
        ("A IN X ; B IN Y", "(A IN X) ; (B IN Y)"),
        ("A ; B ALL C : A", "(A ; B) ALL (C : A)"),
        ("A ALL B ALL C", "(A ALL B) ALL C"),
        ("A OR B ALL C", "A OR (B ALL C)"),
        ("A PART-BY [a] FILTER 1 = 1 PART-BY [b]", "((A PART-BY [a]) FILTER 1 = 1) PART-BY [b]"),
        ("A OR B PART-BY [a]", "(A OR B) PART-BY [a]"),
    ],
)
def test_sets_all_and_part_by_bind_as_the_manual_says(short: str, long: str) -> None:
    assert formula(short) == formula(long)


def test_words_of_the_language_can_be_names_of_sets_and_keys() -> None:
    assert formula("a in all all all part-by [in]") == PartBy(
        All(Bind(Atom("a"), "all"), Atom("all")), ((None, "in"),)
    )


def test_all_before_a_parenthesis_is_the_operator_or_the_strategy() -> None:
    assert formula("A ALL (B ; C)") == All(A, Seq(B, C))
    assert formula("ALL (B ; C) ALL ALL(A)") == All(Seq(B, C), A)
