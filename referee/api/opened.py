"""``referee.open_replay``: with the name of its game, type checkers know the positions of a replay."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from referee.api.replays import Replay
from referee.errors import UsageError

if TYPE_CHECKING:
    from referee.games.evasion.state import State as EvasionState
    from referee.games.maze.state import State as MazeState
    from referee.games.rectangle.state import State as RectangleState


@overload
def open_replay(path: str | os.PathLike[str], game: Literal["evasion"]) -> Replay[EvasionState]: ...


@overload
def open_replay(path: str | os.PathLike[str], game: Literal["rectangle"]) -> Replay[RectangleState]: ...


@overload
def open_replay(path: str | os.PathLike[str], game: Literal["maze"]) -> Replay[MazeState]: ...


@overload
def open_replay(path: str | os.PathLike[str], game: str | None = None) -> Replay[Any]: ...


def open_replay(path: str | os.PathLike[str], game: str | None = None) -> Replay[Any]:
    """Open a replay. With the name of its game, type checkers know the type of its positions.

    Raises ReplayError if the file is not a replay that this referee can read, and UsageError if ``path`` is not a path or the replay is
    one of another game.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise UsageError(f"open_replay takes the path of a replay, not {path!r:.60}; a result has its replay: result.open_replay()")
    return Replay(Path(path), game)
