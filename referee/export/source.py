"""The file that a user names: the replay in it, which may be in an exported page, and the file to write."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.errors import ReplayCut, ReplayError, UsageError
from referee.replay.paths import SUFFIX, why_unreadable
from referee.replay.reader import open_game, read_head, read_lines
from referee.support.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def replay_in(file: Path) -> Iterator[Path]:
    """Yield the path of the replay: the file itself, or a temporary copy of the replay in an exported page."""
    from referee.web.page import held_replay

    try:
        held = held_replay(file) if file.is_file() else None
    except OSError as error:
        raise ReplayError(f"{file} can't be read: {why_unreadable(error, file)}") from None
    if held is None:
        yield file
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{file.stem}{SUFFIX}"
        path.write_bytes(held)
        yield path


def open_shown(path: Path, file: Path) -> tuple[Any, dict[str, Any]]:
    """Return the game and the head of a replay. Raises ReplayError if the file is not a replay that can be shown."""
    try:
        head, _ = read_head(file, read_lines(path))
    except ReplayCut as error:
        raise ReplayError(f"{str(error).rstrip('.')} before its first line ends: there is nothing to show.") from None
    return open_game(file, head)[0], head


def write_result(place: Path, data: bytes) -> None:
    """Write a file as a whole, so that no reader sees a partial one. Follow a link; write directly to a device or a pipe."""
    shown = str(place)
    if place.is_dir():
        raise UsageError(f"--out is {shown}, a folder; name the file.")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        # Keep a link and replace its target; a link among the devices stands for what is open there.
        leads = place.is_symlink() and not str(place).startswith(("/dev/", "/proc/"))
        write_whole(os.path.realpath(place) if leads else place, data)
    except (OSError, ValueError) as error:
        raise UsageError(f"{shown} can't be written: {getattr(error, 'strerror', None) or error}; name another place with --out.") from None
