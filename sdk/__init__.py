"""What bot authors import.

    from sdk import HunterBot

    class MyHunter(HunterBot):
        def hunt(self, state):
            if state.step % 30 == 0:
                return self.build("vertical")

    if __name__ == "__main__":
        MyHunter.main()

Under a referee, importing this module moves stdout away from ``print`` at once, so that it lands in the bot's log; imported anywhere
else it touches nothing.
"""

from sdk import _guard

if _guard.is_under_referee():
    _guard.guard()

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


def __getattr__(name: str) -> object:
    """Other games' base classes are imported when they are asked for: each bot plays one."""
    if name == "RectangleBot":
        from sdk.rectangle import RectangleBot

        return RectangleBot
    if name in ("ThiefBot", "PolicemanBot"):
        from sdk import maze

        bot: object = getattr(maze, name)
        return bot
    raise AttributeError(f"module 'sdk' has no attribute {name!r}")


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
