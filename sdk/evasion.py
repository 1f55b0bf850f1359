"""Evasion for bots: the state with its helpers, and the base classes of hunters and preys.

Everything that looks ahead uses the referee's own engine, so ``state.after`` returns exactly the state that a match would reach.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from referee.games.evasion import variants
from referee.games.evasion.board import regions
from referee.games.evasion.board.regions import Region
from referee.games.evasion.board.wall import COUNTER_DIAGONAL, DIAGONAL, HORIZONTAL, KINDS, VERTICAL, Blocked, Kind, Wall, wall_between
from referee.games.evasion.board.walls import Walls
from referee.games.evasion.rules.stepwise import can_build
from referee.games.evasion.state import (
    COMPASS,
    HEADINGS,
    HUNTER,
    PREY,
    AddWall,
    Body,
    Build,
    Heading,
    HunterMove,
    PreyMove,
    RemoveWall,
    Rules,
    Settings,
    Step,
    To,
)
from referee.games.evasion.state import State as EngineState
from sdk.bot import Bot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Literal, TypeGuard

    from referee.games.evasion.analysis.verdict import Verdict
    from referee.games.evasion.forward import Forward as EngineForward
    from referee.games.evasion.forward import Room
    from referee.games.game import Json

    Cell = tuple[int, int]
    Player = Literal["hunter", "prey"]

    class Forward(EngineForward):
        """For type checkers: a forward model returns states of the kind that it was made from."""

        def __init__(self, state: State) -> None: ...
        def state(self) -> State:
            """Return the current position."""


__all__ = [
    "COMPASS",
    "COUNTER_DIAGONAL",
    "DIAGONAL",
    "HORIZONTAL",
    "VERTICAL",
    "AddWall",
    "Body",
    "Build",
    "BuildCheck",
    "Forward",
    "Heading",
    "HunterBot",
    "HunterMove",
    "Kind",
    "PreyBot",
    "PreyMove",
    "Region",
    "RemoveWall",
    "Room",
    "Rules",
    "Settings",
    "State",
    "Step",
    "To",
    "Verdict",
    "Wall",
]

_NOTHING = "{}"


def __getattr__(name: str) -> object:
    """Import rarely used names on first use, because every bot pays for imports at its start."""
    homes = {"Forward": "forward", "Room": "forward", "Verdict": "analysis.verdict"}
    if name not in homes:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"referee.games.evasion.{homes[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class BuildCheck(NamedTuple):
    """The result of ``can_build``: the ``wall`` that would be built, or None with ``reason`` (a code) and ``why`` (a sentence).

    It is true in a condition if the wall can be built.
    """

    wall: Wall | None
    reason: str = ""
    why: str = ""

    def __bool__(self) -> bool:
        return self.wall is not None


class State(EngineState):
    """A position. Besides ``settings``, ``step``, ``hunter``, ``prey`` (each with x, y, dx, dy), ``walls``, ``wall_timer`` and
    ``prey_moves`` it answers questions about what could happen next. It never changes: ``after`` gives a new one.
    """

    __slots__ = ()

    @property
    def is_over(self) -> bool:
        """Whether the game has ended in this position; ``ended`` says how ("caught", "evaded")."""
        return bool(self.ended)

    @property
    def heading(self) -> Heading:
        """The hunter's heading as a compass direction, with y downwards as in ``gameserver``."""
        return HEADINGS[self.hunter.dx, self.hunter.dy]

    def after(
        self,
        hunter: HunterMove | Build | AddWall | RemoveWall | None = None,
        prey: PreyMove | Step | To | Cell | None = None,
    ) -> State:
        """Return the position after these moves (None: the hunter does nothing, the prey keeps its direction). In ``gameserver`` a step is one turn.

        The ids of new walls are correct, unless walls were built and removed while the bot wasn't asked. ValueError if the match is over.
        """
        if variants.RULE_SETS[self.settings.rules].is_turnwise:
            state, _ = variants.step(self, {HUNTER: _hunter_command(hunter), PREY: _prey_command(prey)})
        else:
            state, _ = variants.step(self, {HUNTER: hunter_move(hunter), PREY: prey_move(prey)})
        return State(*state)

    @classmethod
    def of(cls, forward: Forward) -> State:
        """Return the current position of a ``forward`` model."""
        return State(*forward.state())

    def without(self, ids: Iterable[int]) -> State:
        """Return the same position without some walls."""
        return self._replace(walls=self.walls.without(frozenset(ids)))

    def hunter_path(self, steps: int) -> list[Body]:
        """Return the hunter's positions after each of the next steps, if no wall changes."""
        bounce = variants.RULE_SETS[self.settings.rules].bounce
        path, at = [], tuple(self.hunter)
        for _ in range(steps):
            at = bounce(self.walls, *at)
            path.append(Body(*at))
        return path

    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of wall that the rule set has."""
        return variants.RULE_SETS[self.settings.rules].kinds

    def can_build(self, kind: Kind, span: Cell | None = None, remove: Iterable[int] = ()) -> BuildCheck:
        """Return whether a wall can be built in this step, after the walls in ``remove`` are removed; if not, why."""
        _check_build(kind, span)
        walls = self.walls.without(frozenset(remove)) if remove else self.walls
        x, y, dx, dy = self.hunter
        rules = variants.RULE_SETS[self.settings.rules]
        to_x, to_y, _, _ = rules.bounce(walls, x, y, dx, dy)
        cells = (x, y), (to_x, to_y), (self.prey.x, self.prey.y)
        wall = can_build(walls, rules.kinds, Build(kind, span), self.wall_timer, self.settings, *cells, self.next_id)
        return BuildCheck(None, wall.reason, wall.text) if isinstance(wall, Blocked) else BuildCheck(wall, "", "")

    def buildable(self) -> dict[Kind, BuildCheck]:
        """``can_build`` of the longest wall of each kind."""
        return {kind: self.can_build(kind) for kind in self.kinds()}

    def distance(self, a: Cell | None = None, b: Cell | None = None) -> float:
        """Return the Euclidean distance between two cells; without arguments, between the players."""
        return regions.distance(a or (self.hunter.x, self.hunter.y), b or (self.prey.x, self.prey.y))

    def is_free(self, x: int, y: int) -> bool:
        """Whether a cell is on the board and no wall covers it."""
        return self.walls.is_free(x, y)

    def is_clear(self, a: Cell | None = None, b: Cell | None = None) -> bool:
        """True if no wall is on the line between two cells; without arguments, between the players."""
        return regions.is_clear(self.walls, a or (self.hunter.x, self.hunter.y), b or (self.prey.x, self.prey.y))

    def reach(self, who: Player | Cell) -> Region:
        """Return the cells that can be reached from "hunter", "prey" or a cell, by steps in all eight directions.

        ``len`` returns the area, ``in`` tests a cell. The hunter moves diagonally and reaches only some of these cells.
        """
        if isinstance(who, str):
            body = {HUNTER: self.hunter, PREY: self.prey}[who]
            who = (body.x, body.y)
        return regions.reachable(self.walls, who)

    def area(self, who: Player | Cell) -> int:
        """The number of cells in ``reach``."""
        return len(self.reach(who))

    def free_cells(self) -> Region:
        """All cells of the board that no wall covers."""
        return regions.free_cells(self.walls)

    def verdict(self, budget: int | None = None) -> Verdict:
        """Return whether the prey can be caught if no wall changes any more: ``kind`` is "capture" (certain within ``steps`` steps),
        "evade" or "undecided".

        ``budget`` limits the work, 700,000,000 by default. Its unit is about a nanosecond, but it counts work and doesn't measure time.
        Most positions need a hundredth of that.
        """
        from referee.games.evasion.analysis import arena, verdict

        return verdict.verdict(self, arena.BUDGET if budget is None else budget)

    def safe_cells(self, budget: int | None = None) -> Region:
        """Return the cells from which the prey could evade forever, if it were there now and no wall changes any more.

        Cells that can't be decided within the ``budget`` are left out.
        """
        from referee.games.evasion.analysis import arena, verdict

        return verdict.safe_cells(self, arena.BUDGET if budget is None else budget).cells

    def forward(self) -> Forward:
        """Return a copy of the position that steps forward and back in place, for searches.

        ``forward.step(build, go)`` is several times as fast as ``after``; ``forward.undo()`` takes the step back.
        """
        from referee.games.evasion.forward import Forward

        return Forward(self)  # type: ignore[return-value]  # its states are of this class, which type checkers can't know


def seen_state(state: EngineState, seat: str) -> State:  # noqa: ARG001 - the same for both, unlike in other games
    """Return a state of the engine as the bot in a seat gets it."""
    return State(*state)


def engine_state(state: object) -> EngineState | None:
    """Return a bot's state, or one of a replay, as a state of the engine; None for a state of another game."""
    return state if isinstance(state, EngineState) else None


