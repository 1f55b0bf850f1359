"""The rule sets of Evasion: each is a tuple of stages and default settings, nothing more."""

from __future__ import annotations

from referee.games.evasion import turns, view, view_turns
from referee.games.evasion.analysis import is_captured, is_within
from referee.games.evasion.bounce import by_kind, by_neighbours, by_turning
from referee.games.evasion.rules import count_step, hunter_moves, prey_moves, remove_walls, test_capture, wall_builds
from referee.games.evasion.state import Settings
from referee.games.evasion.turns import count_turn, hunter_commands, hunter_flies, prey_commands
from referee.games.evasion.walls import HORIZONTAL, KINDS, VERTICAL, Walls
from referee.games.game import SettingsError
from referee.support.record import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from referee.games.evasion.analysis import Cell
    from referee.games.evasion.rules import Bounce, Stage
    from referee.games.evasion.walls import Wall


class RuleSet(NamedTuple):
    """One rule set: how players bounce, the kinds of wall, its default settings, and the stages of a step in order.

    ``names`` are its settings; ``form`` is the module that speaks its JSON; ``captures`` tells whether two players are caught at the
    start; ``y_is_up`` how it is drawn; ``unit`` what a score counts, and ``per_unit`` how many steps that is.
    """

    bounce: Bounce
    kinds: tuple[str, ...]
    defaults: Settings
    stages: tuple[Stage, ...]
    names: tuple[str, ...]
    form: Any
    captures: Callable[[Walls, int, Cell, Cell], bool]
    y_is_up: bool
    unit: str = "step"
    per_unit: int = 1


_COMMON = ("width", "height", "hunter", "prey", "cooldown", "max_walls", "capture_radius", "adjudicate_after")


def _standard(rules: str) -> Settings:
    return Settings(
        rules=rules,
        width=300,
        height=300,
        hunter=(0, 0, 1, 1),
        prey=(230, 200),
        cooldown=20,
        max_walls=10,
        capture_radius=4,
        prey_period=2,
        max_steps=10_000,
    )


def _stepwise(rules: str, bounce: Bounce, kinds: tuple[str, ...]) -> RuleSet:
    """A rule set played one time step at a time (S1)."""
    stages = (remove_walls, hunter_moves(bounce), wall_builds(kinds), prey_moves(bounce), test_capture, count_step)
    names = (*_COMMON, "prey_period", "max_steps")
    return RuleSet(bounce, kinds, _standard(rules), stages, names, view, is_captured, y_is_up=True)


def _turnwise(rules: str) -> RuleSet:
    """The rule set of the 2010 server, played turn by turn (S2)."""
    stages = (hunter_commands, hunter_flies, prey_commands, turns.test_capture, count_turn)
    defaults = _standard(rules)._replace(width=500, height=500, prey=(330, 200), cooldown=25, max_walls=6, prey_period=1, prey_cooldown=1)
    names = (*_COMMON, "prey_cooldown", "max_steps")
    return RuleSet(
        by_turning, (HORIZONTAL, VERTICAL), defaults, stages, names, view_turns, is_within, y_is_up=False, unit="round", per_unit=2
    )


RULE_SETS: dict[str, RuleSet] = {
    "classic": _stepwise("classic", by_kind, (HORIZONTAL, VERTICAL)),
    "diagonal": _stepwise("diagonal", by_neighbours, KINDS),
    "gameserver": _turnwise("gameserver"),
}

#: The least and the greatest value of each plain number.
LIMITS = {
    "width": (1, 10_000),
    "height": (1, 10_000),
    "cooldown": (0, 1_000_000),
    "max_walls": (0, 1_000),
    "capture_radius": (0, 10_000),
    "prey_period": (1, 1_000_000),
    "max_steps": (1, 1_000_000),
    "prey_cooldown": (0, 1_000_000),
    "adjudicate_after": (0, 1_000_000),
}


