"""Rectangle: robots paint a grid; whoever closes a ring of its colour owns what is inside. The rules are in this folder's README."""

from __future__ import annotations

from referee.games.game import NothingCertain, Outcome
from referee.games.rectangle import rules, variants
from referee.games.rectangle import view as views
from referee.games.rectangle.state import LETTERS, Orders, Place, Settings, State
from referee.support.record import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from referee.games.game import Json, Notice, Seat
    from referee.games.picture import Picture

    Move = Place | Orders

_NOBODY: tuple[str, ...] = ()


class Rectangle(NothingCertain):
    """The room's side of ``referee.games.game.Game``."""

    name = "rectangle"
    version = 1
    rule_sets = tuple(variants.PRESETS)
    is_open = True
    size_settings: tuple[str, ...] = ("n",)
    is_paced = True
    pace: float | None = None
    set_up = 1
    players_setting = "players"
    people_settings: Mapping[str, Json] = {}
    pair_verb = ""
    pairs_share_start = False

    def settings(self, rules: str | None, given: Mapping[str, Json]) -> Settings:
        """Checked settings; SettingsError names the setting and what is allowed."""
        return variants.settings(rules, given)

    def settings_json(self, settings: Settings) -> dict[str, Json]:
        """The settings as JSON, without the preset's name."""
        return {name: getattr(settings, name) for name in Settings._fields if name != "rules"}

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
        """Everybody who still plays."""
        if state.ended:
            return _NOBODY
        if state.failed:
            return tuple(seat for seat in state.seats if seat not in state.failed)
        return state.seats

    def view(self, state: State, seat: Seat | None) -> Json:
        """The whole position: nothing is hidden but the orders that are being given."""
        return views.view(state)

    def view_text(self, state: State, seat: Seat | None = None) -> str:
        """The same as compact JSON."""
        return views.view_text(state)

    def parse(self, state: State, seat: Seat, answer: Json) -> Move:
        """An answer as a move."""
        return views.parse(state, answer)

    def simple_moves(self, state: State, seat: Seat) -> Sequence[Move]:
        """Doing nothing, and all robots in one direction."""
        return [Orders(), *(Orders((way,) * state.settings.robots) for way in "NESW")]

    def unknown_keys(self, state: State, seat: Seat, answer: Json) -> Sequence[str]:
        """Keys of an answer that mean nothing in this game."""
        return views.unknown_keys(answer)

    def move_json(self, move: Move) -> Json:
        """A move as an answer would give it."""
        return views.move_json(move)

    def step(self, state: State, moves: Mapping[Seat, Move]) -> tuple[State, tuple[Notice, ...]]:
        """The set-up or one turn; a seat without a move does nothing."""
        if state.ended:
            raise ValueError(f"the game is over: {state.ended}")
        return rules.step(state, moves)

    def changes_text(self, before: State, after: State) -> str:
        """What one step changed, as compact JSON."""
        return views.changes_text(before, after)

    def fault(self, state: State, faults: Mapping[Seat, str]) -> State:
        """Who fails keeps its score and is asked no more; its robots stay, and the others play on."""
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

    def pair_winner(self, first: tuple[Outcome, int], second: tuple[Outcome, int]) -> str | None:
        """There are no roles to swap."""
        return None

    def glance(self, state: State) -> Mapping[str, Json]:
        """What a live line shows."""
        return {"turn": state.turn, **dict(zip(state.seats, state.scores, strict=True)), "stagnation": state.stagnation}

    def board_lines(self, state: State, columns: int, rows: int) -> list[str]:
        """The board as text."""
        return views.lines(state, columns, rows)

    def measures(self, before: State | None, state: State) -> Mapping[str, Json]:
        """Nothing here is costly to work out."""
        return {}

    def picture(self, states: Sequence[State]) -> Picture:
        """The board with paint, claims and robots."""
        from referee.games.rectangle.picture import draw

        return draw(states[-1])


GAME = Rectangle()
