"""The positions in which a bot is asked: those that its game offers, or those of a match in which all other players make simple moves."""

from __future__ import annotations

import contextlib
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

from referee.games.capabilities import EMPTY, FULL, LAST, Position
from referee.games.game import IllegalMove, MalformedMove

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from referee.games.capabilities import Samples
    from referee.games.game import Game, Json, Seat, Settings

S = TypeVar("S")

#: The most steps that are played to find the next position in which a seat is asked.
_MOST_STEPS = 2_000
#: The secret of matches that are played for their positions.
SECRET = b"referee check"


class Positions(Generic[S]):
    """The positions of one seat. ``samples`` is None for a game that offers none."""

    def __init__(self, game: Game[S], settings: Settings, seat: Seat) -> None:
        self.game = game
        self.settings = settings
        self.seat = seat
        self.samples: Samples | None = game.samples
        self._by_kind: dict[str, list[Position]] | None = None

    def of(self, kind: str) -> list[Position]:
        """Return the positions of a kind; empty if there are none."""
        if self._by_kind is None:
            positions = self._played() if self.samples is None else self.samples.positions(self.settings, self.seat)
            self._by_kind = {}
            for position in positions:
                self._by_kind.setdefault(position.kind, []).append(position)
        return self._by_kind.get(kind, [])

    def _played(self) -> list[Position]:
        """Return the first, a middle and the last position of a match with plain moves."""
        states = list(islice(self.walk(self.settings), 200))
        if not states:
            return []
        named = ((EMPTY, "the first question", 0), (FULL, "in the middle of a match", len(states) // 2), (LAST, "the last question", -1))
        return [Position(kind, about, self.settings, states[place][1], states[place][0]) for kind, about, place in named]

    def walk(self, settings: Settings, moves: Callable[[int, S], object] = lambda *_: None) -> Iterator[tuple[int, S]]:
        """Yield the turns and positions of a match in which the seat is asked, until it is over.

        ``moves`` returns the seat's move for a turn and its position after it was yielded; None: a simple move, as by default.
        """
        game, state, turn = self.game, self.game.start(settings, SECRET), 0
        idle = 0
        while game.outcome(state) is None and idle < _MOST_STEPS:
            idle += 1
            movers, own_move = game.movers(state), None
            if self.seat in movers:
                idle = 0
                yield turn, state
                own_move = moves(turn, state)
            state, _ = game.step(state, self._moves(state, movers, own_move))
            turn += 1

    def _moves(self, state: S, movers: tuple[Seat, ...], own_move: object) -> dict[Seat, object]:
        """Return the moves of a step: a simple one for each seat without a move."""
        moves = {} if own_move is None else {self.seat: own_move}
        for seat in movers:
            # In a game without samples {} may be no move.
            with contextlib.suppress(MalformedMove, IllegalMove):
                if seat not in moves:
                    moves[seat] = self.game.codec.parse(state, seat, self.simple_move(state, seat))
        return moves

    def simple_move(self, state: S, seat: Seat) -> Json:
        """Return a simple move as JSON."""
        return {} if self.samples is None else self.samples.move(state, seat)