#: The kind of move that ``sdk.testing.ask`` returns, by seat.
MOVES = {HUNTER: HunterMove, PREY: PreyMove}


def _is_pair(value: object) -> TypeGuard[Sequence[int]]:
    return (
        isinstance(value, (tuple, list)) and len(value) == 2 and all(isinstance(part, int) and not isinstance(part, bool) for part in value)
    )


def _check_build(kind: str, span: Cell | None) -> None:
    """Raise ValueError for a wall that would make an answer malformed."""
    if kind not in KINDS:
        raise ValueError(f"there is no kind of wall {kind!r:.40}; there are {', '.join(KINDS)}")
    if span is not None and not _is_pair(span):
        raise ValueError(f"a span is {span!r:.40}; it must be two whole numbers, (first, last), or None")


def hunter_move(move: object) -> HunterMove | None:
    """Return a hunter's move as HunterMove or None. ValueError or TypeError if it isn't a possible answer."""
    if move is None:
        return None
    if isinstance(move, Build):
        move = HunterMove(move, ())
    if not isinstance(move, HunterMove):
        raise TypeError(f"a hunter's move is {move!r:.80}; it must be None, self.build(...) or self.remove(...)")
    if move.build is not None:
        _check_build(move.build.kind, move.build.span)
    return move


