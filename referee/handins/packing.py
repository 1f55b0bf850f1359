"""Packs the files of a bot for a server, without facts about this machine."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING

from referee.errors import UsageError
from referee.isolation import contents
from referee.isolation.submission import MOST_BYTES

if TYPE_CHECKING:
    from pathlib import Path


def packed(bot: Path) -> tuple[str, bytes]:
    """Return what is sent of a bot, with its name: a file or an archive as it is, a folder as an archive of the files that belong to it."""
    if not bot.exists():
        raise UsageError(f"There is no file or folder {bot}; name the bot's file, its folder or an archive of it.")
    try:
        if not bot.is_dir():
            if not bot.is_file():
                raise UsageError(f"{bot} is a device or a pipe; name the bot's file, its folder or an archive of it.")
            if bot.stat().st_size > MOST_BYTES:
                raise UsageError(f"{bot} has more than {MOST_BYTES >> 20} MiB; hand in only the bot's own files.")
            return bot.name, bot.read_bytes()
        packed, entries = io.BytesIO(), contents.entries(str(bot), bot.name)
        if all(entry.kind == contents.FOLDER for entry in entries.values()):
            raise UsageError(f"{bot} has no file that belongs to a bot; name the bot's own folder.")
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            for path, entry in entries.items():
                if entry.kind not in (contents.FILE, contents.EXECUTABLE, contents.FOLDER):
                    raise UsageError(f"{bot} contains {path}, which is a link or another special file. Replace it with a copy.")
                archive.add(bot / path, path, recursive=False, filter=_anonymous)
    except OSError as error:
        raise UsageError(f"{error.filename or bot} can't be read: {error.strerror or error}.") from None
    return f"{bot.absolute().name}.tar.gz", packed.getvalue()


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Remove the owner of a file on this machine."""
    return entry.replace(uid=0, gid=0, uname="", gname="", deep=False)
