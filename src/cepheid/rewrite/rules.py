"""The rewriting rules and their order: algebra → algebra with the same matches (`cel-cea`, section 5).

In: a query as lowered. Out: a `Rewriting`: the query in normal form and every step on the way, for
`explain`. Invariant: on every stream the set of (complex event, binding) stays the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from cepheid.algebra.limits import guarded, not_too_deep
from cepheid.algebra.nodes import Pattern, Query
from cepheid.rewrite.absence import reads_what_is_absent, with_own_conditions
from cepheid.rewrite.parametrise import parametrise
from cepheid.rewrite.partition import partition
from cepheid.rewrite.push import push
from cepheid.rewrite.safe import make_safe
from cepheid.rewrite.sets import decide_sets
from cepheid.rewrite.simplify import simplify_whole
from cepheid.rewrite.single import drop_single
from cepheid.rewrite.split import split
from cepheid.rewrite.window import lift_window


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    apply: Callable[[Query], Query]


def _in_pattern(name: str, change: Callable[[Pattern], Pattern]) -> Rule:
    return Rule(name, lambda query: replace(query, pattern=guarded(change(query.pattern), name)))


@dataclass(frozen=True, slots=True)
class Step:
    """A rule that changed something and the query after it."""

    rule: str
    after: Query


@dataclass(frozen=True, slots=True)
class Rewriting:
    query: Query
    steps: tuple[Step, ...]


RULES: tuple[Rule, ...] = (
    # What the other rules see of a NOT is a part like any other: its conditions are inside.
    _in_pattern("absence", with_own_conditions),
    _in_pattern("simplify", simplify_whole),
    _in_pattern("split", split),
    _in_pattern("safe", make_safe),
    # The local rule comes first: `parametrise` would double the pattern for each filter that `push` can move.
    _in_pattern("push", push),
    _in_pattern("parametrise", parametrise),
    _in_pattern("sets", decide_sets),
    _in_pattern("simplify", simplify_whole),
    _in_pattern("single", drop_single),
    Rule("window", lift_window),
    Rule("partition", partition),
)


def rewrite(query: Query, without: tuple[str, ...] = ()) -> Rewriting:
    """The query in normal form and the steps that led there; the rules in `without` are left out.

    >>> from cepheid.algebra.conditions import Attribute
    >>> from cepheid.algebra.nodes import Atom, Filter
    >>> done = rewrite(Query(Filter(Atom("T", "x"), Attribute("x", "alarm"))))
    >>> [step.rule for step in done.steps], done.query.pattern.condition
    (['push'], Attribute(var=None, name='alarm', each=False))
    """
    steps: list[Step] = []
    for rule in (rule for rule in RULES if rule.name not in without):
        with not_too_deep():
            after = rule.apply(query)
            changed = after != query
        if changed:
            query = after
            steps.append(Step(rule.name, query))
        if reads_what_is_absent(query.pattern):
            break
    return Rewriting(query, tuple(steps))
