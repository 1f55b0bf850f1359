"""A replay as one self-contained page that makes no requests, and as the output of a notebook cell."""

from __future__ import annotations

import base64
import gzip
import html
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


def single_page(path: Path, named: Path | None = None) -> str:
    """The viewer with a replay in it, what the referee found when it played it again, and the bots' logs.

    ``named`` is the file that the user knows, if the replay was taken out of it; logs are looked for beside it.
    """
    named = named or path
    recorded = ReplayIndex()
    verdict = recorded.play(path, read_lines(path))
    recorded.compute_verdicts()
    logs = {}
    for seat in recorded.head.get("players", {}):
        log = log_path(named, seat)
        if log.is_file():
            with log.open("rb") as file:
                logs[seat] = base64.b64encode(gzip.compress(file.read(_LOG_BYTES), mtime=0)).decode()
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
    """Return a replay for a notebook: the page in a sandboxed frame that may only run its own scripts."""
    text = html.escape(single_page(path), quote=True)
    title = html.escape(f"Replay {path.name}", quote=True)
    return f'<iframe title="{title}" sandbox="allow-scripts" style="width:100%;height:{_FRAME_HEIGHT}px;border:0" srcdoc="{text}"></iframe>'
