"""The patterns with registers measured: those of `srt` (sections 5.3 to 5.7), as SREMO text and as steps to count by.

Names, types and thresholds are those of the paper's published benchmark, with one exception: there the third part of a
sequence asks for ORCL dearer than YHOO, which it never was that day; here for ORCL cheaper, so that there are matches.

`steps` and `follows` are for `register_counts.py`, which must not use the engine's automata. Step 0 is the beginning;
`follows[i]` are the steps that may come next after step i, the last step is the end. Every complex event has one run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Local = tuple[str, str, float]  # attribute, comparison, number


@dataclass(frozen=True)
class Step:
    """One event. `type` None: of either type. `than`: how its price compares with the one remembered. At most one price
    is remembered at a time: a step with `stores` remembers its own, one with `than` is the last to need it."""

    name: str
    type: str | None
    local: tuple[Local, ...] = ()
    stores: bool = False
    than: str | None = None

    def text(self, register: str) -> str:
        """
        >>> Step("QQQ", "BUY", than=">").text("r1")
        "[type = 'BUY' AND name = 'QQQ' AND price > r1.price]"
        """
        types = f"type = '{self.type}'" if self.type else "(type = 'BUY' OR type = 'SELL')"
        tests = [types, f"name = '{self.name}'", *(f"{a} {is_} {number:g}" for a, is_, number in self.local)]
        if self.than:
            tests.append(f"price {self.than} {register}.price")
        return f"[{' AND '.join(tests)}]" + (f" > {register}" if self.stores else "")


@dataclass(frozen=True)
class Pattern:
    text: str
    steps: tuple[Step, ...]
    follows: Mapping[int, tuple[int, ...]]

    def query(self, within: int) -> str:
        return f"{self.text} WITHIN {within}"


THREES = (
    ("INTC", "RIMM", "QQQ", ">"),
    ("IPIX", "AMAT", "CSCO", ">"),
    ("YHOO", "DELL", "ORCL", "<"),
    ("MSFT", "INTC", "RIMM", ">"),
)
FOURS = (("INTC", "RIMM", "QQQ", "MSFT"), ("IPIX", "AMAT", "CSCO", "ORCL")) * 2


def sequence(length: int) -> Pattern:
    """`seq_3`, `seq_6`, …: of every three steps the last is compared with the first."""
    return _threes(length, "")


def kleene(length: int) -> Pattern:
    """`k_3`, `k_6`, …: the same, and the middle one of every three is repeated."""
    return _threes(length, "+")


def _threes(length: int, again: str) -> Pattern:
    steps: list[Step] = []
    texts: list[str] = []
    for part, (first, middle, last, than) in enumerate(THREES[: length // 3], start=1):
        three = Step(first, "SELL", stores=True), Step(middle, "BUY"), Step(last, "BUY", than=than)
        steps += three
        texts += [step.text(f"r{part}") + (again if step is three[1] else "") for step in three]
    follows: dict[int, tuple[int, ...]] = {i: (i + 1,) for i in range(length)}
    if again:
        follows |= {i: (i, i + 1) for i in range(2, length, 3)}
    return Pattern(f"#({', '.join(texts)})", tuple(steps), follows)


def nested(length: int) -> Pattern:
    """`kn_4`, `kn_8`, …: `A > r, (B+, C)+, D`, D compared with A."""
    steps: list[Step] = []
    texts: list[str] = []
    follows: dict[int, tuple[int, ...]] = {}
    for part, (first, inner, outer, last) in enumerate(FOURS[: length // 4], start=1):
        four = (
            Step(first, "SELL", stores=True),
            Step(inner, "BUY"),
            Step(outer, "BUY"),
            Step(last, "SELL", than="<"),
        )
        a, b, c, d = (step.text(f"r{part}") for step in four)
        at = len(steps)
        follows |= {at: (at + 1,), at + 1: (at + 2,), at + 2: (at + 2, at + 3), at + 3: (at + 2, at + 4)}
        steps += four
        texts += [a, f"#({b}+, {c})+", d]
    return Pattern(f"#({', '.join(texts)})", tuple(steps), follows)


def _four(middle_type: str | None, thresholds: bool) -> Pattern:
    """`q1` to `q4`."""

    def above(than: str, price: float) -> tuple[Local, ...]:
        return (("price", than, price),) if thresholds else ()

    steps = (
        Step("MSFT", "SELL", above(">", 26.0), stores=True),
        Step("ORCL", middle_type, above(">", 11.14)),
        Step("CSCO", middle_type),
        Step("AMAT", "SELL", above(">=", 18.92), than="<"),
    )
    return Pattern(
        f"#({', '.join(step.text('r1') for step in steps)})", steps, {i: (i + 1,) for i in range(4)}
    )


def _iterated() -> Pattern:
    """`q5`."""
    steps = (
        Step("MSFT", "SELL", stores=True),
        Step("QQQ", None, (("volume", "=", 4000),)),
        Step("AMAT", "SELL", than="<"),
    )
    a, b, c = (step.text("r1") for step in steps)
    return Pattern(f"#({a}, {b}+, {c})", steps, {0: (1,), 1: (2,), 2: (2, 3)})


FAMILIES = {"sequence": sequence, "kleene": kleene, "nested": nested}
OPERATORS = {
    "q1": _four("BUY", thresholds=False),
    "q2": _four("BUY", thresholds=True),
    "q3": _four(None, thresholds=False),
    "q4": _four(None, thresholds=True),
    "q5": _iterated(),
}
