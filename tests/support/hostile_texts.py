"""Query texts that are meant to hurt: long, deep, broken, of every script, and nearly right.

In: a seed. Out: a language and a text. `outcome` reads, types and plans it within a limit of CPU time: what it gives
is a plan or a `CepheidError` that can be printed; anything else is a finding. On a busy machine the same work may take
more CPU time: a text over the limit is measured up to three times more, and the least counts.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pyarrow as pa

import cepheid
from cepheid.automata.minimise import minimal_with_registers
from cepheid.pipeline import plan_for
from cepheid.plan.automaton_with_registers import automaton_with_registers
from cepheid.schema import schema_of
from support.cpu_time_limit import OvertimeError, within_seconds

SECONDS = 1.0  # of CPU time to read and plan one text; most take milliseconds
AGAIN = 3  # times more that a text over the limit is measured
VALUES = ("{}", "-{}.25", "'{}'", "'2024-01-31 12:30:00.{:06}'", "1e{}", "NULL")
SCHEMA = pa.schema(
    [
        ("ts", pa.timestamp("us")),
        ("type", pa.string()),
        ("v", pa.int64()),
        ("w", pa.float64()),
        ("name", pa.string()),
        ("day", pa.date32()),
        ("on", pa.bool_()),
    ]
)
CEL = (
    "SELECT * FROM s WHERE A AS x ; (B AS y)+ ; C AS z FILTER x.v < z.v AND z.name LIKE '%a_' WITHIN 10 minutes",
    "SELECT MAX x, Y FROM s WHERE (A AS x ALL (B OR C)+ IN Y) FILTER x.v IN (1, 2.5, -3) PARTITION BY name LIMIT 5",
    "SELECT NXT * FROM s, t WHERE (A AS x : B{1,3} IN X) PART-BY [x.v, X.v] CONSUME -- the end\n WITHIN 5 EVENTS",
    "SELECT * FROM s WHERE A AS x FILTER x.ts > TIMESTAMP '2024-01-31 12:30:00' OR x.day = DATE '2024-01-31'",
    "SELECT * FROM s WHERE A AS x FILTER NOT (round(x.w, 2) * -1e3 % 7 <> length(upper(x.name)) / 2) IS NULL",
    "SELECT * FROM s WHERE A AS x FILTER x.name RLIKE '^a[b-z]+$' AND x.v BETWEEN 1 AND 3 AND x.on IS NOT TRUE",
)
SREMO = (
    "[v > 1] > r . any* . [v > r.v AND name = 'a'] WITHIN 10 minutes",
    "#([type = 'A'] > x, -[v < 3], [v = x.v]+) PARTITION BY name WITHIN 5 events",
    "@([v > 1] | [v < 0]{2,4} & !([on] . any)) WITHIN 1 hour LIMIT 3",
)
PIECES = (
    *(
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ";",
        ":",
        ",",
        ".",
        "+",
        "*",
        "?",
        "'",
        '"',
        "`",
        "--",
        "-",
        "/",
        "%",
        "=",
        "<",
    ),
    *(
        "!",
        "#",
        "@",
        "&",
        "|",
        "∧",
        "∨",
        "¬",
        "≤",
        "\\",
        "\0",
        "\ufeff",
        "\u2028",
        "\x1b",
        "\r",
        "\t",
        "\n",
        " ",
    ),
    *(
        "SELECT ",
        "FROM ",
        "WHERE ",
        "FILTER ",
        "AS ",
        "IN ",
        "OR ",
        "AND ",
        "NOT ",
        "ALL ",
        "MAX ",
        "PART-BY ",
    ),
    *(
        "DATE ",
        "TIMESTAMP ",
        "LIKE ",
        "RLIKE ",
        "BETWEEN ",
        "IS NULL ",
        "WITHIN ",
        "LIMIT ",
        "CONSUME ",
        "any ",
    ),
    *(
        "x.v ",
        "A AS x ; ",
        "(A)+ ; ",
        "x.v = 1 OR ",
        "x.v = 1 AND ",
        "[v > 1] . ",
        "#(any, ",
        "replace('aa', 'a', ",
    ),
    *(
        "1",
        "9",
        "0",
        ".5",
        "1e",
        "1e9",
        "1e-9",
        "{1,2}",
        "{2}",
        "?",
        "''",
        "a",
        "ß",
        "é",
        "日",
        "😀",
        "\ud800",
        "\udfff",
    ),
)
NUMBERS = (
    *(
        "1e999999",
        "1e-999999",
        "1e99999999999999999999",
        "9" * 400,
        "0" * 400,
        "." + "0" * 400 + "1",
        "1e308",
        "1e309",
    ),
    *(
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "18446744073709551616",
        "5e-324",
        "1e-400",
    ),
)


def hostile(seed: int) -> tuple[str | None, str]:
    """A language, or None to have it detected, and a text."""
    choices = random.Random(seed)
    make = choices.choice(MAKERS)
    return choices.choice((None, "cel", "sremo")), make(choices)


def _run_of_one(choices: random.Random) -> str:
    """A long run of one piece somewhere in a text, closed again or not."""
    text, piece = _valid(choices), choices.choice(PIECES)
    at, many = choices.randint(0, len(text)), choices.choice((30, 300, 3_000, 30_000))
    closed = {"(": ")", "[": "]", "{": "}"}.get(piece, "")
    return text[:at] + piece * many + choices.choice(("", "1", "A")) + closed * many + text[at:]


def _soup(choices: random.Random) -> str:
    """Pieces in any order."""
    return "".join(choices.choices(PIECES, k=choices.choice((3, 30, 300, 3_000))))


def _mutated(choices: random.Random) -> str:
    """A valid query with a few changes: pieces put in, left out, doubled, moved; characters of every plane."""
    text = _valid(choices)
    for _ in range(choices.randint(1, 6)):
        at, end = sorted((choices.randint(0, len(text)), choices.randint(0, len(text))))
        end = min(end, at + choices.choice((1, 5, 20)))
        sign = chr(
            choices.choice((choices.randrange(0x80), choices.randrange(0x10000), choices.randrange(0x110000)))
        )
        new = choices.choice((choices.choice(PIECES), choices.choice(NUMBERS), sign, text[at:end] * 2, ""))
        text = text[:at] + new + text[end:]
    return text


def _numbers(choices: random.Random) -> str:
    """Numbers at and beyond every limit, wherever a number may stand."""
    one, two = choices.choice(NUMBERS), choices.choice(NUMBERS)
    return choices.choice(
        (
            f"SELECT * FROM s WHERE A WITHIN {one} {choices.choice(('', 'seconds', 'events', 'weeks', 'us'))}",
            f"SELECT * FROM s WHERE A{{{one},{two}}} LIMIT {one}",
            f"SELECT * FROM s WHERE A AS x FILTER x.v * {one} > {two} AND x.w = {one}",
            f"SELECT * FROM s WHERE A AS x FILTER round({one}, {two}) = substr('abc', {one}, {two})",
            f"SELECT * FROM s WHERE A AS x FILTER x.v IN ({', '.join(choices.choices(NUMBERS, k=20))})",
            f"([v > {one}] . any){{{one}}} WITHIN {two} seconds",
        )
    )


def _large(choices: random.Random) -> str:
    """A form that is valid, over and over."""
    many = choices.choice((5, 20, 100, 400, 2_000, 50_000))
    few = min(many, choices.choice((8, 30, 140)))
    operator = choices.choice((" AND ", " OR "))
    return choices.choice(
        (
            "SELECT * FROM s WHERE A AS x FILTER " + operator.join(f"x.v = {k}" for k in range(many)),
            "SELECT * FROM s WHERE A AS x ; B AS y FILTER "
            + operator.join(f"x.v + {k} < y.v" for k in range(many)),
            "SELECT * FROM s WHERE A AS x ; B AS y FILTER "
            + " AND ".join(f"(x.v = {k} OR y.v = {k})" for k in range(few)),
            f"SELECT * FROM s WHERE (A AS x ; B AS y FILTER x.v < y.v){{1,{many}}}",
            f"SELECT * FROM s WHERE (A IN X ; B IN Y FILTER X.v < Y.v){{{many}}}",
            "SELECT * FROM s WHERE " + choices.choice((" ; ", " : ", " OR ", " ALL ")).join(["A"] * many),
            "SELECT * FROM s WHERE "
            + choices.choice((" ; ", " ALL ")).join(f"(A AS a{k})?" for k in range(few)),
            "SELECT * FROM s WHERE " + " ALL ".join(f"(A AS a{k})+" for k in range(few)),
            "SELECT * FROM s WHERE " + "(" * few + "A AS x ; B" + "){2,3}" * few,
            "SELECT * FROM s WHERE "
            + " ; ".join(f"A AS a{k}" for k in range(few))
            + " FILTER "
            + " AND ".join(f"a{k}.v < a{k + 1}.v" for k in range(few - 1)),
            f"SELECT * FROM s WHERE A AS x FILTER x.{choices.choice(('v', 'w', 'name', 'ts'))} IN ("
            + ", ".join(choices.choice(VALUES).format(k) for k in range(2 * many))
            + ")",
            "SELECT * FROM s WHERE A AS x FILTER x.v IN ("
            + ", ".join(f"{k}{choices.choice(('', '.5'))}" for k in range(2 * many))
            + ")",
            "SELECT " + ", ".join(f"x{k}" for k in range(many)) + " FROM s WHERE A AS x0",
            "SELECT * FROM " + ", ".join(f"s{k}" for k in range(many)) + " WHERE A",
            "SELECT * FROM s WHERE A AS x FILTER x.name LIKE '" + "%a_" * many + "b'",
            "SELECT * FROM s WHERE A AS x FILTER '" + "a" * many + "' LIKE '" + "%a" * few + "%b'",
            "SELECT * FROM s WHERE A AS x FILTER x.name RLIKE '" + "(a*)*" * many + "b'",
            "SELECT * FROM s WHERE A AS x FILTER "
            + "replace(" * few
            + "x.name"
            + ", 'a', 'aaaaaaaa')" * few
            + " = 'a'",
            " . ".join(f"[v > {k}] > r{k}" for k in range(few)) + " . [v > r0.v]",
            " & ".join(f"(any* . [v > {k}] . any*)" for k in range(few)) + " WITHIN 5 seconds",
            "#(" + ", ".join(f"[v > {k}]" for k in range(few)) + ") WITHIN 5 seconds",
        )
    )


def _valid(choices: random.Random) -> str:
    return choices.choice(CEL + SREMO)


MAKERS: tuple[Callable[[random.Random], str], ...] = (
    _run_of_one,
    _soup,
    _mutated,
    _mutated,
    _numbers,
    _large,
)


def outcome(language: str | None, text: str, seconds: float = SECONDS) -> str:
    """ "plan", or the code of the error; raises what should not have happened. Reading and planning may take so many
    seconds; what `explain` prints of it may take longer."""
    _warm()
    code = _measured(language, text, seconds)
    if code != "plan":
        return code
    with within_seconds(5 * seconds):
        return _code(
            lambda: [cepheid.explain(cepheid.query(text, language), data) for data in (None, SCHEMA)]
        )


@cache
def _warm() -> None:
    """Imports modules and makes parsers, which the first query of a process pays for."""
    for text in (CEL[0], CEL[5], SREMO[0]):
        _planned(None, text)


def _measured(language: str | None, text: str, seconds: float) -> str:
    for left in range(AGAIN, -1, -1):
        # What an earlier planning of the same text left would hide what it takes.
        automaton_with_registers.cache_clear()
        minimal_with_registers.cache_clear()
        before = time.process_time()
        try:
            # Ends what hangs; a text that is only slow is measured to its end.
            with within_seconds(5 * seconds):
                code = _planned(language, text)
        except OvertimeError:
            if left == 0:
                raise
            continue
        took = time.process_time() - before
        if took <= seconds:
            return code
    raise OvertimeError(f"{took:.2f} s of CPU time")


def _planned(language: str | None, text: str) -> str:
    def plan() -> None:
        parsed = cepheid.query(text, language)
        plan_for(parsed, schema_of(SCHEMA, time="ts", type="type", stream=parsed.stream))

    return _code(plan)


def _code(work: Callable[[], object]) -> str:
    try:
        work()
    except cepheid.CepheidError as error:
        str(error).encode()
        if len(str(error)) > 10_000:
            raise ValueError("an error is read by people") from error
        return error.code
    return "plan"


def findings(seeds: range) -> Iterator[str]:
    """What went wrong, a line for each text."""
    for seed in seeds:
        language, text = hostile(seed)
        try:
            outcome(language, text)
        except (Exception, OvertimeError) as error:
            shown = ascii(text if len(text) < 300 else f"{text[:150]}…{text[-100:]}")
            where = error.__traceback__
            while where is not None and where.tb_next is not None:
                where = where.tb_next
            place = "" if where is None else Path(where.tb_frame.f_code.co_filename).name
            yield f"text {seed}, {language}: {type(error).__name__} {str(error)[:100]!a} in {place}: {shown}"
