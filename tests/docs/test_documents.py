"""The documents agree with the code they describe."""

import doctest
import re
from pathlib import Path

import pytest

from cepheid.algebra.functions import ALIASES, FUNCTIONS
from cepheid.algebra.precision import DecimalType, result_type
from cepheid.algebra.scope import check_scope
from cepheid.errors import CODES, CepheidError
from cepheid.languages import lower, parse
from cepheid.pipeline import parse_text

DOCS = Path(__file__).parents[2] / "docs"
LANGUAGE = (DOCS / "language.md").read_text(encoding="utf-8")
VALUES = (DOCS / "values.md").read_text(encoding="utf-8")
SREMO = (DOCS / "sremo.md").read_text(encoding="utf-8")
SASE = (DOCS / "sase.md").read_text(encoding="utf-8")
ERRORS = (DOCS / "errors.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", ERRORS, re.MULTILINE | re.DOTALL))
FOUND_IN_TEXT = (
    "syntax",
    "unknown-variable",
    "unbound-variable",
    "kleene-variable",
    "unknown-register",
    "empty-register",
    "register-clash",
    "misplaced-not",
    "misplaced-condition",
    "needs-window",
    "uncovered-event",
    "bad-argument",
)


def test_every_code_has_a_section_and_every_section_a_code() -> None:
    assert list(SECTIONS) == list(CODES)


@pytest.mark.parametrize("code", CODES)
def test_every_section_names_a_fix(code: str) -> None:
    assert "\nFix: " in SECTIONS[code]


@pytest.mark.parametrize("code", FOUND_IN_TEXT)
def test_the_example_of_a_code_gives_that_error(code: str) -> None:
    example = re.search(r"```\n(.*?)```", SECTIONS[code], re.DOTALL)
    assert example is not None
    with pytest.raises(CepheidError) as caught:
        check_scope(lower(parse(example[1].strip())))
    assert caught.value.code == code


@pytest.mark.parametrize("text", re.findall(r"```cel\n(.*?)```", LANGUAGE + VALUES, re.DOTALL))
def test_the_examples_of_the_language_are_well_formed(text: str) -> None:
    check_scope(lower(parse(text)))


RULES = {  # of the table of results, as Python
    "max(s₁, s₂) + max(p₁ − s₁, p₂ − s₂) + 1": lambda p1, s1, p2, s2, s: (
        max(s1, s2) + max(p1 - s1, p2 - s2) + 1
    ),
    "p₁ + p₂ + 1": lambda p1, s1, p2, s2, s: p1 + p2 + 1,
    "p₁ − s₁ + s₂ + the digits after the point": lambda p1, s1, p2, s2, s: p1 - s1 + s2 + s,
    "min(p₁ − s₁, p₂ − s₂) + max(s₁, s₂)": lambda p1, s1, p2, s2, s: min(p1 - s1, p2 - s2) + max(s1, s2),
    "max(s₁, s₂)": lambda p1, s1, p2, s2: max(s1, s2),
    "s₁ + s₂": lambda p1, s1, p2, s2: s1 + s2,
    "max(6, s₁ + p₂ + 1)": lambda p1, s1, p2, s2: max(6, s1 + p2 + 1),
}


def test_the_table_of_results_is_what_decimals_have() -> None:
    rows = re.findall(r"^\| (`a [-+*/%] b`.*?) \| (.*?) \| (.*?) \|$", VALUES, re.MULTILINE)
    seen = set()
    for shown, scale, digits in rows:
        for op in re.findall(r"`a (.) b`", shown):
            seen.add(op)
            for given in ((5, 2, 7, 3), (9, 0, 3, 3), (4, 4, 6, 1)):
                after = RULES[scale](*given)
                expected = DecimalType(RULES[digits](*given, after), after)
                assert result_type(op, DecimalType(*given[:2]), DecimalType(*given[2:])) == expected
    assert seen == set("+-*/%")


@pytest.mark.parametrize("text", re.findall(r"```sremo\n(.*?)```", SREMO, re.DOTALL))
def test_the_examples_of_sremo_are_well_formed(text: str) -> None:
    assert parse(text).language == "sremo"
    check_scope(lower(parse(text)))


@pytest.mark.parametrize("text", re.findall(r"```sase\n(.*?)```", SASE, re.DOTALL))
def test_the_examples_of_sase_are_well_formed(text: str) -> None:
    assert parse_text(text).language == "sase"


def test_what_the_page_on_sase_prints_is_printed() -> None:
    results = doctest.testfile(str(DOCS / "sase.md"), module_relative=False, encoding="utf-8")
    assert results.failed == 0
    assert results.attempted > 6


def test_what_the_page_on_sremo_prints_is_printed() -> None:
    results = doctest.testfile(str(DOCS / "sremo.md"), module_relative=False, encoding="utf-8")
    assert results.failed == 0
    assert results.attempted > 6


def test_what_the_page_on_data_prints_is_printed() -> None:
    results = doctest.testfile(str(DOCS / "data.md"), module_relative=False, encoding="utf-8")
    assert (results.failed, results.attempted) == (0, 3)


def test_what_the_page_on_time_prints_is_printed() -> None:
    results = doctest.testfile(str(DOCS / "time.md"), module_relative=False, encoding="utf-8")
    assert results.failed == 0
    assert results.attempted > 10


def test_links_between_pages_lead_to_sections() -> None:
    for page in ("sremo.md", "sase.md", "language.md", "data.md", "time.md"):
        text = (DOCS / page).read_text(encoding="utf-8")
        for target, section in re.findall(r"\]\(([a-z]+\.md)(?:#([a-z-]+))?\)", text):
            headings = re.findall(r"^#+ (.*)$", (DOCS / target).read_text(encoding="utf-8"), re.MULTILINE)
            assert not section or section in {
                re.sub("[,?]", "", heading.lower()).replace(" ", "-") for heading in headings
            }


def test_the_precedence_table_is_true() -> None:
    rows = re.findall(r"^\| `.*` \| `(A[^|]*)` \| `(\(.*)` \|$", LANGUAGE, re.MULTILINE)
    assert len(rows) == 5
    for short, long in rows:
        assert lower(parse(f"SELECT * FROM s WHERE {short}")) == lower(parse(f"SELECT * FROM s WHERE {long}"))


def test_the_language_lists_every_function_with_its_meaning() -> None:
    functions = LANGUAGE.partition("### Functions\n")[2]
    listed = re.findall(r"^\| `([a-z]+\([^`]*\))` \| (.*) \|$", functions, re.MULTILINE)
    assert listed == [(function.signature, function.meaning) for function in FUNCTIONS.values()]
    assert all(f"`{alias}`" in LANGUAGE for alias in ALIASES)
