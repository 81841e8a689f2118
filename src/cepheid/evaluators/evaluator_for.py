"""The evaluator that runs a plan.

In: a plan, whether to count and the limit. Out: an evaluator of the plan's automaton; for automata with registers, with
the filters of matches around it: checks of whole matches, the projection of exposed registers, a strategy.
"""

from __future__ import annotations

from dataclasses import replace

from cepheid.algebra.nodes import Nfab
from cepheid.automata.automaton import Automaton
from cepheid.automata.determinise_chain import ChainDeterminiser
from cepheid.automata.rivals import RivalCheck
from cepheid.automata.strategy_parts import parts_in_order
from cepheid.evaluators.chain.evaluator import ChainEvaluator
from cepheid.evaluators.compact.evaluator import CompactEvaluator
from cepheid.evaluators.configurations.evaluator import ConfigurationsEvaluator
from cepheid.evaluators.configurations.match_checks import MatchChecks
from cepheid.evaluators.configurations.projection import Projected
from cepheid.evaluators.configurations.rival_events import RivalEvents
from cepheid.evaluators.configurations.selection import HOW, Selection
from cepheid.evaluators.derived_columns import DerivedColumns, with_derived
from cepheid.evaluators.interface import Evaluator
from cepheid.evaluators.nfab import NfabEvaluator
from cepheid.evaluators.semantics import SemanticsEvaluator
from cepheid.evaluators.strategy_columns import StrategyColumns, with_columns
from cepheid.plan.automaton_with_registers import determinised
from cepheid.plan.candidates import CHAIN, COMPACT, CONFIGURATIONS
from cepheid.plan.plan import Plan


def evaluator_for(plan: Plan, counting: bool, limit: int | None) -> Evaluator:
    if counting and plan.for_counting is not None:
        plan = plan.for_counting
    limit = None if counting else limit
    automaton = plan.automaton
    if isinstance(plan.rewritten.pattern, Nfab):
        return NfabEvaluator(plan, counting, limit)
    if automaton is None:
        return SemanticsEvaluator(plan, counting, limit)
    if parts := parts_in_order(automaton):
        reading = plan.with_schema(with_columns(plan.schema, parts))
        return StrategyColumns(_of_automaton(reading, automaton, counting, limit), parts, plan.schema)
    rivals = _rivals_of(plan, automaton)
    if not automaton.derived and rivals is None:
        return _of_automaton(plan, automaton, counting, limit)
    reading = plan.with_schema(with_derived(plan.schema, automaton.derived))
    inner = _of_automaton(reading, automaton, counting, limit, rivals)
    has_registers = plan.evaluator == CONFIGURATIONS.evaluator
    every = has_registers and not determinised(plan.rewritten, automaton).is_idle_on_others
    return DerivedColumns(inner, automaton, plan.rewritten, plan.schema, every, rivals)


def _rivals_of(plan: Plan, automaton: Automaton) -> RivalEvents | None:
    """Where events are kept that some check asks for beside matches."""
    checks = [check for check in automaton.checks if isinstance(check, RivalCheck)]
    read = sorted({name for check in checks for name in check.reads})
    return RivalEvents(plan.schema.only(read or [plan.schema.time]).arrow) if checks else None


def _of_automaton(
    plan: Plan, automaton: Automaton, counting: bool, limit: int | None, rivals: RivalEvents | None = None
) -> Evaluator:
    if plan.evaluator == COMPACT.evaluator:
        return CompactEvaluator(automaton, plan.rewritten, plan.schema, counting, limit)
    if plan.evaluator == CHAIN.evaluator:
        return ChainEvaluator(ChainDeterminiser(automaton), plan.rewritten, plan.schema, counting, limit)
    return _configurations(plan, automaton, counting, limit, rivals)


def _configurations(
    plan: Plan, automaton: Automaton, counting: bool, limit: int | None, rivals: RivalEvents | None
) -> Evaluator:
    query, checks = plan.rewritten, automaton.checks
    if automaton.guarded:
        query = replace(query, window=None)
    chooses = query.strategy in HOW
    asked, everything = (counting, limit), (False, None)
    # What passes its checks consumes, so CONSUME comes after them.
    forgets = query.consume and bool(checks)
    own = everything if chooses else asked
    inner = ConfigurationsEvaluator(
        determinised(query, automaton),
        replace(query, consume=query.consume and not forgets),
        plan.schema,
        *(everything if checks or automaton.exposes else own),
        forgets=forgets,
    )
    whole: Evaluator = inner
    names = {item.name for item in plan.shown}
    if checks:
        windowed = query.window is not None
        whole = MatchChecks(inner, checks, names, plan.schema, forgets, windowed, *own, rivals)
    elif automaton.exposes:
        whole = Projected(inner, names, *own)
    return Selection(whole, query.strategy, counting, limit) if chooses else whole
