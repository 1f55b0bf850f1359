"""The matches of people who play one after the other: rematches, with the same or with swapped seats, at the same addresses."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import PlayerError
from referee.players.spec import HUMAN, resolve
from referee.replay.paths import SUFFIX
from referee.support.escape import escape
from referee.web.live import Offers, PageAddress
from referee.web.rematch import SAME, SWAPPED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.api.runner import MatchRequest
    from referee.games.game import Seat


class SeriesMatch(NamedTuple):
    """One of several matches of the same players. ``first`` are the players of the first match, and ``lineup`` those of this one.

    ``turns`` counts how often everybody has taken the next seat. ``place`` is where the pages of the match before were served.
    """

    match: MatchRequest
    first: Mapping[Seat, str]
    lineup: Mapping[Seat, str]
    turns: int = 0
    number: int = 1
    place: PageAddress | None = None

    def offers(self) -> Offers:
        """Return the rematches that are possible after this match."""
        try:
            swapped, why_not = self._turned(self.turns + 1), ""
        except PlayerError as error:
            swapped, why_not = None, str(error)
        names = {SAME: dict(self.lineup), SWAPPED: swapped}
        shown = {kind: lineup and {seat: escape(name, 40) for seat, name in lineup.items()} for kind, lineup in names.items()}
        return Offers(shown, escape(why_not, 300))

    def _turned(self, turns: int) -> dict[Seat, str]:
        """Return the players when everybody has taken the next seat so often. PlayerError if a program can't."""
        match = self.match
        if match.beginning is not None:
            raise PlayerError("The match begins in the middle of another one, so everybody keeps the seat.")
        seats = list(self.first)
        turned = {}
        for at, seat in enumerate(seats):
            old = seats[(at - turns) % len(seats)]
            turned[seat] = self.first[old] if old == seat else _in_seat(self.first[old], old, seat, match)
        return turned

    def again(self, kind: str, place: PageAddress) -> SeriesMatch:
        """Return the next match."""
        turns, number = self.turns + (kind == SWAPPED), self.number + 1
        lineup = self._turned(turns) if kind == SWAPPED else self.lineup
        tokens = dict(place.tokens)
        if kind == SWAPPED:
            seats = list(self.first)
            tokens = {seat and seats[(seats.index(seat) + 1) % len(seats)]: token for seat, token in tokens.items()}
        seed = None if self.match.seed is None else self.match.seed + 1
        match = self.match._replace(seed=seed, out=_numbered(self.match.out, number))
        return self._replace(match=match, lineup=lineup, turns=turns, number=number, place=PageAddress(place.listener, tokens))


def _in_seat(name: str, old: Seat, seat: Seat, match: MatchRequest) -> str:
    """Return who plays a seat in place of a player of another seat: the player itself, or for an example bot one that is about as strong.

    PlayerError if there is none.
    """
    game = match.game.info.name
    if name == HUMAN:
        return name
    try:
        resolve(name, seat, game, match.settings)
    except PlayerError:
        strong, others = _examples(old, match), _examples(seat, match)
        if name not in strong or not others:
            raise
        share = strong.index(name) / max(1, len(strong) - 1)
        return others[round(share * (len(others) - 1))]
    return name


def _examples(seat: Seat, match: MatchRequest) -> list[str]:
    """Return the example bots for a seat, weak to strong."""
    from example_bots import BOTS

    rules = match.settings.rules
    return [bot.name for bot in BOTS if bot.game == match.game.info.name and bot.plays(seat) and rules in (bot.rules or (rules,))]


def _numbered(out: str | None, number: int) -> str | None:
    """Return where the replay of a further match goes: never into a file that exists. A folder holds them all."""
    if out is None or out.endswith(os.sep) or Path(out).is_dir():
        return out
    path = Path(out)
    ending = next(end for end in (SUFFIX, ".gz", "") if path.name.endswith(end))
    stem, _, old = path.name.removesuffix(ending).rpartition("-")
    stem = stem if old == str(number - 1) and number > 2 else path.name.removesuffix(ending)
    while (found := path.with_name(f"{stem}-{number}{ending or SUFFIX}")).exists():
        number += 1
    return str(found)
