"""How many matches of patterns with registers there are, found without the engine."""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bench.registers import Pattern, Step
from bench.ticks import TIME

COMPARED: dict[str, Callable[..., npt.NDArray[np.bool_]]] = {
    "<": operator.lt,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Ways = dict[float, int]  # by the price remembered, 0 if none is


def matching(pattern: Pattern, ticks: pa.Table, within: int) -> int:
    """All matches: from every possible first event on, a table of ways by step reached and price remembered."""
    steps = pattern.steps
    masks = [_taken(step, ticks) for step in steps]
    relevant = np.flatnonzero(np.any(masks, axis=0))
    times, prices = (ticks[name].to_numpy()[relevant].tolist() for name in (TIME, "price"))
    roles = [[] for _ in relevant]  # type: list[list[int]]
    for step, mask in enumerate(masks, start=1):
        for place in np.flatnonzero(mask[relevant]):
            roles[place].append(step)
    before = [[i for i, after in pattern.follows.items() if step in after] for step in range(len(steps) + 1)]
    found = 0
    for start in np.flatnonzero(masks[0][relevant]).tolist():
        ways: list[Ways] = [{} for _ in range(len(steps) + 1)]
        ways[1][prices[start]] = 1
        for now in range(start + 1, len(times)):
            if times[now] - times[start] > within:
                break
            arrived = [
                (step, _moved(steps[step - 1], prices[now], [ways[i] for i in before[step]]))
                for step in roles[now]
            ]
            for step, moved in arrived:
                for price, number in moved.items():
                    ways[step][price] = ways[step].get(price, 0) + number
            found += sum(ways[-1].values())
            ways[-1].clear()
    return found


def _moved(step: Step, price: float, sources: list[Ways]) -> Ways:
    """The ways that go on with an event of this price; where several lead there, together."""
    moved: Ways = defaultdict(int)
    for source in sources:
        for remembered, number in source.items():
            if step.than is None or COMPARED[step.than](price, remembered):
                moved[price if step.stores else 0 if step.than else remembered] += number
    return moved


def middles(pattern: Pattern, ticks: pa.Table, within: int) -> dict[int, int]:
    """For a pattern of three steps: of how many pairs of a first and a last event inside a window, with the right
    prices, so many middle ones lie between."""
    first, middle, last = (_taken(step, ticks) for step in pattern.steps)
    firsts, lasts = pairs(first, last, ticks[TIME].to_numpy(), within)
    prices = ticks["price"].to_numpy()
    right = COMPARED[pattern.steps[2].than or "="](prices[lasts], prices[firsts])
    counts: Ints = np.cumsum(middle)
    numbers, how_often = np.unique(counts[lasts[right]] - counts[firsts[right]], return_counts=True)
    return dict(zip(numbers.tolist(), how_often.tolist(), strict=True))


def pairs(first: Bools, last: Bools, times: Ints, within: int) -> tuple[Ints, Ints]:
    """The places of all pairs, the first before the last and at most so much earlier."""
    firsts, lasts = np.flatnonzero(first), np.flatnonzero(last)
    begins = np.searchsorted(lasts, firsts, side="right")
    ends = np.searchsorted(times[lasts], times[firsts] + within, side="right")
    numbers = np.maximum(ends - begins, 0)
    from_first = np.arange(numbers.sum()) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    return np.repeat(firsts, numbers), lasts[np.repeat(begins, numbers) + from_first]


def sequences(between: dict[int, int]) -> int:
    """`seq_3`: any one of the middle ones."""
    return sum(often * number for number, often in between.items())


def iterations(between: dict[int, int]) -> int:
    """`k_3`: any set of them but the empty one, 2ᵏ − 1 of k."""
    return sum(often * (2**number - 1) for number, often in between.items())


def named(ticks: pa.Table, name: str, type: str | None = None) -> Bools:
    """Which events are of the company, and of the type if one is given."""
    chosen = pc.equal(ticks["name"], name)
    if type is not None:
        chosen = pc.and_(chosen, pc.equal(ticks["type"], type))
    mask: Bools = chosen.to_numpy()
    return mask


def _taken(step: Step, ticks: pa.Table) -> Bools:
    """Which events the step takes as far as they alone decide."""
    mask = named(ticks, step.name, step.type)
    for attribute, comparison, number in step.local:
        mask = mask & COMPARED[comparison](ticks[attribute].to_numpy(), number)
    return mask
