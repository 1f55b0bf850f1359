"""Packs the files of teams, so that a worker on another machine can run them."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from referee.errors import PlayerError
from referee.isolation import contents
from referee.isolation.file_names import FileNames
from referee.isolation.submission import is_ignored
from referee.players.names import resolve
from referee.tournament.worker import inside

if TYPE_CHECKING:
    from collections.abc import Iterable

    from referee.handins.values import Entry


def pack(teams: Iterable[Entry], game: str) -> tuple[list[Entry], bytes]:
    """Return the files that belong to the teams' programs as a compressed archive, and the teams with paths that begin in their homes.

    In the archive the files have the paths of this machine. PlayerError names a team whose files can't be read or sent.
    """
    buffer, packed, moved = io.BytesIO(), set(), []
    with gzip.GzipFile("", "wb", 6, buffer) as stream, tarfile.open(fileobj=stream, mode="w") as archive:
        for team in teams:
            home = Path(team.home).resolve()
            players = {}
            try:
                for seat, text in team.players.items():
                    player = os.path.expanduser(text)  # noqa: PTH111 - it may be a command line
                    names = {}
                    with inside(team.home):
                        bot = resolve(player, seat, game)
                    for source in (Path(piece.source) for piece in bot.files):
                        # A link that a player names is followed. Its target keeps the link's name.
                        place = source.parent.resolve() / source.name
                        names[str(source)] = f"./{os.path.relpath(place, home)}"
                        if place not in packed:
                            packed.add(place)
                            _add(archive, source.resolve(), place)
                    players[seat] = FileNames(tuple(names.items())).named(player)
            except (OSError, PlayerError) as error:
                why = f"{error.filename} can't be read ({error.strerror})." if isinstance(error, OSError) else error
                raise PlayerError(f"The team {team.name} can't be sent to other machines: {why}") from None
            moved.append(team._replace(players=players, home=str(home)))
    return moved, buffer.getvalue()


def _add(archive: tarfile.TarFile, source: Path, place: Path) -> None:
    """Add a file, or the files, folders and links of a folder. PlayerError for a link that leads out of the folder."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        below = Path("/", entry.name).relative_to(place)
        if not (entry.isreg() or entry.isdir() or entry.issym() or entry.islnk()) or any(map(is_ignored, below.parts)):
            return None
        if entry.issym():
            link = source / below
            if not (link.exists() and link.resolve().is_relative_to(source)):
                raise PlayerError(f"the link '{below}' points to '{entry.linkname}', which isn't a file in its folder; put a copy there.")
            entry.linkname = contents.link_text(str(source), str(link))
        # Only this permission counts, as in the bot's hash.
        mode = 0o755 if entry.isdir() or entry.mode & 0o111 else 0o644
        return entry.replace(mode=mode, mtime=0, uid=0, gid=0, uname="", gname="", deep=False)

    archive.add(source, str(place), filter=plain)


def unpack(teams: Iterable[Entry], archive: bytes, folder: Path) -> dict[str, Entry]:
    """Unpack what ``pack`` returns; return the teams by name, with their homes in ``folder``."""
    moved = {team.name: team._replace(home=f"{folder}{team.home}") for team in teams}
    for team in moved.values():
        Path(team.home).mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        # Older versions of Python 3.10 and 3.11 have no filters. The coordinator makes the archive, so it can be trusted.
        files.extraction_filter = getattr(tarfile, "data_filter", None)
        files.extractall(folder)  # noqa: S202 - as said
    return moved
