"""The SDK: what a bot imports.

    from sdk import HunterBot, HunterMove, State

    class MyHunter(HunterBot):
        def hunt(self, state: State) -> HunterMove | None:
            return self.build("vertical") if state.step % 30 == 0 else None

    if __name__ == "__main__":
        MyHunter.main()

When a referee runs the bot, importing this module redirects stdout at once, so that the output of ``print`` goes to the bot's log.
Anywhere else the import changes nothing.
"""

from sdk import _guard, _sources

if _guard.is_under_referee():
    _guard.guard()
if not _sources.are_preferred():
    _sources.prefer()

from sdk._bot import Bot, TimeLeft
from sdk.evasion import (
    COUNTER_DIAGONAL,
    DIAGONAL,
    HORIZONTAL,
    VERTICAL,
    Body,
    Build,
    BuildCheck,
    HunterBot,
    HunterMove,
    PreyBot,
    PreyMove,
    Region,
    Settings,
    State,
    Wall,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sdk.maze import PolicemanBot as PolicemanBot
    from sdk.maze import ThiefBot as ThiefBot
    from sdk.rectangle import RectangleBot as RectangleBot


#: The base classes of other games are imported on first use: each bot plays only one game.
_HOMES = {"PolicemanBot": "maze", "RectangleBot": "rectangle", "ThiefBot": "maze"}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'sdk' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"sdk.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


__all__ = [
    "COUNTER_DIAGONAL",
    "DIAGONAL",
    "HORIZONTAL",
    "VERTICAL",
    "Body",
    "Bot",
    "Build",
    "BuildCheck",
    "HunterBot",
    "HunterMove",
    "PolicemanBot",
    "PreyBot",
    "PreyMove",
    "RectangleBot",
    "Region",
    "Settings",
    "State",
    "ThiefBot",
    "TimeLeft",
    "Wall",
]
