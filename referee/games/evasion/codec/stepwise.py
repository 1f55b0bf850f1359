"""The JSON forms of ``classic`` and ``diagonal``: the players' view, the replay records, and the parsing of answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.evasion.board.wall import KINDS
from referee.games.evasion.board.walls import Walls
from referee.games.evasion.state import HUNTER, SEATS, Build, HunterMove, PreyMove
from referee.games.game import MalformedMove
from referee.games.values import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.games.evasion.board.wall import Wall
    from referee.games.evasion.state import State
    from referee.games.game import Json


#: The most ids that one ``remove`` may hold, which is also the most walls that can stand.
MOST_REMOVALS = 1_000

_NO_HUNTER_MOVE = HunterMove()
_NO_PREY_MOVE = PreyMove()
_HUNTER_ALONE = (HUNTER,)
_DIRECTIONS = {(dx, dy): PreyMove((dx, dy)) for dx in (-1, 0, 1) for dy in (-1, 0, 1)}


def view_text(state: State) -> str:
    """The state as every seat and spectator sees it: compact JSON, made many times faster than by a general encoder."""
    settings, step, (hx, hy, hdx, hdy), (px, py, pdx, pdy), walls, timer, _, _, _, _ = state
    moves = "false" if (step + 1) % settings.prey_period else "true"
    return (
        f'{{"step":{step},"hunter":{{"x":{hx},"y":{hy},"dx":{hdx},"dy":{hdy}}},"prey":{{"x":{px},"y":{py},"dx":{pdx},"dy":{pdy}}},'
        f'"walls":{walls.json_text()},"wall_timer":{timer},"prey_moves":{moves}}}'
    )


def changes_text(before: State, after: State) -> str:
    """Return the changes of one step: positions and directions as [x, y, dx, dy], walls built and removed, a cooldown that began."""
    parts = []
    if after.hunter != before.hunter:
        parts.append('"hunter":[%d,%d,%d,%d]' % after.hunter)
    if after.prey != before.prey:
        parts.append('"prey":[%d,%d,%d,%d]' % after.prey)
    new: list[Wall] = []
    if after.walls is not before.walls:
        left, there = {wall.id for wall in after.walls}, {wall.id for wall in before.walls}
        gone = [str(wall.id) for wall in before.walls if wall.id not in left]
        if gone:
            parts.append(f'"removed":[{",".join(gone)}]')
        new = [wall for wall in after.walls if wall.id not in there]
        if new:
            parts.append(f'"built":{Walls(after.walls.width, after.walls.height, new).json_text()}')
    if new or after.wall_timer > before.wall_timer:
        parts.append(f'"wall_timer":{after.wall_timer}')
    if after.prey_timer > before.prey_timer:
        parts.append(f'"prey_timer":{after.prey_timer}')
    return "{" + ",".join(parts) + "}"


def move_json(move: HunterMove | PreyMove) -> dict[str, Json]:
    """Return a move in the form of an answer."""
    if isinstance(move, PreyMove):
        return {} if move.go is None else {"go": [int(part) for part in move.go]}
    record: dict[str, Json] = {}
    if move.build is not None:
        record["build"] = {"kind": move.build.kind}
        if move.build.span is not None:
            record["build"]["span"] = [int(end) for end in move.build.span]
    if move.remove:
        record["remove"] = [int(wall) for wall in move.remove]
    return record


def parse(seat: str, answer: Json) -> HunterMove | PreyMove:
    """An answer's ``move`` as a move of the seat; null stands for an optional part left out.

    MalformedMove names the key that is wrong.
    """
    if not isinstance(answer, dict):
        raise MalformedMove(f"move is {shown(answer)}, but must be an object such as {{}}")
    if seat == HUNTER:
        return _hunter_move(answer) if answer else _NO_HUNTER_MOVE
    go = answer.get("go")
    return _NO_PREY_MOVE if go is None else _prey_move(go)


def movers(state: State) -> tuple[str, ...]:
    """Return the seats that move: the hunter in every step, the prey in the steps in which it can move."""
    return _HUNTER_ALONE if (state.step + 1) % state.settings.prey_period else SEATS


def unknown_keys(seat: str, answer: dict[str, Json]) -> Sequence[str]:
    """Keys of an answer's ``move`` that mean nothing to the seat."""
    if not answer:
        return ()
    keys = ("build", "remove") if seat == HUNTER else ("go",)
    unknown = [f"move.{key}" for key in answer if key not in keys]
    build = answer.get("build") if seat == HUNTER else None
    if isinstance(build, dict):
        unknown += [f"move.build.{key}" for key in build if key not in ("kind", "span")]
    return unknown


def _prey_move(go: Json) -> PreyMove:
    if type(go) is list and len(go) == 2 and type(go[0]) is int and type(go[1]) is int:
        move = _DIRECTIONS.get((go[0], go[1]))
        if move is not None:
            return move
    raise MalformedMove(f"move.go is {shown(go)}, but must be [dx, dy], each -1, 0 or 1")


def _hunter_move(answer: dict[str, Json]) -> HunterMove:
    build, remove = answer.get("build"), answer.get("remove")
    remove = [] if remove is None else remove
    if not _are_whole(remove):
        raise MalformedMove(f"move.remove is {shown(remove)}, but must be a list of wall ids")
    if len(remove) > MOST_REMOVALS:
        raise MalformedMove(f"move.remove holds {len(remove)} ids, but at most {MOST_REMOVALS} walls can stand")
    return HunterMove(None if build is None else _build(build), tuple(remove))


def _build(build: Json) -> Build:
    if not isinstance(build, dict):
        raise MalformedMove(f'move.build is {shown(build)}, but must be an object such as {{"kind":"vertical"}}')
    kind, span = build.get("kind"), build.get("span")
    if kind not in KINDS:
        raise MalformedMove(f"move.build.kind is {shown(kind)}, but must be one of {', '.join(KINDS)}")
    if span is None:
        return Build(kind, None)
    if not _are_whole(span) or len(span) != 2:
        raise MalformedMove(f"move.build.span is {shown(span)}, but must be two whole numbers, [first, last]")
    return Build(kind, (span[0], span[1]))


def _are_whole(value: Json) -> bool:
    """Return whether a value is a list of whole numbers; true and false don't count as numbers."""
    return isinstance(value, list) and all(type(part) is int for part in value)
