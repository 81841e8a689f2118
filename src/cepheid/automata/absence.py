"""NOT in an automaton: what it forbids.

In: a NOT of a rewritten pattern. Out: the single events that it forbids, if that is all it does. Between two events of
a match that is a matter of waiting: a run skips no event that is forbidden there. Before the first event of a match and
after its last, derived columns say where the nearest forbidden event is (`derived`).
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
from cepheid.automata.positions import Absence, Forbidden


def forbidden_by(pattern: Not) -> Absence:
    """The single events that a NOT forbids; none where it forbids more than single events.

    >>> sorted(one.atom.type for one in forbidden_by(Not(Or((Atom("B", "x"), Atom("C"))))))
    ['B', 'C']
    """
    atoms = _atoms(pattern.body) or frozenset()
    return frozenset(Forbidden(atom, pattern.within) for atom in atoms)


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


def beyond_single_events(pattern: Pattern) -> Not | None:
    """The first NOT that forbids more than single events.

    >>> beyond_single_events(Seq(Atom("A"), Not(Atom("B")))) is None
    True
    """
    nodes = (node for node in walk(pattern) if isinstance(node, Not))
    return next((node for node in nodes if not forbidden_by(node)), None)
