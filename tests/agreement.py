"""Whether an evaluator gives the matches of the oracle on a random case.

In: a case of `generators` and an evaluator's name. Out: nothing, or an assertion that shows the case. The
query goes through all of the public road as text; the oracle takes it as it was drawn.
"""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
from cepheid.algebra.printing import print_query

import cepheid
from cepheid.algebra.variables import shown
from cepheid.semantics.oracle import OracleMatch
from generators import Case
from specification import ROW, Match, matches_of


def check(case: Case, evaluator: str) -> None:
    """Fails when the evaluator's matches are not the oracle's. A formula said to be unsatisfiable must have
    none."""
    expected = Counter(as_match(case, match) for match in case.expected())
    stream = case.table.append_column(ROW, pa.array(range(len(case.table)), pa.int64()))
    text = print_query(case.query)
    try:
        result = cepheid.match(stream, text, time="ts", positions=True, evaluator=evaluator)
    except cepheid.CepheidError as error:
        if error.code != "unsatisfiable":
            raise
        found = Counter[Match]()
    else:
        found = Counter(matches_of(result, stream))
    assert found == expected, (
        f"{evaluator} differs\n{text}\n{case}\nmissing {expected - found}\nextra {found - expected}"
    )


def as_match(case: Case, match: OracleMatch) -> Match:
    """An oracle's match in the form of an output row."""
    bindings = []
    for variable in sorted(shown(case.query), key=lambda variable: variable.name):
        positions = tuple(sorted(at for name, at in match.binding if name == variable.name))
        if positions:
            bindings.append((variable.name, positions if variable.many else positions[0]))
    return Match(match.positions, tuple(bindings))
