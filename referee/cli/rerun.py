"""rerun and debug: ask a bot the questions of a replay again, all of them or up to one turn."""

from __future__ import annotations

import shlex
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.app import AUTHORS, GRADERS, JsonFlag, app, columns, command, put, put_json, say
from referee.cli.options import BotIsolation, ReplayFile, bot_argument, isolation_option, seat_option
from referee.cli.run import announce_build
from referee.cli.terminal import seldom
from referee.errors import UsageError
from referee.match.options import checked_isolation, limits_of
from referee.replay.paths import is_written
from referee.support.words import counted, program

if TYPE_CHECKING:
    from referee.isolation.bot import Bot
    from referee.isolation.limits import Limits
    from referee.isolation.process import Launcher
    from referee.replay.questions import RecordedSeat

_BOT_HELP = "The program: a player as in referee play.  (default: the one that the replay names, if it has the recorded hash)"
_SEAT_HELP = (
    "The seat that it played, one of those in the replay.  (default: that of BOT; without BOT, that of the file with the recorded hash)"
)


@app.command(rich_help_panel=GRADERS)
@command
def rerun(
    *,
    file: ReplayFile,
    bot: Annotated[str | None, bot_argument(help=_BOT_HELP)] = None,
    seat: Annotated[str | None, seat_option(help=_SEAT_HELP)] = None,
    isolation: BotIsolation = "auto",
    patience: Annotated[
        float | None,
        typer.Option(
            "--patience",
            metavar="SECONDS",
            min=0.001,
            max=1e6,
            help="The limit for one answer.  (default: 5 times that of the match plus 5 s)",
        ),
    ] = None,
    most: Annotated[int, typer.Option("--differences", metavar="N", min=0, help="The most differences to list.")] = 5,
    as_json: JsonFlag = False,
) -> None:
    """Ask a bot the questions of a replay again, and list where its answers differ from the recorded ones.

    Exit status 1 if an answer differs, or if the replay doesn't verify; 2 if the file isn't a replay.
    """
    from referee.author.repeat import program_of
    from referee.author.rerun import rerun as ask_again
    from referee.isolation.limits import Limits

    checked_isolation(isolation, "--isolation")
    bot, recorded = _recorded(file, bot, seat, "rerun")
    subject = program_of(bot, recorded)
    limits = limits_of(recorded.replay.head)
    if higher := limits.above(Limits()):
        say(f"note: The limits of the match apply, which are higher than the default ones: {', '.join(higher)}.")
    say_seldom = seldom()

    def progress(done: int, total: int) -> None:
        say_seldom(f"asked {done:,} of {counted(total, 'question')}")

    with _opened(isolation, limits, subject) as launcher:
        result = ask_again(recorded, subject, launcher, patience=patience, most=most, on_progress=progress)
    if as_json:
        put_json({"file": str(file), "bot": bot, "isolation": launcher.level.name, **result.to_json(), "text": result.verdict})
    else:
        put(*result.lines())
    if not result.ok:
        raise typer.Exit(1)


@app.command(rich_help_panel=AUTHORS)
@command
def debug(
    *,
    file: ReplayFile,
    bot: Annotated[str | None, bot_argument(help=_BOT_HELP)] = None,
    seat: Annotated[str | None, seat_option(help=_SEAT_HELP)] = None,
    turn: Annotated[int | None, typer.Option("--turn", metavar="N", help="The turn.  (default: the last question to the seat)")] = None,
    as_test: Annotated[
        Path | None, typer.Option("--as-test", metavar="FILE", help="Write a pytest that checks the bot's answer in this turn.")
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
    from referee.author import debugger
    from referee.author.pinned_test import check_free, write
    from referee.author.repeat import program_of
    from referee.isolation.file_names import published
    from referee.isolation.launcher import on_builds

    isolation = isolation or ("auto" if bot is None else "none")
    checked_isolation(isolation, "--isolation")
    if as_test is not None:
        check_free(as_test)
    bot, recorded = _recorded(file, bot, seat, "debug")
    subject = program_of(bot, recorded)
    on_builds(announce_build)
    turn = debugger.turn_of(recorded, turn)
    with _opened(isolation, limits_of(recorded.replay.head), subject) as launcher:
        result = debugger.debug(recorded, turn, published(subject, str(Path.cwd())), launcher, say)
    test = None
    if as_test is not None and result.was_asked:
        test = as_test, write(as_test, subject, result)
    elif as_test is not None:
        say(f"The test was not written, because the bot was not asked in turn {turn}.")
    if as_json:
        put_json(debugger.report(file, bot, launcher.level.name, result, test))
    else:
        put(*debugger.debug_lines(file, bot, result, test, columns(80)))
    if not result.is_ready:
        raise typer.Exit(3)
    if not result.has_answered:
        raise typer.Exit(1)


def _recorded(file: Path, bot: str | None, seat: str | None, name: str) -> tuple[str, RecordedSeat]:
    """Return the program that a command asks, and the recorded seat. What isn't named comes from the replay, and is printed.

    UsageError if the seat isn't clear; PlayerError if the program of the replay is missing here or has changed.
    """
    from referee.players.recorded_bots import seat_of, unchanged_program
    from referee.replay.questions import recorded_seat
    from referee.replay.reader import RecordedMatch

    if bot is not None and is_written(Path(bot)) and not is_written(file):
        raise UsageError(f"The replay comes first: {program()} {name} {shlex.quote(bot)} {shlex.quote(str(file))}")
    again = f"{program()} {name} {shlex.quote(str(file))}"
    if seat is None:
        seat = seat_of(file, bot, again if bot is None else f"{again} {shlex.quote(bot)}")
        if bot is not None:
            say(f"'{bot}' plays the {seat}, as in the replay.")
    recorded = recorded_seat(file, seat)
    if bot is None:
        bot = unchanged_program(RecordedMatch.read(file), seat, f"name the bot: {again} BOT --seat {seat}")
        say(f"The {seat} is '{bot}', as in the replay; its files have the recorded hash.")
    return bot, recorded


def _opened(isolation: str, limits: Limits, bot: Bot) -> closing[Launcher]:
    """Return a launcher for a bot, for a ``with`` statement, and print the notes on its level of isolation."""
    from referee.isolation.launcher import open_launcher

    launcher = open_launcher(isolation, limits, [bot])
    for note in launcher.level.notes:
        say(f"note: {note}")
    return closing(launcher)
