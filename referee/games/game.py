"""What every game room offers to the match loop and to all who show, analyze and export matches.

A game is a set of pure functions over frozen states: no input or output, no clock, no hidden randomness. The loop asks ``movers``
who owes a move, shows each its ``view``, turns answers into moves with ``parse`` and applies them with ``step``.
"""

from __future__ import annotations

from referee.support.record import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Protocol, TypeVar

    from referee.games.picture import Picture

    S = TypeVar("S")
    M = TypeVar("M")

    Json = Any
    Seat = str


class SettingsError(ValueError):
    """A setting has a value that the game refuses; the text names the setting, the value and what is allowed."""


class MalformedMove(ValueError):
    """An answer whose shape is not that of a move of this game; the text names the culprit key."""


class IllegalMove(ValueError):
    """A well-formed move that the rules forbid, in games where that is a fault."""


class Notice(NamedTuple):
    """Something that happened in a step and that a player or a spectator wants to be told.

    ``seat`` is the only player who is told in its next question; None means spectators alone (players see it in the state).
    """

    code: str
    text: str
    seat: Seat | None = None
    data: Mapping[str, Json] | None = None

    def to_json(self) -> dict[str, Json]:
        """The notice as it stands in a replay."""
        record: dict[str, Json] = {"code": self.code, "text": self.text}
        if self.seat is not None:
            record["seat"] = self.seat
        if self.data:
            record["data"] = dict(self.data)
        return record


class Outcome(NamedTuple):
    """How a game ended.

    ``reason`` is a term of the game's rules, ``winner`` a seat or None, ``scores`` one number for each seat that has one (None:
    no score), ``text`` a sentence for people, ``unit`` what the scores count. ``ranks`` are the places of the seats, where a game has such.
    """

    reason: str
    winner: Seat | None
    scores: Mapping[Seat, float | None]
    text: str
    unit: str = "steps"
    ranks: Mapping[Seat, int] | None = None

    def to_json(self) -> dict[str, Json]:
        """The outcome as it stands in a replay, in ``--json`` and in the ``end`` message."""
        record = {"reason": self.reason, "winner": self.winner, "scores": dict(self.scores), "text": self.text}
        if self.ranks is not None:
            record["ranks"] = dict(self.ranks)
        return record