def prey_move(move: object) -> PreyMove | None:
    """Return a prey's move as PreyMove or None. TypeError if it isn't a possible answer."""
    go = move.go if isinstance(move, PreyMove) else move
    if go is None:
        return None
    if not _is_pair(go) or not {-1, 0, 1}.issuperset(go):
        raise TypeError(f"a prey's move is {move!r:.80}; it must be None or (dx, dy), each -1, 0 or 1")
    return PreyMove((go[0], go[1]))


def _hunter_command(move: object) -> AddWall | RemoveWall | HunterMove | None:
    if move is None or isinstance(move, (AddWall, RemoveWall)):
        return move
    if isinstance(move, HunterMove) and move.build is None and len(move.remove) <= 1:
        return RemoveWall(move.remove[0]) if move.remove else None
    raise TypeError(f"under gameserver a hunter's move is None, self.add(...) or self.remove(one id), but this is {move!r:.80}")


def _prey_command(move: object) -> Step | To | None:
    """Return a prey's move as a command of ``gameserver``; (0, 0) is a pass."""
    if move is None or isinstance(move, (Step, To)):
        return move
    go = move.go if isinstance(move, PreyMove) else move
    if go is None or (_is_pair(go) and (*go,) == (0, 0)):
        return None
    if _is_pair(go) and (go[0], go[1]) in HEADINGS:
        return Step(HEADINGS[go[0], go[1]])
    raise TypeError(f"a prey's move is {move!r:.80}; it must be None, (dx, dy), each -1, 0 or 1, or a Step or To of sdk.evasion")


class _Reader:
    """Converts a question's state to a ``State``; unchanged walls are not read again."""

    def __init__(self, settings: Settings, *, is_turnwise: bool) -> None:
        self.settings = settings
        self.is_turnwise = is_turnwise
        self.walls = Walls(settings.width, settings.height)
        self.raw: list[dict[str, Json]] = []
        self.next_id = 0

    def read(self, state: dict[str, Json]) -> State:
        raw = state["walls"]
        if raw != self.raw:
            self.raw = raw
            if self.is_turnwise:
                # The hunter chooses the ids, and an id that is free again can be used again.
                self.next_id = 0
                walls = [wall_between(w["id"], w["x1"], w["y1"], w["x2"], w["y2"]) for w in raw]
            else:
                walls = [Wall(w["id"], w["kind"], w["x1"], w["y1"], w["x2"], w["y2"], w.get("first", "")) for w in raw]
            self.walls = Walls(self.settings.width, self.settings.height, walls)
            self.next_id = max([self.next_id, *(wall.id + 1 for wall in walls)])
        hunter, prey, step = state["hunter"], state["prey"], state["step"]
        if self.is_turnwise:
            bodies = Body(hunter["x"], hunter["y"], *COMPASS[hunter["heading"]]), Body(prey["x"], prey["y"], 0, 0)
            return State(self.settings, step, *bodies, self.walls, hunter["cooldown"], self.next_id, "", prey["cooldown"], 0)
        bodies = Body(hunter["x"], hunter["y"], hunter["dx"], hunter["dy"]), Body(prey["x"], prey["y"], prey["dx"], prey["dy"])
        return State(self.settings, step, *bodies, self.walls, state["wall_timer"], self.next_id)


