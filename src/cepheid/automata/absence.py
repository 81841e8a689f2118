"""NOT in an automaton: what ends a run that waits.

In: a rewritten pattern. Out: whether each of its NOTs forbids single events between two others. Then it is a matter of
waiting: a run that has marked the event before the NOT skips no event that is forbidden, until it marks what follows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

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
    walk,
)
from cepheid.algebra.reach import edges, may_be_empty


def forbidden_by(pattern: Pattern) -> frozenset[Atom]:
    """The atoms of which a NOT lets no event come; none where it forbids more than single events.

    >>> sorted(atom.type for atom in forbidden_by(Not(Or((Atom("B", "x"), Atom("C"))))))
    ['B', 'C']
    """
    if not isinstance(pattern, Not) or pattern.within is not None:
        return frozenset()
    return _atoms(pattern.body) or frozenset()


def _atoms(body: Pattern) -> frozenset[Atom] | None:
    match body:
        case Atom():
            return frozenset([replace(body, var=None, also=())])
        case Bind(inner) | Repeat(inner, 1, None | 1):
            return _atoms(inner)
        case Or(parts):
            found = [_atoms(part) for part in parts]
            several = [atoms for atoms in found if atoms is not None]
            return frozenset[Atom]().union(*several) if len(several) == len(found) else None
        case (
            Seq()
            | StrictSeq()
            | All()
            | Repeat()
            | Filter()
            | PartBy()
            | Select()
            | Not()
            | Within()
            | Recognise()
            | Nfab()
        ):
            return None
        case _:
            assert_never(body)


def are_between(pattern: Pattern) -> bool:
    """Whether every NOT forbids single events and stands after one event of every match and before another.

    >>> absence = Not(Atom("B"))
    >>> are_between(Seq(Seq(Atom("A"), absence), Atom("C"))), are_between(Seq(Atom("A"), absence))
    (True, False)
    """
    absences = sum(isinstance(node, Not) for node in walk(pattern))
    if not absences:
        return True
    nodes = list(walk(pattern))
    after = [node for node in nodes if isinstance(node, Seq) and not may_be_empty(node.left)]
    if sum(bool(forbidden_by(node.right)) for node in after) < absences or edges(pattern, last=True):
        return False
    return not any(isinstance(part, Not) for node in nodes if isinstance(node, All) for part in walk(node))
