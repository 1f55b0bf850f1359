"""What a visitor has to know before taking part: what is played, by which rules, when, and within which limits."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from markdown_it import MarkdownIt
from markupsafe import Markup

from referee import games
from referee.support.times import shown_time
from referee.support.words import counted, size_text

if TYPE_CHECKING:
    from referee.arena.config import ArenaConfig

#: What the pages of an arena can't follow in the text of a game's rules: its title, its pictures, and links to other files.
_TITLE, _PICTURE, _LINK = re.compile(r"\A# .*\n"), re.compile(r"!\[[^\]]*\]\([^)]*\)"), re.compile(r"\[([^\]]*)\]\([^)]*\)")


class Rules(NamedTuple):
    """The rules of a game: in a few sentences, and as a whole. Both are empty for a game without a README."""

    summary: str
    text: Markup


@cache
def rules(game: str) -> Rules:
    """Return the rules of a game, from the README in its folder."""
    path = Path(games.folder(games.get(game))) / "README.md"
    if not path.is_file():
        return Rules("", Markup(""))
    plain = _LINK.sub(r"\1", _PICTURE.sub("", _TITLE.sub("", path.read_text(encoding="utf-8")))).strip()
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(plain)
    # A reader who has no mouse can scroll a wide table, too, and a corner of it is no heading.
    wide = '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>'
    html = html.replace("<table>", wide).replace("</table>", "</table></div>").replace("<th></th>", "<td></td>")
    return Rules(" ".join(plain.split("\n\n")[0].split()), Markup(html))  # noqa: S704 - the text is the game's own, and its HTML is escaped


def dates(config: ArenaConfig) -> list[tuple[str, str]]:
    """Return when versions are taken and how many, each fact with its name."""
    season = config.season
    facts = {
        "Opens": "" if season.opens is None else shown_time(season.opens),
        "Closes": "when the staff says so" if season.closes is None else shown_time(season.closes),
        "Frozen": "; ".join(f"{shown_time(period.begins)} to {shown_time(period.ends)}" for period in season.frozen),
        "Versions": f"{season.submissions_per_day:,} within 24 hours, each up to {size_text(season.max_bytes)}",
        "Placement": f"{counted(season.placement, 'duel')} of a new version against opponents of all strengths",
        "Replays": "everybody sees all matches" if config.visibility.replays == "all" else "each team sees its own matches",
    }
    return [(name, text) for name, text in facts.items() if text]


def conditions(config: ArenaConfig) -> list[tuple[str, str]]:
    """Return what holds in each match: roles, time, memory, and the settings of the game."""
    time, limits = config.options.time, config.options.limits
    seconds = {"to start": time.startup, "a move": time.move, "a match": time.bank}
    options = {option.name: option for option in config.game.info.options}
    against = "" if config.seat is None else f", against {' or '.join(team.name for team in config.against)}"
    roles = (
        f"{config.seat}{against}"
        if config.seat
        else f"{' and '.join(config.seats)}: a duel is two matches from the same start, with the seats swapped"
    )
    settings = {
        option.meaning.rstrip("."): config.plain[name]
        for name, option in options.items()
        if name in config.plain and config.plain[name] is not None
    }
    facts = {
        "Roles": roles,
        "Time": ", ".join(f"{limit:g} s {what}" for what, limit in seconds.items() if limit is not None) or "no limit",
        "Memory": f"{size_text(limits.memory_bytes)}, {limits.processes:,} processes and threads",
        **{name: _shown(value) for name, value in settings.items()},
    }
    return list(facts.items())


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else f"{value:,}" if isinstance(value, int) else str(value)
