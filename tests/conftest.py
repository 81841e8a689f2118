"""Puts this folder on the import path, so that any test may import from `support` and `programs`.

`--hypothesis-profile=found` stops at the first case that fails without making it smaller: enough to know that it does.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from hypothesis import Phase, settings

sys.path.insert(0, str(Path(__file__).parent))
# Spark's drivers, here and in processes that tests start: all of them end before better code pays.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
settings.register_profile("cepheid", deadline=None)  # the first example may have to compile a kernel
settings.load_profile("cepheid")
settings.register_profile(
    "found", parent=settings.get_profile("cepheid"), phases=(Phase.explicit, Phase.generate), database=None
)


def pytest_configure(config: pytest.Config) -> None:
    """Warnings are errors, but for those that Spark itself causes."""
    ignored = ["PySpark does not yet fully support pandas:FutureWarning"]  # it takes pandas 3
    if version("pyspark").startswith("4.1."):
        ignored.append("unclosed <socket:ResourceWarning")  # those that results came by
    for warning in ignored:
        config.addinivalue_line("filterwarnings", f"ignore:{warning}")


NO_KERNELS = ("algebra", "automata", "languages", "semantics", "structure")
MANY_KERNELS = "test_examples.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`make test` runs the tests on Spark beside the others, and what one of the two has compiled the other need not.
    So of the first come those that compile most kernels, and of the others those that need none; last come those with a
    driver of their own, which wait more than they work."""
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    if item.get_closest_marker("own_driver"):
        return 2
    if item.get_closest_marker("spark"):
        return 0 if item.path.name == MANY_KERNELS else 1
    return 0 if item.path.parent.name in NO_KERNELS and item.path.parents[1].name == "tests" else 1
