"""Rewritten pattern → chain automaton (`partition-by-chain-cea`, proposition 7), without ε-transitions.

In: a pattern whose unary conditions are on its atoms, and the names the output shows. Out: an automaton with the
register `LAST` that accepts exactly the pattern's (complex event, binding) pairs, or a `NoChainError` that says why
there is none. Every state but the start skips to itself: `ADJACENT` is a test, not a state. As in `construct.py` there
is one state per atom and one *edge* for each way in which an atom can follow another. An edge that was made inside a
part joins two neighbouring events of one match of that part; so a condition of the part on neighbours becomes a link on
exactly these edges, and not on edges that enter it, leave it or belong to a repetition outside it:
- PART-BY compares all events of its body, and all have one key when neighbours do;
- FILTER x.a = y.b, where no event can come between x and y, compares neighbours;
- a strict sequence is `ADJACENT` on the edges it makes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from cepheid.algebra.conditions import (
    Attribute,
    Comparison,
    Condition,
    IsNull,
    Negation,
    conjunction,
    conjuncts,
    sets_read,
)
from cepheid.algebra.key_equality import same_key
from cepheid.algebra.limits import not_too_deep
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
)
from cepheid.algebra.printing import print_condition, print_part_by
from cepheid.algebra.variables import bound, is_iteration, label_of
from cepheid.automata.automaton import (
    ADJACENT,
    LAST,
    NOTHING,
    Automaton,
    Guard,
    Link,
    LinkKind,
    Predicate,
    Transition,
)
from cepheid.automata.construct import label
from cepheid.automata.positions_of_pattern import check_positions
from cepheid.errors import CepheidError

MOST_STATES = 6_000  # links are worked out for each, so that they take longer than those of other automata
MOST_EDGES = 40_000

NO_LINKS: frozenset[Link] = frozenset()


class NoChainError(CepheidError):
    """A pattern has no chain automaton; the message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__("not-yet", reason)


@dataclass(slots=True)
class Edge:
    """`target` can follow `source`, where the links of `equal` hold and those of `different` do not."""

    source: int
    target: int
    equal: frozenset[Link] = NO_LINKS
    different: frozenset[Link] = NO_LINKS


@dataclass(slots=True)
class Positions:
    """What was met so far. Position p is `atoms[p - 1]`, gathered by the sets `gatherers[p - 1]`."""

    atoms: list[Atom] = field(default_factory=list)
    gatherers: list[set[str]] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)

    def add(self, atom: Atom) -> int:
        self.atoms.append(atom)
        self.gatherers.append(set())
        return len(self.atoms)

    def restrict(self, position: int, condition: Condition) -> None:
        atom = self.atoms[position - 1]
        kept = () if atom.condition is None else (atom.condition,)
        self.atoms[position - 1] = replace(atom, condition=conjunction((*kept, condition)))


@dataclass(frozen=True, slots=True)
class PendingFilter:
    """A filter that compares `inner`, at these positions of what it filters, with `outer`, which is bound around it."""

    inner: Attribute
    at: frozenset[int]
    outer: Attribute
    equal: bool
    condition: Condition


@dataclass(frozen=True, slots=True)
class Part:
    """What a sub-pattern offers to its neighbours: the positions it can begin and end with, whether it can be empty,
    the positions of the variables it binds outside iterations, and the filters in it that look further out."""

    first: frozenset[int]
    last: frozenset[int]
    nullable: bool
    names: frozenset[tuple[str, int]] = frozenset()
    waiting: tuple[PendingFilter, ...] = ()

    def at(self, name: str | None) -> frozenset[int]:
        return frozenset(position for found, position in self.names if found == name)


EMPTY = Part(frozenset(), frozenset(), True)


