"""Pictures of games as arrays, through the same drawing as the exports of replays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.error import ClosedEnvironmentError, DependencyNotInstalled, ResetNeeded

from referee.games.evasion import picture
from referee.support.packages import install_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from referee.games.evasion.batch import Batch
    from referee.games.evasion.state import State

RENDER_MODES = ("rgb_array",)
#: The number of positions in a trail.
TRAIL = 60
#: The width of a picture in pixels.
WIDTH = 300


def checked_mode(mode: str | None) -> str | None:
    """Return a render mode. Raises ValueError for an unknown one, DependencyNotInstalled if the package that draws is missing."""
    if mode not in (None, *RENDER_MODES):
        raise ValueError(f"there is no render_mode {mode!r:.40}; there is {', '.join(RENDER_MODES)}")
    if mode is not None:
        try:
            import PIL  # noqa: F401 - only whether it is there
        except ImportError:
            raise DependencyNotInstalled(f"render_mode='rgb_array' needs Pillow; install it: {install_command('pillow')}") from None
    return mode


def drawn(states: Sequence[State]) -> NDArray[np.uint8]:
    """Return the picture of the last position, with the trails through the earlier ones: (rows, columns, 3), red, green and blue."""
    from referee.export.raster import image

    pixels: Any = image(picture.draw(states), WIDTH)
    return np.asarray(pixels, np.uint8)


class DrawnGame:
    """What environments of one game share: the picture of the game, with the trails of both players, and the end of the environment."""

    render_mode: str | None

    def __init__(self, render_mode: str | None) -> None:
        self.render_mode = checked_mode(render_mode)
        #: The latest positions of the game that is drawn, the newest last.
        self.trail: list[State] = []
        self._is_closed = False

    def _follow(self, batch: Batch) -> None:
        """Note the position of the game, if it is drawn."""
        if self.render_mode is not None:
            self.trail = [*self.trail[1 - TRAIL :], batch.state(0)]

    def render(self) -> NDArray[np.uint8] | None:
        """Return a picture of the game with the trails of both players, or None without a render mode."""
        self._refuse_closed()
        if self.render_mode is None:
            return None
        if not self.trail:
            raise ResetNeeded("the first call must be reset()")
        return drawn(self.trail)

    def close(self) -> None:
        """End the environment."""
        self._is_closed = True

    def _refuse_closed(self) -> None:
        if self._is_closed:
            raise ClosedEnvironmentError("the environment is closed; make another one")
