"""Windows: how far apart the first and the last event of a match may be."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class WindowUnit(Enum):
    EVENTS = "events"  # last - first + 1 ≤ amount positions
    MICROSECONDS = "microseconds"  # time(last) - time(first) ≤ amount, for timestamps and dates
    NANOSECONDS = "nanoseconds"  # the same, for times that are counted so
    PLAIN = "plain"  # the same in the unit of a numeric time column


@dataclass(frozen=True, slots=True)
class Window:
    amount: int | float
    unit: WindowUnit

    def counted_in(self, unit: WindowUnit) -> Window:
        """A window of time for times that are counted in another unit: the same pairs of events lie in it.

        >>> Window(1500, WindowUnit.NANOSECONDS).counted_in(WindowUnit.MICROSECONDS).amount
        1
        """
        match self.unit, unit:
            case WindowUnit.MICROSECONDS, WindowUnit.NANOSECONDS:
                return Window(self.amount * 1000, unit)
            case WindowUnit.NANOSECONDS, WindowUnit.MICROSECONDS:
                return Window(self.amount // 1000, unit)  # two times are a whole number of microseconds apart
            case _:
                return self