def construct_chain(pattern: Pattern, shown: tuple[str, ...], strict: bool = False) -> Automaton:
    """The chain automaton of a rewritten pattern; events are labelled with the names in `shown` only. With `strict` it
    keeps the matches of neighbouring events, as the strategy STRICT does.

    >>> chain = construct_chain(PartBy(Seq(Atom("T", "x"), Atom("H", "y")), (("x", "id"), ("y", "to"))), ("x",))
    >>> chain.states, sorted(chain.finals), [(link.left, link.right) for link in chain.tests]
    (3, [2], [('id', 'to')])
    >>> [(mark.source, len(mark.guard.holds), mark.target) for mark in chain.marks]
    [(0, 1, 1), (1, 2, 2)]
    """
    positions = Positions()
    with not_too_deep():
        refuse_operators(pattern)
        check_positions(pattern, MOST_STATES)
        whole = _part(pattern, positions)
    if whole.waiting:
        raise NoChainError(_out_of_reach(whole.waiting[0].condition))
    if strict:
        _link(positions.edges, frozenset([ADJACENT]))
    return _automaton(positions, whole, frozenset(shown))


def refuse_operators(pattern: Pattern) -> None:
    """Raises for the first operator that no chain automaton knows."""
    match pattern:
        case All(apart=apart):
            raise NoChainError(f"{'AND' if apart else 'ALL'} takes its parts in any order")
        case Nfab():
            raise NoChainError(
                "a strategy of SASE+ is a condition on the edges of a run, and no chain has those"
            )
        case Recognise():
            raise NoChainError("SREMO reads every event of a piece of the stream, with registers")
        case Select() | Not() | Within():
            raise NoChainError("an operator has no automaton yet")
        case Atom():
            return
        case Seq() | StrictSeq() | Or() | Repeat() | Filter() | PartBy() | Bind():
            for child in children(pattern):
                refuse_operators(child)
        case _:
            assert_never(pattern)


# ── positions and who follows whom ──────────────────────────────────────────────────────────────────────────


def _part(pattern: Pattern, positions: Positions) -> Part:
    first_position, first_edge = len(positions.atoms), len(positions.edges)
    match pattern:
        case Atom():
            only = frozenset([positions.add(pattern)])
            names = frozenset((pattern.var, position) for position in only if pattern.var is not None)
            part = Part(only, only, False, names)
        case Seq(left, right):
            part = _then(_part(left, positions), _part(right, positions), positions)
        case StrictSeq(left, right):
            links = frozenset([ADJACENT])
            part = _then(_part(left, positions), _part(right, positions), positions, links)
        case Or(parts):
            part = _choice([_part(item, positions) for item in parts])
        case Repeat():
            part = _repeated(pattern, positions)
        case Bind(body, var):
            part = _part(body, positions)
            for gatherers in positions.gatherers[first_position:]:
                gatherers.add(var)
        case PartBy(body):
            part = _part(body, positions)
            _one_key(pattern, positions, first_position, positions.edges[first_edge:])
        case Filter(body, condition):
            part = _part(body, positions)
            waiting = [_pending(item, part, bound(body)) for item in conjuncts(condition)]
            part = replace(part, waiting=(*part.waiting, *waiting))
        case All() | Select() | Not() | Within() | Recognise() | Nfab():
            raise AssertionError(pattern)
        case _:
            assert_never(pattern)
    return _resolved(pattern, part, positions, positions.edges[first_edge:]) if part.waiting else part


def _choice(parts: Sequence[Part]) -> Part:
    return Part(
        first=frozenset[int]().union(*(part.first for part in parts)),
        last=frozenset[int]().union(*(part.last for part in parts)),
        nullable=any(part.nullable for part in parts),
        names=frozenset[tuple[str, int]]().union(*(part.names for part in parts)),
        waiting=tuple(item for part in parts for item in part.waiting),
    )


def _then(one: Part, two: Part, positions: Positions, links: frozenset[Link] = NO_LINKS) -> Part:
    """`one` followed by `two`; the empty match is neutral, so a nullable side lets its neighbour through."""
    if len(positions.edges) + len(one.last) * len(two.first) > MOST_EDGES:
        raise NoChainError(f"its chain automaton would have more than {MOST_EDGES:,} transitions")
    positions.edges += (
        Edge(source, target, links) for source in sorted(one.last) for target in sorted(two.first)
    )
    return Part(
        first=one.first | two.first if one.nullable else one.first,
        last=one.last | two.last if two.nullable else two.last,
        nullable=one.nullable and two.nullable,
        names=one.names | two.names,
        waiting=one.waiting + two.waiting,
    )


