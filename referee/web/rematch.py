"""The agreement of the people of a match on a rematch. No input, no output."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from referee.games.game import Json, Seat

#: The kinds of rematch: everybody keeps the seat, or everybody takes the next seat.
SAME, SWAPPED = "same", "swapped"


class Rematch:
    """The rematches that the people at ``seats`` propose after their match.

    ``offers`` has the player of each seat for each kind of rematch, or None for a kind that isn't possible. ``why_not`` says why.
    """

    def __init__(self, seats: Iterable[Seat], offers: Mapping[str, Mapping[Seat, str] | None], why_not: str = "") -> None:
        self.offers = {kind: dict(lineup) for kind, lineup in offers.items() if lineup is not None}
        self._why_not = why_not
        self._proposals: dict[Seat, str | None] = dict.fromkeys(seats)
        #: The kind on which all have agreed.
        self.agreed: str | None = None

    def take(self, seat: Seat, proposal: Json) -> str | None:
        """Take a person's proposal: a kind of rematch, or None to withdraw it. Return the kind when all have agreed for the first time."""
        if (
            self.agreed is not None
            or seat not in self._proposals
            or not (proposal is None or (isinstance(proposal, str) and proposal in self.offers))
        ):
            return None
        self._proposals[seat] = proposal
        if proposal is not None and set(self._proposals.values()) == {proposal}:
            self.agreed = proposal
            return proposal
        return None

    def refuse(self) -> None:
        """Withdraw all proposals."""
        if self.agreed is None:
            self._proposals = dict.fromkeys(self._proposals)

    def to_json(self, here: Container[Seat]) -> dict[str, Json]:
        """The state as the pages show it. ``here`` are the seats whose page is open."""
        people = {seat: {"proposal": proposal, "is_here": seat in here} for seat, proposal in self._proposals.items()}
        return {"type": "rematch", "offers": self.offers, "why_not": self._why_not, "people": people, "agreed": self.agreed}
