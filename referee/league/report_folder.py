"""The report of a league in its folder: ``report.html``, and ``viewer.html`` with a script for each replay that it can show.

A page that is opened from its file can't read other files, but it can load scripts. So ``pages/`` has a copy of each replay, in
base64, in a script that passes it to the viewer. The copies take 4/3 of the bytes of the replays; there is one copy of the viewer.
"""

from __future__ import annotations

import base64
import json
import os
import re
from typing import TYPE_CHECKING, NamedTuple

from referee.league import report
from referee.replay.paths import SUFFIX
from referee.support.files import open_regular, write_whole
from referee.web import page

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

REPORT, VIEWER, PAGES = "report.html", "viewer.html", "pages"
#: The most bytes of all scripts in ``pages`` together, and of one replay in them.
MOST_BYTES = 2 << 30
_MOST_REPLAY = 64 << 20
#: The paths that ``loader.js`` accepts.
_KEY = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)*", re.ASCII)


class Written(NamedTuple):
    """What was written: the report, the number of matches that its viewer shows, and the number of matches that have only a command."""

    path: Path
    shown: int
    left_out: int


def write(data: report.ReportData, folder: Path, most_bytes: int = MOST_BYTES, out: Path | None = None) -> Written:
    """Write the report into the league's folder, or into ``out``. OSError if that fails; a report that was there before is then still whole.

    Replays that have their script already are not read again, unless they are newer. When the scripts together reach ``most_bytes``,
    the other matches get the command that shows them. Pass 0 to write the report alone.
    """
    wanted = [match.replay for duel in data.duels for match in duel.matches if match.replay]
    place = folder if out is None else out
    place.mkdir(parents=True, exist_ok=True)
    shown = write_pages(wanted, folder, most_bytes, place)
    path = place / REPORT
    write_whole(path, report.html(data, shown).encode())
    return Written(path, len(shown), len(set(wanted)) - len(shown))


def write_pages(replays: Iterable[str], folder: Path, most_bytes: int = MOST_BYTES, out: Path | None = None) -> set[str]:
    """Write the viewer into a folder, or into ``out``, with the scripts of replays. Return the replays that it can show.

    The paths of the replays are relative to the folder.
    """
    place = folder if out is None else out
    shown: set[str] = set()
    left = most_bytes
    for replay in replays:
        size = _hand_over(replay, folder, place / PAGES, left) if left > 0 else None
        if size is not None:
            shown.add(replay)
            left -= size
    if shown:
        write_whole(place / VIEWER, page.waiting(report.script("loader.js"), "pages").encode())
    return shown


def unreadable(data: report.ReportData, folder: Path) -> int:
    """How many replays of a league's matches are missing or can't be read."""
    wanted = {match.replay for duel in data.duels for match in duel.matches if match.replay}
    return sum(not ((folder / replay).is_file() and os.access(folder / replay, os.R_OK)) for replay in wanted)


def _hand_over(replay: str, folder: Path, pages: Path, left: int) -> int | None:
    """Write the script of a replay into ``pages`` unless it is there; return its size. None if the replay can't be shown."""
    key = replay.removesuffix(SUFFIX)
    if key == replay or _KEY.fullmatch(key) is None:
        return None
    place = pages / f"{key}.js"
    try:
        with open_regular(folder / replay, folder) as file:
            facts = os.fstat(file.fileno())
            if facts.st_size > _MOST_REPLAY or facts.st_size * 4 // 3 > left:
                return None
            there = place.stat() if place.exists() else None
            if there is not None and there.st_mtime_ns >= facts.st_mtime_ns:
                return there.st_size
            packed = base64.b64encode(file.read(_MOST_REPLAY)).decode()
    except OSError:
        return None
    text = f'replay({json.dumps(key)},"{packed}");\n'.encode()
    place.parent.mkdir(parents=True, exist_ok=True)
    write_whole(place, text)
    return len(text)
