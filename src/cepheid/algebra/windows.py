"""Windows: how far apart the first and the last event of a match may be."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class WindowUnit(Enum):
    EVENTS = "events"  # last - first + 1 ≤ amount positions
    MICROSECONDS = "microseconds"  # time(last) - time(first) ≤ amount, for timestamps and dates
    PLAIN = "plain"  # the same in the unit of a numeric time column


@dataclass(frozen=True, slots=True)
class Window:
    amount: int | float
    unit: WindowUnit
