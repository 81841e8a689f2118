"""Sets: a filter that compares aggregates of sets with constants becomes alternatives of what it filters.

In: any pattern. Out: the same matches. What such a filter needs to know of the events so far is a *level* for each
aggregate, one of a few: of `count(X) >= 3` whether there were none, one, two or more events; of `max(X.v) < 9` whether
there was a value, and one that is 9 or more. So the pattern is split by the levels before and after each part
(`pattern_alternatives`), each event of the set is asked for the constant that it is compared with, and the alternatives
are kept after which the condition is true. Where a set is one repetition, a bound on its count bounds its rounds.

Sums, averages and numbers of different values have too many levels; a filter with these stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import assert_never

from cepheid.algebra.conditions import (
    Aggregate,
    Condition,
    Conjunction,
    Disjunction,
    Literal,
    conjunction,
    mentioned,
    sets_read,
)
from cepheid.algebra.conditions import rebuild as rebuild_condition
from cepheid.algebra.empty import either
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
    Not,
    Or,
    PartBy,
    Pattern,
    Recognise,
    Repeat,
    Select,
    Seq,
    StrictSeq,
    Within,
    size,
    walk,
)
from cepheid.algebra.pattern_alternatives import Alternatives, merged
from cepheid.algebra.variables import is_iteration, sets
from cepheid.errors import CepheidError
from cepheid.rewrite.count_bounds import never_of_sets, with_bounds
from cepheid.rewrite.set_levels import MOST_COUNTED, Levels, Question, levels_for, question_of
from cepheid.rewrite.unsatisfiable import prune
from cepheid.semantics.values import holds

MOST_NODES = 3_000


def decide_sets(pattern: Pattern) -> Pattern:
    """The pattern without filters on whole sets that levels decide.

    >>> from cepheid.algebra.conditions import EVENT, Attribute, Comparison
    >>> gathered = Bind(Repeat(Atom("T"), 1, None), "X")
    >>> many = Comparison(">=", Aggregate("count", Attribute("X", EVENT, each=True)), Literal(3))
    >>> decide_sets(Filter(gathered, many)) == Bind(Repeat(Atom("T"), 3, None), "X")
    True
    """
    pattern = prune(pattern, decide_sets)
    if not isinstance(pattern, Filter):
        return pattern
    return with_bounds(pattern) or _with_levels(pattern) or pattern


# ── conditions ──────────────────────────────────────────────────────────────────────────────────────────────


def _levels_of(condition: Condition) -> dict[Aggregate, Levels] | None:
    """The levels of each aggregate, if they decide the condition."""
    questions: dict[Aggregate, list[Question]] = {}

    def noted(one: Question) -> Literal:
        questions.setdefault(one.node, []).append(one)
        return Literal(None)

    rest = _answered(condition, noted)
    if next(mentioned(rest), None) is not None:
        return None
    levels: dict[Aggregate, Levels] = {}
    for node, asked in questions.items():

        def same(answer: Callable[[Question], Literal], asked: Sequence[Question] = asked) -> object:
            """If nothing else is asked, only whether the condition holds; below no NOT, false and NULL are alike."""
            if len(questions) == 1:
                return holds(_answered(condition, answer), {})
            values = tuple(answer(one).value for one in asked)
            return tuple(value is True for value in values) if _is_positive(condition) else values

        found = levels_for(node, asked, same)
        if found is None:
            return None
        levels[node] = found
    return levels


def _is_positive(condition: Condition) -> bool:
    if isinstance(condition, Conjunction | Disjunction):
        return all(map(_is_positive, condition.operands))
    return question_of(condition) is not None


def _answered(condition: Condition, answer: Callable[[Question], Literal]) -> Condition:
    """The condition with the answers to its questions."""
    question = question_of(condition)
    if question is not None:
        return answer(question)
    return rebuild_condition(condition, lambda child: _answered(child, answer))


# ── alternatives ────────────────────────────────────────────────────────────────────────────────────────────

Known = tuple[int, ...]


def _with_levels(pattern: Filter) -> Pattern | None:
    """The alternatives of the body after which the condition is true; None if levels do not decide it, or are too
    many."""
    condition = pattern.condition
    if not sets_read(condition) or not _can_be_split(pattern.body):
        return None
    levels = _levels_of(condition)
    if levels is None:
        return None
    try:
        found = _BySets(levels).alternatives(pattern.body, (0,) * len(levels))
    except CepheidError as error:
        if error.code != "too-large":
            raise
        return None
    kept = [part for known, part in found.items() if _is_true(condition, levels, known)]
    if not kept:
        raise never_of_sets(condition)
    if sum(map(size, kept)) > MOST_NODES:
        return None
    return either(kept)


def _can_be_split(pattern: Pattern) -> bool:
    """Whether a match of the pattern can be followed from event to event."""
    for node in walk(pattern):
        match node:
            case All() | Select() | Not() | Recognise():
                return False
            case Repeat(_, lo, hi, strict=strict):
                if max(lo, hi or 0) > MOST_COUNTED or (strict and is_iteration(node)):
                    return False
            case Atom() | Seq() | StrictSeq() | Or() | Filter() | PartBy() | Bind() | Within():
                pass
            case _:
                assert_never(node)
    return True


def _is_true(condition: Condition, levels: Mapping[Aggregate, Levels], known: Known) -> bool:
    reached = dict(zip(levels, known, strict=True))
    if any(levels[node].answer(Question(node), level) is None for node, level in reached.items()):
        return False

    def answer(question: Question) -> Literal:
        found = levels[question.node].answer(question, reached[question.node])
        assert found is not None
        return found

    return holds(_answered(condition, answer), {})


class _BySets(Alternatives[Known]):
    """Known are the levels of the aggregates."""

    def __init__(self, levels: Mapping[Aggregate, Levels]) -> None:
        super().__init__()
        self._levels = levels
        self.gathered = frozenset[str]().union(*(sets_read(node) for node in levels))

    def _concerns(self, pattern: Pattern, known: Known) -> bool:
        return bool(sets(pattern) & self.gathered)

    def _atom(self, atom: Atom, known: Known, inside: frozenset[str]) -> dict[Known, Pattern]:
        steps = [
            one.steps(level) if sets_read(node) & inside else [((), level)]
            for (node, one), level in zip(self._levels.items(), known, strict=True)
        ]
        return merged(
            {tuple(level for _, level in some): _asking(atom, [tests for tests, _ in some])}
            for some in product(*steps)
        )


def _asking(atom: Atom, tests: Sequence[tuple[Condition, ...]]) -> Pattern:
    kept = () if atom.condition is None else (atom.condition,)
    condition = conjunction((*kept, *(test for some in tests for test in some)))
    return replace(atom, condition=condition) if any(tests) else atom
