"""Untrusted text is shown harmless."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.wire.shown import plain, shown

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
def test_cases(text: str | bytes, expected: str) -> None:
    assert plain(text) == expected


@given(st.text() | st.binary())
def test_what_comes_out_is_printable_and_short(text: str | bytes) -> None:
    assert plain(text, 20).isprintable()
    assert len(plain(text, 20)) <= 20 * 10 + 3
    assert shown(text, 20)[0] == shown(text, 20)[-1] == "'"
