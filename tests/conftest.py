"""Puts this folder on the import path, so that any test may `import generators` and `import figure`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
