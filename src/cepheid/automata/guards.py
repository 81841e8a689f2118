"""Operations on guards: conjunction, negation, implication, merging.

In: guards. Out: guards of the same form, or None for a guard that no event can satisfy. Invariant: in the result, no
test of a group of `fails` is in `holds`, no group contains another, and tests that exclude each other are not both in
`holds`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from cepheid.algebra.conditions import Attribute, Comparison, Condition, IsTrue, Literal, Negation
from cepheid.algebra.node import kept
from cepheid.automata.automaton import ALWAYS, Guard, Link, Predicate, Test


def guard_of(tests: Iterable[Test]) -> Guard | None:
    """The guard in which all tests hold; None where two exclude each other."""
    holds = frozenset(tests)
    return None if any(exclude(one, two) for one, two in combinations(holds, 2)) else Guard(holds)


def conjoin(one: Guard, two: Guard) -> Guard | None:
    """The guard that asks for what both ask for; None where that contradicts itself.

    >>> a, b = (Predicate(None, Attribute(None, name)) for name in "ab")
    >>> either_fails = Guard(fails=frozenset([frozenset([a, b])]))
    >>> conjoin(Guard(frozenset([a])), either_fails) == Guard(frozenset([a]), frozenset([frozenset([b])]))
    True
    >>> conjoin(Guard(frozenset([a, b])), either_fails) is None
    True
    """
    if one == ALWAYS or two == ALWAYS:
        return one if two == ALWAYS else two
    if any(exclude(test, other) for test in one.holds for other in two.holds):
        return None
    holds = one.holds | two.holds
    groups = set()
    for group in one.fails | two.fails:
        left = group - holds
        if not left:
            return None
        if not any(exclude(test, other) for test in left for other in holds):
            groups.add(left)
    least = frozenset(group for group in groups if not any(other < group for other in groups))
    return Guard(holds, least, one.within | two.within)


def negate(guard: Guard) -> list[Guard]:
    """Guards of which exactly one holds where the given one, which has no `within`, does not.

    >>> a, b = (Predicate(None, Attribute(None, name)) for name in "ab")
    >>> negate(ALWAYS), negate(Guard(frozenset([a, b]))) == [Guard(fails=frozenset([frozenset([a, b])]))]
    ([], True)
    """
    assert not guard.within
    found = [Guard(fails=frozenset([guard.holds]))] if guard.holds else []
    rest: Guard | None = Guard(guard.holds)
    for group in sorted(guard.fails, key=_text):
        if rest is not None:
            found += [both] if (both := conjoin(rest, Guard(group))) is not None else []
            rest = conjoin(rest, Guard(fails=frozenset([group])))
    return found


def implies(one: Guard, two: Guard) -> bool:
    """Whether, as far as can be seen, `two` holds wherever `one` does."""
    return (
        two.holds <= one.holds
        and two.within <= one.within
        and all(any(less <= group for less in one.fails) for group in two.fails)
    )


def merge(guards: Iterable[Guard]) -> list[Guard]:
    """Fewer guards with the same disjunction: a guard that implies another is dropped, and two guards that differ only
    in whether one group of tests holds become one.

    >>> a, b = (Predicate(None, Attribute(None, name)) for name in "ab")
    >>> merge([Guard(frozenset([a, b])), Guard(frozenset([b]), frozenset([frozenset([a])]))]) == [Guard(frozenset([b]))]
    True
    """
    left = list(dict.fromkeys(guards))
    while (pair := _a_pair(left)) is not None:
        one, two, both = pair
        left = list(dict.fromkeys([both if guard == one else guard for guard in left if guard != two]))
    return left


def _a_pair(guards: list[Guard]) -> tuple[Guard, Guard, Guard] | None:
    for one in guards:
        for two in guards:
            if one != two:
                both = two if implies(one, two) else _without_difference(one, two)
                if both is not None:
                    return one, two, both
    return None


def _without_difference(one: Guard, two: Guard) -> Guard | None:
    """H ∧ G and H ∧ ¬G are H."""
    groups = two.fails - one.fails
    if len(groups) != 1 or one.fails - two.fails or one.within != two.within:
        return None
    (group,) = groups
    return Guard(two.holds, one.fails, one.within) if one.holds == two.holds | group else None


def exclude(one: Test, two: Test) -> bool:
    """Whether two tests obviously exclude each other: they require an attribute to equal two different constants, or a
    condition to be true and not to be.

    >>> when = lambda name: Predicate(None, Comparison("=", Attribute(None, "name"), Literal(name)))
    >>> other = Predicate(None, Negation(IsTrue(when("MSFT").condition)))
    >>> exclude(when("MSFT"), when("ORCL")), exclude(when("MSFT"), other), exclude(when("MSFT"), when("MSFT"))
    (True, True, False)
    """
    if isinstance(one, Link) or isinstance(two, Link):
        return False
    if one.type is not None and two.type is not None and one.type != two.type:
        return True
    if one.condition is None or two.condition is None:
        return False
    (condition, holds), (other_condition, other_holds) = _truth(one.condition), _truth(two.condition)
    if holds != other_holds:
        return condition == other_condition
    if not isinstance(one.condition, Comparison) or not isinstance(two.condition, Comparison):
        return False
    for attribute, value in _equal(one.condition):
        for other, its in _equal(two.condition):
            if value != its and type(value) is type(its) and attribute == other:
                return True
    return False


def exclusions(tests: Sequence[Predicate]) -> list[set[int]]:
    """By test, the numbers of those that are seen never to hold with it; of many tests each is looked at once.

    >>> when = lambda name: Predicate(None, Comparison("=", Attribute(None, "name"), Literal(name)))
    >>> exclusions([when("MSFT"), when("ORCL"), Predicate(None, None)])
    [{1}, {0}, set()]
    """
    # By what can be told apart, an attribute or the type, and by value: the tests that ask for the value.
    asking: dict[object, dict[object, set[int]]] = {}
    for number, test in enumerate(tests):
        for subject, value in _asked(test):
            asking.setdefault(subject, {}).setdefault(value, set()).add(number)
    anywhere = {subject: set[int]().union(*values.values()) for subject, values in asking.items()}
    return [
        set[int]().union(*(anywhere[subject] - asking[subject][value] for subject, value in _asked(test)))
        for test in tests
    ]


def _asked(test: Predicate) -> Iterator[tuple[object, object]]:
    if test.type is not None:
        yield None, test.type
    if test.condition is not None:
        yield _truth(test.condition)
    if isinstance(test.condition, Comparison):
        for attribute, value in _equal(test.condition):
            yield (attribute, type(value)), value


def _truth(condition: Condition) -> tuple[Condition, bool]:
    """The condition that a test is about, and whether it must be true or must not be."""
    opposite = condition.operand if isinstance(condition, Negation) else None
    return (opposite.operand, False) if isinstance(opposite, IsTrue) else (condition, True)


@kept
def _equal(condition: Comparison) -> tuple[tuple[Attribute, str | int], ...]:
    """What a test says that an attribute equals. Not for whole numbers so large that two may be the same real."""
    return tuple(_equated(condition)) if condition.op == "=" else ()


def _equated(condition: Comparison) -> Iterator[tuple[Attribute, str | int]]:
    for one, two in ((condition.left, condition.right), (condition.right, condition.left)):
        value = two.value if isinstance(two, Literal) else None
        small = isinstance(value, str) or (isinstance(value, int) and abs(value) <= 2**53)
        if isinstance(one, Attribute) and isinstance(value, str | int) and small:
            yield one, value


def _text(group: frozenset[Test]) -> list[str]:
    return sorted(map(repr, group))
