"""Which evaluator runs a query, and why.

In: the query as meant and as rewritten, and the schema. Out: a plan. A query that no evaluator can run is an error,
never an approximation.
"""

from __future__ import annotations

from collections.abc import Iterator

from cepheid.algebra.conditions import attributes, sets_read
from cepheid.algebra.nodes import Atom, Filter, PartBy, Query, Recognise, Strategy, walk
from cepheid.algebra.printing import print_condition, print_part_by
from cepheid.algebra.strings import Read, walk_reading
from cepheid.algebra.variables import shown
from cepheid.automata.cea import CEA
from cepheid.automata.chain import ChainCEA
from cepheid.automata.construct import construct
from cepheid.automata.srt import SRT
from cepheid.automata.trim import trim
from cepheid.errors import CepheidError, did_you_mean
from cepheid.plan.chain import chain_of
from cepheid.plan.plan import Plan
from cepheid.plan.transducer import transducer_of
from cepheid.rewrite.attach_atoms import printed
from cepheid.rewrite.unary import is_unary
from cepheid.schema import Schema

EVALUATORS = ("auto", "compact", "chain", "configurations", "semantics")


def choose(query: Query, rewritten: Query, schema: Schema, evaluator: str = "auto") -> Plan:
    """The plan for a query; `evaluator` forces one, if it can run the query."""
    if evaluator not in EVALUATORS:
        listed = ", ".join(f"`{name}`" for name in EVALUATORS)
        raise CepheidError(
            "bad-argument",
            f"`evaluator` is one of {listed}; got `{evaluator}` instead",
            hint=did_you_mean(str(evaluator), EVALUATORS),
        )
    unary = is_unary(rewritten.pattern)
    if evaluator == "compact" and not unary:
        raise CepheidError(
            "unsupported-evaluator",
            f"the compact evaluator takes sequences with unary conditions only, and {reason(rewritten)}",
            hint="leave the evaluator to `auto`",
        )
    chain = None
    if evaluator == "chain" or (evaluator == "auto" and (not unary or _is_of_many_keys(rewritten))):
        chain = chain_of(query, rewritten)
    if evaluator == "chain" and isinstance(chain, str):
        raise CepheidError(
            "unsupported-evaluator",
            f"the chain evaluator compares neighbouring events of a match only, and {chain}",
            hint="leave the evaluator to `auto`",
        )
    transducer = None
    if evaluator == "configurations" or (
        evaluator == "auto" and not unary and not isinstance(chain, ChainCEA)
    ):
        transducer = transducer_of(query, rewritten)
    if evaluator == "configurations" and isinstance(transducer, str):
        raise CepheidError(
            "unsupported-evaluator",
            f"the configurations evaluator compares events with earlier ones only, and {transducer}",
            hint="leave the evaluator to `auto`",
        )
    chosen = evaluator
    if evaluator == "auto":
        chosen = "compact" if unary else "configurations" if isinstance(transducer, SRT) else "semantics"
        chosen = "chain" if isinstance(chain, ChainCEA) else chosen
    variables = shown(query)
    return Plan(
        query=query,
        # Who asks for the definition gets it of the query as written.
        rewritten=query if evaluator == "semantics" else rewritten,
        schema=schema,
        evaluator=chosen,
        why=tuple(_why(chosen, evaluator, rewritten, chain, transducer)),
        shown=variables,
        reads=_reads(query, schema),
        automaton=automaton_of(query, rewritten),
        chain=chain if isinstance(chain, ChainCEA) else None,
        transducer=transducer if isinstance(transducer, SRT) else None,
        asked=evaluator,
    )


def automaton_of(query: Query, rewritten: Query) -> CEA | None:
    """The automaton of a query that is unary once rewritten; its labels are what the query as meant shows."""
    if not is_unary(rewritten.pattern):
        return None
    return trim(construct(rewritten.pattern, tuple(item.name for item in shown(query))))


def _why(
    chosen: str, asked: str, rewritten: Query, chain: ChainCEA | str | None, transducer: SRT | str | None
) -> Iterator[str]:
    if asked != "auto":
        yield f"`{chosen}` was asked for"
    elif is_unary(rewritten.pattern):
        yield "every condition is unary, so the pattern is a finite automaton: constant time per event"
        if chosen == "chain":
            yield "of many partitions one index of what waits makes matches faster; counts run on `compact`"
    elif chosen == "chain":
        yield f"{reason(rewritten)}, but only neighbours in a match: constant time per event, by an index of what waits"
    elif chosen == "configurations":
        yield f"{reason(rewritten)}: partial matches that agree in what is read later are kept and moved as one"
        for check in transducer.checks if isinstance(transducer, SRT) else ():
            no_extreme = "compares any number of events with later ones, and no one of them decides for all"
            slow = "it is asked of all matches without it, so time grows with those"
            yield f"FILTER {printed(check.condition)} {no_extreme}: {slow}"
        if isinstance(transducer, SRT) and transducer.tells:
            told = "what is compared does not follow from what a match shows"
            yield f"{told}, so time grows with all ways to have a match"
        if rewritten.strategy not in (Strategy.ALL, Strategy.STRICT):
            chooses = f"{rewritten.strategy.value} chooses among all matches that end at an event"
            yield f"{chooses}, so time grows with those, not with what is chosen"
    else:
        yield f"{transducer}; only the definition itself runs that for now, and it is slow"


def _is_of_many_keys(query: Query) -> bool:
    """Whether matches of many partitions are made: one index of all is faster than a state for each."""
    return bool(query.partition_by) and query.window is not None and query.strategy is Strategy.ALL


def reason(query: Query) -> str:
    """What makes a query more than a finite automaton can run."""
    found = list(walk(query.pattern))
    for node in found:
        if isinstance(node, Filter) and not sets_read(node.condition):
            return f"FILTER {print_condition(node.condition)} compares events"
        if isinstance(node, PartBy):
            return f"{print_part_by(node.keys)} compares events"
    for node in found:
        if isinstance(node, Recognise):
            return "SREMO reads every event of a piece of the stream, with registers"
        if isinstance(node, Filter):
            return f"FILTER {print_condition(node.condition)} compares events of sets"
    return "an operator has no automaton yet"


def _reads(query: Query, schema: Schema) -> tuple[str, ...]:
    """The columns that deciding the matches needs, in the order of the schema."""
    needed = {schema.time, schema.type, schema.order, *query.partition_by, *read_by_conditions(query)}
    return tuple(name for name in schema.names if name in needed)


def read_by_conditions(query: Query) -> set[str]:
    """The attributes that some condition or PART-BY reads.

    >>> from cepheid.algebra.conditions import Attribute, IsNull
    >>> read_by_conditions(Query(Filter(Atom("T", "x"), IsNull(Attribute("x", "value")))))
    {'value'}
    """
    conditions = [node.condition for node in walk(query.pattern) if isinstance(node, Filter | Atom)]
    readings = (node.reading for node in walk(query.pattern) if isinstance(node, Recognise))
    conditions += [
        part.condition for whole in readings for part in walk_reading(whole) if isinstance(part, Read)
    ]
    keys = {name for node in walk(query.pattern) if isinstance(node, PartBy) for _, name in node.keys}
    return keys | {read.name for condition in conditions if condition for read in attributes(condition)}
