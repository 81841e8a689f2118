"""Which unary predicates one event may satisfy together, as far as their text tells.

In: the predicates of an automaton. Out: sets of their numbers, among them every largest one: at most one of several
constants for an attribute, one type. `name = 'A'` and `name = 'B'` are never in one set. It is for looking ahead at
the states an automaton may have; what events really satisfy is found by evaluating them.
"""

from __future__ import annotations

from itertools import product
from math import prod

from cepheid.algebra.conditions import Attribute, Comparison, Condition, Literal, conjuncts
from cepheid.automata.cea import Predicate

MOST_CLASSES = 256

Classes = list[frozenset[int]]
Values = dict[str, object]


def possible_classes(predicates: tuple[Predicate, ...]) -> Classes:
    """None of them, each alone, and for every choice of constants all that fit it, with those that ask for more than
    constants and without. Where that is too many, all of them at once stand for what is possible.

    >>> a, b = (Predicate(t, None) for t in "AB")
    >>> [sorted(c) for c in possible_classes((a, b))]
    [[], [0], [1]]
    """
    every = range(len(predicates))
    classes = dict.fromkeys([frozenset[int](), *(frozenset([number]) for number in every)])
    asked = [_asked(predicate) for predicate in predicates]
    choices: dict[str, list[object]] = {}
    for values, _ in asked:
        for name, value in values.items():
            known = choices.setdefault(name, [None])
            if value not in known:
                known.append(value)
    if prod(map(len, choices.values())) > MOST_CLASSES:
        return [*classes, frozenset(every)]
    for chosen in product(*choices.values()):
        event = dict(zip(choices, chosen, strict=True))
        fitting = [n for n in every if all(event[name] == value for name, value in asked[n][0].items())]
        classes[frozenset(n for n in fitting if not asked[n][1])] = None
        classes[frozenset(fitting)] = None
    return list(classes)


def _asked(predicate: Predicate) -> tuple[Values, bool]:
    """The constants that a predicate asks for, by attribute, and whether it asks for anything else. The type of an
    event is not an attribute of its own name here: events may have both."""
    values: Values = {} if predicate.type is None else {"": predicate.type}
    more = False
    for condition in () if predicate.condition is None else conjuncts(predicate.condition):
        constant = _constant(condition)
        if constant is None or constant[0] in values:
            more = True
        else:
            values[constant[0]] = constant[1]
    return values, more


def _constant(condition: Condition) -> tuple[str, object] | None:
    match condition:
        case Comparison(op="=", left=Attribute(var=None, name=name), right=Literal(value=value)) if (
            value is not None
        ):
            return name, value
        case Comparison(op="=", left=Literal(value=value), right=Attribute(var=None, name=name)) if (
            value is not None
        ):
            return name, value
        case _:
            return None
