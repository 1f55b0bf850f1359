"""Packs the files of a team, so that a worker on another machine can run them."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import PlayerError
from referee.isolation.submission import MOST_BYTES
from referee.wire.escape import escape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import Seat
    from referee.league.values import Team

#: The folder in a package for files that lie outside the team's home.
_OUTSIDE = "elsewhere"
#: All that is packed is as old as this, so that the same files make the same package.
_TIME = 0


class Package(NamedTuple):
    """The files of a team as a compressed archive, and its players with paths that begin in the unpacked folder."""

    name: str
    hash: str
    players: Mapping[Seat, str]
    data: bytes


def pack(team: Team) -> Package:
    """Pack a team's files. PlayerError for files that can't be read, or that are too large for a submission."""
    home = Path(team.home or ".").resolve()
    buffer = io.BytesIO()
    packed: dict[str, str] = {}
    try:
        with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=6) as archive:
            players = {seat: _rewritten(text, home, archive, packed) for seat, text in team.players.items()}
    except OSError as error:
        name = escape(str(error.filename or "a file"), 200)
        raise PlayerError(f"The team {escape(team.name, 60)} can't be sent to other machines: {name} can't be read.") from None
    if len(buffer.getvalue()) > MOST_BYTES:
        raise PlayerError(
            f"The team {escape(team.name, 60)} has more than {MOST_BYTES >> 20} MiB of files, even compressed: too much for a submission."
        )
    return Package(team.name, team.hash, players, buffer.getvalue())


def unpack(package: Package, folder: Path) -> Path:
    """Unpack into a folder of its own below ``folder``, once; return it."""
    home = folder / (package.hash or "team")
    if not home.is_dir():
        part = home.with_name(f"{home.name}.{os.getpid()}.part")
        part.mkdir(parents=True, exist_ok=True)
        with tarfile.open(fileobj=io.BytesIO(package.data)) as archive:
            archive.extractall(part, filter="data")
        with contextlib.suppress(OSError):
            # Another worker of this machine may have been first.
            part.rename(home)
    return home


def _rewritten(text: str, home: Path, archive: tarfile.TarFile, packed: dict[str, str]) -> str:
    """Add the files that a player names to the archive; return the player with their new paths."""
    prefix, colon, rest = text.partition(":")
    if colon and prefix.isidentifier() and not (home / text).exists():
        return f"{prefix}: {_rewritten(rest.strip(), home, archive, packed)}"
    if (home / text).exists():
        return shlex.quote(_add(home / text, home, archive, packed)) if " " not in text else _add(home / text, home, archive, packed)
    try:
        words = shlex.split(text)
    except ValueError:
        return text
    if len(words) == 1:
        return text
    own = words[0] if "/" in words[0] and (home / words[0]).is_relative_to(home) else ""
    named = [word if word == words[0] != own or not (home / word).exists() else _add(home / word, home, archive, packed) for word in words]
    return shlex.join(named)


def _add(path: Path, home: Path, archive: tarfile.TarFile, packed: dict[str, str]) -> str:
    """Add a file or folder; return its path in the archive."""
    whole = Path(os.path.normpath(path.absolute()))
    is_inside = whole.is_relative_to(home) and whole != home
    place = str(whole.relative_to(home)) if is_inside else f"{_OUTSIDE}/{len(packed)}/{whole.name}"
    if str(whole) not in packed:
        packed[str(whole)] = place
        archive.add(whole, arcname=place, filter=_plain)
    return f"./{packed[str(whole)]}"


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Keep files, folders and links; forget owners and times."""
    if not (entry.isfile() or entry.isdir() or entry.issym()) or "__pycache__" in entry.name.split("/"):
        return None
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = _TIME
    return entry
