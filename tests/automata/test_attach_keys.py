"""attach_keys: PART-BY by a register, where no partition and no chain does it."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cepheid
from cepheid.algebra.conditions import Attribute
from cepheid.algebra.empty import EMPTY
from cepheid.algebra.key_equality import same_key
from cepheid.algebra.nodes import Atom, Bind, Or, PartBy, Pattern, Repeat, Seq
from cepheid.automata.attach_keys import with_one_key
from cepheid.kernels.conditions.programs import NULL_WORD
from support.agreement import differences, expected, is_taken
from support.compared_queries import seeded_mixed

BY_ID = ((None, "id"),)
A, B, C = Atom("A", "x"), Atom("B", "y"), Atom("C", "z")


def kept(pattern: Pattern, keys: tuple[tuple[str | None, str], ...] = BY_ID) -> Pattern:
    return with_one_key(PartBy(pattern, keys), {}, lambda name: f"{name}+")


def of_first(atom: Atom, own: str = "id", first: str = "id") -> Atom:
    return Atom(atom.type, atom.var, same_key(Attribute(None, own), Attribute(f"{first}+", first)))


def test_the_first_event_is_remembered_and_the_others_have_its_key() -> None:
    assert kept(Seq(A, Seq(B, C))) == Seq(Bind(A, "id+"), Seq(of_first(B), of_first(C)))
    assert kept(EMPTY) == EMPTY


def test_whichever_event_comes_first_is_remembered() -> None:
    optional = Repeat(A, 0, 1)
    first, none = Seq(Bind(A, "id+"), of_first(B)), Bind(B, "id+")
    assert kept(Seq(optional, B)) == Or((first, none))
    assert kept(Or((A, B))) == Or((Bind(A, "id+"), Bind(B, "id+")))
    assert kept(Repeat(A, 1, None)) == Seq(Bind(A, "id+"), Repeat(of_first(A), 0, None))


def test_every_variable_has_its_own_attribute_and_those_of_none_are_not_asked() -> None:
    keys = (("x", "id"), ("y", "ref"))
    assert kept(Seq(A, Seq(C, B)), keys) == Seq(Bind(A, "id+"), Seq(C, of_first(B, "ref")))
    assert kept(Seq(B, A), keys) == Seq(Bind(B, "ref+"), of_first(A, "id", "ref"))


def test_an_event_of_two_roles_has_one_key_in_both() -> None:
    keys = (("X", "id"), ("x", "ref"))
    both = Atom("A", "x", same_key(Attribute(None, "id"), Attribute(None, "ref")))
    assert kept(Bind(A, "X"), keys) == Bind(Bind(both, "id+"), "X")


@pytest.mark.parametrize("strategy", ["", "NXT", "LAST", "MAX"])
def test_null_and_nan_are_keys(strategy: str) -> None:
    values = [None, 1.0, float("nan"), -0.0, None, float("nan"), 0.0, 1.0]
    table = pa.table({"type": list("AAAABBBB"), "ts": range(8), "k": pa.array(values, pa.float64())})
    query = f"SELECT {strategy} * FROM s WHERE (A AS x ; B AS y PART-BY [k]) ; B AS z"
    found = {
        evaluator: sorted(
            cepheid.match(table, query, evaluator=evaluator, positions=True)["positions"].to_pylist()
        )
        for evaluator in ("configurations", "semantics")
    }
    assert found["configurations"] == found["semantics"]
    if strategy == "":
        assert {(0, 4), (2, 5), (3, 6)} == {tuple(match[:2]) for match in found["configurations"]}


def test_keys_of_different_types_are_compared_by_value() -> None:
    table = pa.table({"type": ["A", "B", "B"], "ts": range(3), "k": [1, 2, 3], "m": [0.0, 1.0, 2.0]})
    query = "SELECT MAX * FROM s WHERE A AS x ; B AS y PART-BY [x.k, y.m]"
    assert "evaluator: configurations" in cepheid.explain(query, table)
    assert cepheid.match(table, query, positions=True)["positions"].to_pylist() == [[0, 1]]


def test_a_number_that_stands_for_null_is_refused_as_a_key() -> None:
    keys, others = pa.array([None, 1], pa.int64()), pa.array([0, NULL_WORD], pa.int64())
    table = pa.table({"type": ["A", "B"], "ts": range(2), "k": keys, "m": others})
    with pytest.raises(cepheid.CepheidError, match="cannot be compared"):
        cepheid.match(table, "SELECT MAX * FROM s WHERE A AS x ; B AS y PART-BY [x.k, y.m]")


def test_random_parts_in_any_order_are_the_oracle() -> None:
    taken = matched = 0
    for seed in range(60):
        case = seeded_mixed(seed)
        if is_taken(case, "configurations"):
            assert differences(case, [6], "configurations", saved=seed % 10 == 0) is None, seed
            taken += 1
            matched += bool(expected(case))
    assert taken > 54
    assert matched > 12
