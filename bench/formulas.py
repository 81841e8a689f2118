"""The formulas measured: Q1–Q6 of `cel-cea` (table 1) and plain sequences, each with its automaton written by hand.

The automaton is for `counting.py`, which must not use the engine's. `moves[type]` are its moves (source, target) on an
event of that type that is marked; state 0 is the start. Every complex event has exactly one run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Moves = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Formula:
    text: str
    moves: Mapping[str, Moves]
    final: int

    def query(self, strategy: str = "ALL", clauses: str = "") -> str:
        return f"SELECT {strategy} * FROM s WHERE {self.text} {clauses}".strip()


def sequence(types: str) -> Formula:
    """`A AS v0 ; B AS v1 ; …` for "AB…"; the types must differ."""
    text = " ; ".join(f"{type} AS v{i}" for i, type in enumerate(types))
    return Formula(text, {type: ((i, i + 1),) for i, type in enumerate(types)}, len(types))


Q = {
    "Q1": Formula("A AS x ; B AS y ; C AS z", {"A": ((0, 1),), "B": ((1, 2),), "C": ((2, 3),)}, 3),
    "Q2": Formula(
        "A AS x ; B AS y ; C AS z ; D AS w",
        {"A": ((0, 1),), "B": ((1, 2),), "C": ((2, 3),), "D": ((3, 4),)},
        4,
    ),
    "Q3": Formula(
        "((A AS x OR B AS y) OR C AS z) ; D AS w",
        {"A": ((0, 1),), "B": ((0, 1),), "C": ((0, 1),), "D": ((1, 2),)},
        2,
    ),
    "Q4": Formula("(A AS x)+ ; (B AS y)", {"A": ((0, 1), (1, 1)), "B": ((1, 2),)}, 2),
    "Q5": Formula(
        "(A AS x)+ ; (B AS y)+ ; C AS z",
        {"A": ((0, 1), (1, 1)), "B": ((1, 2), (2, 2)), "C": ((2, 3),)},
        3,
    ),
    "Q6": Formula(
        "((A AS x)+ ; (B AS y))+ ; C AS z",
        {"A": ((0, 1), (1, 1), (2, 1)), "B": ((1, 2),), "C": ((2, 3),)},
        3,
    ),
}
