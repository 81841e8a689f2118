"""Conditions of several events → the words to store of each event, and a test or program over these words.

In: typed conditions. Out: per condition a `Compiled`. Every maximal part that reads one event only is a *leaf*: it is
computed over whole columns and stored as a word. A condition that compares two leaves becomes one comparison of
words; any other becomes a program for a stack machine, operands before operations. Where the kernel lacks an operation,
as for texts made of texts, the program asks Python (`PythonFallback`) for the value, given the leaves below.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

import pyarrow as pa

from cepheid.algebra.conditions import (
    MIRRORED,
    Aggregate,
    Arithmetic,
    Attribute,
    Call,
    Case,
    Cast,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    Element,
    Expression,
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Negation,
    Previous,
    RLike,
    attributes,
    children,
    over_current_event,
    rebuild,
    without_negations,
)
from cepheid.algebra.elements import type_of
from cepheid.algebra.key_equality import sides_of_same_key
from cepheid.algebra.kinds import Kind
from cepheid.algebra.number_types import decimal_type
from cepheid.algebra.precision import DecimalType
from cepheid.evaluators.columns.orders import OUTCOMES
from cepheid.evaluators.configurations.decimal_words import MOST_REAL_SCALE, wide_form
from cepheid.evaluators.configurations.python_fallback import Part, PythonFallback
from cepheid.evaluators.configurations.word_forms import (
    NoTestError,
    computes_times,
    form_of,
    is_masked,
    reads_decimals,
)
from cepheid.evaluators.configurations.words import can_be_looked_up, tagged
from cepheid.kernels.conditions import programs
from cepheid.kernels.conditions import values as tags
from cepheid.kernels.conditions.decimals import DECIMAL, WIDE
from cepheid.kernels.conditions.rounding import MOST_DIGITS
from cepheid.schema import Schema
from cepheid.semantics.values import value_of
from cepheid.streams.partitions import Texts

_ALL_OUTCOMES = tags.LESS | tags.EQUAL | tags.GREATER | tags.UNORDERED
_ARITHMETIC = {"+": tags.ADD, "-": tags.SUBTRACT, "*": tags.MULTIPLY, "/": tags.DIVIDE, "%": tags.REMAINDER}
_FOLDS = {
    "abs": tags.ABS,
    "floor": tags.FLOOR,
    "ceil": tags.CEIL,
    "sqrt": tags.SQRT,
    "ln": tags.LN,
    "exp": tags.EXP,
    "sign": tags.SIGN,
    "length": tags.LENGTH,
    "power": tags.POWER,
    "nullif": tags.NULLIF,
    "startswith": tags.STARTS_WITH,
    "endswith": tags.ENDS_WITH,
    "contains": tags.CONTAINS,
    "least": tags.LEAST,
    "greatest": tags.GREATEST,
    "coalesce": tags.COALESCE,
}
"""Functions with an operation of one value, or of two that is folded over the arguments."""
_HOW = {tags.REAL: programs.REALS, **dict.fromkeys((tags.WHOLE, tags.TRUTH, *tags.TIMES), programs.WHOLES)}


@dataclass(slots=True, eq=False)
class Leaf:
    """An expression over one event. `wanted`: its words are converted to that form, to look records of the form up.
    `stored`: some condition reads it of a register. `bare`: words are compared without a test for NULL. `word` and
    `mask` are its places in a row of words."""

    expression: Expression
    form: int
    wanted: int | None = None
    stored: bool = False
    bare: bool = False
    masked: bool = False
    word: int = -1
    mask: int = programs.NO_MASK

    @property
    def width(self) -> int:
        return 2 if self.form == tags.ANY else 1


@dataclass(frozen=True, slots=True)
class Operand:
    """A leaf of the current event, or of the register with that number."""

    side: int
    leaf: Leaf


Instruction = tuple[int, Operand | None, int, int]
"""An operation, the leaf that it loads, and two arguments: tag and word of a constant, outcomes of a comparison, or the
number of leaves and the address of a Python fallback."""


@dataclass(slots=True)
class Compiled:
    """A comparison: `how` and two operands, the left one a register's. Or a program, if `how` is INSTRUCTIONS: `code`,
    and `otherwise`, which asks Python for the whole where an intermediate value has no word."""

    registers: tuple[str, ...]
    how: int = programs.INSTRUCTIONS
    outcomes: int = 0
    left: Operand | None = None
    right: Operand | None = None
    code: list[Instruction] = field(default_factory=list)
    otherwise: list[Instruction] = field(default_factory=list)

    @property
    def operands(self) -> list[Operand]:
        loaded = (operand for _, operand, _, _ in (*self.code, *self.otherwise))
        return [operand for operand in (self.left, self.right, *loaded) if operand is not None]

    @property
    def depth(self) -> int:
        """The largest size of the stack."""
        deepest = 0
        for code in (self.code, self.otherwise):
            now = 0
            for op, _, argument, _ in code:
                taken = argument if op == programs.ASK else 2 if op >= tags.FIRST_BINARY else 1
                now += 1 if op in (programs.LEAF, programs.CONSTANT) else 1 - taken
                deepest = max(deepest, now)
        return deepest


class Compiler:
    """`leaves` and `fallbacks` are those of all conditions compiled so far.

    >>> import pyarrow as pa
    >>> from cepheid.schema import schema_of
    >>> compiler = Compiler(schema_of(pa.schema([("ts", pa.int64()), ("v", pa.float64())]), time="ts"), Texts())
    >>> half = Arithmetic("/", Attribute("r", "v"), Literal(2))
    >>> compiled = compiler.compile(Comparison("<", Attribute(None, "v"), half))
    >>> compiled.registers, compiled.how == programs.REALS, compiled.outcomes == tags.GREATER
    (('r',), True, True)
    >>> from cepheid.algebra.printing import print_condition
    >>> [(print_condition(leaf.expression), leaf.stored) for leaf in compiler.leaves]
    [('v', False), ('v / 2', True)]
    """

    def __init__(self, schema: Schema, texts: Texts) -> None:
        self._schema = schema
        self._texts = texts
        self.fallbacks: list[PythonFallback] = []
        self._leaves: dict[tuple[Expression, int | None, int], Leaf] = {}
        self._known: dict[int, tuple[Expression, frozenset[str | None]]] = {}

    @property
    def leaves(self) -> list[Leaf]:
        return list(self._leaves.values())

    def compile(self, condition: Condition) -> Compiled:
        names = (attribute.var for attribute in attributes(condition))
        compiled = Compiled(tuple(dict.fromkeys(name for name in names if name is not None)))
        self._compare(condition, compiled)
        if compiled.how == programs.INSTRUCTIONS and computes_times(condition):
            self._ask(condition, compiled)  # what times add up to may have no word
        elif compiled.how == programs.INSTRUCTIONS:
            self._emit(condition, compiled)
            if reads_decimals(condition, self._schema):
                code, compiled.code = compiled.code, []
                self._ask(condition, compiled)
                code, compiled.code, compiled.otherwise = [], code, compiled.code
        asks_for_null = compiled.how in (programs.WHOLES, programs.WORDS, programs.INSTRUCTIONS)
        for operand in compiled.operands:
            leaf = operand.leaf
            leaf.stored |= operand.side != programs.AT_HAND
            leaf.masked |= asks_for_null and is_masked(leaf.expression, leaf.form, self._schema)
            leaf.bare |= compiled.how == programs.SAME_WORDS
        self._known.clear()
        return compiled

    def _readers(self, expression: Expression) -> frozenset[str | None]:
        """The events that an expression reads."""
        known = self._known.get(id(expression))
        if known is not None:
            return known[1]
        read: frozenset[str | None] = (
            frozenset([expression.var])
            if isinstance(expression, Attribute)
            else frozenset().union(*(self._readers(child) for child in children(expression)))
        )
        self._known[id(expression)] = expression, read
        return read

    def _operand(
        self, expression: Expression, compiled: Compiled, wanted: int | None = None, form: int | None = None
    ) -> Operand:
        """An expression over one event as a leaf, in the form given or its own."""
        (var,) = self._readers(expression)
        alone = expression if var is None else over_current_event(expression, var)
        form = form_of(alone, self._schema) if form is None else form
        leaf = self._leaves.get((alone, wanted, form))
        if leaf is None:
            leaf = self._leaves[alone, wanted, form] = Leaf(alone, form, wanted)
        return Operand(programs.AT_HAND if var is None else compiled.registers.index(var), leaf)

    # Conditions that are a leaf of a register or compare two

    def _compare(self, condition: Condition, compiled: Compiled) -> None:
        """Fills in a comparison of two words, where the condition amounts to one."""
        inner, negated = without_negations(condition)
        readers = self._readers(condition)
        if len(readers) == 1 and None not in readers and form_of(condition, self._schema) == tags.TRUTH:
            compiled.how = programs.TRUE_WORD
            compiled.left = compiled.right = self._operand(condition, compiled)
        elif len(readers) == 2 and isinstance(inner, Comparison):
            self._compare_two(inner, negated, compiled)
        elif len(readers) == 2 and not negated:
            self._compare_keys(inner, compiled)

    def _compare_keys(self, condition: Condition, compiled: Compiled) -> None:
        """Key equality is equality of words of one form, NULL and NaN included."""
        sides = sides_of_same_key(condition)
        if sides is None:
            return
        right, left = sorted(sides, key=lambda side: None not in self._readers(side))
        form = form_of(left, self._schema)
        if self._readers(right) != frozenset([None]) or form != form_of(right, self._schema):
            return
        if form not in (tags.ANY, tags.NULL):
            compiled.how = programs.SAME_WORDS
            compiled.left, compiled.right = self._operand(left, compiled), self._operand(right, compiled)

    def _compare_two(self, comparison: Comparison, negated: bool, compiled: Compiled) -> None:
        op, left, right = comparison.op, *self._apart(comparison.left, comparison.right)
        if len(self._readers(left)) != 1 or len(self._readers(right)) != 1:
            return
        if self._readers(left) == frozenset([None]):
            op, left, right = MIRRORED[op], right, left
        form, other = form_of(left, self._schema), form_of(right, self._schema)
        if tags.ANY in (form, other) or tags.NULL in (form, other):
            return
        if max(form, other) >= DECIMAL:
            form, other = self._forms_of_decimals(left, right, form, other)
            if tags.ANY in (form, other):
                return
        compiled.outcomes = _ALL_OUTCOMES - OUTCOMES[op] if negated else OUTCOMES[op]
        at_hand = self._readers(right) == frozenset([None])
        if compiled.outcomes == tags.EQUAL and at_hand and can_be_looked_up(other, form):
            compiled.how = programs.SAME_WORDS
            compiled.right = self._operand(right, compiled, wanted=form, form=other)
        else:
            compiled.how = _how(form, other, compiled.outcomes)
            compiled.right = self._operand(right, compiled, form=other)
        compiled.left = self._operand(left, compiled, form=form)

    def _apart(self, left: Expression, right: Expression) -> tuple[Expression, Expression]:
        """The sides of a comparison, those of `y.ts - x.ts < d` as `y.ts` and `x.ts + d`: times are exact and have no
        bounds, so that both compare alike."""
        for one, other, mirrored in ((left, right, False), (right, left, True)):
            if not isinstance(one, Arithmetic) or one.kind not in (Kind.TIMESTAMP, Kind.DURATION):
                continue
            if one.op not in "+-" or len(self._readers(one)) != 2:
                continue
            opposite = "-" if one.op == "+" else "+"
            moved = Arithmetic(opposite, other, one.right, kind=one.kind)
            if len(self._readers(moved)) == 1:
                return (moved, one.left) if mirrored else (one.left, moved)
        return left, right

    def _forms_of_decimals(
        self, left: Expression, right: Expression, form: int, other: int
    ) -> tuple[int, int]:
        """The forms in which decimals are compared with numbers, wide decimals only with wide ones; ANY if there are
        none."""
        if tags.REAL in (form, other):
            return (form, other) if max(form, other) <= DECIMAL + MOST_REAL_SCALE else (tags.ANY, tags.ANY)
        if max(form, other) < WIDE:
            return form, other
        wide = wide_form(self._exact_type(left, form), self._exact_type(right, other))
        return (tags.ANY, tags.ANY) if wide is None else (wide, wide)

    def _exact_type(self, expression: Expression, form: int) -> DecimalType:
        exact = decimal_type(expression, self._schema)
        return exact or DecimalType(20 if form == tags.BIG else 19, 0)

    # Programs

    def _emit(self, expression: Expression, compiled: Compiled) -> None:
        """Appends instructions that leave the expression's value on the stack."""
        code, readers = compiled.code, self._readers(expression)
        if not readers:
            code.append((programs.CONSTANT, None, *self._constant(expression)))
            return
        if len(readers) == 1:
            if form_of(expression, self._schema) == tags.NULL:
                code.append((programs.CONSTANT, None, tags.NULL, 0))
            else:
                code.append((programs.LEAF, self._operand(expression, compiled), 0, 0))
            return
        match expression:
            case Arithmetic() if not self._has_words(expression):
                self._ask(expression, compiled)
            case Arithmetic(op, left, right):
                self._fold(_ARITHMETIC[op], (left, right), compiled)
            case Comparison(op, left, right):
                self._fold(tags.COMPARE, (left, right), compiled, OUTCOMES[op])
            case Conjunction(operands):
                self._fold(tags.AND, self._gathered(operands, Conjunction), compiled)
            case Disjunction(operands):
                self._fold(tags.OR, self._gathered(operands, Disjunction), compiled)
            case Negation(operand):
                self._fold(tags.NOT, (operand,), compiled)
            case IsTrue(operand):
                self._fold(tags.IS_TRUE, (operand,), compiled)
            case IsNull(operand):
                self._fold(tags.IS_NULL, (operand,), compiled)
            case In(operand, items):
                self._fold(tags.OR, self._items(operand, items), compiled)
            case Like() | RLike() | Case() | Cast():
                self._ask(expression, compiled)
            case Call(function, arguments):
                self._call(expression, function, arguments, compiled)
            case Literal() | Attribute() | Element():
                raise AssertionError(expression)  # these read one event at most
            case Aggregate() | Previous():
                raise AssertionError(expression)  # `attach` leaves none on events
            case _:
                assert_never(expression)

    def _fold(self, op: int, operands: Sequence[Expression], compiled: Compiled, argument: int = 0) -> None:
        """The operation of one value, or of the first and the second, of that and the third, …"""
        for place, operand in enumerate(operands):
            self._emit(operand, compiled)
            if place > 0 or op < tags.FIRST_BINARY:
                compiled.code.append((op, None, argument, 0))

    def _has_words(self, node: Arithmetic) -> bool:
        """Whether a kernel can compute it: on decimals only if the result is not rounded."""
        if node.result is None:
            return True
        scales = [
            exact.scale if (exact := decimal_type(side, self._schema)) is not None else 0
            for side in (node.left, node.right)
        ]
        natural = sum(scales) if node.op == "*" else max(scales)
        return node.op != "/" and node.result.scale >= natural

    def _constant(self, expression: Expression) -> tuple[int, int]:
        value = value_of(expression, {})
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise NoTestError(f"{value} is no number of 64 bits")
        return tagged(value, self._texts)

    def _by_event(self, parts: Sequence[Expression], *beside: Expression) -> dict[object, list[Expression]]:
        """The parts that, with `beside`, read one event only, by event; each of the others alone, by its place."""
        groups: dict[object, list[Expression]] = {}
        for place, part in enumerate(parts):
            readers = self._readers(part).union(*map(self._readers, beside))
            groups.setdefault(readers if len(readers) == 1 else place, []).append(part)
        return groups

    def _gathered(
        self, operands: Sequence[Expression], joined: type[Conjunction] | type[Disjunction]
    ) -> list[Expression]:
        """The operands, those that read the same single event joined."""
        groups = self._by_event(operands).values()
        return [group[0] if len(group) == 1 else joined(tuple(group)) for group in groups]

    def _items(self, operand: Expression, items: Sequence[Expression]) -> list[Expression]:
        """The alternatives of an IN, items that concern the same single event in one."""
        return [
            Comparison("=", operand, group[0]) if isinstance(key, int) else In(operand, tuple(group))
            for key, group in self._by_event(items, operand).items()
        ]

    def _call(
        self, call: Expression, function: str, arguments: Sequence[Expression], compiled: Compiled
    ) -> None:
        form = form_of(call, self._schema)
        if form == tags.NULL:
            compiled.code.append((programs.CONSTANT, None, tags.NULL, 0))
        elif function in _FOLDS:
            self._fold(_FOLDS[function], arguments, compiled)
        elif function == "round" and all(not self._readers(digits) for digits in arguments[1:]):
            self._round(call, arguments[0], value_of(arguments[1], {}) if len(arguments) > 1 else 0, compiled)
        else:
            self._ask(call, compiled)

    def _round(self, call: Expression, number: Expression, digits: float | None, compiled: Compiled) -> None:
        """Digits are truncated to whole numbers; infinite digits give NULL."""
        if digits is None or not math.isfinite(digits):
            compiled.code.append((programs.CONSTANT, None, tags.NULL, 0))
        elif 0 <= math.trunc(digits) <= MOST_DIGITS:
            self._fold(tags.ROUND, (number,), compiled, math.trunc(digits))
        else:
            self._ask(call, compiled)

    # What kernels cannot compute

    def _ask(self, expression: Expression, compiled: Compiled) -> None:
        """Loads the leaves below and asks Python for the value of the expression."""
        places: dict[Expression, int] = {}
        about = self._about(expression, places)
        operands = [self._operand(leaf, compiled) for leaf in places]
        parts = [
            Part(operand.leaf.form, operand.side == programs.AT_HAND, self._type_of_time(operand.leaf))
            for operand in operands
        ]
        fallback = PythonFallback(about, form_of(expression, self._schema), parts, self._texts)
        self.fallbacks.append(fallback)
        compiled.code += [(programs.LEAF, operand, 0, 0) for operand in operands]
        compiled.code.append((programs.ASK, None, len(operands), fallback.address))

    def _about(self, expression: Expression, places: dict[Expression, int]) -> Expression:
        """The expression over columns, one per leaf. Of times only attributes are leaves: their type has the zone."""
        readers = self._readers(expression)
        if not readers:
            return expression
        if len(readers) == 1:
            form = form_of(expression, self._schema)
            if form == tags.NULL:
                return Literal(None)
            if isinstance(expression, Attribute | Element) or form not in (*tags.TIMES, tags.ANY):
                return Attribute(None, str(places.setdefault(expression, len(places))))
        return rebuild(expression, lambda child: self._about(child, places))

    def _type_of_time(self, leaf: Leaf) -> pa.DataType | None:
        if leaf.form not in tags.TIMES or not isinstance(leaf.expression, Attribute | Element):
            return None
        return type_of(leaf.expression, self._schema)


def _how(form: int, other: int, outcomes: int) -> int:
    """How words of these forms are compared."""
    ordered = bool(outcomes & tags.LESS) != bool(outcomes & tags.GREATER)
    if form == other and (form == tags.TEXT or form >= WIDE):
        return programs.WORDS if ordered else programs.SAME_TEXTS
    if form == other and form >= DECIMAL:
        return programs.WHOLES
    return _HOW.get(form, programs.WORDS) if form == other else programs.WORDS
