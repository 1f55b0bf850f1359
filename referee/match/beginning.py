"""The recorded part of another match, at whose end a match begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from referee.games.game import Json, Seat
    from referee.replay.events import PlayersFaulted, StepTaken
    from referee.replay.faults import Fault


class Beginning(NamedTuple):
    """A position of a recorded match, and the steps before it. A match that begins there asks its first question in this ``turn``.

    ``secret``, ``match`` and ``seed`` are those of the recorded match, so players get the same seeds. ``source`` names it in the replay's
    head. ``events`` are its steps and faults before the turn. ``notices`` are the notices of each seat's next question. Players in
    ``faults`` failed before the turn: they are not started. ``about`` is the head's record of each of them.
    """

    turn: int
    state: Any
    secret: bytes
    match: str
    seed: int | None
    source: Mapping[str, Json]
    events: Sequence[StepTaken | PlayersFaulted]
    notices: Mapping[Seat, Sequence[Mapping[str, str]]]
    faults: Mapping[Seat, Fault] = {}
    fault_steps: Mapping[Seat, int] = {}
    about: Mapping[Seat, Mapping[str, Json]] = {}
    notes: tuple[str, ...] = ()
