"""A toy game in a package of its own: two players add one, two or three in turn, and whoever says the goal wins."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.games import values
from referee.games.game import GameInfo, MalformedMove, Notice, Option, Outcome, SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SEATS = ("first", "second")
INFO = GameInfo("counting", 1, ("plain",), (Option("goal", "The number to say.", least=4, most=100, default=12),))


class Settings(NamedTuple):
    goal: int
    rules: str = "plain"


class State(NamedTuple):
    settings: Settings
    step: int = 0
    total: int = 0
    ended: str = ""


class _Codec:
    def settings(self, rules: str | None, given: Mapping[str, Any]) -> Settings:
        if rules not in (None, "plain"):
            raise SettingsError(f"Counting has no rule set {rules!r}; there is plain.")
        values.refuse_unknown("Counting has", ["goal"], given)
        return Settings(**{"goal": 12, **values.checked(INFO.options, given)})

    def settings_json(self, settings: Settings) -> dict[str, Any]:
        return {"goal": settings.goal}

    def view(self, state: State, seat: str | None) -> Any:
        return {"step": state.step, "total": state.total}

    def view_text(self, state: State, seat: str | None) -> str:
        return json.dumps(self.view(state, seat), separators=(",", ":"))

    def parse(self, state: State, seat: str, answer: Any) -> int:
        if not isinstance(answer, dict) or answer.get("add", 1) not in (1, 2, 3):
            raise MalformedMove(f"move is {values.shown(answer)}, but must add 1, 2 or 3")
        return int(answer.get("add", 1))

    def unknown_keys(self, state: State, seat: str, answer: Any) -> Sequence[str]:
        return [f"move.{key}" for key in answer if key != "add"]

    def move_json(self, move: int) -> Any:
        return {"add": move}

    def changes_text(self, before: State, after: State) -> str:
        return '{"total":%d}' % after.total


class Counting:
    info = INFO
    codec = _Codec()
    analysis = adjudication = pairing = starts = human_play = text = metrics = None
    dialects = marking = samples = starters = None
    codes = "# Outcomes\n## said\nA player said the goal. **What to do:** Say it first.\n"

    def seats(self, settings: Settings) -> tuple[str, ...]:
        return SEATS

    def start(self, settings: Settings, secret: bytes) -> State:
        return State(settings)

    def movers(self, state: State) -> tuple[str, ...]:
        return () if state.ended else (SEATS[state.step % 2],)

    def step(self, state: State, moves: Mapping[str, int]) -> tuple[State, tuple[Notice, ...]]:
        (seat,) = self.movers(state)
        total = state.total + moves.get(seat, 1)
        return state._replace(step=state.step + 1, total=total, ended=seat if total >= state.settings.goal else ""), ()

    def fault(self, state: State, faults: Mapping[str, str]) -> State:
        return state._replace(ended=SEATS[0] if SEATS[1] in faults else SEATS[1])

    def outcome(self, state: State) -> Outcome | None:
        if not state.ended:
            return None
        return Outcome(
            "said", state.ended, {seat: float(seat == state.ended) for seat in SEATS}, f"{state.ended} wins at {state.total}.", "points"
        )


GAME = Counting()
