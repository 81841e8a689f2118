"""A stateful operator that counts its rows: what Spark takes to hand them over, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql.streaming import StatefulProcessor


class CountRows(StatefulProcessor):  # type: ignore[misc]
    def init(self, handle: Any) -> None:
        self._counted = handle.getValueState("counted", "counted bigint")

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        known = self._counted.get()
        counted = (0 if known is None else known[0]) + sum(len(frame) for frame in rows)
        self._counted.update((counted,))
        yield pd.DataFrame({"rows": [counted]})

    def close(self) -> None:
        pass
