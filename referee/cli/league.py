"""league: many matches between many teams, with standings, ratings and a report."""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli.app import INSTRUCTORS, JsonFlag, app, command, complain, group, put, put_json, put_more, say
from referee.cli.league_output import ExportOptions, plain_progress, progress, put_check, put_standings, top
from referee.cli.options import PAGE_HELP, Database, FirstRules, Force, Game, LeagueFlags, PageOptions, SeriesOptions
from referee.cli.pages import bind_page
from referee.errors import UsageError
from referee.league.hosts import warnings_of_hosts
from referee.support.outputs import check_not_input, check_output
from referee.support.packages import need_league, need_web
from referee.support.words import counted, program
from referee.tournament.export import store_files
from referee.tournament.workers import Workers, open_pool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.handins.values import Entry
    from referee.league.config import LeagueSource
    from referee.league.league import OpenLeague
    from referee.league.league_schedule import Schedule
    from referee.tournament.local import Pool

league = group("league", "Play many matches between teams: standings, ratings, a report.")
app.add_typer(league, rich_help_panel=INSTRUCTORS)

#: Starting the programs of more teams than this takes long, so the command prints a message first.
_MANY_TEAMS = 20
#: The default folder of leagues.
_FOLDER = Path("matches/leagues")

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The league's folder.")]
Void = Annotated[
    int | None, typer.Option("--void", metavar="N", help="Go on although a change makes this number of played matches void; they are kept.")
]


@league.command("run")
@command
def run(
    *,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE|FOLDER", help="A league file, a folder in which each file and folder is a team, or a league's folder."
        ),
    ],
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="The league's folder.  (default: matches/leagues/NAME)")] = None,
    database: Database = None,
    void: Void = None,
    flags: LeagueFlags,
    series: SeriesOptions,
) -> None:
    """Begin a league and play it to the end, or go on with it after a change of its file. Options override the file.

    In a folder, each program, each folder of programs and each archive is a team.
    """
    need_league("league")
    from referee.handins.names import file_name
    from referee.league import edit
    from referee.league.config import prepared
    from referee.league.team_folder import handed_in_folders, is_results

    place = series.place()

    def changes(game: str) -> dict[str, Any]:
        return flags.changes(game, series.slots)

    if is_results(file):
        if out is not None or database is not None:
            option = "--database" if out is None else "--out"
            raise UsageError(f"{file} is the folder of a begun league. Leave out {option} to go on with it.")
        origin = edit.file_of(file)
        if not flags.changes("", None) and (series.slots is None or origin is None):
            _go_on(file, None, "", void, place, series)
            return
        if origin is None:
            raise UsageError(f"The league file of {file} is gone, so its options can't be changed; leave them out.")
        out, file = file, origin

    def home(name: str) -> Path:
        return out or _FOLDER / file_name(name)

    with handed_in_folders() as handed_in:
        source = prepared(file, lambda name: edit.seed_in(home(name)), changes, lambda name: handed_in(home(name)), say)
        folder = home(source.league.name)
        path = str(source.copy(folder) if source.is_changed else file.resolve())
        check_not_input(folder, [file, *source.league.programs] if folder.exists() else ())
        if database is None and edit.stored_league(folder) is not None:
            _go_on(folder, source, path, void, place, series)
        else:
            _begin(folder, source, path, database, void, place, series)


def _begin(
    folder: Path, source: LeagueSource, path: str, database: str | None, void: int | None, place: Workers, series: SeriesOptions
) -> None:
    """Begin a league, and play it to the end."""
    from referee.league import edit
    from referee.league.league import REPLAYS, begin, check_new
    from referee.league.league_schedule import Schedule
    from referee.tournament.commitment import announcement, private_file

    config = source.league
    check_new(folder, database)
    edit.check_void(edit.Edit(config, 0, "", []), void, _agrees)
    schedule, place = Schedule(config, config.teams), place.or_slots(config.slots)
    _check_roles(schedule, config.teams, place)
    # Before the league's folder is written, because this raises an error if workers are unavailable.
    pool = open_pool(schedule.terms, schedule.teams, folder / REPLAYS, place, say)
    with contextlib.closing(pool), contextlib.closing(begin(config, folder, database, path)) as opened, opened.store.claim():
        source.write(folder)
        say(*announcement(config.commitment, private_file(folder)))
        _play(opened, pool, series)


