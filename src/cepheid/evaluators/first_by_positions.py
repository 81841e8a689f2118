"""The graph of the matches that end at one event, for `kernels.matches.first_by_positions`.

In: the nodes that partial matches share (`kernels.matches.nodes`), and the roots of the event's matches: a front, a
back and how the match ends. Out: states and edges as arrays, in time linear in the nodes below the roots.

A node of the back leads from a match's later events to its earlier ones, so its edges are turned round: a path from
START to the end then marks events in stream order. Roots of one front share their states.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cepheid.kernels.matches.collect import reach
from cepheid.kernels.matches.first_by_positions import H_WORDS, S_WORDS, START, Graph, Walk
from cepheid.kernels.matches.nodes import BEGIN, FIRST, JOIN, N_WORDS, NONE
from cepheid.matches.match_arrays import Ints

_SKIP = -1  # as an event: nothing is marked
_END = -1


def graph_of(nodes: Ints, base: int, roots: Ints) -> Graph:
    """The graph of the matches of some roots: (front, back, ending) each."""
    edges: list[Ints] = []
    states = START + 1
    for front in np.unique(roots[:, 0]):
        _, backs, endings = roots[roots[:, 0] == front].T
        number, leads = _numbered(nodes, base, np.array([front]), states, -1)
        states += len(leads[0]) + 1
        middle = number[BEGIN]
        edges.append(_edges(np.array([START]), _SKIP, number[front : front + 1]))
        for marks, one, other in _links(leads, number):
            edges.append(_edges(one, marks, other))
        number, leads = _numbered(nodes, base, backs, middle, 1)
        states += len(leads[0])
        for marks, one, other in _links(leads, number):
            edges.append(_edges(other, marks, one))
        edges.append(_edges(number[backs], endings, np.array(_END)))
    return _graph(np.concatenate(edges, axis=1), states)


def walk_of(graph: Graph, steps: int) -> Walk:
    """Room for a walk of so many steps."""
    return Walk(
        heap=np.empty((steps, H_WORDS), np.int64),
        heaps=np.empty(steps + 1, np.int64),
        steps=np.empty((steps, S_WORDS), np.int64),
        begins=np.empty(steps + 1, np.int64),
        bound=np.empty(steps, np.int64),
        seen=np.empty(len(graph.lowest), np.int64),
        clock=np.empty(1, np.int64),
    )


def _edges(sources: Ints, events: int | Ints, targets: Ints) -> Ints:
    return np.stack(np.broadcast_arrays(sources, events, targets))


def _numbered(
    nodes: Ints, base: int, roots: Ints, first: int, step: int
) -> tuple[Ints, tuple[Ints, Ints, Ints, Ints]]:
    """The numbers of the states of nodes that roots lead to; of those nodes the number, the event and the two sets.
    Older nodes come first where the step is 1, else last; BEGIN comes before or behind all of them."""
    reached = np.zeros(int(roots.max()) + 1, np.int64)
    reached[roots] = 1
    reach(nodes, base, reached)
    reached[:FIRST] = 0
    found = np.flatnonzero(reached)
    number = np.full(len(reached), -1)
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
    """`edges` lead from lower to higher states, or to the end."""
    source, event, target = edges
    target = np.where(target == _END, states, target)
    source, target = _shortened(source, event, target, states + 1)
    kept = source >= 0
    source, event, target = source[kept], event[kept], target[kept]
    order = np.lexsort((event, event == _SKIP, source))
    source, event, target = source[order], event[order], target[order]
    marks = np.searchsorted(source, np.arange(states + 2))
    skips = marks[:-1] + np.bincount(source[event != _SKIP], minlength=states + 1)
    return Graph(
        marks=marks,
        skips=skips,
        events=event,
        targets=target,
        lowest=np.empty(states + 1, np.int64),
    )


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
