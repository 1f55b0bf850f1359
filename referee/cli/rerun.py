"""rerun: ask a bot the questions of a replay again, and compare its answers with the recorded ones."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.app import JsonFlag, app, command, put, put_json, say
from referee.cli.front import GRADERS
from referee.cli.options import BotIsolation, bot_argument, check_isolation, seat_option
from referee.cli.replays import RECORDED_BOT, ReplayFile, recorded_bot
from referee.errors import UsageError

if TYPE_CHECKING:
    from referee.replay.rerun import Difference, Rerun

#: Seconds between two progress lines.
_TOLD_SECONDS = 2.0

_CLOCK = "A bot that looks at the clock, or at random numbers that don't come from its seed, can answer differently although it is the same program."


@app.command(rich_help_panel=GRADERS)
@command
def rerun(
    *,
    file: ReplayFile,
    bot: Annotated[str | None, bot_argument(help=RECORDED_BOT)] = None,
    seat: Annotated[str, seat_option(help="The seat that it played, one of those in the replay.")],
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
    from referee.replay.rerun import questions
    from referee.replay.rerun import rerun as ask_again

    check_isolation(isolation)
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
