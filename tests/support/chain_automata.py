"""Chain automata by hand and at random, a stream to run them on, and what they mean.

`matches_of` is section 4 of `partition-by-chain-cea` written out: runs are sequences of configurations, kept
one by one. `Chain` feeds the evaluator as the engine does.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from cepheid.algebra.nodes import Atom, Query, Window, WindowUnit
from cepheid.automata.automaton import ADJACENT, Link, Predicate
from cepheid.automata.deterministic import LinkedMark
from cepheid.evaluators.chain.evaluator import ChainEvaluator
from cepheid.evaluators.interface import Bounds, Events
from cepheid.matches.match_arrays import Found
from cepheid.schema import schema_of
from cepheid.semantics.keys import is_one_key
from cepheid.streams.partitions import Partitions

Match = tuple[tuple[int, int], ...]  # rows with their labels
Rule = Callable[[int, frozenset[int]], tuple[LinkedMark, ...]]


def mark(
    label: int,
    target: int | None,
    equal: tuple[int, ...] = (),
    different: tuple[int, ...] = (),
    accepts: bool = False,
) -> LinkedMark:
    return LinkedMark(label, frozenset(equal), frozenset(different), target, accepts)


@dataclass
class Automaton:
    """The protocol from a function, or from a table by (state, type) where predicate k is type k."""

    links: tuple[Link, ...]
    predicates: tuple[Predicate, ...]
    rule: Rule
    states: int = 8
    labels: tuple[frozenset[str], ...] = tuple(frozenset({f"v{n}"} if n else ()) for n in range(6))
    known: dict[Any, tuple[LinkedMark, ...]] = field(default_factory=dict)

    @property
    def begins(self) -> frozenset[int]:
        """Of a function it is not known: any predicate."""
        return frozenset(range(len(self.predicates)))

    ends = begins

    def __len__(self) -> int:
        return self.states

    def transitions(self, state: int, satisfied: frozenset[int]) -> tuple[LinkedMark, ...]:
        if (state, satisfied) not in self.known:
            self.known[state, satisfied] = self.rule(state, satisfied)
        return self.known[state, satisfied]

    def save(self) -> list[Any]:
        return []

    def load(self, states: list[Any]) -> None:
        assert states == []


def types(names: str) -> tuple[Predicate, ...]:
    return tuple(Predicate(name, None) for name in names)


def by_table(
    links: tuple[Link, ...], names: str, table: dict[tuple[int, str], tuple[LinkedMark, ...]]
) -> Automaton:
    def rule(state: int, satisfied: frozenset[int]) -> tuple[LinkedMark, ...]:
        return tuple(item for k in sorted(satisfied) for item in table.get((state, names[k]), ()))

    return Automaton(links, types(names), rule)


def random_automaton(seed: int, adjacent: bool = True) -> Automaton:
    """Links over a, b and c; per state, class and label a tree of questions, one link each, with a mark at
    some leaves: so marks exclude each other."""
    chance = random.Random(seed)
    every = [Link(left, right) for left in "abc" for right in "abc"] + ([ADJACENT] * 3 if adjacent else [])
    links = tuple(dict.fromkeys(chance.sample(every, chance.randint(1, 4))))
    states = chance.randint(2, 4)
    predicates = types("AB") + ((Predicate(None, None),) if chance.random() < 0.3 else ())

    def tree(
        at: random.Random, label: int, equal: frozenset[int], different: frozenset[int]
    ) -> list[LinkedMark]:
        left = [link for link in range(len(links)) if link not in equal | different]
        if left and at.random() < 0.55:
            link = at.choice(left)
            return tree(at, label, equal | {link}, different) + tree(at, label, equal, different | {link})
        if at.random() < 0.35:
            return []
        target = at.choice([None, *range(1, states)])
        return [LinkedMark(label, equal, different, target, target is None or at.random() < 0.3)]

    def rule(state: int, satisfied: frozenset[int]) -> tuple[LinkedMark, ...]:
        at = random.Random(f"{seed} {state} {sorted(satisfied)}")
        found = []
        for label in range(1, at.choice([1, 1, 2]) + 1):
            if state == 0:
                found += [
                    LinkedMark(label, frozenset(), frozenset(), at.randint(1, states - 1), at.random() < 0.1)
                ]
            else:
                found += tree(at, label, frozenset(), frozenset())
        return tuple(found)

    return Automaton(links, predicates, rule, states)


def random_stream(seed: int, events: int, values: int = 2, keys: int = 2) -> pa.Table:
    chance = random.Random(seed)
    ts, times = 0, []
    for _ in range(events):
        ts += chance.choice([0, 1, 1, 2])
        times.append(ts)
    columns = {
        name: pa.array([chance.choice([None, *range(values)]) for _ in range(events)], pa.int64())
        for name in "ac"
    }
    words = pa.array(
        [chance.choice([None, 0.0, 1.0, 2.5, float("nan")][: values + 2]) for _ in range(events)]
    )
    return pa.table(
        {
            "ts": times,
            "type": [chance.choice("AABBX") for _ in range(events)],
            "key": [chance.randrange(keys) for _ in range(events)],
            **columns,
            "b": words.cast(pa.float64()),
        }
    )


def query(within: int | None = None, unit: WindowUnit = WindowUnit.PLAIN, **clauses: Any) -> Query:
    window = None if within is None else Window(within, unit)
    return Query(pattern=Atom("A", None, None), window=window, **clauses)


def matches_of(automaton: Automaton, given: Query, table: pa.Table) -> list[Match]:
    """All runs, one by one, in order of their ends."""
    rows = table.to_pylist()
    found: list[Match] = []
    runs: dict[Any, list[tuple[int, int | None, Match]]] = {}
    positions: dict[Any, int] = {}
    places: list[int] = []
    for at, row in enumerate(rows):
        partition = tuple(row[name] for name in given.partition_by)
        places.append(positions.get(partition, 0))
        positions[partition] = places[at] + 1
        satisfied = frozenset(
            k for k, item in enumerate(automaton.predicates) if item.type in (None, row["type"])
        )
        waiting = runs.setdefault(partition, [(0, None, ())])
        if not satisfied:
            continue
        fresh, ended = [], []
        # Only to save time: what began before the window can never end inside one.
        waiting[:] = [
            run for run in waiting if not run[2] or inside(given.window, rows, places, run[2][0][0], at)
        ]
        for state, last, match in waiting:
            for item in automaton.transitions(state, satisfied):
                if last is not None and not fires(automaton, item, rows[last], row, places[last], places[at]):
                    continue
                longer = (*match, (at, item.label))
                if item.accepts and inside(given.window, rows, places, longer[0][0], at):
                    ended.append(longer)
                if item.target is not None:
                    fresh.append((item.target, at, longer))
        found += ended
        waiting += fresh
        if ended and given.consume:
            runs[partition] = [(0, None, ())]
    return found


def fires(
    automaton: Automaton, item: LinkedMark, last: dict[str, Any], row: dict[str, Any], before: int, here: int
) -> bool:
    def equal(number: int) -> bool:
        link = automaton.links[number]
        if link == ADJACENT:
            return before + 1 == here
        return is_one_key([last[link.left], row[link.right]])

    return all(equal(link) for link in item.equal) and not any(equal(link) for link in item.different)


def inside(
    window: Window | None, rows: list[dict[str, Any]], places: list[int], first: int, last: int
) -> bool:
    if window is None:
        return True
    if window.unit is WindowUnit.EVENTS:
        return places[last] - places[first] + 1 <= window.amount
    return bool(rows[last]["ts"] - rows[first]["ts"] <= window.amount)


class Chain:
    """The evaluator, fed as the engine feeds it."""

    def __init__(
        self,
        automaton: Automaton,
        given: Query,
        schema: pa.Schema,
        counting: bool = False,
        limit: int | None = None,
    ) -> None:
        self._made = automaton, given, schema_of(schema, time="ts"), counting, limit
        self.evaluator = ChainEvaluator(*self._made)
        self._partitions = Partitions(given.partition_by)
        self._rows = 0

    def push(self, table: pa.Table, report: bool = True) -> list[Match]:
        return as_matches(self.found(table, report))

    def found(self, table: pa.Table, report: bool = True) -> Found:
        times = table["ts"].to_numpy()
        keyed: Any = None
        if self._partitions.columns:
            partitions = self._partitions.of(table)
            keyed = partitions, self._partitions.number(partitions, times)[0]
            if not self.evaluator.positional:
                keyed = partial(np.take, partitions)
        found = self.evaluator.advance(Events(table, self._rows, times, keyed, report))
        self._rows += len(table)
        return found

    def saved_and_loaded(self) -> None:
        state = {name: np.array(array) for name, array in self.evaluator.save().items()}
        self.evaluator = ChainEvaluator(*self._made)
        self.evaluator.load(state, Bounds(self._rows, max(self._partitions.count, 1), pa.int64()))

    def keep_partitions_within(self, table: pa.Table, within: int) -> None:
        kept = self._partitions.recent(table["ts"].to_numpy()[-1], within)
        self._partitions.keep(kept)
        self.evaluator.keep_partitions(kept)


def as_matches(found: Found) -> list[Match]:
    pairs = list(zip(found.rows.tolist(), found.labels.tolist(), strict=True))
    bounds = found.offsets.tolist()
    return [tuple(pairs[begin:end]) for begin, end in pairwise(bounds)]


def pieces(table: pa.Table, cuts: list[int]) -> list[pa.Table]:
    bounds = [0, *sorted(min(cut, len(table)) for cut in cuts), len(table)]
    return [table.slice(begin, end - begin) for begin, end in pairwise(bounds)]
