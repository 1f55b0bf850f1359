"""rerun and debug: ask a bot the questions of a replay again, all of them or up to one turn, which a debugger can stop."""

from __future__ import annotations

import json
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from referee.cli import completion
from referee.cli.app import JsonFlag, app, columns, command, put, put_json, say
from referee.cli.front import AUTHORS, GRADERS
from referee.cli.options import BotIsolation, bot_argument, isolation_option, seat_option
from referee.cli.replays import RECORDED_BOT, ReplayFile, asked_seat, recorded_bot
from referee.cli.run import announce_build
from referee.errors import UsageError
from referee.match.options import checked_isolation
from referee.support.words import program, wrapped
from referee.wire.escape import escape

if TYPE_CHECKING:
    from referee.api.runner import PlayedMatch
    from referee.games.game import Game, Seat
    from referee.isolation.level import Isolation
    from referee.isolation.limits import Limits
    from referee.match.events import Listener
    from referee.match.loop import Entrant, Match
    from referee.players.spec import Spec
    from referee.replay.questions import Given
    from referee.replay.rehearsal import CurrentTurn, Debugged, Judgment, QuestionsToTurn
    from referee.replay.rerun import Difference, Rerun

_SEAT_HELP = (
    "The seat that it played, one of those in the replay.  (default: that of BOT; without BOT, that of the file with the recorded hash)"
)
#: Seconds between two progress lines.
_TOLD_SECONDS = 2.0

_CLOCK = "A bot that looks at the clock, or at random numbers that don't come from its seed, can answer differently although it is the same program."


@app.command(rich_help_panel=GRADERS)
@command
def rerun(
    *,
    file: ReplayFile,
    bot: Annotated[str | None, bot_argument(help=RECORDED_BOT)] = None,
    seat: Annotated[str | None, seat_option(help=_SEAT_HELP)] = None,
    isolation: BotIsolation = "auto",
    patience: Annotated[
        float | None,
        typer.Option(
            "--patience",
            metavar="SECONDS",
            min=0.001,
            max=1e6,
            help="The limit for one answer.  (default: 5 times that of the match and 5 more)",
            show_default=False,
        ),
    ] = None,
    most: Annotated[int, typer.Option("--differences", metavar="N", min=0, help="The most differences to list.")] = 5,
    as_json: JsonFlag = False,
) -> None:
    """Ask a bot the questions of a replay again, and say where its answers differ from the recorded ones.

    Exit status 1 if an answer differs, or if the replay doesn't verify; 2 if the file isn't a replay.
    """
    from referee.isolation.choose import choose
    from referee.isolation.limits import Limits
    from referee.players.spec import resolve
    from referee.replay.questions import questions
    from referee.replay.rerun import rerun as ask_again

    checked_isolation(isolation, "--isolation")
    seat = asked_seat(seat, file, bot, "rerun")
    asked = questions(file, seat)
    if bot is None:
        bot = recorded_bot(asked, file, "rerun")
    spec = resolve(bot, seat, asked.game.info.name, asked.settings)
    if spec.is_human:
        raise UsageError("Only a program can be asked again; name its file.")
    limits = asked.limits
    if higher := limits.above(Limits()):
        say(f"note: The limits are those of the match, which are higher than the ordinary ones: {', '.join(higher)}.")
    level = choose(isolation, limits, [spec.program])
    for note in level.notes:
        say(f"note: {note}")
    told = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal told
        if time.monotonic() - told > _TOLD_SECONDS:
            told = time.monotonic()
            say(f"asked {done:,} of {total:,} questions")

    found = ask_again(asked, spec, level, patience=patience, most=most, on_progress=tell)
    if as_json:
        put_json({"file": str(file), "bot": bot, "isolation": level.level, **found.to_json(), "text": _verdict(found)})
    else:
        _print(found)
    if not found.ok:
        raise typer.Exit(1)


def _print(found: Rerun) -> None:
    for difference in found.differences:
        put(_sentence(difference))
    if len(found.differences) < found.differing:
        put(f"... and {found.differing - len(found.differences):,} more")
    put(_verdict(found))
    if found.is_same_file is not None:
        put(
            "The bot's file has the hash that the replay names."
            if found.is_same_file
            else "The bot's file is not the one whose hash the replay names."
        )
    for note in found.notes:
        put(note)
    if not found.ok:
        put(_CLOCK)


