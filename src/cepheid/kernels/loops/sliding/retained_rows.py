"""The rows that the partitions of a compact evaluator still need; dropping partitions."""

from __future__ import annotations

from cepheid.kernels.compiled import compiled
from cepheid.kernels.loops.sliding.partition_state import (
    N_BACK,
    collect,
    free,
)


@compiled
def free_all_but(heap, meta, partitions, kept):
    """Frees the blocks of all partitions that are not in `kept` (ascending)."""
    k = 0
    for partition in range(len(partitions)):
        if k < len(kept) and kept[k] == partition:
            k += 1
        else:
            free(heap, meta, partitions, partition)


@compiled
def collect_all(heap, partitions):
    """Drops the nodes that nothing in partitions without a window reaches."""
    for partition in range(len(partitions)):
        if partitions[partition, N_BACK] > 0:
            collect(heap, partitions, partition)
