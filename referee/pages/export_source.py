"""The file that a user names: the replay in it, which may be in an exported page."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from referee.errors import ReplayCut, ReplayError
from referee.replay.paths import SUFFIX, why_unreadable
from referee.replay.reader import RecordedMatch, read_head, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.games.game import Json


@contextlib.contextmanager
def replay_in(file: Path) -> Iterator[Path]:
    """Yield the path of the replay: the file itself, or a temporary copy of the replay in an exported page."""
    from referee.pages.page import held_replay

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


def head_of(path: Path, file: Path) -> dict[str, Json]:
    """Return the head of a replay. Raises ReplayError if the file is not a replay that can be shown."""
    try:
        head, _ = read_head(file, read_lines(path))
    except ReplayCut as error:
        raise ReplayError(f"{str(error).rstrip('.')} before its first line ends: there is nothing to show.") from None
    RecordedMatch.of(file, head)
    return head
