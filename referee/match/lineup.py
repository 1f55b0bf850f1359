"""A match that continues a recorded one: its start, its options, and its players."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import ReplayError, UsageError
from referee.match.options import MatchOptions, RunOptions, declared, limits_of
from referee.players.clock import TimeControl
from referee.players.recorded_bots import SAME, recorded_bot
from referee.replay.records import clock_of
from referee.support.words import the_seat

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from referee.games.game import Seat
    from referee.match.start import Start
    from referee.replay.reader import RecordedMatch

#: The options of the match loop that a head may have.
_OPTIONS = ("idle", "on_malformed")


def options_of(recorded: RecordedMatch) -> MatchOptions:
    """Return the options of a recorded match. ReplayError if the head has no valid clock."""
    head, clock = recorded.head, clock_of(recorded.head)
    if clock is None:
        raise ReplayError(f"{recorded.path} has no valid clock in its head, so its match can't continue.")
    choices = {each.name: each.choices for each in declared() if each.name in _OPTIONS}
    run = RunOptions(**{name: head[name] for name in _OPTIONS if head.get(name) in choices[name]})
    return MatchOptions(time=TimeControl(**clock.to_json()), run=run, limits=limits_of(head))


class Lineup(NamedTuple):
    """The players who continue a match, one for each seat that has not failed, and notes on them."""

    players: Mapping[Seat, Any]
    notes: tuple[str, ...]


def lineup(recorded: RecordedMatch, start: Start, players: Sequence[Any], text: str) -> Lineup:
    """Return the players who continue the match. ``players`` are in the order of the seats; None, "-" or nothing is the program of the replay.

    ``text`` is the start as the user wrote it. UsageError if there are too many players, PlayerError if a program isn't found.
    """
    seats = recorded.game.seats(recorded.settings)
    if len(players) > len(seats):
        raise UsageError(f"The match of the replay has {len(seats)} seats ({', '.join(seats)}), but {len(players)} players were named.")
    chosen = {seat: player for seat, player in zip(seats, players, strict=False) if player not in (None, SAME)}
    notes = []
    for seat in seats:
        if seat in start.out:
            chosen.pop(seat, None)
            step = start.out[seat].step
            notes.append(f"{the_seat(seat)} failed in step {step} of the replay, so it is out of this match and not started.")
        elif seat not in chosen:
            words = [SAME if other != seat else "PROGRAM" for other in seats[: seats.index(seat) + 1]]
            hint = f"name {the_seat(seat, begins=False)}: referee play --from {shlex.quote(text)} {' '.join(words)}"
            chosen[seat], change = recorded_bot(recorded, seat, hint)
            notes += [f"{change}."] if change else []
    return Lineup({seat: chosen[seat] for seat in seats if seat in chosen}, tuple(notes))


def split(text: str) -> tuple[Path, int]:
    """Return the file and the turn of ``REPLAY@TURN``. UsageError for any other text."""
    if not isinstance(text, str):
        raise UsageError(f"A match begins at REPLAY@TURN, as in game.replay.jsonl.gz@412, not at {text!r:.60}.")
    name, at, turn = text.rpartition("@")
    if not at or not name or not re.fullmatch(r"[0-9]{1,9}", turn):
        raise UsageError(
            f"A match begins at REPLAY@TURN, as in game.replay.jsonl.gz@412, not at '{text:.120}'; the turn is a whole number from 0 on."
        )
    return Path(name), int(turn)