if TYPE_CHECKING:

    class Game(Protocol[S, M]):
        """A game room. ``S`` is its frozen state, ``M`` its move."""

        name: str
        version: int
        rule_sets: tuple[str, ...]
        is_open: bool  # every seat sees the same: the view is made once a step
        size_settings: tuple[str, ...]  # what --size sets: width and height, or one number for both
        is_paced: bool  # steps may be taken at a pace, with nothing done by a person who is late
        pace: float | None  # steps a second where people play and don't say otherwise; None: every move is waited for
        set_up: int  # the first turns of a game that wait for people whatever the pace
        people_settings: Mapping[str, Json]  # settings that are these where a person plays, unless they are given
        players_setting: str  # the setting that counts the players, where there can be any number of them

        def settings(self, rules: str | None, given: Mapping[str, Json]) -> Any:
            """Checked settings of a rule set; SettingsError names the setting and what is allowed."""

        def settings_json(self, settings: Any) -> dict[str, Json]:
            """The settings as the ``start`` message and the replay show them, without the rule set's name."""

        def seats(self, settings: Any) -> tuple[Seat, ...]:
            """The roles, in the order in which players are named on a command line."""

        def start(self, settings: Any, secret: bytes) -> S:
            """The first state; ``secret`` feeds the game's own randomness."""

        def movers(self, state: S) -> tuple[Seat, ...]:
            """Who owes a move now, in seat order; one means taking turns, several move at once.

            Nobody: the step is taken without a question, unless the game is over.
            """

        def view(self, state: S, seat: Seat | None) -> Json:
            """What a seat may see; None is a spectator."""

        def view_text(self, state: S, seat: Seat | None) -> str:
            """``view`` as compact JSON text; a game may build it faster than a general encoder."""

        def parse(self, state: S, seat: Seat, answer: Json) -> M:
            """An answer as a move; MalformedMove for a wrong shape, IllegalMove for what the rules forbid."""

        def simple_moves(self, state: S, seat: Seat) -> Sequence[M]:
            """The moves that need no thought: a few common ones, the same in every state of a game."""

        def unknown_keys(self, state: S, seat: Seat, answer: Json) -> Sequence[str]:
            """Keys of a well-formed answer that mean nothing in this game, whatever its state."""

        def move_json(self, move: M) -> Json:
            """A move as it stands in a replay; ``parse`` takes it back."""

        def step(self, state: S, moves: Mapping[Seat, M]) -> tuple[S, tuple[Notice, ...]]:
            """The next state and what happened; never raises for a parsed move."""

        def changes_text(self, before: S, after: S) -> str:
            """What one step changed, as compact JSON text for the replay."""

        def fault(self, state: S, faults: Mapping[Seat, str]) -> S:
            """The state after players failed in one step; values are fault kinds such as ``late``."""

        def outcome(self, state: S) -> Outcome | None:
            """How the game ended, None while it goes on."""

        #: What a team does in the first seat, for the report of a pair of games in which the roles are swapped; "" if there are no such pairs.
        pair_verb: str
        #: Whether both games of a pair begin in the same position, drawn once.
        pairs_share_start: bool

        def pair_winner(self, first: tuple[Outcome, int], second: tuple[Outcome, int]) -> str | None:
            """Who beats whom in a pair of games, each with its steps: team "a", which has the first seat in the first, or "b"; None: a tie."""

        def glance(self, state: S) -> Mapping[str, Json]:
            """A few numbers for a live line: step, distance and the like, in reading order."""

        def board_lines(self, state: S, columns: int, rows: int) -> list[str]:
            """The board as plain text of at most that many columns and rows."""

        def measures(self, before: S | None, state: S) -> Mapping[str, Json]:
            """Numbers of a position that are costly to work out, for the viewer's strips; empty where they are those of ``before``."""

        def picture(self, states: Sequence[S]) -> Picture:
            """The last of these positions as a picture; the ones before it show the ways that were gone."""

        # What is certain of a position, whatever one side does; games that can't tell have nothing to say.

        def is_turning(self, before: S, after: S) -> bool:
            """Whether what is certain has to be asked anew after a step; between such steps it can only come true."""

        def certainty(self, state: S) -> Mapping[str, Json]:
            """What is certain of a position; costly. Empty in a game that has no such thing."""

        def certainty_text(self, certainty: Mapping[str, Json]) -> str:
            """The same for people."""

        def insight(self, state: S) -> Mapping[str, Json]:
            """What a page may draw over a position on request; costly. Empty in a game that has no such thing."""

        def advice(self, state: S) -> Mapping[str, Json]:
            """The best that one side could have done in a position, with a ``text`` for people; empty if there is nothing to say. Costly."""

        # Games that are ended by a ruling, because nothing else can come of them; off unless the settings ask for it.

        def adjudicates(self, settings: Any) -> bool:
            """Whether a game with these settings may be ended by a ruling."""

        def is_due(self, state: S) -> bool:
            """Whether a ruling is due in a position. Cheap."""

        def adjudicate(self, state: S) -> S:
            """The position after a ruling: over, or as it was. Costly; the same on every machine."""


class NothingCertain:
    """That part of a game which has nothing to say of what is certain, and which no ruling ends."""

    def is_turning(self, before: S, after: S) -> bool:
        """Never."""
        return False

    def certainty(self, state: S) -> Mapping[str, Json]:
        """Nothing."""
        return {}

    def certainty_text(self, certainty: Mapping[str, Json]) -> str:
        """Nothing."""
        return ""

    def insight(self, state: S) -> Mapping[str, Json]:
        """Nothing."""
        return {}

    def advice(self, state: S) -> Mapping[str, Json]:
        """Nothing."""
        return {}

    def adjudicates(self, settings: Any) -> bool:
        """Never."""
        return False

    def is_due(self, state: S) -> bool:
        """Never."""
        return False

    def adjudicate(self, state: S) -> S:
        """The position as it was."""
        return state
