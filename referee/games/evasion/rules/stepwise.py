"""The stages of one step of ``classic`` and ``diagonal``.

A rule set is a tuple of stages (see ``variants``). Each stage changes a ``Draft``, the mutable state of the current step.
Source: rules of Evasion, section "S1".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.evasion.board.regions import is_clear
from referee.games.evasion.board.wall import Blocked, Wall
from referee.games.evasion.board.walls import trace
from referee.games.evasion.state import HUNTER, PREY, Body, HunterMove, PreyMove, State
from referee.games.game import Notice
from referee.games.values import short

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from referee.games.evasion.board.bounce import Motion
    from referee.games.evasion.board.wall import Span
    from referee.games.evasion.board.walls import Walls
    from referee.games.evasion.state import Build, Settings
    from referee.games.game import Json

    Stage = Callable[["Draft"], None]
    Bounce = Callable[[Walls, int, int, int, int], Motion]

_NOTHING = HunterMove()
_GO_ON = PreyMove()
#: The parts of the notice of a bounce that don't depend on the cell: it is made thousands of times in a match.
_BOUNCED = {seat: Notice(f"{seat}-bounced", f"the {seat} bounces", is_minor=True) for seat in (HUNTER, PREY)}
_HEADINGS = {(dx, dy): f"({dx:+}, {dy:+})" for dx in (-1, 0, 1) for dy in (-1, 0, 1)}


class Draft:
    """The mutable values of the state during a step, and the notices so far."""

    __slots__ = (*State._fields, "anchor", "hunter_move", "notices", "prey_move")

    def __init__(self, state: State, hunter_move: Any, prey_move: Any) -> None:
        self.settings: Settings
        self.hunter: Motion
        self.prey: Motion
        (
            self.settings,
            self.step,
            self.hunter,
            self.prey,
            self.walls,
            self.wall_timer,
            self.next_id,
            self.ended,
            self.prey_timer,
            self.changed,
        ) = state
        self.anchor = self.hunter
        self.hunter_move = hunter_move or _NOTHING
        self.prey_move = prey_move or _GO_ON
        self.notices: list[Notice] = []

    def finish(self) -> State:
        """Return the draft as a frozen state."""
        return State(
            self.settings,
            self.step,
            Body(*self.hunter),
            Body(*self.prey),
            self.walls,
            self.wall_timer,
            self.next_id,
            self.ended,
            self.prey_timer,
            self.changed,
        )

    def replace_walls(self, walls: Walls) -> None:
        """Replace the walls and record the step of the change."""
        self.walls = walls
        self.changed = self.step + 1

    def note(self, code: str, text: str, seat: str | None = None, data: dict[str, Json] | None = None) -> None:
        """Add a notice."""
        self.notices.append(Notice(code, text, seat, data))


def remove_walls(draft: Draft) -> None:
    """Remove the walls that the hunter names, all at once."""
    ids = draft.hunter_move.remove
    if not ids:
        return
    removed = frozenset(ids).intersection(wall.id for wall in draft.walls)
    if removed:
        draft.replace_walls(draft.walls.without(removed))
        text = f"wall{'s' * (len(removed) > 1)} {_listed(sorted(removed))} removed"
        draft.note("wall-removed", text, None, {"ids": sorted(removed)})
    unknown = [wall for wall in dict.fromkeys(ids) if wall not in removed]
    if unknown:
        text = f"no wall has the id {_listed(unknown)}: nothing to remove there"
        draft.note("unknown-wall", text, HUNTER)


def _listed(ids: list[int]) -> str:
    """Return the first few ids as text for a message."""
    return ", ".join(map(short, ids[:5])) + (f" and {len(ids) - 5} more" if len(ids) > 5 else "")


def hunter_moves(bounce: Bounce) -> Stage:
    """The stage in which the hunter moves one cell."""

    def move_hunter(draft: Draft) -> None:
        x, y, dx, dy = draft.anchor
        draft.hunter = motion = bounce(draft.walls, x, y, dx, dy)
        if motion[2] != dx or motion[3] != dy:
            note_bounce(draft, HUNTER, motion)

    return move_hunter


def note_bounce(draft: Draft, seat: str, motion: Motion) -> None:
    """Add the notice of a bounce."""
    x, y, dx, dy = motion
    code, text, recipient, data, is_minor = _BOUNCED[seat]
    draft.notices.append(Notice(code, f"{text} at ({x}, {y}), now going {_HEADINGS[dx, dy]}", recipient, data, is_minor))


def wall_builds(kinds: tuple[str, ...]) -> Stage:
    """The stage in which the hunter's new wall is built, or refused with a notice; ``kinds`` are those of the rule set."""

    def build_wall(draft: Draft) -> None:
        build = draft.hunter_move.build
        if build is None:
            return
        anchor, hunter, prey = draft.anchor[:2], draft.hunter[:2], draft.prey[:2]
        wall = can_build(draft.walls, kinds, build, draft.wall_timer, draft.settings, anchor, hunter, prey, draft.next_id)
        if isinstance(wall, Blocked):
            text = f"{build.kind} wall refused: {wall.text}"
            data = {"reason": wall.reason, "kind": build.kind, "at": list(anchor)}
            draft.note("wall-refused", text, HUNTER, data)
            return
        draft.replace_walls(draft.walls.adding(wall))
        draft.next_id += 1
        draft.wall_timer = draft.settings.cooldown
        text = f"{wall.kind} wall {wall.id} built from ({wall.x1}, {wall.y1}) to ({wall.x2}, {wall.y2})"
        draft.note("wall-built", text, None, {"id": wall.id})

    return build_wall


