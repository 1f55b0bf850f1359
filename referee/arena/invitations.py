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

#: The default address of a server.
URL = "http://127.0.0.1:8300"
#: An address of a server: a name or an IP address, and perhaps a port.
_ADDRESSES = re.compile(r"https?://([\w.-]+|\[[0-9a-fA-F:.]+\])(:\d{1,5})?/*", re.ASCII | re.IGNORECASE)


class Invitation(NamedTuple):
    """A team with its link and its token, of which only a hash is stored."""

    team: str
    link: str
    token: str


def invite(arena: OpenArena, path: Path, url: str | None) -> list[Invitation]:
    """Make a token for each team of a roster. Earlier ones stay valid. UsageError names the wrong line."""
    rows = roster.load(path, "team", config.LONGEST_TEAM)
    arena.check_names([(f"Line {row.line} of the roster '{path}': the team", row.student) for row in rows])
    invitations = [_invitation(row.student, address(arena.store, url)) for row in rows]
    arena.store.tokens.put((invitation.token, invitation.team) for invitation in invitations)
    return invitations


def invite_staff(store: ArenaStore, url: str | None) -> Invitation:
    """Make the staff's token, which replaces the earlier one."""
    invitation = _invitation("", address(store, url))
    store.tokens.put([(invitation.token, None)])
    return invitation


def revoke(store: ArenaStore, team: str) -> int:
    """Revoke all tokens of a team; return their number. UsageError if the team has none."""
    count = store.tokens.revoke(team)
    if not count:
        others = ", ".join(store.tokens.teams()) or "none"
        raise UsageError(f"The team {team} has no token. Teams with a token: {others}.")
    return count


def table(invitations: Sequence[Invitation]) -> str:
    """Return invitations as CSV. No name can become a formula of a spreadsheet."""
    return with_mark(as_csv([Invitation._fields, *invitations]))


def address(store: ArenaStore, url: str | None = None) -> str:
    """Return the address with which links begin: ``url``, which is stored for the server, or else the stored one."""
    if url is None:
        return store.season.now.address or URL
    with contextlib.suppress(ValueError):
        # ValueError: the port or the IP address is impossible.
        if _ADDRESSES.fullmatch(url) and urlsplit(url).port != 0:
            store.season.change(address=url.rstrip("/"))
            return url.rstrip("/")
    raise UsageError(f"--url is {url!r:.80}, but must be the address of the server, such as https://arena.example.org.")


def _invitation(team: str, url: str) -> Invitation:
    # A browser doesn't send the part of an address after #, so no log of a server or a proxy contains the token.
    # A token begins with a letter, so that neither a spreadsheet nor a command line misreads it as a number, formula or option.
    token = f"t{secrets.token_urlsafe(16)}"
    return Invitation(team, f"{url}/sign-in#{token}", token)
