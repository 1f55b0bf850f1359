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
    given = player if isinstance(player, dict) else {}
    team, own = (value if isinstance(value, str) and not is_blank(value) else "" for value in (given.get("team"), given.get("name")))
    return f"{team} ({own})" if team and own and own != team else team or own or seat
