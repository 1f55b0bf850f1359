"""Asks a bot in one turn of a replay, and continues the match from there."""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.api import runner
from referee.api.beginnings import request_from
from referee.errors import UsageError
from referee.match.options import checked_isolation
from referee.players.log import Log
from referee.players.spec import resolve
from referee.replay.beginning import begin, recorded_player
from referee.replay.questions import MOVE, questions
from referee.replay.recorded import time_control
from referee.replay.rehearsal import CurrentTurn, Debugged, QuestionsToTurn, Rehearsal, ask_at, questions_to_turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.api.runner import PlayedMatch
    from referee.games.game import Json, Seat
    from referee.isolation.level import Isolation
    from referee.match.events import Listener
    from referee.match.loop import Entrant, Match
    from referee.players.spec import Spec


class AskedAnswer(NamedTuple):
    """A bot's answer in one turn of a replay.

    ``move`` is its move as JSON ({} for doing nothing), None if it has failed; ``fault`` is then the sentence about it. ``recorded`` is the
    recorded move, None if it is not in the replay or was a fault. ``same`` and ``different`` count the bot's answers in the turns before.
    """

    move: Json
    fault: str
    recorded: Json
    same: int
    different: int


def ask(path: Path, turn: int, seat: Seat, player: Any, isolation: str) -> AskedAnswer:
    """Ask a bot in a turn of a replay, as ``Replay.ask`` says."""
    from referee.isolation.choose import choose
    from sdk.testing import entrant as class_entrant

    checked_isolation(isolation, "isolation")
    asked = questions(path, seat)
    errors: list[Exception | SystemExit] = []
    bot: Any = player
    if inspect.isclass(player):
        entrant = class_entrant(seat, bot, errors)
    else:
        spec = program(os.fspath(player), asked.game.info.name, seat, asked.settings)
        entrant = runner.entrant(seat, spec)
    to_turn = questions_to_turn(asked, turn, entrant.host)
    level = choose(isolation, asked.limits, [] if entrant.program is None else [entrant.program])
    found = ask_at(to_turn, entrant, level, Log(None, asked.limits.stderr_bytes))
    if errors:
        raise errors[0]
    recorded = to_turn.recorded
    is_move = found.has_answered and found.given is not None and found.given.kind == MOVE
    return AskedAnswer(
        found.given.move if is_move and found.given is not None else None,
        "" if is_move or found.given is None else found.given.text,
        recorded.move if recorded is not None and recorded.kind == MOVE else None,
        found.same,
        found.different,
    )


def program(player: str, game: str, seat: Seat, settings: Any) -> Spec:
    """Return a program as ``resolve`` does. UsageError for a person."""
    spec = resolve(player, seat, game, settings)
    if spec.is_human:
        raise UsageError("Only a program can be asked in a turn of a replay; name its file.")
    return spec


def play_on(
    to_turn: QuestionsToTurn,
    entrant: Entrant,
    against: str | None,
    isolation: Isolation,
    *,
    out: str | None,
    recorded_isolation: str | None,
    tell: Callable[[str], None],
    progress: CurrentTurn,
    stderr: Callable[[bytes], None],
) -> tuple[PlayedMatch, Debugged]:
    """Ask a bot all questions up to the turn, and continue the match from there; no clock limits a player.

    ``stderr`` gets what the bot writes there. ``against`` is the player of all other seats, None for the recorded programs. The replay chose those, so they run at
    ``recorded_isolation``, a value of --isolation; None means that they run as the bot does. ``tell`` gets the notes on them before anything
    is started. Raises what ``runner.play`` raises, and PlayerError if a recorded program isn't found again.
    """
    asked, seat = to_turn.asked, to_turn.asked.seat
    path = asked.replay.path
    assert path is not None
    start = begin(path, to_turn.last.turn)
    specs: dict[Seat, Spec] = {}
    notes: list[str] = []
    for other in start.seats:
        if other != seat:
            named, note = (against, "") if against is not None else recorded_player(start, other, "name it: --against PROGRAM")
            specs[other] = program(named, start.game.info.name, other, start.settings)
            notes += [note] if note else []
    level = None
    if against is None and recorded_isolation is not None and specs:
        from referee.isolation.choose import choose

        level = choose(recorded_isolation, start.options.limits, [spec.program for spec in specs.values()])
    for note in (*notes, *(level.notes if level is not None else ())):
        tell(f"note: {note}")
    for other, spec in specs.items():
        if against is None and Path(spec.label).expanduser().exists():
            tell(f"The {other} is '{spec.label}', as the replay says. No clock limits it; Ctrl-C ends the match.")
    rehearsal = Rehearsal(to_turn, progress)
    run = start.options.run.replace(idle="run", cores=0, max_lateness=float("inf"))
    request = request_from(start, start.options.replace(run=run), notes, out)
    assert request.beginning is not None
    request = request._replace(beginning=request.beginning._replace(rehearse=rehearsal.go))
    if "clock" in start.head["players"][seat]:
        # Its start message and its questions showed a clock of its own.
        entrant = entrant._replace(time=time_control(start.head, seat))
    others = {other: runner.entrant(other, spec)._replace(is_patient=True, isolation=level) for other, spec in specs.items()}
    entrants = {each: entrant._replace(is_patient=True) if each == seat else others[each] for each in start.seats}
    prepared = runner.prepare(request, [one.label for one in entrants.values()], entrants, isolation=isolation)

    def listen(match: Match) -> list[Listener]:
        match.log_of(seat).follow(stderr)
        return [rehearsal]

    played = runner.play(prepared, entrants, listen)
    return played, rehearsal.report()
