"""Immutable nodes of trees that know their hash.

Planning asks again and again whether it has met a pattern or a condition. A hash is worked out once for each node, from
those of its children, so that a tree of any size is found at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar, cast, dataclass_transform

Class = TypeVar("Class", bound=type)


class Node:
    """Has the place in which a node keeps its hash."""

    __slots__ = ("_hash",)
    _hash: int


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def node(cls: Class) -> Class:
    """Makes a frozen dataclass of a kind of `Node`.

    >>> @node
    ... class Pair(Node):
    ...     left: object
    ...     right: object
    >>> Pair(1, Pair(2, 3)) == Pair(1, Pair(2, 3)), hash(Pair(1, 2)) == hash(Pair(1, 2))
    (True, True)
    """
    made: Any = dataclass(frozen=True, slots=True)(cls)
    hashed = made.__hash__

    def remembered(self: Node) -> int:
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", hashed(self))
            return self._hash

    made.__hash__ = remembered
    return cast("Class", made)
