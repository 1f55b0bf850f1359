"""The JSON forms of ``gameserver``: the players' view, the replay records, and the parsing of answers.

Source: rules of Evasion, section "S2".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.evasion.state import COMPASS, HEADINGS, HUNTER, PREY, STEPS, AddWall, HunterMove, Invalid, PreyMove, RemoveWall, Step, To
from referee.games.game import MalformedMove
from referee.games.values import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from referee.games.evasion.board.wall import Wall
    from referee.games.evasion.state import State
    from referee.games.game import Json

    Command = AddWall | RemoveWall | Step | To | Invalid
    Move = HunterMove | PreyMove | Command

#: The command that does nothing, by seat.
PASS: dict[str, Move] = {HUNTER: HunterMove(), PREY: PreyMove()}
_NOBODY: tuple[str, ...] = ()
_HUNTER_ALONE, _PREY_ALONE = (HUNTER,), (PREY,)
_KEYS = {HUNTER: ("add", "remove", "invalid"), PREY: ("go", "to", "invalid")}
_MOST_TEXT = 200


def movers(state: State) -> tuple[str, ...]:
    """Return the seat that has the turn; none during its cooldown, when the turn passes without a question."""
    if state.step % 2:
        return _NOBODY if state.prey_timer else _PREY_ALONE
    return _NOBODY if state.wall_timer else _HUNTER_ALONE


def ends(wall: Wall) -> tuple[int, int, int, int]:
    """The ends of a wall in the order in which they were given."""
    if wall.is_flipped:
        return wall.x2, wall.y2, wall.x1, wall.y1
    return wall.x1, wall.y1, wall.x2, wall.y2


def view_text(state: State) -> str:
    """The state as every seat and spectator sees it, as compact JSON."""
    hunter, prey = state.hunter, state.prey
    walls = ",".join(f'{{"id":{wall.id},"x1":%d,"y1":%d,"x2":%d,"y2":%d}}' % ends(wall) for wall in state.walls)
    return (
        f'{{"step":{state.step},"round":{state.step // 2},'
        f'"hunter":{{"x":{hunter.x},"y":{hunter.y},"heading":"{HEADINGS[hunter.dx, hunter.dy]}","cooldown":{state.wall_timer}}},'
        f'"prey":{{"x":{prey.x},"y":{prey.y},"cooldown":{state.prey_timer}}},"walls":[{walls}]}}'
    )


def parse(seat: str, answer: Json) -> Move:
    """An answer's ``move`` as a command; null stands for a part left out. MalformedMove names the key that is wrong."""
    if not isinstance(answer, dict):
        raise MalformedMove(f"move is {shown(answer)}, but must be an object such as {{}}")
    keys = [key for key in _KEYS[seat] if answer.get(key) is not None]
    if len(keys) > 1:
        raise MalformedMove(f"move has {' and '.join(keys)}, but a turn has one command")
    return _READERS[keys[0]](answer[keys[0]]) if keys else PASS[seat]


def _add(value: Json) -> AddWall:
    if not isinstance(value, dict) or not all(type(value.get(key)) is int for key in AddWall._fields):
        raise MalformedMove(f'move.add is {shown(value)}, but must be whole numbers such as {{"id":7,"x1":0,"y1":5,"x2":9,"y2":5}}')
    return AddWall(*(value[key] for key in AddWall._fields))


def _remove(value: Json) -> RemoveWall:
    if type(value) is not int:
        raise MalformedMove(f"move.remove is {shown(value)}, but must be the id of a wall")
    return RemoveWall(value)


def _go(value: Json) -> Step:
    step = STEPS.get(value) if isinstance(value, str) else None
    if step is None:
        raise MalformedMove(f"move.go is {shown(value)}, but must be one of {', '.join(COMPASS)}")
    return step


def _to(value: Json) -> To:
    if not isinstance(value, list) or len(value) != 2 or type(value[0]) is not int or type(value[1]) is not int:
        raise MalformedMove(f"move.to is {shown(value)}, but must be [x, y]")
    return To(value[0], value[1])


def _invalid(value: Json) -> Invalid:
    if not isinstance(value, str):
        raise MalformedMove(f"move.invalid is {shown(value)}, but must be a text")
    return Invalid(value[:_MOST_TEXT])


_READERS: dict[str, Callable[[Json], Move]] = {"add": _add, "remove": _remove, "go": _go, "to": _to, "invalid": _invalid}


def move_json(move: Command) -> dict[str, Json]:
    """Return a command in the form of an answer."""
    value = move._asdict() if isinstance(move, AddWall) else list(move) if isinstance(move, To) else move[0]
    return {_COMMANDS[type(move)]: value}


#: The key of each command in an answer.
_COMMANDS: dict[type[Command], str] = {AddWall: "add", RemoveWall: "remove", Step: "go", To: "to", Invalid: "invalid"}


def unknown_keys(seat: str, answer: dict[str, Json]) -> Sequence[str]:
    """Keys of an answer's ``move`` that mean nothing to the seat."""
    unknown = [f"move.{key}" for key in answer if key not in _KEYS[seat]]
    add = answer.get("add") if seat == HUNTER else None
    if isinstance(add, dict):
        unknown += [f"move.add.{key}" for key in add if key not in AddWall._fields]
    return unknown
