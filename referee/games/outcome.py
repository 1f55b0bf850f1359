"""The results of a step and of a game, and the errors of a game: notices, outcomes and exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from typing_extensions import TypeVar

    Json = Any
    Seat = str
    #: The state, the move and the settings of a game; ``Game`` without them is any game.
    S = TypeVar("S", default=Any)
    M = TypeVar("M", default=Any)
    G = TypeVar("G", default=Any)
    S_contra = TypeVar("S_contra", contravariant=True, default=Any)
    M_contra = TypeVar("M_contra", contravariant=True, default=Any)
    G_contra = TypeVar("G_contra", contravariant=True, default=Any)

    class Settings(Protocol):
        """Checked settings of a game. Other modules read only their rule set."""

        @property
        def rules(self) -> str:
            """The rule set."""


class SettingsError(ValueError):
    """A setting has a value that the game refuses; the text names the setting, the value and what is allowed."""


class MalformedMove(ValueError):
    """An answer that doesn't have the form of a move of this game; the text names the wrong key."""


class IllegalMove(ValueError):
    """A well-formed move that the rules forbid, in games where that is a fault."""


class Notice(NamedTuple):
    """A message about something that happened in a step, for a player or for spectators.

    Only the player of ``seat`` gets it, with its next question; None: only spectators do (players see the event in the state).
    ``is_minor`` marks frequent events: a list that is too long omits them first. Replays don't have this mark.
    """

    code: str
    text: str
    seat: Seat | None = None
    data: Mapping[str, Json] | None = None
    is_minor: bool = False

    def to_json(self) -> dict[str, Json]:
        """Return the notice in the form of a replay."""
        record: dict[str, Json] = {"code": self.code, "text": self.text}
        if self.seat is not None:
            record["seat"] = self.seat
        if self.data:
            record["data"] = dict(self.data)
        return record


class Outcome(NamedTuple):
    """How a game ended.

    ``reason`` is a term of the game's rules, ``winner`` a seat or None, ``scores`` one number for each seat that has one (None:
    no score), ``text`` a sentence for people, ``unit`` what the scores count. ``ranks`` are the places of the seats, None in games without places.
    """

    reason: str
    winner: Seat | None
    scores: Mapping[Seat, float | None]
    text: str
    unit: str = "steps"
    ranks: Mapping[Seat, int] | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the outcome in the form of a replay, of ``--json`` and of the ``end`` message."""
        record = {"reason": self.reason, "winner": self.winner, "scores": dict(self.scores), "text": self.text}
        if self.ranks is not None:
            record["ranks"] = dict(self.ranks)
        return record
