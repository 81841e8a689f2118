"""Random sequences in SREMO that are counted by vectors of starts (`kernels.loops.vectors`), and long streams for them.

They are drawn so that events are often wanted by several parts, and so that parts remember events, compare with the
last one remembered or look for an equal one: what comes back to vectors on the way, in whatever order.
"""

from __future__ import annotations

import random

import pyarrow as pa


def part(draw: random.Random, register: int | None) -> str:
    """One event's condition: its type, and how it compares with the register."""
    tests = [f"type = '{draw.choice('AABBCD')}'"] if draw.random() < 0.9 else ["true"]
    if register is not None and draw.random() < 0.6:
        tests.append(
            draw.choice(
                [
                    f"v > r{register}.v",
                    f"v <= r{register}.v",
                    f"n <> r{register}.n",
                    f"v <> r{register}.v",
                    f"id = r{register}.id",
                    f"id = r{register}.id AND v > r{register}.v",
                    f"v + 1 > r{register}.v * 2",
                    f"n < r{register}.n OR v = r{register}.v",
                ]
            )
        )
    return f"[{' AND '.join(tests)}]"


def pattern(draw: random.Random) -> str:
    parts: list[str] = []
    register: int | None = None
    for number in range(draw.randint(2, 6)):
        one = part(draw, register)
        if draw.random() < 0.15:
            register, before = number, register
            parts.append(
                draw.choice(
                    [
                        f"({one} . {part(draw, before)} > r{number})",
                        f"@({one} > r{number}, {part(draw, number)})",
                    ]
                )
            )
        elif draw.random() < 0.4 and number > 0:
            inner = f"{one}, {part(draw, register)}+" if draw.random() < 0.3 else one
            parts.append(f"#({inner})+" if inner != one else f"{one}+")
        elif draw.random() < 0.5:
            register = number
            parts.append(f"{one} > r{register}")
        elif draw.random() < 0.2:
            parts.append(f"({one} | {part(draw, register)})")
        else:
            parts.append(one)
    return f"#({', '.join(parts)})"


def drawn(seed: int) -> tuple[str, pa.Table]:
    draw = random.Random(seed)
    events = draw.choice([30, 80, 300, 300])
    window = f"{draw.choice([5, 20, 60, 200])}{draw.choice(['', ' EVENTS'])}"
    clauses = draw.choice(["", "", "", " PARTITION BY k", " CONSUME"])
    columns = {
        "ts": sorted(draw.randrange(events) for _ in range(events)),
        "type": [draw.choice("AABBCD") for _ in range(events)],
        "id": [draw.randrange(4) for _ in range(events)],
        "n": [draw.choice([0, 1, 2, 3, None]) for _ in range(events)],
        "v": [draw.choice([0.0, 0.5, 1.0, 2.0, float("nan"), None]) for _ in range(events)],
        "k": [draw.randrange(3) for _ in range(events)],
    }
    return f"{pattern(draw)} WITHIN {window}{clauses}", pa.table(columns)
