"""Changes of a league that has begun: teams join, withdraw or get another program, and files of teams change."""

from __future__ import annotations

import contextlib
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import UsageError
from referee.league import lost, schedule
from referee.league.league import OpenLeague, Schedule, first, open_league
from referee.league.teams import changed, check_name, check_plays, identities
from referee.league.teams import team as read_team
from referee.support.packages import need_league
from referee.support.words import counted, program

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from referee.league.values import Duel, Team

#: The folder for replays and logs of matches that don't count any more. Hidden, so that nothing takes them for replays of the league.
REPLACED = ".replaced"
#: A match's replay and logs begin with its key.
_OF_A_MATCH = re.compile(r"([0-9a-f]{32})\.")


class ChangedTeam(NamedTuple):
    """A team whose files have changed: a phrase for each change, and the team as it is now; None if it can't play any more."""

    what: tuple[str, ...]
    team: Team | None


def changed_teams(opened: OpenLeague) -> dict[str, ChangedTeam]:
    """Return the teams whose files have changed since the league began, by name. Those that have withdrawn are left out."""
    found = {}
    settings = _settings(opened)[0]
    for team in opened.schedule.active.values():
        try:
            home = Path(team.home or opened.league.home or ".")
            now = read_team(team.name, team.players, opened.schedule.game, settings, home, stored=team.hash)
        except UsageError as error:
            found[team.name] = ChangedTeam((str(error),), None)
            continue
        if now.hash != team.hash:
            found[team.name] = ChangedTeam(changed(now, team), now)
    return found


def start_anew(opened: OpenLeague, teams: Mapping[str, Team]) -> OpenLeague:
    """Store new programs of some teams, and plan their matches again. A team that had withdrawn is back.

    Where the pairs of a round depend on earlier results, all rounds after the first one of these teams are forgotten. The replays of
    matches that don't count any more are moved out of the way.
    """
    store, plan = opened.store, opened.schedule.plan
    duels = {duel.number: duel for duel in store.duels()}
    again = [duel for duel in duels.values() if set(duel.teams) & set(teams)]
    dropped: list[Duel] = []
    if plan.format in schedule.ROUND_BY_ROUND and again:
        round_ = min(duel.round for duel in again)
        dropped = [duel for duel in duels.values() if duel.round > round_]
        again = [duel for duel in again if duel.round == round_]
    withdrawn = [name for name in opened.withdrawn if name not in teams]
    entrants = [teams.get(name, team) for name, team in opened.schedule.teams.items()]
    planned = Schedule(opened.league, entrants, opened.added, withdrawn)
    numbers = {duel.number for duel in (*again, *dropped)}
    old = [stored.task.key for stored in store.matches() if stored.task.duel in numbers]
    tasks = [task for duel in again for task in planned.tasks(duel)]
    store.replan(
        old,
        [duel.number for duel in again],
        tasks,
        list(teams.values()),
        dropped=[duel.number for duel in dropped],
        facts={"withdrawn": withdrawn},
    )
    now = OpenLeague(opened.folder, store)
    set_aside(now)
    return now


def set_aside(opened: OpenLeague) -> None:
    """Move replays and logs of matches that the league doesn't have any more into the hidden folder ``REPLACED``.

    StoreError if the store has lost matches: their replays stay.
    """
    opened.check_whole()
    place = opened.folder / REPLACED
    known: set[str] | None = None
    for path in opened.replays.glob("??/*"):
        key = _OF_A_MATCH.match(path.name)
        if key is None:
            continue
        if known is None:
            known = opened.store.keys()
            if found := lost.unplanned(opened, opened.state().results)[0]:
                raise opened.lost_error(counted(len(found), "match"))
        if key[1] not in known:
            place.mkdir(exist_ok=True)
            path.replace(place / path.name)


def joining(opened: OpenLeague, spec: str, name: str | None) -> Team:
    """Return the team that is to join a league, without storing it. UsageError if the league's format or its names don't allow it."""
    plan = opened.schedule.plan
    if plan.format not in schedule.GROWING and opened.store.duels():
        raise UsageError(
            f"A league by {plan.format} has begun, so no team can join it; formats that grow: {' and '.join(schedule.GROWING)}."
        )
    chosen = Path(spec).stem if name is None else name
    known = {key: team for team in plan.everybody for key in identities(team)}
    if other := next((known[key] for key in identities(chosen) if key in known), None):
        alike = "" if other == chosen else f", and {chosen} looks like it"
        raise UsageError(f"There is a team {other} already{alike}; give the new one another name with --name.")
    check_name(chosen, "The name of the new team" if name is None else "--name")
    return _checked(opened, chosen, spec, Path.cwd())


def add_team(opened: OpenLeague, team: Team) -> OpenLeague:
    """Add a team that ``joining`` has returned."""
    opened.store.add_teams([team], {"added": [*opened.added, team.name]})
    return OpenLeague(opened.folder, opened.store)


