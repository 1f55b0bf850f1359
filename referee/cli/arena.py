"""arena: begin an arena on this machine, add versions, play duels, print and export the standings."""

from __future__ import annotations

import contextlib
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli.app import INSTRUCTORS, JsonFlag, app, columns, command, complain, group, put, put_json, put_more, say
from referee.cli.league_output import ExportOptions, progress, put_check
from referee.cli.options import Database, FirstRules, Game, OutputOptions, SeriesOptions, seat_option
from referee.cli.season import Folder, check_playable, invite, opened_arena, serve
from referee.cli.terminal import StatusLine
from referee.errors import UsageError
from referee.league.standings_text import fitted
from referee.support.packages import need_league
from referee.support.times import moment, shown_time
from referee.support.words import aligned, counted, program, signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.arena.arena import OpenArena, VersionStanding
    from referee.arena.history import VersionHistory
    from referee.arena.versions import Version
    from referee.tournament.workers import Workers

arena = group("arena", "A competition without an end: versions of bots join at any time, and the next duel is the one that tells most.")
app.add_typer(arena, rich_help_panel=INSTRUCTORS)


@arena.command("new")
@command
def new(
    folder: Folder,
    game: Game = None,
    rules: FirstRules = None,
    database: Database = None,
    seat: Annotated[str | None, seat_option(help="Versions play only this seat.  (default: all seats)")] = None,
) -> None:
    """Begin an arena: write DIR/arena.toml, with example bots of the game as references, and the store. Nothing is overwritten."""
    need_league("arena")
    from referee.arena.arena import new as begin
    from referee.arena.config import FILE

    with contextlib.closing(begin(folder, game, rules, database, seat)) as opened:
        put(f"{folder / FILE}: {opened.config.game.info.name}, rules {opened.config.rules}")
        put(f"Next:  {program()} arena add {shlex.quote(str(folder))} BOT --team NAME")


@arena.command("add")
@command
def add(
    *,
    folder: Folder,
    bot: Annotated[Path | None, typer.Argument(metavar="BOT", help="The bot: a file, a folder, or an archive of one.")] = None,
    team: Annotated[str | None, typer.Option("--team", metavar="NAME", help="The team.")] = None,
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="What is new in this version.")] = "",
    activate: Annotated[
        tuple[str, int] | None, typer.Option("--activate", metavar="TEAM VERSION", help="Make an older version of a team the active one.")
    ] = None,
    output: OutputOptions,
) -> None:
    """Take a copy of a bot as a team's new version and check it. If it is accepted, it becomes the team's active version.

    Exit status 1 if the version is refused.
    """
    if bot is not None and (bot / "arena.toml").exists() and not (folder / "arena.toml").exists():
        raise UsageError(f"The arena comes first: {program()} arena add {shlex.quote(str(bot))} {shlex.quote(str(folder))} --team NAME")
    if (bot is None) == (activate is None) or (bot is None) != (team is None) or (note and bot is None):
        raise UsageError("Name a bot and its team: DIR BOT --team NAME; or a version to go back to: DIR --activate TEAM VERSION.")
    with opened_arena(folder) as opened:
        from referee.arena.api_models import LONGEST_NOTE

        if len(note) > LONGEST_NOTE:
            raise UsageError(f"--note has {len(note):,} characters, but at most {LONGEST_NOTE} are shown; make it shorter.")
        if activate is not None:
            with opened.store.database.write():
                version = opened.activate(*activate)
                opened.log_command("activate", team=version.team, version=version.number)
            _put_version(opened, version, as_json=output.as_json)
            return
        assert bot is not None
        assert team is not None
        opened.store.versions.check_admitted(team)
        with contextlib.closing(StatusLine()) as line:
            version, is_known = opened.add(
                bot,
                team,
                " ".join(note.split()),
                lambda seat, check, done, total: line.show(f"{done} of {total}  {seat}: {check}"),
                logs=True,
            )
        if is_known and not output.as_json:
            say(f"{team} has handed in the same files before.")
        _put_version(opened, version, as_json=output.as_json)
    if version.report.get("reason"):
        raise typer.Exit(1)


@arena.command("run")
@command
def run(
    *,
    folder: Folder,
    duels: Annotated[int | None, typer.Option("--duels", metavar="N", help="Play this number of duels.", min=1)] = None,
    until_decided: Annotated[bool, typer.Option("--until-decided", help="Play until it is certain which version is the best.")] = False,
    series: SeriesOptions,
) -> None:
    """Play duels: --duels of them, or until the best version is certain, or until Ctrl-C. An interrupted arena continues where it stopped."""
    place = series.place()
    with opened_arena(folder) as opened:
        check_playable(opened)
        with opened.store.database.claim(waits=True):
            try:
                _play(opened, place, duels, until_decided=until_decided)
            except (KeyboardInterrupt, SystemExit):
                complain(f"{counted(opened.counts().done, 'match')} are done and stored. Go on:  {_again(opened)}")
                raise
            _put_standings(opened, as_json=series.as_json)


