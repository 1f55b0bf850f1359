"""Matches that begin at a position of a replay: their players and settings, for the commands and for ``referee.play``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.api.runner import MatchRequest
from referee.errors import UsageError
from referee.isolation.limits import Limits
from referee.replay.beginning import SAME, StartPosition, begin, recorded_player, split
from referee.replay.paths import SUFFIX
from referee.support.outputs import check_not_input
from referee.support.words import the_seat

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from referee.games.game import Seat
    from referee.match.options import MatchOptions

    Named = Any


class Lineup(NamedTuple):
    """The players who continue a match: one for each seat that is still in the match, and notes on them."""

    players: Mapping[Seat, Named]
    notes: tuple[str, ...]


def start_at(text: str) -> StartPosition:
    """Return the start that ``REPLAY@TURN`` names. UsageError and ReplayError as ``replay.beginning.begin`` raises them."""
    if not isinstance(text, str):
        raise UsageError(f"A match begins at REPLAY@TURN, as in game.replay.jsonl.gz@412, not at {text!r:.60}.")
    return begin(*split(text))


def lineup(start: StartPosition, players: Sequence[Named | None], text: str) -> Lineup:
    """Return the players who continue the match. ``players`` are in the order of the seats; None, "-" and those left out are the programs of the replay.

    ``text`` is the start as the user wrote it. UsageError if there are too many players, PlayerError if a program isn't found again.
    """
    seats, playing = start.game.seats(start.settings), start.seats
    if len(players) > len(seats):
        raise UsageError(f"The match of the replay has {len(seats)} seats ({', '.join(seats)}), but {len(players)} players were named.")
    named = {seat: player for seat, player in zip(seats, players, strict=False) if player is not None and player != SAME}
    chosen: dict[Seat, Named] = {}
    notes = []
    for seat in seats:
        if seat not in playing:
            step = start.beginning.fault_steps[seat]
            notes.append(f"{the_seat(seat)} failed in step {step} of the replay, so it is out of this match and not started.")
        elif seat in named:
            chosen[seat] = named[seat]
        else:
            words = [SAME if other != seat else "PROGRAM" for other in seats[: seats.index(seat) + 1]]
            hint = f"name {the_seat(seat, begins=False)}: referee play --from {shlex.quote(text)} {' '.join(words)}"
            chosen[seat], note = recorded_player(start, seat, hint)
            notes += [note] if note else []
    return Lineup(chosen, tuple(notes))


def request_from(start: StartPosition, options: MatchOptions, notes: Sequence[str], out: str | None) -> MatchRequest:
    """Return the request for the match. ``notes`` are printed after the match, ``out`` is a file or a folder for the replay.

    UsageError if the new replay would overwrite the one in which the match begins.
    """
    for name in () if out is None else (out, out + SUFFIX):
        check_not_input(Path(name), (start.path,))
    notes = (*start.beginning.notes, *notes, *_of_limits(options.limits, start.options.limits))
    return MatchRequest(start.game, start.settings, options, start.beginning.seed, out, start.beginning._replace(notes=notes))


def _of_limits(limits: Limits, recorded: Limits) -> list[str]:
    """Return a note if the limits come from the replay and are higher than the ordinary ones."""
    higher = limits.above(Limits())
    return [f"The limits are those of the match in the replay, which are higher than the ordinary ones: {', '.join(higher)}."] * bool(
        higher and limits == recorded
    )
