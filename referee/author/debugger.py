"""Asks a bot in a turn of a replay, under a debugger if wanted, and reports what it answered there."""

from __future__ import annotations

import json
import shlex
import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.errors import UsageError
from referee.players.faults import the_seat
from referee.players.log import Log
from referee.replay.position import board, status_facts
from referee.replay.questions import MOVE
from referee.replay.rehearsal import CurrentTurn, ask_at, judge, position
from referee.support.escape import escape
from referee.support.packages import install_command, to_watch
from referee.support.words import program, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.api.runner import PlayedMatch
    from referee.games.game import Game
    from referee.isolation.level import Isolation
    from referee.match.loop import Entrant
    from referee.players.spec import Spec
    from referee.replay.questions import Given
    from referee.replay.rehearsal import Debugged, Judgment, QuestionsToTurn

#: The port on which debugpy waits.
PORT = 5678
#: Seconds that a bot has to exit after its answer: under a debugger it may stand at another breakpoint.
_GRACE, _LONG_GRACE = 1.0, 1e6
_MOST_STDERR = 2_000


def under_debugger(spec: Spec, port: int) -> Spec:
    """Return a Python bot as one that waits for a debugger. UsageError if that is impossible."""
    from referee.isolation import runtime
    from referee.players import attach
    from referee.support.packages import need_debugger

    shown = spec.label[:120]
    changed = attach.under_debugger(spec.program, port)
    if changed is None:
        raise UsageError(
            f"--attach is for Python bots, and '{shown}' is started by {Path(spec.program.argv[0]).name!r}; a bot in a command line is "
            'written as "python3 bot.py".'
        )
    python = changed.argv[0]
    if python == runtime.OWN_PYTHON:
        need_debugger("--attach")
    elif not _has_debugger(python):
        raise UsageError(f"--attach needs debugpy in the bot's own Python; install it: {install_command('debugpy', python=python)}")
    if port:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((attach.ADDRESS, port))
            except OSError as error:
                raise UsageError(f"Port {port} can't be used ({error.strerror}); name another one with --port, or --port 0.") from None
    return spec._replace(runs=changed)


def _has_debugger(python: str) -> bool:
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('debugpy') is None)"
    try:
        return subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def report(
    file: Path,
    bot: str,
    level: Isolation,
    to_turn: QuestionsToTurn,
    found: Debugged,
    played: PlayedMatch | None,
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
        "match": None if played is None else played.to_json(),
        "test": None if test is None else [str(path) for path in test],
    }


def _failed_turn(to_turn: QuestionsToTurn, found: Debugged) -> int | None:
    return None if not found.is_ready else to_turn.last.turn if found.failed is None else found.failed


def how_to_attach(port: int, to_turn: QuestionsToTurn) -> list[str]:
    """Return what a user does to connect a debugger."""
    shown = {
        "name": f"the {to_turn.asked.seat}",
        "type": "debugpy",
        "request": "attach",
        "connect": {"host": "127.0.0.1", "port": port or "the port below"},
    }
    return [
        "The bot waits for a debugger before its first line. VS Code connects with this configuration in .vscode/launch.json:",
        f"  {json.dumps(shown)}",
        f"A breakpoint with the condition  self.turn == {to_turn.last.turn}  stops a bot of the SDK in this turn. Ctrl-C ends the bot.",
    ]


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


class DebugSession:
    """Asks one bot in a turn of a replay, alone or in a match that goes on from there. ``tell`` gets its stderr, and notes."""

    def __init__(
        self, to_turn: QuestionsToTurn, entrant: Entrant, isolation: Isolation, tell: Callable[[str], None], *, is_attached: bool
    ) -> None:
        self._to_turn, self._entrant, self._isolation, self._tell = to_turn, entrant, isolation, tell
        self._is_attached = is_attached
        self._progress = CurrentTurn()
        self._stderr = _Stderr(self._progress, tell)

    def ask(self) -> Debugged:
        """Ask the bot in the turn."""
        log = Log(None, self._isolation.limits.stderr_bytes, self._stderr)
        grace = _LONG_GRACE if self._is_attached else _GRACE
        try:
            return ask_at(self._to_turn, self._entrant, self._isolation, log, progress=self._progress, grace=grace)
        finally:
            self._stderr.finish()

    def play_on(self, against: str | None, out: str | None, recorded_isolation: str | None) -> tuple[Debugged, PlayedMatch]:
        """Play the match on from the turn. ``recorded_isolation`` is for the programs of the replay, None as for the bot."""
        from referee.api.debugging import play_on

        played, found = play_on(
            self._to_turn,
            self._entrant,
            against,
            self._isolation,
            out=out,
            recorded_isolation=recorded_isolation,
            tell=self._tell,
            progress=self._progress,
            stderr=self._stderr,
        )
        self._stderr.finish()
        return found, played


def debug_lines(
    file: Path, to_turn: QuestionsToTurn, found: Debugged, played: PlayedMatch | None, test: tuple[Path, Path] | None, wide: int
) -> list[str]:
    """Return the result for people, in lines of ``wide`` columns. ``test`` is the written test and the replay beside it."""
    asked, state = to_turn.asked, to_turn.last.state
    seat, game = asked.seat, asked.game
    place = f"turn {to_turn.last.turn:,} of {file}: {the_seat(seat[:20], begins=False)} is asked"
    facts = [("debug", place), *status_facts(game, state)]
    lines = [line for name, text in facts for line in wrapped(name, 10, text, wide)]
    lines += ["", *board(game, state, wide), ""]
    told = [("told", str(notice["text"])) for notice in to_turn.last.notices]
    facts = [*told, *_answers(game, to_turn, found), *_earlier(found), *_after(played)]
    if test is not None:
        facts.append(("test", f"{test[0]}, with {test[1].name} beside it"))
    lines += [line for name, text in facts for line in wrapped(name, 10, text, wide)]
    return [*lines, f"Next:  {_next(file, to_turn, played, test)}"]


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
    else:
        lines.append(("now", "it was not asked: another player failed before"))
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


def _after(played: PlayedMatch | None) -> list[tuple[str, str]]:
    if played is None:
        return []
    result = played.result
    lines = [("played on", result.outcome.text)]
    lines += [("fault", fault.text) for fault in result.faults.values()]
    lines += [("note", note) for note in result.notes]
    return [*lines, ("replay", str(played.replay))]


def _next(file: Path, to_turn: QuestionsToTurn, played: PlayedMatch | None, test: tuple[Path, Path] | None) -> str:
    if played is not None:
        return to_watch(played.replay)
    if test is not None:
        return f"python -m pytest {shlex.quote(str(test[0]))}"
    return f"{program()} show {shlex.quote(str(file))} --step {to_turn.last.turn + 1}"
