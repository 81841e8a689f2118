"""Immutable tree nodes that cache their hash and the results of functions of the node.

Planning often looks patterns and conditions up and asks which variables are below a node. Both are computed once per
node, from the results of its children, so that a pass that asks at every node stays linear.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar, cast, dataclass_transform

Class = TypeVar("Class", bound=type)
Of = TypeVar("Of", bound="Node")
Result = TypeVar("Result")


class Node:
    """Holds the cached hash and the results of functions that are `kept`."""

    __slots__ = ("_hash", "_kept")
    _hash: int
    _kept: dict[object, Any]


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

    def cached_hash(self: Node) -> int:
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", hashed(self))
            return self._hash

    made.__hash__ = cached_hash
    return cast("Class", made)


def kept(function: Callable[[Of], Result]) -> Callable[[Of], Result]:
    """Caches a function of one node on the node.

    >>> @node
    ... class Pair(Node):
    ...     left: object
    ...     right: object
    >>> asked = []
    >>> left = kept(lambda pair: (asked.append(pair), pair.left)[1])
    >>> pair = Pair(1, 2)
    >>> left(pair), left(pair), len(asked)
    (1, 1, 1)
    """

    @wraps(function)
    def once(node: Of) -> Result:
        try:
            results = node._kept
        except AttributeError:
            results = {}
            object.__setattr__(node, "_kept", results)
        if function not in results:
            results[function] = function(node)
        found: Result = results[function]
        return found

    return once
