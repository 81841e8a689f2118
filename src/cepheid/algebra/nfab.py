"""An NFAᵇ: the automaton with a match buffer that a SASE+ query describes (`sase-plus`, sections 3.1, 3.2, A.2).

It is held as its components and clauses, in the order of the text; `algebra.nfab_edges` says which clause is on which
edge. A strategy is a condition on the edges of a run, not a choice among matches, so none of CEL's operators stands
for it. The window of its query bounds its runs.

A Kleene variable stands for several events, and a condition says which: the `var` of an attribute is a *reference*,
`a[1]`, `a[i]`, `a[i-1]`, `a[a.LEN]`, or a sequence of them, `a[]`, `a[..i-1]`.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import final

from cepheid.algebra.conditions import Condition
from cepheid.algebra.expression_printing import print_name
from cepheid.algebra.node import Node, kept, node
from cepheid.errors import Span


class Selection(Enum):
    """SASE+'s event selection strategies (section 2.2.1): which events a run may ignore. CEL's are others."""

    STRICT = "strict_contiguity"
    PARTITION = "partition_contiguity"
    NEXT = "skip_till_next_match"
    ANY = "skip_till_any_match"


class Form(Enum):
    """How a condition refers to a variable; of a Kleene variable in the order in which a run meets them."""

    SINGLE = ""
    FIRST = "[1]"
    PREVIOUS = "[i-1]"
    BEFORE = "[..i-1]"
    EACH = "[i]"
    LAST = "[{}.LEN]"
    ALL = "[]"


def reference(var: str, form: Form) -> str:
    """A reference as it is written, and as attributes have it.

    >>> reference("a", Form.LAST), reference("b", Form.SINGLE), reference("a b", Form.FIRST)
    ('a[a.LEN]', 'b', '"a b"[1]')
    """
    return var if form is Form.SINGLE else print_name(var) + form.value.format(print_name(var))


@final
@node
class Component(Node):
    """`TYPE var`, `TYPE+ var[]`, `~TYPE var`, `~TYPE+ var[]`. `cut`, `var[]!`: as soon as it may end, it ends."""

    type: str
    var: str
    kleene: bool = False
    negated: bool = False
    selection: Selection = Selection.NEXT
    cut: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@final
@node
class Clause(Node):
    """A conjunct of WHERE. `partitions`, `PARTITION(…)`: it also says what a partition is."""

    condition: Condition
    partitions: bool = False


@final
@node
class Equal(Node):
    """`[name]`: the attribute is the same in all events of a match, and in those that `~` looks for."""

    name: str
    partitions: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@final
@node
class Nfab(Node):
    """The matches of a SASE+ pattern: what its runs have in their buffers when they reach the final state, if no
    negated component occurs and `having` holds."""

    components: tuple[Component, ...]
    clauses: tuple[Clause, ...] = ()
    equal: tuple[Equal, ...] = ()
    having: Condition | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def positive(self) -> tuple[Component, ...]:
        """The components that a match has events of; the states of the automaton."""
        return tuple(component for component in self.components if not component.negated)


@kept
def references(nfab: Nfab) -> dict[str, tuple[Component, Form]]:
    """What each reference refers to.

    >>> sorted(references(Nfab((Component("A", "x"), Component("B", "y", kleene=True)))))
    ['x', 'y[..i-1]', 'y[1]', 'y[]', 'y[i-1]', 'y[i]', 'y[y.LEN]']
    """
    return {
        reference(component.var, form): (component, form)
        for component in nfab.components
        for form in Form
        if (form is not Form.SINGLE) == component.kleene
    }


def events_shown(component: Component) -> dict[str, bool]:
    """The references that a match binds for a component, and whether to several events."""
    if not component.kleene:
        return {component.var: False}
    several = {Form.ALL: True, Form.FIRST: False, Form.LAST: False}
    return {reference(component.var, form): many for form, many in several.items()}
