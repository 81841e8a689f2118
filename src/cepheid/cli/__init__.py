"""The same stages from a shell: `cepheid run`, `explain`, `check` and `demo`."""

from __future__ import annotations

import sys

from cepheid.errors import CepheidError
from cepheid.extras import require


def main() -> None:
    """The program `cepheid`; where the packages of its extra are missing it says how to install them."""
    try:
        require("cli", "the command `cepheid`")
    except CepheidError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)
    from cepheid.cli.app import main as run

    run()
