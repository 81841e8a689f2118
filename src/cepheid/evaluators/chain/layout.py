"""The automaton as tables for the kernels: indices and transitions by class, computed on demand.

In: states as they are reached and classes of events as they occur. Out: `ChainTransitions` and `Shape`. Invariant:
indices and the links that must differ in them are only ever added, so that numbers and bits kept in vertices stay what
they are.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cepheid.automata.deterministic import ChainAutomaton, LinkedMark
from cepheid.errors import CepheidError
from cepheid.evaluators.chain.keys import Keys
from cepheid.evaluators.compact.classes import Classes
from cepheid.kernels.loops.linked.difference_pointers import MOST, SEQUENCES
from cepheid.kernels.loops.linked.layout import C_MORE, I_FIELDS, INDEX_MASK, V_CODES, ChainTransitions, Shape
from cepheid.matches.match_arrays import Ints
from cepheid.state_checks import is_count, require

_MOST_DIFFERENT = 32  # bits of a mask


@dataclass(slots=True)
class Index:
    """The lists of a state whose vertices have equal values of some links, and the links that transitions over them
    want to differ."""

    state: int
    equal: tuple[int, ...]
    different: list[int] = field(default_factory=list)


class Layout:
    def __init__(self, automaton: ChainAutomaton, classes: Classes, keys: Keys) -> None:
        self._automaton = automaton
        self._classes = classes
        self._keys = keys
        self.indices: list[Index] = []
        self._numbers: dict[tuple[int, tuple[int, ...]], int] = {}
        self._reached = [0]
        self._known: dict[tuple[int, int], tuple[LinkedMark, ...]] = {}
        self._n_known = (0, 0)
        self._n_states = len(automaton)
        self.transitions = self._table()

    @property
    def reached(self) -> Ints:
        """By state, whether its transitions are known."""
        reached = np.zeros(len(self._automaton) + 1, np.int64)
        reached[self._reached] = 1
        return reached

    def reach(self, klass: int) -> None:
        """Adds the states that a class of events leads to from reached ones."""
        for state in list(self._reached):
            for mark in self._known[state, klass]:
                if mark.target is not None and mark.target not in self._reached:
                    self._reached.append(mark.target)

    def fit(self) -> bool:
        """Computes the transitions of the reached states on all classes: whether lists have changed, or
        states have been met that the shape does not know."""
        met = len(self._reached), len(self._classes.satisfied)
        if met == self._n_known:
            return False
        before = [(index.state, index.equal, len(index.different)) for index in self.indices]
        for klass in range(1, met[1]):
            for state in self._reached:
                if (state, klass) not in self._known:
                    self._add(state, klass)
        self._n_known = met
        self.transitions = self._table()
        more = len(self._automaton) > self._n_states
        self._n_states = len(self._automaton)
        return more or before != [(index.state, index.equal, len(index.different)) for index in self.indices]

    def _add(self, state: int, klass: int) -> None:
        marks = self._automaton.transitions(state, self._classes.satisfied[klass])
        self._known[state, klass] = marks
        for mark in marks:
            if state != 0:
                self._index(state, mark)

    def _index(self, state: int, mark: LinkedMark) -> int:
        equal = tuple(sorted(mark.equal))
        if (state, equal) not in self._numbers:
            self._numbers[state, equal] = len(self.indices)
            self.indices.append(Index(state, equal))
        number = self._numbers[state, equal]
        different = self.indices[number].different
        different += sorted(mark.different - set(different))
        if number >= INDEX_MASK or len(different) > _MOST_DIFFERENT:
            message = "the query compares too many combinations of attributes between consecutive events"
            raise CepheidError(
                "too-large", message, hint="fewer attributes in PART-BY, or fewer of them nested"
            )
        return number

    def _table(self) -> ChainTransitions:
        """Transitions by class, those over one index next to each other."""
        n_classes = len(self._classes.satisfied)
        first, count = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)
        rows: list[tuple[int, int, int, int, int]] = []
        for klass in range(1, n_classes):
            first[klass] = len(rows)
            for state in self._reached:
                for mark in self._known.get((state, klass), ()):
                    index = -1 if state == 0 else self._index(state, mark)
                    mask = (
                        sum(1 << self.indices[index].different.index(link) for link in mark.different)
                        if index >= 0
                        else 0
                    )
                    target = -1 if mark.target is None else mark.target
                    rows.append((index, mask, mark.label, target, int(mark.accepts)))
            rows[first[klass] :] = sorted(rows[first[klass] :], key=lambda row: row[0])
            count[klass] = len(rows) - first[klass]
        columns = np.array(rows, np.int64).reshape(-1, 5).T
        return ChainTransitions(first, count, *(np.ascontiguousarray(column) for column in columns))

    def shape(self, memo: int) -> Shape:
        """Where the cells of each state's vertices are; `memo` words for each count."""
        n_states = len(self._automaton) + 1
        indices = np.zeros((max(len(self.indices), 1), I_FIELDS), np.int64)
        size = np.full(n_states, V_CODES + len(self._keys) + memo, np.int64)
        of_state: list[list[int]] = [[] for _ in range(n_states)]
        for number, index in enumerate(self.indices):
            links = len(index.different)
            pointers = links if links <= MOST else 0
            cell = int(size[index.state])
            back = cell + C_MORE + memo
            top = back + int(SEQUENCES[pointers])
            indices[number] = index.state, cell, back, top, len(index.equal), links, pointers
            size[index.state] = top + int(SEQUENCES[pointers])
            of_state[index.state].append(number)
        left, right = self._keys.left, self._keys.right
        return Shape(
            indices,
            _matrix([[left[link] for link in index.equal] for index in self.indices]),
            _matrix([[right[link] for link in index.equal] for index in self.indices]),
            _matrix([[left[link] for link in index.different] for index in self.indices]),
            _matrix([[right[link] for link in index.different] for index in self.indices]),
            _matrix(of_state),
            np.array([len(numbers) for numbers in of_state]),
            size,
            len(self._keys),
            memo,
        )

    def save(self) -> npt.NDArray[np.uint8]:
        content = {
            "states": self._automaton.save(),
            "classes": [sorted(item) for item in self._classes.satisfied],
            "reached": self._reached,
            "indices": [[index.state, index.equal, index.different] for index in self.indices],
        }
        return np.frombuffer(json.dumps(content).encode(), np.uint8)

    def load(self, saved: npt.NDArray[np.uint8]) -> None:
        content = json.loads(saved.tobytes())
        self._automaton.load(content["states"])
        self._classes.restore(content["classes"])
        self._reached = content["reached"]
        reached = all(is_count(state, len(self._automaton) - 1) for state in self._reached)
        require(reached and self._reached[:1] == [0], "a state of its automaton is not one of the query's")
        require(len(set(self._reached)) == len(self._reached), "a state of its automaton occurs twice")
        self.indices = [
            Index(state, tuple(equal), list(different)) for state, equal, different in content["indices"]
        ]
        links = range(len(self._automaton.links))
        known = all(
            type(link) is int and link in links
            for item in self.indices
            for link in (*item.equal, *item.different)
        )
        require(known, "it has lists of links that the query has not")
        before = self._described()
        self._numbers = {(index.state, index.equal): number for number, index in enumerate(self.indices)}
        self._known = {}
        self._n_known = (0, 0)
        self.fit()
        require(
            self._described() == before == self._needed(),
            "its lists are not those that the query's transitions read",
        )

    def _described(self) -> list[tuple[int, tuple[int, ...], frozenset[int]]]:
        """The lists, in a canonical order."""
        found = [(index.state, index.equal, frozenset(index.different)) for index in self.indices]
        require(
            all(len(set(index.different)) == len(index.different) for index in self.indices),
            "a link occurs twice",
        )
        return sorted(found, key=lambda item: item[:2])

    def _needed(self) -> list[tuple[int, tuple[int, ...], frozenset[int]]]:
        """The lists that the transitions of reached states read."""
        needed: dict[tuple[int, tuple[int, ...]], frozenset[int]] = {}
        for (state, _), marks in self._known.items():
            for mark in marks if state != 0 else ():
                key = (state, tuple(sorted(mark.equal)))
                needed[key] = needed.get(key, frozenset()) | mark.different
        return sorted(((*key, different) for key, different in needed.items()), key=lambda item: item[:2])


def _matrix(rows: list[list[int]]) -> Ints:
    """Rows of different lengths, filled up with zeros."""
    matrix = np.zeros((max(len(rows), 1), max([len(row) for row in rows], default=0) + 1), np.int64)
    for number, row in enumerate(rows):
        matrix[number, : len(row)] = row
    return matrix
