"""Packs the files of a team, so that a worker on another machine can run them."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import os
import re
import shlex
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import PlayerError
from referee.isolation import contents, runtime
from referee.isolation.submission import MOST_BYTES, is_ignored

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import Json, Seat
    from referee.tournament.values import Team

#: The folder in a package for files that lie outside the team's home.
_OUTSIDE = "elsewhere"


class Package(NamedTuple):
    """The files of a team as a compressed archive, and its players with paths that begin in the unpacked folder.

    ``hash`` is that of the archive: the same files at the same places make the same package.
    """

    name: str
    hash: str
    players: Mapping[Seat, str]
    data: bytes


def pack(team: Team) -> Package:
    """Pack a team's files. PlayerError for files that can't be read, or that are too large for a bot."""
    home = Path(os.path.normpath(Path(team.home or ".").absolute()))
    buffer = io.BytesIO()
    try:
        # The time of packing would change the hash.
        with gzip.GzipFile("", "wb", 6, buffer, mtime=0) as stream, tarfile.open(fileobj=stream, mode="w") as archive:
            packer = _Packer(home, archive)
            players = {seat: packer.rewritten(text) for seat, text in team.players.items()}
    except OSError as error:
        name = str(error.filename or "a file")
        raise PlayerError(
            f"The team {team.name} can't be sent to other machines: {name} can't be read ({error.strerror or error})."
        ) from None
    except PlayerError as error:
        raise PlayerError(f"The team {team.name} can't be sent to other machines: {error}") from None
    data = buffer.getvalue()
    if len(data) > MOST_BYTES:
        raise PlayerError(f"The team {team.name} has more than {MOST_BYTES >> 20} MiB of files, even compressed: too much for a bot.")
    return Package(team.name, hashlib.sha256(data).hexdigest(), players, data)


def unpack(package: Package, folder: Path) -> Path:
    """Unpack into a folder of its own below ``folder``, once; return it."""
    home = folder / package.hash
    if not home.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix="part-", dir=folder))
        # Older versions of Python 3.10 and 3.11 have no filters. The coordinator makes the archive, so it can be trusted.
        options: dict[str, Json] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        try:
            with tarfile.open(fileobj=io.BytesIO(package.data)) as archive:
                archive.extractall(part, **options)  # noqa: S202 - as said
            with contextlib.suppress(OSError):
                # Another worker of this machine may have been first.
                part.rename(home)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return home


class _Packer:
    """Adds the files that players name to an archive. Files in ``home`` keep their places."""

    def __init__(self, home: Path, archive: tarfile.TarFile) -> None:
        self._home = home
        self._archive = archive
        self._packed: dict[Path, str] = {}
        self._outside = _OUTSIDE
        while (home / self._outside).exists():
            self._outside += "_"

    def rewritten(self, text: str) -> str:
        """Return a player with the paths that its files have in the archive. The forms are those of ``players.names.resolve``."""
        text = text.strip()
        prefix, colon, rest = text.partition(":")
        if colon and re.fullmatch(r"\w+\s*", prefix) and not self._found(text):
            return f"{prefix.strip()}: {self._words(rest.strip(), is_dialect=True)}"
        return self._words(text)

    def _words(self, text: str, *, is_dialect: bool = False) -> str:
        if (path := self._found(text)) is not None:
            return self._add(path)
        try:
            words = shlex.split(text)
        except ValueError:
            return text
        if len(words) == 1:
            # An example bot, or a file behind quotes.
            path = self._found(words[0])
            return text if path is None else self._add(path)
        first = self._found(words[0]) if "/" in words[0] or is_dialect else None
        # The interpreters of this machine aren't sent. Each worker needs its own.
        is_own = first is not None and not runtime.is_one(str(first))
        return shlex.join([self._add(first) if first is not None and is_own else words[0], *map(self._word, words[1:])])

    def _word(self, word: str) -> str:
        """Return an argument with the places of the files in it: a path, ``--option=path`` or a search path."""
        option, equals, rest = word.partition("=")
        parts = (rest if equals else word).split(os.pathsep)
        paths = [self._found(part) for part in parts]
        if any(path is None for path in paths):
            return word
        return (option + equals if equals else "") + os.pathsep.join(self._add(path) for path in paths if path is not None)

    def _found(self, text: str) -> Path | None:
        """Return the file or folder that a text names, or None."""
        try:
            path = self._home / Path(text).expanduser() if text else None
            return path if path is not None and path.exists() else None
        except (ValueError, RuntimeError, OSError):
            # It has a null character, is too long, or names the home of an unknown user.
            return None

    def _add(self, path: Path) -> str:
        """Add a file or folder; return its path in the archive."""
        whole = Path(os.path.normpath(path))
        if whole not in self._packed:
            is_inside = whole.is_relative_to(self._home) and whole != self._home
            place = str(whole.relative_to(self._home)) if is_inside else f"{self._outside}/{len(self._packed)}/{whole.name or 'root'}"
            self._packed[whole] = place
            # A link that a player names is followed. Its target keeps the link's name.
            source = whole.resolve()
            self._archive.add(source, arcname=place, filter=lambda entry: _plain(entry, source, place))
        return f"./{self._packed[whole]}"


def _plain(entry: tarfile.TarInfo, source: Path, place: str) -> tarfile.TarInfo | None:
    """Keep files, folders and links that stay inside; forget owners and times. PlayerError for a link that leads out."""
    below = Path(entry.name).relative_to(place)
    if not (entry.isfile() or entry.isdir() or entry.issym() or entry.islnk()) or any(map(is_ignored, below.parts)):
        return None
    if entry.issym():
        link = source / below
        real = link.resolve()
        where = f"the link '{below}' points to '{entry.linkname}'"
        if not real.is_relative_to(source):
            raise PlayerError(f"{where}, outside its folder; put a copy there.")
        if not real.exists():
            raise PlayerError(f"{where}, which does not exist; remove it.")
        entry.linkname = contents.link_text(str(source), str(link))
    # Of the permissions only this one counts, as in the bot's hash.
    entry.mode = 0o755 if entry.isdir() or entry.mode & 0o111 else 0o644
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 0
    return entry