def settings(rules: str | None, given: Mapping[str, object], standing: Sequence[Wall] = ()) -> Settings:
    """The settings of a rule set (None: ``classic``) with some of them changed; ``standing`` are walls of a position that is set up.

    Raises SettingsError, naming the setting and what is allowed.
    """
    rules = "classic" if rules is None else rules
    if rules not in RULE_SETS:
        raise SettingsError(f"Evasion has no rule set {rules!r}; there are {_listed(RULE_SETS)}.")
    names = RULE_SETS[rules].names
    for name in given:
        if name not in names:
            from difflib import get_close_matches

            near = get_close_matches(str(name), names, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {_listed(names)}."
            where = f"the rule set {rules} has" if name in Settings._fields else "Evasion has"
            raise SettingsError(f"{where} no setting {name!r}; {hint}")
    numbers: dict[str, Any] = {name: _number(name, given[name]) for name in LIMITS if name in given}
    bodies: dict[str, Any] = {}
    for name, parts in (("hunter", ("x", "y", "dx", "dy")), ("prey", ("x", "y"))):
        if name in given:
            bodies[name] = _numbers(name, given[name], parts)
    found = RULE_SETS[rules].defaults._replace(**numbers, **bodies)
    _check_start(found, _checked(standing, found))
    return found


def _listed(names: object) -> str:
    return ", ".join(names)  # type: ignore[arg-type]


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(name: str, value: object) -> int:
    least, most = LIMITS[name]
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise SettingsError(f"{name} is {_said(value)}, but must be a whole number from {least} to {most:,}.")
    return value


def _numbers(name: str, value: object, parts: tuple[str, ...]) -> tuple[int, ...]:
    if not isinstance(value, (list, tuple)) or len(value) != len(parts) or not all(map(_is_whole, value)):
        raise SettingsError(f"{name} is {_said(value)}, but must be {len(parts)} whole numbers: {', '.join(parts)}.")
    return tuple(value)


def _check_start(found: Settings, walls: Walls) -> None:
    """Refuse starts from which no game can be played."""
    x, y, dx, dy = found.hunter
    size = f"{found.width} x {found.height}"
    for name, (at_x, at_y) in (("hunter", (x, y)), ("prey", found.prey)):
        if not (0 <= at_x < found.width and 0 <= at_y < found.height):
            raise SettingsError(
                f"{name} starts at ({_short(at_x)}, {_short(at_y)}), off the {size} board; x must be from 0 to {found.width - 1}, y from 0 to {found.height - 1}."
            )
    if abs(dx) != 1 or abs(dy) != 1:
        raise SettingsError(f"hunter heads ({_short(dx)}, {_short(dy)}), but must head diagonally: dx and dy each 1 or -1.")
    for name, place in (("hunter", (x, y)), ("prey", found.prey)):
        if not walls.is_free(*place):
            raise SettingsError(f"{name} starts at {place}, where a wall stands.")
    if RULE_SETS[found.rules].captures(walls, found.capture_radius, (x, y), found.prey):
        raise SettingsError(
            f"hunter at ({x}, {y}) has caught the prey at ({found.prey[0]}, {found.prey[1]}) before the first step; "
            f"start them more than {found.capture_radius} apart."
        )


def _checked(standing: Sequence[Wall], found: Settings) -> Walls:
    """Walls of a position, each on the board and on no other."""
    walls = Walls(found.width, found.height)
    for place, wall in enumerate(standing):
        ends = (wall.x1, wall.y1), (wall.x2, wall.y2)
        if not all(_is_whole(x) and _is_whole(y) and 0 <= x < found.width and 0 <= y < found.height for x, y in ends):
            raise SettingsError(f"wall {place} leaves the {found.width} x {found.height} board.")
        cells = list(wall.cells())
        if not {*ends} <= {*cells} or wall.kind not in RULE_SETS[found.rules].kinds:
            raise SettingsError(f"wall {place} is no wall of the rule set {found.rules}: its ends don't fit its kind.")
        if not all(walls.is_free(*cell) for cell in cells):
            raise SettingsError(f"wall {place} crosses another wall or leaves the board.")
        walls = walls.adding(wall)
    return walls


def _said(value: object) -> str:
    """A wrong value for a sentence; a number may have thousands of digits."""
    try:
        return f"{value!r:.60}"
    except (ValueError, RecursionError):
        return "a huge value"


def _short(number: int) -> str:
    return str(number) if abs(number) < 10**9 else "a huge number"
