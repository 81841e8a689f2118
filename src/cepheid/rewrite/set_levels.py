"""What needs to be known of an aggregate whose value is only compared with constants: a level, one of a few.

In: an aggregate and what is asked of it. Out: its levels: at each of them, what an event of the set may satisfy and the
level after it; at the end, the value of what was asked. Levels only rise. So of `count(X) >= 3` the level says whether
there were none, one, two or more events; of `max(X.v) < 9` whether there was a value, and one that is 9 or more. NaN,
which is the least and the greatest of all values that it is among, is an outcome of its own.
"""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeGuard

from cepheid.algebra.conditions import (
    EVENT,
    MIRRORED,
    Aggregate,
    Attribute,
    Comparison,
    Condition,
    Disjunction,
    Expression,
    IsNull,
    IsTrue,
    Literal,
    Negation,
    variables,
    with_names,
)


@dataclass(frozen=True, slots=True)
class Question:
    """`node op constant`, or `node IS NULL` where there is no constant."""

    node: Aggregate
    op: str = ""
    constant: Literal | None = None


def question_of(condition: Condition) -> Question | None:
    """What a condition asks of an aggregate alone; None if it asks something else.

    >>> total = Aggregate("max", Attribute("X", "v", each=True))
    >>> question_of(Comparison("<", Literal(3), total)) == Question(total, ">", Literal(3))
    True
    """
    if isinstance(condition, Comparison):
        left, right, op = condition.left, condition.right, condition.op
        for one, other, compared in ((left, right, op), (right, left, MIRRORED[op])):
            if isinstance(one, Aggregate) and isinstance(other, Literal):
                return Question(one, compared, other)
    return _asks_for_null(condition)


def _asks_for_null(condition: Condition) -> Question | None:
    if isinstance(condition, IsNull) and isinstance(condition.operand, Aggregate):
        return Question(condition.operand)
    return None


MOST_COUNTED = 16  # the alternatives grow with the square


Steps = Sequence[tuple[tuple[Condition, ...], int]]
"""What an event may satisfy, and the level after it."""


class Levels(ABC):
    """The levels of an aggregate; the first is 0."""

    @abstractmethod
    def steps(self, level: int) -> Steps:
        """What an event of the set may be, and the level after it."""

    @abstractmethod
    def answer(self, question: Question, level: int) -> Literal | None:
        """The answer at the end; None where the end cannot be at this level."""


class _Counting(Levels):
    """How many events, or values, there were, up to as many as make no difference."""

    def __init__(self, node: Aggregate, most: int) -> None:
        self._value = None if _counts_events(node) else _of_event(node)
        self._most = most

    def steps(self, level: int) -> Steps:
        if level == self._most:
            return [((), level)]
        if self._value is None:
            return [((), level + 1)]
        return [((IsNull(self._value),), level), ((Negation(IsNull(self._value)),), level + 1)]

    def answer(self, question: Question, level: int) -> Literal | None:
        if question.constant is None:
            return Literal(False)
        return Literal(_COMPARE[question.op](level, question.constant.value))


NO_VALUE, LESS, EQUAL, GREATER, NAN = range(5)
"""How the value of an event, or of an aggregate, compares with a constant."""
_TRUE_OF = {"=": {EQUAL}, "<": {LESS}, ">": {GREATER}, "<=": {LESS, EQUAL}, ">=": {EQUAL, GREATER}}
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TRUE_OF["<>"] = {LESS, GREATER, NAN}


class _Compared(Levels):
    """The levels of an aggregate that is only compared with one constant, or asked for NULL: each stands for outcomes
    of which all that is asked is the same."""

    def __init__(self, node: Aggregate, constant: Literal | None, same: Callable[[int], object]) -> None:
        value = _of_event(node)
        self._same = same
        self._is_null = IsNull(value)
        self._tests: dict[int, Condition] = {NO_VALUE: self._is_null}
        if constant is None:
            self._tests[EQUAL] = Negation(self._is_null)
        else:
            ordered = {LESS: "<", EQUAL: "=", GREATER: ">"}
            self._tests |= {outcome: Comparison(op, value, constant) for outcome, op in ordered.items()}
            if isinstance(constant.value, int | float | Decimal):
                self._tests[NAN] = Comparison("<>", value, value)
        self._outcomes = [outcome for outcome in self._tests if outcome != NO_VALUE]

    def _grouped(self, outcomes: Sequence[int], *, neighbours: bool) -> list[list[int]]:
        """Outcomes that nothing asked tells apart; only neighbours, where the order matters."""
        groups: list[list[int]] = []
        for outcome in outcomes:
            known = groups[-1:] if neighbours else groups
            group = next((one for one in known if self._same(one[0]) == self._same(outcome)), None)
            if group is None:
                groups.append([outcome])
            else:
                group.append(outcome)
        return groups

    def _any(self, outcomes: Sequence[int]) -> Condition:
        tests = tuple(self._tests[outcome] for outcome in outcomes)
        return tests[0] if len(tests) == 1 else Disjunction(tests)

    @abstractmethod
    def _outcome(self, level: int) -> int | None:
        """How the aggregate compares at this level, or like one that all asked is the same of."""

    def answer(self, question: Question, level: int) -> Literal | None:
        outcome = self._outcome(level)
        return None if outcome is None else _truth(question, outcome)


