"""Recorded games of Evasion, as the conformance vectors write them, played again on the engine.

The form of a game is described in docs/conformance.md.
"""

from __future__ import annotations

from typing import Any

from referee.games.conformance import Difference, Played
from referee.games.evasion import GAME, variants
from referee.games.evasion.analysis.verdict import CAPTURE, EVADE, verdict
from referee.games.evasion.board.walls import KINDS, Wall, Walls, given_wall
from referee.games.evasion.codec.turnwise import ends
from referee.games.evasion.state import (
    COMPASS,
    HEADINGS,
    HUNTER,
    PREY,
    AddWall,
    Body,
    Build,
    HunterMove,
    Invalid,
    PreyMove,
    RemoveWall,
    State,
    To,
)
from referee.games.evasion.state import Step as StepTo
from referee.games.evasion.variants import RULE_SETS

_FIELDS = ("hunter.x", "hunter.y", "hunter.dx", "hunter.dy", "prey.x", "prey.y", "wall_timer", "captured")
_ITEMS = 4 + len(_FIELDS)
_SETTINGS = ("width", "height", "max_walls", "cooldown", "hunter", "prey", "capture_radius", "prey_period", "prey_cooldown")


def is_ours(record: dict[str, Any]) -> bool:
    """Whether a record is a game, or a position with its verdict, of a rule set that this room has."""
    rules = record.get("rules")
    return isinstance(rules, str) and rules in RULE_SETS and (isinstance(record.get("steps"), list) or "verdict" in record)


def play(record: dict[str, Any]) -> Played:
    """Play a recorded game. SettingsError for settings that the game refuses, ValueError for a record of the wrong form."""
    if "steps" not in record:
        return _decide(record)
    missing = [name for name in _SETTINGS[:6] if name not in record]
    if missing:
        raise ValueError(f"the game has no {missing[0]}")
    given = {name: record[name] for name in _SETTINGS if name in record}
    steps = record["steps"]
    if RULE_SETS[record["rules"]].is_turnwise:
        return _play_turns(record, given, steps)
    settings = GAME.codec.settings(record["rules"], {**given, "max_steps": min(len(steps) + 1, 1_000_000)})
    state = GAME.start(settings)
    for index, step in enumerate(steps):
        if not isinstance(step, list) or len(step) not in (_ITEMS, _ITEMS + 1):
            raise ValueError(f"step {index} must be a list of {_ITEMS} or {_ITEMS + 1} items")
        if state.ended:
            return Played(index, Difference(index, "captured", "the game goes on", state.ended))
        before = state
        state, _ = GAME.step(state, _moves(state, step, index))
        difference = _compare(before, state, step, index)
        if difference is not None:
            return Played(index, difference)
    return Played(len(steps), None)


def _moves(state: State, step: list[Any], index: int) -> dict[str, HunterMove | PreyMove]:
    """The moves of a recorded step."""
    build, removed, dx, dy = step[:4]
    try:
        kind, *span = build if isinstance(build, list) else [build]
        wish = None if kind == 0 else Build(KINDS[kind - 1], (span[0], span[1]) if span else None)
        walls = state.walls.all
        ids = tuple(walls[place].id for place in removed if 0 <= place < len(walls))
        if dx is not None and not {dx, dy} <= {-1, 0, 1}:
            raise ValueError(dx, dy)
        return {HUNTER: HunterMove(wish, ids), PREY: PreyMove(None if dx is None else (dx, dy))}
    except (TypeError, IndexError, ValueError):
        raise ValueError(f"step {index} has no readable moves") from None


def _compare(before: State, after: State, step: list[Any], index: int) -> Difference | None:
    hunter, prey = after.hunter, after.prey
    got = (*hunter, prey.x, prey.y, after.wall_timer, int(after.ended == "caught"))
    for field, expected, value in zip(_FIELDS, step[4:_ITEMS], got, strict=True):
        if expected != value or isinstance(expected, bool):
            return Difference(index, field, expected, value)
    walls = [_wall_items(wall) for wall in after.walls]
    expected_walls = step[_ITEMS] if len(step) > _ITEMS else [_wall_items(wall) for wall in before.walls]
    return None if walls == expected_walls else Difference(index, "walls", expected_walls, walls)


def _wall_items(wall: Wall) -> list[int]:
    """A wall as a vector writes it."""
    kind = KINDS.index(wall.kind)
    if kind == 0:
        return [0, wall.y1, wall.x1, wall.x2]
    if kind == 1:
        return [1, wall.x1, wall.y1, wall.y2]
    return [kind, wall.x1, wall.x2, wall.y1, wall.y2, int(wall.first == "y")]


_TURN_FIELDS = ("hunter.x", "hunter.y", "heading", "hunter.cooldown", "prey.x", "prey.y", "prey.cooldown", "verdict")
_VERDICTS = {"caught": "CAUGHT", "trapped": "TRAPPED"}


