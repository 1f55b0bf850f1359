"""Nothing that is printed for people is raw: the writers of the terminal and the texts of errors escape what they are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from referee.cli.app import put, say
from referee.errors import PlayerError
from referee.support.escape import message, printable

if TYPE_CHECKING:
    import pytest

HOSTILE = "a\x1b[2J\u202eb\nreferee: c\x9b"
SHOWN = "a\\x1b[2J\\u202eb\\nreferee: c\\x9b"


def test_what_commands_print_is_escaped_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    put(HOSTILE, "second")
    say(HOSTILE)
    out, err = capsys.readouterr()
    assert out == f"{SHOWN}\nsecond\n"
    assert err == f"{SHOWN}\n"


def test_the_text_of_an_error_is_escaped() -> None:
    assert str(PlayerError(f"The player '{HOSTILE}' can't play.")) == f"The player '{SHOWN}' can't play."


def test_indented_lines_of_a_message_stay_lines() -> None:
    told = str(PlayerError("It can't be built:\n  bot.c:1: error\n\x1b[31m\n  ^"))
    assert told == "It can't be built:\n  bot.c:1: error\\n\\x1b[31m\n  ^"
    assert str(PlayerError(told)) == told


@given(st.text())
def test_a_message_has_only_indented_lines_after_its_first(text: str) -> None:
    first, *others = message(text).split("\n")
    assert first.isprintable()
    assert all(line.startswith("  ") and line.isprintable() for line in others)
    assert printable(text).isprintable()
