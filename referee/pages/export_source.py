"""What an export is made of: the replay in the file that a user names, perhaps in an exported page, and the steps that are shown."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from referee.errors import ReplayCut, ReplayError, UsageError
from referee.replay.paths import SUFFIX, why_unreadable
from referee.replay.reader import RecordedMatch, read_head, read_lines, verify
from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from referee.games.game import Json

#: The most frames of a GIF if nobody says which steps it shows.
MOST_FRAMES = 240
#: The most pixels of all frames of a GIF together: all frames are in memory at once.
_MOST_PIXELS = 500_000_000


@contextlib.contextmanager
def replay_in(file: Path) -> Iterator[Path]:
    """Yield the path of the replay: the file itself, or a temporary copy of the replay in an exported page."""
    from referee.pages.page import held_replay

    try:
        held = held_replay(file) if file.is_file() else None
    except OSError as error:
        raise ReplayError(f"{file} can't be read: {why_unreadable(error, file)}") from None
    if held is None:
        yield file
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{file.stem}{SUFFIX}"
        path.write_bytes(held)
        yield path


def head_of(path: Path, file: Path) -> dict[str, Json]:
    """Return the head of a replay. Raises ReplayError if the file is not a replay that can be shown."""
    try:
        head, _ = read_head(file, read_lines(path))
    except ReplayCut as error:
        raise ReplayError(f"{str(error).rstrip('.')} before its first line ends: there is nothing to show.") from None
    RecordedMatch.of(file, head)
    return head


def html_page(path: Path, file: Path) -> bytes:
    """Return the viewer with a replay in it, as one page. UsageError if the replay is too large for that. ``file`` is what the user named."""
    from referee.pages import standalone

    size, most = path.stat().st_size, standalone.MOST_BYTES
    if size > most:
        raise UsageError(
            f"{file} has {size >> 20} MiB, more than the {most >> 20} MiB that a page in one file should hold; watch it from its file: referee watch."
        )
    return standalone.single_page(path, file).encode()


def good_steps(path: Path, file: Path, tell: Callable[[str], None]) -> int:
    """Return the number of steps of a replay up to the first error, which ``tell`` gets as a sentence."""
    replay = verify(path)
    if replay.problem is not None:
        tell(f"{file}: {replay.problem.text.rstrip('.')}; the good steps are shown.")
    return replay.turns


def within(name: str, step: int | None, default: int, most: int) -> int:
    """Return the value of an option that names a step, ``default`` for none. UsageError if the replay doesn't have the step."""
    if step is not None and step > most:
        raise UsageError(f"{name} is {step}, but the replay has {counted(most, 'step')}.")
    return default if step is None else step


def frames(steps: int, first: int | None, last: int | None, every: int | None, size: int) -> list[int]:
    """Return the positions that a GIF shows. UsageError if the replay doesn't have them, or if they are too many."""
    begin, end = within("--from", first, 0, steps), within("--to", last, steps, steps)
    if begin > end:
        raise UsageError(f"--from is {begin}, but --to is {end}; the first step must come first.")
    stride = every or max(1, -(-(end - begin) // (MOST_FRAMES - 1)))
    turns = [*range(begin, end, stride), end]
    if len(turns) * size * size > _MOST_PIXELS:
        raise UsageError(
            f"{len(turns):,} pictures of {size} pixels are too much for one file; name a larger --every, a smaller --size, or --from and --to."
        )
    return turns


def kind_of(flags: Mapping[str, bool], out: Path | None) -> str:
    """Return the form to write, by the flags or else by the name of the file. Raises UsageError if they don't choose one."""
    kinds = [kind for kind, is_wanted in flags.items() if is_wanted]
    ending = "" if out is None else out.suffix[1:].lower()
    if len(kinds) == 1 and (ending == kinds[0] or ending not in flags):
        return kinds[0]
    if not kinds and ending in flags:
        return ending
    name = str(out)
    if len(kinds) == 1:
        raise UsageError(f"--out is '{name}', but --{kinds[0]} writes a .{kinds[0]} file.")
    if out is not None and not kinds:
        raise UsageError(f"--out is '{name}', but must end in .html, .png or .gif; or choose the output, as in --png.")
    raise UsageError("Choose one output: --html, --png or --gif, or give --out a name that ends in .html, .png or .gif.")
