"""The packages of each extra of `pyproject.toml`, and the error when one is missing.

`pip install cepheid` installs the packages for matching in process. Modules that need more call `require` before their
imports, so that the user reads what to install and not the name of a module.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

from cepheid.errors import CepheidError

# The distributions of each extra, with the module that each one brings.
EXTRAS: dict[str, dict[str, str]] = {
    "cli": {"typer": "typer", "rich": "rich"},
    "spark": {"pyspark": "pyspark", "pandas": "pandas", "protobuf": "google.protobuf"},
}


def require(extra: str, what: str) -> None:
    """Raises `CepheidError` unless all packages of the extra are installed; `what` names the feature that needs them.

    >>> require("spark", "matching on Spark")
    """
    lacking = [name for name, module in EXTRAS[extra].items() if not _installed(module)]
    if lacking:
        message = f"{what} needs the `{extra}` extra; not installed: {', '.join(lacking)}"
        raise CepheidError("not-installed", message, hint=f"pip install 'cepheid[{extra}]'")


def _installed(module: str) -> bool:
    if sys.modules.get(module) is not None:
        return True
    try:
        return find_spec(module) is not None
    except ImportError:  # the package that it lies in is missing
        return False
