"""Recorded games of Evasion, as the conformance vectors write them, played again on the engine.

A file has one game on each line, as JSON. Under ``classic`` and ``diagonal`` a game has the keys ``rules``, ``width``, ``height``,
``max_walls``, ``cooldown``, ``hunter`` ([x, y, dx, dy]), ``prey`` ([x, y]) and ``steps``; ``capture_radius`` and ``prey_period`` are optional.
A step is ``[build, [places removed], pdx, pdy, hx, hy, hdx, hdy, px, py, timer, captured]``. If the walls changed, the list of all walls
follows, in building order.

- build: 0 none, 1 horizontal, 2 vertical, 3 diagonal, 4 counter-diagonal, or [kind, from, to].
- places removed: indices into the list of walls as it was before the step.
- pdx, pdy: the direction that the prey asks for; null keeps its direction.
- hx, hy, hdx, hdy, px, py: the hunter's cell and heading, and the prey's cell, after the step.
- timer: steps until a wall may be built again. captured: 0 or 1.

Walls are [0, y, x1, x2] (horizontal), [1, x, y1, y2] (vertical), [2, x1, x2, y1, y2, d] (diagonal) and [3, x1, x2, y1, y2, d]
(counter-diagonal). d is 0 if the first step from (x1, y1) is in x, and 1 if it is in y.

A line may also be a position with a verdict. It has ``walls`` as above, ``hunter``, ``prey``, ``step`` (the index of the next step),
``prey_period`` and ``verdict``: "capture" with ``k``, the number of steps after which the best prey is caught, or "evade". A position that
can't be decided within the budget counts as a difference.

Under ``gameserver`` a game also has ``prey_cooldown``, and ``hunter`` is [x, y, heading]. A turn is ``[player, command, hx, hy, heading,
hunter cooldown, px, py, prey cooldown, verdict]``; if the walls changed, all walls follow, each as [id, x1, y1, x2, y2]. The player is "H" or
"P". The command is null if the player isn't asked; ["PASS"]; ["ADD", id, [x1, y1], [x2, y2]]; ["REMOVE", id]; a direction such as ["NE"];
["TO", [x, y]]. Anything else is an invalid command. The verdict is null, "CAUGHT" or "TRAPPED".
"""

from __future__ import annotations

from typing import Any

from referee.games.conformance import Difference, Played
from referee.games.evasion import variants
from referee.games.evasion.analysis.verdict import CAPTURE, EVADE, verdict
from referee.games.evasion.board.walls import KINDS, Walls, given_wall, wall_of_numbers
from referee.games.evasion.codec.turnwise import ends
from referee.games.evasion.game import GAME
from referee.games.evasion.state import COMPASS, HEADINGS, HUNTER, PREY, AddWall, Body, State
from referee.games.evasion.variants import NAMES, RULE_SETS

_SETTINGS = ("width", "height", "max_walls", "cooldown", "hunter", "prey", "capture_radius", "prey_period", "prey_cooldown")
#: The values after a recorded step, behind the moves; then the walls, if they have changed.
_STEP_FIELDS = ("hunter.x", "hunter.y", "hunter.dx", "hunter.dy", "prey.x", "prey.y", "wall_timer", "captured")
_TURN_FIELDS = ("hunter.x", "hunter.y", "heading", "hunter.cooldown", "prey.x", "prey.y", "prey.cooldown", "verdict")
_VERDICTS = {"caught": "CAUGHT", "trapped": "TRAPPED"}


def is_ours(record: dict[str, Any]) -> bool:
    """Whether a record is a game, or a position with its verdict, of a rule set of this game."""
    rules = record.get("rules")
    return isinstance(rules, str) and rules in NAMES and (isinstance(record.get("steps"), list) or "verdict" in record)


def play(record: dict[str, Any]) -> Played:
    """Play a recorded game. SettingsError for settings that the game refuses, ValueError for a record of the wrong form."""
    if "steps" not in record:
        return _decide(record)
    _require(record, "game", _SETTINGS[:6])
    steps = record["steps"]
    given = {name: record[name] for name in _SETTINGS if name in record}
    is_turnwise = RULE_SETS[record["rules"]].is_turnwise
    if is_turnwise:
        given["hunter"] = _hunter(record["hunter"])
    name, fields, first, moves_of = ("turn", _TURN_FIELDS, 2, _command) if is_turnwise else ("step", _STEP_FIELDS, 4, _moves)
    state = GAME.start(GAME.codec.settings(record["rules"], {**given, "max_steps": min(len(steps) + 1, 1_000_000)}))
    items = first + len(fields)
    for index, step in enumerate(steps):
        if not isinstance(step, list) or len(step) not in (items, items + 1):
            raise ValueError(f"{name} {index} must be a list of {items} or {items + 1} items")
        if state.ended:
            return Played(index, Difference(index, fields[-1], "the game goes on", state.ended))
        before, movers = state, GAME.movers(state)
        if is_turnwise and (step[1] is None) != (_seat(step) not in movers):
            return Played(index, Difference(index, "command", step[1], f"asked: {', '.join(movers) or 'nobody'}"))
        state, _ = GAME.step(state, moves_of(state, step, index))
        recorded = dict(zip(fields, step[first:items], strict=True))
        recorded["walls"] = step[items] if len(step) > items else _walls(before)
        for (field, expected), value in zip(recorded.items(), (*_values(state), _walls(state)), strict=True):
            if expected != value or isinstance(expected, bool):
                return Played(index, Difference(index, field, expected, value))
    return Played(len(steps), None)


