"""Invitations: a token for each team of a roster, with which it hands in versions and opens its pages."""

from __future__ import annotations

import contextlib
import re
import secrets
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from referee.arena import config
from referee.errors import UsageError
from referee.handins import roster
from referee.support.csv_text import as_csv, with_mark

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from referee.arena.arena import OpenArena
    from referee.arena.store import ArenaStore

#: The address of a server that is named nowhere else.
URL = "http://127.0.0.1:8300"
#: An address of a server: a name or an IP address, and perhaps a port.
_ADDRESSES = re.compile(r"https?://([\w.-]+|\[[0-9a-fA-F:.]+\])(:\d{1,5})?/*", re.ASCII | re.IGNORECASE)


class Invitation(NamedTuple):
    """A team with its link and its token, which is stored nowhere."""

    team: str
    link: str
    token: str


def invite(arena: OpenArena, path: Path, url: str | None) -> list[Invitation]:
    """Make a token for each team of a roster; its earlier ones stay valid. UsageError names the line that is wrong."""
    rows = roster.load(path, "team", config.LONGEST_TEAM)
    arena.check_names([(f"Line {row.line} of the roster '{path}': the team", row.student) for row in rows])
    invitations = [_invitation(row.student, address(arena.store, url)) for row in rows]
    arena.store.tokens.put((invitation.token, invitation.team) for invitation in invitations)
    return invitations


def invite_staff(store: ArenaStore, url: str | None) -> Invitation:
    """Make the staff's token; the earlier one isn't valid any more."""
    invitation = _invitation("", address(store, url))
    store.tokens.put([(invitation.token, None)])
    return invitation


def revoke(store: ArenaStore, team: str) -> int:
    """Make all tokens of a team invalid; return how many there were. UsageError if it has none."""
    count = store.tokens.revoke(team)
    if not count:
        others = ", ".join(store.tokens.teams()) or "none"
        raise UsageError(f"The team {team} has no token. Teams with a token: {others}.")
    return count


def table(invitations: Sequence[Invitation]) -> str:
    """Return invitations as CSV. No name can become a formula of a spreadsheet."""
    return with_mark(as_csv([Invitation._fields, *invitations]))


def address(store: ArenaStore, url: str | None = None) -> str:
    """Return the address with which links begin: the given one, which is kept for the server, or the last that was given."""
    if url is None:
        return store.season.now.address or URL
    with contextlib.suppress(ValueError):
        # ValueError: the port or the IP address is impossible.
        if _ADDRESSES.fullmatch(url) and urlsplit(url).port != 0:
            store.season.change(address=url.rstrip("/"))
            return url.rstrip("/")
    raise UsageError(f"--url is {url!r:.80}, but must be the address of the server, such as https://arena.example.org.")


def _invitation(team: str, url: str) -> Invitation:
    # A browser sends no part of an address from # on, so the token is in no log of a server or a proxy.
    # A token that begins with a letter is no number and no formula in a spreadsheet, and no option of a command.
    token = f"t{secrets.token_urlsafe(16)}"
    return Invitation(team, f"{url}/sign-in#{token}", token)
