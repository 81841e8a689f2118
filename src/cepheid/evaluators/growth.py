"""The arrays of a state: they grow by doubling, at a constant cost per element, and hold blocks of entries."""

from __future__ import annotations

import numpy as np

from cepheid.kernels.memory.big_integers import from_int, to_int
from cepheid.matches.match_arrays import Ints


def power_of_two(needed: int, least: int) -> int:
    """The smallest of `least`, 2 · `least`, 4 · `least`, … that is enough.

    >>> power_of_two(100, 64), power_of_two(3, 64)
    (128, 64)
    """
    while least < needed:
        least *= 2
    return least


def with_rows(array: Ints, count: int, fill: int = 0) -> Ints:
    """The array with at least `count` rows, twice as many as before where it has to grow.

    >>> with_rows(np.array([1, 2, 3]), 4)
    array([1, 2, 3, 0, 0, 0])
    """
    if len(array) >= count:
        return array
    longer: Ints = np.zeros((max(count, 2 * len(array)), *array.shape[1:]), np.int64)
    longer[: len(array)] = array
    if fill != 0:  # pages of zeros cost nothing until they are used
        longer[len(array) :] = fill
    return longer


def with_words(total: Ints, words: int) -> Ints:
    """The number of all matches in at least so many words, and eight more for what carries."""
    return from_int(to_int(total), max(len(total), words + 8))


def in_blocks(begins: Ints, counts: Ints, size: Ints | int) -> Ints:
    """Where each entry begins, of blocks of so many entries, all of one size or those of each block.

    >>> in_blocks(np.array([100, 200]), np.array([2, 1]), 8).tolist()
    [100, 108, 200]
    """
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    found: Ints = np.repeat(begins, counts) + within * np.repeat(np.broadcast_to(size, counts.shape), counts)
    return found