@arena.command("standings")
@command
def standings(folder: Folder, as_json: JsonFlag = False) -> None:
    """Print the versions that play with their ratings, which of them is the best, and how certain that is."""
    with opened_arena(folder) as opened:
        _put_standings(opened, as_json=as_json)


@arena.command("history")
@command
def history(
    folder: Folder,
    team: Annotated[str, typer.Argument(metavar="TEAM", help="The team's name.")],
    as_json: JsonFlag = False,
) -> None:
    """Print the versions of a team with their ratings, and the record of the active one against each opponent."""
    with opened_arena(folder) as opened:
        from referee.arena.history import histories

        versions = histories(opened, [team])[team]
        if as_json:
            put_json({"team": team, "versions": [each.to_json() for each in versions]})
            return
        put(*aligned([("version", "status", "handed in", "rating", "95 %", "duels", "note"), *map(_version_row, versions)], left=(1, 2, 6)))
        active = next((each for each in versions if each.version.is_active and each.records), None)
        if active is not None:
            put("", f"Version {active.version.number} against:")
            rows = [(record.opponent, record.duels, record.won, record.tied, record.lost) for record in active.records]
            put(*aligned([("opponent", "duels", "won", "tied", "lost"), *rows], left=(0,)))


@arena.command("verify")
@command
def verify(folder: Folder, as_json: JsonFlag = False) -> None:
    """Simulate every replay again, and compare the stored ratings with those of the replays."""
    with opened_arena(folder) as opened:
        from referee.arena.verify import verify_arena

        put_check(partial(verify_arena, opened), as_json=as_json)


@arena.command("export")
@command
def export(folder: Folder, output: ExportOptions) -> None:
    """Write all matches with their results as CSV, or all versions and matches as JSON."""
    with opened_arena(folder) as opened:
        from referee.arena.history import histories
        from referee.arena.plan import export_rows

        teams = list(dict.fromkeys(version.team for version in opened.versions)) if output.as_json else []
        about = {
            "arena": opened.config.name,
            "game": opened.config.game.info.name,
            "teams": [
                {"team": team, "versions": [version.to_json() for version in versions]}
                for team, versions in histories(opened, teams).items()
            ],
        }
        facts = {
            "submitted": {version.name: moment(version.submitted) for version in opened.versions},
            "note": {version.name: version.note for version in opened.versions},
        }
        seats = opened.config.game.seats(opened.config.settings)
        output.put(folder, seats, list(export_rows(opened)), about, facts)


@arena.command("freeze")
@command
def freeze(folder: Folder) -> None:
    """Close submissions until thaw. Matches go on."""
    _set_frozen(folder, is_frozen=True)


@arena.command("thaw")
@command
def thaw(folder: Folder) -> None:
    """Open submissions again."""
    _set_frozen(folder, is_frozen=False)


def _set_frozen(folder: Path, *, is_frozen: bool) -> None:
    with opened_arena(folder) as opened:
        with opened.store.database.write():
            opened.store.season.change(is_frozen=is_frozen)
            opened.log_command("freeze" if is_frozen else "thaw")
        put(opened.frozen() or "Submissions are open.")


@arena.command("final")
@command
def final(
    folder: Folder,
    out: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the final, a new league.")],
    kind: Annotated[str, typer.Option("--format", metavar="FORMAT", help="swiss, round-robin or elimination.")] = "swiss",
    starts: Annotated[int, typer.Option("--starts", metavar="N", help="The number of starts to draw.", min=1)] = 10,
    as_json: JsonFlag = False,
) -> None:
    """Begin a league of the active versions of all teams, on new starts, and print the commitment to the starts."""
    with opened_arena(folder) as opened:
        from referee.arena.final import write_final
        from referee.league.config import load
        from referee.league.league import begin, check_new
        from referee.tournament.commitment import announcement, digest, private_file
        from referee.tournament.transactions import StoreError

        check_new(out)
        begun, committed = load(write_final(opened, out, kind, starts)), private_file(out)
        begin(begun, out).close()
        teams = [team.name for team in begun.teams]
        if count := opened.store.versions.waiting():
            say(
                f"note: {counted(count, 'submission')} not checked yet, so not in the final. "
                "To include new versions, let the server check them and begin another final."
            )
        try:
            opened.log_command("final", folder=str(out), teams=teams)
        except StoreError as error:
            # The final exists, so the command goes on.
            say(f"note: The final is not in the audit log. {error}")
        if as_json:
            put_json({"teams": teams, "commitment": digest(committed.read_text("utf-8")), "file": str(committed)})
            return
        put(f"A final of {counted(len(teams), 'team')}, {kind}, in {out}")
        put(*announcement(begun.commitment, committed))
        put(f"Next:  {program()} league resume {shlex.quote(str(out))}")


