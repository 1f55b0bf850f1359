"""A replay as one self-contained page that makes no requests, and as the output of a notebook cell."""

from __future__ import annotations

import base64
import gzip
import html
import shlex
from typing import TYPE_CHECKING, Any

from referee.replay.paths import log_path
from referee.replay.reader import read_lines
from referee.web import page
from referee.web.replay_session import ReplayIndex

if TYPE_CHECKING:
    from pathlib import Path

#: The most bytes of one bot's log, and of a replay, in a page.
_LOG_BYTES = 1 << 20
MOST_BYTES = 64 << 20
_FRAME_HEIGHT = 860
#: The most bytes of a replay's page in a notebook. The viewer itself takes a tenth of them.
MOST_FRAMED_BYTES = 2 << 20
#: The most bytes of each log in such a page, tried in this order, with the sentence about it.
_SHORTER = (
    (_LOG_BYTES, ""),
    (64 << 10, "To keep the notebook small, only the first 64 KiB of each bot's log are in this page."),
    (0, "To keep the notebook small, the bots' logs are not in this page."),
)


def single_page(path: Path, named: Path | None = None, *, log_bytes: int = _LOG_BYTES) -> str:
    """The viewer with a replay in it, what the referee found when it played it again, and the bots' logs.

    ``named`` is the file that the user knows, if the replay was taken out of it; logs are looked for beside it. Of each log the page has
    the first ``log_bytes``.
    """
    named = named or path
    recorded = ReplayIndex()
    verdict = recorded.play(path, read_lines(path))
    recorded.compute_verdicts()
    logs = {}
    for seat in recorded.head.get("players", {}):
        log = log_path(named, seat)
        if log_bytes and log.is_file():
            with log.open("rb") as file:
                logs[seat] = base64.b64encode(gzip.compress(file.read(log_bytes), mtime=0)).decode()
    config: dict[str, Any] = {
        "mode": "export",
        "name": named.name,
        "server": False,
        "check": verdict,
        "metrics": recorded.metrics,
        "judged": recorded.judged,
        "logs": logs,
    }
    return page.single(config, path.read_bytes())


def framed(path: Path) -> str:
    """Return a replay for a notebook: the page in a sandboxed frame that may only run its own scripts.

    A notebook keeps the page of every output, so its size is limited: a page that is too large has shorter logs or none, and a replay
    that is too large for a page is not shown. A sentence above the frame says what is missing. OSError if the file can't be read.
    """
    size = path.stat().st_size
    command = f"<code>referee watch {html.escape(shlex.quote(str(path)))}</code>"
    # Base64 takes four characters for three bytes.
    if size * 4 > MOST_FRAMED_BYTES * 3:
        return f"<p>The replay has {size / 2**20:.1f} MiB, which is too much for a notebook. To look at it: {command}</p>"
    text, note = _small_page(path)
    if len(text) > MOST_FRAMED_BYTES:
        return f"<p>The page of the replay has {len(text) / 2**20:.1f} MiB, which is too much for a notebook. To look at it: {command}</p>"
    title = html.escape(f"Replay {path.name}", quote=True)
    style = f"width:100%;height:{_FRAME_HEIGHT}px;border:0"
    told = f"<p>{note} To see the whole logs: {command}</p>" if note else ""
    return f'{told}<iframe title="{title}" sandbox="allow-scripts" style="{style}" srcdoc="{text}"></iframe>'


def _small_page(path: Path) -> tuple[str, str]:
    """Return the page of a replay, escaped for an attribute, with as much of the logs as the limit allows, and a sentence about the rest."""
    found = "", ""
    for log_bytes, note in _SHORTER:
        found = html.escape(single_page(path, log_bytes=log_bytes), quote=True), note
        if len(found[0]) <= MOST_FRAMED_BYTES:
            break
    return found