def _repeated(pattern: Repeat, positions: Positions) -> Part:
    """`body{lo,hi}` written out: lo copies, then a loop on the last (no hi) or copies one may leave out."""
    times = max(1, pattern.lo) if pattern.hi is None else pattern.hi
    copies = [_part(pattern.body, positions) for _ in range(times)]
    if is_iteration(pattern):
        for copy in copies:
            if copy.waiting:
                raise NoChainError(_out_of_reach(copy.waiting[0].condition))
        copies = [replace(copy, names=frozenset()) for copy in copies]
    links = frozenset([ADJACENT]) if pattern.strict else frozenset[Link]()
    if pattern.hi is None:
        _then(copies[-1], copies[-1], positions, links)
    whole = EMPTY
    # Right to left, so that b{0,3} is (b ; (b ; b?)?)? and only neighbouring copies follow one another.
    for number in range(len(copies), 0, -1):
        whole = _then(copies[number - 1], whole, positions, links)
        if number > pattern.lo:
            whole = replace(whole, nullable=True)
    return whole


# ── PART-BY ─────────────────────────────────────────────────────────────────────────────────────────────────


def _one_key(node: PartBy, positions: Positions, first_position: int, edges: Iterable[Edge]) -> None:
    """All events of the body have one key: each of its attributes the same, and neighbours the same."""
    read: dict[int, str] = {}
    for position in range(first_position + 1, len(positions.atoms) + 1):
        atom, gatherers = positions.atoms[position - 1], positions.gatherers[position - 1]
        binding = {None, label_of(atom), *gatherers}
        names = sorted({name for var, name in node.keys if var in binding})
        if not names:
            raise NoChainError(f"{print_part_by(node.keys)} leaves out an event")
        read[position] = names[0]
        for name in names[1:]:
            positions.restrict(position, same_key(Attribute(None, names[0]), Attribute(None, name)))
    for edge in edges:
        edge.equal |= {Link(read[edge.source], read[edge.target])}


# ── filters over neighbours ─────────────────────────────────────────────────────────────────────────────────


def _pending(condition: Condition, part: Part, binds: frozenset[str]) -> PendingFilter:
    """A filter as a comparison of two attributes, one of which at least is of what it filters."""
    text = f"FILTER {print_condition(condition)}"
    if sets_read(condition):
        raise NoChainError(f"{text} compares events of sets")
    operands = _equality(condition)
    if operands is None:
        raise NoChainError(f"{text} is more than an equality of two attributes")
    left, right, equal = operands
    if left.var not in binds:
        left, right = right, left
    if left.var not in binds:
        raise NoChainError(f"{text} compares events outside of its formula")
    return PendingFilter(left, part.at(left.var), right, equal, condition)


def _equality(condition: Condition) -> tuple[Attribute, Attribute, bool] | None:
    """The attributes of two events that must be equal, or different and neither NULL nor NaN."""
    negated = isinstance(condition, Negation)
    compared = condition.operand if isinstance(condition, Negation) else condition
    if not isinstance(compared, Comparison) or compared.op not in ("=", "<>"):
        return None
    left, right = compared.left, compared.right
    if not isinstance(left, Attribute) or not isinstance(right, Attribute):
        return None
    plain = not left.each and not right.each and None not in (left.var, right.var)
    # NOT turns one into the other, for NULL and NaN too: by IEEE `<>` is true where `=` is false.
    return (left, right, (compared.op == "=") != negated) if plain and left.var != right.var else None


def _resolved(pattern: Pattern, part: Part, positions: Positions, edges: list[Edge]) -> Part:
    """The part with the filters done whose variables are all bound in it."""
    binds = bound(pattern)
    left = []
    for item in part.waiting:
        if item.outer.var in binds:
            _compare(item, part, positions, edges, binds)
        else:
            left.append(item)
    return replace(part, waiting=tuple(left))


