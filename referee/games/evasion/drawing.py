"""Positions of Evasion from drawings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.drawing import DrawingError, mistake, only_place, rows_of, said
from referee.games.evasion import variants
from referee.games.evasion.board.regions import distance
from referee.games.evasion.board.walls import COUNTER_DIAGONAL, DIAGONAL, HORIZONTAL, VERTICAL, Wall, Walls
from referee.games.evasion.state import HUNTER, PREY, SEATS, Body, State
from referee.games.values import is_whole
from referee.games.values import said as shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from referee.games.drawing import Square
    from referee.games.evasion.board.walls import Kind
    from referee.games.evasion.state import Settings

    Cell = tuple[int, int]

_KINDS: dict[str, Kind] = {"-": HORIZONTAL, "|": VERTICAL, "/": DIAGONAL, "\\": COUNTER_DIAGONAL}
_SIGNS = {".": "free", "H": "the hunter", "P": "the prey", "#": "wall", **{sign: f"{kind} wall" for sign, kind in _KINDS.items()}}
#: The step to the next cell of a straight wall, as (line, column).
_ALONG = {HORIZONTAL: (0, 1), VERTICAL: (1, 0)}
_AROUND = tuple((down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right)


def position(
    drawing: str,
    *,
    rules: str = "classic",
    heading: Cell = (1, 1),
    prey_heading: Cell = (0, 0),
    wall_timer: int = 0,
    step: int | None = None,
    at: Cell = (0, 0),
    walls: Iterable[Wall] = (),
    **settings: object,
) -> State:
    """Return the position of a drawing.

    ``H`` is the hunter, ``P`` the prey, ``.`` a free cell. ``-`` and ``|`` are horizontal and vertical walls, ``/`` and backslashes
    diagonal and counter-diagonal ones, drawn as the staircase of their cells; the kind of a wall of ``#`` follows from its form. As on the page,
    y grows upwards (under ``gameserver`` downwards). Walls get ids line by line, by their first cells; ``walls`` are further ones, which keep their ids.

    ``heading`` and ``prey_heading`` are directions (dx, dy). By default the prey may move in this step. The board is as large as the
    drawing, or ``width`` and ``height`` say how large it is, and ``at`` where the drawing's lower left corner (under ``gameserver`` its
    upper left one) lies on it. ``settings`` are the game's other ones. Raises DrawingError or SettingsError for an impossible position.
    """
    rows = rows_of(drawing, _SIGNS)
    if rules not in variants.NAMES:
        variants.settings(rules, {})
    rule_set = variants.RULE_SETS[rules]
    _check_corner(at)

    def cell(place: Square) -> Cell:
        line, column = place
        return at[0] + column, at[1] + (len(rows) - 1 - line if rule_set.y_is_up else line)

    found = {name: only_place(rows, name[0].upper(), name) for name in SEATS}
    for name, place in found.items():
        _check_not_within_a_wall(rows, place, name)
    hunter, prey = cell(found[HUNTER]), cell(found[PREY])
    drawn: list[Wall] = []
    for group in _groups(rows):
        drawn.append(_wall(rows, group, [cell(place) for place in group], len(drawn)))
        if drawn[-1].kind not in rule_set.kinds:
            raise mistake(group[0], f'the rule set {rules} has no {drawn[-1].kind} walls; rules="diagonal" has them')
    standing = [*drawn, *_further(walls, drawn)]
    given = {"width": len(rows[0]) + at[0], "height": len(rows) + at[1], **settings, "prey": prey}
    body = Body(*hunter, *_direction("heading", heading))
    checked = _with_a_start(variants.settings(rules, {**given, "hunter": body}, standing))
    if len(standing) > checked.max_walls:
        raise DrawingError(f"there are {len(standing)} walls, but max_walls is {checked.max_walls}; give max_walls={len(standing)}")
    _check_number("wall_timer", wall_timer, checked.cooldown)
    if step is None:
        step = 1 if rule_set.is_turnwise else min(checked.prey_period - 1, checked.max_steps - 1)
    _check_number("step", step, checked.max_steps - 1)
    bodies = body, Body(*prey, *_direction("prey_heading", prey_heading))
    next_id = 0 if rule_set.is_turnwise else max([0, *(wall.id + 1 for wall in standing)])
    return State(checked, step, *bodies, Walls(checked.width, checked.height, standing), wall_timer, next_id, changed=step)


def _with_a_start(found: Settings) -> Settings:
    """Return the settings with a start that is possible on the empty board, as a bot expects it.

    That is the position itself, unless only its walls keep the prey from being caught: then the hunter starts in the farthest corner.
    """
    empty = Walls(found.width, found.height)

    def is_caught(corner: Cell) -> bool:
        return variants.RULE_SETS[found.rules].captures(empty, found.capture_radius, corner, found.prey)

    if not is_caught(found.hunter[:2]):
        return found
    x, y = max(((x, y) for x in (0, found.width - 1) for y in (0, found.height - 1)), key=lambda corner: distance(corner, found.prey))
    if is_caught((x, y)):
        raise DrawingError(
            f"a {found.width} x {found.height} board is too small for a capture radius of {found.capture_radius}; "
            "draw a larger one, or give capture_radius=1"
        )
    return found._replace(hunter=(x, y, *found.hunter[2:]))


def _check_number(name: str, value: object, most: int) -> None:
    if not is_whole(value) or not 0 <= value <= most:
        raise DrawingError(f"{name} is {shown(value)}, but must be a whole number from 0 to {most:,}")


def _check_corner(at: object) -> None:
    if not isinstance(at, tuple) or len(at) != 2 or not all(is_whole(value) and value >= 0 for value in at):
        raise DrawingError(f"at is {shown(at)}, but must be the cell (x, y) of a corner of the drawing")


def _direction(name: str, given: Cell) -> Cell:
    if not isinstance(given, tuple) or len(given) != 2 or not all(is_whole(value) and -1 <= value <= 1 for value in given):
        raise DrawingError(f"{name} is {shown(given)}, but must be (dx, dy), each -1, 0 or 1")
    return given


def _check_not_within_a_wall(rows: list[str], place: Square, name: str) -> None:
    """Refuse a player between two parts of what looks like one wall."""
    for kind, (down, along) in _ALONG.items():
        sides = [_sign(rows, (place[0] + way * down, place[1] + way * along)) for way in (-1, 1)]
        if all(_KINDS.get(sign) == kind for sign in sides) or (sides == ["#", "#"]):
            raise mistake(
                place,
                f"a wall goes through the {name}; leave a free cell beside the {name}, or give one of two separate walls with walls=[...]",
            )


def _sign(rows: list[str], place: Square) -> str:
    line, column = place
    return rows[line][column] if 0 <= line < len(rows) and 0 <= column < len(rows[0]) else ""


def _groups(rows: list[str]) -> Iterator[list[Square]]:
    """Yield the places of each wall, in the order of their first places."""
    seen: set[Square] = set()
    for line, row in enumerate(rows):
        for column, sign in enumerate(row):
            if (line, column) in seen or sign in ".HP":
                continue
            along = _ALONG.get(_KINDS.get(sign, ""))
            # Straight walls are read along their direction. Others are joined by their corners, too, so that gaps of a staircase are noticed.
            ways = (along, (-along[0], -along[1])) if along else _AROUND
            group = [(line, column)]
            for at in group:
                beside = ((at[0] + down, at[1] + right) for down, right in ways)
                group += [place for place in beside if _sign(rows, place) == sign and place not in group]
            seen.update(group)
            yield sorted(group)


def _wall(rows: list[str], group: list[Square], cells: list[Cell], number: int) -> Wall:
    """Return the wall that covers exactly these cells."""
    sign = _sign(rows, group[0])
    kind = _KINDS.get(sign)
    if kind in _ALONG and len(group) == 1:
        # Walls of one cell side by side are almost always one wall, drawn with the wrong character.
        along = _ALONG[VERTICAL if kind == HORIZONTAL else HORIZONTAL]
        beside = group[0][0] + along[0], group[0][1] + along[1]
        if _sign(rows, beside) == sign:
            other = next(other for other, its_kind in _KINDS.items() if its_kind in _ALONG and other != sign)
            raise mistake(
                group[0], f"{sign!r} is a {kind} wall, but these {sign!r} are not in one line; draw the other kind with {other!r}"
            )
    for wall in _candidates(kind, cells, number):
        if {*wall.cells()} == {*cells}:
            return wall
    name = f"the {kind} wall" if kind else "the wall"
    need = "two cells thick: draw it as a staircase, one step aside for each step up" if kind else "in one line, or a staircase"
    raise mistake(group[0], f"{name} from here to {said(group[-1])} is not straight; a {kind or ''} wall is {need}".replace("  ", " "))


def _candidates(kind: Kind | None, cells: list[Cell], number: int) -> Iterator[Wall]:
    """Yield the walls between the ends of a group of cells; None stands for every kind."""
    xs, ys = [x for x, _ in cells], [y for _, y in cells]
    left, right, low, high = min(xs), max(xs), min(ys), max(ys)
    if kind in (None, HORIZONTAL) and low == high:
        yield Wall(number, HORIZONTAL, left, low, right, low)
    if kind in (None, VERTICAL) and left == right:
        yield Wall(number, VERTICAL, left, low, left, high)
    for first in "yx":
        if kind in (None, DIAGONAL):
            yield Wall(number, DIAGONAL, left, low, right, high, first)
        if kind in (None, COUNTER_DIAGONAL):
            yield Wall(number, COUNTER_DIAGONAL, left, high, right, low, first)


def _further(walls: Iterable[Wall], drawn: list[Wall]) -> list[Wall]:
    """Return the further walls after a check of their form and their ids."""
    found = list(walls)
    taken = {wall.id for wall in drawn}
    for wall in found:
        if not isinstance(wall, Wall):
            raise DrawingError(f"walls has {shown(wall)}, but must have values of sdk.Wall")
        if not is_whole(wall.id) or wall.id < 0 or wall.id in taken:
            raise DrawingError(
                f"a wall has the id {shown(wall.id)}, but its id must be a number that no other wall has; {len(taken)} is free"
            )
        taken.add(wall.id)
    return found
