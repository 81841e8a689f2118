"""A syntax error as the user sees it: what was expected, what was found, and the likely fix.

In: where a parser stopped, the words of its language and its guesses, tried in order. Out: the error. The guesses for
all languages are here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lark.exceptions import UnexpectedInput

from cepheid.algebra.printing import KEYWORDS
from cepheid.errors import CepheidError, Source, Span, nearest
from cepheid.languages.mistakes import CLAUSES, WORDS, Group, Mistake, message_of, mistake_of

Guess = Callable[[Mistake], str | None]


def explained(
    source: Source, error: UnexpectedInput, groups: Sequence[Group], guesses: Sequence[Guess]
) -> CepheidError:
    """The error for a text that does not parse."""
    mistake = mistake_of(source, error)
    span = Span(source, mistake.start, mistake.start + max(1, len(mistake.found)))
    if _is_quote(mistake):
        return CepheidError("syntax", "this quote is never closed", span=span, hint=_quote_hint(mistake))
    hint = next((hint for guess in guesses if (hint := guess(mistake)) is not None), None)
    return CepheidError("syntax", message_of(mistake, groups), span=span, hint=hint)


def _is_quote(mistake: Mistake) -> bool:
    return mistake.found in ("'", '"', "`")


def _quote_hint(mistake: Mistake) -> str:
    return f"close it with {mistake.found}; inside, write {mistake.found * 2} for the sign itself"


def parenthesis(mistake: Mistake) -> str | None:
    waiting = list[tuple[int, str]]()
    for place, lexeme in mistake.lexemes:
        if lexeme in ("(", "["):
            waiting.append((place, lexeme))
        elif lexeme in (")", "]") and waiting:
            waiting.pop()
    if mistake.found == ")" and not waiting:
        return "there is no ( for it"
    ended = not mistake.found or mistake.found.upper() in CLAUSES
    if ended and waiting and mistake.accepts & {"RPAR", "RSQB"}:
        place, sign = waiting[-1]
        span = Span(mistake.source, place, place + 1)
        return f"the {sign} at {span.line}:{span.column} is never closed"
    return None


def cast_without_type(mistake: Mistake) -> str | None:
    words = [lexeme.upper() for _, lexeme in mistake.lexemes]
    inside_cast = "AS" in mistake.accepts and "CAST" in words
    return "write CAST(x.v AS INT)" if inside_cast and mistake.found in (",", ")") else None


def misspelt_keyword(mistake: Mistake) -> str | None:
    known = [WORDS.get(name, name) for name in mistake.accepts if name in KEYWORDS or name in WORDS]
    found = nearest(mistake.found, sorted(known)) if mistake.found[:1].isalpha() else None
    return f"did you mean {found}?" if found else None
