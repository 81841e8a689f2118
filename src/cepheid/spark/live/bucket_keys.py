"""Numbers for buckets, so that Spark puts each into a partition of its own.

Spark places a group by a hash of its key, so of the keys 0, 1, 2, … some share a partition and some partitions have
none. The numbers given here are such that bucket p is in partition p: as many buckets as partitions, and no task
without work.
"""

from __future__ import annotations

_SEED = 42
_WORD = 0xFFFFFFFF


def bucket_keys(partitions: int) -> list[int]:
    """A whole number for each partition that Spark's hash places there.

    >>> bucket_keys(4)
    [12, 6, 2, 0]
    """
    found: dict[int, int] = {}
    number = 0
    while len(found) < partitions:
        found.setdefault(spark_hash(number) % partitions, number)
        number += 1
    return [found[partition] for partition in range(partitions)]


def spark_hash(number: int) -> int:
    """What Spark's `hash` gives for an INT: Murmur3 of 32 bits with the seed 42.

    >>> spark_hash(0), spark_hash(1)
    (933211791, -559580957)
    """
    word = _rotated(number * 0xCC9E2D51 & _WORD, 15) * 0x1B873593 & _WORD
    mixed = (_rotated(_SEED ^ word, 13) * 5 + 0xE6546B64 & _WORD) ^ 4
    mixed = (mixed ^ mixed >> 16) * 0x85EBCA6B & _WORD
    mixed = (mixed ^ mixed >> 13) * 0xC2B2AE35 & _WORD
    mixed ^= mixed >> 16
    return mixed - (1 << 32) if mixed >> 31 else mixed


def _rotated(word: int, by: int) -> int:
    return (word << by | word >> 32 - by) & _WORD
