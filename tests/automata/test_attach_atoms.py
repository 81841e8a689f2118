"""Where a filter is asked."""

from __future__ import annotations

from cepheid.algebra.conditions import Attribute, Comparison
from cepheid.algebra.nodes import Atom, Seq
from cepheid.automata.attach_atoms import on_last

RISING = Comparison(">", Attribute("y", "v"), Attribute("x", "v"))


def test_a_filter_goes_to_the_last_event_it_reads() -> None:
    a, b, c = Atom("A", "x"), Atom("B", "y"), Atom("C", "z")
    for pattern in (Seq(Seq(a, b), c), Seq(a, Seq(b, c))):
        atoms = [on_last(RISING, pattern)]
        while any(isinstance(item, Seq) for item in atoms):
            atoms = [
                part
                for item in atoms
                for part in ((item.left, item.right) if isinstance(item, Seq) else (item,))
            ]
        assert [atom.condition is not None for atom in atoms if isinstance(atom, Atom)] == [
            False,
            True,
            False,
        ]
