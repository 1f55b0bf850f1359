"""Texts of hand-ins stay text."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from referee.grading import escaping


@given(st.text())
def test_any_text_stays_on_its_line(text: str) -> None:
    assert escaping.one_line(text).isprintable()
    ET.fromstring(ET.tostring(ET.Element("a", b=escaping.one_line(text))))


def test_a_log_has_no_terminal_escapes() -> None:
    assert escaping.log(b"fine\tline\nnext\r\n") == b"fine\tline\nnext\n"
    assert escaping.log(b"\x1b[31mred\x07\rover \xff \xe2\x80\xae") == b"\\x1b[31mred\\x07\\rover \\xff \\u202e"


def test_numbers_have_at_most_two_decimals_and_no_negative_zero() -> None:
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
