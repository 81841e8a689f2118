"""The states of an automaton that is built on demand: numbered in the order of their discovery, up to a limit."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Generic, TypeVar

from cepheid.errors import CepheidError
from cepheid.state_checks import require

State = TypeVar("State", bound=Hashable)


class LazyStates(Generic[State]):
    """
    >>> met = LazyStates("start", limit=2)
    >>> met.number("other"), met.number("start"), met[1], len(met)
    (1, 0, 'other', 2)
    """

    def __init__(self, start: State, limit: int) -> None:
        self._limit = limit
        self._number([start])

    def load(self, states: Iterable[State]) -> None:
        """Numbers states as they were when saved: the start first, each once."""
        start = self._states[0]
        self._number(states)
        require(self._states[:1] == [start], "the first state of its automaton is not the query's")
        require(
            len(self._numbers) == len(self._states) <= self._limit, "a state of its automaton occurs twice"
        )

    def _number(self, states: Iterable[State]) -> None:
        self._states = list(states)
        self._numbers = {state: number for number, state in enumerate(self._states)}

    def __len__(self) -> int:
        return len(self._states)

    def __iter__(self) -> Iterator[State]:
        return iter(self._states)

    def __getitem__(self, number: int) -> State:
        return self._states[number]

    def number(self, state: State) -> int:
        number = self._numbers.get(state)
        if number is None:
            number = len(self._states)
            if number >= self._limit:
                raise CepheidError(
                    "too-large",
                    f"the determinised automaton of this query has more than {self._limit:,} states",
                    hint="fewer alternatives that overlap, smaller {l,m} bounds, or evaluator='semantics'",
                )
            self._numbers[state] = number
            self._states.append(state)
        return number
