"""Printing automata: readable text, and dot that Graphviz reads."""

from __future__ import annotations

import re

from cepheid.algebra.conditions import Attribute, Comparison, Literal
from cepheid.algebra.nodes import Atom, Repeat, Seq
from cepheid.automata.construct import construct
from cepheid.automata.printing import automaton_dot, print_automaton
from cepheid.automata.trim import trim

STATEMENT = re.compile(
    r"""\ \ (?: rankdir=LR | node\ \[shape=circle\] | \w+\ \[shape=\w+\] | start\ ->\ 0
        | \d+\ ->\ \d+\ \[ (?: style=dashed | label="(?:[^"\\]|\\.)*" ) \] );""",
    re.VERBOSE,
)


def figure_2() -> str:
    """The automaton of the paper's figure 2, from the formula it stands for."""
    hot = Comparison(">", Attribute(None, "temp"), Literal(40))
    pattern = Seq(Seq(Atom("H"), Repeat(Atom("T", "t", hot), 1, None)), Atom("H"))
    return print_automaton(trim(construct(pattern, ("t",))))


def test_text_lists_the_transitions_of_every_state() -> None:
    assert figure_2().splitlines() == [
        "state 0, initial",
        "  mark H → 1",
        "state 1",
        "  mark T [temp > 40] as t → 2",
        "  skip → 1",
        "state 2",
        "  mark T [temp > 40] as t → 2",
        "  mark H → 3",
        "  skip → 2",
        "state 3, final",
    ]


def test_dot_is_one_statement_a_line_whatever_the_names_and_constants_hold() -> None:
    nasty = Comparison("=", Attribute(None, 'a "b" \\ ü'), Literal('say "hi"\\\n'))
    dot = automaton_dot(construct(Repeat(Atom('T"\\', 'x"', nasty), 1, 2), ('x"',)))
    first, *statements, last = dot.split("\n")
    assert (first, last) == ("digraph automaton {", "}")
    assert [line for line in statements if not STATEMENT.fullmatch(line)] == []


def test_printing_the_same_automaton_gives_the_same_text() -> None:
    assert figure_2() == figure_2()
