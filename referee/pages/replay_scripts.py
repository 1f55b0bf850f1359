"""The viewer beside a report in a folder: ``viewer.html``, with a script for each replay that it can show.

A page that is opened from its file can't read other files, but it can load scripts. So ``pages/`` has a copy of each replay, in
base64, in a script that passes it to the viewer. The copies take 4/3 of the bytes of the replays; there is one copy of the viewer.
"""

from __future__ import annotations

import base64
import json
import multiprocessing
import os
import re
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.pages import page
from referee.replay.paths import SUFFIX
from referee.replay.replay_index import ReplayIndex
from referee.support.files import open_regular, remove_parts, write_whole
from referee.support.processes import cores

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    Progress = Callable[[int, int], None]

REPORT, VIEWER, PAGES = "report.html", "viewer.html", "pages"
#: The most bytes of all scripts in ``pages`` together, and of one replay in them.
MOST_BYTES = 2 << 30
_MOST_REPLAY = 64 << 20
#: How a script begins, and how one ends that has what was found in its replay.
_CALL, _FOUND = "replay(", b"});\n"
#: Another process is worth its start for this number of scripts.
_FOR_A_WORKER = 8
#: The script that loads a replay into the viewer.
LOADER = Path(__file__).with_name("loader.js")
#: The paths that ``loader.js`` accepts.
_KEY = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)*", re.ASCII)


def write_pages(
    replays: Iterable[str],
    folder: Path,
    most_bytes: int = MOST_BYTES,
    out: Path | None = None,
    *,
    has_findings: bool = False,
    progress: Progress | None = None,
) -> set[str]:
    """Write the viewer into a folder, or into ``out``, with the scripts of replays. Return the replays that it can show.

    The paths of the replays are relative to the folder. With ``has_findings`` the scripts have the verdicts and the metrics, too.
    """
    place = folder if out is None else out
    viewable: set[str] = set()
    due: list[_Script] = []
    left = most_bytes
    for replay in replays:
        candidate = _script(replay, folder, place / PAGES, left, has_findings=has_findings) if left > 0 else None
        if candidate is not None:
            viewable.add(replay)
            left -= candidate.size
            due += [candidate] if candidate.is_due else []
    for number, (script, is_written) in enumerate(_made(due), 1):
        if not is_written:
            viewable.discard(script.replay)
        if progress is not None:
            progress(number, len(due))
    if viewable:
        viewer = page.waiting(LOADER.read_text(encoding="utf-8"), "pages")
        write_whole(place / VIEWER, page.generated(viewer, "referee viewer").encode())
    return viewable


def remove_others(pages: Path, viewable: Container[str]) -> None:
    """Remove scripts of replays that are not shown any more, and parts of scripts. Other files stay."""
    remove_parts(pages.rglob("*.js.*.part"))
    for path in pages.rglob("*.js"):
        replay = path.relative_to(pages).as_posix().removesuffix(".js") + SUFFIX
        if replay not in viewable and path.is_file() and _is_script(path):
            path.unlink()


def _is_script(path: Path) -> bool:
    with open_regular(path) as file:
        return file.read(len(_CALL)) == _CALL.encode()


def is_served(place: Path, path: str) -> bool:
    """Return whether a path in a folder is a file of a report that the command wrote. OSError if it can't be read."""
    if path in (REPORT, VIEWER):
        return True
    key = path.removeprefix(f"{PAGES}/").removesuffix(".js")
    return path == f"{PAGES}/{key}.js" and _KEY.fullmatch(key) is not None and _is_script(place / path)


class _Script(NamedTuple):
    """The script of a replay: the replay's path in its folder, the script's, and its size in bytes, which is an estimate while it is due."""

    replay: str
    folder: Path
    place: Path
    size: int
    is_due: bool
    has_findings: bool


def _script(replay: str, folder: Path, pages: Path, left: int, *, has_findings: bool) -> _Script | None:
    """Return the script of a replay; None if the replay can't be shown."""
    key = replay.removesuffix(SUFFIX)
    if key == replay or _KEY.fullmatch(key) is None:
        return None
    source, place = folder / replay, pages / f"{key}.js"
    try:
        with open_regular(source, folder) as file:
            facts = os.fstat(file.fileno())
        if facts.st_size > _MOST_REPLAY or facts.st_size * 4 // 3 > left:
            return None
        if place.exists() and not _is_script(place):
            return None
        there = place.stat() if place.exists() else None
        if there is not None and there.st_mtime_ns >= facts.st_mtime_ns and (not has_findings or _has_findings(place)):
            return _Script(replay, folder, place, there.st_size, False, has_findings)
    except OSError:
        return None
    return _Script(replay, folder, place, facts.st_size * 4 // 3, True, has_findings)


def _has_findings(place: Path) -> bool:
    """True if a script has what was found in its replay. Those that were written while the league ran don't."""
    with place.open("rb") as file:
        file.seek(-min(len(_FOUND), file.seek(0, os.SEEK_END)), os.SEEK_END)
        return file.read() == _FOUND


def _made(due: list[_Script]) -> Iterator[tuple[_Script, bool]]:
    """Write scripts, on all cores if there are many; yield each with whether it could be made."""
    workers = min(cores(), len(due) // _FOR_A_WORKER)
    if workers < 2 or not due[0].has_findings:
        yield from ((script, _make(script)) for script in due)
        return
    # A fresh process has no thread and no connection of this one.
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from zip(due, pool.map(_make, due, chunksize=2), strict=True)


def _findings(script: _Script) -> str:
    """Return what the viewer is told about a replay, as JSON. The page may be published, so it names no folder of this machine."""
    source = script.folder / script.replay
    verdicts = ReplayIndex.of(source, below=script.folder).findings()
    verdicts["check"]["text"] = verdicts["check"]["text"].replace(str(source), script.replay)
    return json.dumps(verdicts, separators=(",", ":"))


def _make(script: _Script) -> bool:
    """Write the script of a replay. False if the replay can't be read."""
    try:
        with open_regular(script.folder / script.replay, script.folder) as file:
            packed = base64.b64encode(file.read(_MOST_REPLAY)).decode()
    except OSError:
        return False
    findings_text = f",{_findings(script)}" if script.has_findings else ""
    text = f'{_CALL}{json.dumps(script.replay.removesuffix(SUFFIX))},"{packed}"{findings_text});\n'.encode()
    script.place.parent.mkdir(parents=True, exist_ok=True)
    write_whole(script.place, text)
    return True
