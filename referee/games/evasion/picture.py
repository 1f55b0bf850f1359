"""Pictures of Evasion. y points upwards as in the course's drawings, or downwards for rule sets that are drawn so.

This module is the game's ``PictureView``.
"""

from __future__ import annotations

from math import hypot, log10
from typing import TYPE_CHECKING

from referee.games.evasion.board.regions import corners, distance, reachable
from referee.games.evasion.board.walls import DIAGONAL, HORIZONTAL, VERTICAL
from referee.games.evasion.state import HUNTER, PREY
from referee.games.evasion.variants import RULE_SETS
from referee.games.picture import INK, PAPER, Area, Box, Disc, Label, Line, Picture, Shape, trail

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from referee.games.evasion.board.walls import Wall
    from referee.games.evasion.state import Body, State

HUNTER_COLOR, PREY_COLOR, REFUSED_COLOR, FLASH_COLOR = "#c04f00", "#0072b2", "#a8407f", "#b98500"
NEW_WALL, OLD_WALL = (0, 122, 89), (112, 124, 120)
#: How dark the edge of a wall is, and how far it reaches beyond the wall, in percent of the board's width.
EDGE_SHARE, EDGE = 0.4, 0.1
#: The least thickness of a wall, and how far the light around a new one reaches, in percent.
_BODY, _FLASH = 0.45, 0.4
#: The corners of the hunter's triangle: the angle of each as cosine and sine from its heading, and its distance from the middle.
_ARROW = ((1.0, 0.0, 1.4), (-0.737, 0.675, 1.1), (-0.737, -0.675, 1.1))
#: How many steps the fading of a trail takes.
_FADING_STEPS = 200
#: The shares of the region's colour in its cells and in those at its border.
_INNER, _BORDER = 110 / 255, 150 / 255
#: The most columns of a board with large cells.
_LARGE_CELLS = 34
#: On a larger board the region would take too long, as in the viewer.
_MOST_CELLS = 400_000
#: A region of more rectangles has no border: its file would be large.
_MOST_BOXES = 400


def draw(states: Sequence[State]) -> Picture:
    """Draw the last of several positions, with the trails of both players through the earlier ones."""
    state = states[-1]
    settings = state.settings
    y_is_up = RULE_SETS[settings.rules].y_is_up
    # Flip y: count a cell's row from the top.
    top = settings.height - 1 if y_is_up else None
    parts: list[Box | Area | Line | Shape | Disc] = [*_region(state, top)]
    count = len(state.walls)
    if len(states) > 1:
        before = set(states[-2].walls)
        parts += [box._replace(opacity=0.5) for wall in state.walls if wall not in before for box in _boxes(wall, top, FLASH_COLOR, _FLASH)]
    # Edges first, so that walls that cross are one body. The newest wall is the last one.
    for share, grow in ((EDGE_SHARE, EDGE), (1.0, 0.0)):
        for index, wall in enumerate(state.walls):
            age = 1 - (index + 1) / count
            color = "#" + "".join(f"{round(share * (new + (old - new) * age)):02x}" for new, old in zip(NEW_WALL, OLD_WALL, strict=True))
            parts += _boxes(wall, top, color, grow)
    for bodies, color, dash in (
        ([one.hunter for one in states], HUNTER_COLOR, ()),
        ([one.prey for one in states], PREY_COLOR, (0.55, 0.35)),
    ):
        # Steps in one direction are one segment.
        parts += trail([_middle(body, top) for body in bodies], color, dash, _FADING_STEPS, 0.15, 0.14, corners)
    hunter, prey = _middle(state.hunter, top), _middle(state.prey, top)
    parts.append(Disc(hunter, max(settings.capture_radius, 0.5), 0.0, HUNTER_COLOR, is_ring=True))
    if state.ended == "caught":
        parts += _capture(settings.width, hunter, prey)
    parts += _prey(state, prey, -1 if y_is_up else 1)
    parts += _hunter(state, hunter, -1 if y_is_up else 1)
    return Picture(settings.width, settings.height, tuple(parts), f"step {state.step:,}", marks=(hunter, prey))