@league.command("init")
@command
def init(
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="A folder in which each program, folder and archive is a team.")
    ] = Path(),
    game: Game = None,
    rules: FirstRules = None,
) -> None:
    """Write a commented league.toml into a folder of teams. Nothing is overwritten."""
    need_league("league")
    from referee.league.config import prepared
    from referee.league.team_folder import FILE, write_new

    if os.path.lexists(folder / FILE):
        raise UsageError(f"{folder / FILE} exists already. Move it away to get a new one.")
    with TemporaryDirectory() as scratch:
        options = {name: value for name, value in (("game", game), ("rules", rules)) if value is not None}
        config = prepared(folder, changes=lambda _: options, handed_in=lambda _: Path(scratch), tell=say).league
    put(str(write_new(folder, config.game, config.rules, {team.name for team in config.teams})))
    put(f"Next:  {program()} league run {shlex.quote(str(folder))}")


@league.command("starts")
@command
def starts(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The published commitment.toml of a league or a final.", show_default=False)],
    as_json: JsonFlag = False,
) -> None:
    """Print the starts that follow from a commitment, to compare with replays."""
    need_league("league")
    from referee.tournament import commitment

    data, digest = commitment.read(file, commitment.LEAGUE)
    if as_json:
        put_json({"file": str(file), "sha256": digest, **commitment.starts_json(data)})
        return
    put(f"sha256 {digest}", *commitment.starts_lines(data))


@league.command("resume")
@command
def resume(
    *,
    folder: Folder,
    void: Void = None,
    series: SeriesOptions,
) -> None:
    """Continue a league: play the matches that have no result yet. Changes of its file and of its teams' files apply."""
    _go_on(folder, None, "", void, series.place(), series)


def _go_on(folder: Path, source: LeagueSource | None, path: str, void: int | None, workers: Workers, series: SeriesOptions) -> None:
    """Go on with a league, after the changes in ``source`` or else in its file. ``path`` is the path of the new file."""
    from referee.league import edit
    from referee.league.league_schedule import Schedule
    from referee.tournament import commitment

    with edit.claimed(folder) as before:
        now = edit.edit_of(before, None if source is None else source.league)
        edit.check_void(now, void, _agrees)
        schedule, workers = Schedule(now.league, now.league.teams), workers.or_slots(now.league.slots)
        if now.teams:
            _check_roles(schedule, now.teams, workers)
        with contextlib.closing(open_pool(schedule.terms, schedule.teams, before.replays, workers, say)) as pool:
            opened = edit.take(before, now, path or before.file)
            if source is not None:
                source.write(folder)
            if commitment.write(now.league.commitment, folder):
                say(*commitment.announcement(now.league.commitment, commitment.private_file(folder)))
            _play(opened, pool, series)


def _agrees(question: str) -> bool:
    """Return the answer to a yes-or-no question at the terminal; False if there is no terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty() and typer.confirm(question, err=True)


@league.command("standings")
@command
def standings(
    folder: Folder,
    as_csv: Annotated[bool, typer.Option("--csv", help="Write one line for each team, for a spreadsheet.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Print the standings with ratings."""
    if as_csv and as_json:
        raise UsageError("--csv and --json can't be used together.")
    with _opened(folder) as opened:
        put_standings(opened, as_json=as_json, as_csv=as_csv)


