"""What pictures show besides the position: the bots' remarks and drawings, and the last refused move.

A picture of position N shows what came in step N - 1, as the viewer does; a remark stays for some steps. All of it comes from a file that
anybody may have written.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from referee.games.picture import Box, Label, Line
from referee.replay.names import player_name
from referee.support.escape import escape, without_piles

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from referee.games.picture import Picture, Point


#: How many steps a remark and a refused move stay.
_SAID_STEPS, _REFUSED_STEPS = 20, 12
#: The most characters of a remark, and of a text that a bot draws.
_MOST_SAID, _MOST_TEXT = 48, 100
#: The most shapes of a step, and the most cells of a shape.
_MOST_SHAPES, _MOST_CELLS = 500, 20_000
#: The thickness of lines, in percent of the picture's width; and how much of the board shows through marked cells.
_THICK, _OPACITY = 0.3, 0.35
_COLOR = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})|[a-zA-Z]{3,30}")
_PARTS = ("place", "anchor", "color")


class RemarkView(Protocol):
    """What the pictures of a game offer besides ``draw``: the places of cells and players in a picture.

    A game may also have ``refusal(state, notice)``: the parts that show a refused move, by its notice as JSON; empty for other notices.
    """

    def place(self, state: Any, x: float, y: float, /) -> Point:
        """Return the middle of a cell, in cells of the picture."""

    def anchor(self, state: Any, seat: str, /) -> Point | None:
        """Return where a player is; None if it is nowhere."""

    def color(self, seat: str, /) -> str:
        """Return the colour of a player."""


class _Remarked(NamedTuple):
    """A step with remarks or notices, as the replay has them."""

    turn: int
    remarks: Mapping[str, Any]
    notices: list[Any]


class Remarks:
    """The remarks and notices of a replay, step by step."""

    def __init__(self) -> None:
        self._steps: list[_Remarked] = []
        #: The number of steps.
        self.count = 0

    def take(self, record: Mapping[str, Any]) -> None:
        """Take in the record of the next step."""
        remarks, notices = record.get("remarks"), record.get("notices")
        if remarks or notices:
            said = remarks if isinstance(remarks, dict) else {}
            self._steps.append(_Remarked(self.count, said, notices if isinstance(notices, list) else []))
        self.count += 1

    def onto(self, picture: Picture, view: object, state: Any, position: int, *, is_end: bool = False) -> Picture:
        """Return a picture of a position with what was said, drawn and refused before it.

        At the end of a match (``is_end``), what was said and refused some steps ago is old.
        """
        if not all(hasattr(view, name) for name in _PARTS):
            return picture
        seen = _Seen(cast("RemarkView", view), state)
        recent = [step for step in self._near(position) if not is_end or step.turn == position - 1]
        parts = [part for step in recent if step.turn == position - 1 for part in seen.drawn(step)]
        parts += seen.refused([step for step in recent if step.turn >= position - _REFUSED_STEPS])
        parts += seen.said(recent)
        return picture._replace(parts=picture.parts + tuple(parts))

    def _near(self, position: int) -> list[_Remarked]:
        """Return the steps whose remarks may still be shown at a position, in order."""
        first, after = (bisect_left(self._steps, turn, key=lambda step: step.turn) for turn in (position - _SAID_STEPS, position))
        return self._steps[first:after]


class _Seen(NamedTuple):
    """How one position shows remarks."""

    view: RemarkView
    state: Any

    def said(self, steps: list[_Remarked]) -> Iterator[Label]:
        """Yield the last remark of each player."""
        last: dict[str, str] = {}
        for step in steps:
            for seat, remark in step.remarks.items():
                if isinstance(remark, dict) and isinstance(remark.get("say"), str) and remark["say"]:
                    last[seat] = remark["say"]
        for seat, text in last.items():
            place = self.view.anchor(self.state, seat)
            if place is not None:
                yield Label(place, without_piles(escape(text, _MOST_SAID)), self.view.color(seat))

    def refused(self, steps: list[_Remarked]) -> tuple[Line | Label, ...]:
        """Return what shows the last refused move."""
        refusal = getattr(self.view, "refusal", None)
        if refusal is None:
            return ()
        for step in reversed(steps):
            for notice in reversed(step.notices):
                parts = refusal(self.state, notice) if isinstance(notice, dict) else ()
                if parts:
                    return tuple(part._replace(text=escape(part.text, _MOST_TEXT)) if isinstance(part, Label) else part for part in parts)
        return ()

    def drawn(self, step: _Remarked) -> Iterator[Box | Line | Label]:
        """Yield what the players drew in a step."""
        for seat, remark in step.remarks.items():
            shapes = remark.get("draw") if isinstance(remark, dict) else None
            for shape in shapes[:_MOST_SHAPES] if isinstance(shapes, list) else []:
                if isinstance(shape, dict):
                    yield from self._shape(shape, self.view.color(seat))

    def _shape(self, shape: Mapping[str, Any], own: str) -> Iterator[Box | Line | Label]:
        given = shape.get("color")
        color = given if isinstance(given, str) and _COLOR.fullmatch(given) else own
        kind = shape.get("shape")
        start, end, at = (self._point(shape.get(name)) for name in ("start", "end", "at"))
        if kind == "line" and start and end:
            yield Line((start, end), color, _THICK)
        elif kind == "rect" and start and end:
            (left, right), (top, bottom) = (sorted(pair) for pair in zip(start, end, strict=True))
            left, right, top, bottom = left - 0.5, right + 0.5, top - 0.5, bottom + 0.5
            yield Line(((left, top), (right, top), (right, bottom), (left, bottom), (left, top)), color, _THICK)
        elif kind == "text" and at:
            yield Label(at, escape(str(shape.get("text", "")), _MOST_TEXT), color, is_boxed=False)
        elif kind == "cells" and isinstance(shape.get("cells"), list):
            for cell in shape["cells"][:_MOST_CELLS]:
                middle = self._point(cell)
                if middle is not None:
                    yield Box(middle[0] - 0.5, middle[1] - 0.5, 1, 1, color, _OPACITY)

    def _point(self, value: object) -> Point | None:
        """Return a point that a bot named, in the picture; None if it is not a valid point."""
        if isinstance(value, list) and len(value) == 2 and all(_is_number(part) for part in value):
            return self.view.place(self.state, value[0], value[1])
        return None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e6


#: The most characters of a name that are shown, and that are looked at; and the most of a caption.
_MOST_NAME, _MOST_READ, _MOST_CAPTION = 40, 1000, 120


def captioned(picture: Picture, game: Any, state: Any, players: Mapping[str, Any]) -> Picture:
    """Return a picture of a position with the names of its players, and with the outcome if the match is over.

    ``players`` are those of the replay's head. A game may say more than ``draw`` in its pictures: ``color(seat)``, ``standings(state)``
    (the score of each seat in words), ``ending(state)`` (where and why the match ended), and ``with_names(text, names)`` (a sentence with
    names in place of seats).
    """
    view = game.picture
    names = {seat: name_of(player, seat) for seat, player in players.items()}
    scores = _asked(view, "standings", state) or {}
    colors = {seat: _asked(view, "color", seat) or "" for seat in names}
    seats = {seat: "" if name == seat else f"({escape(seat, _MOST_NAME)})" for seat, name in names.items()}
    shown = tuple((colors[seat], name, f"{seats[seat]} {scores.get(seat, '')}".strip()) for seat, name in names.items())
    outcome = game.outcome(state)
    caption = picture.caption
    if outcome is not None:
        caption += f". {_asked(view, 'with_names', outcome.text, _told_apart(names)) or outcome.text}"
    return picture._replace(caption=caption[:_MOST_CAPTION], names=shown, ending=_asked(view, "ending", state) or "")


def name_of(player: object, seat: str) -> str:
    """Return the name of a player of a replay's head, which anybody may have written, as ``player_name`` has it."""
    return escape(without_piles(player_name(player, seat)[:_MOST_READ]), _MOST_NAME)


def _told_apart(names: Mapping[str, str]) -> dict[str, str]:
    """Return names, those that several players have with the seat."""
    every = list(names.values())
    return {seat: name if every.count(name) == 1 else f"{name} ({seat})" for seat, name in names.items()}


def _asked(view: object, name: str, *given: Any) -> Any:
    """Return what a game says of its picture; None if it doesn't have that."""
    says = getattr(view, name, None)
    return None if says is None else says(*given)
