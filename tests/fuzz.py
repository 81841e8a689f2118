"""Random cases against the oracle until the time is over: `python tests/fuzz.py SECONDS [FIRST_SEED]`.

Prints the seed of every case that differs; `FIRST_SEED` repeats one.
"""

from __future__ import annotations

import random
import sys
import time

from agreement import differences
from generators import UNARY, seeded_cases


def main() -> int:
    seconds = float(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 1_000_000_000
    end = time.monotonic() + seconds
    done, bad = 0, 0
    for seed, case in seeded_cases(first, UNARY):
        choice = random.Random(seed)
        cuts = [choice.randint(0, len(case.table)) for _ in range(choice.randint(0, 3))]
        difference = differences(case, cuts, saved=seed % 10 == 0)
        done += 1
        if difference is not None:
            bad += 1
            print(f"seed {seed}, cuts {cuts}: {difference}\n{case!r}")  # noqa: T201
        if time.monotonic() > end or bad >= 5:
            break
    print(f"{done} cases from seed {first}, {bad} differences")  # noqa: T201
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
