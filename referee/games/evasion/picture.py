"""Pictures of Evasion. y points upwards as in the course's drawings, or downwards for rule sets that are drawn so.

This module is the game's ``PictureView``.
"""

from __future__ import annotations

from itertools import groupby

from referee.games.evasion.board.regions import corners
from referee.games.evasion.board.walls import DIAGONAL, HORIZONTAL, VERTICAL
from referee.games.evasion.state import HUNTER, PREY
from referee.games.evasion.variants import RULE_SETS
from referee.games.picture import Box, Disc, Label, Line, Picture, Shape
from referee.support.record import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from referee.games.evasion.board.walls import Wall
    from referee.games.evasion.state import Body, State

HUNTER_COLOR, PREY_COLOR, REFUSED_COLOR = "#c04f00", "#0072b2", "#a8407f"
NEW_WALL, OLD_WALL = (0, 122, 89), (112, 124, 120)
#: How dark the edge of a wall is, and how far it reaches beyond the wall, in cells.
EDGE_SHARE, EDGE = 0.4, 0.4
#: The corners of a triangle: the angle of each, in turns from its heading, and its distance from the middle.
_ARROW = ((1.0, 0.0, 1.9), (-0.77, 0.64, 1.4), (-0.77, -0.64, 1.4))


def draw(states: Sequence[State]) -> Picture:
    """Draw the last of several positions, with the trails of both players through the earlier ones."""
    state = states[-1]
    settings = state.settings
    y_is_up = RULE_SETS[settings.rules].y_is_up
    # Flip y: count a cell's row from the top.
    top = settings.height - 1 if y_is_up else None
    parts: list[Box | Line | Shape | Disc] = []
    count = len(state.walls)
    # Edges first, so that walls that cross are one body. The newest wall is the last one.
    for share, edge in ((EDGE_SHARE, EDGE), (1.0, 0.0)):
        for index, wall in enumerate(state.walls):
            age = 1 - (index + 1) / count
            color = "#" + "".join(f"{round(share * (new + (old - new) * age)):02x}" for new, old in zip(NEW_WALL, OLD_WALL, strict=True))
            parts += [_grown(x, y if top is None else top + 1 - y - high, wide, high, edge, color) for x, y, wide, high in _boxes(wall)]
    parts += _trail([one.hunter for one in states], top, HUNTER_COLOR, ())
    parts += _trail([one.prey for one in states], top, PREY_COLOR, (1.0, 0.7))
    hunter, prey = _middle(state.hunter, top), _middle(state.prey, top)
    parts.append(Disc(hunter, max(settings.capture_radius, 0.5), 0.0, HUNTER_COLOR, is_ring=True))
    parts.append(Disc(prey, 1.1, 0.9, PREY_COLOR))
    parts.append(Shape(hunter, _arrow(state.hunter, -1 if y_is_up else 1), HUNTER_COLOR))
    return Picture(settings.width, settings.height, tuple(parts), f"step {state.step:,}")


def place(state: State, x: float, y: float) -> tuple[float, float]:
    """Return the middle of a cell in the picture."""
    is_up = RULE_SETS[state.settings.rules].y_is_up
    return x + 0.5, (state.settings.height - 1 - y if is_up else y) + 0.5


def anchor(state: State, seat: str) -> tuple[float, float] | None:
    """Return where a player stands in the picture."""
    body = {HUNTER: state.hunter, PREY: state.prey}.get(seat)
    return None if body is None else place(state, body.x, body.y)


def color(seat: str) -> str:
    """Return the colour of a player."""
    return HUNTER_COLOR if seat == HUNTER else PREY_COLOR


def refusal(state: State, notice: Mapping[str, Any]) -> tuple[Line | Label, ...]:
    """Return what shows a refused wall, by its notice as JSON: a piece of the wall with a cross on it, and the reason. Empty for other notices."""
    data = notice.get("data")
    if notice.get("code") != "wall-refused" or not isinstance(data, dict):
        return ()
    at = data.get("at")
    if not (isinstance(at, list) and len(at) == 2 and all(isinstance(part, int) and abs(part) < 1e6 for part in at)):
        return ()
    kind = data.get("kind")
    u, v = place(state, *at)
    unit = state.settings.width / 100
    across, down = (0 if kind == VERTICAL else 1), (0 if kind == HORIZONTAL else -1 if kind == DIAGONAL else 1)
    reach, arm = 10 * unit, 1.2 * unit
    wall = Line(((u - across * reach, v - down * reach), (u + across * reach, v + down * reach)), REFUSED_COLOR, 0.4, (1.0, 0.8))
    cross = tuple(Line(((u - arm, v - side * arm), (u + arm, v + side * arm)), REFUSED_COLOR, 0.5) for side in (-1, 1))
    text = str(notice.get("text", "")).rpartition("refused: ")[2]
    return wall, *cross, Label((u, v), f"refused: {text}", REFUSED_COLOR, is_below=True)


def _middle(body: Body, top: int | None) -> tuple[float, float]:
    return body.x + 0.5, (body.y if top is None else top - body.y) + 0.5


def _grown(x: float, y: float, width: float, height: float, edge: float, color: str) -> Box:
    return Box(x - edge, y - edge, width + 2 * edge, height + 2 * edge, color)


def _boxes(wall: Wall) -> Iterator[tuple[int, int, int, int]]:
    """A wall as rectangles: x, y of the lower left cell, width, height."""
    if wall.kind == HORIZONTAL:
        yield wall.x1, wall.y1, wall.x2 - wall.x1 + 1, 1
    elif wall.kind == VERTICAL:
        yield wall.x1, wall.y1, 1, wall.y2 - wall.y1 + 1
    else:
        for x, y in wall.cells():
            yield x, y, 1, 1


def _trail(bodies: list[Body], top: int | None, color: str, dash: tuple[float, ...]) -> list[Line]:
    """Return the trail of one player; steps in one direction are merged into one segment."""
    points = corners([place for place, _ in groupby(_middle(body, top) for body in bodies)])
    return [Line(tuple(points), color, 0.35, dash, 0.75)] if points[0] != points[-1] or len(points) > 2 else []


def _arrow(body: Body, down: int) -> tuple[tuple[float, float], ...]:
    """Return a triangle that points in the hunter's heading."""
    size = (body.dx * body.dx + body.dy * body.dy) ** 0.5 or 1.0
    along = (body.dx / size, down * body.dy / size)
    return tuple((far * (ahead * along[0] - aside * along[1]), far * (ahead * along[1] + aside * along[0])) for ahead, aside, far in _ARROW)
