"""The texts below a picture: the players with their colours, the step, and how the match ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from referee.replay.names import player_name
from referee.support.escape import escape, without_piles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.picture import Picture

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
