"""Every stage of a query, printed: what `explain` shows, in the order of the road.

In: a plan, or a choice where there is no data. Out: text. Nothing is computed here: the plan that is printed is the one
that runs.
"""

from __future__ import annotations

from math import inf

import pyarrow as pa

from cepheid.algebra.conditions import sets_chosen, with_names
from cepheid.algebra.nfab_printing import nfab_dot, print_edges
from cepheid.algebra.nodes import Computed, Nfab, Query
from cepheid.algebra.printing import (
    print_condition,
    print_name,
    print_pattern,
    print_query,
    print_tree,
    print_window,
)
from cepheid.algebra.reach import FOR_EVER, looks_everywhere, waits
from cepheid.algebra.types import type_of_value
from cepheid.algebra.unmarked_prefix import lead
from cepheid.algebra.variables import Shown, output_columns
from cepheid.algebra.windows import Window
from cepheid.automata.attach import Attached
from cepheid.automata.attach_names import automaton_with, pattern_with, readable_names
from cepheid.automata.automaton import Automaton, Guard
from cepheid.automata.printing import automaton_dot, print_automaton, print_guard
from cepheid.automata.rivals import RivalCheck
from cepheid.automata.strategy_parts import StrategyPart, parts_in_order
from cepheid.errors import CepheidError
from cepheid.languages.parsed import ParsedTree
from cepheid.plan.plan import Choice, Plan


def explain_choice(tree: ParsedTree, choice: Choice) -> str:
    """The stages that need no data: tree, algebra, rewriting, automaton."""
    return _joined(_stages(tree, choice))


def explain_plan(tree: ParsedTree, plan: Plan, spark: str | None = None) -> str:
    """All stages; `spark` says how Spark carries the rows, where it does."""
    sections = _stages(tree, plan)
    if plan.for_counting is not None and _automaton(plan.for_counting) != _automaton(plan):
        sections.append(("automaton for counting", _automaton(plan.for_counting)))
    sections.append(("plan", _plan(plan)))
    if spark is not None:
        sections.append(("spark", spark))
    return _joined(sections)


def draw(choice: Choice) -> str:
    """The automaton that runs as Graphviz text."""
    if isinstance(choice.rewritten.pattern, Nfab):
        return nfab_dot(choice.rewritten.pattern, choice.rewritten.window)
    if choice.automaton is None:
        raise CepheidError("not-yet", f"there is no automaton yet: {_why_none(choice)}")
    return automaton_dot(_readable(choice.automaton, choice.attached))


def _stages(tree: ParsedTree, choice: Choice) -> list[tuple[str, str]]:
    query = choice.query
    steps = [f"{step.rule}:\n  {_after(step.after, query)}" for step in choice.rewriting.steps]
    sections = [
        ("query", print_query(query)),
        ("syntax tree", str(tree)),
        ("algebra", print_tree(query.pattern)),
        ("rewriting", "\n".join(steps) or "none: the query runs as written"),
    ]
    if choice.attached is not None:
        sections.append(("attached", _attached(choice.attached)))
    if choice.automaton is not None:
        sections += [(f"automaton of {part.name}", _part(part)) for part in parts_in_order(choice.automaton)]
    return [*sections, ("automaton", _automaton(choice))]


def _after(query: Query, before: Query) -> str:
    columns = [print_name(name) for name in query.partition_by if name not in before.partition_by]
    return print_pattern(query.pattern) + (f" PARTITION BY {', '.join(columns)}" if columns else "")


def _attached(attached: Attached) -> str:
    """The pattern with each filter on the last event that it reads, and the filters that are left for whole matches."""
    names = _names(attached)
    checks = [
        f"checked on whole matches: {check.absence}"
        if isinstance(check, RivalCheck)
        else f"checked on whole matches: FILTER {print_condition(with_names(check.condition, names))}"
        for check in attached.checks
    ]
    return "\n".join([print_pattern(pattern_with(attached.pattern, names)), *checks])


def _part(part: StrategyPart) -> str:
    """The automaton of a strategy's part, and what its deterministic form tells apart."""
    classes: dict[int, list[str]] = {}
    for satisfied, letter in part.letters.items():
        guards = (
            print_guard(Guard(frozenset([part.automaton.predicates[number]]))) for number in sorted(satisfied)
        )
        classes.setdefault(letter, []).append(" and ".join(guards) or "any other event")
    written = [f"class {letter}: {', or '.join(texts)}" for letter, texts in sorted(classes.items())]
    size = f"determinised: states: {len(part.skips)}, classes of events: {len(classes)}"
    return "\n".join([print_automaton(part.automaton), size, *written])


