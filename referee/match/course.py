"""The course of a match: who is asked, what a fault does, and which event follows.

This is a generator without input, output or a clock, and its imports have none either. So any code that can ask players can drive it:
``Match`` on this machine, or a page in its browser.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from referee.replay.events import PlayersFaulted, StepTaken

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from referee.games.game import Game, Seat
    from referee.games.outcome import M, S
    from referee.replay.answers import TurnAnswers
    from referee.replay.faults import Fault


class Turn(NamedTuple):
    """A request to ask all movers about one position. The driver sends back ``TurnReplies``."""

    turn: int
    state: Any
    movers: Sequence[Seat]


class TurnReplies(NamedTuple):
    """The result of a turn: the answers, the faults of the players, and the changed stderr offsets, by seat.

    Players who were not asked may also have faults, because they have left.
    """

    answers: TurnAnswers
    faults: Mapping[Seat, Fault]
    logs: Mapping[Seat, int]


if TYPE_CHECKING:
    Course: TypeAlias = Generator[Turn | StepTaken | PlayersFaulted, TurnReplies | None, tuple[S, int]]


def course(game: Game[S, M], settings: Any, state: S, turn: int, greeting: TurnReplies) -> Course[S]:
    """Yield the turns and events of a match from a position on; ``greeting`` has the faults of players that aren't ready.

    The driver answers a ``Turn`` with its replies, and an event with None. Returns the last position, and the number of steps before it.
    """
    adjudication = game.adjudication
    if adjudication is not None and not adjudication.is_enabled(settings):
        adjudication = None
    if greeting.faults:
        before, state = state, _failed(game, state, greeting.faults)
        yield PlayersFaulted(turn, greeting.faults, before, state, greeting.answers, greeting.logs)
        if game.outcome(state) is not None:
            return state, turn
    # A step may have no movers although the match isn't over.
    while (movers := game.movers(state)) or game.outcome(state) is None:
        if adjudication is not None and adjudication.needs_adjudication(state):
            # No player is asked meanwhile. An adjudication takes half a second at most: its budget counts work.
            ruled = adjudication.adjudicate(state)
            if game.outcome(ruled) is not None:
                return ruled, turn
        replies = yield Turn(turn, state, movers)
        assert replies is not None, "a turn has replies"
        answers, faults, logs = replies
        if faults:
            # The game gets all faults of a turn in one call. If it goes on, the step follows with the moves of the others.
            before, state = state, _failed(game, state, faults)
            yield PlayersFaulted(turn, faults, before, state, answers, logs)
            if game.outcome(state) is not None:
                return state, turn
        moves = {seat: answer.move for seat, answer in answers.items() if answer.move is not None}
        after, notices = game.step(state, moves)
        yield StepTaken(turn, state, after, moves, notices, answers, logs)
        state = after
        turn += 1
    return state, turn


def _failed(game: Game[S, M], state: S, faults: Mapping[Seat, Fault]) -> S:
    """Return the position after the game has handled the faults of one turn."""
    return game.fault(state, {seat: fault.kind for seat, fault in faults.items()})