def can_build(
    walls: Walls,
    kinds: tuple[str, ...],
    build: Build,
    wall_timer: int,
    settings: Settings,
    anchor: Span,
    hunter: Span,
    prey: Span,
    new_id: int,
) -> Wall | Blocked:
    """Return the wall that the hunter would build, or the first rule that forbids it (S1, 3a to 3e).

    ``anchor`` is the hunter's cell before its move and ``hunter`` its cell after it. ``prey`` is the prey's cell before its move.
    ``walls`` are the walls that remain after the step's removals.
    """
    if wall_timer > 0:
        return Blocked("cooldown", f"the next wall is legal in {wall_timer} more step{'s' * (wall_timer > 1)}")
    if len(walls) >= settings.max_walls:
        return Blocked("max-walls", f"{len(walls)} of at most {settings.max_walls} walls stand already")
    if build.kind not in kinds:
        return Blocked("kind", f"the rule set {settings.rules} has {' and '.join(kinds)} walls only")
    wall = trace(walls, build.kind, anchor[0], anchor[1], build.span, new_id)
    if isinstance(wall, Blocked):
        return wall
    if wall.covers(*hunter):
        return Blocked("hunter", f"it would cover the hunter's next cell ({hunter[0]}, {hunter[1]})")
    if wall.covers(*prey):
        return Blocked("prey", f"it would cover the prey at ({prey[0]}, {prey[1]})")
    return wall


def prey_moves(bounce: Bounce) -> Stage:
    """The stage in which the prey moves one cell, on its steps."""

    def move_prey(draft: Draft) -> None:
        if (draft.step + 1) % draft.settings.prey_period:
            return
        x, y, dx, dy = draft.prey
        go = draft.prey_move.go
        if go is not None:
            dx, dy = go
        draft.prey = motion = bounce(draft.walls, x, y, dx, dy)
        if motion[2] != dx or motion[3] != dy:
            note_bounce(draft, PREY, motion)

    return move_prey


def test_capture(draft: Draft) -> None:
    """End the game if the prey is near and in sight."""
    hx, hy, _, _ = draft.hunter
    px, py, _, _ = draft.prey
    radius = draft.settings.capture_radius
    if (hx - px) * (hx - px) + (hy - py) * (hy - py) <= radius * radius and is_clear(draft.walls, (hx, hy), (px, py)):
        draft.ended = "caught"
        text = f"the hunter at ({hx}, {hy}) catches the prey at ({px}, {py})"
        draft.note("captured", text)


def count_step(draft: Draft) -> None:
    """Finish the time step: count it, reduce the cooldown, and end the game at the step limit."""
    draft.step += 1
    if draft.wall_timer:
        draft.wall_timer -= 1
    if draft.step >= draft.settings.max_steps and not draft.ended:
        draft.ended = "evaded"
