"""The data of `check` and `explain`: its columns, and the types of its events.

In: the user's inputs. Out: warnings for event types that the query names and the data lacks. The type column is read
until all of them are found, without Spark; in data that only Spark can read no types are searched for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from cepheid.cli.inputs import Columns, Input, described
from cepheid.files.described import Described
from cepheid.files.reading import open_files
from cepheid.pipeline import ParsedQuery, ParsedScript
from cepheid.streams.type_occurrence import TypeOccurrence


@dataclass(frozen=True)
class Data:
    """Some inputs and the user's arguments about columns; `type` None: no column holds an event's type."""

    given: list[Input]
    columns: Columns
    type: str | None
    order: str | None

    @cached_property
    def found(self) -> dict[str | None, Described | None]:
        """How each input is read."""
        return {stream.stream: described(stream, self.columns) for stream in self.given}


def look_for_types(query: ParsedQuery | ParsedScript, data: Data) -> None:
    """Warns of event types that the query names and that occur in none of the streams it reads."""
    if isinstance(query, ParsedScript):
        made = {step.stream for step in query.steps}
        for one in query.queries:
            if not made & set(one.query.streams):
                look_for_types(one, data)
        return
    if data.type is None:
        return
    named = data.found if None in data.found or not query.query.streams else query.query.streams
    occurring = TypeOccurrence(query.query, data.type)
    for name in named:
        known = data.found.get(name)
        if known is None:
            return
        if data.type not in known.schema.names:
            if name is None:
                return
            occurring.look(pa.table({data.type: [name]}))
            continue
        files = known.files or open_files(known.paths, known.format)
        for batch in files.batches([data.type]):
            occurring.look(batch)
            if occurring.complete:
                return
    occurring.warn()
