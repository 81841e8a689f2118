"""The README's example runs and says what it says; its links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_runs_and_finds_two_fires() -> None:
    example = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert example is not None
    ends = 'print(cepheid.match(farm, fires, time="ts")["start"].to_pylist())'
    done = subprocess.run(
        [sys.executable, "-c", f"{example[1]}\n{ends}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert lines[0] == "2"
    assert sorted(re.findall(r"\d+", lines[-1])) == ["1", "3"]


def test_links_lead_to_files() -> None:
    missing = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if not (ROOT / link).exists()]
    assert missing == []


def test_it_fits_a_screen() -> None:
    assert len(README.splitlines()) <= 70
