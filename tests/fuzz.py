"""Random cases until the time is over: `python tests/fuzz.py --seconds 600 --seed 1 --evaluator compact`.

Stops at the first case on which the evaluator and the oracle differ, prints it and its seed, and exits with
1; `--seconds 0 --seed N` runs that one case again.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from agreement import check
from generators import Limits, seeded_cases


def main() -> int:
    options = _options()
    limits = Limits(nary=options.evaluator != "compact", events=options.events)
    end = time.monotonic() + options.seconds
    done = 0
    for seed, case in seeded_cases(options.seed, limits):
        try:
            check(case, options.evaluator)
        except Exception as error:
            again = f"--seconds 0 --seed {seed} --events {options.events} --evaluator {options.evaluator}"
            sys.stdout.write(f"{error}\n\n{case}\nrun it again: {sys.argv[0]} {again}\n")
            return 1
        done += 1
        if time.monotonic() >= end:
            break
    sys.stdout.write(
        f"{done} cases from seed {options.seed} on: {options.evaluator} agrees with the oracle\n"
    )
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60, help="for how long (60)")
    parser.add_argument("--seed", type=int, default=0, help="the first seed (0); each case has the next")
    parser.add_argument("--events", type=int, default=12, help="events in a stream at most (12)")
    parser.add_argument("--evaluator", default="compact", help="compact or semantics")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
