"""Set variables and PART-BY: where they may be used (`partition-by-chain-cea`, sections 2 and 3).

In: a pattern. Out: nothing, or an error that names the variable or event and the fix. The listed variables of a
PART-BY form a *variable cover*: every atom below it is bound to one of them, by `AS` or by an `IN` around it, so that
every event of the match is compared. A filter on a set sees the events that the set gathers inside the filtered
formula; a filter that could see none is an error rather than always true.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from cepheid.algebra.conditions import Attribute
from cepheid.algebra.empty import without_absences
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
    Nfab,
    Not,
    Or,
    PartBy,
    Pattern,
    Recognise,
    Repeat,
    Select,
    Seq,
    StrictSeq,
    Within,
    children,
    walk,
)
from cepheid.algebra.printing import print_key, print_name, print_pattern
from cepheid.algebra.variables import defined, is_iteration, sets
from cepheid.errors import CepheidError, Span, did_you_mean, quoted


def check_sets(pattern: Pattern) -> None:
    """Raises the first mistake in the names of sets and the keys of PART-BY.

    >>> check_sets(PartBy(Bind(Atom("T"), "X"), (("X", "id"),)))
    >>> check_sets(PartBy(Bind(Atom("T"), "X"), (("Y", "id"),)))
    Traceback (most recent call last):
    cepheid.errors.CepheidError: error[unknown-variable]: no part of the formula binds `Y`
      hint: the formula binds `X`
    """
    events = defined(pattern)
    types = {node.type for node in walk(pattern) if isinstance(node, Atom) and node.var is None}
    for node in walk(pattern):
        match node:
            case Bind(_, var, span):
                if var in events | types:
                    other = "an event (AS)" if var in events else "an event without a name (its type)"
                    message = f"`{var}` is the name of a set (IN) and of {other}"
                    raise CepheidError("bad-argument", message, span=span, hint="give the set another name")
            case PartBy():
                _check_part_by(node, pattern)
            case Atom() | Seq() | StrictSeq() | Or() | All() | Repeat():
                pass
            case Filter() | Select() | Not() | Within() | Recognise() | Nfab():
                pass
            case _:
                assert_never(node)


def check_set_use(inside: Filter, whole: Pattern, used: Attribute, span: Span | None) -> None:
    """Raises unless the filtered formula gathers events for the set."""
    if used.var in sets(inside.body):
        return
    around = next(node for node in walk(whole) if isinstance(node, Bind) and node.var == used.var)
    message = f"the set `{used.var}` gathers no event inside of what is filtered here"
    hint = f"put the filter where the set is: ({print_pattern(around)} FILTER …), or around it"
    raise CepheidError("unbound-variable", message, span=span, hint=hint)


def _check_part_by(node: PartBy, whole: Pattern) -> None:
    if any(var is None for var, _ in node.keys):
        _check_plain(node)
        return
    for index, (var, _) in enumerate(node.keys):
        assert var is not None
        _check_key(node.body, whole, var, node.key_span(index))
    listed = frozenset(var for var, _ in node.keys if var is not None)
    left_out = list(uncovered(without_absences(node.body), listed))
    if left_out:
        raise _not_covered(node, whole, left_out)


def _check_plain(node: PartBy) -> None:
    """Refuses `PART-BY [a, b]`: it would mean a = b, which few users expect."""
    if len(node.keys) == 1:
        return
    plain = [print_name(name) for var, name in node.keys if var is None]
    each = " ".join(f"PART-BY [{name}]" for name in plain)
    message = "PART-BY takes one attribute of all events, or one of each variable"
    hint = f"write {each}" if len(plain) == len(node.keys) else f"say whose attribute {plain[0]} is"
    raise CepheidError("bad-argument", message, span=node.key_span(1), hint=hint)


def _check_key(body: Pattern, whole: Pattern, var: str, span: Span | None) -> None:
    if var in sets(body):
        return
    if var in defined(body):
        repeated = _repetition_of(body, var)
        if repeated is None:
            return
        name = _fresh(whole)
        message = (
            f"`{var}` is bound inside a repetition, afresh in each round, and PART-BY compares all rounds"
        )
        hint = f"name the set: {print_pattern(Bind(repeated, name))}, and list {name} instead"
        raise CepheidError("kleene-variable", message, span=span, hint=hint)
    known = sorted(defined(whole) | sets(whole))
    if var in known:
        message = f"`{var}` is bound outside of what this PART-BY compares"
        hint = "put parentheses around all that it is to compare"
        raise CepheidError("unbound-variable", message, span=span, hint=hint)
    listed = f"the formula binds {quoted(known)}" if known else "name events first"
    message = f"no part of the formula binds `{var}`"
    raise CepheidError("unknown-variable", message, span=span, hint=did_you_mean(var, known, listed))


def _repetition_of(pattern: Pattern, var: str) -> Repeat | None:
    """The outermost iteration in which an atom binds `var`."""
    for node in walk(pattern):
        if isinstance(node, Repeat) and is_iteration(node) and var in defined(node):
            return node
    return None


def uncovered(pattern: Pattern, names: frozenset[str]) -> Iterator[Atom]:
    """The atoms that none of the names binds.

    >>> [atom.type for atom in uncovered(Repeat(Bind(Atom("T"), "X"), 1, None), frozenset("Y"))]
    ['T']
    """
    match pattern:
        case Bind(_, var) if var in names:
            return
        case Atom(_, var):
            if var not in names:
                yield pattern
        case Recognise() | Nfab() | Repeat(hi=0):
            return
        case Seq() | StrictSeq() | Or() | All() | Repeat() | Filter():
            for child in children(pattern):
                yield from uncovered(child, names)
        case PartBy() | Select() | Bind() | Not() | Within():
            for child in children(pattern):
                yield from uncovered(child, names)
        case _:
            assert_never(pattern)


def _not_covered(node: PartBy, whole: Pattern, left_out: list[Atom]) -> CepheidError:
    first = left_out[0]
    keys = ", ".join(print_key(key) for key in node.keys)
    if first.var is not None and _repetition_of(node.body, first.var) is None:
        hint = f"list an attribute of `{first.var}` too: PART-BY [{keys}, {print_name(first.var)}.…]"
    else:
        name = _fresh(whole)
        hint = f"name a set, {print_pattern(Bind(first, name))}, and list it too: PART-BY [{keys}, {name}.…]"
    listed = ", ".join(dict.fromkeys(f"`{print_pattern(atom)}`" for atom in left_out))
    message = f"PART-BY compares all events of its formula, but [{keys}] leaves out {listed}"
    return CepheidError("uncovered-event", message, span=first.span or node.span, hint=hint)


def _fresh(pattern: Pattern) -> str:
    used = defined(pattern) | sets(pattern) | {node.type for node in walk(pattern) if isinstance(node, Atom)}
    return next(name for name in ("X", "Y", "Z", "W", *(f"X{n}" for n in range(10**6))) if name not in used)
