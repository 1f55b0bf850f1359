"""Continues a league after changes of its file or its teams' files: matches that are no longer part of it don't count."""

from __future__ import annotations

import contextlib
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import RefereeError, UsageError
from referee.handins.entry import read as read_entry
from referee.handins.hashes import changed
from referee.league import config
from referee.league.folder import FILE, LeagueView, league_rows, open_store
from referee.league.league import OpenLeague, first, open_league
from referee.league.league_schedule import Schedule
from referee.support.canonical import canonical
from referee.support.packages import need_league
from referee.support.words import counted, program
from referee.tournament import address, commitment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from referee.games.game import Json
    from referee.handins.values import Entry
    from referee.league.config import League

#: The keys of a league that decide no match.
_HARMLESS = {"name", "slots", "home", "teams"}
#: How many reasons a sentence has.
_REASONS = 5


class Edit(NamedTuple):
    """A changed league: the number of played matches that are no longer part of it, and the changes as a phrase.

    ``teams`` are those that are new, or whose files have changed.
    """

    league: League
    voided: int
    why: str
    teams: list[Entry]


def stored_league(folder: Path) -> League | None:
    """Return the league of a results folder, which has its store or its id; None if none was begun there. UsageError if it can't be read."""
    stored = address.read(folder)
    if stored is None and not (folder / FILE).is_file():
        return None
    with open_store(folder, None if stored is None else stored.url, create=True) as store:
        row = league_rows(store).get(0)
        return None if row is None else config.from_json(row.league)


def file_of(folder: Path) -> Path | None:
    """Return the file, or the folder of teams, of a results folder's league; None if it is gone."""
    with contextlib.closing(open_league(folder)) as opened:
        return Path(opened.file) if opened.file and Path(opened.file).exists() else None


def seed_in(folder: Path) -> int | str:
    """Return the seed of the league in a folder; a new secret for a new league."""
    try:
        league = stored_league(folder)
    except RefereeError:
        # The command that begins or continues the league reports the error.
        league = None
    return commitment.new_secret() if league is None else league.seed


@contextlib.contextmanager
def claimed(folder: Path) -> Iterator[OpenLeague]:
    """Open a league and claim it, so that no other process plays it meanwhile."""
    need_league("league")
    with contextlib.closing(open_league(folder)) as opened, opened.store.claim():
        # Another process may have played it before the claim.
        league = OpenLeague(opened.folder, opened.store)
        commitment.write(league.league.commitment, folder)
        yield league


def edit_of(opened: OpenLeague, league: League | None = None) -> Edit:
    """Return the present league: that of its file, if it still exists, with the files of its teams. UsageError if it can't be played."""
    try:
        league = _now(opened) if league is None else league
    except UsageError as error:
        raise UsageError(f"{error} Restore its files, and go on:  {again(opened)}") from None
    before = {team.name: team for team in opened.league.teams}
    teams = [team for team in league.teams if team.name not in before or team.hash != before[team.name].hash]
    if _plain(league) == _plain(opened.league):
        return Edit(league, 0, "", teams)
    asked = {match.task.key for match in LeagueView(opened.store, Schedule(league, league.teams)).matches()}
    voided = sum(match.task.key not in asked for match in opened.view.matches(done=True))
    return Edit(league, voided, "; ".join([*_changes(opened.league, league)][:_REASONS]), teams)


def _now(opened: OpenLeague) -> League:
    if opened.file and Path(opened.file).exists():
        return config.load(Path(opened.file), lambda _: opened.league.seed)
    game, league = opened.schedule.game, opened.league
    settings = game.codec.settings(league.rules, dict(league.variants[0].settings))
    return league._replace(teams=tuple(read_entry(team.name, team.players, game, settings, Path(team.home)) for team in league.teams))


def _plain(league: League) -> str:
    return canonical(league.to_json())


def _changes(before: League, after: League) -> Iterator[str]:
    """Yield the changes that may void matches, as phrases."""
    teams = {team.name: team for team in after.teams}
    for team in before.teams:
        if team.name not in teams:
            yield f"{team.name} is gone"
        elif phrases := changed(teams[team.name], team):
            yield f"{team.name}: {first(phrases)}"
    old, new = dict(_values(before)), dict(_values(after))
    for name in sorted(old.keys() | new.keys()):
        if canonical(was := old.get(name)) != canonical(now := new.get(name)):
            is_plain = name != "seed" and not isinstance(was, list | dict) and not isinstance(now, list | dict)
            yield f"{name} is {now}, was {was}" if is_plain else f"another {name}"
    if len(names := teams.keys() - {team.name for team in before.teams}) > 0:
        yield f"{counted(len(names), 'team')} more"


def _values(league: League) -> Iterator[tuple[str, Json]]:
    """Yield each value that decides matches with its name, such as ``settings.width``; of a variant with its name."""
    plain = {name: value for name, value in league.to_json().items() if name not in _HARMLESS}
    variants = {variant.name or "settings": variant.settings for variant in league.variants}
    for name, value in {**plain, **variants}.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{key}", part) for key, part in value.items())
        elif name != "variants":
            yield name, value


def take(opened: OpenLeague, edit: Edit, file: str) -> OpenLeague:
    """Store an edited league of a file. Records and replays stay: those that no longer count do so again if the edit is undone."""
    if edit.league.commitment.decisive() != opened.league.commitment.decisive():
        commitment.set_aside(opened.folder)
    rows = league_rows(opened.store)
    rows.put(*(row.model_copy(update={"league": edit.league.to_json(), "file": file}) for row in rows.all()))
    return OpenLeague(opened.folder, opened.store)


def check_void(edit: Edit, void: int | None, is_agreed: Callable[[str], bool]) -> None:
    """Raise UsageError if an edit makes matches void, unless ``void`` is their number or a person agrees."""
    are = "match that was played would be" if edit.voided == 1 else "matches that were played would be"
    sentence = f"{edit.voided:,} {are} void, because the league has changed ({edit.why}). Undo the change, and they count again."
    if void is not None and void != edit.voided:
        raise UsageError(f"--void is {void:,}, but {sentence if edit.voided else 'no match that was played would be void; leave it out.'}")
    if void is None and edit.voided and not is_agreed(f"{sentence} Go on?"):
        raise UsageError(f"{sentence} To go on, add --void {edit.voided}.")


def again(opened: OpenLeague) -> str:
    """Return the command that continues a league."""
    return f"{program()} league resume {shlex.quote(str(opened.folder))}"
