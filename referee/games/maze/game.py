"""Maze as a game: its rules and its capabilities for play and display."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.base import BaseGame, imported
from referee.games.capabilities import HumanPlay
from referee.games.game import Notice, Outcome
from referee.games.maze import text, variants
from referee.games.maze.codec import MazeCodec
from referee.games.maze.options import INFO
from referee.games.maze.state import MOST_ILLEGAL, POLICEMAN, SEATS, THIEF, Go, Settings, State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.capabilities import Appraisal, Marking, Samples, Starters, TextView
    from referee.games.game import Json, Seat

_NOBODY: tuple[str, ...] = ()
_THIEF_ALONE, _POLICEMAN_ALONE = (THIEF,), (POLICEMAN,)
_NO_ORDER = Go("")
#: A number of plies above that of any game.
_NEVER = -(10**9)


class _Pairing:
    """Two teams swap the roles on one start."""

    verb = "runs"
    shares_start = True

    def winner(self, first: tuple[Outcome, int], second: tuple[Outcome, int]) -> str | None:
        """The team with more points in both games; then the quicker escape, then the quicker capture. Source: rules of Maze, "Policemen"."""
        games = {"a": (first, second), "b": (second, first)}
        worth = {}
        for team, ((as_thief, escape), (as_policeman, capture)) in games.items():
            points = (as_thief.scores[THIEF] or 0) + (as_policeman.scores[POLICEMAN] or 0)
            quick = -escape if as_thief.reason == "escaped" else _NEVER
            worth[team] = (points, quick, -capture if as_policeman.reason == "caught" else _NEVER)
        return None if worth["a"] == worth["b"] else max(worth, key=worth.__getitem__)

    def steps_needed(self, outcome: Outcome, steps: int, settings: Settings) -> int:
        """The steps of an escape. Without a limit, a thief that did not escape counts as if it had been still under way at twice the end."""
        return steps if outcome.reason == "escaped" else 2 * (settings.max_moves or steps)


class _Metrics:
    """Verdicts on positions, from the solved game."""

    def measure(self, before: State | None, state: State) -> Mapping[str, Json]:
        """``winner`` ("" for a draw), ``plies`` until then, and the ``best`` orders; at the start also the squares of both players."""
        from referee.games.maze.solver import solution

        solved = solution(state.settings.layout)
        value = solved.value(state.thief, state.policeman, is_thiefs=state.is_thiefs)
        squares = state.settings.layout.squares
        start = {} if before is not None else {THIEF: list(squares[state.thief]), POLICEMAN: list(squares[state.policeman])}
        best = [] if state.ended else solved.best(state.thief, state.policeman, is_thiefs=state.is_thiefs)
        return {"winner": value.winner, "plies": value.plies, "best": best, **start}


class Maze(BaseGame[State, Go, Settings]):
    """Implements ``referee.games.game.Game``."""

    info = INFO
    codec = MazeCodec()
    pairing = _Pairing()
    #: Source of the settings: rules of Maze, "Start" and "Play".
    human_play = HumanPlay(settings={"parity": "any", "max_moves": 0})
    text: TextView[State] = text
    metrics = _Metrics()
    appraisal: Appraisal[State, Go, Settings] = imported("appraisal")
    marking: Marking = imported("marking:MARKING")
    samples: Samples = imported("samples:SAMPLES")
    starters: Starters = imported("starters:STARTERS")

    def seats(self, settings: Settings) -> tuple[Seat, ...]:
        """The thief, then the policeman."""
        return SEATS

    def start(self, settings: Settings, secret: bytes = b"") -> State:
        """Return the first position: the given squares, or a pair drawn uniformly from all allowed pairs with the match's secret."""
        layout = settings.layout
        if settings.thief is not None and settings.policeman is not None:
            return State(settings, 0, layout.index[settings.thief], layout.index[settings.policeman])
        return State(settings, 0, *variants.start(settings, _drawn(secret)))

    def movers(self, state: State) -> tuple[Seat, ...]:
        """The thief and the policeman in turn."""
        if state.ended:
            return _NOBODY
        return _THIEF_ALONE if state.is_thiefs else _POLICEMAN_ALONE

    def step(self, state: State, moves: Mapping[Seat, Go]) -> tuple[State, tuple[Notice, ...]]:
        """One ply. Source: rules of Maze, "Play"."""
        if state.ended:
            raise ValueError(f"the game is over: {state.ended}")
        seat, here = (THIEF, state.thief) if state.is_thiefs else (POLICEMAN, state.policeman)
        order = moves.get(seat, _NO_ORDER).go
        neighbours = state.settings.layout.neighbours[here]
        illegal = state.illegal
        notices: tuple[Notice, ...] = ()
        if order not in neighbours:
            illegal, notices = _illegal(state, seat, here, order)
            if max(illegal) >= MOST_ILLEGAL:
                return state._replace(step=state.step + 1, illegal=illegal, ended=f"{seat}-fault"), notices
            order = next(iter(neighbours))
        there = neighbours[order]
        if state.is_thiefs:
            after = state._replace(step=state.step + 1, illegal=illegal, thief=there, thief_from=here)
        else:
            after = state._replace(step=state.step + 1, illegal=illegal, policeman=there, policeman_from=here)
        ended = _end(after, has_thief_moved=state.is_thiefs)
        return after._replace(ended=ended) if ended else after, notices

    def fault(self, state: State, faults: Mapping[Seat, str]) -> State:
        """A player that fails loses. If both fail before the first ply, the thief loses, because it would have moved first."""
        seat = THIEF if THIEF in faults else POLICEMAN
        return state._replace(ended=f"{seat}-{'timeout' if faults[seat] == 'late' else 'fault'}")

    def outcome(self, state: State) -> Outcome | None:
        """Return the outcome: one point for the winner, half a point each for a draw."""
        if not state.ended:
            return None
        winner, text = _ENDS[state.ended]
        if max(state.illegal) >= MOST_ILLEGAL:
            text = f"The {THIEF if winner == POLICEMAN else POLICEMAN} loses by its third illegal order, after {{moves}} of the thief."
        count = f"{state.moves:,} move{'s' * (state.moves != 1)}"
        points = {seat: 0.5 if winner is None else float(seat == winner) for seat in SEATS}
        return Outcome(state.ended, winner, points, text.format(moves=count), "points")


