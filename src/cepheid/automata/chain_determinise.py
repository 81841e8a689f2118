"""Chain-CEA → I/O-deterministic chain-CEA, lazily (`partition-by-chain-cea`, theorem 8).

In: a chain-CEA. Out: states numbered as they are met and, for a state and a set of satisfied predicates, its moves.
A state is the set of chain states that the runs with one complex event and binding are in. All of them share the
last marked event, so one truth value per link serves all, and the moves of a state on one label split by the truth
of the links that its marks read. Invariant: two moves of one state, on one class of events and with one label, are
never possible at once: a link that one wants equal the other wants different. A link that makes no difference is
not asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from cepheid.automata.cea import Predicate
from cepheid.automata.chain import ChainCEA, ChainMark, Link
from cepheid.automata.lazy_states import Met
from cepheid.errors import CepheidError
from cepheid.state_checks import is_count, require

States = frozenset[int]
NONE: frozenset[int] = frozenset()
START: States = frozenset([0])
MOST_MOVES = 4096


@dataclass(frozen=True, slots=True)
class ChainMove:
    """Where the links of `equal` hold and those of `different` do not, marking with `label` leads to state `target`
    (None: nothing can follow) and completes a match if `accepts`."""

    label: int
    equal: frozenset[int]
    different: frozenset[int]
    target: int | None
    accepts: bool


@dataclass(frozen=True, slots=True)
class Branch:
    """Where some links hold and others do not: the chain states `reached` that have a future, and whether one of all
    that are entered accepts."""

    equal: frozenset[int]
    different: frozenset[int]
    reached: States
    accepts: bool


class ChainDeterminiser:
    """The determinised automaton, built where it is asked for. State 0 is the start; it never leaves.

    >>> from cepheid.automata.cea import Predicate
    >>> from cepheid.automata.chain import Link
    >>> a_then_b = ChainCEA(3, (Predicate("A", None), Predicate("B", None)), (Link("id", "id"),), (NONE,),
    ...     (ChainMark(0, 0, NONE, NONE, 0, 1), ChainMark(1, 1, frozenset([0]), NONE, 0, 2)), frozenset([2]))
    >>> automaton = ChainDeterminiser(a_then_b)
    >>> automaton.moves(0, frozenset([0]))
    (ChainMove(label=0, equal=frozenset(), different=frozenset(), target=1, accepts=False),)
    >>> automaton.moves(1, frozenset([1]))
    (ChainMove(label=0, equal=frozenset({0}), different=frozenset(), target=None, accepts=True),)
    """

    def __init__(self, chain: ChainCEA, limit: int = 10_000) -> None:
        self.chain = chain
        self._marks: list[list[ChainMark]] = [[] for _ in range(chain.states)]
        for mark in chain.marks:
            self._marks[mark.source].append(mark)
        self._alive = frozenset(mark.source for mark in chain.marks)
        self._met = Met(START, limit)

    @property
    def links(self) -> tuple[Link, ...]:
        return self.chain.links

    @property
    def predicates(self) -> tuple[Predicate, ...]:
        return self.chain.predicates

    @property
    def labels(self) -> tuple[frozenset[str], ...]:
        return self.chain.labels

    def __len__(self) -> int:
        return len(self._met)

    def moves(self, state: int, satisfied: frozenset[int]) -> tuple[ChainMove, ...]:
        """What `state` does on an event that satisfies exactly the predicates `satisfied`."""
        by_label: dict[int, list[ChainMark]] = {}
        for source in sorted(self._met[state]):
            for mark in self._marks[source]:
                if mark.predicate in satisfied:
                    by_label.setdefault(mark.label, []).append(mark)
        return tuple(
            ChainMove(label, branch.equal, branch.different, self._target(branch.reached), branch.accepts)
            for label, marks in sorted(by_label.items())
            for branch in self._branches(marks)
        )

    def describe(self, state: int) -> str:
        """The state as the set of chain states it stands for."""
        return "{" + ",".join(str(item) for item in sorted(self._met[state])) + "}"

    def save(self) -> list[Any]:
        """The states met so far as plain lists, in order of their numbers."""
        return [sorted(key) for key in self._met]

    def load(self, states: list[Any]) -> None:
        """Numbers states as they were when saved."""
        known = all(is_count(state, self.chain.states - 1) for item in states for state in item)
        require(known, "its automaton has other states")
        self._met.load(frozenset(item) for item in states)

    def _branches(self, marks: list[ChainMark]) -> list[Branch]:
        """The targets of marks by the truth of their links: branches that exclude each other, none that leads nowhere.

        One link is decided at a time, the one that most marks read: where all need it, one side is empty at once. What
        both sides have in common need not know it.
        """
        read = Counter(link for mark in marks for link in mark.equal | mark.different)
        if not read:
            targets = frozenset(mark.target for mark in marks)
            whole = Branch(NONE, NONE, targets & self._alive, not targets.isdisjoint(self.chain.finals))
            return [whole] if whole.reached or whole.accepts else []
        link = min(read, key=lambda item: (-read[item], item))
        holding = dict.fromkeys(self._branches(_assuming(marks, link, True)))
        failing = dict.fromkeys(self._branches(_assuming(marks, link, False)))
        if len(holding) + len(failing) > MOST_MOVES:
            raise CepheidError(
                "too-large",
                f"one state of the determinised automaton would have more than {MOST_MOVES:,} moves",
                hint="fewer PART-BYs on different attributes that overlap, or evaluator='semantics'",
            )
        return [
            *(item for item in holding if item in failing),
            *(replace(item, equal=item.equal | {link}) for item in holding if item not in failing),
            *(replace(item, different=item.different | {link}) for item in failing if item not in holding),
        ]

    def _target(self, states: States) -> int | None:
        return self._met.number(states) if states else None


def _assuming(marks: Iterable[ChainMark], link: int, truth: bool) -> list[ChainMark]:
    """The marks that are still possible, without the link."""
    return [
        replace(mark, equal=mark.equal - {link}, different=mark.different - {link})
        for mark in marks
        if link not in (mark.different if truth else mark.equal)
    ]
