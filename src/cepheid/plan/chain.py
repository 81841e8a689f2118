"""The chain-CEA of a query, or why it has none.

In: a query as meant and as rewritten. Out: the automaton that compares neighbouring events of a match, or the
reason why the query needs more than that, as `explain` says it.
"""

from __future__ import annotations

from cepheid.algebra.nodes import Query, Strategy
from cepheid.algebra.variables import shown
from cepheid.automata.chain import ChainCEA
from cepheid.automata.chain_construct import NoChainError, construct_chain
from cepheid.automata.chain_trim import trim_chain
from cepheid.errors import CepheidError
from cepheid.rewrite.rules import rewrite


def chain_of(query: Query, rewritten: Query | None = None) -> ChainCEA | str:
    """The automaton, its labels what the query as meant shows; or the reason why there is none.

    >>> from cepheid.algebra.nodes import All, Atom, PartBy
    >>> chain_of(Query(PartBy(All(Atom("A"), Atom("B")), ((None, "id"),)), consume=True))
    'ALL takes its parts in any order'
    """
    rewritten = rewrite(query).query if rewritten is None else rewritten
    if query.strategy not in (Strategy.ALL, Strategy.STRICT):
        return f"{query.strategy.value} compares matches, and those of other keys compete too"
    names = tuple(item.name for item in shown(query))
    try:
        chain = construct_chain(rewritten.pattern, names, strict=query.strategy is Strategy.STRICT)
    except NoChainError as error:
        return error.message
    except CepheidError as error:
        if error.code != "too-large":
            raise
        return error.message
    return trim_chain(chain)
