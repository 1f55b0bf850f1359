"""The lines of the 2017 protocol: recorded sessions without a network, and what is heeded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from referee.games import get
from referee.games.dialect import DialectError
from referee.games.evasion.board.wall import KINDS
from referee.games.evasion.dialects.architect import ArchitectHost, refusal
from referee.games.evasion.state import Build, HunterMove, PreyMove, State

GAME = get("evasion")
DATA = Path(__file__).parents[3] / "data"


def start(rules: str = "diagonal", **given_: Any) -> State:
    made: State = GAME.start(GAME.codec.settings(rules, given_), b"")
    return made


@pytest.mark.parametrize("number", [1, 2])
def test_recorded_sessions_are_sent_again_line_by_line(number: int) -> None:
    """Every line to both clients is equal, but for the time left."""
    session = json.loads((DATA / f"architect-session-{number}.json").read_text())
    clients = [iter(lines) for lines in session["clients"]]
    for lines in clients:
        assert next(lines) == ["<", "sendname"]
        assert next(lines)[0] == ">"
    compared = 0
    for game in range(2):
        state = start(max_walls=session["max_walls"], cooldown=session["cooldown"])
        hosts = [ArchitectHost(seat, number=game, is_known=True) for seat in ("hunter", "prey")][:: -1 if game else 1]
        for lines, host in zip(clients, hosts, strict=True):
            assert next(lines) == ["<", host.opening(state).decode().strip()]
        while not state.ended:
            moves = {}
            for lines, host in zip(clients, hosts, strict=True):
                way, recorded = next(lines)
                line = host.question(state.step, state, 119.999).decode()
                assert line.endswith("\n")
                assert (way, line.split()[1:]) == ("<", recorded.split()[1:])
                compared += 1
                way, answer = next(lines)
                assert way == ">"
                moves[host.seat] = host.answer(state.step, state, answer.encode()).move
            state, _ = GAME.step(state, {seat: move for seat, move in moves.items() if seat in GAME.movers(state)})
    assert [next(lines) for lines in clients] == [["<", "done"]] * 2
    assert compared > 700


@pytest.mark.parametrize(
    ("seat", "line", "move", "warning"),
    [
        ("hunter", b"3 0 0", HunterMove(), ""),
        ("hunter", b" 3  0 4 ", HunterMove(Build(KINDS[3])), ""),
        ("hunter", b"3 0 1 0 0 7 -1", HunterMove(Build(KINDS[0]), (0,)), ""),
        ("hunter", b"3 0 5", HunterMove(), "kind 5"),
        ("hunter", b"3 0 -1 0", HunterMove(None, (0,)), "kind -1"),
        ("hunter", b"3 1 1", HunterMove(), "not heeded"),
        ("hunter", b"2 0 1 0", HunterMove(), "not heeded"),
        ("hunter", b"3 0", HunterMove(), "no answer"),
        ("hunter", b"hello", HunterMove(), "no answer"),
        ("prey", b"3 0 1 -1", PreyMove((1, -1)), ""),
        ("prey", b"3 0 9 -7\r", PreyMove((1, -1)), ""),
        ("prey", b"3 0 0 0", PreyMove((0, 0)), ""),
        ("prey", b"3 1 1 1", PreyMove((0, 0)), "not heeded"),
        ("prey", b"3 0 1", PreyMove((0, 0)), "no answer"),
        ("prey", b"3 0 1.5 1", PreyMove((0, 0)), "no answer"),
        ("prey", b"3 0 99999999999 1", PreyMove((1, 1)), ""),
    ],
)
def test_what_is_heeded(seat: str, line: bytes, move: Any, warning: str) -> None:
    state, _ = GAME.step(start(cooldown=1), {"hunter": HunterMove(Build(KINDS[0]))})
    host = ArchitectHost(seat, number=3)
    for _ in range(2):
        # Also when it is remembered.
        heard = host.answer(0, state._replace(step=0), line)
        assert heard.move == move
        assert warning in heard.warning
        assert bool(heard.warning) == bool(warning)


def test_what_is_remembered_counts_for_its_own_tick_alone() -> None:
    host = ArchitectHost("prey")
    assert host.answer(0, start(), b"0 0 1 1").move == PreyMove((1, 1))
    later = start()._replace(step=10)
    assert host.answer(10, later, b"0 10 1 1").move == PreyMove((1, 1))
    assert host.answer(10, later, b"0 0 1 1").move == PreyMove((0, 0))
    assert host.answer(10, later, b"0 100 1 1").move == PreyMove((0, 0))


def test_the_places_of_a_hunter_are_read_anew_in_each_tick() -> None:
    host = ArchitectHost("hunter")
    state = start(cooldown=1)
    state, _ = GAME.step(state, {"hunter": host.answer(0, state, b"0 0 1").move})
    state, _ = GAME.step(state, {"hunter": host.answer(1, state, b"0 1 2 0").move})
    assert [wall.id for wall in state.walls] == [1]
    assert host.answer(2, state, b"0 2 0 0").move == HunterMove(None, (1,))


@pytest.mark.parametrize("line", [b"\xff", b"0 0 0\x00"])
def test_what_is_no_text_breaks_the_protocol(line: bytes) -> None:
    for seat in ("hunter", "prey"):
        with pytest.raises(DialectError, match="is not text"):
            ArchitectHost(seat).answer(0, start(), line)


def test_which_settings_it_can_say() -> None:
    assert not refusal(GAME.codec.settings("diagonal", {}))
    assert not refusal(GAME.codec.settings("classic", {}))
    assert "gameserver" in refusal(GAME.codec.settings("gameserver", {}))
    assert "prey_period" in refusal(GAME.codec.settings("diagonal", {"prey_period": 3}))
