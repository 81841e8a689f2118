"""PART-BY → conditions on atoms, for `attach`: every event of a part has the key of its first event, in a register.

In: the keys of a PART-BY and its body without filters. Out: the body's matches whose events have one key. An event's
key is one of its attributes; an event with several roles has one for each, which must be equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cepheid.algebra.conditions import Attribute
from cepheid.algebra.empty import either
from cepheid.algebra.key_equality import same_key
from cepheid.algebra.limits import guarded
from cepheid.algebra.nodes import Atom, Bind, PartBy, Pattern
from cepheid.algebra.pattern_alternatives import Alternatives
from cepheid.algebra.variables import label_of, names_of
from cepheid.automata.attach_atoms import restricted


def with_one_key(node: PartBy, variable: Mapping[str, str], register: Callable[[str], str]) -> Pattern:
    """The body with the conditions of its PART-BY on atoms. `variable`: what names stand for, where that is something
    else; `register`: a new name.

    >>> from cepheid.algebra.nodes import Seq
    >>> whole = with_one_key(PartBy(Seq(Atom("A"), Atom("B")), ((None, "id"),)), {}, lambda name: f"{name}+")
    >>> whole.left == Bind(Atom("A"), "id+")
    True
    >>> whole.right.condition == same_key(Attribute(None, "id"), Attribute("id+", "id"))
    True
    """
    return guarded(
        either(_OneKey(node.keys, variable, register).alternatives(node.body, None).values()), "attach"
    )


class _OneKey(Alternatives[str | None]):
    """Known is the attribute of the part's first event that is its key."""

    def __init__(
        self,
        keys: tuple[tuple[str | None, str], ...],
        variable: Mapping[str, str],
        register: Callable[[str], str],
    ) -> None:
        super().__init__()
        self._keys = keys
        self._variable = variable
        self.gathered = frozenset(var for var, _ in keys if var is not None)
        self._registers = {name: register(name) for name in sorted({name for _, name in keys})}

    def _atom(self, atom: Atom, known: str | None, inside: frozenset[str]) -> dict[str | None, Pattern]:
        roles = {None, label_of(atom), *inside, *(self._variable.get(name, name) for name in names_of(atom))}
        read = sorted({name for var, name in self._keys if var in roles})
        if not read:
            return {known: atom}
        first = Attribute(None, read[0])
        for name in read[1:]:
            atom = restricted(atom, same_key(first, Attribute(None, name)))
        if known is None:
            return {read[0]: Bind(atom, self._registers[read[0]])}
        return {known: restricted(atom, same_key(first, Attribute(self._registers[known], known)))}
