"""What an experiment gives: measured rows, the lines of its table, its targets and its curves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from multiprocessing.pool import Pool
from typing import Any, TypeVar

from bench.calibration import Calibration
from bench.timing import Timing, isolated

Case = TypeVar("Case")
Outcome = TypeVar("Outcome")


@dataclass(frozen=True)
class Row:
    """One thing measured. `checked` says what its count was compared with."""

    name: str
    events: int
    matches: int
    input_bytes: int
    checked: str
    timing: Timing
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def noisy(self) -> bool:
        return self.timing.noisy

    @property
    def events_per_s(self) -> float:
        return self.events / self.timing.seconds

    @property
    def matches_per_s(self) -> float:
        return self.matches / self.timing.seconds

    @property
    def ns_per_event(self) -> float:
        return self.timing.seconds / self.events * 1e9


@dataclass(frozen=True)
class Target:
    """`reached` is to be at most `goal`, or at least. `noisy`: others disturbed one of the rows it comes from."""

    work: str
    goal: float
    reached: float
    unit: str
    at_least: bool = False
    noisy: bool = False

    @property
    def met(self) -> bool:
        return self.reached >= self.goal if self.at_least else self.reached <= self.goal


@dataclass(frozen=True)
class Curve:
    """`points`: what is on the horizontal axis, logarithmic, and events/s. `memory`: KB of state at each point, drawn
    beside. `labels`: names in place of numbers on the axis; what they name has no order, so there is no line."""

    name: str
    title: str
    across: str
    points: tuple[tuple[float, float], ...]
    memory: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """`header` and `lines` are the table; `look` a sentence on what to see in it."""

    name: str
    title: str
    header: tuple[str, ...]
    lines: list[tuple[str, ...]]
    rows: list[Row]
    look: str
    targets: list[Target] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    paper: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Setting:
    """How large, how often, and on what machine. `divide` makes streams smaller still, for tests. `process`: one to run
    everything in; without it, each case has its own."""

    quick: bool
    calibration: Calibration
    divide: int = 1
    process: Pool | None = None

    @property
    def repeats(self) -> int:
        return 3 if self.quick else 5

    def events(self, full: int, quick: int) -> int:
        return (quick if self.quick else full) // self.divide

    def points(self, full: Sequence[Case], quick: Sequence[Case]) -> Sequence[Case]:
        return quick if self.quick else full

    def each(
        self, function: Callable[..., Outcome], cases: Iterable[tuple[Any, ...]], threads: int = 1
    ) -> list[Outcome]:
        if self.process is not None and threads == 1:
            return [self.process.apply(function, case) for case in cases]
        return [isolated(function, *case, threads=threads) for case in cases]
