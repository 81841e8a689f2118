"""Whether saved nodes lead only to what is there."""

from __future__ import annotations

from cepheid.kernels.compiled import compiled
from cepheid.kernels.matches.nodes import (
    BEGIN,
    FIRST,
    JOIN,
    LABEL_BITS,
    LABELS,
    N_BEFORE,
    N_EVENT,
    N_OTHER,
    N_WORDS,
    NONE,
)

NO_ROW = 1 << 62  # after every row


@compiled
def nodes_fit(nodes, base, count, labels, out_least):
    """Nodes lead to older ones only; `out_least` is by node the least row of all that it leads to."""
    out_least[NONE] = NO_ROW
    out_least[BEGIN] = NO_ROW
    for number in range(FIRST, count):
        at = base + number * N_WORDS
        event, before, other = nodes[at + N_EVENT], nodes[at + N_BEFORE], nodes[at + N_OTHER]
        if event != JOIN and (event < 0 or event & LABELS >= labels):
            return False
        if before < BEGIN or before >= number or other < NONE or other >= number:
            return False
        least = min(out_least[before], out_least[other])
        if event != JOIN:
            least = min(least, event >> LABEL_BITS)
        out_least[number] = least
    return True
