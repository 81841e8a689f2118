"""Syntax errors: where the text stops making sense."""

from __future__ import annotations

from lark.exceptions import UnexpectedInput

from cepheid.errors import CepheidError, Source, Span


def explain_mistake(source: Source, mistake: UnexpectedInput) -> CepheidError:
    """The error a user sees for what the parser could not read."""
    place = mistake.pos_in_stream or 0
    return CepheidError("syntax", "the query does not parse here", span=Span(source, place, place + 1))
