"""The final of an arena: an ordinary league of the active versions, on hidden starts that are committed to beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from referee.arena.config import FILE
from referee.errors import UsageError
from referee.games.game import SettingsError
from referee.handins.entry import read as read_entry
from referee.league import config, schedule
from referee.league.league import begin
from referee.tournament.commitment import new_secret
from referee.tournament.play_file import StartList

if TYPE_CHECKING:
    from pathlib import Path

    from referee.arena.arena import OpenArena
    from referee.tournament.commitment import Commitment

#: The formats of a final; the first one is the default.
FORMATS = (config.SWISS, config.ROUND_ROBIN, config.ELIMINATION)


class Final(NamedTuple):
    """A final that was begun: its teams in the order of their ratings, and all that decides its starts."""

    teams: tuple[str, ...]
    commitment: Commitment


def begin_final(arena: OpenArena, folder: Path, kind: str, starts: int) -> Final:
    """Begin the league of the active versions of all teams, best rating first, in ``folder``; references don't take part.

    All matches are on the same starts, which come from a new secret. UsageError if there are fewer than two teams, or if the folder holds a league.
    """
    if kind not in FORMATS:
        raise UsageError(f"--format is {kind!r:.40}, but must be {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.")
    if (folder / FILE).exists():
        raise UsageError(f"{folder} is the folder of an arena; name a new folder for the final.")
    forfeits = arena.store.duels.forfeits()
    active = {
        version.name: version
        for version in arena.versions
        if version.is_active and not version.is_reference and version.name not in forfeits
    }
    if len(active) < 2:
        raise UsageError(f"A final needs two teams with an active version; there {'is one' if active else 'are none'}.")
    arena.glance()
    base, game, programs = arena.league, arena.config.game, arena.schedule.teams
    names = [rating.team for rating in arena.schedule.rated(among=active, resamples=100)]
    # Where versions play one role, the same reference fills the other seats for all of them.
    others = arena.config.against[0].players if arena.config.against else {}
    teams = tuple(read_entry(active[name].team, {**others, **programs[name].players}, game, arena.config.settings) for name in names)
    rounds = schedule.default_rounds(len(teams)) if kind == config.SWISS else 0
    league = base._replace(
        name=f"final of {base.name}"[:40].strip(),
        seed=new_secret(),
        format=config.Format(kind, rounds, 2),
        teams=teams,
        starts=StartList(starts),
        variants=(base.variants[0]._replace(name=""),),
    )
    try:
        league.starts_of(0)
    except SettingsError as error:
        raise UsageError(f"--starts is {starts:,}, but {error}") from None
    begin(league, folder).close()
    return Final(tuple(team.name for team in teams), league.commitment)
