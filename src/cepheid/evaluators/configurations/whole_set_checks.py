"""Checks of conditions on whole sets, for all candidates at once.

In: matches whose labels give the events of sets, and mark the events with which begins what the filter filters. Out:
the matches for which the condition is true, as `semantics.whole_sets.holds_of_sets` has it: once for each filter that a
match has passed through, an *instance*, and for each choice of single events that it reads.

The events of each set lie in one flat array, instance by instance, so that an aggregate is a column with a value per
instance, and `prev` is what stands so many places before. A table with a row per choice has these values and the
attributes of the chosen events, and the condition is evaluated over its columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cepheid.algebra.conditions import (
    EVENT,
    Aggregate,
    Attribute,
    Expression,
    Previous,
    attributes,
    sets_chosen,
    sets_read,
    variables,
)
from cepheid.algebra.types import type_of_value
from cepheid.automata.attach_rounds import Check
from cepheid.errors import CepheidError
from cepheid.evaluators.columns import Columns
from cepheid.evaluators.columns.arrays import array_of
from cepheid.evaluators.configurations.event_choices import EventChoices
from cepheid.matches.aggregates import aggregated
from cepheid.matches.computed import Part, over_columns, parts
from cepheid.matches.history import History
from cepheid.matches.match_arrays import Found, Ints
from cepheid.schema import Schema
from cepheid.semantics.rows import rows_of
from cepheid.semantics.whole_sets import holds_of_sets, most_steps
from cepheid.streams.gather import Gathered, Rows

_MOST_CHOICES = 1 << 20  # held together


@dataclass(frozen=True, slots=True)
class _Set:
    """The events of a set: those of instance k are `rows[offsets[k]:offsets[k+1]]`, rows of the table of events."""

    offsets: Ints
    rows: Rows


@dataclass(frozen=True, slots=True)
class _Choices:
    """Per choice its match, its instance, the row of each single event, the place of each chosen event in its set."""

    matches: Ints
    instances: Ints
    singles: Mapping[str, Rows]
    places: Mapping[str, Ints]

    def __len__(self) -> int:
        return len(self.matches)

    def take(self, chosen: Ints | slice) -> _Choices:
        return _Choices(
            self.matches[chosen],
            self.instances[chosen],
            {name: rows[chosen] for name, rows in self.singles.items()},
            {name: places[chosen] for name, places in self.places.items()},
        )


class WholeSetCheck:
    """`labels` says what the numbers of labels mean, `schema` has the types of attributes."""

    def __init__(self, check: Check, labels: Sequence[frozenset[str]], schema: Schema) -> None:
        self._choices = EventChoices(check, labels)
        self._has = {
            name: np.array([name in label for label in labels], np.bool_) for name in sorted(check.names)
        }
        (self._marker, _), *singles = check.paths
        self._singles = [name for name, _ in singles]
        self._sets = sorted(check.whole)
        self._chosen = sorted(sets_chosen(check.condition))
        self._steps = most_steps(check.condition)
        self._columns = {part: str(place) for place, part in enumerate(dict.fromkeys(parts(check.condition)))}
        self._asked = check.condition
        self._condition = over_columns(check.condition, self._columns)
        self._schema = schema

    def drop(self, candidates: Found, known: History, passes: npt.NDArray[np.bool_]) -> None:
        """Sets `passes` to false for candidates that the condition does not hold of."""
        table, places = known.find(candidates.rows)
        rows: Rows = places.astype(np.uint64)
        instance_of = np.cumsum(self._has[self._marker][candidates.labels]) - 1
        instances = int(instance_of[-1]) + 1
        sets = {name: self._set(name, candidates, instance_of, instances, rows) for name in self._sets}
        values = _Values(Gathered(table), sets, self._schema)
        for matches, events in self._choices.of(candidates):
            singles = {name: rows[events[:, k]] for k, name in enumerate(self._singles, start=1)}
            asked = _Choices(matches, instance_of[events[:, 0]], singles, {})
            asked = asked.take(np.flatnonzero(passes[matches]))
            try:
                for some in self._with_places(asked, sets):
                    columns = {name: values.of(part, some) for part, name in self._columns.items()}
                    holds = Columns(pa.table(columns)).holds(self._condition)
                    passes[some.matches[~holds]] = False
            except CepheidError as error:
                if error.code != "bad-data":  # a time that no column can hold
                    raise
                passes[asked.matches[~self._by_definition(asked, sets, table)]] = False

    def _by_definition(
        self, choices: _Choices, sets: Mapping[str, _Set], table: pa.Table
    ) -> npt.NDArray[np.bool_]:
        """Whether the condition is true, choice by choice: a computed time may be later than the last that a column
        holds."""
        rows = rows_of(table.select(list(dict.fromkeys(item.name for item in attributes(self._asked)))))

        def holds(choice: int) -> bool:
            instance = choices.instances[choice]
            gathered = {
                name: [rows[row] for row in one.rows[one.offsets[instance] : one.offsets[instance + 1]]]
                for name, one in sets.items()
            }
            singles = {name: rows[of_choice[choice]] for name, of_choice in choices.singles.items()}
            return holds_of_sets(self._asked, gathered, singles)

        return np.array([holds(choice) for choice in range(len(choices))], np.bool_)

    def _set(self, name: str, candidates: Found, instance_of: Ints, instances: int, rows: Rows) -> _Set:
        """What each instance has gathered: a name inside a filter is bound nowhere else."""
        gathered = np.flatnonzero(self._has[name][candidates.labels])
        counts = np.bincount(instance_of[gathered], minlength=instances)
        return _Set(np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]), rows[gathered])

    def _with_places(self, choices: _Choices, sets: Mapping[str, _Set]) -> Iterator[_Choices]:
        """Every choice also of one event of each set that single events are read of, in portions."""
        waiting = [choices]
        while waiting:
            some = waiting.pop()
            spread = self._spread(some, sets)
            if spread is None:
                middle = len(some) // 2
                waiting += [some.take(slice(middle, None)), some.take(slice(middle))]
            elif len(spread):
                yield spread

    def _spread(self, choices: _Choices, sets: Mapping[str, _Set]) -> _Choices | None:
        """The choices, or None where they are too many and can be halved."""
        whole = choices
        for name in self._chosen:
            offsets = sets[name].offsets
            begins = offsets[whole.instances] + self._steps.get(name, 0)
            times = np.maximum(offsets[whole.instances + 1] - begins, 0)
            total = int(times.sum())
            if total > _MOST_CHOICES and len(choices) > 1:
                return None
            within = np.arange(total) - np.repeat(np.cumsum(times) - times, times)
            places = np.repeat(begins, times) + within
            whole = whole.take(np.repeat(np.arange(len(whole)), times))
            whole = _Choices(whole.matches, whole.instances, whole.singles, {**whole.places, name: places})
        return whole


class _Values:
    """The values of attributes, aggregates and `prev`. What is the same for all choices is worked out once."""

    def __init__(self, events: Gathered, sets: Mapping[str, _Set], schema: Schema) -> None:
        self._events = events
        self._sets = sets
        self._schema = schema
        self._of_sets: dict[Expression, pa.Array] = {}

    def of(self, part: Part, choices: _Choices) -> pa.Array:
        """A value per choice."""
        match part:
            case Aggregate():
                return self._known(part).take(pa.array(choices.instances))
            case Previous(operand, steps):
                (name,) = variables(operand)
                return self._known(operand).take(pa.array(choices.places[name] - steps))
            case Attribute(str(name), _, True):
                return self._known(part).take(pa.array(choices.places[name]))
            case Attribute(str(name), column):
                return self._events.column(column, choices.singles[name])
            case Attribute():
                raise AssertionError(part)  # of no event of a match
            case _:
                assert_never(part)

    def _known(self, part: Expression) -> pa.Array:
        """Of an aggregate the value for each instance, of anything else for each event of its set."""
        if part not in self._of_sets:
            self._of_sets[part] = (
                self._aggregate(part) if isinstance(part, Aggregate) else self._of_events(part)
            )
        return self._of_sets[part]

    def _aggregate(self, node: Aggregate) -> pa.Array:
        (name,) = sets_read(node.operand)
        offsets = self._sets[name].offsets
        if isinstance(node.operand, Attribute) and node.operand.name == EVENT:
            values = pa.repeat(True, len(self._sets[name].rows))
        else:
            values = self._known(node.operand)
        return aggregated(node, offsets, values, type_of_value(node, self._schema), array_of)

    def _of_events(self, operand: Expression) -> pa.Array:
        (name,) = sets_read(operand)
        rows = self._sets[name].rows
        if isinstance(operand, Attribute):
            return self._events.column(operand.name, rows)
        read = list(dict.fromkeys(attributes(operand)))
        names: dict[Part, str] = {item: str(place) for place, item in enumerate(read)}
        table = pa.table({names[item]: self._events.column(item.name, rows) for item in read})
        return array_of(over_columns(operand, names), table, type_of_value(operand, self._schema))
