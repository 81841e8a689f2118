"""The cases of other engines' suites, which lie beside the project: streams, queries, and the matches that they expect.

`python tests/suites.py [EVALUATOR…]` runs them all, on `auto` or on these evaluators (`all`). The data, and the script
that knows what they mean, are in `../shared/suites`, or in the folder `suites` of what CEPHEID_SHARED names.
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

SHARED = Path(os.environ.get("CEPHEID_SHARED", Path(__file__).parents[2] / "shared"))
FOLDER = SHARED / "suites"
SCRIPT = FOLDER / "check.py"


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


def results(suites: list[Path], evaluators: str = "auto") -> list[dict[str, Any]]:
    """What the script says of every case of these suites: its `id`, its `verdict`, and how each query went."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "results.json"
        arguments = [str(SCRIPT), "--evaluators", evaluators, "--out", str(out), *map(str, suites)]
        with mock.patch.object(sys, "argv", arguments), contextlib.suppress(SystemExit):
            _script().main()
        found: list[dict[str, Any]] = json.loads(out.read_text(encoding="utf-8"))
        return found


def failed(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [case for case in found if case["verdict"] == "FAILED"]


if __name__ == "__main__":
    sys.exit(1 if failed(results(files(), ",".join(sys.argv[1:]) or "auto")) else 0)
