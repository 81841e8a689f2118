"""SASE+ syntax tree → algebra.

In: a `ParsedTree`. Out: a `Query` whose pattern is an `Nfab`, with a column for each item of RETURN. The conjuncts of
WHERE, in whichever braces, become the clauses of the automaton; a strategy goes to the components of its variables.
What clauses may read is checked later (`algebra.nfab_scope`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lark import Token, Tree

from cepheid.algebra.conditions import (
    EVENT,
    Aggregate,
    Attribute,
    Condition,
    Expression,
    conjuncts,
    with_attributes,
)
from cepheid.algebra.nfab import Clause, Component, Equal, Form, Nfab, Selection, reference
from cepheid.algebra.nfab_printing import own_name
from cepheid.algebra.nodes import Computed, Places, Query
from cepheid.errors import CepheidError, Source, Span, did_you_mean, quoted
from cepheid.languages.lower_clauses import window_in
from cepheid.languages.lower_conditions import lower_condition
from cepheid.languages.parsed import Node, ParsedTree, Part, span_of
from cepheid.languages.words import name_of

ONLY_IN_WHERE = {
    "selection": "a strategy",
    "equal": "`[attribute]`",
    "partition": "PARTITION(…)",
}


def lower_sase(tree: ParsedTree) -> Query:
    """The query a SASE+ tree stands for.

    >>> from cepheid.languages.sase.tree import parse_sase
    >>> query = lower_sase(parse_sase(Source("PATTERN SEQ(A a, ~B b, C+ c[]) WITHIN 5 RETURN a.id")))
    >>> [(part.type, part.kleene, part.negated) for part in query.pattern.components]
    [('A', False, False), ('B', False, True), ('C', True, False)]
    """
    first, *others = tree.root.children
    assert isinstance(first, Tree)
    if others or first.data == "union":
        span = span_of(tree.source, others[0] if isinstance(others and others[0], Tree) else first)
        message = "there are several queries where one is expected"
        raise CepheidError("not-yet", message, span=span, hint="run them one after the other")
    return _query(tree.source, first)


def _query(source: Source, node: Node) -> Query:
    stream, *rest = node.children
    parts = [part for part in rest if isinstance(part, Tree) and part.data == "component"]
    where, within, having, columns, _ = rest[len(parts) :]
    components = tuple(_component(source, part) for part in parts)
    found = Where(source, components)
    if where is not None:
        found.read(where)
    nfab = Nfab(
        found.selected(),
        tuple(found.clauses),
        tuple(found.equal),
        None if having is None else _of_matches(source, having, components),
        span_of(source, node),
    )
    assert isinstance(columns, Tree)
    window = within if isinstance(within, Tree) else None
    return Query(
        nfab,
        tuple(_column(source, column, components) for column in columns.children),
        () if stream is None else (name_of(_token(stream)),),
        window=window_in(source, window),
        places=Places(
            select=tuple(span_of(source, column) for column in columns.children if column is not None),
            streams=() if stream is None else (span_of(source, stream),),
            window=None if window is None else span_of(source, window),
        ),
    )


def _token(part: Part) -> Token:
    assert isinstance(part, Token)
    return part


def _component(source: Source, node: Node) -> Component:
    absent, type, kleene, var, brackets = node.children
    span, name = span_of(source, node), name_of(_token(var))
    if (kleene is None) != (brackets is None):
        one, several = f"{type} {var}", f"{type}+ {var}[]"
        message = f"`{several}` are several events and `{one}` is one: `+` and `[]` stand together"
        raise CepheidError("syntax", message, span=span, hint=f"write {several} or {one}")
    return Component(name_of(_token(type)), name, kleene is not None, absent is not None, span=span)


@dataclass
class Where:
    """What the conjuncts of WHERE say: clauses, `[attr]`, and a strategy for each variable that one is given for."""

    source: Source
    components: tuple[Component, ...]
    clauses: list[Clause] = field(default_factory=list)
    equal: list[Equal] = field(default_factory=list)
    chosen: dict[str, tuple[Selection, bool]] = field(default_factory=dict)

    def read(self, part: Part, partitions: bool = False) -> None:
        """Takes up a conjunct, and those that it consists of."""
        assert isinstance(part, Tree)
        match str(part.data), part.children:
            case "all_of", operands:
                for operand in operands:
                    self.read(operand, partitions)
            case "selection", [Token() as word, variables, body] if not partitions:
                self._choose(word, variables)
                if body is not None:
                    self.read(body)
            case "partition", [_, body] if not partitions:
                self.read(body, partitions=True)
            case "equal", [Token() as name]:
                self.equal.append(Equal(name_of(name), partitions, span_of(self.source, part)))
            case _:
                refuse(self.source, part, "AND joins it with the other conditions of WHERE")
                condition = _lowered(self.source, part, self.components)
                self.clauses += [Clause(each, partitions) for each in conjuncts(condition)]

    def _choose(self, word: Token, variables: Part) -> None:
        """A strategy for the variables of a list, or for all that there are."""
        selection = Selection(word.lower().replace("til_", "till_"))
        if variables is None:
            for component in self.components:
                self._give(component, selection, False, span_of(self.source, word))
            return
        assert isinstance(variables, Tree)
        for variable in variables.children:
            assert isinstance(variable, Tree)
            component = self._known(variable)
            cut = variable.children[2] is not None
            self._give(component, selection, cut, span_of(self.source, variable))

    def _give(self, component: Component, selection: Selection, cut: bool, span: Span) -> None:
        name = _declared(component)
        if component.var in self.chosen:
            message = f"`{name}` is given a strategy twice"
            raise CepheidError("bad-argument", message, span=span, hint="name it in one of them")
        if cut and not component.kleene:
            message = f"`!` says when a Kleene variable ends, and `{name}` is one event"
            raise CepheidError("bad-argument", message, span=span, hint=f"write {name}")
        self.chosen[component.var] = selection, cut

    def _known(self, variable: Node) -> Component:
        name, brackets, _ = variable.children
        span = span_of(self.source, variable)
        known = {component.var: component for component in self.components}
        component = known.get(name_of(_token(name)))
        if component is None:
            hint = did_you_mean(str(name), known, f"the pattern has {quoted(known)}")
            raise CepheidError(
                "unknown-variable", f"no component of the pattern binds `{name}`", span=span, hint=hint
            )
        if component.kleene is not (brackets is not None):
            message = f"the pattern declares `{_declared(component)}`"
            raise CepheidError("syntax", message, span=span, hint=f"write {_declared(component)}")
        return component

    def selected(self) -> tuple[Component, ...]:
        """The components with their strategies."""
        given = {component.var: (component.selection, component.cut) for component in self.components}
        given |= self.chosen
        return tuple(
            replace(component, selection=given[component.var][0], cut=given[component.var][1])
            for component in self.components
        )


def _declared(component: Component) -> str:
    return reference(component.var, Form.ALL if component.kleene else Form.SINGLE)


def refuse(source: Source, part: Node, hint: str) -> None:
    """Raises for what stands only among the conjuncts of WHERE."""
    for node in part.iter_subtrees():
        if node.data in ONLY_IN_WHERE:
            message = f"{ONLY_IN_WHERE[str(node.data)]} cannot be part of another condition"
            raise CepheidError("misplaced-condition", message, span=span_of(source, node), hint=hint)


def _of_matches(source: Source, part: Part, components: tuple[Component, ...]) -> Condition:
    """A condition of HAVING, or a value of RETURN."""
    assert isinstance(part, Tree)
    refuse(source, part, "it belongs to WHERE, which says which events a match has")
    return _lowered(source, part, components)


def _lowered(source: Source, part: Part, components: tuple[Component, ...]) -> Condition:
    """A condition, where `a.LEN` of a Kleene variable is the number of its events."""
    kleene = {component.var for component in components if component.kleene}

    def counted(read: Attribute) -> Expression:
        if read.indexed or read.var not in kleene or read.name.upper() != "LEN":
            return read
        events = Attribute(reference(read.var, Form.ALL), EVENT, True, read.span, True)
        return Aggregate("count", events, span=read.span)

    return with_attributes(lower_condition(source, part), counted)


def _column(source: Source, node: Part, components: tuple[Component, ...]) -> Computed:
    assert isinstance(node, Tree)
    value, name = node.children
    condition = _of_matches(source, value, components)
    span = span_of(source, node)
    if isinstance(name, Token):
        return Computed(name_of(name), condition, span)
    own = own_name(components, condition)
    if own is None:
        hint = f"name it: {span.text} AS value"
        raise CepheidError("syntax", "a column that is computed has no name", span=span, hint=hint)
    return Computed(own, condition, span)
