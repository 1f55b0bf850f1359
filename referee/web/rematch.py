"""The agreement of the people of a match on a rematch. No input, no output."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from referee.games.game import Json, Seat

#: The kinds of rematch: everybody keeps the seat, or everybody takes the next seat.
SAME, SWAPPED = "same", "swapped"


class Rematch:
    """What the people at ``seats`` want after their match.

    ``offers`` has the player of each seat for each kind of rematch, or None for a kind that isn't possible. ``why_not`` says why.
    """

    def __init__(self, seats: Iterable[Seat], offers: Mapping[str, Mapping[Seat, str] | None], why_not: str = "") -> None:
        self.offers = {kind: dict(lineup) for kind, lineup in offers.items() if lineup is not None}
        self._why_not = why_not
        self._wishes: dict[Seat, str | None] = dict.fromkeys(seats)
        #: The kind on which all have agreed.
        self.agreed: str | None = None

    def take(self, seat: Seat, wish: Json) -> str | None:
        """Take a person's wish: a kind, or None to take it back. Return the kind when all have agreed for the first time."""
        if self.agreed is not None or seat not in self._wishes or not (wish is None or (isinstance(wish, str) and wish in self.offers)):
            return None
        self._wishes[seat] = wish
        if wish is not None and set(self._wishes.values()) == {wish}:
            self.agreed = wish
            return wish
        return None

    def refuse(self) -> None:
        """Take all wishes back."""
        if self.agreed is None:
            self._wishes = dict.fromkeys(self._wishes)

    def to_json(self, here: Container[Seat]) -> dict[str, Json]:
        """The state as the pages show it. ``here`` are the seats whose page is open."""
        people = {seat: {"wish": wish, "is_here": seat in here} for seat, wish in self._wishes.items()}
        return {"type": "rematch", "offers": self.offers, "why_not": self._why_not, "people": people, "agreed": self.agreed}