def _compare(
    item: PendingFilter, part: Part, positions: Positions, edges: list[Edge], binds: frozenset[str]
) -> None:
    """Every match of the part has one event for `outer`, and those that the filter is about one for `inner`."""
    ones, twos = item.at, part.at(item.outer.var)
    if _come_between(ones, twos, edges) or _come_between(twos, ones, edges):
        raise NoChainError(
            f"FILTER {print_condition(item.condition)} compares events that need not be neighbours in a match"
        )
    if not item.equal:
        if item.inner.var not in binds or ones != part.at(item.inner.var):
            reason = "requires two events to differ, but not in every match"
            raise NoChainError(f"FILTER {print_condition(item.condition)} {reason}")
        # What is NULL differs from nothing, so it must not count as different.
        for places, read in ((ones, item.inner), (twos, item.outer)):
            for position in places:
                positions.restrict(position, Negation(IsNull(Attribute(None, read.name))))
    for edge in edges:
        if edge.source in ones and edge.target in twos:
            _link([edge], frozenset([Link(item.inner.name, item.outer.name, LinkKind.VALUE)]), item.equal)
        elif edge.source in twos and edge.target in ones:
            _link([edge], frozenset([Link(item.outer.name, item.inner.name, LinkKind.VALUE)]), item.equal)


def _come_between(before: frozenset[int], after: frozenset[int], edges: Iterable[Edge]) -> bool:
    """Whether some path leaves `before`, passes something else and comes to `after`."""
    followers: dict[int, set[int]] = {}
    for edge in edges:
        followers.setdefault(edge.source, set()).add(edge.target)
    reached = {target for source in before for target in followers.get(source, ())} - after
    open_positions = list(reached)
    while open_positions:
        new = followers.get(open_positions.pop(), set()) - reached
        reached |= new
        open_positions.extend(new)
    return not reached.isdisjoint(after)


def _link(edges: Iterable[Edge], links: frozenset[Link], equal: bool = True) -> None:
    for edge in edges:
        if equal:
            edge.equal |= links
        else:
            edge.different |= links


def _out_of_reach(condition: Condition) -> str:
    return f"FILTER {print_condition(condition)} compares an event with one of each round"


# ── from positions to states ────────────────────────────────────────────────────────────────────────────────


def _automaton(positions: Positions, whole: Part, shown: frozenset[str]) -> Automaton:
    predicates = [Predicate(atom.type, atom.condition) for atom in positions.atoms]
    labels = [
        label(atom, gatherers, shown)
        for atom, gatherers in zip(positions.atoms, positions.gatherers, strict=True)
    ]
    edges = [*(Edge(0, position) for position in sorted(whole.first)), *_needed(positions.edges)]
    written = frozenset([LAST])
    marks = [
        Transition(
            edge.source,
            edge.target,
            Guard(
                edge.equal | {predicates[edge.target - 1]},
                frozenset(frozenset([link]) for link in edge.different),
            ),
            labels[edge.target - 1],
            written,
        )
        for edge in edges
    ]
    links = (
        link for edge in edges for asked in (edge.equal, edge.different) for link in sorted(asked, key=_order)
    )
    states = len(positions.atoms) + 1
    return Automaton(
        states,
        (*marks, *(Transition(state, state) for state in range(1, states))),
        whole.last,
        tuple(dict.fromkeys(predicates)),
        tuple(dict.fromkeys(links)),
        tuple(dict.fromkeys([NOTHING, *labels])),
    )


def _order(link: Link) -> tuple[str, str, str]:
    return link.kind.value, link.left, link.right


def _needed(edges: Iterable[Edge]) -> Iterator[Edge]:
    """The edges, in order, without those that require more than another between the same positions."""
    by_pair: dict[tuple[int, int], dict[tuple[frozenset[Link], frozenset[Link]], Edge]] = {}
    for edge in edges:
        if edge.equal.isdisjoint(edge.different):
            by_pair.setdefault((edge.source, edge.target), {}).setdefault((edge.equal, edge.different), edge)
    for _, found in sorted(by_pair.items()):
        for equal, different in found:
            if not any(
                (less, fewer) != (equal, different) and less <= equal and fewer <= different
                for less, fewer in found
            ):
                yield found[equal, different]
