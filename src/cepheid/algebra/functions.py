"""The scalar functions conditions can call: names, arguments and exact meanings.

In: nothing. Out: `FUNCTIONS`, the one list that typing, both evaluations and `docs/language.md` go by.
Each meaning is a contract for the scalar evaluation (`semantics/`) and the columnar one (`evaluators/`):

- NULL in any argument gives NULL, except in `coalesce`, `least`, `greatest` and the second argument of `nullif`.
- "Whole" results are 64-bit integers; what does not fit, and NaN or infinity made whole, is NULL.
- NaN in gives NaN out where the result is a number that is not whole.
- Strings are sequences of Unicode characters; case follows Unicode, not a locale.
- Parts of a timestamp are those of the column's own time zone (on Spark, the session's); without one, those written.
"""

from __future__ import annotations

from dataclasses import dataclass

from cepheid.algebra.kinds import Kind

Kinds = frozenset[Kind]

NUMBER: Kinds = frozenset([Kind.NUMBER])
STRING: Kinds = frozenset([Kind.STRING])
DAY: Kinds = frozenset([Kind.DATE, Kind.TIMESTAMP])
CLOCK: Kinds = frozenset([Kind.TIMESTAMP, Kind.TIME])
ORDERED: Kinds = frozenset([Kind.NUMBER, Kind.STRING, Kind.DATE, Kind.TIMESTAMP, Kind.TIME, Kind.DURATION])
ANY: Kinds = frozenset([*ORDERED, Kind.BOOLEAN])


@dataclass(frozen=True, slots=True)
class Function:
    """`signature` is how it is called: arguments in brackets may be left out, and the last may be repeated where `…`
    follows it. `parameters` are the kinds each argument may have. `result` None: the arguments share one kind, which is
    the result's."""

    signature: str
    parameters: tuple[Kinds, ...]
    result: Kind | None
    meaning: str

    @property
    def name(self) -> str:
        return self.signature.partition("(")[0]

    @property
    def fewest(self) -> int:
        return len(self.parameters) - self.signature.count("[")

    @property
    def most(self) -> int | None:
        return None if "…" in self.signature else len(self.parameters)

    def parameter(self, index: int) -> Kinds:
        """The kinds the argument at `index` may have."""
        return self.parameters[min(index, len(self.parameters) - 1)]


_N, _S, _B = Kind.NUMBER, Kind.STRING, Kind.BOOLEAN

_ALL = (
    Function("abs(x)", (NUMBER,), _N, "x without its sign; of the kind of x"),
    Function(
        "round(x[, digits])",
        (NUMBER, NUMBER),
        _N,
        "x to `digits` decimals (0; negative: tens, hundreds, …), halves away from zero, judged on the "
        "shortest decimal that stands for x; of the kind of x",
    ),
    Function("floor(x)", (NUMBER,), _N, "the largest whole number ≤ x; a decimal for decimal x"),
    Function("ceil(x)", (NUMBER,), _N, "the smallest whole number ≥ x; a decimal for decimal x"),
    Function("sqrt(x)", (NUMBER,), _N, "the square root; NULL for x < 0"),
    Function(
        "power(x, y)",
        (NUMBER, NUMBER),
        _N,
        "x to the y as a real; infinite when too large, NULL where no real is",
    ),
    Function("ln(x)", (NUMBER,), _N, "the natural logarithm; NULL for x ≤ 0"),
    Function("exp(x)", (NUMBER,), _N, "e to the x; infinite when too large"),
    Function("sign(x)", (NUMBER,), _N, "-1, 0 or 1 as a real"),
    Function("least(a, b, …)", (ORDERED,) * 2, None, "the smallest that is not NULL; NaN if one is"),
    Function("greatest(a, b, …)", (ORDERED,) * 2, None, "the largest that is not NULL; NaN if one is"),
    Function("length(s)", (STRING,), _N, "the number of characters, trailing spaces included"),
    Function("upper(s)", (STRING,), _S, "s in upper case"),
    Function("lower(s)", (STRING,), _S, "s in lower case"),
    Function("trim(s)", (STRING,), _S, "s without spaces (U+0020) at both ends"),
    Function("ltrim(s)", (STRING,), _S, "s without spaces at the start"),
    Function("rtrim(s)", (STRING,), _S, "s without spaces at the end"),
    Function(
        "substr(s, start[, count])",
        (STRING, NUMBER, NUMBER),
        _S,
        "`count` characters (all) from place `start`; the first is 1 (0 too), -1 the last; places outside "
        "s are passed over, so that substr('abc', -5, 3) is 'a'; a count below 1 gives ''",
    ),
    Function("concat(s, …)", (STRING,), _S, "the strings one after the other"),
    Function(
        "replace(s, old, new)",
        (STRING,) * 3,
        _S,
        "s with every `old` replaced, left to right; s when `old` is ''",
    ),
    Function("startswith(s, t)", (STRING,) * 2, _B, "whether s begins with t"),
    Function("endswith(s, t)", (STRING,) * 2, _B, "whether s ends with t"),
    Function("contains(s, t)", (STRING,) * 2, _B, "whether t occurs in s"),
    Function("coalesce(a, b, …)", (ANY,), None, "the first that is not NULL"),
    Function("nullif(a, b)", (ANY,) * 2, None, "NULL where a = b is true, else a"),
    Function("year(t)", (DAY,), _N, "the year"),
    Function("month(t)", (DAY,), _N, "the month, 1 to 12"),
    Function("day(t)", (DAY,), _N, "the day of the month, 1 to 31"),
    Function("hour(t)", (CLOCK,), _N, "the hour, 0 to 23"),
    Function("minute(t)", (CLOCK,), _N, "the minute, 0 to 59"),
    Function("second(t)", (CLOCK,), _N, "the second, 0 to 59, without its fraction"),
    Function("dayofweek(t)", (DAY,), _N, "the day of the week, 1 Sunday to 7 Saturday"),
)

ALIASES = {"substring": "substr", "ceiling": "ceil", "pow": "power"}
"""Other names for the same functions; typing replaces them, so that evaluations need only know `FUNCTIONS`."""

FUNCTIONS: dict[str, Function] = {function.name: function for function in _ALL}
