"""NFAᵇ → text: the query in SASE+, and the edges of the automaton with their formulas (`sase-plus`, section 3.2).

In: an `Nfab`. Out: text. What a query is printed as parses back to an equal value; the edges are for readers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import assert_never

from cepheid.algebra.conditions import (
    EVENT,
    Aggregate,
    Arithmetic,
    Attribute,
    Call,
    Case,
    Cast,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    Element,
    Expression,
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Negation,
    Previous,
    Record,
    RLike,
    mentioned,
)
from cepheid.algebra.expression_printing import print_condition, print_name, print_operand, print_window
from cepheid.algebra.nfab import Component, Equal, Form, Nfab, Selection, reference, references
from cepheid.algebra.nfab_edges import edges_of
from cepheid.algebra.windows import Window


def print_components(nfab: Nfab) -> str:
    """
    >>> print_components(Nfab((Component("A", "a"), Component("B", "b", kleene=True, negated=True))))
    'SEQ(A a, ~B+ b[])'
    """
    return f"SEQ({', '.join(map(_component, nfab.components))})"


def _component(component: Component) -> str:
    sign = "~" if component.negated else ""
    plus = "+" if component.kleene else ""
    return f"{sign}{print_name(component.type)}{plus} {_declared(component)}"


def _declared(component: Component) -> str:
    name = print_name(component.var)
    return f"{name}[]" if component.kleene else name


def print_where(nfab: Nfab) -> str:
    """The strategies and clauses of an NFAᵇ; empty where there are none.

    >>> print_where(Nfab((Component("A", "a", selection=Selection.ANY),), equal=(Equal("id"),)))
    'skip_till_any_match(a) { [id] }'
    """
    parts = [*map(_equal, nfab.equal)]
    for clause in nfab.clauses:
        text = print_operand(clause.condition)
        parts.append(f"PARTITION({text})" if clause.partitions else text)
    body = " AND ".join(parts)
    usual = all(one.selection is Selection.NEXT and not one.cut for one in nfab.components)
    if usual:
        return body
    functions = []
    for selection, group in groupby(nfab.components, key=lambda one: one.selection):
        listed = ", ".join(_declared(one) + ("!" if one.cut else "") for one in group)
        functions.append(
            f"{selection.value}({listed}) {{ {body} }}" if body else f"{selection.value}({listed}) {{ }}"
        )
        body = ""
    return " AND ".join(functions)


def _equal(equal: Equal) -> str:
    text = f"[{print_name(equal.name)}]"
    return f"PARTITION({text})" if equal.partitions else text


def own_name(components: tuple[Component, ...], value: Expression) -> str | None:
    """The name of a column that is given none: the attribute's, the variable's of a struct, or `sum_volume`."""
    match value:
        case Attribute(_, name):
            return name
        case Aggregate(function, Attribute(_, name)):
            return function if name == EVENT else f"{function}_{name}"
        case Record():
            known, read = references(Nfab(components)), next(iter(mentioned(value))).var
            return known[read][0].var if read in known else None
        case Literal() | Arithmetic() | Comparison() | Conjunction() | Disjunction() | Negation() | IsTrue():
            return None
        case IsNull() | In() | Like() | RLike() | Call() | Element() | Case() | Cast():
            return None
        case Aggregate() | Previous():
            return None
        case _:
            assert_never(value)


def print_column(nfab: Nfab, value: Expression, name: str) -> str:
    """An item of RETURN; a name that it would have anyway is left out."""
    text = print_condition(value)
    return text if own_name(nfab.components, value) == name else f"{text} AS {print_name(name)}"


@dataclass(frozen=True, slots=True)
class State:
    """A state of an NFAᵇ: `formulas` are those that its edges are made of, `arcs` its edges with their goals."""

    name: str
    formulas: tuple[tuple[str, str], ...]
    arcs: tuple[tuple[str, str, str], ...]


def print_edges(nfab: Nfab, window: Window | None) -> str:
    """The states and edges of the automaton, with their formulas.

    >>> print(print_edges(Nfab((Component("A", "a"), Component("B", "b"))), None))
    state a, initial
      begin: type = 'A' → b
    state b
      begin: type = 'B' → F
      ignore: not begin → b
    state F, final
    """
    lines = list[str]()
    for number, state in enumerate(states_of(nfab, window)):
        lines.append(f"state {state.name}" + ("" if number else ", initial"))
        lines += [f"  {name}: {formula}" for name, formula in state.formulas]
        lines += [f"  {name}: {formula} → {goal}" for name, formula, goal in state.arcs]
    return "\n".join([*lines, "state F, final", *_afterwards(nfab)])


def nfab_dot(nfab: Nfab, window: Window | None) -> str:
    """The automaton as Graphviz text: dashed edges ignore their event, a dotted one does not consume it (figure 2)."""
    styles = {"ignore": ", style=dashed", "proceed": ", style=dotted"}
    lines = ["digraph {", "  rankdir=LR", '  "F" [shape=doublecircle]']
    for state in states_of(nfab, window):
        label = "\\n".join([state.name, *(f"{name}: {formula}" for name, formula in state.formulas)])
        lines.append(f'  "{_quoted(state.name)}" [label="{_quoted(label)}"]')
        for name, formula, goal in state.arcs:
            label = f"{name}: {formula}"
            ends = f'"{_quoted(state.name)}" -> "{_quoted(goal)}"'
            lines.append(f'  {ends} [label="{_quoted(label)}"{styles.get(name, "")}]')
    lines += [f"  // {line}" for line in _afterwards(nfab)]
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    return text.replace('"', '\\"')


def _afterwards(nfab: Nfab) -> list[str]:
    """What decides about a match after its run has reached F."""
    absent = [line for component in nfab.components if component.negated for line in _absent(nfab, component)]
    return absent if nfab.having is None else [*absent, f"then: HAVING {print_condition(nfab.having)}"]


def states_of(nfab: Nfab, window: Window | None) -> list[State]:
    """The states but F, in the order of the pattern."""
    return [state for place in range(len(nfab.positive)) for state in _states(nfab, place, window)]


def _states(nfab: Nfab, place: int, window: Window | None) -> Iterator[State]:
    component = nfab.positive[place]
    edges = edges_of(nfab)[component]
    following = nfab.positive[place + 1] if place + 1 < len(nfab.positive) else None
    after = "F" if following is None else _select_first(following)
    first, each = _select_first(component), reference(component.var, Form.EACH)
    within = [] if window is None or place == 0 else [f"within {print_window(window)}"]
    begin = _all([_typed(component), *map(print_operand, edges.begin), *within])
    arcs = [("begin", begin, each if component.kleene else after)]
    if place:
        arcs.append(("ignore", _skip(component, edges.begin_partition, "begin"), first))
    yield State(first, (), tuple(arcs))
    if not component.kleene:
        return
    select = _all([_typed(component), *map(print_operand, edges.take)])
    end = " and ".join(map(print_operand, edges.end))
    stops = [] if window is None else [f"not within {print_window(window)}"]
    if component.cut and end:
        stops.append(f"({end})" if len(edges.end) > 1 else end)
    elif component.cut and following is not None:
        stops.append(f"begin of {after}")
    forced = [("forced-stop", " or ".join(stops))] if stops else []
    unless = ["not forced-stop"] if stops else []
    skip = _skip(component, edges.take_partition, "select")
    going_on = [] if following is None else [f"begin of {after}"]
    proceed = end or " or ".join([*going_on, "not take and not ignore"])
    yield State(
        each,
        (("select", select), *forced),
        (
            ("take", _all([*unless, "select"]), each),
            ("ignore", skip if skip.startswith("never") else _all([*unless, skip]), each),
            ("proceed", proceed, after),
        ),
    )


def _select_first(component: Component) -> str:
    return reference(component.var, Form.FIRST if component.kleene else Form.SINGLE)


def _typed(component: Component) -> str:
    return f"type = '{component.type}'"


def _skip(component: Component, partition: tuple[Condition, ...], edge: str) -> str:
    match component.selection:
        case Selection.STRICT:
            return "never"
        case Selection.PARTITION:
            inside = " AND ".join(map(print_operand, partition))
            return f"not ({inside})" if inside else "never, since nothing says what a partition is"
        case Selection.NEXT:
            return f"not {edge}"
        case Selection.ANY:
            return "always"


def _all(parts: list[str]) -> str:
    return " and ".join(parts)


def _absent(nfab: Nfab, component: Component) -> Iterator[str]:
    edges = edges_of(nfab)[component]
    parts = [_typed(component), *map(print_operand, edges.begin)]
    text = f"unless {_declared(component)} occurs {_where(nfab, component)}: begin {_all(parts)}"
    if component.kleene:
        text += f"; take {_all([_typed(component), *map(print_operand, edges.take)])}"
        text += f"; ignore {_skip(component, edges.take_partition, 'select')}"
    if edges.end:
        text += f"; end {' AND '.join(map(print_operand, edges.end))}"
    yield text


def _where(nfab: Nfab, component: Component) -> str:
    place = nfab.components.index(component)
    before = [one for one in nfab.components[:place] if not one.negated]
    after = [one for one in nfab.components[place:] if not one.negated]
    if before and after:
        return f"between {_declared(before[-1])} and {_declared(after[0])}"
    return f"after {_declared(before[-1])}" if before else f"before {_declared(after[0])}"
