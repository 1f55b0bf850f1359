"""Paths of replays and logs."""

import os
from pathlib import Path

#: The suffix of a replay's name.
SUFFIX = ".replay.jsonl.gz"
#: The default folder of replays, below the current folder.
FOLDER = Path("matches/replays")


def reserve(out: str | os.PathLike[str] | None, stem: str) -> Path:
    """A path for a new replay, with its file made: ``out`` is a file, a folder (existing, or ending in a slash) or None.

    A generated name never names an existing file; a file named by the user is replaced. OSError if the file can't be made.
    """
    text = None if out is None else os.fspath(out)
    if text is not None and not text.endswith(os.sep) and not Path(text).is_dir():
        path = Path(text)
        path = path if path.name.endswith(".gz") else path.with_name(path.name + SUFFIX)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()
        return path
    folder = FOLDER if text is None else Path(text)
    folder.mkdir(parents=True, exist_ok=True)
    count = 1
    while True:
        path = folder / (f"{stem}{SUFFIX}" if count == 1 else f"{stem}-{count}{SUFFIX}")
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            count += 1
        else:
            return path


def log_path(replay: Path, seat: str) -> Path:
    """Return the path of a bot's log: in the folder of the replay."""
    stem = replay.name.removesuffix(SUFFIX).removesuffix(".gz")
    return replay.with_name(f"{stem}.{seat}.stderr.log")
