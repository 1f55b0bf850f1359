"""Spectators of a game of the 2010 server: quick and slow readers, and those who leave."""

from __future__ import annotations

import socket

from referee import games
from referee.games.evasion.dialects.gameserver import settings_line, state_line
from referee.games.game import Outcome
from referee.replay.events import MatchBegun, MatchResult, StepTaken
from referee.servers.gameserver import Spectators
from referee.servers.listener import Caller

GAME = games.get("evasion")
START = GAME.start(GAME.codec.settings("gameserver", {"max_steps": 500_000}), b"")
OPENING = settings_line(START.settings) + state_line(START)
STEP = StepTaken(0, START, START, {}, (), {}, {})
OUTCOME = Outcome("caught", "hunter", {}, "The hunter has caught the prey.")
OVER = MatchResult(OUTCOME, 0, START._replace(ended="caught"), True, {}, {}, {}, {}, {})


def test_a_spectator_that_leaves_or_reads_nothing_is_disconnected_and_the_others_see_everything() -> None:
    pairs = {name: socket.socketpair() for name in ("quick", "slow", "gone")}
    said: list[str] = []
    game = Spectators([Caller(ours, name) for name, (ours, _) in pairs.items()], said.append)
    quick = pairs["quick"][1]
    game.begun(MatchBegun({}, START, GAME))
    pairs["gone"][1].close()
    read, steps = quick.recv(1 << 16), 0
    while len(said) < 2:
        game.stepped(STEP)
        steps += 1
        read += quick.recv(1 << 16)
    assert said == [f"the spectator {name} has left, or reads too slowly and is sent away" for name in ("gone", "slow")]
    game.ended(OVER)
    while data := quick.recv(1 << 16):
        read += data
    assert read == OPENING + steps * state_line(START) + b"GAMEOVER 0 WINNER HUNTER CAUGHT\n"
    for ends in pairs.values():
        for end in ends:
            end.close()
