"""A job: the description of a streaming query that all its parts share, made on the driver and pickled to the workers.

The *terms* of a checkpoint are those that it began with and must be continued with: another query, other columns or
another number of buckets would change the meaning of its state.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import pyarrow as pa

from cepheid.engine import Engine
from cepheid.errors import CepheidError
from cepheid.pipeline import parse_query, plan_for
from cepheid.plan.plan import Plan
from cepheid.schema import Schema
from cepheid.streams.zones import zoned_schema

Terms = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Job:
    """`keys` are the numbers of the buckets (`bucket_keys`); `late` is the fate of late rows (`late`), `delay_ms` the
    delay of the watermark. These two may change when a query is started again."""

    plan: Plan
    keys: tuple[int, ...]
    positions: bool = False
    limit: int | None = None
    columns: tuple[str, ...] | None = None
    late: str = "drop"
    delay_ms: int | None = None

    def engine(self) -> Engine:
        return Engine(
            self.plan,
            positions=self.positions,
            limit=self.limit,
            partition_positions=self.positions and bool(self.plan.query.partition_by),
            columns=self.columns,
        )

    @property
    def terms(self) -> Terms:
        schema = self.plan.schema
        return {
            "query": self.plan.text,
            "language": self.plan.language,
            "evaluator": self.plan.evaluator,
            "asked": self.plan.asked,
            "time": schema.time,
            "type": schema.type,
            "order": schema.order,
            "stream": schema.stream,
            "schema": base64.b64encode(schema.arrow.serialize().to_pybytes()).decode("ascii"),
            "positions": self.positions,
            "limit": self.limit,
            "columns": None if self.columns is None else list(self.columns),
            "buckets": len(self.keys),
        }

    def continuing(self, terms: Terms) -> Job:
        """The job that continues a checkpoint, with the evaluator that `auto` chose at its beginning. Refuses a
        checkpoint with other terms."""
        own = self.terms
        changed = [name for name in own if terms.get(name) != own[name]]
        if changed == ["evaluator"] and self.plan.asked == "auto":
            return replace(self, plan=_plan_that_ran(self.plan, terms["evaluator"]))
        if changed:
            name = changed[0]
            if name == "schema":
                _check_zones(_schema(str(terms.get(name))), _schema(own[name]))
            was, now = _shown(name, terms.get(name)), _shown(name, own[name])
            message = (
                f"the checkpoint was begun with another {_WORDS.get(name, name)}: {was}; now it is {now}"
            )
            hint = _HINTS.get(name, "continue it with the same, or begin a new checkpoint")
            raise CepheidError("bad-state", message, hint=hint)
        return self


@lru_cache(maxsize=8)
def _plan_that_ran(plan: Plan, ran: str) -> Plan:
    return plan_for(parse_query(plan.text, plan.language), plan.schema, plan.asked, ran)


def _check_zones(was: pa.Schema, now: pa.Schema) -> None:
    """Refuses to go on in another time zone, where nothing else has changed."""
    zones = [(_zone(old.type), _zone(new.type)) for old, new in zip(was, now, strict=False)]
    moved = [(old, new) for old, new in zones if None not in (old, new) and old != new]
    if moved and zoned_schema(was, "UTC") == zoned_schema(now, "UTC"):
        old, new = moved[0]
        message = f"the checkpoint was begun in the time zone {old}; now it is {new}"
        hint = f'give `zone="{old}"`, or set `spark.sql.session.timeZone` to its old value'
        raise CepheidError("bad-state", message, hint=hint)


def _zone(dtype: pa.DataType) -> str | None:
    zone: str | None = dtype.tz if pa.types.is_timestamp(dtype) else None
    return zone


_WORDS = {
    "schema": "set of columns",
    "stream": "name of the stream",
    "asked": "evaluator",
    "buckets": "number of buckets",
}
_HINTS = {
    "buckets": "set `spark.sql.shuffle.partitions` to its old value before `match` is called, or begin a new checkpoint"
}


def job_of_terms(terms: Terms) -> Job:
    """The job with which a checkpoint began."""
    schema = Schema(_schema(terms["schema"]), terms["time"], terms["type"], terms["order"], terms["stream"])
    plan = plan_for(
        parse_query(terms["query"], terms["language"]), schema, terms["asked"], terms["evaluator"]
    )
    columns = None if terms["columns"] is None else tuple(terms["columns"])
    return Job(plan, tuple(range(terms["buckets"])), terms["positions"], terms["limit"], columns)


def _schema(text: str) -> pa.Schema:
    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text)))


def _shown(name: str, value: Any) -> str:
    if name == "schema" and isinstance(value, str):
        return ", ".join(f"{field.name} {field.type}" for field in _schema(value))
    return repr(value) if name != "query" else f"`{' '.join(str(value).split())}`"
