"""All combinations of one event per name of a check, in many matches at once.

In: matches whose labels give the names of events and mark the events with which rounds begin. Out: the combinations of
events of one match, in which names that share a marker have events of the same round. Names are joined one by one, each
with the earlier name with which it shares most rounds: two names that share a round share all rounds around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from cepheid.automata.attach_rounds import Check, Path
from cepheid.matches.match_arrays import Found, Ints

_MOST_CHOICES = 1 << 20  # held together


class EventChoices:
    def __init__(self, check: Check, labels: Sequence[frozenset[str]]) -> None:
        self._has = {
            name: np.array([name in label for label in labels], np.bool_) for name in sorted(check.names)
        }
        self._names = [name for name, _ in check.paths]
        self._joins: list[tuple[int, str | None]] = []
        """For each name but the first: the earlier name it is joined with, and the marker of the innermost round of
        both; None: they share only the match."""
        paths = [path for _, path in check.paths]
        for number in range(1, len(paths)):
            shared = [_shared(paths[number], earlier) for earlier in paths[:number]]
            closest = max(range(number), key=lambda earlier: len(shared[earlier]))
            self._joins.append((closest, shared[closest][-1] if shared[closest] else None))

    def of(self, candidates: Found) -> Iterator[tuple[Ints, Ints]]:
        """Matches, and the places of their events [choice, name], in portions."""
        match_of = np.repeat(np.arange(len(candidates)), np.diff(candidates.offsets))
        parts: dict[str | None, Ints] = {None: match_of}
        for _, marker in self._joins:
            if marker is not None:
                parts[marker] = np.cumsum(self._has[marker][candidates.labels])
        events = [np.flatnonzero(self._has[name][candidates.labels]) for name in self._names]
        waiting = [events[0]]
        while waiting:
            firsts = waiting.pop()
            chosen = self._joined(firsts, events, parts)
            if chosen is None:
                middle = len(firsts) // 2
                waiting += [firsts[middle:], firsts[:middle]]
            elif len(chosen):
                yield match_of[chosen[:, 0]], chosen

    def _joined(self, firsts: Ints, events: Sequence[Ints], parts: dict[str | None, Ints]) -> Ints | None:
        """The combinations with these events of the first name, or None if they are too many and there are several such
        events. `parts`: by event the number of its match or round, ascending."""
        chosen = firsts[:, np.newaxis]
        for (earlier, marker), mine in zip(self._joins, events[1:], strict=True):
            part = parts[marker]
            wanted = part[chosen[:, earlier]]
            first = np.searchsorted(part[mine], np.arange(part[-1] + 2))
            begins = first[wanted]
            times = first[wanted + 1] - begins
            total = int(times.sum())
            if total > _MOST_CHOICES and len(firsts) > 1:
                return None
            before = np.repeat(np.arange(len(chosen)), times)
            within = np.arange(total) - (np.cumsum(times) - times)[before]
            chosen = np.column_stack([chosen[before], mine[begins[before] + within]])
        return chosen


def _shared(one: Path, two: Path) -> Path:
    """The rounds that two names are in together.

    >>> _shared(("outer", "inner"), ("outer", "other"))
    ('outer',)
    """
    return tuple(mine for mine, other in zip(one, two, strict=False) if mine == other)
