"""Partition refinement: equivalent states in one block.

In: a first block number per state, the states that enter each, and which blocks its transitions lead to. Out: the
coarsest blocks, no coarser than the first, whose states all lead to the same blocks. Only states that enter a block
that changed are looked at again and the largest part of a block keeps its number, so that a state is looked at some log
n times, as in Hopcroft's algorithm.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence, Set

Signature = Callable[[int, list[int]], Hashable]
"""What a state does, given the block of each state: it names the block of every state that the state enters."""


def refined(kinds: Sequence[int], entering: Mapping[int, Set[int]], signature: Signature) -> list[int]:
    """A block number per state.

    >>> blocks = refined([0, 0, 0, 1], {1: {0}, 2: {0}, 3: {1, 2}}, lambda at, _: ((1, 2), (3,), (3,), ())[at])
    >>> blocks[1] == blocks[2], len(set(blocks))
    (True, 3)
    >>> refined([5, 5, 5, 7], {}, lambda state, block: state % 2)
    [0, 2, 0, 1]
    """
    block_of = numbered_by_first(kinds)
    sizes = dict(Counter(block_of))
    changed: Set[int] = set(range(len(block_of)))
    while changed:
        affected: dict[int, dict[Hashable, list[int]]] = defaultdict(lambda: defaultdict(list))
        for state in sorted(changed):
            affected[block_of[state]][signature(state, block_of)].append(state)
        moved: list[int] = []
        for block, alike in affected.items():
            moved += _split(block, list(alike.values()), block_of, sizes)
        changed = {source for state in moved for source in entering.get(state, ())}
    return block_of


def numbered_by_first(block_of: Sequence[int]) -> list[int]:
    """The same blocks, numbered in the order of their first states.

    >>> numbered_by_first([2, 0, 2, 1])
    [0, 1, 0, 2]
    """
    numbers: dict[int, int] = {}
    return [numbers.setdefault(block, len(numbers)) for block in block_of]


def _split(block: int, kinds: list[list[int]], block_of: list[int], sizes: dict[int, int]) -> list[int]:
    """Gives each kind of the affected states of a block a block of its own; the states that moved.

    Affected states enter a changed block and the others of their block do not, so those are of no affected
    kind. If all are affected, the largest kind stays.
    """
    kinds.sort(key=len)
    if sum(map(len, kinds)) == sizes[block]:
        kinds.pop()
    for states in kinds:
        fresh = len(sizes)
        sizes[fresh] = len(states)
        sizes[block] -= len(states)
        for state in states:
            block_of[state] = fresh
    return [state for states in kinds for state in states]