def ending(state: State) -> str:
    """Return where and why the game ended; empty while it is running."""
    if not state.ended:
        return ""
    settings, (hx, hy), (px, py) = state.settings, state.hunter[:2], state.prey[:2]
    apart = f"{distance((hx, hy), (px, py)):.1f} cells from the hunter at ({hx}, {hy})"
    if state.ended != "caught":
        return f"The prey is at ({px}, {py}), {apart}."
    radius = settings.capture_radius
    if RULE_SETS[settings.rules].is_turnwise:
        return f"Caught at ({px}, {py}): at most {radius:,} step{'s' * (radius != 1)} from the hunter at ({hx}, {hy})."
    return f"Caught at ({px}, {py}): {apart}, within the capture radius of {radius:,}, with no wall between them."


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
    """Return the parts that show a refused wall, by its notice as JSON: crosses along the refused wall, and the reason. Empty for other notices."""
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
    # As far as the wall would have reached, with a gap around the hunter's cell and a cross on each side.
    near, arm = max(0.7, 1.8 * unit), 0.55 * unit
    is_up = RULE_SETS[state.settings.rules].y_is_up
    parts: list[Line] = []
    for side in (-1, 1):
        far = 0.5 + _free_cells(state, at, side * across, -side * down if is_up else side * down)
        if far <= near:
            continue
        ends = (u + side * across * near, v + side * down * near), (u + side * across * far, v + side * down * far)
        middle = max(near, min((near + far) / 2, 7 * unit))
        x, y = u + side * across * middle, v + side * down * middle
        arms = (((x - arm, y - tilt * arm), (x + arm, y + tilt * arm)) for tilt in (-1, 1))
        parts += [Line(ends, PAPER, 0.55), Line(ends, REFUSED_COLOR, 0.28, (0.67, 0.44))]
        parts += [Line(each, REFUSED_COLOR, 0.28) for each in arms]
    # Replays hold the reason with its numbers in the sentence alone.
    text = str(notice.get("text", "")).rpartition("refused: ")[2]
    return *parts, Label((u, v), f"refused: {text}", REFUSED_COLOR, is_below=True)


def _free_cells(state: State, at: list[int], dx: int, dy: int) -> int:
    """Return how many cells are free in a direction, up to the next wall or the edge of the board."""
    settings, (x, y) = state.settings, at
    count = 0
    while True:
        x, y = x + dx, y + dy
        if not (0 <= x < settings.width and 0 <= y < settings.height and state.walls.is_free(x, y)):
            return count
        count += 1


def _middle(body: Body, top: int | None) -> tuple[float, float]:
    return body.x + 0.5, (body.y if top is None else top - body.y) + 0.5


def _flipped(x: int, y: int, wide: int, high: int, top: int | None) -> tuple[int, int, int, int]:
    """Return a rectangle, given by its cell with the least x and y, as it lies in the picture."""
    return x, y if top is None else top + 1 - y - high, wide, high


def _boxes(wall: Wall, top: int | None, color: str, grow: float) -> Iterator[Box]:
    """Yield a wall as rectangles."""
    if wall.kind == HORIZONTAL:
        pieces = [(wall.x1, wall.y1, wall.x2 - wall.x1 + 1, 1)]
    elif wall.kind == VERTICAL:
        pieces = [(wall.x1, wall.y1, 1, wall.y2 - wall.y1 + 1)]
    else:
        pieces = [(x, y, 1, 1) for x, y in wall.cells()]
    for piece in pieces:
        yield Box(*_flipped(*piece, top), color, least=_BODY, grow=grow)


def _region(state: State, top: int | None) -> Iterator[Area]:
    """Yield the cells that the prey can reach. Their colour is stronger the fewer they are, and at their border."""
    walls = state.walls
    if walls.width * walls.height > _MOST_CELLS:
        return
    region = reachable(walls, state.prey[:2])
    share = max(1e-3, len(region) / (walls.width * walls.height))
    strength = 0.14 + 0.5 * min(1.0, -log10(share) / 2.5)
    rows = region.rows(walls.height)
    yield Area(tuple(_flipped(*box, top) for box in _merged(rows)), PREY_COLOR, _INNER * strength)
    whole = (1 << walls.width) - 1
    border = []
    for y, row in enumerate(rows):
        above, below = rows[y + 1] if y + 1 < len(rows) else whole, rows[y - 1] if y else whole
        border.append(row & ~(((row << 1) | 1) & ((row >> 1) | 1 << walls.width - 1) & above & below))
    edge = _merged(border)
    if len(edge) <= _MOST_BOXES:
        yield Area(tuple(_flipped(*box, top) for box in edge), PREY_COLOR, (_BORDER - _INNER) * strength / (1 - _INNER * strength))


