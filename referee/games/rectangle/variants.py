"""The settings of Rectangle: three presets, and what each setting may be.

Source: rules of Rectangle, "Parameters".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games import values
from referee.games.game import SettingsError
from referee.games.rectangle.options import OPTIONS, SHARING
from referee.games.rectangle.state import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import Json

#: Size, players and robots of each preset, which is this game's rule set.
PRESETS = {"small": (12, 2, 2), "middle": (30, 2, 5), "large": (40, 4, 6)}


def settings(rules: str | None, overrides: Mapping[str, object]) -> Settings:
    """The settings of a preset (None: ``small``) with some of them changed. The stagnation limit follows the size unless it is given.

    Raises SettingsError, naming the setting and what is allowed.
    """
    rules = "small" if rules is None else rules
    values.refuse_rules("Rectangle has no preset", rules, PRESETS)
    values.refuse_unknown("Rectangle has", (option.name for option in OPTIONS), overrides)
    players = overrides.get("players")
    if values.is_whole(players) and not 2 <= players <= 26:
        raise SettingsError(
            f"Rectangle is for 2 to 26 players, but there {'is' if players == 1 else 'are'} {values.said(players)}; name as many bots."
        )
    n, seats, robots = PRESETS[rules]
    fields: dict[str, Json] = {"rules": rules, "n": n, "players": seats, "robots": robots, "cap": 0, "sharing": SHARING[0]}
    fields |= values.checked(OPTIONS, overrides)
    fields.setdefault("stagnation", 4 * fields["n"])
    return Settings(**fields)
