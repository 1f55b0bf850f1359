"""Games that are ended by a ruling: where it is due, what it says, and that the replay holds it."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from referee.games.evasion.game import GAME
from referee.replay.reader import verify
from sdk import HORIZONTAL, HunterBot, PreyBot, State
from sdk.testing import play

if TYPE_CHECKING:
    from pathlib import Path


class Idle(HunterBot):
    def hunt(self, state: State) -> Any:
        return None


class BuildsOnce(HunterBot):
    def hunt(self, state: State) -> Any:
        return self.build(HORIZONTAL) if state.step == 20 else None


class Stays(PreyBot):
    def flee(self, state: State) -> Any:
        return (0, 0)


@pytest.mark.parametrize(
    ("hunter", "settings", "steps", "text"),
    [
        (Idle, {"adjudicate_after": 30}, 30, "No wall has changed for 30 steps."),
        (BuildsOnce, {"adjudicate_after": 30}, 51, "No wall has changed for 30 steps."),
        (BuildsOnce, {"adjudicate_after": 20}, 20, "No wall has changed for 20 steps."),
        (Idle, {"adjudicate_after": 30, "max_walls": 0}, 0, "There can be no walls."),
        (Idle, {"adjudicate_after": 1}, 1, "No wall has changed for 1 step."),
        (Idle, {"adjudicate_after": 41, "rules": "gameserver"}, 41, "No wall has changed for 41 turns."),
    ],
)
def test_a_game_from_which_nothing_can_come_ends(
    hunter: type[HunterBot], settings: dict[str, Any], steps: int, text: str, tmp_path: Path
) -> None:
    result = play(hunter, Stays, replay=tmp_path / "r.gz", **settings)
    assert (result.outcome.reason, result.outcome.winner, result.steps) == ("evaded", "prey", steps)
    assert result.outcome.scores == {"hunter": None}
    assert "can evade for ever" in result.outcome.text
    assert result.outcome.text.endswith(text)
    replay = verify(tmp_path / "r.gz")
    assert replay.problem is None
    assert replay.turns == steps


def test_it_is_off_unless_it_is_asked_for(tmp_path: Path) -> None:
    result = play(Idle, Stays, max_steps=80, max_walls=0, replay=tmp_path / "r.gz")
    assert result.steps == 80
    head = json.loads(gzip.decompress((tmp_path / "r.gz").read_bytes()).splitlines()[0])
    assert "adjudicate_after" not in head["settings"]


def test_a_capture_that_is_certain_is_played_out(tmp_path: Path) -> None:
    """The prey stands on the hunter's way, in a corridor: however long no wall changes, there is nothing to adjudicate."""
    result = play(Idle, Stays, width=40, height=3, hunter=(0, 0, 1, 1), prey=(30, 1), adjudicate_after=2, replay=tmp_path / "r.gz")
    assert result.outcome.reason == "caught"
    assert verify(tmp_path / "r.gz").problem is None


def edited(path: Path, change: Any) -> Path:
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join(change(lines))))
    return path


def test_a_replay_that_goes_on_after_its_ruling_is_refused(tmp_path: Path) -> None:
    play(Idle, Stays, max_steps=60, replay=tmp_path / "r.gz")

    def pretend(lines: list[bytes]) -> list[bytes]:
        head = json.loads(lines[0])
        head["settings"]["adjudicate_after"] = 25
        return [json.dumps(head).encode() + b"\n", *lines[1:]]

    problem = verify(edited(tmp_path / "r.gz", pretend)).problem
    assert problem is not None
    assert (problem.turn, problem.kind) == (25, "order")
    assert "adjudicated" in problem.text


def test_a_replay_that_is_adjudicated_too_soon_is_refused(tmp_path: Path) -> None:
    play(Idle, Stays, adjudicate_after=30, replay=tmp_path / "r.gz")
    problem = verify(edited(tmp_path / "r.gz", lambda lines: [*lines[:-2], lines[-1]])).problem
    assert problem is not None
    assert problem.kind == "cut"


def test_when_a_ruling_is_due() -> None:
    state = GAME.start(GAME.codec.settings("classic", {"adjudicate_after": 10}))
    due = [step for step in range(60) if GAME.adjudication.needs_adjudication(state._replace(step=step, changed=25))]
    assert due == [35, 45, 55]
    assert not GAME.adjudication.needs_adjudication(state._replace(step=35, changed=25, ended="caught"))
    assert not GAME.adjudication.needs_adjudication(GAME.start(GAME.codec.settings("classic", {})))


def test_what_is_not_decided_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from referee.games.evasion.analysis import verdict

    monkeypatch.setattr(verdict, "verdict", lambda _: verdict.Verdict("undecided", None, False, "budget", 0))
    state = GAME.start(GAME.codec.settings("classic", {"adjudicate_after": 10}))
    assert GAME.adjudication.adjudicate(state) == state
