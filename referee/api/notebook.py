"""Matches and replays as the output of a notebook cell.

A notebook holds the viewer once: the output of one cell has it, and sends it to the frames of the other outputs. This module knows which
outputs have it. A cell that is run again loses its old output, so the next output that is shown has the viewer in its place.
"""

from __future__ import annotations

import html
import sys
from typing import TYPE_CHECKING, Any

from referee.errors import ReplayError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: The cells of this kernel whose outputs hold the viewer.
_holders: set[str] = set()


def shown_replay(path: Path, parts: int = 1) -> str:
    """Return the viewer with a replay in it as HTML, or a sentence that says why it can't be shown.

    ``parts`` is the number of replays in the output, which has a limit for its size.
    """
    from referee.export.html import framed

    cell = _running_cell()
    has_viewer = cell is None or not _holders
    try:
        text = framed(path, parts, has_viewer=has_viewer)
    except (OSError, ReplayError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return f"<p>The replay {html.escape(str(path))} can't be shown: {html.escape(why)}</p>"
    if cell is not None and has_viewer and text.endswith("</iframe>"):
        _holders.add(cell)
    return text


def _running_cell() -> str | None:
    """Return the name of the cell that is running; None outside a notebook, where nothing is known about other outputs."""
    shell = _shell()
    if shell is None:
        return None
    if _begin not in shell.events.callbacks["pre_run_cell"]:
        shell.events.register("pre_run_cell", _begin)
    return _name(shell.get_parent())


def _begin(_info: object = None) -> None:
    """Forget the outputs that are gone when a cell begins: its own, and those of deleted cells."""
    shell = _shell()
    if shell is not None:
        request = shell.get_parent()
        _holders.discard(_name(request))
        _holders.difference_update(request.get("metadata", {}).get("deletedCells", ()))


def _name(request: dict[str, Any]) -> str:
    """Return the identifier of the cell of a request, or its text where the notebook's program doesn't send one, as nbconvert."""
    return str(request.get("metadata", {}).get("cellId") or request.get("content", {}).get("code", ""))


def _shell() -> Any:
    """Return IPython's shell if this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell if getattr(shell, "kernel", None) is not None else None


def shown_match(text: str, path: Path) -> str:
    """Return a match as HTML: a sentence for its result, and its replay."""
    return f"<p>{html.escape(text)}</p>{shown_replay(path)}"


def shown_duel(text: str, games: Sequence[tuple[str, str, Path]]) -> str:
    """Return a duel as HTML: a sentence, and both games, each with its title, its sentence and its replay. Only the first one is unfolded."""
    parts = [f"<p>{html.escape(text)}</p>"]
    for title, said, path in games:
        unfolded = " open" if len(parts) == 1 else ""
        parts.append(f"<details{unfolded}><summary>{html.escape(f'{title}: {said}')}</summary>{shown_replay(path, len(games))}</details>")
    return "".join(parts)
