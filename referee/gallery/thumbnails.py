"""Small pictures of the last position of replays, as SVG. Each is drawn when a page asks for it, and kept in memory."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Any

from referee.errors import ReplayCut, ReplayError
from referee.export import svg
from referee.replay.reader import open_game, play_again, read_head, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.gallery.listing import Found
    from referee.replay.reader import Step

#: The width of a picture in pixels, and the number of past steps that it shows as trails.
SIZE = 320
_TRAIL = 500
#: Stands for a picture that there is not.
NO_PICTURE = f'<svg xmlns="http://www.w3.org/2000/svg" width="{SIZE}" height="{SIZE}"/>'
#: How much larger marks are than in a large picture.
_BOLD = 2.5
#: How long one picture may take, in seconds of processor time; a longer replay shows the position that was reached by then.
_SECONDS = 2.0
#: The most bytes of all kept pictures, and of one.
_MOST_BYTES = 24 << 20
_MOST_PICTURE = 400_000


class _TakesTooLong(Exception):
    """Stops a replay that takes too long."""


class Thumbnails:
    """The pictures of many replays. ``get`` is called by one thread at a time."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, int], str] = OrderedDict()
        self._bytes = 0

    def get(self, file: Found) -> str | None:
        """Return the picture of a replay as SVG; None if there is none."""
        key = (str(file.path), file.modified)
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            return found
        made = draw(file)
        if made is not None and len(made) <= _MOST_PICTURE:
            self._keep(key, made)
        return made

    def _keep(self, key: tuple[str, int], made: str) -> None:
        self._kept[key] = made
        self._bytes += len(made)
        while self._bytes > _MOST_BYTES:
            self._bytes -= len(self._kept.popitem(last=False)[1])


def draw(file: Found) -> str | None:
    """Return the picture of the last position of a replay that can be played again, as far as it was written; None if there is none."""
    states: deque[Any] = deque(maxlen=_TRAIL + 1)
    end = time.thread_time() + _SECONDS

    def take(step: Step) -> None:
        if not states:
            states.append(step.before)
        states.append(step.after)
        if time.thread_time() > end:
            raise _TakesTooLong

    try:
        head, _ = read_head(file.path, _lines(file))
        view = open_game(file.path, head)[0].picture
        replay = play_again(file.path, _lines(file), take)
        if not states:
            states.append(replay.final)
    except _TakesTooLong:
        pass
    except ReplayCut:
        # The match is being played, or it was stopped.
        if not states:
            return None
    except (ReplayError, OSError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError):
        # The list says what is wrong with the file.
        return None
    return None if view is None else svg.render(view.draw(list(states)), SIZE, "The last position", is_captioned=False, bold=_BOLD)


def _lines(file: Found) -> Iterator[bytes]:
    return read_lines(file.path, below=file.below)
