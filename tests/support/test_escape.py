"""Untrusted text is shown harmless."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.support.escape import escape, is_blank, quoted

CASES = [
    ("plain", "plain"),
    ("h\u00e9", "h\u00e9"),
    ("\x1b[2J", "\\x1b[2J"),
    ("a\nb\tc\r", "a\\nb\\tc\\r"),
    ("\u202e", "\\u202e"),
    ("\ud800", "\\ud800"),
    (b"\xff\x00", "\\xff\\x00"),
    ("x" * 300, "x" * 200 + "..."),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_each_text_is_escaped_as_expected(text: str | bytes, expected: str) -> None:
    assert escape(text) == expected


@given(st.text() | st.binary())
def test_what_comes_out_is_printable_and_short(text: str | bytes) -> None:
    assert escape(text, 20).isprintable()
    assert len(escape(text, 20)) <= 20 * 10 + 3
    assert quoted(text, 20)[0] == quoted(text, 20)[-1] == "'"


@pytest.mark.parametrize(
    "text", ["", " ", "\u3164", "\u2800\u2800", "\u115f\u1160", "\uffa0", "\u200b\u2060", "\ufe0f", "\u0301", "\u00a0\t"]
)
def test_what_shows_nothing_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", " a ", "\u3164x", "e\u0301", "\u2801", "7", "\U0001f98a"])
def test_what_shows_something_is_not(text: str) -> None:
    assert not is_blank(text)
