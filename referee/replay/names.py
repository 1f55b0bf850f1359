"""The names of players for people, from the head of a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.support.escape import is_blank

if TYPE_CHECKING:
    from referee.games.game import Seat


def player_name(player: object, seat: Seat) -> str:
    """Return the name of a player of a replay's head, which anybody may have written; the seat if no name can be read. It isn't escaped.

    In a league the team's name comes first, and the bot's own name after it in parentheses: a bot chooses its own name, and could choose
    that of another team.
    """
    record = player if isinstance(player, dict) else {}
    team, bot = (value if isinstance(value, str) and not is_blank(value) else "" for value in (record.get("team"), record.get("name")))
    return f"{team} ({bot})" if team and bot and bot != team else team or bot or seat