class _EvasionBot(Bot):
    """The common part of hunters and preys: calls the method for a question and encodes its answer."""

    seat: Player
    rules: Rules | tuple[Rules, ...]
    settings: Settings
    _game = "evasion"
    _variants = variants

    def _responder(self, start: dict[str, Json]) -> Callable[[dict[str, Json]], str]:
        decide = getattr(self, self._seats[start["seat"]])
        is_hunter, rules = start["seat"] == HUNTER, variants.RULE_SETS[start["rules"]]
        read = _Reader(self.settings, is_turnwise=rules.is_turnwise).read
        if rules.is_turnwise:
            command = _hunter_command if is_hunter else _prey_command
            return lambda state: _command_text(command(decide(read(state))))
        from referee.games.evasion.codec.stepwise import move_json

        made = hunter_move if is_hunter else prey_move
        return lambda state: _NOTHING if (move := made(decide(read(state)))) is None else json.dumps(move_json(move), separators=(",", ":"))


class HunterBot(_EvasionBot):
    """A hunter: override ``hunt``. ``sdk.Bot`` has what all bots share: ``say``, ``draw``, ``left``, ``random``."""

    _seats = {HUNTER: "hunt"}
    _trial = "referee play {} runner"

    def hunt(self, state: State) -> HunterMove | Build | AddWall | RemoveWall | None:
        """Return this step's move: None (nothing), ``self.build(...)``, ``self.remove(...)``, or under ``gameserver`` ``self.add(...)``."""
        raise TypeError(f"{type(self).__name__} must define hunt(self, state)")

    def build(self, kind: Kind, span: Cell | None = None, remove: Iterable[int] = ()) -> HunterMove:
        """Remove the walls in ``remove``, then build one through the hunter's cell: as long as possible, or from ``span[0]`` to ``span[1]``."""
        return HunterMove(Build(kind, span), tuple(remove))

    def remove(self, *ids: int) -> HunterMove:
        """Remove walls by their ids; under ``gameserver`` only one in each turn."""
        return HunterMove(None, ids)

    def add(self, number: int, start: Cell, end: Cell) -> AddWall:
        """Under ``gameserver``: a wall with an id of your choice, from one cell to another on the same row or column."""
        return AddWall(number, *start, *end)


class PreyBot(_EvasionBot):
    """A prey: override ``flee``. It is asked only in the steps in which it can move. ``sdk.Bot`` has what all bots share."""

    _seats = {PREY: "flee"}
    _trial = "referee play boxer {}"

    def flee(self, state: State) -> PreyMove | Step | To | Cell | None:
        """Return the move for this step: ``None`` to keep the direction, or ``(dx, dy)``, each -1, 0 or 1."""
        raise TypeError(f"{type(self).__name__} must define flee(self, state)")

    def go(self, dx: int, dy: int) -> PreyMove:
        """Move one cell in a direction; (0, 0) means: stay."""
        return PreyMove((dx, dy))


def _command_text(move: AddWall | RemoveWall | HunterMove | Step | To | None) -> str:
    if isinstance(move, AddWall):
        return '{"add":{"id":%d,"x1":%d,"y1":%d,"x2":%d,"y2":%d}}' % move
    if isinstance(move, RemoveWall):
        return '{"remove":%d}' % move.id
    if isinstance(move, Step):
        if move.go not in COMPASS:
            raise ValueError(f"there is no direction {move.go!r:.40}; there are {', '.join(COMPASS)}")
        return f'{{"go":"{move.go}"}}'
    if isinstance(move, To):
        return '{"to":[%d,%d]}' % move
    return _NOTHING
