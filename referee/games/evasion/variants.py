"""The rule sets of Evasion: each is a tuple of stages with default settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from referee.games import values
from referee.games.evasion.board.bounce import by_kind, by_neighbours, by_turning
from referee.games.evasion.board.regions import is_captured, is_within
from referee.games.evasion.board.wall import HORIZONTAL, KINDS, VERTICAL
from referee.games.evasion.board.walls import Walls
from referee.games.evasion.options import OPTIONS
from referee.games.evasion.rules.stepwise import Draft, count_step, hunter_moves, prey_moves, remove_walls, test_capture, wall_builds
from referee.games.evasion.state import HUNTER, PREY, Settings
from referee.games.game import SettingsError
from referee.games.values import is_whole, short

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol

    from referee.games.evasion.board.regions import Cell
    from referee.games.evasion.board.wall import Kind, Wall
    from referee.games.evasion.codec.turnwise import Move
    from referee.games.evasion.rules.stepwise import Bounce, Stage
    from referee.games.evasion.state import Rules, State
    from referee.games.game import Json, Notice

    class RuleSetCodec(Protocol):
        """The module with the JSON forms of a rule set."""

        def movers(self, state: State) -> tuple[str, ...]:
            """The seats that owe a move."""

        def view_text(self, state: State) -> str:
            """The state as compact JSON."""

        def parse(self, seat: str, answer: Json) -> Move:
            """An answer as a move."""

        def unknown_keys(self, seat: str, answer: Json) -> Sequence[str]:
            """Keys of an answer that mean nothing to the seat."""


class RuleSet(NamedTuple):
    """One rule set: its bounce rule, kinds of wall, default settings, and the stages of a step in order.

    ``names`` are its settings; ``codec`` is the module with its JSON forms; ``captures`` tests whether the prey is caught at the start;
    ``y_is_up`` is true if it is drawn with y upwards; ``unit`` is the unit of a score, and ``steps_per_unit`` its length in steps.
    """

    bounce: Bounce
    kinds: tuple[Kind, ...]
    defaults: Settings
    stages: tuple[Stage, ...]
    names: tuple[str, ...]
    codec: RuleSetCodec
    captures: Callable[[Walls, int, Cell, Cell], bool]
    y_is_up: bool
    unit: str = "step"
    steps_per_unit: int = 1

    @property
    def is_turnwise(self) -> bool:
        """True if hunter and prey take turns, a step each."""
        return self.steps_per_unit > 1


_COMMON = ("width", "height", "hunter", "prey", "cooldown", "max_walls", "capture_radius", "adjudicate_after")
_DEFAULTS: dict[str, Json] = {option.name: option.default for option in OPTIONS if option.default is not None}


def _stepwise(rules: Rules, bounce: Bounce, kinds: tuple[Kind, ...]) -> RuleSet:
    """Return a rule set that is played one time step at a time (S1)."""
    from referee.games.evasion.codec import stepwise

    stages = (remove_walls, hunter_moves(bounce), wall_builds(kinds), prey_moves(bounce), test_capture, count_step)
    names = (*_COMMON, "prey_period", "max_steps")
    return RuleSet(bounce, kinds, Settings(rules, **_DEFAULTS), stages, names, stepwise, is_captured, y_is_up=True)


def _gameserver() -> RuleSet:
    """Return the rule set of the 2010 server, played turn by turn (S2)."""
    from referee.games.evasion.codec import turnwise
    from referee.games.evasion.rules.turnwise import count_turn, hunter_commands, hunter_flies, prey_commands, test_capture

    usual = Settings("gameserver", **_DEFAULTS)._replace(
        width=500, height=500, prey=(330, 200), cooldown=25, max_walls=6, prey_period=1, prey_cooldown=1
    )
    stages = (hunter_commands, hunter_flies, prey_commands, test_capture, count_turn)
    names = (*_COMMON, "prey_cooldown", "max_steps")
    kinds = (HORIZONTAL, VERTICAL)
    return RuleSet(by_turning, kinds, usual, stages, names, turnwise, is_within, y_is_up=False, unit="round", steps_per_unit=2)


_MAKERS: dict[str, Callable[[], RuleSet]] = {
    "classic": lambda: _stepwise("classic", by_kind, (HORIZONTAL, VERTICAL)),
    "diagonal": lambda: _stepwise("diagonal", by_neighbours, KINDS),
    "gameserver": _gameserver,
}
#: The names of all rule sets.
NAMES = tuple(_MAKERS)


class _Loaded(dict[str, RuleSet]):
    """The rule sets that are in use: a bot loads only that of its own match."""

    def __missing__(self, rules: str) -> RuleSet:
        self[rules] = made = _MAKERS[rules]()
        return made


#: Each rule set by its name, loaded at its first use; ``NAMES`` has all names. KeyError for another name.
RULE_SETS: dict[str, RuleSet] = _Loaded()


def settings(rules: str | None, overrides: Mapping[str, object], standing: Sequence[Wall] = ()) -> Settings:
    """Return the settings of a rule set (None: ``classic``) with some changed. ``standing`` are the walls of a position.

    On a board that is too small for the prey's usual start, the start is scaled with the board. Raises SettingsError with the setting and its
    allowed values.
    """
    rules = "classic" if rules is None else rules
    values.refuse_rules("Evasion has no rule set", rules, NAMES)
    names = RULE_SETS[rules].names
    unknown = next((name for name in overrides if name not in names), "")
    values.refuse_unknown(f"the rule set {rules} has" if unknown in Settings._fields else "Evasion has", names, overrides)
    usual = RULE_SETS[rules].defaults
    settings = usual._replace(**values.checked(OPTIONS, overrides))
    if "prey" not in overrides:
        x, y = (
            at if at < size else at * size // usual_size
            for at, size, usual_size in zip(usual.prey, (settings.width, settings.height), (usual.width, usual.height), strict=True)
        )
        settings = settings._replace(prey=(x, y))
    check_start(settings, _checked(standing, settings))
    return settings


def check_start(settings: Settings, walls: Walls | None = None) -> None:
    """Raise SettingsError for a start from which no game can be played. ``walls`` are those on the board; None: none."""
    walls = Walls(settings.width, settings.height) if walls is None else walls
    x, y, dx, dy = settings.hunter
    places = (("hunter", (x, y)), ("prey", settings.prey))
    for name, (at_x, at_y) in places:
        if not (0 <= at_x < settings.width and 0 <= at_y < settings.height):
            where = f"({short(at_x)}, {short(at_y)}), off the {settings.width} x {settings.height} board"
            raise SettingsError(
                f"{name} starts at {where}; x must be from 0 to {settings.width - 1}, y from 0 to {settings.height - 1}: set another start, as --{name} X,Y."
            )
    if abs(dx) != 1 or abs(dy) != 1:
        raise SettingsError(f"hunter heads ({short(dx)}, {short(dy)}), but must head diagonally: dx and dy each 1 or -1.")
    for name, place in places:
        if not walls.is_free(*place):
            raise SettingsError(f"{name} starts at {place}, where a wall stands.")
    if RULE_SETS[settings.rules].captures(walls, settings.capture_radius, (x, y), settings.prey):
        raise SettingsError(
            f"hunter at {x, y} has caught the prey at {settings.prey} before the first step; start them more than {settings.capture_radius} apart."
        )


def _checked(standing: Sequence[Wall], settings: Settings) -> Walls:
    """Return the walls of a position. Raises SettingsError unless each is on the board and none overlap."""
    walls = Walls(settings.width, settings.height)
    for place, wall in enumerate(standing):
        ends = (wall.x1, wall.y1), (wall.x2, wall.y2)
        if not all(is_whole(x) and is_whole(y) and 0 <= x < settings.width and 0 <= y < settings.height for x, y in ends):
            raise SettingsError(f"wall {place} leaves the {settings.width} x {settings.height} board.")
        cells = list(wall.cells())
        if not {*ends} <= {*cells} or wall.kind not in RULE_SETS[settings.rules].kinds:
            raise SettingsError(f"wall {place} is no wall of the rule set {settings.rules}: its ends don't fit its kind.")
        if not all(walls.is_free(*cell) for cell in cells):
            raise SettingsError(f"wall {place} crosses another wall or leaves the board.")
        walls = walls.adding(wall)
    return walls


def step(state: State, moves: Mapping[str, Move | None]) -> tuple[State, tuple[Notice, ...]]:
    """One step of the state's rule set; a seat without a move does nothing. ValueError if the game is over."""
    if state.ended:
        raise ValueError(f"the game is over: {state.ended}")
    draft = Draft(state, moves.get(HUNTER), moves.get(PREY))
    for stage in RULE_SETS[state.settings.rules].stages:
        stage(draft)
    return draft.finish(), tuple(draft.notices)
