"""Puts this folder on the import path, so that any test may `import generators` and `import figure`.

`--hypothesis-profile=found` stops at the first case that fails without making it smaller: enough to know that it does.
"""

from __future__ import annotations

import sys
from pathlib import Path

from hypothesis import Phase, settings

sys.path.insert(0, str(Path(__file__).parent))
settings.register_profile("found", phases=(Phase.explicit, Phase.generate), database=None)
