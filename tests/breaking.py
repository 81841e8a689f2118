"""One deliberate break of the engine: what `breaks.py` lists and `mutants.py` applies."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Break:
    """In `function` of `src/cepheid/{file}`, `old` becomes `new`, and `what` is no longer true."""

    file: str
    function: str
    old: str
    new: str
    what: str
    noticed_by: tuple[str, ...]
    spark: bool = False
