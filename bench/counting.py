"""How many matches there are, found without the engine: short programs that each know one kind of query.

The numbers of iterations have hundreds of digits; `within_events` counts modulo a prime, and the engine's exact count
is compared modulo that prime.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.formulas import Formula
from bench.streams import Stream

PRIME = (1 << 31) - 1


@dataclass(frozen=True)
class Counted:
    """`ends`: events at which at least one match ends. That is also the number of matches of NXT and of LAST."""

    matches: int
    ends: int


def sequence_of_three(stream: Stream, within: int | None, types: str = "ABC") -> int:
    """`A ; B ; C` in a window of so many events, exactly: Σ over C of Σ over A in its window of the Bs between them."""
    first, middle, last = (stream.places(type) for type in types)
    middles = np.cumsum(middle)
    firsts = _from_zero(first)
    middles_before_firsts = _from_zero(np.where(first, middles, 0))
    ends = np.flatnonzero(last)
    begins = np.zeros_like(ends) if within is None else np.maximum(ends - within + 1, 0)
    numbers = firsts[ends] - firsts[begins]
    between = numbers * middles[ends] - (middles_before_firsts[ends] - middles_before_firsts[begins])
    return sum(int(part.sum()) for part in np.array_split(between, 64))


def within_events(formula: Formula, stream: Stream, within: int) -> Counted:
    """All matches modulo `PRIME`, in a window of so many events: one run of the automaton per possible first event."""
    ways = np.zeros((formula.final, len(stream)), np.int64)  # by state and first event
    matches = ends = 0
    for now, letter in enumerate(stream.letters):
        window = slice(max(0, now - within + 1), now + 1)
        ways[0, now] = 1
        moves = formula.moves.get(letter, ())
        for target, moved in [(target, ways[source, window].copy()) for source, target in moves]:
            if target == formula.final:
                matches += int(moved.sum())
                ends += bool(moved.any())
            else:
                ways[target, window] = (ways[target, window] + moved) % PRIME
        ways[0, now] = 0
    return Counted(matches % PRIME, ends)


def consuming(formula: Formula, stream: Stream) -> Counted:
    """CONSUME without a window: after an event with matches, all is forgotten."""
    fresh = [1] + [0] * formula.final
    ways = fresh.copy()
    matches = ends = 0
    for letter in stream.letters:
        moves = formula.moves.get(letter, ())
        for target, added in [(target, ways[source]) for source, target in moves]:
            ways[target] += added
        if ways[formula.final]:
            matches += ways[formula.final]
            ends += 1
            ways = fresh.copy()
    return Counted(matches, ends)


def strict(formula: Formula, stream: Stream) -> Counted:
    """STRICT: events that follow one another directly."""
    ways = [1] + [0] * formula.final
    matches = ends = 0
    for letter in stream.letters:
        moved = [1] + [0] * formula.final
        for source, target in formula.moves.get(letter, ()):
            moved[target] += ways[source]
        matches += moved[formula.final]
        ends += bool(moved[formula.final])
        ways = moved
        ways[formula.final] = 0
    return Counted(matches, ends)


def without_window(formula: Formula, stream: Stream) -> int:
    """All matches of a formula without iteration, whose numbers stay small."""
    ways = [1] + [0] * formula.final
    for letter in stream.letters:
        moves = formula.moves.get(letter, ())
        for target, added in [(target, ways[source]) for source, target in moves]:
            ways[target] += added
    return ways[formula.final]


def ends_without_window(formula: Formula, stream: Stream) -> int:
    """At how many events a match ends."""
    reached = {0}
    ends = 0
    for letter in stream.letters:
        targets = {target for source, target in formula.moves.get(letter, ()) if source in reached}
        ends += formula.final in targets
        reached |= targets - {formula.final}
    return ends


def largest_of_q5(stream: Stream, within: int | None) -> int:
    """MAX of `A+ ; B+ ; C`: all As, then all Bs after them, so one match per place where a B follows an A directly,
    other events left out."""
    of_interest = np.flatnonzero(stream.places("A") | stream.places("B"))
    is_a = stream.places("A")[of_interest]
    turns = np.zeros(len(stream), np.bool_)
    turns[of_interest[:-1][is_a[:-1] & ~is_a[1:]]] = True  # at the A
    completed = np.zeros(len(stream), np.bool_)
    completed[of_interest[1:][is_a[:-1] & ~is_a[1:]]] = True  # at its B
    ends = np.flatnonzero(stream.places("C"))
    begins = np.zeros_like(ends) if within is None else np.maximum(ends - within + 1, 0)
    # Turns whose A is inside the window and whose B is before its end.
    inside = _from_zero(completed)[ends] - _from_zero(turns)[begins]
    return int(np.maximum(inside, 0).sum())


def by_key(
    stream: Stream, keys: npt.NDArray[np.int64], times: npt.NDArray[np.int64], within: int, types: str = "ABC"
) -> int:
    """`A ; B ; C` of one key within a time: events sorted by key, and every triple of neighbours tried."""
    order = np.argsort(keys, kind="stable")
    codes, keys, times = stream.codes[order], keys[order], times[order]
    a, b, c = (stream.types.index(type) for type in types)
    most = int(np.bincount(np.unique(keys, return_inverse=True)[1]).max())
    found = 0
    for first_step in range(1, most):
        firsts = np.flatnonzero(codes == a)
        firsts = firsts[firsts + first_step < len(codes)]
        seconds = firsts + first_step
        kept = (codes[seconds] == b) & (keys[firsts] == keys[seconds])
        firsts, seconds = firsts[kept], seconds[kept]
        for second_step in range(1, most - first_step):
            inside = seconds + second_step < len(codes)
            firsts, seconds = firsts[inside], seconds[inside]
            lasts = seconds + second_step
            matched = (codes[lasts] == c) & (keys[firsts] == keys[lasts])
            found += int(np.sum(matched & (times[lasts] - times[firsts] <= within)))
    return found


def _from_zero(values: npt.NDArray[np.generic]) -> npt.NDArray[np.int64]:
    """Sums of the first 0, 1, 2, … values."""
    sums: npt.NDArray[np.int64] = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
    return sums