def _illegal(state: State, seat: Seat, here: int, order: str) -> tuple[tuple[int, int], tuple[Notice, ...]]:
    """Return the counts of illegal orders with one more, and the notice of it."""
    layout = state.settings.layout
    illegal = (state.illegal[0] + (seat == THIEF), state.illegal[1] + (seat == POLICEMAN))
    times = illegal[SEATS.index(seat)]
    row, column = layout.squares[here]
    what = "has lost" if times >= MOST_ILLEGAL else f"goes {next(iter(layout.neighbours[here]))}"
    text = f"illegal order number {times} of the {seat}, {order!r:.44} from ({row}, {column}): it {what}"
    return illegal, (Notice("illegal-order", text, seat, {"order": order[:40], "times": times}),)


def _end(state: State, *, has_thief_moved: bool) -> str:
    """Return the reason for which a ply has ended the game, "" if it hasn't."""
    if has_thief_moved and state.thief == state.settings.layout.exit:
        return "escaped"
    if state.thief == state.policeman:
        return "caught"
    limit = state.settings.max_moves
    return "move-limit" if limit and not has_thief_moved and state.moves >= limit else ""


def _drawn(secret: bytes) -> int:
    """Return a huge number from the match's secret, so that its remainders are close to uniform."""
    import hashlib

    return int.from_bytes(hashlib.sha256(secret + b"/start").digest(), "big")


_ENDS = {
    "escaped": (THIEF, "The thief escapes after {moves}."),
    "caught": (POLICEMAN, "The policeman catches the thief after {moves}."),
    "move-limit": (None, "The thief is still on the run after {moves}: a draw."),
    "thief-timeout": (POLICEMAN, "The thief runs out of time after {moves}."),
    "thief-fault": (POLICEMAN, "The thief fails after {moves}."),
    "policeman-timeout": (THIEF, "The policeman runs out of time after {moves}."),
    "policeman-fault": (THIEF, "The policeman fails after {moves}."),
}

GAME = Maze()
