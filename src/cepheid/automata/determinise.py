"""CEA → I/O-deterministic automaton, lazily, selection strategies included (`cel-cea`, C.1, C.3).

In: a CEA and a strategy. Out: states numbered as they are met and, for a state and a set of satisfied predicates,
where skipping leads and where each label leads. The automaton means the strategy over the *substream it was started
on*: run from the first event of the window it gives what the strategy chooses inside the window, which is how
windows and strategies are combined everywhere.

Per strategy a state is
- ALL and STRICT: the CEA states of the runs with this complex event and binding;
- NXT and LAST: (ranks, rank, those states), where `ranks` splits the states of all runs by the rank of their complex
  event, best first (the total preorder 𝒯 of C.3.2), each state kept only at its best rank;
- MAX: (those states, the states with this complex event under any binding, the states of runs with more events).

A move says for itself whether it accepts. The paper decides that by the target state alone, which for NXT and LAST
lets a better complex event that ended *earlier* hide one that ends now: only runs that mark the current event compete.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, cast

from cepheid.algebra.nodes import Strategy
from cepheid.automata.cea import CEA
from cepheid.automata.lazy_states import Met
from cepheid.state_checks import is_count, require

States = frozenset[int]
RankedKey = tuple[tuple[States, ...], int, States]
MaximalKey = tuple[States, States, States]
NONE: States = frozenset()
START: States = frozenset([0])


@dataclass(frozen=True, slots=True)
class Move:
    """Marking with `label` leads to state `target` (None: nothing can follow) and completes a match if `accepts`."""

    label: int
    target: int | None
    accepts: bool


@dataclass(frozen=True, slots=True)
class Moves:
    """All that a state does on one class of events; `skip` None: it dies when it skips."""

    skip: int | None
    marks: tuple[Move, ...]


class Determiniser:
    """The determinised automaton, built where it is asked for. State 0 is the start.

    >>> from cepheid.automata.cea import Mark, Predicate
    >>> a_then_b = CEA(3, (Predicate("A", None), Predicate("B", None)), (NONE,),
    ...                (Mark(0, 0, 0, 1), Mark(1, 1, 0, 2)), (0, 1, None), frozenset([2]))
    >>> automaton = Determiniser(a_then_b, Strategy.ALL)
    >>> automaton.moves(0, frozenset([0]))
    Moves(skip=0, marks=(Move(label=0, target=1, accepts=False),))
    >>> automaton.moves(1, frozenset([1]))
    Moves(skip=1, marks=(Move(label=0, target=None, accepts=True),))
    """

    def __init__(self, cea: CEA, strategy: Strategy, limit: int = 10_000) -> None:
        self.cea = cea
        self.strategy = strategy
        self._marks: list[list[tuple[int, int, int]]] = [[] for _ in range(cea.states)]
        for mark in cea.marks:
            self._marks[mark.source].append((mark.predicate, mark.label, mark.target))
        self._alive = _alive(cea, strategy)
        start: Hashable = START
        if strategy in (Strategy.NXT, Strategy.LAST):
            start = ((START,), 0, START)
        elif strategy is Strategy.MAX:
            start = (START, START, NONE)
        self._met: Met[Hashable] = Met(start, limit)

    def __len__(self) -> int:
        return len(self._met)

    def moves(self, state: int, satisfied: States) -> Moves:
        """What `state` does on an event that satisfies exactly the predicates `satisfied`."""
        key = self._met[state]
        match self.strategy:
            case Strategy.ALL | Strategy.STRICT:
                assert isinstance(key, frozenset)
                return self._plain_moves(key, satisfied)
            case Strategy.NXT | Strategy.LAST:
                ranks, rank, states = cast("RankedKey", key)
                return self._ranked_moves(ranks, rank, states, satisfied)
            case Strategy.MAX:
                states, same, more = cast("MaximalKey", key)
                return self._maximal_moves(states, same, more, satisfied)

    def describe(self, state: int) -> str:
        """The state as the paper writes it."""
        key = self._met[state]
        if isinstance(key, frozenset):
            return _braces(key)
        assert isinstance(key, tuple)
        if self.strategy is Strategy.MAX:
            return f"({_braces(key[0])}, {_braces(key[2])})"
        return f"({' '.join(_braces(rank) for rank in key[0])}, {_braces(key[2])})"

    def save(self) -> list[Any]:
        """The states met so far as plain lists, in order of their numbers."""
        return [_listed(key) for key in self._met]

    def load(self, states: list[Any]) -> None:
        """Numbers states as they were when saved."""
        self._met.load(self._restored(item) for item in states)

    def _restored(self, item: Any) -> Hashable:
        if self.strategy in (Strategy.ALL, Strategy.STRICT):
            return self._states_of(item)
        if self.strategy is Strategy.MAX:
            states, same, more = item
            return self._states_of(states), self._states_of(same), self._states_of(more)
        ranks, rank, states = item
        require(is_count(rank), "its automaton has a state without a rank")
        return tuple(self._states_of(part) for part in ranks), rank, self._states_of(states)

    def _states_of(self, listed: list[int]) -> States:
        require(
            all(is_count(state, self.cea.states - 1) for state in listed), "its automaton has other states"
        )
        return frozenset(listed)

    def _plain_moves(self, states: States, satisfied: States) -> Moves:
        marks = []
        for label in self._labels(states, satisfied):
            reached = self._marked(states, satisfied, label)
            marks.append(Move(label, self._target(reached & self._alive), self._final(reached)))
        skipped = self._skipped(states)
        if self.strategy is Strategy.STRICT and states != START:
            skipped = NONE
        return Moves(self._target(skipped & self._alive), tuple(marks))

    def _ranked_moves(self, ranks: tuple[States, ...], rank: int, states: States, satisfied: States) -> Moves:
        marked = [self._marked(group, satisfied) for group in ranks]
        skipped = [self._skipped(group) for group in ranks]
        if self.strategy is Strategy.NXT:
            order = [(group, mark) for group in range(len(ranks)) for mark in (True, False)]
        else:
            order = [(group, mark) for mark in (True, False) for group in range(len(ranks))]
        new_ranks: list[States] = []
        place: dict[tuple[int, bool], int] = {}
        seen: States = NONE
        for group, mark in order:
            kept = ((marked if mark else skipped)[group] & self._alive) - seen
            seen |= kept
            if kept:
                place[group, mark] = len(new_ranks)
                new_ranks.append(kept)
        winner = next((group for group, reached in enumerate(marked) if self._final(reached)), None)

        def target(reached: States, mark: bool) -> int | None:
            if (rank, mark) not in place:
                return None
            kept = reached & new_ranks[place[rank, mark]]
            return self._met.number((tuple(new_ranks), place[rank, mark], kept)) if kept else None

        moves = []
        for label in self._labels(states, satisfied):
            reached = self._marked(states, satisfied, label)
            moves.append(Move(label, target(reached, True), winner == rank and self._final(reached)))
        return Moves(target(self._skipped(states), False), self._useful(moves))

    def _maximal_moves(self, states: States, same: States, more: States, satisfied: States) -> Moves:
        more_marked = self._marked(more, satisfied)
        same_marked = self._marked(same, satisfied)

        def target(reached: States, alike: States, larger: States) -> int | None:
            larger &= self._alive
            kept = (reached & self._alive) - larger
            return self._met.number((kept, (alike & self._alive) - larger, larger)) if kept else None

        moves = []
        for label in self._labels(states, satisfied):
            reached = self._marked(states, satisfied, label)
            accepts = self._final(reached) and not self._final(more_marked)
            moves.append(Move(label, target(reached, same_marked, more_marked), accepts))
        larger = more_marked | self._skipped(more) | same_marked
        skip = target(self._skipped(states), self._skipped(same), larger)
        return Moves(skip, self._useful(moves))

    def _labels(self, states: States, satisfied: States) -> list[int]:
        found = {
            label for state in states for predicate, label, _ in self._marks[state] if predicate in satisfied
        }
        return sorted(found)

    def _marked(self, states: States, satisfied: States, label: int | None = None) -> States:
        return frozenset(
            target
            for state in states
            for predicate, mark_label, target in self._marks[state]
            if predicate in satisfied and (label is None or mark_label == label)
        )

    def _skipped(self, states: States) -> States:
        return frozenset(target for state in states if (target := self.cea.skips[state]) is not None)

    def _final(self, states: States) -> bool:
        return not states.isdisjoint(self.cea.finals)

    @staticmethod
    def _useful(moves: Iterable[Move]) -> tuple[Move, ...]:
        return tuple(move for move in moves if move.accepts or move.target is not None)

    def _target(self, states: States) -> int | None:
        return self._met.number(states) if states else None


def _alive(cea: CEA, strategy: Strategy) -> States:
    """The CEA states from which some marking transition can still be taken."""
    alive = {mark.source for mark in cea.marks}
    if strategy is not Strategy.STRICT:
        grown = True
        while grown:
            more = {q for q, target in enumerate(cea.skips) if target in alive} - alive
            alive |= more
            grown = bool(more)
    return frozenset(alive)


def _listed(key: Any) -> Any:
    if isinstance(key, frozenset):
        return sorted(key)
    return [_listed(part) for part in key] if isinstance(key, tuple) else key


def _braces(states: States) -> str:
    return "{" + ",".join(str(state) for state in sorted(states)) + "}"
