"""The result of a match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from referee.games.game import Json, Outcome, Seat
    from referee.match.clock import Clock
    from referee.players.faults import Fault


class Result(NamedTuple):
    """The result of a match. ``started`` is False if a bot failed before the first step."""

    outcome: Outcome
    steps: int
    state: Any
    faults: dict[Seat, Fault]
    clocks: dict[Seat, Clock]
    names: dict[Seat, str]
    head: dict[str, Json]
    notes: tuple[str, ...]
    started: bool

    def to_json(self) -> dict[str, Json]:
        """The result as ``--json`` prints it, before the command adds where the replay is."""
        outcome = self.outcome.to_json()
        players = {
            seat: {
                "name": self.names[seat],
                "program": self.head["players"][seat]["program"],
                "fault": self.faults[seat].to_json() if seat in self.faults else None,
                "time": clock.to_json(),
            }
            for seat, clock in self.clocks.items()
        }
        keys = ("match", "game", "rules", "seed", "isolation")
        return {
            **{key: self.head[key] for key in keys},
            **outcome,
            "steps": self.steps,
            "started": self.started,
            "players": players,
            "notes": list(self.notes),
        }
