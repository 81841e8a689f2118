"""Of the matches that end at one event the first by positions, found without looking at all of them.

In: the nodes that partial matches share (`kernels.matches.nodes`), and the roots of the event's matches: a front, a
back and how the match ends. Out: matches in flat arrays, the first by positions, and of one complex event all bindings
or, of very many, the first by what each event is bound to.

A node of the back leads from a match's later events to its earlier ones, so its edges are turned round: a path from
START to END then marks events in stream order. States are numbered along the paths, and every state has the least row
that is marked next on any path from it, so that a walk takes the oldest choice first and looks at no other. It takes
time linear in the nodes once and then, for each match, in its length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import groupby, islice
from operator import itemgetter
from typing import TypeAlias

import numpy as np

from cepheid.kernels.matches.collect import reach
from cepheid.kernels.matches.nodes import BEGIN, FIRST, JOIN, LABEL_BITS, LABELS, N_WORDS, NONE
from cepheid.matches.match_arrays import LABEL, Found, Ints

MOST_BINDINGS = 1 << 16  # of one complex event, beyond which they are taken in the order of their events
START = 0
_SKIP = -1  # as an event: nothing is marked
_NEVER = np.iinfo(np.int64).max

Edge: TypeAlias = tuple[int, int, int]
"""An event with its label, the state that the edge was found from, the state that it leads to."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Paths from START to `end`. Edges of one source lie next to each other: those that mark from `marks` to before
    `skips`, by event, then those that do not, to before the `marks` of the next source."""

    end: int
    marks: list[int]
    skips: list[int]
    events: list[int]
    targets: list[int]
    lowest: list[int]
    """By state, the least row that is marked next."""


def first_matches(graph: Graph, least: int, most_events: int, ranks: Sequence[int]) -> Found | None:
    """So many matches at least, if there are, whole complex events; None where they have more events than that.
    `ranks` is the order of labels."""
    rows: list[int] = []
    labels: list[int] = []
    offsets = [0]
    positions: list[int] = []
    single: list[int] = []  # a label for each position
    several: list[int] = []  # the places that have more labels or ways than one
    for layers, same in _walk({START}, graph.end, lambda states, _: _by_row(graph, states)):
        del positions[same:], single[same:]
        while several and several[-1] >= same:
            several.pop()
        for place in range(same, len(layers)):
            positions.append(layers[place][0][0] >> LABEL_BITS)
            single.append(layers[place][0][0] & LABELS)
            if len(layers[place]) > 1:
                several.append(place)
        bindings = [single]
        if several:
            bindings = list(islice(_bindings(layers, graph.end, ranks), max(least, MOST_BINDINGS + 1)))
        for binding in bindings if len(bindings) <= MOST_BINDINGS else bindings[:least]:
            rows += positions
            labels += binding
            offsets.append(len(rows))
            if len(rows) > most_events:
                return None
        if len(offsets) > least:
            break
    return Found(np.array(offsets), np.array(rows, np.int64), np.array(labels, LABEL))


def _walk(
    start: set[int], end: int, follow: Callable[[set[int], int], Iterator[list[Edge]]]
) -> Iterator[tuple[list[list[Edge]], int]]:
    """All ways from the states `start` to `end`, depth first; a step of a way are the edges that `follow` gives
    together, for the states at hand and the number of steps before them. Beside a way is how many of its first steps
    are those of the way before."""
    steps: list[list[Edge]] = []
    same = 0
    waiting = [follow(start, 0)]
    while waiting:
        edges = next(waiting[-1], None)
        if edges is None:
            waiting.pop()
            if steps:
                steps.pop()
            same = min(same, len(steps))
            continue
        steps.append(edges)
        reached = {target for _, _, target in edges}
        if end in reached:
            yield steps, same
            steps.pop()
            same = len(steps)
        else:
            waiting.append(follow(reached, len(steps)))


def _by_row(graph: Graph, states: set[int]) -> Iterator[list[Edge]]:
    """The edges that mark next from these states, those of one row together, by row. What is not looked at yet is a
    state, as its complement, or an edge with others behind it."""
    waiting = [(graph.lowest[state], ~state, 0, state) for state in states]
    heapify(waiting)
    while waiting:
        row = waiting[0][0]
        edges: list[Edge] = []
        while waiting and waiting[0][0] == row:
            _, at, last, source = heappop(waiting)
            if at < 0:
                state = ~at
                for skip in range(graph.skips[state], graph.marks[state + 1]):
                    target = graph.targets[skip]
                    heappush(waiting, (graph.lowest[target], ~target, 0, source))
                at, last = graph.marks[state], graph.skips[state]
            else:
                edges.append((graph.events[at], source, graph.targets[at]))
                at += 1
            if at < last:
                heappush(waiting, (graph.events[at] >> LABEL_BITS, at, last, source))
        if edges:
            yield edges


def _bindings(layers: list[list[Edge]], end: int, ranks: Sequence[int]) -> Iterator[list[int]]:
    """The labels of all paths through these edges, in the order of their ranks, event by event."""
    leading: list[dict[int, list[Edge]]] = []
    alive = {end}
    for edges in reversed(layers):
        by_source: dict[int, list[Edge]] = {}
        for event, source, target in edges:
            if target in alive:
                by_source.setdefault(source, []).append((event & LABELS, source, target))
        leading.append(by_source)
        alive = set(by_source)
    leading.reverse()

    def follow(states: set[int], step: int) -> Iterator[list[Edge]]:
        edges = [edge for state in states for edge in leading[step].get(state, ())]
        edges.sort(key=lambda edge: ranks[edge[0]])
        for _, same in groupby(edges, key=itemgetter(0)):
            yield list(same)

    for steps, _ in _walk({START}, end, follow):
        yield [edges[0][0] for edges in steps]


def graph_of(nodes: Ints, base: int, roots: Ints) -> Graph:
    """The graph of the matches of some roots. Each root has states of its own: one that its nodes of the front lead to
    and those of the back from, and one for each node."""
    edges: list[Ints] = []
    states = START + 1
    for front, back, ending in roots.tolist():
        number, leads = _numbered(nodes, base, front, states, -1)
        states += len(leads[0]) + 1
        middle = number[BEGIN]
        edges.append(_edges(np.array([START]), _SKIP, number[front : front + 1]))
        for marks, one, other in _links(leads, number):
            edges.append(_edges(one, marks, other))
        number, leads = _numbered(nodes, base, back, middle, 1)
        states += len(leads[0])
        for marks, one, other in _links(leads, number):
            edges.append(_edges(other, marks, one))
        edges.append(_edges(number[back : back + 1], ending, np.array([-1])))
    return _graph(np.concatenate(edges, axis=1), states)


def _edges(sources: Ints, events: int | Ints, targets: Ints) -> Ints:
    return np.stack([sources, np.broadcast_to(events, sources.shape), targets])


def _numbered(
    nodes: Ints, base: int, root: int, first: int, step: int
) -> tuple[Ints, tuple[Ints, Ints, Ints, Ints]]:
    """The numbers of the states of nodes that a root leads to; of those nodes the number, the event and the two sets.
    Older nodes come first where the step is 1, else last; BEGIN comes before or behind all of them."""
    reached = np.zeros(root + 1, np.int64)
    reached[root] = 1
    reach(nodes, base, reached)
    reached[:FIRST] = 0
    found = np.flatnonzero(reached)
    number = np.full(root + 1, -1)
    states = first + np.arange(len(found) + 1)
    number[np.concatenate([[BEGIN], found])] = states[::step]
    at = base + found[:, None] * N_WORDS + np.arange(N_WORDS)
    event, before, other = nodes[at].T
    return number, (found, event, before, other)


def _links(leads: tuple[Ints, Ints, Ints, Ints], number: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """From the states of nodes to those of their sets: (what is marked, from, to)."""
    found, event, before, other = leads
    yield np.where(event == JOIN, _SKIP, event), number[found], number[before]
    has_other = other != NONE
    yield np.full(int(has_other.sum()), _SKIP), number[found[has_other]], number[other[has_other]]


def _graph(edges: Ints, states: int) -> Graph:
    """`edges` lead from lower to higher states, or to the end, -1."""
    source, event, target = edges
    target = np.where(target < 0, states, target)
    source, target = _shortened(source, event, target, states + 1)
    kept = source >= 0
    source, event, target = source[kept], event[kept], target[kept]
    order = np.lexsort((event, event == _SKIP, source))
    source, event, target = source[order], event[order], target[order]
    bounds = np.arange(states + 2)
    marks = np.searchsorted(source, bounds)
    skips = marks[:-1] + np.bincount(source[event != _SKIP], minlength=states + 1)
    first, last, events, targets = (array.tolist() for array in (marks, skips, event, target))
    return Graph(states, first, last, events, targets, _lowest(first, last, events, targets))


def _shortened(source: Ints, event: Ints, target: Ints, states: int) -> tuple[Ints, Ints]:
    """Edges lead past states that do nothing but skip to one other; what leaves those has the source -1."""
    skips = event == _SKIP
    passing = np.bincount(source[skips], minlength=states) == 1
    passing[source[~skips]] = False
    passing[START] = False
    leads = np.arange(states)
    of_passing = skips & passing[source]
    leads[source[of_passing]] = target[of_passing]
    while not np.array_equal(leads, leads[leads]):
        leads = leads[leads]
    return np.where(passing[source], -1, source), leads[target]


def _lowest(marks: list[int], skips: list[int], events: list[int], targets: list[int]) -> list[int]:
    lowest = [_NEVER] * (len(marks) - 1)
    for state in range(len(skips) - 1, -1, -1):
        if marks[state] < skips[state]:
            lowest[state] = events[marks[state]] >> LABEL_BITS
        for skip in range(skips[state], marks[state + 1]):
            lowest[state] = min(lowest[state], lowest[targets[skip]])
    return lowest
