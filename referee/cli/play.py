"""play and duel: commands that run matches."""

from __future__ import annotations

import json
import re
import sys
from functools import partial
from itertools import count, product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from example_bots import BOTS
from referee.cli.app import AUTHORS, JsonFlag, app, be_quiet, columns, command, put, put_json, put_more, say
from referee.cli.models import CommandModel
from referee.cli.options import SLOTS_HELP, CommandFlags, Force, Out, Quiet, bot_argument
from referee.cli.pages import MatchPageOptions
from referee.cli.run import example as example_of
from referee.cli.run import run_match
from referee.errors import UsageError
from referee.match.result_text import more_lines
from referee.players.names import quoted_examples
from referee.players.player import HUMAN, is_human
from referee.replay.paths import DUEL_SUFFIX, SUFFIX
from referee.support.outputs import write_output
from referee.support.words import fitted, program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.api import Player
    from referee.match.request import MatchRequest
    from referee.replay.events import MatchResult


#: The beginning of the file with the result of a duel.
_DUEL = re.compile(rb'\{\n  "teams": ')
_many = partial(typer.Option, metavar="N", rich_help_panel="MANY GAMES")


class ManyOptions(CommandModel):
    """Many games of the same players."""

    games: Annotated[int | None, _many("--games", help="Play this number of games, each from another random start.", min=1)] = None
    slots: Annotated[int | None, _many("--slots", help=SLOTS_HELP)] = None


@app.command(rich_help_panel=AUTHORS)
@command
def play(
    *,
    players: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PLAYER",
            help='The player of each seat, in order: bot.py, an executable, a folder, a command line in quotes ("java -jar bot.jar"), an example bot (referee bots lists them), or human: you, on a page.',
        ),
    ] = None,
    flags: CommandFlags,
    out: Out = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: JsonFlag = False,
    page: MatchPageOptions,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="REPLAY@TURN",
            help="Begin before this turn of a replay; its programs play where you name - or none.",
        ),
    ] = None,
    many: ManyOptions,
) -> None:
    """Play one match between programs or people, and write its replay; or play many games with --games."""
    request: MatchRequest = flags.replace(players=players or None, out=out, force=force, quiet=quiet or None, as_json=as_json or None)
    if start is None:
        request = request.replace(draws_starts=many.games is not None).with_file().checked()
        lineup = _lineup(request)
    elif many.games is not None:
        raise UsageError("--games can't be used with --from: it begins one match.")
    else:
        request, lineup = request.resumed(start, request.players)
        assert request.start is not None
        # Print the notes before anything is started.
        say(*(f"note: {note}" for note in request.start.notes))
    be_quiet(is_on=request.quiet)
    request = request.with_inputs(lineup.values())
    if many.games is not None:
        if page.is_live:
            raise UsageError("--live shows one match; leave out --games.")
        from referee.cli.batch import play_games

        play_games(request, lineup, many.games, many.slots)
        return
    if many.slots is not None:
        raise UsageError("--slots is for many games; add --games N.")
    show = page.show(request.game_object, has_people=HUMAN in lineup.values(), as_json=request.as_json)
    if not run_match(request, lineup, show=show, report=partial(_put_result, request)).started:
        raise typer.Exit(3)


def _lineup(request: MatchRequest) -> dict[str, str]:
    """Return the player of each seat. UsageError if there are too few or too many."""
    game, settings, names = request.game_object, request.checked_settings, request.players
    seats = game.seats(settings)
    if len(names) != len(seats):
        count = "none was named; to begin, let two example bots play" if not names else "1 was named; for instance"
        count = count if len(names) < 2 else f"{len(names)} were named; for instance"
        others = [bot.game for bot in BOTS if names and bot.name == names[0]]
        if others and game.info.name not in others:
            raise UsageError(f"'{names[0]}' is an example bot of {others[0]}, not of {game.info.name}; add --game {others[0]}.")
        if len(names) == 1 and (hint := quoted_examples(names[0], game.info.name)):
            raise UsageError(hint)
        words = example_of(game, settings, names)
        raise UsageError(f"{game.info.name} needs {len(seats)} players ({', '.join(seats)}), but {count}: {program()} {words}")
    return dict(zip(seats, names, strict=True))


@app.command(rich_help_panel=AUTHORS)
@command
def duel(
    *,
    team_a: Annotated[
        str,
        bot_argument(
            metavar="TEAM_A",
            help="A program that plays both roles, or a folder with one for each, named after the role, such as hunter.py or thief.py",
        ),
    ],
    team_b: Annotated[str, bot_argument(metavar="TEAM_B", help="The other team.")],
    flags: CommandFlags,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FOLDER", help="The folder for the result and the replays.  (default: matches/replays/)")
    ] = None,
    quiet: Quiet = False,
    as_json: JsonFlag = False,
) -> None:
    """Play two games between two teams with the roles swapped, and print the winner.

    The game decides who wins: in Evasion the team whose hunter needs fewer steps, in Maze the team with more points, then with the quicker
    escape, then with the quicker capture. Both games have the same start in Maze; in Evasion the second one has the first one's seed plus one.
    """
    from referee.tournament.duel import duel_lines, play_pair

    request: MatchRequest = flags.replace(out=out, quiet=quiet or None, as_json=as_json or None)
    request = request.with_file().checked().with_inputs((team_a, team_b))
    be_quiet(is_on=request.quiet)
    if out is not None and Path(out).is_file():
        raise UsageError(f"--out is {out!r}, a file; a duel writes several files and needs a folder.")
    folder = None if request.out is None else request.out.rstrip("/") + "/"
    numbers = count(1)

    def run(game: MatchRequest, lineup: Mapping[str, Player]) -> MatchResult:
        return run_match(game, {seat: str(player) for seat, player in lineup.items()}, title=f"game {next(numbers)}, ")

    _check_teams(request, (team_a, team_b))
    played = play_pair(request.replace(out=folder), {"a": team_a, "b": team_b}, run)
    report = played.to_json()
    first = played.games["a"].replay
    path = first.with_name(first.name.removesuffix(SUFFIX) + DUEL_SUFFIX)
    report["result_file"] = str(path)
    write_output(path, (json.dumps(report, indent=2) + "\n").encode(), _DUEL.match, force=None)
    if request.as_json:
        put_json(report)
    else:
        sentence, *more = duel_lines(report, played.verb, played.games["a"].outcome.unit)
        put(sentence)
        put_more(*more)
    if not all(game["started"] for game in report["games"].values()):
        raise typer.Exit(3)


def _check_teams(request: MatchRequest, teams: tuple[str, str]) -> None:
    """Raise UsageError if a person is in a team, PlayerError if a team can't play a role."""
    from referee.players.names import resolve

    if request.game_object.pairing is None:
        return
    for team, role in product(teams, request.game_object.seats(request.checked_settings)):
        if is_human(team):
            raise UsageError("A duel is between programs; a person plays single matches: referee play human runner")
        resolve(team, role, request.game_object.info.name)


def _put_result(request: MatchRequest, result: MatchResult) -> None:
    if request.as_json:
        put_json(result.to_json())
    else:
        put(*fitted(result.sentence, 2, columns(0)))
        put_more(*more_lines(result, columns(0)))
    sys.stdout.flush()
