"""The final of an arena: an ordinary league of the active versions, on starts of its own. Its league file is written here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.arena.config import FILE
from referee.errors import UsageError
from referee.games.game import SettingsError
from referee.support.files import write_whole
from referee.support.plain_text import toml_lines
from referee.tournament import starts as start_lists
from referee.tournament.commitment import root
from referee.tournament.play_file import PlayFile

if TYPE_CHECKING:
    from pathlib import Path

    from referee.arena.arena import OpenArena
    from referee.arena.config import ArenaConfig
    from referee.games.game import Json

#: The formats of a final; the first one is the default.
FORMATS = ("swiss", "round-robin", "elimination")
#: The name of the league file in a folder.
LEAGUE_FILE = "league.toml"


def write_final(arena: OpenArena, folder: Path, kind: str, starts: int) -> Path:
    """Write the league file of the active versions of all teams, best rating first, into ``folder``; references don't take part. Return its path.

    All matches are on the same starts, which are drawn when the league begins. UsageError if there are fewer than two teams, if the game has
    too few starts, or if the folder holds something else.
    """
    if kind not in FORMATS:
        raise UsageError(f"--format is {kind!r:.40}, but must be {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.")
    if (folder / FILE).exists():
        raise UsageError(f"{folder} is the folder of an arena; name a new folder for the final.")
    config, forfeits = arena.config, arena.store.versions.forfeits()
    active = {
        version.name: version
        for version in arena.versions
        if version.is_active and not version.is_reference and version.name not in forfeits
    }
    if len(active) < 2:
        raise UsageError(f"A final needs two teams with an active version; there {'is one' if active else 'are none'}.")
    names = [rating.team for rating in arena.rater.rated(among=active, resamples=100)]
    teams = [{"name": active[name].team, **_programs(arena, name)} for name in names]
    shared = PlayFile.model_fields.keys() - {"seed", "settings", "starts", "time"}
    head = {
        **config.file.model_dump(mode="json", exclude_unset=True, include=shared),
        "name": f"final of {config.name}"[:40].strip(),
        "rules": config.rules,
        "format": kind,
        "settings": _settings(config, starts),
        "starts": {"count": starts},
        "time": {name: "none" if limit is None else limit for name, limit in config.file.time.given.items()},
    }
    text = toml_lines(head) + "".join(f"\n[[teams]]\n{toml_lines(team)}" for team in teams)
    path = folder / LEAGUE_FILE
    if path.exists() and path.read_text("utf-8", "replace") != text:
        raise UsageError(f"{path} exists already; name a new folder for the final.")
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode("utf-8", "surrogateescape"))
    return path


def _programs(arena: OpenArena, name: str) -> dict[str, str]:
    """Return the programs of a version by seat. Where versions play one role, the same reference fills the other seats for all of them."""
    others = arena.config.against[0].players if arena.config.against else {}
    programs = {**others, **arena.entries[name].players}
    return {"program": next(iter(programs.values()))} if arena.config.game.info.players_option else programs


def _settings(config: ArenaConfig, starts: int) -> dict[str, Json]:
    """Return the settings of a final without what its drawn starts replace. UsageError if there are not so many starts."""
    checked = config.game.codec.settings(config.rules, dict(config.plain))
    try:
        drawn = start_lists.starts(config.game, checked, root(config.seed), starts)
    except SettingsError as error:
        raise UsageError(f"--starts is {starts:,}, but {error}") from None
    return {name: value for name, value in config.plain.items() if name not in drawn[0].settings}
