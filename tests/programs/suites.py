"""The cases of other engines' suites, which lie beside the project: streams, queries, and the matches that they expect.

`python tests/programs/suites.py [EVALUATOR…]` runs them all, on `auto` or on these evaluators (`all`). The data, and
the script that knows what they mean, are in `../shared/suites`, or in the folder `suites` of what CEPHEID_SHARED names.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

SHARED = Path(os.environ.get("CEPHEID_SHARED", Path(__file__).parents[3] / "shared"))
FOLDER = SHARED / "suites"
SCRIPT = FOLDER / "check.py"
SLOW = frozenset(
    [
        *("core-recorded/taxis/q3_none", "core-recorded/taxis/q4_none", "core-recorded/taxis/q5_none"),
        *("core-recorded/taxis/q5_any", "core-recorded/taxis/q1_none", "core-recorded/smart_homes/q1_none"),
        *("opencep/nestedAscending/all", "opencep/MultipleNotBegin", "opencep/MultipleNotBeginningShare#1"),
        *("opencep/OneNotBegin", "opencep/msftDrivRace/all"),
    ]
)
"""Cases that take more than a second each, and all others together as long as these."""


def files() -> list[Path]:
    return sorted(FOLDER.glob("*.json.gz"))


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("suites_check", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with mock.patch.object(sys, "dont_write_bytecode", True):
        spec.loader.exec_module(module)
    return module


def results(
    suites: list[Path], evaluators: str = "auto", without: frozenset[str] = frozenset()
) -> list[dict[str, Any]]:
    """What the script says of every case of these suites: its `id`, its `verdict`, and how each query went. Cases whose
    ids are in `without` are left out."""
    read = json.load

    def read_without(file: Any) -> Any:
        suite = read(file)
        if isinstance(suite, dict) and "cases" in suite:
            suite["cases"] = [case for case in suite["cases"] if case["id"] not in without]
        return suite

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "results.json"
        arguments = [str(SCRIPT), "--evaluators", evaluators, "--out", str(out), *map(str, suites)]
        with mock.patch.object(sys, "argv", arguments), contextlib.suppress(SystemExit):
            script = _script()
            with mock.patch.object(script.json, "load", read_without):
                script.main()
        found: list[dict[str, Any]] = json.loads(out.read_text(encoding="utf-8"))
        return found


def failed(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [case for case in found if case["verdict"] == "FAILED"]


if __name__ == "__main__":
    sys.exit(1 if failed(results(files(), ",".join(sys.argv[1:]) or "auto")) else 0)
