"""Files of text as people save them: every loader of ours reads what programs on Windows write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from arenas import write_arena
from gradings import HUNTS
from hypothesis import given
from hypothesis import strategies as st
from leagues import write_league

from referee import games
from referee.arena import config as arenas
from referee.grading import rubric
from referee.league import config as leagues
from referee.match import settings_file
from referee.players import bot_toml
from referee.support.plain_text import plain, toml
from referee.tournament import starts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ENCODINGS = ("utf-8-sig", "utf-16", "utf-32")


@given(st.text().filter(lambda text: not text.startswith("\ufeff") and "\0" not in text), st.sampled_from(ENCODINGS))
def test_a_text_is_the_same_in_every_encoding(text: str, encoding: str) -> None:
    assert plain(text.encode(encoding)) == plain(text.encode()) == text.encode()


@given(st.binary())
def test_what_is_not_text_stays_or_loses_its_mark(data: bytes) -> None:
    assert plain(data) == data or data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff"))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"a = 1\nb = '\xe4'", "is not UTF-8 (at line 2); save it in the encoding UTF-8."),
        ("a = 1".encode("utf-16-le"), "has null characters, as text in UTF-16 does; save it in the encoding UTF-8."),
        (b"\xff\xfea", "is not UTF-8 (at line 1); save it in the encoding UTF-8."),
        (b"a = 1\nb", "is not TOML: Expected '=' after a key in a key/value pair (at end of document)."),
    ],
)
def test_a_sentence_says_what_is_wrong(data: bytes, told: str) -> None:
    with pytest.raises(ValueError, match=" ") as caught:
        toml(data)
    assert str(caught.value) == told


def load_match(path: Path) -> object:
    return settings_file.read(path, settings_file.MatchFile, "match file")


def load_bot(path: Path) -> object:
    return bot_toml.read(path.parent, "prey", "The prey")


def load_starts(path: Path) -> object:
    game = games.get("evasion")
    return starts.read(path, game, [("", game.codec.settings(None, {}))], bytes(16))


LOADERS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "rubric.toml": (rubric.load, HUNTS),
    "league.toml": (leagues.load, ""),
    "arena.toml": (lambda path: arenas.load(path.parent), ""),
    "match.toml": (load_match, 'game = "evasion"\nsettings.max_steps = 9\n'),
    "bot.toml": (load_bot, 'run = "sh x"\n'),
    "starts.jsonl": (load_starts, '{"settings": {"hunter": [0, 0, 1, 1], "prey": [50, 50]}, "seed": 7}\n'),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", LOADERS)
def test_every_file_of_ours_may_have_a_mark_and_windows_line_ends(name: str, encoding: str, tmp_path: Path) -> None:
    load, text = LOADERS[name]
    path = tmp_path / name
    write_arena(tmp_path)
    write_league(tmp_path)
    text = text or path.read_text()
    path.write_text(text)
    plain_one = load(path)
    path.write_bytes(text.replace("\n", "\r\n").encode(encoding))
    found = load(path)
    if name == "rubric.toml":
        # The text of the rubric is a part of the grading, and its marks of Windows aren't.
        assert found.text == text.replace("\n", "\r\n")
        found = found._replace(text=text)
    assert found == plain_one
