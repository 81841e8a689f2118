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
    """`parameters` are the kinds each argument may have; the last `optional` of them may be left out, and
    when `repeated` the last may be given any number of times. `result` None: the arguments share one kind,
    which is the result's."""

    name: str
    parameters: tuple[Kinds, ...]
    result: Kind | None
    signature: str
    meaning: str
    optional: int = 0
    repeated: bool = False

    @property
    def fewest(self) -> int:
        return len(self.parameters) - self.optional

    @property
    def most(self) -> int | None:
        return None if self.repeated else len(self.parameters)

    def parameter(self, index: int) -> Kinds:
        """The kinds the argument at `index` may have."""
        return self.parameters[min(index, len(self.parameters) - 1)]


_N, _S, _B = Kind.NUMBER, Kind.STRING, Kind.BOOLEAN

_ALL = (
    Function("abs", (NUMBER,), _N, "abs(x)", "x without its sign; of the kind of x"),
    Function(
        "round",
        (NUMBER, NUMBER),
        _N,
        "round(x[, digits])",
        "x to `digits` decimals (0; negative: tens, hundreds, …), halves away from zero, judged on the "
        "shortest decimal that stands for x; of the kind of x",
        optional=1,
    ),
    Function("floor", (NUMBER,), _N, "floor(x)", "the largest whole number ≤ x; a decimal for decimal x"),
    Function("ceil", (NUMBER,), _N, "ceil(x)", "the smallest whole number ≥ x; a decimal for decimal x"),
    Function("sqrt", (NUMBER,), _N, "sqrt(x)", "the square root; NULL for x < 0"),
    Function(
        "power",
        (NUMBER, NUMBER),
        _N,
        "power(x, y)",
        "x to the y as a real; infinite when too large, NULL where no real is",
    ),
    Function("ln", (NUMBER,), _N, "ln(x)", "the natural logarithm; NULL for x ≤ 0"),
    Function("exp", (NUMBER,), _N, "exp(x)", "e to the x; infinite when too large"),
    Function("sign", (NUMBER,), _N, "sign(x)", "-1, 0 or 1 as a real"),
    Function(
        "least",
        (ORDERED,) * 2,
        None,
        "least(a, b, …)",
        "the smallest that is not NULL; NaN if one is",
        repeated=True,
    ),
    Function(
        "greatest",
        (ORDERED,) * 2,
        None,
        "greatest(a, b, …)",
        "the largest that is not NULL; NaN if one is",
        repeated=True,
    ),
    Function("length", (STRING,), _N, "length(s)", "the number of characters, trailing spaces included"),
    Function("upper", (STRING,), _S, "upper(s)", "s in upper case"),
    Function("lower", (STRING,), _S, "lower(s)", "s in lower case"),
    Function("trim", (STRING,), _S, "trim(s)", "s without spaces (U+0020) at both ends"),
    Function("ltrim", (STRING,), _S, "ltrim(s)", "s without spaces at the start"),
    Function("rtrim", (STRING,), _S, "rtrim(s)", "s without spaces at the end"),
    Function(
        "substr",
        (STRING, NUMBER, NUMBER),
        _S,
        "substr(s, start[, count])",
        "`count` characters (all) from place `start`; the first is 1 (0 too), -1 the last; places outside "
        "s are passed over, so that substr('abc', -5, 3) is 'a'; a count below 1 gives ''",
        optional=1,
    ),
    Function("concat", (STRING,), _S, "concat(s, …)", "the strings one after the other", repeated=True),
    Function(
        "replace",
        (STRING,) * 3,
        _S,
        "replace(s, old, new)",
        "s with every `old` replaced, left to right; s when `old` is ''",
    ),
    Function("startswith", (STRING,) * 2, _B, "startswith(s, t)", "whether s begins with t"),
    Function("endswith", (STRING,) * 2, _B, "endswith(s, t)", "whether s ends with t"),
    Function("contains", (STRING,) * 2, _B, "contains(s, t)", "whether t occurs in s"),
    Function("coalesce", (ANY,), None, "coalesce(a, b, …)", "the first that is not NULL", repeated=True),
    Function("nullif", (ANY,) * 2, None, "nullif(a, b)", "NULL where a = b is true, else a"),
    Function("year", (DAY,), _N, "year(t)", "the year"),
    Function("month", (DAY,), _N, "month(t)", "the month, 1 to 12"),
    Function("day", (DAY,), _N, "day(t)", "the day of the month, 1 to 31"),
    Function("hour", (CLOCK,), _N, "hour(t)", "the hour, 0 to 23"),
    Function("minute", (CLOCK,), _N, "minute(t)", "the minute, 0 to 59"),
    Function("second", (CLOCK,), _N, "second(t)", "the second, 0 to 59, without its fraction"),
    Function("dayofweek", (DAY,), _N, "dayofweek(t)", "the day of the week, 1 Sunday to 7 Saturday"),
)

ALIASES = {"substring": "substr", "ceiling": "ceil", "pow": "power"}
"""Other names for the same functions; typing replaces them, so that evaluations need only know
`FUNCTIONS`."""

FUNCTIONS: dict[str, Function] = {function.name: function for function in _ALL}
