"""Paths of replays and logs."""

from __future__ import annotations

import os
import re
import time
import unicodedata
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from referee.errors import UsageError
from referee.support.escape import quoted
from referee.support.files import open_regular, similar, takes_data
from referee.support.outputs import check_not_input, check_output

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The suffix of a replay's name.
SUFFIX = ".replay.jsonl.gz"
#: The ending of the result of a duel, which lies beside its two replays.
DUEL_SUFFIX = ".duel.json"
#: The default folder of replays, below the current folder.
FOLDER = Path("matches/replays")
#: The most characters of each player's name, and the most bytes of all names, in the name of a replay. A file's name has at most 255 bytes.
_LONGEST_WORD = 24
_MOST_NAMED_BYTES = 180
#: How a replay begins, and how many bytes are read to see it.
_HEAD = re.compile(rb'\s*\{\s*"type"\s*:\s*"head"')
_HEAD_BYTES = 4096
#: The format for zlib: gzip with its header.
_GZIP = 16 + zlib.MAX_WBITS


def reserve(
    out: str | os.PathLike[str] | None,
    players: Sequence[str],
    seats: Sequence[str] = (),
    inputs: Sequence[Path] = (),
    *,
    force: bool = False,
) -> Path:
    """Create the file of a new replay, so that no other match takes it. ``out`` is a file, a folder (existing, or ending in a slash) or None.

    A generated name has the names of the ``players`` and is always new. If the user names a replay or an empty file, it is replaced; with
    ``force``, any file is. So are the logs of ``seats`` beside a replay. No file of ``inputs`` is replaced. UsageError if a file must not be
    replaced or can't be created.
    """
    words = [_file_word(player, _MOST_NAMED_BYTES // max(1, len(players))) for player in players]
    stem = "-".join([time.strftime("%Y%m%d-%H%M%S"), *words])
    try:
        return _made(out, stem, seats, inputs, force=force)
    except (OSError, ValueError) as error:
        where = str(getattr(error, "filename", None) or out or "matches/replays")
        raise UsageError(
            f"The replay can't be written to {where}: {getattr(error, 'strerror', None) or error}; name another place with --out."
        ) from None


def _file_word(player: str, most_bytes: int) -> str:
    """Return a player's name as a part of a file's name: letters of any language, digits and hyphens."""
    text = unicodedata.normalize("NFC", Path(player).stem)
    word = re.sub(r"[\W_]+", "-", text).strip("-")[:_LONGEST_WORD]
    while len(os.fsencode(word)) > most_bytes:
        word = word[:-1]
    return word or "bot"


def _made(out: str | os.PathLike[str] | None, stem: str, seats: Sequence[str], inputs: Sequence[Path], *, force: bool) -> Path:
    text = None if out is None else os.fspath(out)
    if text is not None and not text.endswith(os.sep) and not Path(text).is_dir():
        path = Path(text)
        path = path if path.name.endswith(".gz") else path.with_name(path.name + SUFFIX)
        check_not_input(path, inputs)
        path.parent.mkdir(parents=True, exist_ok=True)
        if takes_data(os.fspath(path)):
            raise OSError(0, "it is not an ordinary file", str(path))
        check_output(path, is_replay, inputs, force=force)
        is_again = is_written(path)
        for seat in seats:
            check_output(log_path(path, seat), lambda _: is_again, inputs, force=force)
        path.open("ab").close()
        return path
    folder = FOLDER if text is None else Path(text)
    check_not_input(folder / f"{stem}{SUFFIX}", inputs)
    folder.mkdir(parents=True, exist_ok=True)
    count = 1
    while True:
        path = folder / (f"{stem}{SUFFIX}" if count == 1 else f"{stem}-{count}{SUFFIX}")
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            count += 1
        else:
            return path


def is_written(path: Path) -> bool:
    """Return whether this file exists and a replay was written to it."""
    try:
        with open_regular(path) as file:
            start = file.read(_HEAD_BYTES)
    except OSError:
        return False
    return bool(start) and is_replay(start)


def is_replay(start: bytes) -> bool:
    """Return whether a file that begins with these bytes is a replay. It may end early or have no content."""
    try:
        text = zlib.decompressobj(_GZIP).decompress(start, _HEAD_BYTES)
    except zlib.error:
        return False
    return not text or _HEAD.match(text) is not None


def why_unreadable(error: Exception, path: Path) -> str:
    """Return why a file that the user named can't be read, as the end of a sentence; for an unknown name with a suggestion."""
    why = getattr(error, "strerror", None) or str(error)
    meant = similar(path) if isinstance(error, FileNotFoundError) else None
    return f"{why}." if meant is None else f"{why}; did you mean {quoted(str(meant), 200)}?"


def content(path: Path, called: str, most_bytes: int) -> bytes:
    """Return the bytes of a file that the user named. ``called`` begins the sentence of the UsageError: "The match file x.toml"."""
    try:
        with open_regular(path) as file:
            data = file.read(most_bytes + 1)
    except (OSError, ValueError) as error:
        raise UsageError(f"{called} can't be read: {why_unreadable(error, path)}") from None
    if len(data) > most_bytes:
        raise UsageError(f"{called} has more than {most_bytes >> 20} MiB, the limit for such a file.")
    return data


def make_folder(folder: Path) -> None:
    """Create the folder for a command's output, if it is missing. UsageError if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"The folder {folder} can't be made: {error.strerror}. Name another one with --out.") from None


def log_path(replay: Path, seat: str) -> Path:
    """Return the path of a bot's log: in the folder of the replay."""
    stem = replay.name.removesuffix(SUFFIX).removesuffix(".gz")
    return replay.with_name(f"{stem}.{seat}.stderr.log")
