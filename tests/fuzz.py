"""Random cases against the oracle until the time is over: `python tests/fuzz.py SECONDS [FIRST_SEED]`.

A seed decides which kind of query is drawn: CEL with unary conditions for `compact`; CEL that compares events, the same
with ALL and PART-BY, CEL that compares sets of events, SREMO, and unary CEL once more for `configurations`. Prints the
seed of every case that differs; `FIRST_SEED` repeats one. Beside each query some hostile texts are read and planned
(`hostile_texts.py`), each within a limit of CPU time.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from itertools import count

from agreement import differences, is_declined
from comparing import seeded_compared, seeded_mixed
from gathering import seeded_gathered
from generators import UNARY, Case, seeded, seeded_sremo
from hostile_texts import findings


def unary(seed: int) -> Case:
    return seeded(seed, UNARY)


KINDS: tuple[tuple[Callable[[int], Case], str], ...] = (
    (unary, "compact"),
    (seeded_compared, "configurations"),
    (seeded_mixed, "configurations"),
    (seeded_gathered, "configurations"),
    (seeded_sremo, "configurations"),
    (unary, "configurations"),
)

TEXTS = 2  # hostile texts read for each query that is compared


def main() -> int:
    seconds = float(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 1_000_000_000
    end = time.monotonic() + seconds
    done, bad = 0, 0
    texts = 0
    for seed in count(first):
        for finding in findings(range(seed * TEXTS, (seed + 1) * TEXTS)):
            bad += 1
            print(finding)  # noqa: T201
        texts += TEXTS
        choice = random.Random(seed)
        make, evaluator = KINDS[choice.randrange(len(KINDS))]
        case = make(seed)
        if is_declined(case, evaluator):
            continue
        cuts = [choice.randint(0, len(case.table)) for _ in range(choice.randint(0, 3))]
        difference = differences(case, cuts, evaluator, saved=choice.randrange(10) == 0)
        done += 1
        if difference is not None:
            bad += 1
            print(f"seed {seed}, {evaluator}, cuts {cuts}: {difference}\n{case!r}")  # noqa: T201
        if time.monotonic() > end or bad >= 5:
            break
    print(f"{done} cases and {texts} hostile texts from seed {first}, {bad} differences")  # noqa: T201
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
