"""The determinised automaton as arrays for the kernel, filled where the kernel asks."""

from __future__ import annotations

import json

import numpy as np
import numpy.typing as npt

from cepheid.automata.minimise import Automaton, Minimal
from cepheid.evaluators.compact.classes import Classes
from cepheid.kernels.loops.sliding.tables import DEAD, UNKNOWN, Table


class Transitions:
    """Rows are states, columns classes; both grow by doubling."""

    def __init__(self, automaton: Automaton, classes: Classes) -> None:
        self._automaton = automaton
        self._classes = classes
        self._skip = np.full((8, 8), UNKNOWN, np.int64)
        self._first = np.zeros((8, 8), np.int64)
        self._count = np.zeros((8, 8), np.int64)
        self._moves = np.zeros((3, 64), np.int64)  # label, target, accepts
        self._n_moves = 0

    @property
    def table(self) -> Table:
        """The arrays as they are now, large enough for every class met so far."""
        self._fit(len(self._automaton), len(self._classes.satisfied))
        return Table(self._skip, self._first, self._count, *self._moves)

    def fill(self, state: int, klass: int) -> None:
        """Determinises one state on one class."""
        moves = self._automaton.moves(state, self._classes.satisfied[klass])
        self._fit(len(self._automaton), len(self._classes.satisfied))
        while self._n_moves + len(moves.marks) > self._moves.shape[1]:
            self._moves = np.concatenate([self._moves, np.zeros_like(self._moves)], axis=1)
        self._skip[state, klass] = DEAD if moves.skip is None else moves.skip
        self._first[state, klass] = self._n_moves
        self._count[state, klass] = len(moves.marks)
        for move in moves.marks:
            target = DEAD if move.target is None else move.target
            self._moves[:, self._n_moves] = move.label, target, move.accepts
            self._n_moves += 1

    def _fit(self, states: int, classes: int) -> None:
        rows, columns = self._skip.shape
        while rows < states:
            rows *= 2
        while columns < classes:
            columns *= 2
        if (rows, columns) != self._skip.shape:
            self._skip = _enlarged(self._skip, rows, columns, UNKNOWN)
            self._first = _enlarged(self._first, rows, columns, 0)
            self._count = _enlarged(self._count, rows, columns, 0)

    def save(self) -> npt.NDArray[np.uint8]:
        """The states and classes met so far; what they do is worked out again when it is needed."""
        content = {
            "states": self._automaton.save(),
            "classes": [sorted(item) for item in self._classes.satisfied],
        }
        return np.frombuffer(json.dumps(content).encode(), np.uint8)

    def load(self, saved: npt.NDArray[np.uint8]) -> None:
        content = json.loads(saved.tobytes())
        self._automaton.load(content["states"])
        self._classes.restore(content["classes"])
        if isinstance(self._automaton, Minimal):
            for satisfied in self._classes.satisfied:
                self._automaton.moves(0, satisfied)  # what no event can satisfy is not there


def _enlarged(array: npt.NDArray[np.int64], rows: int, columns: int, value: int) -> npt.NDArray[np.int64]:
    larger = np.full((rows, columns), value, np.int64)
    larger[: array.shape[0], : array.shape[1]] = array
    return larger
