"""The stages of one turn of ``gameserver``. The hunter's turns have even indexes, the prey's odd ones.

As in ``stepwise``, each stage takes a ``Draft`` and changes it. Source: rules of Evasion, section "S2".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.evasion.board.bounce import by_turning
from referee.games.evasion.board.regions import are_joined, is_within
from referee.games.evasion.board.wall import HORIZONTAL, VERTICAL, Wall, wall_between
from referee.games.evasion.rules.stepwise import note_bounce
from referee.games.evasion.state import COMPASS, HUNTER, PREY, AddWall, Invalid, RemoveWall, Step, To
from referee.games.values import short

if TYPE_CHECKING:
    from referee.games.evasion.board.bounce import Motion
    from referee.games.evasion.board.walls import Walls
    from referee.games.evasion.rules.stepwise import Draft
    from referee.games.evasion.state import Settings

#: The largest id of a wall; the protocol has one to four digits for it.
MOST_ID = 9_999


def hunter_commands(draft: Draft) -> None:
    """In the hunter's turn: apply its command if its cooldown is over, else reduce the cooldown."""
    if draft.step % 2:
        return
    if draft.wall_timer:
        draft.wall_timer -= 1
        return
    command = draft.hunter_move
    if isinstance(command, AddWall):
        _add(draft, command)
    elif isinstance(command, RemoveWall):
        _remove(draft, command)
    elif isinstance(command, Invalid):
        _refuse(draft, HUNTER, command.text)
    else:
        return
    draft.wall_timer = draft.settings.cooldown


def _refuse(draft: Draft, seat: str, why: str) -> None:
    draft.note("invalid-command", f"invalid command of the {seat}: {why}", seat)


def _add(draft: Draft, command: AddWall) -> None:
    wall = new_wall(draft.walls, draft.settings, draft.hunter, draft.prey, command)
    if isinstance(wall, str):
        kind = VERTICAL if command.x1 == command.x2 and command.y1 != command.y2 else HORIZONTAL
        draft.note("wall-refused", f"wall refused: {wall}", HUNTER, {"reason": "invalid", "kind": kind, "at": list(draft.anchor[:2])})
        return
    draft.replace_walls(draft.walls.adding(wall))
    draft.next_id = max(draft.next_id, wall.id + 1)
    text = f"{wall.kind} wall {wall.id} built from ({command.x1}, {command.y1}) to ({command.x2}, {command.y2})"
    draft.note("wall-built", text, None, {"id": wall.id})
    _separate(draft)


def new_wall(walls: Walls, settings: Settings, hunter: Motion, prey: Motion, command: AddWall) -> Wall | str:
    """Return the wall that an ADD requests, or the reason for its refusal."""
    number, x1, y1, x2, y2 = command
    if not 0 <= number <= MOST_ID:
        return f"a wall's id must be from 0 to {MOST_ID:,}"
    if any(wall.id == number for wall in walls):
        return f"the id {number} is in use"
    if len(walls) >= settings.max_walls:
        return f"{len(walls)} of at most {settings.max_walls} walls stand already"
    if x1 != x2 and y1 != y2:
        return "its ends are on no common row or column"
    if not all(0 <= x < settings.width and 0 <= y < settings.height for x, y in ((x1, y1), (x2, y2))):
        return "it leaves the board"
    wall = wall_between(number, x1, y1, x2, y2)
    if not all(walls.is_free(x, y) for x, y in wall.cells()):
        return "it meets another wall"
    for name, body in ((HUNTER, hunter), (PREY, prey)):
        if wall.covers(body[0], body[1]):
            return f"it would cover the {name} at ({body[0]}, {body[1]})"
    return wall


def _remove(draft: Draft, command: RemoveWall) -> None:
    if not any(wall.id == command.id for wall in draft.walls):
        _refuse(draft, HUNTER, f"no wall has the id {short(command.id)}")
        return
    draft.replace_walls(draft.walls.without(frozenset((command.id,))))
    draft.note("wall-removed", f"wall {command.id} removed", None, {"ids": [command.id]})
    _separate(draft)


def _separate(draft: Draft) -> None:
    """After a change of walls: the prey wins if no path joins the players any more."""
    if separates_players(draft.walls, draft.hunter, draft.prey):
        draft.ended = "trapped"
        draft.note("trapped", "no path joins hunter and prey any more")


def separates_players(walls: Walls, hunter: Motion, prey: Motion) -> bool:
    """Whether no path of steps in all eight directions joins the two."""
    return not are_joined(walls, hunter[:2], prey[:2])


def hunter_flies(draft: Draft) -> None:
    """In the hunter's turn, unless the game has ended: move the hunter one cell diagonally. If all four sides are blocked, it loses."""
    if draft.step % 2 or draft.ended:
        return
    x, y, dx, dy = draft.hunter
    draft.hunter = motion = by_turning(draft.walls, x, y, dx, dy)
    if motion[:2] == (x, y):
        draft.ended = "trapped"
        draft.note("trapped", f"the hunter at ({x}, {y}) is shut in")
    elif motion[2:] != (dx, dy):
        note_bounce(draft, HUNTER, motion)


def prey_commands(draft: Draft) -> None:
    """In the prey's turn: apply its command if its cooldown is over, else reduce the cooldown."""
    if not draft.step % 2:
        return
    if draft.prey_timer:
        draft.prey_timer -= 1
        return
    command = draft.prey_move
    x, y = draft.prey[:2]
    if isinstance(command, Step):
        dx, dy = COMPASS[command.go]
        _prey_goes(draft, x + dx, y + dy)
    elif isinstance(command, To):
        if max(abs(command.x - x), abs(command.y - y)) > 1:
            _refuse(draft, PREY, "it would move more than one cell")
        else:
            _prey_goes(draft, command.x, command.y)
    elif isinstance(command, Invalid):
        _refuse(draft, PREY, command.text)
    else:
        return
    draft.prey_timer = draft.settings.prey_cooldown


def _prey_goes(draft: Draft, x: int, y: int) -> None:
    if not draft.walls.is_free(x, y):
        _refuse(draft, PREY, f"({x}, {y}) is no free cell")
    else:
        draft.prey = (x, y, *draft.prey[2:])


def test_capture(draft: Draft) -> None:
    """End the game if a short path joins the two."""
    if draft.ended:
        return
    hunter, prey = draft.hunter[:2], draft.prey[:2]
    if is_within(draft.walls, draft.settings.capture_radius, hunter, prey):
        draft.ended = "caught"
        draft.note("captured", f"the hunter at {hunter} catches the prey at {prey}")


def count_turn(draft: Draft) -> None:
    """Count the turn, and end the game at the step limit, which counts turns."""
    draft.step += 1
    if draft.step >= draft.settings.max_steps and not draft.ended:
        draft.ended = "evaded"
