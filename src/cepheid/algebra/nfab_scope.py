"""What a query of SASE+ may say where (`sase-plus`, sections 2.2 and A.1).

In: a query over an `Nfab`. Out: nothing, or the error for the first rule of the paper that it breaks: each variable is
declared once and referred to as it is declared; a clause of WHERE names, in each of its predicates, the last reference
in it; HAVING and RETURN read events that a match has.
"""

from __future__ import annotations

from collections.abc import Iterator

from cepheid.algebra.conditions import (
    Aggregate,
    Attribute,
    Call,
    Condition,
    Expression,
    Literal,
    Previous,
    Record,
    aggregates,
    children,
    mentioned,
    sets_chosen,
    variables,
)
from cepheid.algebra.nfab import Clause, Component, Form, Nfab, reference, references
from cepheid.algebra.nfab_edges import CRITERIA, Edge, criteria, edges_of, place_of, predicates
from cepheid.algebra.nodes import Computed, Query
from cepheid.algebra.printing import print_condition, print_name
from cepheid.algebra.text_patterns import check_text_patterns
from cepheid.errors import CepheidError, did_you_mean, quoted, warn

WHOLE = frozenset([Form.SINGLE, Form.FIRST, Form.LAST, Form.ALL])
"""The forms that stand for events of a complete match."""


def check_nfab(query: Query, nfab: Nfab) -> None:
    """Raises the first mistake of a query.

    >>> from cepheid.algebra.conditions import Comparison
    >>> wrong = Comparison(">", Attribute("a", "v"), Literal(3))
    >>> check_nfab(Query(Nfab((Component("A", "a"),))), Nfab((Component("A", "a", kleene=True),), (Clause(wrong),)))
    Traceback (most recent call last):
    cepheid.errors.CepheidError: error[kleene-variable]: `a` holds several events
      hint: write a[1] for the first, a[i] for each, a[i-1] for the one before it, a[a.LEN] for the last
    """
    _check_components(nfab)
    for clause in nfab.clauses:
        _check_clause(nfab, clause)
    _check_cut(nfab)
    if nfab.having is not None:
        _check_expression(nfab, nfab.having)
        _check_having(nfab, nfab.having)
    for column in query.select or ():
        assert isinstance(column, Computed)
        _check_expression(nfab, column.value)
        _check_column(nfab, column)


def _check_components(nfab: Nfab) -> None:
    seen = set[str]()
    for component in nfab.components:
        if component.var in seen:
            message = f"two components of the pattern are called `{component.var}`"
            hint = "give each a variable of its own"
            raise CepheidError("bad-argument", message, span=component.span, hint=hint)
        seen.add(component.var)
    if not nfab.positive:
        message = "every component of the pattern is negated, so that a match would have no event"
        hint = "say after or before which event: SEQ(A a, ~B b)"
        raise CepheidError("misplaced-not", message, span=nfab.components[0].span, hint=hint)


def _check_cut(nfab: Nfab) -> None:
    """`!` at the very end of a pattern, without a condition that it could end by."""
    last = nfab.positive[-1]
    if last.cut and not edges_of(nfab)[last].end:
        name, end = reference(last.var, Form.ALL), reference(last.var, Form.LAST)
        why = f"nothing comes after it, and no condition on `{end}` says where it ends"
        warn(f"`!` has no effect on `{name}`: {why}")


def _check_expression(nfab: Nfab, expression: Expression) -> None:
    """Every reference is one of the pattern's, and every aggregate is over a sequence of events."""
    check_text_patterns(expression)
    _refuse_extremes(expression)
    for read in mentioned(expression):
        if read.var not in references(nfab):
            raise _unknown(nfab, read)
    for aggregate in _of_sets(expression):
        _check_aggregate(nfab, aggregate)


def _refuse_extremes(expression: Expression) -> None:
    """`highest(a[].price, 2)`: the k highest values (section 2.2.4)."""
    if isinstance(expression, Call) and expression.function in ("highest", "lowest"):
        message = f"`{expression.function}` is not yet supported"
        hint = "max(…) and min(…) give one value"
        raise CepheidError("not-yet", message, span=expression.span, hint=hint)
    for child in children(expression):
        if not isinstance(child, Literal):  # lists have many
            _refuse_extremes(child)


