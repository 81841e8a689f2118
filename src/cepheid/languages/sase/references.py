"""References to the events of a Kleene variable: syntax tree → attributes (`sase-plus`, section 2.2).

In: a rule of SASE+'s grammar such as `a[i-1].price`. Out: the expression, or an error where the brackets hold something
else than the paper has. Whether there is such a variable is checked later (`algebra.nfab_scope`).
"""

from __future__ import annotations

from decimal import Decimal

from lark import Token, Tree

from cepheid.algebra.conditions import EVENT, Attribute, Condition, Literal, Record
from cepheid.algebra.nfab import Form, reference
from cepheid.errors import CepheidError, Source, Span
from cepheid.languages.calls import of_events
from cepheid.languages.parsed import Node, span_of
from cepheid.languages.words import decimal_of, name_of

FORMS = {
    "of": Form.SINGLE,
    "of_first": Form.FIRST,
    "of_each": Form.EACH,
    "of_previous": Form.PREVIOUS,
    "of_before": Form.BEFORE,
    "of_last": Form.LAST,
    "of_all": Form.ALL,
}
WRITE = "write a[1] for the first event, a[i] for each, a[i-1] for the one before it, a[a.LEN] for the last"


def referred(source: Source, node: Node) -> Condition | None:
    """What a rule stands for; None for a rule of another kind."""
    rule, span = str(node.data), span_of(source, node)
    if rule in FORMS:
        var, name = node.children[0], node.children[-1]
        assert isinstance(var, Token)
        assert isinstance(name, Token)
        return _attribute(source, FORMS[rule], var, node, name_of(name), span)
    if rule in ("of_events_all", "of_events_before"):
        function, var = node.children[:2]
        assert isinstance(function, Token)
        assert isinstance(var, Token)
        index: Node = Tree(rule, node.children[1:], node.meta)
        events = _attribute(source, FORMS[rule.replace("_events", "")], var, index, EVENT, span)
        return of_events(name_of(function).lower(), events, span)
    if rule.startswith("fields_"):
        return _record(source, node, span)
    if rule == "percent":
        return _percent(source, node, span)
    return None


def _attribute(source: Source, form: Form, var: Token, node: Node, name: str, span: Span) -> Attribute:
    """An attribute of a reference, if there is nothing else in its brackets than may be there."""
    index = [child for child in node.children[1:] if isinstance(child, Token)]
    match form:
        case Form.FIRST if int(index[0]) != 1:
            raise _unknown(source, f"{var}[{index[0]}]", "only the first event has a number", span)
        case Form.EACH if index[0].casefold() != "i":
            raise _unknown(source, f"{var}[{index[0]}]", "each event is number `i`", span)
        case Form.PREVIOUS if (index[0].casefold(), index[2]) != ("i", "1"):
            raise _unknown(source, f"{var}[{''.join(index[:3])}]", "only a[i-1] lies before a[i]", span)
        case Form.BEFORE if (index[1].casefold(), index[3]) != ("i", "1"):
            raise _unknown(source, f"{var}[{''.join(index[:4])}]", "all before a[i] are a[..i-1]", span)
        case Form.LAST if (index[0], index[1].casefold()) != (var, "len"):
            raise _unknown(
                source, f"{var}[{index[0]}.{index[1]}]", f"the last event is {var}[{var}.LEN]", span
            )
        case _:
            pass
    several = form in (Form.ALL, Form.BEFORE)
    return Attribute(reference(name_of(var), form), name, several, span, form is not Form.SINGLE)


def _unknown(source: Source, text: str, why: str, span: Span) -> CepheidError:
    return CepheidError("syntax", f"`{text}` is no event of a match: {why}", span=span, hint=WRITE)


def _record(source: Source, node: Node, span: Span) -> Record:
    """`b.(price, volume)`: attributes of one event, or of each of a sequence."""
    var, fields = node.children[0], node.children[-1]
    assert isinstance(var, Token)
    assert isinstance(fields, Tree)
    form = FORMS[str(node.data).removeprefix("fields_")]
    index: Node = Tree("index", node.children[:-1], node.meta)
    names, values = list[str](), list[Condition]()
    for token in fields.children:
        assert isinstance(token, Token)
        name = name_of(token)
        if name in names:
            message = f"`{name}` stands twice in one struct"
            raise CepheidError("bad-argument", message, span=span_of(source, token), hint="keep one of them")
        names.append(name)
        values.append(_attribute(source, form, var, index, name, span_of(source, token)))
    return Record(tuple(names), tuple(values), span)


def _percent(source: Source, node: Node, span: Span) -> Literal:
    """`80%` before a factor is 0.8.

    The hundredth of the digits as they are written, so that a decimal stays exact."""
    (token,) = node.children
    assert isinstance(token, Token)
    hundredth = Decimal(token.rstrip("%").strip()).scaleb(-2)
    return Literal(
        decimal_of(source, Token.new_borrow_pos("DECIMAL", f"{hundredth.normalize():f}", token)), span
    )