for _command in (invite, serve):
    arena.command(_command.__name__)(_command)


def _again(opened: OpenArena) -> str:
    return f"{program()} arena run {shlex.quote(str(opened.folder))}"


def _play(opened: OpenArena, workers: Workers, duels: int | None, *, until_decided: bool) -> None:
    """Play the duels. When a version is added meanwhile, go on with new workers, which have its files."""
    from referee.arena.player import arena_pool, play_batches
    from referee.tournament.plan import PlayStopped
    from referee.tournament.transactions import StoreError

    if len(opened.choice.playing()) < 2:
        raise UsageError(f"An arena needs two active versions. Add one: {program()} arena add {opened.folder} BOT --team NAME")
    left = duels
    while True:
        choice = opened.plan(left, until_decided=until_decided)
        pool = arena_pool(opened, workers, say)
        try:
            with contextlib.closing(pool), progress(opened.counts, lambda _, high: _lines(opened, high)) as watch:
                play_batches(opened, pool, watch)
        except (PlayStopped, StoreError) as error:
            raise type(error)(f"{error} Finished matches are stored. Go on afterwards:  {_again(opened)}") from None
        left = choice.left
        if left == 0 or choice.ending or opened.store.season.changes() == choice.mark:
            break
    if choice.ending:
        say(choice.ending)


def _put_version(opened: OpenArena, version: Version, *, as_json: bool) -> None:
    reason = version.report.get("reason")
    if as_json:
        put_json(
            {
                "team": version.team,
                "status": version.status,
                "note": version.note,
                "report": version.report,
                "is_active": version.is_active,
                "version": version.number or None,
            }
        )
        return
    number = f"version {version.number}" if version.number else "the version"
    if reason:
        put(f"{version.team}: {number} is refused. {reason}")
        for failure in version.report.get("failed", ()):
            put(f"  {failure['seat']}: {failure['name']}: {failure['text']}" + (f"  {failure['remedy']}" if failure["remedy"] else ""))
        return
    put(f"{version.team}: {number} is accepted, and active.")
    if not opened.store.database.is_claimed():
        put_more(f"Next:  {_again(opened)}")


def _put_standings(opened: OpenArena, *, as_json: bool) -> None:
    places = opened.standings()
    sentence = opened.sentence()
    if as_json:
        counts = opened.counts()
        put_json(
            {
                "arena": opened.config.name,
                "game": opened.config.game.info.name,
                "rules": opened.config.rules,
                "duels": len(opened.results),
                "matches": {**counts._asdict(), "total": counts.total},
                "entries": [place.to_json() for place in places],
                "text": sentence,
            }
        )
        return
    put(*_table(places))
    put_more(sentence)
    sys.stdout.flush()


def _lines(opened: OpenArena, high: int) -> list[str]:
    """Return the first lines of the standings, shown while matches are played."""
    return _table(opened.standings(resamples=100)[:high])


def _table(places: Sequence[VersionStanding]) -> list[str]:
    rows = []
    for place in places:
        version, rating = place.version, place.rating
        name = version.name
        name += " (reference)" if version.is_reference else " (active)" if version.is_active else ""
        name += "" if place.forfeit is None else " (can't start)"
        ranks = f"{rating.best_rank}" if rating.best_rank == rating.worst_rank else f"{rating.best_rank}-{rating.worst_rank}"
        interval = {"rating": signed(rating.elo), "95 %": f"{signed(rating.low)} to {signed(rating.high)}"}
        rows.append({"rank": str(place.rank), "version": name, **interval, "possible ranks": ranks, "duels": str(place.duels)})
    return fitted(("rank", "version"), rows, columns(120))


def _version_row(history: VersionHistory) -> tuple[Any, ...]:
    version, rating = history.version, history.rating
    status = "active" if version.is_active else version.status
    interval = ("", "") if rating is None else (signed(rating.elo), f"{signed(rating.low)} to {signed(rating.high)}")
    return (version.number, status, shown_time(version.submitted), *interval, history.duels, version.note)
