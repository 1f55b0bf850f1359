"""Matches and replays as the output of a notebook cell: a sentence, and the exported page in a frame."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from referee.errors import ReplayError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def shown_match(text: str, path: Path) -> str:
    """Return a match as HTML: a sentence for its result, and its replay in the viewer."""
    return f"<p>{html.escape(text)}</p>{_viewer(path, 1)}"


def shown_duel(text: str, games: Sequence[tuple[str, str, Path]]) -> str:
    """Return a duel as HTML: a sentence, and both games, each with its title, its sentence and its replay. Only the first one is unfolded."""
    parts = [f"<p>{html.escape(text)}</p>"]
    for title, said, path in games:
        unfolded = " open" if len(parts) == 1 else ""
        parts.append(f"<details{unfolded}><summary>{html.escape(f'{title}: {said}')}</summary>{_viewer(path, len(games))}</details>")
    return "".join(parts)


def _viewer(path: Path, parts: int) -> str:
    """Return a replay in the viewer, one of ``parts`` in its output, or a sentence that says why it can't be shown."""
    from referee.pages.standalone import framed

    try:
        return framed(path, parts)
    except (OSError, ReplayError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return f"<p>The replay {html.escape(str(path))} can't be shown: {html.escape(why)}</p>"