def _play_turns(record: dict[str, Any], given: dict[str, Any], steps: list[Any]) -> Played:
    """Play a recorded game of ``gameserver``."""
    hunter = record["hunter"]
    if not isinstance(hunter, list) or len(hunter) != 3 or hunter[2] not in COMPASS:
        raise ValueError("the hunter must be [x, y, heading]")
    given["hunter"] = [*hunter[:2], *COMPASS[hunter[2]]]
    state = GAME.start(GAME.codec.settings(record["rules"], {**given, "max_steps": min(len(steps) + 1, 1_000_000)}))
    for index, step in enumerate(steps):
        if not isinstance(step, list) or len(step) not in (10, 11):
            raise ValueError(f"turn {index} must be a list of 10 or 11 items")
        if state.ended:
            return Played(index, Difference(index, "verdict", "the game goes on", state.ended))
        before, movers = state, GAME.movers(state)
        who = HUNTER if step[0] == "H" else PREY
        if (step[1] is None) != (who not in movers):
            return Played(index, Difference(index, "command", step[1], f"asked: {', '.join(movers) or 'nobody'}"))
        state, _ = GAME.step(state, {} if step[1] is None else {who: _command(step[1], index)})
        difference = _compare_turn(before, state, step, index)
        if difference is not None:
            return Played(index, difference)
    return Played(len(steps), None)


def _command(command: Any, index: int) -> Any:
    """The command of a recorded turn."""
    try:
        word, *rest = command
        if word == "PASS":
            return HunterMove()
        if word == "ADD":
            return AddWall(rest[0], *rest[1], *rest[2])
        if word == "REMOVE":
            return RemoveWall(rest[0])
        if word == "TO":
            return To(*rest[0])
    except (TypeError, ValueError, IndexError):
        raise ValueError(f"turn {index} has no readable command") from None
    return StepTo(word) if word in COMPASS else Invalid(str(word))


def _compare_turn(before: State, after: State, step: list[Any], index: int) -> Difference | None:
    hunter, prey = after.hunter, after.prey
    heading = HEADINGS[hunter.dx, hunter.dy]
    got = (hunter.x, hunter.y, heading, after.wall_timer, prey.x, prey.y, after.prey_timer, _VERDICTS.get(after.ended))
    for field, expected, value in zip(_TURN_FIELDS, step[2:10], got, strict=True):
        if expected != value or isinstance(expected, bool):
            return Difference(index, field, expected, value)
    walls = [[wall.id, *ends(wall)] for wall in after.walls]
    expected_walls = step[10] if len(step) > 10 else [[wall.id, *ends(wall)] for wall in before.walls]
    return None if walls == expected_walls else Difference(index, "walls", expected_walls, walls)


def _decide(record: dict[str, Any]) -> Played:
    """Hold the verdict on a position against the recorded one; "undecided" is a difference too."""
    if record["verdict"] not in (CAPTURE, EVADE):
        raise ValueError(f"the verdict is {record['verdict']!r:.40}, but must be {CAPTURE} or {EVADE}")
    state = position(record)
    found = verdict(state)
    for field, expected, got in (("verdict", record["verdict"], found.kind), ("k", record.get("k"), found.steps)):
        if expected != got:
            return Played(0, Difference(state.step, field, expected, got), is_position=True)
    return Played(0, None, is_position=True)


def position(record: dict[str, Any]) -> State:
    """The position that a record describes. SettingsError for one that no game comes to, ValueError for a record of the wrong form."""
    missing = [name for name in ("rules", "width", "height", "walls", "hunter", "prey") if name not in record]
    if missing:
        raise ValueError(f"the position has no {missing[0]}")
    is_turnwise = RULE_SETS[record["rules"]].is_turnwise
    given = {name: record[name] for name in _SETTINGS if name in record}
    step, timer = record.get("step", 0), record.get("prey_timer", 0)
    try:
        if is_turnwise:
            given["hunter"] = [*record["hunter"][:2], *COMPASS[record["hunter"][2]]]
            walls = [given_wall(*items) for items in record["walls"]]
        else:
            walls = [_wall(number, items) for number, items in enumerate(record["walls"])]
        if type(step) is not int or type(timer) is not int or step < 0 or timer < 0:
            raise ValueError(step, timer)
    except (TypeError, ValueError, LookupError):
        raise ValueError("the position's hunter, walls, step or prey_timer can't be read") from None
    settings = variants.settings(record["rules"], given, walls)
    standing = Walls(settings.width, settings.height, walls)
    next_id = max((wall.id + 1 for wall in walls), default=0)
    return State(settings, step, Body(*settings.hunter), Body(*settings.prey, 0, 0), standing, 0, next_id, "", timer)


def _wall(number: int, items: list[Any]) -> Wall:
    """The wall that a record writes as a list."""
    kind, *ends = items
    if kind == 0:
        y, x1, x2 = ends
        return Wall(number, KINDS[kind], x1, y, x2, y)
    if kind == 1:
        x, y1, y2 = ends
        return Wall(number, KINDS[kind], x, y1, x, y2)
    x1, x2, y1, y2, first = ends
    return Wall(number, KINDS[kind], x1, y1, x2, y2, "xy"[first])
