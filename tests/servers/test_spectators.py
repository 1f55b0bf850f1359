"""Who looks on at a game of the 2010 server: quick and slow readers, and those who leave."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from referee import games
from referee.games.evasion.dialects.gameserver import settings_line, state_line
from referee.games.game import Outcome
from referee.match.events import MatchBegun, MatchEnded, StepTaken
from referee.servers import spectators
from referee.servers.listener import Caller
from referee.servers.spectators import Spectators, hand_over

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.games.evasion.state import State

GAME = games.get("evasion")
START = GAME.start(GAME.codec.settings("gameserver", {"max_steps": 500_000}), b"")
OPENING = settings_line(START.settings) + state_line(START)


class Spectator:
    """A connection, and what its reader has read."""

    def __init__(self, name: str) -> None:
        ours, self.theirs = socket.socketpair()
        self.caller = Caller(ours, name)
        self.theirs.setblocking(False)
        self.seen = b""

    def read(self) -> None:
        """Read what is there."""
        try:
            while data := self.theirs.recv(1 << 16):
                self.seen += data
        except (BlockingIOError, ConnectionResetError):
            pass

    def close(self) -> None:
        """Close both ends."""
        self.theirs.close()
        self.caller.close()

    def is_cut_off(self) -> bool:
        """Whether nothing more can come, once everything is read."""
        self.read()
        try:
            return self.theirs.recv(1) == b""
        except BlockingIOError:
            return False


#: The end of a game, which closes the connections of all who watch.
OVER = MatchEnded(Outcome("stopped", None, {}, "The match was stopped."), 0, START, {}, {}, {})


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def doors(said: list[str]) -> Iterator[tuple[socket.socket, Spectators, Spectator, Spectator]]:
    """The server's end of the door, a game's gallery, and two who were there from the start."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    quick, slow = Spectator("quick"), Spectator("slow")
    found = Spectators(theirs, [quick.caller, slow.caller], said.append)
    found.begun(MatchBegun({}, START))
    yield ours, found, quick, slow
    for end in (ours, theirs):
        end.close()
    found.ended(OVER)
    for spectator in (quick, slow):
        spectator.close()


def steps(found: Spectators, state: State, count: int) -> State:
    """Play on, with nobody doing anything."""
    for _ in range(count):
        before = state
        state, notices = GAME.step(before, {seat: GAME.codec.parse(before, seat, {}) for seat in GAME.movers(before)})
        found.stepped(StepTaken(before.step, before, state, {}, notices, {}, {}))
    return state


def test_who_reads_too_slowly_is_sent_away_and_keeps_nobody(
    doors: tuple[socket.socket, Spectators, Spectator, Spectator], said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spectators, "MOST_UNSENT", 50_000)
    _, found, quick, slow = doors
    state, wanted, count = START, OPENING, 0
    while not said:
        before = state
        state = steps(found, state, 1)
        wanted += state_line(state)
        quick.read()
        count += 1
        assert count < 100_000, "nobody is sent away"
        assert before is not state
    assert said == ["the spectator slow reads too slowly and is sent away"]
    # It was given as much as its connection holds and more, and gets nothing after that.
    assert slow.is_cut_off()
    assert wanted.startswith(slow.seen)
    assert len(wanted) - len(slow.seen) > 50_000
    # The other one misses nothing, and the end comes at once.
    state = steps(found, state, 3)
    quick.read()
    assert quick.seen.startswith(wanted)
    outcome = GAME.outcome(GAME.fault(state, {"prey": "crashed"}))
    assert outcome is not None
    found.ended(MatchEnded(outcome, state.step, state, {}, {}, {}))
    assert quick.is_cut_off()
    assert len(said) == 1


def test_who_leaves_is_told_of_and_who_comes_later_sees_the_board(
    doors: tuple[socket.socket, Spectators, Spectator, Spectator], said: list[str]
) -> None:
    door, found, quick, slow = doors
    slow.theirs.close()
    state = steps(found, START, 4)
    assert said == ["the spectator slow has left"]
    late = Spectator("late")
    assert hand_over(door, late.caller)
    found.ticked()
    late.read()
    assert late.seen == settings_line(START.settings) + state_line(state)
    quick.read()
    assert quick.seen.endswith(state_line(state))
    late.close()


def test_a_crowd_is_served_in_its_share_of_the_time_and_sees_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter(number / 1000 for number in range(1_000_000))
    monkeypatch.setattr(spectators, "perf_counter", times.__next__)
    crowd = [Spectator(f"10.0.0.{number}:1") for number in range(100)]
    door, theirs = socket.socketpair()
    found = Spectators(theirs, [one.caller for one in crowd], lambda _: None)
    found.begun(MatchBegun({}, START))
    state, wanted = START, OPENING
    for _ in range(20):
        seen = [len(one.seen) for one in crowd]
        state = steps(found, state, 1)
        wanted += state_line(state)
        for one in crowd:
            one.read()
        # By this clock serving one takes a fifth of what may be spent at once.
        assert sum(len(one.seen) > before for one, before in zip(crowd, seen, strict=True)) <= 10
    outcome = GAME.outcome(GAME.fault(state, {"prey": "crashed"}))
    assert outcome is not None
    found.ended(MatchEnded(outcome, state.step, state, {}, {}, {}))
    for one in crowd:
        one.read()
        assert one.seen.startswith(wanted)
        assert b"GAMEOVER" in one.seen
        one.close()
    door.close()
    theirs.close()


def test_one_address_does_not_take_all_places_at_a_game(said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spectators, "MOST_WATCHING", 5)
    monkeypatch.setattr(spectators, "MOST_OF_ADDRESS", 3)
    door, theirs = socket.socketpair()
    crowd = [Spectator(f"10.0.0.2:{number}") for number in range(4)]
    found = Spectators(theirs, [one.caller for one in crowd], said.append)
    found.begun(MatchBegun({}, START))
    assert [one.is_cut_off() for one in crowd] == [False, False, False, True]
    assert said == ["the spectator 10.0.0.2:3 is sent away: 3 watch this game already, 3 of them from its address (the 1. so far)"]
    others = [Spectator(f"10.0.0.{number}:1") for number in (3, 4, 5)]
    for one in others:
        assert hand_over(door, one.caller)
    steps(found, START, 2)
    assert [one.is_cut_off() for one in others] == [False, False, True]
    # Who leaves makes room.
    crowd[0].theirs.close()
    state = steps(found, START, 5)
    late = Spectator("10.0.0.2:9")
    assert hand_over(door, late.caller)
    steps(found, state, 2)
    assert not late.is_cut_off()
    found.ended(OVER)
    for one in (*crowd, *others, late):
        one.close()
    door.close()
    theirs.close()


def test_a_game_that_is_over_takes_nobody() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs.close()
    late = Spectator("late")
    assert not hand_over(ours, late.caller)
    ours.close()
    late.close()