def _merged(rows: Sequence[int]) -> list[tuple[int, int, int, int]]:
    """Return cells as rectangles: runs of a row, joined with equal runs of the rows before."""
    found: list[tuple[int, int, int, int]] = []
    going: dict[tuple[int, int], int] = {}
    for y, row in enumerate([*rows, 0]):
        runs = {}
        left, x = row, 0
        while left:
            skip = (left & -left).bit_length() - 1
            x, left = x + skip, left >> skip
            wide = (~left & left + 1).bit_length() - 1
            runs[x, wide] = going.get((x, wide), y)
            x, left = x + wide, left >> wide
        found += [(x, first, wide, y - first) for (x, wide), first in going.items() if (x, wide) not in runs]
        going = runs
    return found


def _reach(width: int, around: float, most: float, within: float) -> float:
    """Return how far a mark reaches, in cells: ``around`` its cell, but at most a percentage of the width. In larger cells it stays within its cell."""
    return max(within, min(around, most * width / 100))


def _hunter(state: State, at: tuple[float, float], down: int) -> Iterator[Shape | Box]:
    """Yield a triangle that points in the hunter's heading, and its cell. The triangle leaves the cells around in sight."""
    width, body = state.settings.width, state.hunter
    along, across = _heading(body, down)
    points = tuple((far * (ahead * along - aside * across), far * (ahead * across + aside * along)) for ahead, aside, far in _ARROW)
    yield from _cell(width, at, HUNTER_COLOR)
    yield Shape(at, points, HUNTER_COLOR, _reach(width, 1.3, 1.22, 0.3), 1.0, is_hollow=True)
    yield _point(width, at, HUNTER_COLOR)


def _prey(state: State, at: tuple[float, float], down: int) -> Iterator[Shape | Disc | Box]:
    """Yield a ring around the prey's cell, with a line to where it goes."""
    width, body = state.settings.width, state.prey
    size = _reach(width, 0.85, 0.89, 0.24)
    yield from _cell(width, at, PREY_COLOR)
    yield Disc(at, size, 0.78, PREY_COLOR, is_hollow=True)
    if body.dx or body.dy:
        along, across = _heading(body, down)
        yield Shape(at, ((along, across), (1.9 * along, 1.9 * across)), PREY_COLOR, size, 0.78, is_hollow=True)
    yield _point(width, at, PREY_COLOR)


def _heading(body: Body, down: int) -> tuple[float, float]:
    size = (body.dx * body.dx + body.dy * body.dy) ** 0.5 or 1.0
    return body.dx / size, down * body.dy / size


def _cell(width: int, at: tuple[float, float], color: str) -> Iterator[Box]:
    """Yield a light tone on a cell that is large."""
    if width <= _LARGE_CELLS:
        yield Box(at[0] - 0.5, at[1] - 0.5, 1, 1, color, 0.22)


def _point(width: int, at: tuple[float, float], color: str) -> Shape:
    """Return a player's cell, or the middle of a large one."""
    half = 0.07 if width <= _LARGE_CELLS else min(0.5, 0.0055 * width)
    return Shape(at, ((-1, -1), (1, -1), (1, 1), (-1, 1)), color, half, 0.17, rim_width=0.2)


def _capture(width: int, hunter: tuple[float, float], prey: tuple[float, float]) -> Iterator[Line | Disc]:
    """Yield the line of sight between the two, and a ring around both."""
    yield Line((hunter, prey), INK, 0.17)
    middle = (hunter[0] + prey[0]) / 2, (hunter[1] + prey[1]) / 2
    yield Disc(middle, hypot(hunter[0] - prey[0], hunter[1] - prey[1]) / 2 + 0.018 * width, 2.4, INK, is_hollow=True)
