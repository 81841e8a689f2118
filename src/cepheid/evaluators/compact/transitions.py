"""The determinised automaton as arrays for the kernel, filled on demand."""

from __future__ import annotations

import json

import numpy as np
import numpy.typing as npt

from cepheid.automata.deterministic import Deterministic, Transitions
from cepheid.automata.minimise import Minimal
from cepheid.evaluators.compact.classes import Classes
from cepheid.kernels.loops.sliding.tables import DEAD, UNKNOWN, Table


class TransitionTable:
    """Rows are states, columns classes; both grow by doubling."""

    def __init__(self, automaton: Deterministic[Transitions], classes: Classes) -> None:
        self._automaton = automaton
        self._classes = classes
        self._skip = np.full((8, 8), UNKNOWN, np.int64)
        self._first = np.zeros((8, 8), np.int64)
        self._count = np.zeros((8, 8), np.int64)
        self._marks = np.zeros((3, 64), np.int64)  # label, target, accepts
        self._n_marks = 0

    @property
    def table(self) -> Table:
        """The arrays as they are now, large enough for every class met so far."""
        self._fit(len(self._automaton), len(self._classes.satisfied))
        return Table(self._skip, self._first, self._count, *self._marks)

    def fill(self, state: int, klass: int) -> None:
        """Determinises one state on one class."""
        (outcome,) = self._automaton.transitions(state, self._classes.satisfied[klass]).outcomes
        self._fit(len(self._automaton), len(self._classes.satisfied))
        while self._n_marks + len(outcome.marks) > self._marks.shape[1]:
            self._marks = np.concatenate([self._marks, np.zeros_like(self._marks)], axis=1)
        self._skip[state, klass] = DEAD if outcome.skip is None else outcome.skip.state
        self._first[state, klass] = self._n_marks
        self._count[state, klass] = len(outcome.marks)
        for mark in outcome.marks:
            target = DEAD if mark.goal is None else mark.goal.state
            self._marks[:, self._n_marks] = mark.label, target, mark.accepts
            self._n_marks += 1

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
        """The states and classes known so far; their transitions are computed again when they are needed."""
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
                self._automaton.transitions(0, satisfied)  # what no event can satisfy is not there


def _enlarged(array: npt.NDArray[np.int64], rows: int, columns: int, value: int) -> npt.NDArray[np.int64]:
    larger = np.full((rows, columns), value, np.int64)
    larger[: array.shape[0], : array.shape[1]] = array
    return larger
