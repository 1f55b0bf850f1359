"""Pictures of the positions of a replay: one step, or the end."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import UsageError
from referee.export.remarks import Remarks, captioned
from referee.replay.reader import verify

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from referee.games.picture import Picture
    from referee.replay.reader import Replay

#: The number of past steps that a picture shows as trails.
TRAIL = 200


class _StepReached(Exception):
    """Stops the verification when the requested step is reached."""


class Positions(NamedTuple):
    """Positions of a replay, with what pictures show besides. ``replay`` is None if a step was asked for and reached before the end."""

    states: list[Any]
    remarks: Remarks
    replay: Replay | None


def positions(path: Path, step: int | None = None, most: int | None = TRAIL + 1) -> Positions:
    """Return the last ``most`` positions up to a step (None: up to the end, or to the first error)."""
    states: deque[Any] = deque(maxlen=most)
    remarks = Remarks()

    def take(found: Any) -> None:
        if not states:
            states.append(found.before)
        if step is not None and found.record["turn"] >= step:
            raise _StepReached
        states.append(found.after)
        remarks.take(found.record)

    try:
        replay = verify(path, take)
    except _StepReached:
        return Positions(list(states), remarks, None)
    return Positions(list(states) or [replay.final], remarks, replay)


def still(game: Any, head: Mapping[str, Any], states: Sequence[Any], remarks: Remarks, position: int) -> Picture:
    """Return a picture of the last of these positions, with remarks on the board, and the players' names and the result below."""
    if game.picture is None:
        raise UsageError(f"There are no pictures of {game.info.name}.")
    picture = captioned(game.picture.draw(states), game, states[-1], head["players"])
    return remarks.onto(picture, game.picture, states[-1], position, is_end=game.outcome(states[-1]) is not None)


def drawn(picture: Picture, size: int) -> bytes:
    """Return a picture as PNG, ``size`` pixels wide."""
    from referee.export import raster

    return raster.png(picture, size, f"{' against '.join(name for _, name, _ in picture.names)}: {picture.caption}")
