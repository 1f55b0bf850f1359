"""What the rules of the game say of the moves of people at the board."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import Json, Seat
    from referee.web.replay_session import ReplayIndex


class BoardRules:
    """The rules of a running match, in its latest position."""

    def __init__(self, recorded: ReplayIndex) -> None:
        self._recorded = recorded

    def refusal(self, seat: Seat, turn: int, move: Json) -> str | None:
        """Return why the rules refuse a move in a turn that is asked; "" if they don't, None while the position of that turn isn't known."""
        if self._recorded.has_played.is_set():
            # An error of our own has ended the reading. Then the match alone judges the move.
            return ""
        if self._recorded.steps < turn:
            return None
        try:
            return self.refusal_in(self._recorded.preview(seat, move))
        except (RecursionError, ValueError):
            return "the move can't be read"

    def refusal_in(self, preview: Mapping[str, Any]) -> str:
        """Return why the rules refuse the move of a preview; "" if they don't."""
        samples = None if self._recorded.game is None else self._recorded.game.samples
        codes = {"refused", *(() if samples is None else samples.refusals)}
        return "; ".join(str(notice["text"]) for notice in preview["notices"] if notice.get("code") in codes)
