"""Rectangle as a game: its rules and its capabilities for play and display."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.base import BaseGame, imported
from referee.games.capabilities import HumanPlay
from referee.games.game import Outcome
from referee.games.rectangle import rules, text
from referee.games.rectangle.codec import RectangleCodec
from referee.games.rectangle.options import INFO
from referee.games.rectangle.state import LETTERS, Settings, State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.capabilities import Appraisal, Marking, Samples, Starters, TextView
    from referee.games.game import Notice, Seat
    from referee.games.rectangle.state import Orders, Place

    Move = Place | Orders

_NOBODY: tuple[str, ...] = ()


class Rectangle(BaseGame[State, "Move", Settings]):
    """Implements ``referee.games.game.Game``."""

    info = INFO
    codec = RectangleCodec()
    human_play = HumanPlay(is_paced=True, set_up=1)
    text: TextView[State] = text
    appraisal: Appraisal[State, Move, Settings] = imported("appraisal")
    marking: Marking = imported("marking:MARKING")
    samples: Samples = imported("samples:SAMPLES")
    starters: Starters = imported("starters:STARTERS")

    def seats(self, settings: Settings) -> tuple[Seat, ...]:
        """The players' letters, in the order in which they are named."""
        return tuple(LETTERS[: settings.players])

    def start(self, settings: Settings, secret: bytes = b"") -> State:
        """The empty board; ``secret`` places robots that their players don't."""
        nothing = ((0,) * settings.n,) * settings.players
        zeros = (0,) * settings.players
        cells = b"." * (settings.n * settings.n)
        return State(settings, 0, cells, nothing, nothing, (0,) * settings.n, (), zeros, zeros, 0, (), secret=secret)

    def movers(self, state: State) -> tuple[Seat, ...]:
        """Return the seats of all players that have not failed."""
        if state.ended:
            return _NOBODY
        if state.failed:
            return tuple(seat for seat in state.seats if seat not in state.failed)
        return state.seats

    def step(self, state: State, moves: Mapping[Seat, Move]) -> tuple[State, tuple[Notice, ...]]:
        """The set-up or one turn; a seat without a move does nothing."""
        if state.ended:
            raise ValueError(f"the game is over: {state.ended}")
        return rules.step(state, moves)

    def fault(self, state: State, faults: Mapping[Seat, str]) -> State:
        """A player that fails keeps its score and gets no more questions. Its robots stay in place, and the other players continue."""
        return state._replace(failed=state.failed | faults.keys())

    def outcome(self, state: State) -> Outcome | None:
        """Scores and competition ranks. Source: rules of Rectangle, "Ranking"."""
        if not state.ended:
            return None
        ranks = {seat: 1 + sum(other > score for other in state.scores) for seat, score in zip(state.seats, state.scores, strict=True)}
        scores = dict(zip(state.seats, state.scores, strict=True))
        first = [seat for seat, rank in ranks.items() if rank == 1]
        best = scores[first[0]]
        count = f"{best:,} cell{'s' * (best != 1)}"
        why = f"nothing was gained in {state.stagnation:,} turns" if state.ended == "stagnation" else "the last turn is over"
        if len(first) == 1:
            text = f"{first[0]} wins with {count} after {state.turn:,} turns: {why}."
        else:
            text = f"{', '.join(first[:-1])} and {first[-1]} share the first place with {count} after {state.turn:,} turns: {why}."
        return Outcome(state.ended, first[0] if len(first) == 1 else None, scores, text, "cells", ranks)


GAME = Rectangle()
