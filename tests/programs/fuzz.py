"""Random cases until the time is over: `python tests/programs/fuzz.py SECONDS [FIRST_SEED] [KIND…]`.

A seed decides which kind of case is drawn, among all or those named:

- `unary`, `compared`, `mixed`, `gathered`, `parts`, `sremo`, `unary-configurations`: random queries against the oracle;
- `typed`: columns of every Arrow type with values at their limits; every evaluator, frame, layout, cut and saved state;
- `text`: query texts that are meant to hurt; planned or refused within seconds of CPU time;
- `times`: times of all units at the limits of 64 bits, against arithmetic on Python's integers;
- `state`: saved states that somebody made who means harm; refused or harmless.

Streams are cut for which the definition takes longer than `agreement.PATIENCE`; a line says so. Cases run in a process
of their own. A finding is a difference, any exception but a CepheidError, a crash, or a case that takes more than
`LIMIT` seconds of CPU time; each is printed with its seed and kind, and `fuzz.py 1 SEED KIND` repeats it. The last
lines say how many cases of each kind ran. Ends with 1 where anything was found.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from support import crafted_states
from support.agreement import differences, is_declined
from support.compared_queries import seeded_compared, seeded_mixed
from support.generators import UNARY, Case, Limits, seeded, seeded_sremo
from support.hostile_texts import findings
from support.set_queries import seeded_gathered
from support.times_at_limits import difference_in_times
from support.typed_streams import described, seeded_typed, typed_differences
from support.varied_patterns import STRATEGIES, WINDOWS, seeded_varied
from support.whole_set_queries import seeded_whole

LIMIT = 120  # seconds of CPU time of a case: some compile kernels
ASLEEP = 1200  # seconds of a case that does nothing at all
MOST = 20  # findings, after which it ends

Kind = Callable[[int], str | None]


def of_queries(make: Callable[[int], Case], evaluator: str) -> Kind:
    """Queries against the oracle: what differs, or None."""

    def run(seed: int) -> str | None:
        choice = random.Random(seed)
        case = make(seed)
        if is_declined(case, evaluator):
            return None
        cuts = [choice.randint(0, len(case.table)) for _ in range(choice.randint(0, 3))]
        difference = differences(case, cuts, evaluator, saved=choice.randrange(10) == 0)
        return None if difference is None else f"{evaluator}, cuts {cuts}: {difference}\n{case!r}"

    return run


def unary(seed: int) -> Case:
    return seeded(seed, UNARY)


def of_parts(seed: int) -> Case:
    """Windows of parts and steps, and strategies inside the formula."""
    choice = random.Random(seed)
    events, atoms = choice.choice((6, 9, 12)), choice.choice((2, 3, 4))
    limits = Limits(events=events, atoms=atoms, sets=seed % 3 == 0, nary=seed % 4 == 0)
    return seeded_varied(seed, limits, (WINDOWS, STRATEGIES))


def of_types(seed: int) -> str | None:
    case = seeded_typed(seed)
    difference = typed_differences(case, random.Random(seed))
    return None if difference is None else f"{difference}\n{described(case)}"


def of_texts(seed: int) -> str | None:
    return next(findings(range(seed, seed + 1)), None)


def of_states(seed: int) -> str | None:
    crafted_states.outcome(*crafted_states.crafted(seed))
    return None


KINDS: dict[str, Kind] = {
    "unary": of_queries(unary, "compact"),
    "compared": of_queries(seeded_compared, "configurations"),
    "mixed": of_queries(seeded_mixed, "configurations"),
    "gathered": of_queries(seeded_gathered, "configurations"),
    "whole sets": of_queries(seeded_whole, "configurations"),
    "parts": of_queries(of_parts, "auto"),
    "sremo": of_queries(seeded_sremo, "configurations"),
    "unary-configurations": of_queries(unary, "configurations"),
    "typed": of_types,
    "text": of_texts,
    "times": difference_in_times,
    "state": of_states,
}


def run(seconds: float, first: int, kinds: list[str], progress: Path) -> Counter[str]:
    """Cases from a seed on in this process; `progress` says which one is running."""
    done: Counter[str] = Counter()
    end = time.monotonic() + seconds
    for seed in count(first):
        kind = kinds[random.Random(seed).randrange(len(kinds))]
        progress.write_text(json.dumps([seed, kind, done]), encoding="utf-8")
        try:
            finding = KINDS[kind](seed)
        except Exception:
            finding = traceback.format_exc()
        done[kind] += 1
        if finding is not None:
            done["findings"] += 1
            print(f"seed {seed} {kind}: {finding}", flush=True)  # noqa: T201
        if time.monotonic() > end or done["findings"] >= MOST:
            break
    return done


def watched(seconds: float, first: int, kinds: list[str]) -> Counter[str]:
    """The same in processes of their own: one that ends badly or is stuck is a finding, and the next seed goes on."""
    done: Counter[str] = Counter()
    end = time.monotonic() + seconds
    while time.monotonic() < end and done["findings"] < MOST:
        with tempfile.TemporaryDirectory() as folder:
            progress = Path(folder) / "progress"
            left = str(end - time.monotonic())
            child = subprocess.Popen(
                [sys.executable, __file__, left, str(first), *kinds],
                env={**os.environ, "CEPHEID_FUZZ_PROGRESS": str(progress)},
            )
            code = _watch(child, progress)
            begun = (
                progress.read_text(encoding="utf-8") if progress.exists() else json.dumps([first, "none", {}])
            )
            seed, kind, counted = json.loads(begun)
            done.update(counted)
            first = seed + 1
            if code != 0:
                done[kind] += 1
                done["findings"] += 1
                print(f"seed {seed} {kind}: the process ended with {code}", flush=True)  # noqa: T201
    return done


def _watch(child: subprocess.Popen[bytes], progress: Path) -> int | str:
    """Waits for a process; one whose case takes too long is ended."""
    running, since, used = b"", time.monotonic(), 0.0
    while True:
        try:
            return child.wait(1)
        except subprocess.TimeoutExpired:
            now = progress.read_bytes() if progress.exists() else b""
            if now != running:
                running, since, used = now, time.monotonic(), _cpu_seconds(child.pid)
            elif _cpu_seconds(child.pid) > used + LIMIT or time.monotonic() > since + ASLEEP:
                child.kill()
                child.wait()
                return f"nothing after {LIMIT} seconds of CPU time"


def _cpu_seconds(process: int) -> float:
    """What a process has used so far; where the system does not tell, the time of day."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    seconds = float(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 1_000_000_000
    kinds = sys.argv[3:] or list(KINDS)
    if progress := os.environ.get("CEPHEID_FUZZ_PROGRESS"):
        done = run(seconds, first, kinds, Path(progress))
        last = first + sum(done.values()) - done["findings"] - 1
        Path(progress).write_text(json.dumps([last, "", done]), encoding="utf-8")
        return 0
    done = watched(seconds, first, kinds)
    findings = done.pop("findings", 0)
    for kind, number in sorted(done.items()):
        print(f"{number:8,} {kind}")  # noqa: T201
    print(f"{done.total():8,} cases from seed {first}, {findings} findings")  # noqa: T201
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
