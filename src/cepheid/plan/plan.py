"""A plan: everything an evaluator needs to run a query, and why that evaluator runs it."""

from __future__ import annotations

from dataclasses import dataclass

from cepheid.algebra.nodes import Query
from cepheid.algebra.variables import Shown
from cepheid.automata.cea import CEA
from cepheid.automata.chain import ChainCEA
from cepheid.automata.srt import SRT
from cepheid.schema import Schema


@dataclass(frozen=True, slots=True)
class Plan:
    """`query` is what the user meant, `rewritten` the same matches in normal form.

    `reads` are the columns that conditions, type, time, order and partition need; matches that show variables
    need every column. `text` in `language` is what the query was written as, `asked` the evaluator that was
    asked for: with both, the same plan is made again. `automaton` is there where every condition is unary,
    `chain` where the chain evaluator runs the query, `transducer` where `configurations` does.
    """

    query: Query
    rewritten: Query
    schema: Schema
    evaluator: str
    why: tuple[str, ...]
    shown: tuple[Shown, ...]
    reads: tuple[str, ...]
    automaton: CEA | None
    chain: ChainCEA | None = None
    transducer: SRT | None = None
    asked: str = "auto"
    text: str = ""
    language: str = "cel"
