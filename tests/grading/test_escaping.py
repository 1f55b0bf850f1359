"""Texts of submissions stay text."""

from __future__ import annotations

import csv
import io
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.grading import escaping

FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "＝1", "\u00a0=1", "\ufeff=1")  # noqa: RUF001 - the wide sign is meant


@pytest.mark.parametrize("text", FORMULAS)
def test_a_cell_is_no_formula(text: str) -> None:
    found = escaping.cell(text)
    assert found.startswith(("'", "\\")), found
    assert found.isprintable()


@pytest.mark.parametrize("text", ["a;=1+1", "a,=1", 'a";=1', "a\t=1", "a; @x", "a;-1"])
def test_another_separator_begins_no_formula(text: str) -> None:
    found = escaping.cell(text)
    for separator in ";,\t":
        for row in csv.reader(io.StringIO(found), delimiter=separator):
            assert not any(each.strip().startswith(("=", "+", "-", "@")) for each in row), row


def test_harmless_cells_stay_as_they_are() -> None:
    for text in ("Jane Doe", "jane.doe@example.edu", "O'Neill", "a-b", "a, b", "Zoë Löwenzahn", ""):
        assert escaping.cell(text) == text
    for text in ("-3", "-1.5", "-", "+2", "87,5", "x"):
        assert escaping.foreign_cell(text) == text
    assert escaping.foreign_cell("-3+cmd") == "'-3+cmd"


@given(st.text())
def test_any_text_stays_on_its_line(text: str) -> None:
    for found in (escaping.one_line(text), escaping.cell(text), escaping.markdown(text)):
        assert found.isprintable()
    assert not escaping.cell(text).startswith(("=", "+", "-", "@"))
    assert "<" not in escaping.markdown(text)
    ET.fromstring(ET.tostring(ET.Element("a", b=escaping.one_line(text))))


def test_markdown_has_no_markup() -> None:
    assert escaping.markdown("a*b*_c_`d`[e](f)|g") == r"a\*b\*\_c\_\`d\`\[e\]\(f\)\|g"
    assert escaping.markdown("<b>&amp;") == "&lt;b&gt;&amp;amp;"
    assert escaping.markdown("http://x www.y @all #1") == r"http\://x www\.y \@all \#1"


def test_a_log_has_no_terminal_escapes() -> None:
    assert escaping.log(b"fine\tline\nnext\r\n") == b"fine\tline\nnext\n"
    assert escaping.log(b"\x1b[31mred\x07\rover \xff \xe2\x80\xae") == b"\\x1b[31mred\\x07\\rover \\xff \\u202e"


def test_numbers() -> None:
    assert [escaping.number(value) for value in (0.0, 10.0, 3.333333, -0.001, -2.5, 1234567.0, 0.1 + 0.2)] == [
        "0",
        "10",
        "3.33",
        "0",
        "-2.5",
        "1234567",
        "0.3",
    ]
    assert escaping.finite(float("nan")) is None
    assert escaping.finite(float("inf")) is None
    assert escaping.finite(None) is None