def _require(record: dict[str, Any], what: str, names: tuple[str, ...]) -> None:
    missing = [name for name in names if name not in record]
    if missing:
        raise ValueError(f"the {what} has no {missing[0]}")


def _hunter(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) != 3 or value[2] not in COMPASS:
        raise ValueError("the hunter must be [x, y, heading]")
    return [*value[:2], *COMPASS[value[2]]]


def _moves(state: State, step: list[Any], index: int) -> dict[str, Any]:
    """The moves of a recorded step."""
    build, removed, dx, dy = step[:4]
    try:
        kind, *span = build if isinstance(build, list) else [build]
        walls = state.walls.all
        hunter: dict[str, Any] = {"remove": [walls[place].id for place in removed if 0 <= place < len(walls)]}
        if kind != 0:
            hunter["build"] = {"kind": KINDS[kind - 1], "span": span[:2] or None}
        moves = {HUNTER: hunter, PREY: {} if dx is None else {"go": [dx, dy]}}
        return {seat: GAME.codec.parse(state, seat, move) for seat, move in moves.items()}
    except (TypeError, IndexError, ValueError):
        raise ValueError(f"step {index} has no readable moves") from None


def _seat(turn: list[Any]) -> str:
    return HUNTER if turn[0] == "H" else PREY


def _command(state: State, turn: list[Any], index: int) -> dict[str, Any]:
    """The command of a recorded turn."""
    if turn[1] is None:
        return {}
    try:
        word, *rest = turn[1]
        command: dict[str, Any] = {"go": word} if word in COMPASS else {"invalid": str(word)}
        if word == "PASS":
            command = {}
        elif word == "ADD":
            command = {"add": dict(zip(AddWall._fields, (rest[0], *rest[1], *rest[2]), strict=True))}
        elif word == "REMOVE":
            command = {"remove": rest[0]}
        elif word == "TO":
            command = {"to": list(rest[0])}
        return {_seat(turn): GAME.codec.parse(state, _seat(turn), command)}
    except (TypeError, ValueError, IndexError):
        raise ValueError(f"turn {index} has no readable command") from None


def _values(state: State) -> tuple[Any, ...]:
    """The values of a position that a record holds."""
    (x, y, dx, dy), prey = state.hunter, state.prey[:2]
    if RULE_SETS[state.settings.rules].is_turnwise:
        return (x, y, HEADINGS[dx, dy], state.wall_timer, *prey, state.prey_timer, _VERDICTS.get(state.ended))
    return (x, y, dx, dy, *prey, state.wall_timer, int(state.ended == "caught"))


def _walls(state: State) -> list[list[int]]:
    """The walls of a position as a record writes them."""
    is_turnwise = RULE_SETS[state.settings.rules].is_turnwise
    return [[wall.id, *ends(wall)] if is_turnwise else wall.to_numbers() for wall in state.walls]


def _decide(record: dict[str, Any]) -> Played:
    """Compare the verdict on a position with the recorded one; "undecided" is a difference too."""
    if record["verdict"] not in (CAPTURE, EVADE):
        raise ValueError(f"the verdict is {record['verdict']!r:.40}, but must be {CAPTURE} or {EVADE}")
    state = position(record)
    found = verdict(state)
    for field, expected, got in (("verdict", record["verdict"], found.kind), ("k", record.get("k"), found.steps)):
        if expected != got:
            return Played(0, Difference(state.step, field, expected, got), is_position=True)
    return Played(0, None, is_position=True)


def position(record: dict[str, Any]) -> State:
    """The position that a record describes. SettingsError for a position that no game can reach, ValueError for a record of the wrong form."""
    _require(record, "position", ("rules", "width", "height", "walls", "hunter", "prey"))
    is_turnwise = RULE_SETS[record["rules"]].is_turnwise
    given = {name: record[name] for name in _SETTINGS if name in record}
    step, timer = record.get("step", 0), record.get("prey_timer", 0)
    try:
        if is_turnwise:
            given["hunter"] = _hunter(record["hunter"])
            walls = [given_wall(*items) for items in record["walls"]]
        else:
            walls = [wall_of_numbers(number, items) for number, items in enumerate(record["walls"])]
        if type(step) is not int or type(timer) is not int or step < 0 or timer < 0:
            raise ValueError(step, timer)
    except (TypeError, ValueError, LookupError):
        raise ValueError("the position's hunter, walls, step or prey_timer can't be read") from None
    settings = variants.settings(record["rules"], given, walls)
    standing = Walls(settings.width, settings.height, walls)
    next_id = max((wall.id + 1 for wall in walls), default=0)
    return State(settings, step, Body(*settings.hunter), Body(*settings.prey, 0, 0), standing, 0, next_id, "", timer)
