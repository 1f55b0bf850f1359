"""Starts a bot under a debugger, and reports what it answered in a turn of a replay."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.errors import UsageError
from referee.support.packages import install_command
from referee.wire.escape import escape

if TYPE_CHECKING:
    from referee.api.runner import PlayedMatch
    from referee.isolation.level import Isolation
    from referee.players.spec import Spec
    from referee.replay.questions import Given
    from referee.replay.rehearsal import Debugged, QuestionsToTurn


def under_debugger(spec: Spec, port: int) -> Spec:
    """Return a Python bot as one that waits for a debugger. UsageError if that is impossible."""
    from referee.isolation import runtime
    from referee.players import attach
    from referee.support.packages import need_debugger

    shown = escape(spec.label, 120)
    changed = attach.under_debugger(spec.program, port)
    if changed is None:
        raise UsageError(
            f"--attach is for Python bots, and '{shown}' is started by {escape(Path(spec.program.argv[0]).name, 80)!r}; a bot in a command line is "
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
    from referee.replay.rehearsal import judge, position

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
        "say": found.remark.get("say"),
        "seconds": found.seconds,
        "notes": list(found.notes),
        "match": None if played is None else played.to_json(),
        "test": None if test is None else [str(path) for path in test],
    }


def _failed_turn(to_turn: QuestionsToTurn, found: Debugged) -> int | None:
    return None if not found.is_ready else to_turn.last.turn if found.failed is None else found.failed
