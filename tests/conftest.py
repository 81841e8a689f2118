"""Puts this folder on the import path, so that any test may `import generators` and `import figure`.

`--hypothesis-profile=found` stops at the first case that fails without making it smaller: enough to know that it does.
"""

from __future__ import annotations

import sys
from pathlib import Path

from hypothesis import Phase, settings

sys.path.insert(0, str(Path(__file__).parent))
settings.register_profile("cepheid", deadline=None)  # the first example may have to compile a kernel
settings.load_profile("cepheid")
settings.register_profile(
    "found", parent=settings.get_profile("cepheid"), phases=(Phase.explicit, Phase.generate), database=None
)
