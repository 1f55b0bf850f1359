"""Downloads of a class as files and folders, each hand-in with a bot that plays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leagues import IDLE

if TYPE_CHECKING:
    from pathlib import Path


def laid_out(folder: Path, *names: str) -> Path:
    """Make a download: folders for names that end in a slash, else files."""
    for name in names:
        path = folder / f"{name}bot.py" if name.endswith("/") else folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(IDLE)
    return folder
