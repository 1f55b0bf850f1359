"""compare: play duels until a statistical test decides which of two bots is better."""

from __future__ import annotations

import contextlib
import functools
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.app import AUTHORS, app, command, put, put_json, put_more, reporting_when_interrupted, say
from referee.cli.models import CommandModel
from referee.cli.options import CommandFlags, OutputOptions, Slots, bot_argument, seat_option
from referee.cli.terminal import StatusLine
from referee.support.outputs import check_not_input
from referee.support.packages import need_league
from referee.support.words import counted, program

if TYPE_CHECKING:
    from referee.match.request import MatchRequest
    from referee.tournament.compare import BotComparison

_test_option = functools.partial(typer.Option, rich_help_panel="THE TEST")


class TrialOptions(CommandModel):
    """The sequential test that ends the comparison."""

    p0: Annotated[float, _test_option("--p0", help="A's share of the duels if it is no better.")] = 0.5
    p1: Annotated[float, _test_option("--p1", help="A's share of the duels if it is better.")] = 0.6
    alpha: Annotated[float, _test_option("--alpha", help="The chance that equal bots are called different.")] = 0.05
    beta: Annotated[float, _test_option("--beta", help="The chance that a difference as large as --p1 is missed.")] = 0.05
    duels: Annotated[int, _test_option("--duels", help="The most duels; after them the test is undecided.")] = 1000


@app.command(rich_help_panel=AUTHORS)
@command
def compare(
    *,
    a: Annotated[str, bot_argument(metavar="A", help="A program, or a folder with a program for each role.")],
    b: Annotated[str, bot_argument(metavar="B", help="The bot that A is compared with.")],
    against: Annotated[
        list[str] | None, typer.Option("--against", metavar="C", help="Let both play this opponent instead of each other; may be repeated.")
    ] = None,
    seat: Annotated[str | None, seat_option(help="Compare them only in this role.  (default: in each role that both play)")] = None,
    test: TrialOptions,
    slots: Slots = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FOLDER", help="Keep the duels in this folder; the same command continues them.  (default: not kept)"
        ),
    ] = None,
    flags: CommandFlags,
    output: OutputOptions,
) -> None:
    """Find out whether bot A is better than bot B, with as few duels as possible.

    The command plays duels from random starts until a sequential test decides. Bots that play both roles play each other. Bots of one role play against
    the same opponent: C, or else an example bot. Exit status: 0 decided, 1 undecided.
    """
    need_league("compare")
    from referee.tournament.comparison import first_match

    match, bots = flags.replace(draws_starts=True).with_file().checked(), [a, b, *(against or ())]
    if out is not None and out.exists():
        check_not_input(out, match.replace(out=str(out)).with_inputs(bots).inputs)
    comparison = _begun(match, bots, test, slots, seat, out, as_json=output.as_json)
    say(f"seed {comparison.seed}", *comparison.why, *comparison.setting())
    with reporting_when_interrupted(
        comparison.to_json,
        lambda: _put_report(comparison, out, is_whole=False),
        lambda: comparison.matches > 0,
        as_json=output.as_json,
    ):
        _play(comparison, out)
    if output.as_json:
        put_json(comparison.to_json())
    else:
        _put_report(comparison, out, is_whole=True)
        put_more(f"Try:  {program()} {shlex.join(first_match(comparison, flags.flags()))}")
    if comparison.compared().decision == "undecided":
        raise typer.Exit(1)


def _begun(
    match: MatchRequest,
    bots: list[str],
    test: TrialOptions,
    slots: int | None,
    seat: str | None,
    out: Path | None,
    *,
    as_json: bool,
) -> BotComparison:
    """Return a comparison, after starting its bots to test which roles they play."""
    from referee.tournament.compare import SequentialTest
    from referee.tournament.comparison import begin

    rule = SequentialTest(test.p0, test.p1, test.alpha, test.beta, test.duels)
    begins = contextlib.closing(StatusLine("The bots are started to test which roles they play."))
    with (
        begins,
        reporting_when_interrupted(
            lambda: {"matches": 0, "duels": 0},
            lambda: put(
                f"Undecided after 0 of at most {counted(test.duels, 'duel')}: the bots were being started to test which roles they play."
            ),
            lambda: False,
            as_json=as_json,
        ),
    ):
        return begin(match, bots, rule, slots, seat, out)


def _play(comparison: BotComparison, out: Path | None) -> None:
    """Play the duels, and show the result so far. Duels that ``out`` keeps aren't played again."""
    from referee.tournament.comparison import duels_of

    state = comparison.compared()
    line = StatusLine()

    def tick() -> None:
        """Show the result so far after a match."""
        line.show(state.line())

    def note(text: str) -> None:
        """Print a sentence about a bot, even where no progress is shown."""
        line.clear()
        say(text)

    def report_stored(count: int) -> None:
        if count:
            say(f"{counted(count, 'match')} of earlier runs in {out}/ {'is' if count == 1 else 'are'} not played again.")

    with contextlib.closing(line), contextlib.closing(duels_of(comparison, out, tick, note, report_stored)) as states:
        for state in states:
            line.show(state.line())


def _put_report(comparison: BotComparison, out: Path | None, *, is_whole: bool) -> None:
    """Print the state of the comparison. ``is_whole``: it has ended."""
    from referee.tournament.comparison_store import MATCHES_FILE

    sentence, *more = comparison.lines(is_whole=is_whole)
    put(sentence)
    put_more(*more)
    if out is not None:
        put_more(f"  matches  {out / MATCHES_FILE} names the replay of each")
        if not is_whole:
            put_more(f"The duels are kept in {out}/: the same command continues them.")
