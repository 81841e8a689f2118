"""Every stage of a query, printed: what `explain` shows, in the order of the road."""

from __future__ import annotations

from math import inf
from typing import assert_never

import pyarrow as pa

from cepheid.algebra.leads import lead
from cepheid.algebra.nodes import Query
from cepheid.algebra.printing import print_name, print_pattern, print_query, print_tree, print_window
from cepheid.automata.cea import CEA
from cepheid.automata.chain import ChainCEA
from cepheid.automata.printing import automaton_dot, chain_dot, print_automaton, print_chain
from cepheid.automata.srt import SRT
from cepheid.automata.srt_printing import print_srt, srt_dot
from cepheid.errors import CepheidError
from cepheid.languages.parsed import ParsedTree
from cepheid.plan.chain import chain_of
from cepheid.plan.choose import automaton_of
from cepheid.plan.plan import Plan
from cepheid.plan.transducer import transducer_of
from cepheid.rewrite.rules import Rewriting, rewrite


def explain_query(tree: ParsedTree, query: Query) -> str:
    """The stages that need no data: tree, algebra, rewriting, automaton."""
    rewriting = rewrite(query)
    return _joined([*_front(tree, query, rewriting), _printed(_automaton(query, rewriting.query))])


def draw_query(query: Query) -> str:
    """The automaton of a query as Graphviz text."""
    automaton = _automaton(query, rewrite(query).query)
    match automaton:
        case CEA():
            return automaton_dot(automaton)
        case ChainCEA():
            return chain_dot(automaton)
        case SRT():
            return srt_dot(automaton)
        case str():
            raise CepheidError("not-yet", f"there is no automaton yet: {automaton}")
        case _:
            assert_never(automaton)


def explain_plan(tree: ParsedTree, plan: Plan, spark: str | None = None) -> str:
    """All stages; `spark` says how Spark carries the rows, where it does."""
    sections = _front(tree, plan.query, rewrite(plan.query))
    # A plan has a transducer only where it runs it; one with a chain may also count by the automaton.
    automaton = plan.transducer or plan.automaton or plan.chain
    if automaton is not None:
        sections.append(_printed(automaton))
    sections.append(("plan", _plan(plan)))
    if spark is not None:
        sections.append(("spark", spark))
    return _joined(sections)


def _automaton(query: Query, rewritten: Query) -> CEA | ChainCEA | SRT | str:
    """What `choose` would run, or why only the definition runs the query."""
    unary = automaton_of(query, rewritten)
    if unary is not None:
        return unary
    chain = chain_of(query, rewritten)
    return chain if isinstance(chain, ChainCEA) else transducer_of(query, rewritten)


def _printed(automaton: CEA | ChainCEA | SRT | str) -> tuple[str, str]:
    match automaton:
        case CEA():
            return "automaton", print_automaton(automaton)
        case ChainCEA():
            return "chain automaton", print_chain(automaton)
        case SRT():
            return "register transducer", print_srt(automaton)
        case str():
            return "automaton", f"none yet: {automaton}"
        case _:
            assert_never(automaton)


def _front(tree: ParsedTree, query: Query, rewriting: Rewriting) -> list[tuple[str, str]]:
    steps = [f"{step.rule}:\n  {_after(step.after, query)}" for step in rewriting.steps]
    return [
        ("query", print_query(query)),
        ("syntax tree", str(tree)),
        ("algebra", print_tree(query.pattern)),
        ("rewriting", "\n".join(steps) or "nothing to do"),
    ]


def _after(query: Query, before: Query) -> str:
    columns = [print_name(name) for name in query.partition_by if name not in before.partition_by]
    return print_pattern(query.pattern) + (f" PARTITION BY {', '.join(columns)}" if columns else "")


def _plan(plan: Plan) -> str:
    query = plan.query
    lines = [f"evaluator: {plan.evaluator}", *(f"  because {reason}" for reason in plan.why)]
    lines.append("reads: " + ", ".join(plan.reads))
    lines.append(
        "shows: " + (", ".join(f"{item.name} ({_shape(item.many)})" for item in plan.shown) or "nothing")
    )
    if query.partition_by:
        lines.append(f"partitions: by {', '.join(query.partition_by)}; each key is a stream of its own")
    else:
        lines.append("partitions: none; the whole stream is one ordered sequence")
    inner = [name for name in plan.rewritten.partition_by if name not in query.partition_by]
    if inner:
        lines.append(f"PART-BY: runs as partitions by {', '.join(inner)}, which no match can tell")
    lines.extend(_times(plan))
    lines.append(f"memory: {_memory(query)}")
    return "\n".join(lines)


def _times(plan: Plan) -> list[str]:
    """The zones in which conditions read instants, where some are read."""
    zones: dict[str, list[str]] = {}
    for name in plan.reads:
        dtype = plan.schema.arrow.field(name).type
        if pa.types.is_timestamp(dtype) and dtype.tz is not None:
            zones.setdefault(dtype.tz, []).append(name)
    return [f"zone: {zone} for {', '.join(names)}" for zone, names in zones.items()]


def _memory(query: Query) -> str:
    if lead(query.pattern) == inf and not query.consume:
        return "may grow with the stream: any number of events may be read before the first that is marked"
    if query.window is not None:
        return f"the events inside WITHIN {print_window(query.window)}, however long the stream"
    if query.consume:
        return "what was seen since the last match"
    return "may grow with the stream: without WITHIN a match can begin at any time in the past"


def _shape(many: bool) -> str:
    return "array of events" if many else "event"


def _joined(sections: list[tuple[str, str]]) -> str:
    return "\n\n".join(f"── {title} ──\n{text}" for title, text in sections) + "\n"