@league.command("report")
@command
def report(
    *,
    folder: Folder,
    is_live: Annotated[
        bool,
        typer.Option("--live", help="Write the report every few seconds while the league runs, and serve it.", rich_help_panel=PAGE_HELP),
    ] = False,
    page: PageOptions,
    out: Annotated[Path | None, typer.Option("--out", metavar="FOLDER", help="Write into this folder.  (default: the league's)")] = None,
    force: Force = False,
    alone: Annotated[bool, typer.Option("--alone", help="Write only the page, without the replays for its viewer.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Write the report: one page with standings, crosstable, ratings, endings and every match, with a viewer of their replays."""
    need_web("The report")
    from referee.league import report_folder
    from referee.league.report import of_league
    from referee.pages.replay_scripts import MOST_BYTES

    with _opened(folder) as opened:
        try:
            most_bytes = 0 if alone else MOST_BYTES
            for path, mark in report_folder.outputs(folder if out is None else out):
                check_output(path, mark, store_files(folder), force=force)
            if is_live:
                _follow_league(opened, page, most_bytes, out)
                return
            data = of_league(opened)
            written = report_folder.write(data, folder, most_bytes, out, None if as_json else plain_progress("replays simulated"))
            missing = report_folder.unreadable(data, folder)
            if as_json:
                put_json({"file": str(written.path), "shown": written.viewable, "left_out": written.left_out, "missing": missing})
                return
            put(str(written.path))
            if missing:
                say(f"{counted(missing, 'replay')} can't be read: {program()} league verify {shlex.quote(str(folder))}")
            if (left := written.left_out - missing) and not alone:
                say(
                    f"{counted(left, 'replay')} {'is' if left == 1 else 'are'} not in the viewer, to keep the folder small; the page has the "
                    "command that shows each."
                )
        except OSError as error:
            if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM) or out is not None:
                raise
            raise UsageError(f"The report can't be written into {folder} ({error.strerror}). Name another folder with --out.") from None


def _follow_league(opened: OpenLeague, options: PageOptions, most_bytes: int, out: Path | None) -> None:
    """Write the report again and again, and serve it until Ctrl-C."""
    from referee.league.report_live import LiveReport, rewritten, written
    from referee.pages.replay_scripts import REPORT
    from referee.pages.serve import serve_site

    page = bind_page(options)
    written(opened, most_bytes, out)
    again = partial(rewritten, opened, most_bytes, out, say)
    serve_site(lambda: LiveReport(again, out or opened.folder, page.token), page.listener, page.names, page.announcer(REPORT))


@league.command("export")
@command
def export(folder: Folder, output: ExportOptions) -> None:
    """Write all matches with their results as CSV or JSON."""
    with _opened(folder) as opened:
        game = opened.schedule.game
        seats = game.seats(game.codec.settings(opened.league.rules, dict(opened.league.variants[0].settings)))
        about = {"league": opened.league.name, "game": opened.league.game}
        output.put(folder, seats, list(opened.rows_of_matches()), about, {})


@league.command("verify")
@command
def verify(folder: Folder, as_json: JsonFlag = False) -> None:
    """Simulate every replay again, and compute the standings only from the replays."""
    with _opened(folder) as opened:
        from referee.league.verify import verify_league

        put_check(partial(verify_league, opened), as_json=as_json)


def _opened(folder: Path) -> contextlib.closing[OpenLeague]:
    need_league("league")
    from referee.league.league import open_league

    return contextlib.closing(open_league(folder))


def _check_roles(schedule: Schedule, teams: Sequence[Entry], workers: Workers) -> None:
    """Raise UsageError if a team's program plays only one role. Workers on other machines, which may have other interpreters, skip this."""
    from referee.tournament.roles import check_roles

    if not workers.is_here:
        return
    workers.check_machine(schedule.terms.options)
    if len(teams) > _MANY_TEAMS:
        say(f"Each program of {len(teams):,} teams is started once in each role, to test whether it plays that role.")
    league = schedule.league
    settings = schedule.game.codec.settings(league.rules, dict(league.variants[0].settings))
    try:
        check_roles(teams, schedule.game, settings, schedule.terms)
    except (KeyboardInterrupt, SystemExit):
        complain(f"No match was played yet: the programs of {counted(len(teams), 'team')} were being tested for the roles they play.")
        raise


def _play(opened: OpenLeague, pool: Pool, series: SeriesOptions) -> None:
    """Play a league to the end, then print the standings. The caller has claimed it, and closes it and the workers."""
    from referee.league.edit import again
    from referee.league.league import first
    from referee.league.playing import LeaguePlay
    from referee.tournament.plan import PlayStopped
    from referee.tournament.transactions import StoreError

    try:
        say(
            f"{opened.league.name}: {len(opened.schedule.teams):,} teams, {opened.league.format.kind}, {pool.slots} at once, in {opened.folder}"
        )
        played = LeaguePlay(opened, pool)
        with progress(played.counts, lambda wide, high: top(opened, played.state(), wide, high), opened.replays) as watch:
            played.run(watch)
        pool.close()
        say(*warnings_of_hosts(opened))
        if forfeits := list(played.plan.forfeits):
            say(f"{counted(len(forfeits), 'team')} could not start: {first(forfeits)}")
        put_standings(opened, as_json=series.as_json)
        if not series.as_json:
            put_more("", f"Next:  {program()} league report {shlex.quote(str(opened.folder))}")
        sys.stdout.flush()
        if played.plan.unplayed:
            count = counted(len(played.plan.unplayed), "match")
            complain(f"referee: {count} could not be played; the teams did not cause that. Play again:  {again(opened)}")
            raise typer.Exit(PlayStopped.exit_code)
    except (KeyboardInterrupt, SystemExit):
        # Ctrl-C, or a signal such as SIGTERM.
        counts = opened.view.state().counts
        complain(f"{counts.done:,} of {counted(counts.done + counts.planned, 'match')} are done and stored. Go on:  {again(opened)}")
        raise
    except (PlayStopped, StoreError) as error:
        raise type(error)(f"{error} Finished matches are stored. Go on afterwards:  {again(opened)}") from None