def _sentence(difference: Difference) -> str:
    where = "before the first step" if difference.step is None else f"step {difference.step:,}"
    recorded = "it was ready" if difference.recorded is None else str(difference.recorded)
    new = "it was ready" if difference.new is None else str(difference.new)
    return f"{where}: recorded {recorded}; now {new}"


def _verdict(found: Rerun) -> str:
    count = f"{found.answers:,} answer{'s' * (found.answers != 1)}"
    if found.ok:
        return f"{'all ' if found.answers > 1 else ''}{count} equal: this bot played this match"
    if not found.equal + found.differing:
        return f"none of {count} compared: the bot failed before its first question"
    more = f"; {found.unasked:,} were not asked, because the bot failed" if found.unasked else ""
    return f"{found.differing:,} of {count} differ{'s' * (found.differing == 1)}{more}"


#: The port on which debugpy waits.
PORT = 5678
#: Seconds that a bot has to exit after its answer: under a debugger it may stand at another breakpoint.
_GRACE, _LONG_GRACE = 1.0, 1e6
_MOST_STDERR = 2_000


@app.command(rich_help_panel=AUTHORS)
@command
def debug(
    *,
    file: ReplayFile,
    bot: Annotated[str | None, bot_argument(help=RECORDED_BOT)] = None,
    seat: Annotated[str | None, seat_option(help=_SEAT_HELP)] = None,
    turn: Annotated[
        int | None, typer.Option("--turn", metavar="N", help="The turn.  (default: the last question to the seat)", show_default=False)
    ] = None,
    is_attached: Annotated[
        bool, typer.Option("--attach", help="Start a Python bot under debugpy, and wait until a debugger connects to it.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65_535, help=f"The port for the debugger; 0: a free one.  (default: {PORT})", show_default=False),
    ] = None,
    plays_on: Annotated[
        bool, typer.Option("--play-on", help="Continue the match from this turn against the recorded programs, and write a replay.")
    ] = False,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="PLAYER",
            help="Continue the match against this program instead.",
            show_default=False,
            autocompletion=completion.any_bot,
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", metavar="PATH", help="The file of --play-on's replay, or a folder.  (default: matches/replays/)", show_default=False
        ),
    ] = None,
    as_test: Annotated[
        Path | None,
        typer.Option("--as-test", metavar="FILE", help="Write a pytest that checks the bot's answer in this turn.", show_default=False),
    ] = None,
    isolation: Annotated[
        str | None,
        isolation_option(
            help="As for referee play.  (default: none for BOT, so that a debugger reaches it; auto for programs that the replay names)"
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Ask a bot the questions of a replay up to a turn, and show its answer in that turn beside the recorded one.

    No clock runs, so the bot may wait at a breakpoint for an hour. Its answers to the earlier questions change nothing.

    Exit status 1 if the bot gives no answer in that turn, or if the replay doesn't verify; 2 if the file isn't a replay.
    """
    from referee.api.debugging import program as resolved
    from referee.author.debugger import report, under_debugger
    from referee.replay.questions import questions
    from referee.replay.rehearsal import CurrentTurn, questions_to_turn

    isolation_value = _checked_isolation(isolation, has_bot=bot is not None, is_attached=is_attached)
    _check(port, against, out, is_attached=is_attached, plays_on=plays_on)
    if as_test is not None:
        from referee.author.pinned_test import check_free

        check_free(as_test)
    seat = asked_seat(seat, file, bot, "debug")
    asked = questions(file, seat)
    if bot is None:
        bot = recorded_bot(asked, file, "debug")
    spec = resolved(bot, asked.game.info.name, seat, asked.settings)
    if is_attached:
        spec = under_debugger(spec, PORT if port is None else port)
    from referee.api import runner
    from referee.players.building import tell_builds

    tell_builds(announce_build)
    entrant = runner.entrant(seat, spec)
    to_turn = questions_to_turn(asked, turn, entrant.host)
    level = _level(isolation_value, asked.limits, spec)
    session = _DebuggedBot(to_turn, spec, entrant, level, CurrentTurn(), is_attached=is_attached)
    if is_attached:
        _tell_how_to_attach(PORT if port is None else port, to_turn, seat)
    played = None
    if plays_on or against is not None:
        found, played = session.play_on(against, out, "auto" if isolation is None else None)
    else:
        found = session.ask()
    test = None if as_test is None else _written(as_test, to_turn, spec, found)
    if as_json:
        put_json(report(file, bot, level, to_turn, found, played, test))
    else:
        for line in _lines(file, to_turn, found, played, test, columns(80)):
            put(line)
    if not found.is_ready:
        raise typer.Exit(3)
    if not found.has_answered:
        raise typer.Exit(1)


def _checked_isolation(wanted: str | None, *, has_bot: bool, is_attached: bool) -> str:
    """Return the value of --isolation for the bot. UsageError if it is none, or if no debugger would reach the bot."""
    value = wanted or ("none" if has_bot or is_attached else "auto")
    checked_isolation(value, "--isolation")
    if not is_attached:
        return value
    if value not in ("none", "limits"):
        raise UsageError("--attach needs --isolation none or limits: a debugger can't reach into a sandbox.")
    if wanted is None and not has_bot:
        raise UsageError(
            "--attach runs the bot without a sandbox, where a replay must not start a program; name BOT, or use --isolation none, too."
        )
    return value


def _check(port: int | None, against: str | None, out: str | None, *, is_attached: bool, plays_on: bool) -> None:
    """Raise UsageError for flags that don't go together."""
    if port is not None and not is_attached:
        raise UsageError("--port is for a debugger; use it with --attach.")
    if out is not None and not plays_on and against is None:
        raise UsageError("--out is for the replay of --play-on; use it with that.")


def _written(path: Path, to_turn: QuestionsToTurn, spec: Spec, found: Debugged) -> tuple[Path, Path] | None:
    """Write the test, and return its path and that of the replay beside it; None if the bot was not asked."""
    from referee.author.pinned_test import write

    if not found.is_ready or found.failed is not None:
        say(f"The test is not written, because the bot was not asked in turn {to_turn.last.turn}.")
        return None
    return path, write(path, to_turn, spec, found)


def _level(isolation_value: str, limits: Limits, spec: Spec) -> Isolation:
    """Return the level of isolation, and tell its notes."""
    from referee.isolation.choose import choose

    level = choose(isolation_value, limits, [spec.program])
    for note in level.notes:
        say(f"note: {note}")
    return level


def _tell_how_to_attach(port: int, to_turn: QuestionsToTurn, seat: Seat) -> None:
    shown = {
        "name": f"the {seat}",
        "type": "debugpy",
        "request": "attach",
        "connect": {"host": "127.0.0.1", "port": port or "the port below"},
    }
    say("The bot waits for a debugger before its first line. VS Code connects with this configuration in .vscode/launch.json:")
    say(f"  {json.dumps(shown)}")
    say(f"A breakpoint with the condition  self.turn == {to_turn.last.turn}  stops a bot of the SDK in this turn. Ctrl-C ends the bot.")


class _Stderr:
    """Shows a bot's stderr while it comes, each line with the turn."""

    def __init__(self, progress: CurrentTurn) -> None:
        self._progress = progress
        self._rest = b""

    def __call__(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _MOST_STDERR:
            lines, self._rest = [*lines, self._rest], b""
        turn = "start" if self._progress.turn is None else f"turn {self._progress.turn}"
        for line in lines:
            say(f"{turn}  {escape(line.rstrip(), _MOST_STDERR)}")

    def finish(self) -> None:
        """Show a last line without its end."""
        if self._rest:
            self(b"\n")


class _DebuggedBot(NamedTuple):
    """A bot to be debugged."""

    to_turn: QuestionsToTurn
    spec: Spec
    entrant: Entrant
    isolation: Isolation
    progress: CurrentTurn
    is_attached: bool

    def ask(self) -> Debugged:
        """Ask the bot in the turn."""
        from referee.players.log import Log
        from referee.replay.rehearsal import ask_at

        shown = _Stderr(self.progress)
        log = Log(None, self.isolation.limits.stderr_bytes)
        log.tap = shown
        grace = _LONG_GRACE if self.is_attached else _GRACE
        try:
            return ask_at(self.to_turn, self.entrant, self.isolation, log, progress=self.progress, grace=grace)
        finally:
            shown.finish()

    def play_on(self, against: str | None, out: str | None, recorded_isolation: str | None) -> tuple[Debugged, PlayedMatch]:
        """Play the match on from the turn. ``recorded_isolation`` is for the programs of the replay, None as for the bot."""
        from referee.api.debugging import play_on

        shown = _Stderr(self.progress)

        def listen(match: Match) -> list[Listener]:
            match.log_of(self.to_turn.asked.seat).tap = shown
            return []

        played, found = play_on(
            self.to_turn,
            self.entrant,
            against,
            self.isolation,
            out=out,
            recorded_isolation=recorded_isolation,
            tell=say,
            progress=self.progress,
            listeners=listen,
        )
        shown.finish()
        return found, played


def _lines(
    file: Path, to_turn: QuestionsToTurn, found: Debugged, played: PlayedMatch | None, test: tuple[Path, Path] | None, wide: int
) -> list[str]:
    from referee.replay.position import board, status_facts

    asked, state = to_turn.asked, to_turn.last.state
    seat, game = asked.seat, asked.game
    place = f"turn {to_turn.last.turn:,} of {escape(str(file), 200)}: the {escape(seat, 20)} is asked"
    facts = [("debug", place), *status_facts(game, state)]
    lines = [line for name, text in facts for line in wrapped(name, 10, text, wide)]
    lines += ["", *board(game, state, wide), ""]
    told = [("told", escape(str(notice["text"]), 400)) for notice in to_turn.last.notices]
    facts = [*told, *_answers(game, to_turn, found), *_earlier(found), *_after(played)]
    if test is not None:
        facts.append(("test", f"{test[0]}, with {test[1].name} beside it"))
    lines += [line for name, text in facts for line in wrapped(name, 10, text, wide)]
    return [*lines, f"Next:  {_next(file, to_turn, played, test)}"]


def _answers(game: Game[Any, Any], to_turn: QuestionsToTurn, found: Debugged) -> list[tuple[str, str]]:
    """Return the recorded answer and the new one, each with what the engine does with it."""
    from referee.replay.rehearsal import judge

    recorded, given = to_turn.recorded, found.given
    lines = [("recorded", _judged(game, recorded, judge(to_turn, recorded)) if recorded is not None else "not in the replay")]
    if not found.is_ready:
        lines.append(("now", f"the bot failed before its first question: {escape(str(given), 600)}"))
    elif found.failed is not None:
        lines.append(("now", f"the bot failed in turn {found.failed}, so it was not asked here: {escape(str(given), 600)}"))
    elif given is not None:
        same = "the same: " if recorded is not None and given.is_as(recorded) else ""
        lines.append(("now", f"{same}{_judged(game, given, judge(to_turn, given))}"))
        if "say" in found.remark:
            lines.append(("", f"it said: {escape(str(found.remark['say']), 400)}"))
    else:
        lines.append(("now", "it was not asked: another player failed before"))
    return lines


def _judged(game: Game[Any, Any], given: Given, judgment: Judgment | None) -> str:
    from referee.replay.questions import MOVE, PASS

    if given.kind not in (MOVE, PASS):
        return f"failed, {given.kind}: {escape(given.text, 600)}"
    refused = "" if judgment is None else "; ".join(escape(text, 400) for text in judgment.refused)
    status = ""
    if judgment is not None and judgment.after is not None:
        outcome = game.outcome(judgment.after)
        if outcome is not None:
            status = f"; then the match is over: {escape(outcome.text, 200).rstrip('.')}"
        elif game.text is not None:
            status = f"; then {', '.join(f'{name} {value:,}' for name, value in game.text.status_fields(judgment.after).items())}"
    shown = str(given) if given.kind == MOVE else "a pass"
    return f"{shown}, {f'refused: {refused}' if refused else 'accepted'}{status}"


def _earlier(found: Debugged) -> list[tuple[str, str]]:
    total = found.same + found.different
    notes = [("note", escape(note, 600)) for note in found.notes]
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
    lines = [("played on", escape(result.outcome.text, 400))]
    lines += [("fault", escape(fault.text, 600)) for fault in result.faults.values()]
    lines += [("note", escape(note, 600)) for note in result.notes]
    return [*lines, ("replay", str(played.replay))]


def _next(file: Path, to_turn: QuestionsToTurn, played: PlayedMatch | None, test: tuple[Path, Path] | None) -> str:
    from referee.support.packages import to_watch

    if played is not None:
        return to_watch(played.replay)
    if test is not None:
        return f"python -m pytest {shlex.quote(str(test[0]))}"
    return f"{program()} show {shlex.quote(str(file))} --step {to_turn.last.turn + 1}"
