"""A replay as one self-contained page that makes no requests, and as the output of a notebook cell."""

from __future__ import annotations

import base64
import contextlib
import gzip
import html
import shlex
from typing import TYPE_CHECKING

from referee.pages import page
from referee.pages.commands import commands_of
from referee.replay.paths import log_path
from referee.replay.replay_index import JUDGING_SECONDS, ReplayIndex
from referee.support.files import open_regular

if TYPE_CHECKING:
    from pathlib import Path

    from referee.games.game import Json

#: The most bytes of one bot's log, and of a replay, in a page.
_LOG_BYTES = 1 << 20
MOST_BYTES = 64 << 20
_FRAME_HEIGHT = 860
#: The most bytes of an output of a notebook. Jupyter's server drops one of more than 3 MB (``iopub_data_rate_limit``). The viewer takes
#: half a MiB.
MOST_FRAMED_BYTES = 2 << 20
#: The most processor time for the verdicts of a page in a notebook, in seconds. Ordinary replays need a tenth of it.
_FRAMED_JUDGING_SECONDS = 2.0


def single_page(path: Path, named: Path | None = None, judging_seconds: float = JUDGING_SECONDS) -> str:
    """The viewer with a replay in it, what the referee found when it played it again, and the bots' logs.

    ``named`` is the file that the user knows, if the replay was taken out of it; logs are looked for beside it. ``judging_seconds`` is the
    most processor time for verdicts.
    """
    config = _config(path, named or path, ReplayIndex.of(path, judging_seconds))
    with open_regular(path) as file:
        return page.generated(page.single(config, file.read()), "referee export")


def _config(path: Path, named: Path, recorded: ReplayIndex) -> dict[str, Json]:
    """The configuration of the viewer for a replay, with its logs."""
    logs = {}
    for seat in recorded.head.get("players", {}):
        log = log_path(named, seat)
        # The user has named the replay, but not this file.
        with contextlib.suppress(OSError, ValueError), open_regular(log, log.parent) as file:
            logs[seat] = base64.b64encode(gzip.compress(file.read(_LOG_BYTES), mtime=0)).decode()
    config: dict[str, Json] = {"mode": "export", "name": named.name, "server": False, **recorded.findings(), "logs": logs}
    if recorded.head and named == path:
        config["commands"] = commands_of(named, recorded.head, is_here=False)
    return config


def framed(path: Path, parts: int = 1) -> str:
    """Return a replay for a notebook: its page in a sandboxed frame that may only run its own scripts.

    A notebook keeps the page of every output, so its size is limited; ``parts`` is the number of such pages in the output. Instead of a
    page that is too large, a sentence names the command that shows it. OSError if the file can't be read.
    """
    most_bytes = MOST_FRAMED_BYTES // parts
    text = html.escape(single_page(path, judging_seconds=_FRAMED_JUDGING_SECONDS), quote=True) if path.stat().st_size < most_bytes else ""
    if not text or len(text) > most_bytes:
        command = f"<code>referee watch {html.escape(shlex.quote(str(path)))}</code>"
        return f"<p>The page of the replay is too large for a notebook. To look at it: {command}</p>"
    title = html.escape(f"Replay {path.name}", quote=True)
    style = f"width:100%;height:{_FRAME_HEIGHT}px;border:0"
    return f'<iframe title="{title}" sandbox="allow-scripts" style="{style}" srcdoc="{text}"></iframe>'
