"""The names of players from the head of a replay, and the sentence about the result of their match."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from referee.games.outcome import Outcome
from referee.support.escape import escape, is_blank

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.outcome import Json, Seat
    from referee.replay.faults import Fault

#: What a player did that failed, by the kind of its fault.
FAILED = {
    "late": "ran out of time",
    "crashed": "crashed",
    "exceeded": "went beyond a limit",
    "malformed": "sent a malformed answer",
    "illegal": "made an illegal move",
}


def player_name(player: object, seat: Seat) -> str:
    """Return the name of a player in a replay's head; the seat if it has no readable name. The result isn't escaped, and the file is untrusted.

    In a league the team's name comes first, and the bot's own name after it in parentheses: a bot chooses its own name, and could choose
    that of another team.
    """
    team, bot = _names(player)
    return f"{team} ({bot})" if team and bot and bot != team else team or bot or seat


def _names(player: object) -> tuple[str, str]:
    """Return the names of a player's team and of its bot; "" for an invisible name."""
    record = player if isinstance(player, dict) else {}
    team, bot = (value if isinstance(value, str) and not is_blank(value) else "" for value in (record.get("team"), record.get("name")))
    return team, bot


def result_sentence(outcome: Outcome, players: Mapping[Seat, Json], failed: Mapping[Seat, str], turns: Mapping[Seat, int]) -> str:
    """Return how a match ended, for people: the game's sentence with the players' names, or whose fault ended it, in which step.

    ``players`` are those of the replay's head, ``failed`` says what those did that failed. A name that several players have is followed by
    the seat.
    """
    names = {seat: escape(next(filter(None, (*_names(player), seat))), 40) for seat, player in players.items()}
    names = {seat: f"{name} ({seat})" if [*names.values()].count(name) > 1 else name for seat, name in names.items()}
    decisive = [seat for seat in names if seat in failed and outcome.reason in (f"{seat}-timeout", f"{seat}-fault")]
    if decisive:
        wins = f"{names[outcome.winner]} wins" if outcome.winner else "Nobody wins"
        did = (f"{names[seat]} {failed[seat]} in step {turns[seat]:,}" for seat in decisive)
        return f"{wins}: {' and '.join(did)}."
    if any(len(seat) > 1 for seat in names):
        return re.sub(rf"\b(?:the )?({'|'.join(names)})\b", lambda match: names[match[1].lower()], outcome.text, flags=re.IGNORECASE)
    # A letter names a player only where the sentence begins.
    letters = re.match(r"((?:[a-z], )*(?:[a-z] and )?[a-z]) (?:wins with|share the) ", outcome.text)
    end = letters.end(1) if letters else 0
    return re.sub(r"\b[a-z]\b", lambda match: names.get(match[0], match[0]), outcome.text[:end]) + outcome.text[end:]


def recorded_sentence(
    result: Mapping[str, Json], players: Mapping[Seat, Json], failed: Mapping[Seat, str] = {}, turns: Mapping[Seat, int] = {}
) -> str:
    """Return how a recorded match ended, for people. A result of an earlier version has no such sentence: it is made, with what is known of faults."""
    if isinstance(written := result.get("sentence"), str):
        return written
    winner: Json = result.get("winner")
    outcome = Outcome(str(result.get("reason")), winner if winner in list(players) else None, {}, str(result.get("text", "")))
    return result_sentence(outcome, players, failed, turns)


def what_failed(fault: Fault) -> str:
    """Return what the player of a fault did."""
    return str(fault.values.get("words", "left")) if fault.cause == "left" else FAILED[fault.kind]
