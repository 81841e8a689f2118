"""Random queries of SASE+, as text, and streams to run them on.

In: a `Choices`. Out: a `SaseCase`. Queries have up to three positive components in any place, Kleene or not, with
negated ones between and around them, a strategy for each, cuts, conditions of every form of reference, `[attr]`,
PARTITION, windows of both kinds and HAVING. RETURN shows the events of every component by their numbers in the stream,
so that a row of the output is a binding. Streams have few values, NULLs, and events at one time. Number 0 is always the
simplest answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from support.generators import Choices, chance, pick

SELECTIONS = ("skip_till_next_match", "partition_contiguity", "strict_contiguity", "skip_till_any_match")
COMPARISONS = ("=", "<", ">", "<>", "<=", ">=")
ATTRIBUTES = ("v", "w")
NUMBER = "n"
"""The column with the number of an event in its stream."""


@dataclass(frozen=True, slots=True)
class Part:
    """A component of the pattern."""

    type: str
    var: str
    kleene: bool
    negated: bool

    @property
    def declared(self) -> str:
        return f"{self.var}[]" if self.kleene else self.var

    @property
    def text(self) -> str:
        return f"{'~' if self.negated else ''}{self.type}{'+' if self.kleene else ''} {self.declared}"

    @property
    def whole(self) -> tuple[str, ...]:
        """Terms about the component once it is complete, without their attribute where they take one."""
        if not self.kleene:
            return (f"{self.var}.v", f"{self.var}.w")
        name = self.var
        return (
            f"{name}[1].v",
            f"{name}[{name}.LEN].v",
            f"{name}[i].v",
            f"sum({name}[].v)",
            f"max({name}[].w)",
            f"{name}.LEN",
        )


@dataclass(frozen=True, slots=True)
class SaseCase:
    text: str
    table: pa.Table

    def __repr__(self) -> str:
        return f"{self.text}\n{self.table.to_pydict()}"


def sase_case(choices: Choices, events: int = 8) -> SaseCase:
    return SaseCase(sase_query(choices), _stream(choices, choices.below(events) + 1))


def _stream(choices: Choices, length: int) -> pa.Table:
    rows, time = [], 0
    for number in range(length):
        time += pick(choices, (1, 1, 0, 2))
        values = {name: pick(choices, (1, 2, 3, 1, 2, None)) for name in ATTRIBUTES}
        rows.append(
            {
                "ts": time,
                "type": pick(choices, "AAB"),
                "k": pick(choices, (1, 1, 2, None)),
                **values,
                NUMBER: number,
            }
        )
    columns = [(name, pa.int64()) for name in ("ts", "k", *ATTRIBUTES, NUMBER)]
    return pa.Table.from_pylist(rows, pa.schema([("type", pa.string()), *columns]))


def sase_query(choices: Choices) -> str:
    parts = _parts(choices)
    positive = [part for part in parts if not part.negated]
    where = _where(choices, parts)
    lines = [f"PATTERN SEQ({', '.join(part.text for part in parts)})"]
    if where:
        lines.append(f"WHERE {where}")
    if chance(choices, 60):
        lines.append(
            f"WITHIN {choices.below(8)}" if chance(choices, 70) else f"WITHIN {choices.below(7) + 1} EVENTS"
        )
    if chance(choices, 25):
        lines.append(f"HAVING {_having(choices, positive)}")
    columns = [f"{part.declared}.{NUMBER} AS {part.var}" for part in positive]
    return "\n".join([*lines, f"RETURN {', '.join(columns)}"])


def _parts(choices: Choices) -> list[Part]:
    count = pick(choices, (1, 2, 2, 3))
    parts = list[Part]()
    names = iter("abcdefgh")
    for place in range(count + 1):
        if chance(choices, 15):
            parts.append(Part(pick(choices, "AB"), next(names), chance(choices, 50), True))
        if place < count:
            parts.append(Part(pick(choices, "AB"), next(names), chance(choices, 60), False))
    return parts


def _where(choices: Choices, parts: list[Part]) -> str:
    conditions = [_condition(choices, parts, place) for place in range(len(parts)) if chance(choices, 45)]
    conditions += [
        _condition(choices, parts, choices.below(len(parts))) for _ in range(pick(choices, (0, 0, 1)))
    ]
    partitions = chance(choices, 15)
    if chance(choices, 40):
        conditions.append("PARTITION([k])" if partitions else "[k]")
    elif partitions:
        conditions.append(f"PARTITION({_plain(choices, parts)})")
    body = " ^ ".join(conditions)
    how = choices.below(3)
    if how == 0:
        return body
    if how == 1:
        listed = ", ".join(_chosen(choices, part) for part in parts)
        return f"{pick(choices, SELECTIONS)}({listed}) {{ {body} }}"
    functions = [
        f"{pick(choices, SELECTIONS)}({_chosen(choices, part)}) {{ }}"
        for part in parts
        if chance(choices, 80)
    ]
    return " ^ ".join([*functions, *([body] if body else [])])


def _chosen(choices: Choices, part: Part) -> str:
    return part.declared + ("!" if part.kleene and chance(choices, 40) else "")


def _condition(choices: Choices, parts: list[Part], place: int) -> str:
    """A clause that is a criterion on one component, in each of its predicates."""
    part, before = parts[place], [one for one in parts[:place] if not one.negated]
    if part.negated:
        before = [one for one in parts if not one.negated]
    own, others = _criterion(choices, part)
    terms = [*others, *(term for one in before for term in one.whole)]
    predicates = [_predicate(choices, own, terms) for _ in range(pick(choices, (1, 1, 1, 2)))]
    text = predicates[0] if len(predicates) == 1 else f"({' OR '.join(predicates)})"
    return f"NOT {text}" if chance(choices, 10) else text


def _predicate(choices: Choices, own: str, terms: list[str]) -> str:
    other = pick(choices, terms) if terms and chance(choices, 60) else str(choices.below(4))
    return f"{own} {pick(choices, COMPARISONS)} {other}"


def _criterion(choices: Choices, part: Part) -> tuple[str, list[str]]:
    """A term that a clause is a criterion on, and what of the same component it may be compared with."""
    name, attribute = part.var, pick(choices, ATTRIBUTES)
    if not part.kleene:
        return f"{name}.{attribute}", [f"{name}.v", f"{name}.w"]
    match choices.below(4):
        case 0:
            return f"{name}[i].{attribute}", [f"{name}[i].w"]
        case 1:
            running = (f"avg({name}[..i-1].v)", f"count({name}[..i-1])", f"min({name}[..i-1].w)")
            return f"{name}[i].{attribute}", [f"{name}[i-1].v", f"{name}[i-1].w", f"{name}[1].v", *running]
        case 2:
            return f"{name}[1].{attribute}", [f"{name}[1].w"]
        case _:
            last = pick(
                choices, (f"{name}[{name}.LEN].{attribute}", f"{name}.LEN", f"sum({name}[].{attribute})")
            )
            return last, [f"{name}[1].v", f"count({name}[].v)", f"{name}[i].w"]


def _plain(choices: Choices, parts: list[Part]) -> str:
    """A condition on an event that reads no aggregate."""
    part = pick(choices, parts)
    own = f"{part.var}[i].v" if part.kleene else f"{part.var}.v"
    return f"{own} {pick(choices, COMPARISONS)} {choices.below(4)}"


def _having(choices: Choices, positive: list[Part]) -> str:
    terms = [term for part in positive for term in part.whole]
    conditions = [_predicate(choices, pick(choices, terms), terms) for _ in range(choices.below(2) + 1)]
    conditions += [
        f"{part.var}[i].v >= {part.var}[i-1].v" for part in positive if part.kleene and chance(choices, 20)
    ]
    return (
        pick(choices, (" AND ", " OR ")).join(conditions) if len(conditions) < 3 else " AND ".join(conditions)
    )
