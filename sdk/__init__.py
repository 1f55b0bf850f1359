"""The SDK: what a bot imports.

A first bot::

    from sdk import HunterBot, HunterMove, State

    class MyHunter(HunterBot):
        def hunt(self, state: State) -> HunterMove | None:
            return self.build("vertical") if state.step % 30 == 0 else None

    if __name__ == "__main__":
        MyHunter.main()

When a referee runs the bot, importing this module redirects stdout at once, so that the output of ``print`` goes to the bot's log.
Anywhere else the import changes nothing.
"""

import sys
from typing import TYPE_CHECKING

from sdk import _guard

if _guard.is_under_referee():
    _guard.guard()

from sdk.bot import Bot, TimeLeft

if TYPE_CHECKING:
    from sdk.evasion import COUNTER_DIAGONAL as COUNTER_DIAGONAL
    from sdk.evasion import DIAGONAL as DIAGONAL
    from sdk.evasion import HORIZONTAL as HORIZONTAL
    from sdk.evasion import VERTICAL as VERTICAL
    from sdk.evasion import Body as Body
    from sdk.evasion import Build as Build
    from sdk.evasion import BuildCheck as BuildCheck
    from sdk.evasion import HunterBot as HunterBot
    from sdk.evasion import HunterMove as HunterMove
    from sdk.evasion import PreyBot as PreyBot
    from sdk.evasion import PreyMove as PreyMove
    from sdk.evasion import Region as Region
    from sdk.evasion import Settings as Settings
    from sdk.evasion import State as State
    from sdk.evasion import Wall as Wall
    from sdk.maze import PolicemanBot as PolicemanBot
    from sdk.maze import ThiefBot as ThiefBot
    from sdk.rectangle import RectangleBot as RectangleBot


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

#: The games are imported on first use: each bot plays only one, and pays for its imports at its start. All other names are Evasion's.
_HOMES = {"PolicemanBot": "maze", "RectangleBot": "rectangle", "ThiefBot": "maze"}


def __getattr__(name: str) -> object:
    if name != "evasion" and name not in __all__:
        raise AttributeError(f"module 'sdk' has no attribute {name!r}")
    # The module importlib takes long to import.
    home = f"sdk.{_HOMES.get(name, 'evasion')}"
    __import__(home)
    module = sys.modules[home]
    globals()[name] = value = module if name == "evasion" else getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
