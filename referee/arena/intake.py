"""Takes a version of a bot: a copy of its files, which never changes, and the check of it."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.author.check import run
from referee.author.check.check_result import FAILED
from referee.errors import PlayerError, UsageError
from referee.handins import collect, copies
from referee.handins.entry import read as read_entry
from referee.isolation import contents
from referee.isolation.file_names import for_author
from referee.isolation.launcher import open_launcher

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from referee.arena.config import ArenaConfig
    from referee.author.check.check import Check
    from referee.author.check.run import Report
    from referee.games.game import Json, Seat
    from referee.handins.values import Entry

    #: Called before each check with the seat, the name of the check, and the number of checks done and to do.
    Progress = Callable[[Seat, str, int, int], None]

#: The folder of the copies in the arena's folder.
VERSIONS = "versions"


class Snapshot(NamedTuple):
    """The copy of a bot's files: ``hash`` identifies it, ``players`` are the programs by seat as paths in ``folder``."""

    hash: str
    folder: Path
    players: Mapping[Seat, str]


class CheckVerdict(NamedTuple):
    """The verdict of a check. ``reason`` is a sentence, empty if the version is accepted."""

    reason: str
    report: dict[str, Json]


def take(bot: Path, folder: Path, config: ArenaConfig) -> Snapshot:
    """Copy a file, a folder or an archive into the arena's ``folder``, unless it has the same files already.

    UsageError if there is no such file; PlayerError says what is wrong with the bot.
    """
    if not bot.exists():
        raise UsageError(f"{bot} does not exist. Name the bot's file, its folder or an archive of it.")
    with copies.incoming(folder) as stage:
        others = [seat for seat in config.game.seats(config.settings) if seat not in config.seats]
        hand_in = collect.single(bot.absolute(), stage, config.seats, others)
        if hand_in.folder is None:
            raise PlayerError(hand_in.reason)
        missing = [seat for seat in config.seats if seat not in hand_in.players]
        if missing:
            raise PlayerError(f"It has no program for the {missing[0]}: a file {missing[0]}.*, main.* or bot.*.")
        digest = contents.digest(str(hand_in.folder), bot.name)
        target = folder / VERSIONS / digest
        copies.keep(hand_in.folder, target)
        players = {seat: os.path.relpath(hand_in.players[seat], hand_in.folder) for seat in config.seats}
        return Snapshot(digest, target, players)


def entry_of(snapshot: Snapshot, name: str, folder: Path, config: ArenaConfig) -> Entry:
    """Return a version as an entry whose paths begin in the arena's folder, so that this can be moved. Raises UsageError as ``handins.entry.read``."""
    paths = {seat: str(snapshot.folder / path) for seat, path in snapshot.players.items()}
    try:
        entry = read_entry(name, paths, config.game, config.settings, snapshot.folder, config.seats)
    except UsageError as error:
        raise UsageError(for_author(str(error), snapshot.folder, name)) from None
    return entry._replace(players=snapshot.players, home=os.path.relpath(snapshot.folder, folder))


def check(snapshot: Snapshot, config: ArenaConfig, on_progress: Progress = lambda *_: None) -> CheckVerdict:
    """Check a version at all seats that it has to play. MatchVoid if known good bots fail on this machine as well as a version that is refused."""
    options = config.options
    programs: dict[str, list[Seat]] = {}
    # In a game for any number of players, all seats are alike.
    for seat in config.seats[:1] if config.game.info.players_option else config.seats:
        programs.setdefault(snapshot.players[seat], []).append(seat)
    reports: list[Report] = []
    for path, seats in programs.items():
        program = str(snapshot.folder / path)
        request = run.CheckRequest(program, config.game, config.settings, seats, options.isolation, options.limits, options.time)
        before, parts = sum(len(report.results) for report in reports), sum(map(len, programs.values())) / len(seats)
        reports.append(run.run(request, partial(_report_progress, on_progress, before, parts)))
    failed = [result for report in reports for result in report.results if result.finding.status == FAILED]
    report = {
        "isolation": reports[0].isolation,
        "checks": sum(len(report.results) for report in reports),
        "results": {
            seat: {result.check.name: result.finding.status for result in report.results if result.seat == seat}
            for report in reports
            for seat in report.seats
        },
        "failed": [{"seat": result.seat, **result.to_json()} for result in failed],
    }
    reason = _reason(reports, failed, config.seats)
    if reason:
        open_launcher(options.isolation, options.limits).clear_machine()
    return CheckVerdict(*_without(snapshot.folder, (reason, report)))


def _report_progress(on_progress: Progress, before: int, parts: float, seat: Seat, check: Check, done: int, total: int) -> None:
    """Report a check of one program as part of all checks: ``before`` are done, and all are ``parts`` times as many as the program's."""
    on_progress(seat, check.name, before + done, round(total * parts))


def _without(folder: Path, value: Json) -> Json:
    """Return texts without the path of a version's copy, because teams should not see the arena's folder."""
    if isinstance(value, str):
        return for_author(value, folder)
    if isinstance(value, dict):
        return {name: _without(folder, part) for name, part in value.items()}
    return type(value)(_without(folder, part) for part in value) if isinstance(value, (list, tuple)) else value


def _reason(reports: list[run.Report], failed: list[Any], seats: Sequence[Seat]) -> str:
    """Return why a version is refused, in sentences; empty if it is accepted. ``seats`` are those that versions play."""
    absent = {seat: why for report in reports for seat, why in report.not_checked.items()}
    refused = [report.refused for report in reports if report.refused]
    if refused:
        return refused[0]
    if failed:
        first = failed[0]
        more = f" {len(failed) - 1:,} more checks failed." if len(failed) > 1 else ""
        return f"The check {first.check.name} failed as {first.seat}: {first.finding.text}{more}"
    if not absent:
        return ""
    seat, why = next(iter(absent.items()))
    played = [each for each in seats if each not in absent]
    remedy = (
        f" Versions of this arena play {' and '.join(seats)}; for one of a single seat: referee arena new DIR --seat {played[0]}"
        if played
        else ""
    )
    return f"It doesn't play {seat}: {why.replace(run.NEVERTHELESS.format(seat), '.')}{remedy}"
