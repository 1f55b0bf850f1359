"""Asks a bot in a turn of a replay, and reports what it answered there."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from referee.players.log import Log
from referee.players.recorded_bots import SAME
from referee.replay.position import board, status_facts
from referee.replay.questions import MOVE
from referee.replay.rehearsal import CurrentTurn, ask_at, judge, position
from referee.support.escape import escape
from referee.support.words import program, the_seat, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from referee.games.game import Game
    from referee.isolation.level import Isolation
    from referee.players.player import Player
    from referee.replay.questions import Given
    from referee.replay.rehearsal import Debugged, Judgment, QuestionsToTurn

_MOST_STDERR = 2_000


def report(
    file: Path,
    bot: str,
    level: Isolation,
    to_turn: QuestionsToTurn,
    found: Debugged,
    test: tuple[Path, Path] | None,
) -> dict[str, Any]:
    """Return what ``--json`` prints. ``test`` is the written test and the replay beside it."""
    seat, game = to_turn.asked.seat, to_turn.asked.game
    recorded = to_turn.recorded

    def answer(given: Given | None) -> dict[str, Any] | None:
        judgment = judge(to_turn, given)
        if given is None or judgment is None:
            return None
        return {**given.to_json(), "accepted": not judgment.refused, "refused": list(judgment.refused)}

    return {
        "file": str(file),
        "bot": bot,
        "seat": seat,
        "turn": to_turn.last.turn,
        "isolation": level.level,
        "position": position(to_turn, game, None),
        "notices": [dict(notice) for notice in to_turn.last.notices],
        "recorded": answer(recorded),
        "new": answer(found.given) if found.failed is None and found.is_ready else None,
        "same": recorded is not None and found.has_answered and found.given is not None and found.given.is_as(recorded),
        "earlier": {"same": found.same, "different": found.different, "first_different": found.first},
        "failed": None if found.has_answered or found.given is None else {"turn": _failed_turn(to_turn, found), **found.given.to_json()},
        "say": found.say,
        "seconds": found.seconds,
        "notes": list(found.notes),
        "test": None if test is None else [str(path) for path in test],
    }


def _failed_turn(to_turn: QuestionsToTurn, found: Debugged) -> int | None:
    return None if not found.is_ready else to_turn.last.turn if found.failed is None else found.failed


class _Stderr:
    """Shows a bot's stderr while it comes, each line with the turn."""

    def __init__(self, progress: CurrentTurn, tell: Callable[[str], None]) -> None:
        self._progress = progress
        self._tell = tell
        self._rest = b""

    def __call__(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _MOST_STDERR:
            lines, self._rest = [*lines, self._rest], b""
        turn = "start" if self._progress.turn is None else f"turn {self._progress.turn}"
        for line in lines:
            self._tell(f"{turn}  {escape(line.rstrip(), _MOST_STDERR)}")

    def finish(self) -> None:
        """Show a last line without its end."""
        if self._rest:
            self(b"\n")


def ask(to_turn: QuestionsToTurn, player: Player, isolation: Isolation, tell: Callable[[str], None]) -> Debugged:
    """Ask the bot in the turn. ``tell`` gets its stderr, line by line."""
    progress = CurrentTurn()
    stderr = _Stderr(progress, tell)
    log = Log(None, isolation.limits.stderr_bytes, stderr)
    try:
        return ask_at(to_turn, player, isolation, log, progress=progress)
    finally:
        stderr.finish()


def debug_lines(file: Path, bot: str, to_turn: QuestionsToTurn, found: Debugged, test: tuple[Path, Path] | None, wide: int) -> list[str]:
    """Return the result for people, in lines of ``wide`` columns. ``test`` is the written test and the replay beside it."""
    asked, state = to_turn.asked, to_turn.last.state
    seat, game = asked.seat, asked.game
    place = f"turn {to_turn.last.turn:,} of {file}: {the_seat(seat[:20], begins=False)} is asked"
    facts = [("debug", place), *status_facts(game, state)]
    lines = [line for name, text in facts for line in wrapped(name, 10, text, wide)]
    lines += ["", *board(game, state, wide), ""]
    told = [("told", str(notice["text"])) for notice in to_turn.last.notices]
    facts = [*told, *_answers(game, to_turn, found), *_earlier(found)]
    if test is not None:
        facts.append(("test", f"{test[0]}, with {test[1].name} beside it"))
    lines += [line for name, text in facts for line in wrapped(name, 10, text, wide)]
    return [*lines, f"Next:  {_next(file, bot, to_turn, test)}"]


def _answers(game: Game[Any, Any], to_turn: QuestionsToTurn, found: Debugged) -> list[tuple[str, str]]:
    """Return the recorded answer and the new one, each with what the engine does with it."""
    recorded, given = to_turn.recorded, found.given
    lines = [("recorded", _judged(game, recorded, judge(to_turn, recorded)) if recorded is not None else "not in the replay")]
    if not found.is_ready:
        lines.append(("now", f"the bot failed before its first question: {given}"))
    elif found.failed is not None:
        lines.append(("now", f"the bot failed in turn {found.failed}, so it was not asked here: {given}"))
    elif given is not None:
        same = "the same: " if recorded is not None and given.is_as(recorded) else ""
        lines.append(("now", f"{same}{_judged(game, given, judge(to_turn, given))}"))
        if found.say is not None:
            lines.append(("", f"it said: {found.say}"))
    return lines


def _judged(game: Game[Any, Any], given: Given, judgment: Judgment | None) -> str:
    if not given.is_answer:
        return f"failed, {given.kind}: {given.text}"
    refused = "" if judgment is None else "; ".join(judgment.refused)
    status = ""
    if judgment is not None and judgment.after is not None:
        outcome = game.outcome(judgment.after)
        if outcome is not None:
            status = f"; then the match is over: {outcome.text.rstrip('.')}"
        elif game.text is not None:
            status = f"; then {', '.join(f'{name} {value:,}' for name, value in game.text.status_fields(judgment.after).items())}"
    shown = str(given) if given.kind == MOVE else "a pass"
    return f"{shown}, {f'refused: {refused}' if refused else 'accepted'}{status}"


def _earlier(found: Debugged) -> list[tuple[str, str]]:
    total = found.same + found.different
    notes = [("note", note) for note in found.notes]
    if not total:
        return notes
    text = f"all {total:,} answers are the recorded ones" if total > 1 else "the one answer is the recorded one"
    if found.different:
        text = f"{found.different:,} of {total:,} answers differ from the recorded ones, first in turn {found.first}; they change nothing"
    return [("earlier", text), *notes]


def _next(file: Path, bot: str, to_turn: QuestionsToTurn, test: tuple[Path, Path] | None) -> str:
    if test is not None:
        return f"python -m pytest {shlex.quote(str(test[0]))}"
    asked = to_turn.asked
    seats = list(asked.game.seats(asked.settings))
    players = [SAME] * seats.index(asked.seat) + [bot]
    return f"{program()} play --from {shlex.quote(f'{file}@{to_turn.last.turn}')} {shlex.join(players)}"