def _unknown(nfab: Nfab, read: Attribute) -> CepheidError:
    var = (read.var or "").split("[")[0]
    known = {print_name(component.var): component for component in nfab.components}
    component = known.get(print_name(var)) or known.get(var)
    if component is None:
        hint = did_you_mean(var, known, f"the pattern binds {quoted(known)}")
        message = f"no component of the pattern binds `{var}`"
        return CepheidError("unknown-variable", message, span=read.variable_span, hint=hint)
    if component.kleene:
        message = f"`{component.var}` holds several events"
        name = component.var
        hint = (
            f"write {name}[1] for the first, {name}[i] for each, {name}[i-1] for the one before it, "
            f"{name}[{name}.LEN] for the last"
        )
        return CepheidError("kleene-variable", message, span=read.variable_span, hint=hint)
    message = f"`{component.var}` is one event, and `{read.var}` refers to one of several"
    hint = f"write {component.var}, or {component.type}+ {component.var}[] in the pattern"
    return CepheidError("needs-set", message, span=read.variable_span, hint=hint)


def _of_sets(expression: Expression) -> Iterator[Aggregate | Previous]:
    if isinstance(expression, Aggregate | Previous):
        yield expression
    for child in children(expression):
        if not isinstance(child, Literal):  # lists have many
            yield from _of_sets(child)


def _check_aggregate(nfab: Nfab, node: Aggregate | Previous) -> None:
    if isinstance(node, Previous):
        message, hint = "SASE+ has no `prev`", "the event before a[i] is a[i-1]"
        raise CepheidError("unknown-function", message, span=node.span, hint=hint)
    read = {item.var: item for item in mentioned(node.operand)}
    several = [item for item in read.values() if item.each]
    if len(several) != len(read) or not read:
        message = f"`{node.function}` is over several events; `{print_condition(node.operand)}` is of one"
        hint = "write it over all, as in avg(a[].price), or over those before a[i], avg(a[..i-1].price)"
        raise CepheidError("needs-set", message, span=node.span, hint=hint)
    if len(read) > 1:
        message = f"`{node.function}` is over one variable; it reads {quoted(map(str, read))}"
        raise CepheidError("needs-set", message, span=node.span, hint="take each by itself")
    if next(aggregates(node.operand), None) is not None:
        message = f"`{node.function}` of an aggregate is not yet supported"
        raise CepheidError("not-yet", message, span=node.span, hint="compare the two in a condition")


def _check_clause(nfab: Nfab, clause: Clause) -> None:
    condition = clause.condition
    _check_expression(nfab, condition)
    if not variables(condition):
        message = f"`{print_condition(condition)}` is about no event of the pattern"
        hint = "leave it out, or name an event"
        raise CepheidError("misplaced-condition", message, span=condition.span, hint=hint)
    known = references(nfab)
    _check_negated(nfab, condition)
    _check_sequences(condition)
    forms = {form for name, (_, form) in known.items() if name in variables(condition)}
    place = place_of(nfab, condition)
    wanted = criteria(place)
    own = {known[name][1] for name in variables(condition) if known[name][0] == place.component}
    if not own & CRITERIA:
        each = reference(place.component.var, Form.EACH)
        message = f"`{print_condition(condition)}` compares nothing with events before `{each}`"
        hint = (
            f"name {each} in it, as in {each}.price > {reference(place.component.var, Form.PREVIOUS)}.price"
        )
        raise CepheidError("misplaced-condition", message, span=condition.span, hint=hint)
    if Form.BEFORE in forms and (
        place.edge is not Edge.TAKE or not _is_own(known, condition, place.component)
    ):
        raise _running(condition)
    for predicate in predicates(condition):
        if not variables(predicate) & wanted:
            raise _not_a_criterion(predicate, place.component, place.edge)
    if clause.partitions and next(aggregates(condition), None) is not None:
        message = "PARTITION(…) takes no aggregates: it says of an event alone what is in its partition"
        hint = "put the condition beside it"
        raise CepheidError("misplaced-condition", message, span=condition.span, hint=hint)