class _Extreme(_Compared):
    """`max`: the level is the greatest of the outcomes so far; `min`: the least. NaN counts more than any other."""

    def __init__(self, node: Aggregate, constant: Literal | None, same: Callable[[int], object]) -> None:
        super().__init__(node, constant, same)
        order = (LESS, EQUAL, GREATER, NAN) if node.function == "max" else (GREATER, EQUAL, LESS, NAN)
        rising = [outcome for outcome in (NO_VALUE, *order) if outcome in self._tests]
        self._levels = self._grouped(rising, neighbours=True)

    def steps(self, level: int) -> Steps:
        higher = self._levels[level + 1 :]
        if not higher:
            return [((), level)]
        stays = Negation(IsTrue(self._any([outcome for group in higher for outcome in group])))
        return [((stays,), level), *(((self._any(group),), k) for k, group in enumerate(higher, level + 1))]

    def _outcome(self, level: int) -> int | None:
        return self._levels[level][0]


class _First(_Compared):
    """Level 0 until there is a value; then how it compares."""

    def __init__(self, node: Aggregate, constant: Literal | None, same: Callable[[int], object]) -> None:
        super().__init__(node, constant, same)
        self._levels = [[NO_VALUE], *self._grouped(self._outcomes, neighbours=False)]

    def steps(self, level: int) -> Steps:
        if level > 0:
            return [((), level)]
        values = [((self._any(group),), k) for k, group in enumerate(self._levels) if k > 0]
        return [((self._is_null,), 0), *values]

    def _outcome(self, level: int) -> int | None:
        return self._levels[level][0]


class _Last(_Compared):
    """Level 0 until there is a value; 1 while it is not the last, which is a guess; then how the last compares."""

    def __init__(self, node: Aggregate, constant: Literal | None, same: Callable[[int], object]) -> None:
        super().__init__(node, constant, same)
        self._levels = [[NO_VALUE], [], *self._grouped(self._outcomes, neighbours=False)]

    def steps(self, level: int) -> Steps:
        if level > 1:
            return [((self._is_null,), level)]
        lasts = [((self._any(group),), k) for k, group in enumerate(self._levels) if k > 1]
        if level == 1:
            return [((), 1), *lasts]
        return [((self._is_null,), 0), ((Negation(self._is_null),), 1), *lasts]

    def _outcome(self, level: int) -> int | None:
        return self._levels[level][0] if level != 1 else None


_KINDS: dict[str, type[_Extreme] | type[_First] | type[_Last]] = {
    "min": _Extreme,
    "max": _Extreme,
    "first": _First,
    "last": _Last,
}


def _counts_events(node: Aggregate) -> bool:
    return isinstance(node.operand, Attribute) and node.operand.name == EVENT


def _of_event(node: Aggregate) -> Expression:
    """The operand, over the event at hand."""
    return with_names(node.operand, dict.fromkeys(variables(node.operand)))


def levels_for(
    node: Aggregate,
    questions: Sequence[Question],
    same: Callable[[Callable[[Question], Literal]], object],
) -> Levels | None:
    """The levels of an aggregate; None if it has too many. Outcomes are alike if `same` is of their answers."""
    constants = list(dict.fromkeys(one.constant for one in questions if one.constant is not None))
    if node.function == "count" and not node.distinct:
        numbers = [constant.value for constant in constants if is_number(constant.value)]
        most = max(map(math.floor, numbers), default=0) + 1
        fits = len(numbers) == len(constants) and most <= MOST_COUNTED
        return _Counting(node, max(most, 1)) if fits else None
    if node.function not in _KINDS or len(constants) > 1:
        return None
    constant = constants[0] if constants else None
    if constant is not None and (constant.value is None or isinstance(constant.value, bool)):
        return None
    return _KINDS[node.function](
        node, constant, lambda outcome: same(lambda question: _truth(question, outcome))
    )


def _truth(question: Question, outcome: int) -> Literal:
    if question.constant is None:
        return Literal(outcome == NO_VALUE)
    return Literal(None if outcome == NO_VALUE else outcome in _TRUE_OF[question.op])


def is_number(value: object) -> TypeGuard[int | float | Decimal]:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool) and math.isfinite(value)