def replacement(opened: OpenLeague, name: str, spec: str | None) -> Team:
    """Return a team with another program, or with its own files as they are now, without storing it. UsageError if it can't play."""
    team = _named(opened, name)
    if spec is not None:
        return _checked(opened, name, spec, Path.cwd())
    return _checked(opened, name, team.players, Path(team.home or opened.league.home or "."), team.hash)


def replace_team(opened: OpenLeague, team: Team) -> OpenLeague:
    """Store a team that ``replacement`` has returned. Its matches are planned again unless it has the same files."""
    if team.hash == _named(opened, team.name).hash and team.name not in opened.withdrawn:
        opened.store.set_files(team)
        return OpenLeague(opened.folder, opened.store)
    return start_anew(opened, {team.name: team})


def withdraw_team(opened: OpenLeague, name: str) -> OpenLeague:
    """Take a team out of a league: it plays no further match (``Schedule`` says what counts). UsageError if it can't withdraw."""
    _named(opened, name)
    plan, shown = opened.schedule.plan, name
    if name in opened.withdrawn:
        raise UsageError(f"The team {shown} has withdrawn already.")
    if len(opened.schedule.active) <= 2:
        raise UsageError(
            f"The team {shown} can't withdraw: a league needs two teams. Give it another program: referee league replace DIR TEAM"
        )
    left = [champion for champion in schedule.champions(plan) if champion not in (*opened.withdrawn, name)]
    if plan.format == "gauntlet" and not left:
        raise UsageError(
            f"The team {shown} can't withdraw: it is the last champion. Give it another program: referee league replace DIR TEAM"
        )
    counts = "its duels count for nobody" if plan.format in schedule.GROWING else "it loses the duels that it hasn't played"
    opened.store.withdraw(name, f"{name} has withdrawn: {counts}.", {"withdrawn": [*opened.withdrawn, name]})
    return OpenLeague(opened.folder, opened.store)


def _named(opened: OpenLeague, name: str) -> Team:
    """Return the team of that name; UsageError if there is none."""
    found = opened.schedule.teams.get(name)
    if found is None:
        same = [team for team in opened.schedule.teams if set(identities(team)) & set(identities(name))]
        hint = f"did you mean {same[0]}?" if same else f"there are {first(list(opened.schedule.teams), 10)}."
        raise UsageError(f"The league has no team {name}; {hint}")
    return found


def _settings(opened: OpenLeague) -> list[Any]:
    """Return the checked settings of each variant of a league."""
    return [opened.schedule.game.codec.settings(opened.league.rules, dict(variant.settings)) for variant in opened.league.variants]


def _checked(opened: OpenLeague, name: str, spec: str | Mapping[str, str], home: Path, stored: str = "") -> Team:
    """Return a team that can play in all variants; UsageError if it can't."""
    game, settings = opened.schedule.game, _settings(opened)
    team = read_team(name, spec, game, settings[0], home, stored=stored)
    for each in settings[1:]:
        check_plays(team, game, each)
    return team


@contextlib.contextmanager
def claimed(folder: Path, *, is_whole: bool = True) -> Iterator[OpenLeague]:
    """Open a league that no other process plays meanwhile. StoreError if it is to be whole and its store has lost matches."""
    need_league("league")
    with contextlib.closing(open_league(folder)) as opened, opened.store.claim():
        # Another process may have changed it before the claim.
        found = OpenLeague(opened.folder, opened.store)
        if is_whole:
            # A change that was interrupted may have left replays that don't count any more.
            set_aside(found)
        yield found


def again(opened: OpenLeague) -> str:
    """Return the command that continues a league."""
    return f"{program()} league resume {shlex.quote(str(opened.folder))}"


def why_not(opened: OpenLeague, name: str, one: ChangedTeam) -> str:
    """Return what has become of a team whose files have changed, and what to do."""
    if one.team is not None:
        return (
            f"Its files have changed since the league began ({first(one.what)}). Restore them, or play them anew: {again(opened)} --force"
        )
    words = f"{shlex.quote(str(opened.folder))} {shlex.quote(name)}"
    return (
        f"{one.what[0]} Restore its files, give it another program ({program()} league replace {words} PROGRAM), or take it out of the league "
        f"({program()} league withdraw {words})."
    )


def changed_or_refused(opened: OpenLeague, *, force: bool) -> dict[str, Team]:
    """The teams whose files have changed, as they are now. Without ``force`` the league can't go on with them.

    The UsageError says what can be done about a team that can't play any more.
    """
    found = changed_teams(opened)
    for name, one in found.items():
        if one.team is None:
            raise UsageError(why_not(opened, name, one))
    if found and not force:
        told = "; ".join(f"{name}: {first(one.what)}" for name, one in list(found.items())[:5])
        raise UsageError(
            f"The files of {counted(len(found), 'team')} have changed since the league began ({told}). "
            f"Restore them, or play {'its' if len(found) == 1 else 'their'} matches anew: {again(opened)} --force"
        )
    return {name: one.team for name, one in found.items() if one.team is not None}