def _automaton(choice: Choice) -> str:
    if isinstance(choice.rewritten.pattern, Nfab):
        return print_edges(choice.rewritten.pattern, choice.rewritten.window)
    if choice.automaton is None:
        return f"none: {_why_none(choice)}"
    return print_automaton(_readable(choice.automaton, choice.attached))


def _readable(automaton: Automaton, attached: Attached | None) -> Automaton:
    return automaton if attached is None else automaton_with(automaton, _names(attached))


def _names(attached: Attached) -> dict[str, str]:
    return readable_names(attached.pattern, attached.behind.values())


def _why_none(choice: Choice) -> str:
    """Why the last of the evaluators with an automaton declined."""
    return choice.declined[-1].reason if choice.declined else choice.why[0]


def _plan(plan: Plan) -> str:
    query = plan.query
    lines = [f"evaluator: {plan.evaluator}", *(f"  because {reason}" for reason in plan.why)]
    lines.extend(f"  not {declined.evaluator}: {declined.reason}" for declined in plan.declined)
    if plan.for_counting is not None:
        lines.append(f"to count: {plan.for_counting.evaluator}, because {plan.for_counting.why[0]}")
    lines.append("reads: " + ", ".join(plan.reads))
    lines.append("shows: " + (", ".join(_shown(item, plan) for item in output_columns(query)) or "nothing"))
    if query.distinct:
        lines.append(
            "DISTINCT: of the matches that end at one event and show the same, the one that begins first"
        )
    if query.partition_by:
        lines.append(f"partitions: by {', '.join(query.partition_by)}; each key is a stream of its own")
    else:
        lines.append("partitions: none; the whole stream is one ordered sequence")
    inner = [name for name in plan.rewritten.partition_by if name not in query.partition_by]
    if inner:
        asked = "equality" if isinstance(query.pattern, Nfab) else "PART-BY"
        lines.append(f"{asked}: runs as partitions by {', '.join(inner)}, with the same matches")
    if plan.automaton is not None and plan.automaton.derived:
        columns = ", ".join(print_name(column.name) for column in plan.automaton.derived)
        lines.append(f"derived: {columns}; made from the stream before matching")
    lines.extend(f"waits: {_until(window)}" for window in waits(plan.rewritten))
    lines.extend(_times(plan))
    lines.append(f"memory: {_memory(plan)}")
    return "\n".join(lines)


def _until(window: Window) -> str:
    """When it is known that nothing came after a match that a NOT forbids."""
    if window == FOR_EVER:
        return "a match is known at the end of the stream, as a NOT looks at all that comes after it"
    return (
        f"a match is known when {print_window(window)} from its last event are over, as a NOT looks beyond it"
    )


def _times(plan: Plan) -> list[str]:
    """The zones in which conditions read instants, where some are read."""
    zones: dict[str, list[str]] = {}
    for name in plan.reads:
        dtype = plan.schema.arrow.field(name).type
        if pa.types.is_timestamp(dtype) and dtype.tz is not None:
            zones.setdefault(dtype.tz, []).append(name)
    return [f"zone: {zone} for {', '.join(names)}" for zone, names in zones.items()]


def _memory(plan: Plan) -> str:
    query = plan.rewritten
    if lead(query.pattern) == inf and not query.consume:
        return "may grow with the stream: any number of events may be read before the first that is marked"
    if looks_everywhere(query.pattern):
        if plan.automaton is None:
            return (
                "may grow with the stream: a strategy inside the formula compares whatever the stream has had"
            )
        return (
            f"{_bounded(query)}; and of every partition that there ever was a number for each strategy inside"
        )
    return _bounded(query)


def _bounded(query: Query) -> str:
    if query.window is not None:
        return f"the events inside WITHIN {print_window(query.window)}, however long the stream"
    if query.consume:
        return "the events since the last match"
    return "may grow with the stream: without WITHIN a match can begin at any time in the past"


def _shown(item: Shown | Computed, plan: Plan) -> str:
    if isinstance(item, Computed):
        one, many = str(type_of_value(item.value, plan.schema)), bool(sets_chosen(item.value))
    else:
        one, many = "events" if item.many else "event", item.many
    return f"{item.name} ({'array of ' if many else ''}{one})"


def _joined(sections: list[tuple[str, str]]) -> str:
    return "\n\n".join(f"── {title} ──\n{text}" for title, text in sections) + "\n"
