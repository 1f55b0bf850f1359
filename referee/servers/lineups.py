"""Which of our bots play on a server of the course, or against its clients."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from referee.errors import PlayerError, UsageError
from referee.games.evasion.state import COMPASS
from referee.players.faults import the_seat
from referee.players.spec import resolve

if TYPE_CHECKING:
    from referee.players.spec import Spec


def heading(text: str) -> str:
    """Return "x,y,dx,dy" from "x,y,HEADING", the notation of the course. Raises UsageError for any other text."""
    found = re.fullmatch(r"\s*(\d{1,9})\s*,\s*(\d{1,9})\s*,\s*(NE|NW|SE|SW)\s*", text, re.IGNORECASE)
    if not found:
        raise UsageError(f"--hunter is {text!r:.80}, but must be x,y,HEADING with NE, NW, SE or SW, as in 0,0,SE.")
    dx, dy = COMPASS[found[3].upper()]
    return f"{found[1]},{found[2]},{dx},{dy}"


def opponent(bot: str | None, settings: Any) -> dict[str, str]:
    """Return the local bot by its seat: the prey, or the hunter if the bot can't play the prey. Empty without --opponent."""
    if bot is None:
        return {}
    refusals = []
    for seat in ("prey", "hunter"):
        try:
            spec = resolve(bot, seat, "evasion", settings)
        except PlayerError as error:
            refusals.append(error)
            continue
        if spec.is_human:
            raise UsageError("--opponent is a person; name a bot.")
        return {seat: bot}
    raise refusals[-1]


def own_bots(bots: list[str], dialect: str) -> dict[str, Spec]:
    """Return our bots by seat. The 2010 server assigns the seat later; the architect's sessions use both seats."""
    if len(bots) > 2:
        raise UsageError(f"{len(bots)} bots were named; name one for both roles, or a hunter and a prey.")
    specs = {}
    refusals = []
    for seat, bot in zip(("hunter", "prey"), 2 * bots, strict=False):
        try:
            spec = resolve(bot, seat, "evasion")
        except PlayerError as error:
            refusals.append(error)
            continue
        if spec.is_human or spec.dialect is not None:
            raise UsageError(f"{the_seat(seat)} {bot!r:.80} is not a program that speaks the native protocol.")
        specs[seat] = spec
    if refusals and (not specs or dialect == "architect" or len(bots) == 2):
        raise refusals[0]
    return specs