def _is_own(known: dict[str, tuple[Component, Form]], condition: Condition, component: Component) -> bool:
    """Whether the running aggregates of a clause are over the component that it is a criterion on."""
    read = [known[name] for name in variables(condition)]
    return all(other == component for other, form in read if form is Form.BEFORE)


def _check_negated(nfab: Nfab, condition: Condition) -> None:
    """A clause is about one negated component at most: each of them is looked for by itself."""
    known = references(nfab)
    negated = {known[name][0].var: None for name in variables(condition) if known[name][0].negated}
    if len(negated) > 1:
        message = f"a condition compares {quoted(sorted(negated))}, which are both negated"
        hint = "each negated component is looked for by itself: write a condition for each"
        raise CepheidError("misplaced-not", message, span=condition.span, hint=hint)


def _check_sequences(condition: Condition) -> None:
    """In WHERE all events of a variable are read by aggregates, and each of them as `a[i]`."""
    for name in sorted(sets_chosen(condition)):
        message = f"`{name}` is a sequence of events, and a condition compares values"
        one = name.split("[")[0]
        hint = f"write {one}[i] for each event, or an aggregate such as avg({name}.price)"
        raise CepheidError("misplaced-condition", message, span=condition.span, hint=hint)


def _not_a_criterion(predicate: Condition, component: Component, edge: Edge) -> CepheidError:
    form = {Edge.BEGIN: Form.FIRST if component.kleene else Form.SINGLE, Edge.TAKE: Form.EACH}.get(
        edge, Form.LAST
    )
    last = reference(component.var, form)
    message = (
        f"`{print_condition(predicate)}` does not name `{last}`, the last event of its clause: "
        "a clause is a criterion on that event"
    )
    hint = f"name {last} in each part of the OR, or make it a clause of its own with AND"
    return CepheidError("misplaced-condition", message, span=predicate.span, hint=hint)


def _running(condition: Condition) -> CepheidError:
    message = f"`{print_condition(condition)}`: a running aggregate is compared with `a[i]` while `a[]` grows"
    hint = "afterwards aggregates are over all events: avg(a[].price)"
    return CepheidError("misplaced-condition", message, span=condition.span, hint=hint)


def _check_having(nfab: Nfab, having: Condition) -> None:
    """Beside whole matches HAVING may read `a[i]`, every event, and `a[i-1]` beside it."""
    known = references(nfab)
    _check_sequences(having)
    _check_has_events(nfab, having)
    read = {known[name] for name in variables(having)}
    if any(form is Form.BEFORE for _, form in read):
        raise _running(having)
    for component, form in read:
        if form is Form.PREVIOUS and (component, Form.EACH) not in read:
            each = reference(component.var, Form.EACH)
            message = f"`{print_condition(having)}` compares nothing with events before `{each}`"
            raise CepheidError("misplaced-condition", message, span=having.span, hint=f"name {each} in it")


def _check_column(nfab: Nfab, column: Computed) -> None:
    known = references(nfab)
    _check_has_events(nfab, column.value)
    for read in mentioned(column.value):
        component, form = known[read.var or ""]
        if form not in WHOLE:
            message = f"RETURN shows events of a complete match, and `{read.var}` is one while it grows"
            hint = f"write {reference(component.var, Form.ALL)}.{read.name} for the values of all"
            raise CepheidError("misplaced-condition", message, span=read.variable_span, hint=hint)
    several = sorted(sets_chosen(column.value))
    if len(several) > 1:
        message = f"a column has the values of one sequence, and this one reads {quoted(several)}"
        raise CepheidError("bad-argument", message, span=column.span, hint="write a column for each")
    if _holds_record(column.value):
        message = "a struct stands by itself, as in b.(price, volume)"
        raise CepheidError("type-mismatch", message, span=column.span, hint="compute with single attributes")


def _holds_record(expression: Expression) -> bool:
    below = [child for child in children(expression) if not isinstance(child, Literal)]
    return any(isinstance(child, Record) or _holds_record(child) for child in below)


def _check_has_events(nfab: Nfab, expression: Expression) -> None:
    for read in mentioned(expression):
        component, _ = references(nfab)[read.var or ""]
        if component.negated:
            message = f"`{component.var}` is negated: no match has such an event"
            hint = "read events of the match"
            raise CepheidError("unbound-variable", message, span=read.variable_span, hint=hint)
