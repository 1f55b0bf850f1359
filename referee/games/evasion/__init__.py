"""Evasion: a hunter that builds walls chases a prey. The rules, point by point, are in this folder's README."""

from __future__ import annotations

from referee.games.evasion import variants, view_turns
from referee.games.evasion import view as views
from referee.games.evasion.analysis import distance, reachable
from referee.games.evasion.rules import Draft
from referee.games.evasion.state import HUNTER, PREY, SEATS, Body, HunterMove, PreyMove, Settings, State
from referee.games.evasion.walls import Walls
from referee.games.game import Outcome
from referee.support.record import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from referee.games.game import Json, Notice, Seat
    from referee.games.picture import Picture

    Move = HunterMove | PreyMove | view_turns.Move

_RULE_SETS = variants.RULE_SETS
_NOBODY: tuple[str, ...] = ()
_ENDED_BY_A_STEP = ("caught", "trapped")


class Evasion:
    """The room's side of ``referee.games.game.Game``."""

    name = "evasion"
    version = 1
    rule_sets = tuple(variants.RULE_SETS)
    is_open = True
    size_settings: tuple[str, ...] = ("width", "height")
    is_paced = True
    pace: float | None = 8.0
    set_up = 0
    players_setting = ""
    people_settings: Mapping[str, Json] = {}
    pair_verb = "hunts"
    pairs_share_start = False

    def settings(self, rules: str | None, given: Mapping[str, Json]) -> Settings:
        """Checked settings; SettingsError names the setting and what is allowed."""
        return variants.settings(rules, given)

    def settings_json(self, settings: Settings) -> dict[str, Json]:
        """The settings as JSON, without the rule set's name."""
        record: dict[str, Json] = {name: getattr(settings, name) for name in variants.RULE_SETS[settings.rules].names}
        record["hunter"], record["prey"] = list(settings.hunter), list(settings.prey)
        if not settings.adjudicate_after:
            del record["adjudicate_after"]
        return record

    def seats(self, settings: Settings) -> tuple[Seat, ...]:
        """The hunter, then the prey."""
        return SEATS

    def start(self, settings: Settings, secret: bytes = b"") -> State:
        """The first state. Nothing in Evasion is random, so ``secret`` is not used."""
        x, y = settings.prey
        return State(settings, 0, Body(*settings.hunter), Body(x, y, 0, 0), Walls(settings.width, settings.height))

    def movers(self, state: State) -> tuple[Seat, ...]:
        """Who can do something in this step; nobody when the game is over, or while everything cools down."""
        if state.ended:
            return _NOBODY
        found: tuple[Seat, ...] = _RULE_SETS[state.settings.rules].form.movers(state)
        return found

    def view(self, state: State, seat: Seat | None) -> Json:
        """The whole state: nothing is hidden from anybody."""
        return _RULE_SETS[state.settings.rules].form.view(state)

    def view_text(self, state: State, seat: Seat | None = None) -> str:
        """The same as compact JSON."""
        text: str = _RULE_SETS[state.settings.rules].form.view_text(state)
        return text

    def parse(self, state: State, seat: Seat, answer: Json) -> Move:
        """An answer as a move of the rule set."""
        move: Move = _RULE_SETS[state.settings.rules].form.parse(seat, answer)
        return move

    def simple_moves(self, state: State, seat: Seat) -> Sequence[Move]:
        """Doing nothing, and the longest wall of each kind or each direction."""
        moves: Sequence[Move] = _RULE_SETS[state.settings.rules].form.simple_moves(seat)
        return moves

    def unknown_keys(self, state: State, seat: Seat, answer: Json) -> Sequence[str]:
        """Keys of an answer that mean nothing to the seat."""
        keys: Sequence[str] = _RULE_SETS[state.settings.rules].form.unknown_keys(seat, answer)
        return keys

    def move_json(self, move: Any) -> Json:
        """A move as an answer would give it."""
        command = view_turns.move_json(move)
        return views.move_json(move) if command is None else command

    def step(self, state: State, moves: Mapping[Seat, Any]) -> tuple[State, tuple[Notice, ...]]:
        """One time step; a seat without a move does nothing."""
        if state.ended:
            raise ValueError(f"the game is over: {state.ended}")
        draft = Draft(state, moves.get(HUNTER), moves.get(PREY))
        for stage in variants.RULE_SETS[state.settings.rules].stages:
            stage(draft)
        return draft.finish(), tuple(draft.notices)

    def changes_text(self, before: State, after: State) -> str:
        """What one step changed, as compact JSON."""
        return views.changes_text(before, after)

    def fault(self, state: State, faults: Mapping[Seat, str]) -> State:
        """The game ends; if both fail in one step it counts as the prey's failure, the course's own rule."""
        seat = PREY if PREY in faults else HUNTER
        return state._replace(ended=f"{seat}-{'timeout' if faults[seat] == 'late' else 'fault'}")

    def outcome(self, state: State) -> Outcome | None:
        """How the game ended. Source: rules of Evasion, section "How a game ends"."""
        if not state.ended:
            return None
        winner, scored, text = _ENDS[state.ended]
        rules = _RULE_SETS[state.settings.rules]
        # A game that ends by a turn ends in the round of that turn; one that is broken off has so many whole rounds.
        last = state.step - (rules.per_unit - 1 if state.ended in _ENDED_BY_A_STEP else 0)
        count = max(0, last) // rules.per_unit
        text = text.format(steps=f"{count:,} {rules.unit}{'s' * (count != 1)}")
        if state.ended == _ADJUDICATED:
            return Outcome("evaded", winner, {HUNTER: None}, f"{text} {_quiet(state)}", f"{rules.unit}s")
        return Outcome(state.ended, winner, {HUNTER: count if scored else None}, text, f"{rules.unit}s")

    def pair_winner(self, first: tuple[Outcome, int], second: tuple[Outcome, int]) -> str | None:
        """The team whose hunter needs fewer steps. Source: rules of Evasion, section "How a game ends"."""
        ours, theirs = (float("inf") if outcome.scores[HUNTER] is None else outcome.scores[HUNTER] or 0 for outcome, _ in (first, second))
        return None if ours == theirs else "a" if ours < theirs else "b"

    def adjudicates(self, settings: Settings) -> bool:
        """Whether the settings ask for it."""
        return settings.adjudicate_after > 0

    def is_due(self, state: State) -> bool:
        """Every so many steps without a change of walls; where there can be no walls at once."""
        every = state.settings.adjudicate_after
        if not every or state.ended:
            return False
        quiet = state.step - state.changed
        return quiet % every == 0 and (quiet > 0 or not state.settings.max_walls)

    def adjudicate(self, state: State) -> State:
        """The game ends as evaded if the prey can stay free for ever with the walls as they are.

        That it can now means that it could ever since the walls changed. Source: rules of Evasion, "Is it impossible for H to find P?".
        """
        from referee.games.evasion.verdict import EVADE, verdict

        return state._replace(ended=_ADJUDICATED) if verdict(state).kind == EVADE else state

    def glance(self, state: State) -> Mapping[str, Json]:
        """What a live line shows."""
        apart = distance(state.hunter[:2], state.prey[:2])
        return {"step": state.step, "distance": round(apart, 1), "walls": len(state.walls)}

    def board_lines(self, state: State, columns: int, rows: int) -> list[str]:
        """The board as text."""
        from referee.games.evasion import board

        return board.lines(state, columns, rows, y_is_up=_RULE_SETS[state.settings.rules].y_is_up)

    def measures(self, before: State | None, state: State) -> Mapping[str, Json]:
        """The cells that the prey can get to, which change with the walls alone."""
        if before is not None and before.walls is state.walls:
            return {}
        return {"area": len(reachable(state.walls, state.prey[:2]))}

    def is_turning(self, before: State, after: State) -> bool:
        """Whether walls have changed: while they stand, a capture that is certain stays so."""
        return before.walls is not after.walls and before.walls != after.walls

    def certainty(self, state: State) -> Mapping[str, Json]:
        """The verdict: ``verdict`` "capture", "evade" or "undecided", ``within`` so many steps, ``separated``."""
        from referee.games.evasion import insight

        return insight.certainty(state)

    def certainty_text(self, certainty: Mapping[str, Json]) -> str:
        """The verdict in words."""
        from referee.games.evasion import insight

        return insight.sentence(dict(certainty))

    def insight(self, state: State) -> Mapping[str, Json]:
        """The prey's safe cells and reach, and the hunter's way."""
        from referee.games.evasion import insight

        return insight.overlay(state)

    def advice(self, state: State) -> Mapping[str, Json]:
        """The best wall that the hunter could build now."""
        from referee.games.evasion import insight

        found = insight.best_wall(state)
        if found is None:
            return {}
        certain = insight.sentence({"verdict": found.verdict, "within": found.within, "separated": False})
        wall = found.wall
        first = f"wall {found.remove[0]} taken down, " if found.remove else ""
        text = f"{first}a {wall.kind} wall from ({wall.x1}, {wall.y1}) to ({wall.x2}, {wall.y2}): {certain}"
        if found.verdict != "capture":
            text += f", {found.safe:,} safe cells left"
        return {**found.to_json(), "text": text}

    def picture(self, states: Sequence[State]) -> Picture:
        """The board with walls, players and their ways."""
        from referee.games.evasion.picture import draw

        return draw(states, y_is_up=_RULE_SETS[states[-1].settings.rules].y_is_up)


_ADJUDICATED = "adjudicated"


def _quiet(state: State) -> str:
    """Why a game was adjudicated."""
    if not state.settings.max_walls:
        return "There can be no walls."
    count = state.step - state.changed
    unit = "step" if _RULE_SETS[state.settings.rules].per_unit == 1 else "turn"
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
