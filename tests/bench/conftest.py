"""Puts the project's folder on the import path, so that tests may `import bench`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
