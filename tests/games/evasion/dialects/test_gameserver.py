"""The lines of the 2010 protocol: what is sent to the letter, and what is read loosely."""

from __future__ import annotations

from typing import Any

import pytest

from referee.games import get
from referee.games.dialect import DialectError
from referee.games.evasion.dialects.gameserver import (
    end_line,
    read_command,
    read_join,
    refusal,
    settings_line,
    state_line,
)
from referee.games.evasion.state import AddWall, HunterMove, Invalid, PreyMove, RemoveWall, State, Step, To

GAME = get("evasion")


def start(**given_: Any) -> State:
    made: State = GAME.start(GAME.codec.settings("gameserver", given_), b"")
    return made


def played(*moves: Any, **given_: Any) -> State:
    """The position after turns with these moves, the hunter's first; None for one that isn't asked."""
    state = start(**given_)
    for move in moves:
        state, _ = GAME.step(state, {} if move is None else {"prey" if state.step % 2 else "hunter": move})
    return state


def test_what_is_sent_is_exact() -> None:
    state = played(AddWall(7, 10, 20, 4, 20), Step("E"), None, None)
    assert settings_line(state.settings) == b"(500, 500) 6, 25, 1\n"
    assert state_line(start()) == b"YOURTURN 0 H(0, 0, 0, SE), P(330, 200, 0), W[]\n"
    assert state_line(state) == b"YOURTURN 2 H(2, 2, 24, SE), P(331, 200, 0), W[(7, 10, 20, 4, 20)]\n"
    state = played(AddWall(7, 10, 20, 4, 20), AddWall(1, 0, 0, 0, 0), cooldown=0, prey_cooldown=0)
    state, _ = GAME.step(state, {"hunter": AddWall(1234, 0, 3, 0, 9)})
    assert state_line(state) == b"YOURTURN 1 H(2, 2, 0, SE), P(330, 200, 0), W[(7, 10, 20, 4, 20), (1234, 0, 3, 0, 9)]\n"


@pytest.mark.parametrize(
    ("ended", "step", "seat", "winner", "line"),
    [
        ("caught", 115, "hunter", "hunter", b"GAMEOVER 57 WINNER HUNTER CAUGHT\n"),
        ("caught", 116, "prey", "hunter", b"GAMEOVER 57 LOSER PREY CAUGHT\n"),
        ("trapped", 7, "prey", "prey", b"GAMEOVER 3 WINNER PREY TRAPPED\n"),
        ("evaded", 200, "hunter", "prey", b"GAMEOVER 100 LOSER HUNTER EVADED\n"),
        ("prey-timeout", 9, "prey", "hunter", b"GAMEOVER 4 LOSER PREY TIMEOUT\n"),
        ("hunter-fault", 0, "prey", "prey", b"GAMEOVER 0 WINNER PREY TIMEOUT\n"),
    ],
)
def test_each_end_of_a_game_has_its_line(ended: str, step: int, seat: str, winner: str, line: bytes) -> None:
    assert end_line(start()._replace(ended=ended, step=step), seat, winner) == line


@pytest.mark.parametrize(
    ("seat", "line", "move"),
    [
        ("hunter", b"PASS", HunterMove()),
        ("prey", b" pass \r", PreyMove()),
        ("hunter", b"ADD 7 (0, 5), (9, 5)", AddWall(7, 0, 5, 9, 5)),
        ("hunter", b"add\t0007(0,5),(9,5)", AddWall(7, 0, 5, 9, 5)),
        ("hunter", b"Add 7 ( 0 ,5 ) , (9 , -5)", AddWall(7, 0, 5, 9, -5)),
        ("hunter", b"REMOVE 1234", RemoveWall(1234)),
        ("hunter", b"ReMove   7", RemoveWall(7)),
        ("prey", b"NE", Step("NE")),
        ("prey", b"sw", Step("SW")),
        ("prey", b"331, 201", To(331, 201)),
        ("prey", b"331,201", To(331, 201)),
        ("prey", b" 331 , - 1 ", To(331, -1)),
        ("hunter", b"ADD 12345 (0, 5), (9, 5)", Invalid("ADD 12345 (0, 5), (9, 5)")),
        ("hunter", b"REMOVE 12345", Invalid("REMOVE 12345")),
        ("hunter", b"ADD (0, 5), (9, 5)", Invalid("ADD (0, 5), (9, 5)")),
        ("hunter", b"NE", Invalid("NE")),
        ("prey", b"ADD 7 (0, 5), (9, 5)", Invalid("ADD 7 (0, 5), (9, 5)")),
        ("prey", b"331", Invalid("331")),
        ("prey", b"331, 201, 7", Invalid("331, 201, 7")),
        ("prey", "\uff13\uff13\uff11, 201".encode(), Invalid("\uff13\uff13\uff11, 201")),
    ],
)
def test_commands_are_read_loosely(seat: str, line: bytes, move: Any) -> None:
    assert read_command(seat, line).move == move


@pytest.mark.parametrize("line", [b"\xff\xfe", b"PASS\x00", b"\x1b[31mPASS", b"a\rb"])
def test_what_is_no_text_breaks_the_protocol(line: bytes) -> None:
    with pytest.raises(DialectError, match="is not text"):
        read_command("prey", line)


@pytest.mark.parametrize(
    ("line", "read"),
    [
        (b"JOIN Ada", ("JOIN", "Ada")),
        (b" join  a!\r", ("JOIN", "a!")),
        (b"Spectate", ("SPECTATE", "")),
        (b"SPECTATE 3", ("SPECTATE", "3")),
        (b"JOIN " + b"x" * 39, ("JOIN", "x" * 39)),
    ],
)
def test_the_line_of_a_client_that_joins_is_read(line: bytes, read: tuple[str, str]) -> None:
    assert read_join(line) == read


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"JOIN", "without a name"),
        (b"JOIN a b", "white space"),
        (b"JOIN " + b"x" * 40, "40 characters"),
        ("JOIN a\u202eb".encode(), "can't be shown"),
        (b"HELLO", "neither JOIN nor SPECTATE"),
        (b"SPECTATE x", "neither JOIN nor SPECTATE"),
        (b"\x80", "not text"),
    ],
)
def test_a_bad_name_is_refused_with_its_reason(line: bytes, why: str) -> None:
    with pytest.raises(DialectError, match=why):
        read_join(line)


def test_only_its_own_rule_set() -> None:
    assert not refusal(GAME.codec.settings("gameserver", {}))
    assert "classic" in refusal(GAME.codec.settings("classic", {}))
