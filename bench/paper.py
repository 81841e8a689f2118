"""The figures of `cel-cea`, section 8: its own system and the two it is compared with, in Java, on a server of 1.7 GHz.

Figures 4 and 5 are charts without numbers; from them only what the text says is here.
"""

from __future__ import annotations

STRESS_2000 = {("Q1", 2_000): "–, < 0.2 s", ("Q2", 2_000): "< 10 ms, 5.2 s"}  # update, enumeration
STRESS_TEXT = (
    "The paper's text (its figure 4 is a chart): Q2 at 2,000 events takes CEL < 0.01 s, SASE 678.3 s; EsperTech needs "
    "over an hour at 1,000. Memory before the last event: CEL 5 MB, SASE 1 GB, EsperTech > 10 GB. CEL enumerates 20 M "
    "matches of Q2 in 5.2 s, SASE in < 1 s; those of Q1 take < 0.2 s."
)

# Table 2, one million events; seconds. `None`: the language cannot say it. An hour is where runs were stopped.
CONSUMPTION: dict[str, dict[str, float | None]] = {
    "outputs": {"Q1": 5, "Q2": 14, "Q3": 4, "Q4": 19, "Q5": 516, "Q6": 2064},
    "CEL": {"Q1": 0.27, "Q2": 0.28, "Q3": 0.27, "Q4": 0.21, "Q5": 0.26, "Q6": 0.24},
    "EsperTech": {"Q1": 1.84, "Q2": 3.91, "Q3": 2.21, "Q4": 166.09, "Q5": 3600, "Q6": 3600},
    "SASE": {"Q1": 0.88, "Q2": 1.48, "Q3": None, "Q4": 4.08, "Q5": 177.02, "Q6": None},
}

STRATEGIES_TEXT = (
    "The paper's figure 5 is a chart without numbers; its text: MAX runs faster than NXT, and CEL with LAST and MAX "
    "outperforms SASE (skip-till-next-match) and EsperTech (its default) on S1 and S2."
)
