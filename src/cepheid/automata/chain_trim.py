"""Trim for chain-CEA: no states and transitions that no match needs, and none that behave alike.

In: a chain-CEA. Out: one that accepts the same (complex event, binding) pairs. What a transition asks for,
predicate and links together, is a letter to `trim`, which knows nothing of links; a state that waits is one that
skips to itself. States may be merged whatever event entered them: a link reads the last event by its attribute,
not by the state.
"""

from __future__ import annotations

from dataclasses import replace

from cepheid.automata.cea import CEA, Mark, Predicate
from cepheid.automata.chain import ChainCEA, ChainMark
from cepheid.automata.construct import Numbering
from cepheid.automata.trim import trim

Asked = tuple[int, frozenset[int], frozenset[int]]


def trim_chain(chain: ChainCEA) -> ChainCEA:
    """The automaton without useless states, with states that behave alike merged.

    >>> from cepheid.algebra.nodes import Atom, Or, PartBy, Seq
    >>> from cepheid.automata.chain_construct import construct_chain
    >>> twice = Or((Seq(Atom("A"), Atom("C")), Seq(Atom("B"), Atom("C"))))
    >>> alike = construct_chain(PartBy(twice, ((None, "id"),)), ())
    >>> alike.states, trim_chain(alike).states
    (5, 3)
    """
    asked: Numbering[Asked] = Numbering()
    marks = tuple(
        Mark(mark.source, asked[mark.predicate, mark.equal, mark.different], mark.label, mark.target)
        for mark in chain.marks
    )
    letters = tuple(Predicate(str(number), None) for number in range(len(asked)))
    skips = tuple(range(chain.states))
    small = trim(CEA(chain.states, letters, chain.labels, marks, skips, chain.finals))
    meaning = list(asked)
    return _numbered(chain, small, [meaning[int(letter.type or "")] for letter in small.predicates])


def _numbered(chain: ChainCEA, small: CEA, asked: list[Asked]) -> ChainCEA:
    """The trimmed automaton with its links again, and only the predicates and links in use."""
    predicate_at = {old: new for new, old in enumerate(sorted({predicate for predicate, _, _ in asked}))}
    used = sorted(frozenset[int]().union(*(equal | different for _, equal, different in asked)))
    link_at = {old: new for new, old in enumerate(used)}
    marks = []
    for mark in small.marks:
        predicate, equal, different = asked[mark.predicate]
        marks.append(
            ChainMark(
                mark.source,
                predicate_at[predicate],
                frozenset(link_at[link] for link in equal),
                frozenset(link_at[link] for link in different),
                mark.label,
                mark.target,
            )
        )
    return replace(
        chain,
        states=small.states,
        predicates=tuple(chain.predicates[old] for old in predicate_at),
        links=tuple(chain.links[old] for old in link_at),
        labels=small.labels,
        marks=tuple(marks),
        finals=small.finals,
    )
