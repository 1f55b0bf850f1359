"""Evasion as a game: its rules and its capabilities for play, display and analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.base import BaseGame, imported
from referee.games.capabilities import HumanPlay
from referee.games.evasion import text, variants
from referee.games.evasion.board.regions import reachable
from referee.games.evasion.board.walls import Walls
from referee.games.evasion.codec.by_rule_set import EvasionCodec
from referee.games.evasion.options import INFO
from referee.games.evasion.state import HUNTER, PREY, SEATS, Body, Settings, State
from referee.games.game import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.capabilities import Analysis, Appraisal, Marking, Samples, Starters, Starts, TextView
    from referee.games.dialect import Dialect
    from referee.games.evasion.codec.turnwise import Move
    from referee.games.game import Json, Notice, Seat

_RULE_SETS = variants.RULE_SETS
_NOBODY: tuple[str, ...] = ()
_ENDED_BY_A_STEP = ("caught", "trapped")
_ADJUDICATED = "adjudicated"


class _Adjudication:
    """Ends games in which the prey can stay free forever."""

    def is_enabled(self, settings: Settings) -> bool:
        """True if the settings ask for it."""
        return settings.adjudicate_after > 0

    def needs_adjudication(self, state: State) -> bool:
        """True after every ``adjudicate_after`` steps without a change of walls; from the start if no walls are possible."""
        every = state.settings.adjudicate_after
        if not every or state.ended:
            return False
        quiet = state.step - state.changed
        return quiet % every == 0 and (quiet > 0 or not state.settings.max_walls)

    def adjudicate(self, state: State) -> State:
        """End the game as evaded if the prey can stay free forever with the present walls.

        If it can now, it could at every step since the walls changed. Source: rules of Evasion, "Is it impossible for H to find P?".
        """
        from referee.games.evasion.analysis.verdict import EVADE, verdict

        return state._replace(ended=_ADJUDICATED) if verdict(state).kind == EVADE else state


class _Pairing:
    """Two teams hunt each other."""

    verb = "hunts"
    shares_start = False

    def winner(self, first: tuple[Outcome, int], second: tuple[Outcome, int]) -> str | None:
        """The team whose hunter needs fewer steps. Source: rules of Evasion, section "How a game ends"."""
        ours, theirs = (float("inf") if outcome.scores[HUNTER] is None else outcome.scores[HUNTER] or 0 for outcome, _ in (first, second))
        return None if ours == theirs else "a" if ours < theirs else "b"

    def steps_needed(self, outcome: Outcome, steps: int, settings: Settings) -> int:
        """The hunter's score, which is the number of steps until the capture."""
        score = outcome.scores[HUNTER]
        return settings.max_steps if score is None else int(score)


class _Metrics:
    """Extra numbers for the viewer's charts."""

    def measure(self, before: State | None, state: State) -> Mapping[str, Json]:
        """Return ``area``, the number of cells that the prey can reach. It changes only with the walls."""
        if before is not None and before.walls is state.walls:
            return {}
        return {"area": len(reachable(state.walls, state.prey[:2]))}


class Evasion(BaseGame[State, "Move", Settings]):
    """Implements ``referee.games.game.Game``."""

    info = INFO
    codec = EvasionCodec()
    adjudication = _Adjudication()
    pairing = _Pairing()
    human_play = HumanPlay(pace=8.0, is_paced=True)
    text: TextView[State] = text
    metrics = _Metrics()
    analysis: Analysis[State] = imported("analysis.presentation")
    appraisal: Appraisal[State, Move, Settings] = imported("analysis.appraisal")
    starts: Starts[Settings] = imported("starts")
    dialects: Mapping[str, Dialect] = imported("dialects:DIALECTS")
    marking: Marking = imported("marking:MARKING")
    samples: Samples = imported("samples:SAMPLES")
    starters: Starters = imported("starters:STARTERS")

    def seats(self, settings: Settings) -> tuple[Seat, ...]:
        """The hunter, then the prey."""
        return SEATS

    def start(self, settings: Settings, secret: bytes = b"") -> State:
        """The first state. Nothing in Evasion is random, so ``secret`` is not used."""
        x, y = settings.prey
        return State(settings, 0, Body(*settings.hunter), Body(x, y, 0, 0), Walls(settings.width, settings.height))

    def movers(self, state: State) -> tuple[Seat, ...]:
        """Return the seats that can move in this step; none if the game is over, or if all of them have a cooldown."""
        if state.ended:
            return _NOBODY
        return _RULE_SETS[state.settings.rules].codec.movers(state)

    def step(self, state: State, moves: Mapping[Seat, Move | None]) -> tuple[State, tuple[Notice, ...]]:
        """One time step; a seat without a move does nothing."""
        return variants.step(state, moves)

    def fault(self, state: State, faults: Mapping[Seat, str]) -> State:
        """End the game. If both fail in one step, it counts as the prey's failure, which is the course's rule."""
        seat = PREY if PREY in faults else HUNTER
        return state._replace(ended=f"{seat}-{'timeout' if faults[seat] == 'late' else 'fault'}")

    def outcome(self, state: State) -> Outcome | None:
        """How the game ended. Source: rules of Evasion, section "How a game ends"."""
        if not state.ended:
            return None
        winner, scored, sentence = _ENDS[state.ended]
        rules = _RULE_SETS[state.settings.rules]
        # A game that a turn ends counts the round of that turn; a game that a fault or a limit ends counts the completed rounds.
        last = state.step - (rules.steps_per_unit - 1 if state.ended in _ENDED_BY_A_STEP else 0)
        count = max(0, last) // rules.steps_per_unit
        sentence = sentence.format(steps=f"{count:,} {rules.unit}{'s' * (count != 1)}")
        if state.ended == _ADJUDICATED:
            return Outcome("evaded", winner, {HUNTER: None}, f"{sentence} {_quiet(state)}", f"{rules.unit}s")
        return Outcome(state.ended, winner, {HUNTER: count if scored else None}, sentence, f"{rules.unit}s")


def _quiet(state: State) -> str:
    """Why a game was adjudicated."""
    if not state.settings.max_walls:
        return "There can be no walls."
    count = state.step - state.changed
    unit = "turn" if _RULE_SETS[state.settings.rules].is_turnwise else "step"
    return f"No wall has changed for {count:,} {unit}{'s' * (count != 1)}."


_ENDS = {
    _ADJUDICATED: (PREY, False, "The prey can evade for ever: the game is adjudicated after {steps}, the hunter has no score."),
    "caught": (HUNTER, True, "The hunter catches the prey after {steps}."),
    "prey-timeout": (HUNTER, True, "The prey runs out of time after {steps}."),
    "prey-fault": (HUNTER, True, "The prey fails after {steps}."),
    "hunter-timeout": (PREY, False, "The hunter runs out of time after {steps}: it has no score."),
    "hunter-fault": (PREY, False, "The hunter fails after {steps}: it has no score."),
    "trapped": (PREY, False, "Hunter and prey are apart for good after {steps}: the prey wins, the hunter has no score."),
    "evaded": (PREY, False, "The prey is still free after {steps}, the step limit: the hunter has no score."),
}

GAME = Evasion()
