"""A replay as one self-contained page that makes no requests, and as the output of a notebook cell."""

from __future__ import annotations

import base64
import contextlib
import gzip
import html
import shlex
from pathlib import Path
from typing import Any

from referee.export import svg
from referee.export.remarks import captioned
from referee.replay.paths import log_path
from referee.replay.reader import read_lines
from referee.support.files import open_regular
from referee.web import page
from referee.web.commands import commands_of
from referee.web.replay_session import ReplayIndex

#: The most bytes of one bot's log, and of a replay, in a page.
_LOG_BYTES = 1 << 20
MOST_BYTES = 64 << 20
_FRAME_HEIGHT = 860
#: The width in pixels of the picture that such a frame shows without the viewer.
_PICTURE_WIDTH = 480
#: What a frame says until it shows the viewer.
_NO_SCRIPT = "The viewer appears here where a page may run scripts. To look at the match:"
_NO_VIEWER = (
    "The viewer is in another output of this notebook and appears here, too, once that output is shown. If that output is gone, restart the "
    "kernel and run this cell again. To look at the match:"
)
#: The most bytes of an output of a notebook. The viewer itself takes a tenth of them. Jupyter's server drops an output of more than 3 MB
#: (``iopub_data_rate_limit``).
MOST_FRAMED_BYTES = 2 << 20
#: Budgets of processor time for the verdicts and the metrics of such a page, in seconds. Ordinary replays need a tenth of them.
MEASURING_SECONDS, JUDGING_SECONDS = 0.5, 2.0
#: The most bytes of each log in such a page, tried in this order, with the sentence about it.
_SHORTER = (
    (_LOG_BYTES, ""),
    (64 << 10, "To keep the notebook small, only the first 64 KiB of each bot's log are in this page."),
    (0, "To keep the notebook small, the bots' logs are not in this page."),
)


def single_page(path: Path, named: Path | None = None) -> str:
    """The viewer with a replay in it, what the referee found when it played it again, and the bots' logs.

    ``named`` is the file that the user knows, if the replay was taken out of it; logs are looked for beside it.
    """
    config = _config(path, named or path, _played_again(path, ReplayIndex()), _LOG_BYTES)
    with open_regular(path) as file:
        return page.generated(page.single(config, file.read()), "referee export")


def _played_again(path: Path, recorded: ReplayIndex, below: Path | None = None) -> ReplayIndex:
    recorded.play(path, read_lines(path, below=below))
    recorded.compute_verdicts()
    return recorded


def findings(path: Path, below: Path | None = None) -> dict[str, Any]:
    """Return what the viewer shows of a replay besides its steps: whether it is correct, the metrics and the verdicts of its positions.

    ``below`` is as for ``open_regular``.
    """
    return _findings(_played_again(path, ReplayIndex(), below))


def _findings(recorded: ReplayIndex) -> dict[str, Any]:
    return {"check": recorded.verdict, "metrics": recorded.metrics, "judged": recorded.judged}


def _config(path: Path, named: Path, recorded: ReplayIndex, log_bytes: int) -> dict[str, Any]:
    """The configuration of the viewer for a replay, with the first ``log_bytes`` of each log."""
    logs = {}
    for seat in recorded.head.get("players", {}):
        log = log_path(named, seat)
        if log_bytes:
            # The user has named the replay, but not this file.
            with contextlib.suppress(OSError, ValueError), open_regular(log, log.parent) as file:
                logs[seat] = base64.b64encode(gzip.compress(file.read(log_bytes), mtime=0)).decode()
    config: dict[str, Any] = {"mode": "export", "name": named.name, "server": False, **_findings(recorded), "logs": logs}
    if recorded.head and named == path:
        config["commands"] = commands_of(named, recorded.head, is_here=False)
    return config


def framed(path: Path, parts: int = 1, *, has_viewer: bool = True) -> str:
    """Return a replay for a notebook: the page in a sandboxed frame that may only run its own scripts.

    Only a frame with ``has_viewer`` holds the viewer; the others get it from such a frame, and show a picture of the last position until
    then. A notebook keeps the page of every output, so its size is limited: a page that is too large has shorter logs or none, and a
    replay that is too large for a page is not shown: then the text has no frame. ``parts`` is the number of such pages in the output. A
    cell should not keep its user waiting, so the work on verdicts is limited, too. Sentences above the frame say what is missing. OSError
    if the file can't be read.
    """
    size, most_bytes = path.stat().st_size, MOST_FRAMED_BYTES // parts
    command = f"<code>referee watch {html.escape(shlex.quote(str(path)))}</code>"
    # Base64 takes four characters for three bytes.
    if size * 4 > most_bytes * 3:
        return f"<p>The replay has {size / 2**20:.1f} MiB, which is too much for a notebook. To look at it: {command}</p>"
    recorded = _played_again(path, ReplayIndex(MEASURING_SECONDS, JUDGING_SECONDS))
    shown = f"<p>{_NO_SCRIPT if has_viewer else _NO_VIEWER} {command}</p>{_picture(recorded)}"
    text, note = _small_page(path, recorded, most_bytes, shown, has_viewer=has_viewer)
    if len(text) > most_bytes:
        return f"<p>The page of the replay has {len(text) / 2**20:.1f} MiB, which is too much for a notebook. To look at it: {command}</p>"
    missing = [html.escape(left_out) for left_out in recorded.left_out] + [note for _ in range(bool(note))]
    told = f"<p>{' '.join(missing)} To see everything: {command}</p>" if missing else ""
    title = html.escape(f"Replay {path.name}", quote=True)
    style = f"width:100%;height:{_FRAME_HEIGHT}px;border:0"
    return f'{told}<iframe title="{title}" sandbox="allow-scripts" style="{style}" srcdoc="{text}"></iframe>'


def _picture(recorded: ReplayIndex) -> str:
    """Return an image of the last position of a replay; an empty text if its game has no pictures."""
    if recorded.latest is None or recorded.game is None or recorded.game.picture is None:
        return ""
    picture = captioned(recorded.game.picture.draw([recorded.latest]), recorded.game, recorded.latest, recorded.head["players"])
    drawn = base64.b64encode(svg.render(picture, _PICTURE_WIDTH, picture.caption).encode()).decode()
    return f'<img alt="{html.escape(picture.caption, quote=True)}" src="data:image/svg+xml;base64,{drawn}">'


def _small_page(path: Path, recorded: ReplayIndex, most_bytes: int, shown: str, *, has_viewer: bool) -> tuple[str, str]:
    """Return the page of a replay, escaped for an attribute, with as much of the logs as the limit allows, and a sentence about the rest."""
    with open_regular(path) as file:
        replay = file.read()
    loader = Path(__file__).with_name("frame.js").read_text(encoding="utf-8")
    found = "", ""
    for log_bytes, note in _SHORTER:
        config = _config(path, path, recorded, log_bytes)
        found = html.escape(page.framed(loader, config, replay, shown, has_viewer=has_viewer), quote=True), note
        if len(found[0]) <= most_bytes:
            break
    return found
