"""The positions in which a bot is asked: those that its game offers, or those of a match in which all other players make simple moves."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from referee.games.capabilities import EMPTY, FULL, LAST, Position
from referee.games.game import IllegalMove, MalformedMove

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from referee.games.capabilities import Samples
    from referee.games.game import Game, Json, Seat

#: The most steps that are played to find the next position in which a seat is asked.
_MOST_STEPS = 2_000
#: The secret of matches that are played for their positions.
SECRET = b"referee check"


class Positions:
    """The positions of one seat. ``samples`` is None for a game that offers none."""

    def __init__(self, game: Game[Any, Any], settings: Any, seat: Seat) -> None:
        self.game = game
        self.settings = settings
        self.seat = seat
        self.samples: Samples | None = game.samples
        self._by_kind: dict[str, list[Position]] | None = None

    def of(self, kind: str) -> list[Position]:
        """Return the positions of a kind; empty if there are none."""
        if self._by_kind is None:
            found = self._played() if self.samples is None else self.samples.positions(self.settings, self.seat)
            self._by_kind = {}
            for position in found:
                self._by_kind.setdefault(position.kind, []).append(position)
        return self._by_kind.get(kind, [])

    def _played(self) -> list[Position]:
        """Return the first, a middle and the last position of a match with plain moves."""
        states = list(islice(self.walk(self.settings, lambda *_: None), 200))
        if not states:
            return []
        named = ((EMPTY, "the first question", 0), (FULL, "in the middle of a match", len(states) // 2), (LAST, "the last question", -1))
        return [Position(kind, about, self.settings, states[place][1], states[place][0]) for kind, about, place in named]

    def walk(self, settings: Any, moves: Callable[[int, Any], Any]) -> Iterator[tuple[int, Any]]:
        """Yield the turns and positions of a match in which the seat is asked, until it is over.

        ``moves`` returns the seat's move for a turn and its position after it was yielded; None: a simple move.
        """
        game, state, turn = self.game, self.game.start(settings, SECRET), 0
        idle = 0
        while game.outcome(state) is None and idle < _MOST_STEPS:
            idle += 1
            given: dict[Seat, Any] = {}
            movers = game.movers(state)
            if self.seat in movers:
                idle = 0
                yield turn, state
                given[self.seat] = moves(turn, state)
            state, _ = game.step(state, self._completed(state, movers, given))
            turn += 1

    def _completed(self, state: Any, movers: tuple[Seat, ...], given: Mapping[Seat, Any]) -> dict[Seat, Any]:
        found = {}
        for seat in movers:
            move = given.get(seat)
            try:
                found[seat] = self.game.codec.parse(state, seat, self.simple_move(state, seat)) if move is None else move
            except (MalformedMove, IllegalMove):
                # A game without samples in which {} is no move.
                continue
        return found

    def simple_move(self, state: Any, seat: Seat) -> Json:
        """Return a simple move as JSON."""
        return {} if self.samples is None else self.samples.move(state, seat)
