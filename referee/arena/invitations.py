"""Invitations: a token for each team of a roster, with which it hands in versions and opens its pages."""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from referee.arena import config
from referee.errors import UsageError
from referee.grading import roster
from referee.league import teams
from referee.support.csv_text import marked, written

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from referee.arena.arena import OpenArena
    from referee.arena.season_store import SeasonStore

#: The address of a server that is named nowhere else.
URL = "http://127.0.0.1:8300"
#: The fact with the address of the server, as teams see it.
_ADDRESS = "url"
#: An address of a server: a name or an IP address, and perhaps a port.
_ADDRESSES = re.compile(r"https?://([\w.-]+|\[[0-9a-fA-F:.]+\])(:\d{1,5})?/*", re.ASCII | re.IGNORECASE)


class Invitation(NamedTuple):
    """A team with its link and its token, which is stored nowhere."""

    team: str
    link: str
    token: str


def invite(arena: OpenArena, store: SeasonStore, path: Path, url: str | None) -> list[Invitation]:
    """Make a token for each team of a roster; its earlier ones stay valid. UsageError names the line that is wrong."""
    rows = roster.load(path, "team", config.LONGEST_TEAM)
    references = {team.name for team in (*arena.config.references, *arena.config.against)}
    for row in rows:
        what = f"Line {row.line} of the roster '{path}': the team"
        teams.check_name(row.student, what, config.LONGEST_TEAM)
        if row.student in references:
            raise UsageError(f"{what} {row.student} has the name of a reference of the arena; give the team another name.")
    known = [*references, *(version.team for version in arena.versions), *store.invited()]
    teams.check_different(list(dict.fromkeys([*known, *(row.student for row in rows)])))
    found = [_invitation(row.student, address(store, url)) for row in rows]
    store.put_tokens((one.token, one.team) for one in found)
    return found


def invite_staff(store: SeasonStore, url: str | None) -> Invitation:
    """Make the staff's token; the earlier one isn't valid any more."""
    found = _invitation("", address(store, url))
    store.put_tokens([(found.token, None)])
    return found


def revoke(store: SeasonStore, team: str) -> int:
    """Make all tokens of a team invalid; return how many there were. UsageError if it has none."""
    count = store.revoke(team)
    if not count:
        others = ", ".join(store.invited()) or "none"
        raise UsageError(f"The team {team} has no token. Teams with a token: {others}.")
    return count


def table(found: Sequence[Invitation]) -> str:
    """Return invitations as CSV. No name can become a formula of a spreadsheet."""
    return marked(written([Invitation._fields, *found]))


def address(store: SeasonStore, url: str | None = None) -> str:
    """Return the address with which links begin: the given one, which is kept for the server, or the last that was given."""
    if url is None:
        return str(store.fact(_ADDRESS) or URL)
    if not _ADDRESSES.fullmatch(url) or not _has_port(url):
        raise UsageError(f"--url is {url!r:.80}, but must be the address of the server, such as https://arena.example.org.")
    store.set_fact(_ADDRESS, url.rstrip("/"))
    return url.rstrip("/")


def _has_port(url: str) -> bool:
    """True unless the port or the IP address is impossible."""
    try:
        return urlsplit(url).port != 0
    except ValueError:
        return False


def _invitation(team: str, url: str) -> Invitation:
    # A token that begins with a letter is no number and no formula in a spreadsheet, and no option of a command.
    token = f"t{secrets.token_urlsafe(16)}"
    return Invitation(team, f"{url}/invite/{token}", token)
