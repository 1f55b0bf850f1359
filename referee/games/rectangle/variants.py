"""The settings of Rectangle: three presets, and what each setting may be.

Source: rules of Rectangle, "Parameters".
"""

from __future__ import annotations

from referee.games.game import SettingsError
from referee.games.rectangle.state import Settings
from referee.support.record import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

#: Size, players and robots of each preset, which is this game's rule set.
PRESETS = {"small": (12, 2, 2), "middle": (30, 2, 5), "large": (40, 4, 6)}
SHARING = ("2002", "2003")
LIMITS = {"n": (3, 200), "players": (2, 26), "robots": (1, 100), "stagnation": (1, 1_000_000), "cap": (0, 1_000_000)}


def settings(rules: str | None, given: Mapping[str, object]) -> Settings:
    """The settings of a preset (None: ``small``) with some of them changed. The stagnation limit follows the size unless it is given.

    Raises SettingsError, naming the setting and what is allowed.
    """
    rules = "small" if rules is None else rules
    if rules not in PRESETS:
        raise SettingsError(f"Rectangle has no preset {rules!r:.60}; there are {', '.join(PRESETS)}.")
    for name in given:
        if name not in (*LIMITS, "sharing"):
            from difflib import get_close_matches

            near = get_close_matches(str(name), (*LIMITS, "sharing"), n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join((*LIMITS, 'sharing'))}."
            raise SettingsError(f"Rectangle has no setting {name!r:.60}; {hint}")
    n, players, robots = PRESETS[rules]
    found: dict[str, Any] = {"n": n, "players": players, "robots": robots, "cap": 0}
    for name, (least, most) in LIMITS.items():
        if name in given:
            value = given[name]
            if name == "players" and type(value) is int and not least <= value <= most:
                raise SettingsError(
                    f"Rectangle is for {least} to {most} players, but there {'is' if value == 1 else 'are'} {_said(value)}; name as many bots."
                )
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                raise SettingsError(f"{name} is {_said(value)}, but must be a whole number from {least} to {most:,}.")
            found[name] = value
    sharing = given.get("sharing", SHARING[0])
    if sharing not in SHARING:
        raise SettingsError(f'sharing is {_said(sharing)}, but must be "2002" or "2003".')
    found.setdefault("stagnation", 4 * found["n"])
    return Settings(rules=rules, sharing=str(sharing), **found)


def _said(value: object) -> str:
    """A wrong value for a sentence; a number may have thousands of digits."""
    try:
        return f"{value!r:.60}"
    except (ValueError, RecursionError):
        return "a huge value"
