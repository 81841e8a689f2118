"""Chain automaton → I/O-deterministic chain automaton, lazily (`partition-by-chain-cea`, theorem 8).

In: a chain automaton. Out: states in the order of their discovery and, for a state and a class of events, its
transitions. A state is the set of states that the runs with one complex event and binding are in. All of them share the
last marked event, so each link has one truth value for all of them, and the transitions of a state on one label split
by the truth of the links that its marks read. Invariant: two transitions of one state, on one class of events and with
one label, exclude each other: a link that one requires equal the other requires different. Transitions do not name
links that make no difference.

It is a case of its own, beside `determinise_registers`, for the index that the evaluator keeps by equal links: a
transition names its links, while the other automaton has an outcome for each of the 2ⁿ combinations of n tests. With
links as tests of a register that one has as many states and the same marks (`tests/automata/test_determinisers.py`),
but for 453 random queries 15,021 goals in place of 4,057 transitions, in 235 in place of 76 ms of CPU time; eight
PART-BYs on a sequence of two make 271 of 4, and nine are more tests than it takes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from cepheid.automata.automaton import Automaton, Link
from cepheid.automata.deterministic import Class, LinkedMark
from cepheid.automata.lazy_states import LazyStates
from cepheid.errors import CepheidError
from cepheid.state_checks import is_count, require

States = frozenset[int]
NONE: frozenset[int] = frozenset()
START: States = frozenset([0])
MOST_TRANSITIONS = 4096


class _Mark(NamedTuple):
    """A mark of the automaton, by numbers of its predicates, links and labels."""

    predicate: int
    equal: frozenset[int]
    different: frozenset[int]
    label: int
    target: int


@dataclass(frozen=True, slots=True)
class Branch:
    """Where some links hold and others do not: the states `reached` that have a future, and whether one of all
    that are entered accepts."""

    equal: frozenset[int]
    different: frozenset[int]
    reached: States
    accepts: bool


class ChainDeterminiser:
    """The determinised automaton, built where it is asked for. State 0 is the start; it never leaves.

    >>> from cepheid.algebra.nodes import Atom, PartBy, Seq
    >>> from cepheid.automata.construct_chain import construct_chain
    >>> a_then_b = PartBy(Seq(Atom("A"), Atom("B")), ((None, "id"),))
    >>> automaton = ChainDeterminiser(construct_chain(a_then_b, ()))
    >>> automaton.transitions(0, frozenset([0]))
    (LinkedMark(label=0, equal=frozenset(), different=frozenset(), target=1, accepts=False),)
    >>> automaton.transitions(1, frozenset([1]))
    (LinkedMark(label=0, equal=frozenset({0}), different=frozenset(), target=None, accepts=True),)
    """

    def __init__(self, chain: Automaton, limit: int = 10_000) -> None:
        self.predicates, self.labels = chain.predicates, chain.labels
        self.links = tuple(test for test in chain.tests if isinstance(test, Link))
        self._finals = chain.finals
        self._marks = _numbered_marks(chain)
        self._alive = frozenset(state for state, marks in enumerate(self._marks) if marks)
        self._met = LazyStates(START, limit)
        self.begins = frozenset(mark.predicate for mark in self._marks[0])
        self.ends = frozenset(
            mark.predicate for marks in self._marks for mark in marks if mark.target in self._finals
        )

    def __len__(self) -> int:
        return len(self._met)

    def transitions(self, state: int, satisfied: Class) -> tuple[LinkedMark, ...]:
        """What `state` does on an event that satisfies exactly the predicates `satisfied`."""
        by_label: dict[int, list[_Mark]] = {}
        for source in sorted(self._met[state]):
            for mark in self._marks[source]:
                if mark.predicate in satisfied:
                    by_label.setdefault(mark.label, []).append(mark)
        return tuple(
            LinkedMark(label, branch.equal, branch.different, self._target(branch.reached), branch.accepts)
            for label, marks in sorted(by_label.items())
            for branch in self._branches(marks)
        )

    def describe(self, state: int) -> str:
        """The state as the set of states it stands for."""
        return "{" + ",".join(str(item) for item in sorted(self._met[state])) + "}"

    def save(self) -> list[Any]:
        """The states met so far as plain lists, in order of their numbers."""
        return [sorted(key) for key in self._met]

    def load(self, states: list[Any]) -> None:
        """Numbers states as they were when saved."""
        known = all(is_count(state, len(self._marks) - 1) for item in states for state in item)
        require(known, "a state of its automaton is not one of the query's")
        self._met.load(frozenset(item) for item in states)

    def _branches(self, marks: list[_Mark]) -> list[Branch]:
        """The targets of marks by the truth of their links: branches that exclude each other, none that leads nowhere.

        One link is decided at a time, the one that most marks read: where all need it, one side is empty at once. What
        both sides have in common need not know it.
        """
        read = Counter(link for mark in marks for link in mark.equal | mark.different)
        if not read:
            targets = frozenset(mark.target for mark in marks)
            whole = Branch(NONE, NONE, targets & self._alive, not targets.isdisjoint(self._finals))
            return [whole] if whole.reached or whole.accepts else []
        link = min(read, key=lambda item: (-read[item], item))
        holding = dict.fromkeys(self._branches(_assuming(marks, link, True)))
        failing = dict.fromkeys(self._branches(_assuming(marks, link, False)))
        if len(holding) + len(failing) > MOST_TRANSITIONS:
            raise CepheidError(
                "too-large",
                f"one state of the determinised automaton would have more than {MOST_TRANSITIONS:,} transitions",
                hint="fewer PART-BYs on different attributes that overlap, or evaluator='semantics'",
            )
        return [
            *(item for item in holding if item in failing),
            *(replace(item, equal=item.equal | {link}) for item in holding if item not in failing),
            *(replace(item, different=item.different | {link}) for item in failing if item not in holding),
        ]

    def _target(self, states: States) -> int | None:
        return self._met.number(states) if states else None


def _numbered_marks(chain: Automaton) -> list[list[_Mark]]:
    """By state, its marks. What is asked of the event alone is a predicate, what is asked of it and the last, links."""
    number = {test: at for tests in (chain.predicates, chain.tests) for at, test in enumerate(tests)}
    label = {names: at for at, names in enumerate(chain.labels)}
    marks: list[list[_Mark]] = [[] for _ in range(chain.states)]
    for one in chain.transitions:
        if one.label is not None:
            links = [test for test in one.guard.holds if isinstance(test, Link)]
            (predicate,) = one.guard.holds.difference(links)
            different = frozenset(number[link] for (link,) in one.guard.fails)
            equal = frozenset(number[link] for link in links)
            marks[one.source].append(_Mark(number[predicate], equal, different, label[one.label], one.target))
    return marks


def _assuming(marks: Iterable[_Mark], link: int, truth: bool) -> list[_Mark]:
    """The marks that are still possible, without the link."""
    return [
        mark._replace(equal=mark.equal - {link}, different=mark.different - {link})
        for mark in marks
        if link not in (mark.different if truth else mark.equal)
    ]
