"""The lines of the 2017 protocol: recorded sessions without a network, what is heeded, and both sides against each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.dialects.dialect import Ask, Begin, DialectError, Over, Send
from referee.games import get
from referee.games.evasion.board.walls import KINDS
from referee.games.evasion.dialects.architect import ArchitectGuest, ArchitectHost, refusal
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


HUNTER_MOVES = st.builds(
    HunterMove, st.one_of(st.none(), st.sampled_from(KINDS).map(Build)), st.lists(st.integers(0, 8), max_size=3, unique=True).map(tuple)
)
PREY_MOVES = st.builds(PreyMove, st.one_of(st.none(), st.tuples(st.integers(-1, 1), st.integers(-1, 1))))


@given(st.lists(st.tuples(HUNTER_MOVES, PREY_MOVES), max_size=60))
def test_both_sides_understand_each_other(moves: list[tuple[Any, Any]]) -> None:
    """A guest sees the same board, with ids of its own that stay the same, and what it asks for happens."""
    state = start(width=41, height=41, prey=(30, 20), cooldown=2, max_walls=4)
    sides = {seat: (ArchitectHost(seat), ArchitectGuest(seat)) for seat in ("hunter", "prey")}
    for host, guest in sides.values():
        (sent,) = guest.hear(host.on_connect)
        assert isinstance(sent, Send)
        assert host.take_name(sent.data) == host.seat
        assert guest.hear(host.opening(state)) == []
    for index, pair in enumerate(moves):
        if state.ended:
            break
        given_ = {}
        for seat, move in zip(("hunter", "prey"), pair, strict=True):
            host, guest = sides[seat]
            events = guest.hear(host.question(index, state, 12.5))
            assert [type(event) for event in events[:-1]] == ([Begin] if index == 0 else [])
            if seat == "prey" and not state.prey_moves:
                assert isinstance(events[-1], Send)
                assert not host.answer(index, state, events[-1].data).warning
                continue
            asked = events[-1]
            assert isinstance(asked, Ask)
            assert asked.bank == 12.5
            seen, true = GAME.codec.view(asked.state, seat), GAME.codec.view(state, seat)
            assert seen["walls"] == true["walls"]
            assert {**seen, "prey": None} == {**true, "prey": None}
            assert (seen["prey"]["x"], seen["prey"]["y"]) == (true["prey"]["x"], true["prey"]["y"])
            heard = host.answer(index, state, guest.answer(move))
            assert not heard.warning
            given_[seat] = heard.move
            if seat == "hunter":
                standing = {wall.id for wall in state.walls}
                assert heard.move.build == move.build
                assert set(heard.move.remove) == standing & set(move.remove)
        state, _ = GAME.step(state, given_)


def test_a_guest_hears_the_end_of_each_game() -> None:
    guest = ArchitectGuest("bot")
    hunting, host = ArchitectHost("hunter"), ArchitectHost("prey")
    guest.hear(hunting.opening(start()))
    guest.hear(hunting.question(0, start(), None))
    host.opening(start())
    (over,) = guest.hear(b"prey")
    assert isinstance(over, Over)
    assert not over.is_last
    guest.hear(host.question(0, start(), None))
    (over,) = guest.hear(b"done")
    assert isinstance(over, Over)
    assert over.is_last


@pytest.mark.parametrize(
    "line",
    [
        b"hello",
        b"1 2 3",
        b"0 0 0 8 20 300 300 0 0 0 1 1 230 200 1",
        b"0 0 0 8 20 300 300 0 0 0 1 1 230 200 1 9 1 1",
        b"0 0 0 8 20 0 300 0 0 0 1 1 230 200 0",
    ],
)
def test_a_server_that_speaks_otherwise(line: bytes) -> None:
    guest = ArchitectGuest("bot")
    guest.hear(b"hunter")
    with pytest.raises(DialectError):
        guest.hear(line)
