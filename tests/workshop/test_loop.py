"""The match loop of the workshop: it plays what ``Match`` plays, and needs nothing that a browser lacks."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from contract.samples import SAMPLES
from sandboxes import Options, match_between

from referee import games
from referee.games.game import SettingsError
from referee.match.options import TimeControl
from referee.players.player import Function
from referee.replay.events import MatchResult
from referee.wire import encode
from referee.workshop.loop import LocalMatch

if TYPE_CHECKING:
    from collections.abc import Callable

CASES = [(game, rules) for game in SAMPLES for rules in games.get(game).info.rule_sets]
NO_LIMITS = Options(TimeControl(kind="wall", startup=None, move=None, bank=None))
#: What depends on the clock, in any record of a replay.
TIMES = {"us", "cpu_us", "time", "sha256", "stderr_bytes"}


def answering(game: str, seed: str, about: str = "") -> Callable[[bytes], bytes | None]:
    """A player that draws its answers; ``about`` says how it differs from a good one."""
    draw = random.Random(seed)
    start: dict[str, Any] = {}

    def answer(line: bytes) -> bytes | None:
        message = json.loads(line)
        if message["type"] == "start":
            start.update(message)
            if about == "unready":
                raise SystemExit("not my seat")
            return encode.ready("\x1b[1m" if about == "raises" else f"Drawn {seed}"[:30]).rstrip()
        if message["type"] == "end":
            return None
        turn = message["turn"]
        if turn == 3 and about == "raises":
            raise RuntimeError("no more moves")
        if turn == 2 and about == "malformed":
            return b"debug output"
        move = SAMPLES[game].answer(draw, {**start["settings"], "rules": start["rules"]}, start["seat"], message["state"])
        more: dict[str, Any] = {}
        if turn % 3 == 1:
            more = {"say": "x" * draw.choice([5, 501]), "draw": [{"shape": "line", "start": [0.0, 1.0], "end": [2.0, 2.5], "color": "red"}]}
        return json.dumps({"type": "move", "turn": turn, "move": {**move, **({"new": 1} if turn % 4 == 2 else {})}, **more}).encode()

    return answer


def records(replay: Path) -> list[Any]:
    """The records of a replay without its times."""
    lines = [json.loads(line) for line in gzip.decompress(replay.read_bytes()).splitlines()]
    return [{key: value for key, value in record.items() if key not in TIMES} for record in lines]


@pytest.mark.parametrize("about", ["", "unready", "malformed", "raises"])
@pytest.mark.parametrize(("name", "rules"), CASES)
def test_it_plays_the_same_match(name: str, rules: str, about: str, tmp_path: Path) -> None:
    game, draw = games.get(name), random.Random(f"{name} {rules} {about}")
    for number in range(6):
        while True:
            try:
                settings = game.codec.settings(rules, SAMPLES[name].settings(draw, rules))
                break
            except SettingsError:
                continue
        seats, seed = game.seats(settings), draw.randrange(1000)

        def players(abouts: dict[str, str], seats: tuple[str, ...] = seats, seed: int = seed) -> dict[str, Function]:
            return {
                seat: Function(f"my {seat}", answering(name, f"{seat} {seed}", abouts.get(seat, "")), {"program": "bot.py"})
                for seat in seats
            }

        odd = {draw.choice(seats): about}
        expected = match_between(game, settings, players(odd), NO_LIMITS, seed=seed, replay=tmp_path / f"a{number}.replay.jsonl.gz").run()
        turns: list[int] = []
        result = LocalMatch(game, settings, seed, players(odd), tmp_path / f"b{number}.replay.jsonl.gz", turns.append).run()
        assert records(result.replay) == records(expected.replay)
        assert (result.outcome, result.steps, result.state, result.names) == (
            expected.outcome,
            expected.steps,
            expected.state,
            expected.names,
        )
        assert (result.failures, result.fault_steps, result.started) == (expected.failures, expected.fault_steps, expected.started)
        assert turns == sorted(turns)


def test_the_examples_play_the_same_match_and_it_verifies(tmp_path: Path) -> None:
    from example_bots.evasion import boxer, evader
    from sdk.testing import class_player

    game = games.get("evasion")
    settings = game.codec.settings(None, {"max_steps": 300})

    def players() -> dict[str, Function]:
        return {"hunter": class_player("hunter", boxer.Boxer), "prey": class_player("prey", evader.Evader)}

    expected = match_between(game, settings, players(), NO_LIMITS, seed=7, replay=tmp_path / "a.replay.jsonl.gz").run()
    result = LocalMatch(game, settings, 7, players(), tmp_path / "b.replay.jsonl.gz", lambda _: None).run()
    assert isinstance(result, MatchResult)
    assert records(result.replay) == records(expected.replay)
    verified = subprocess.run([sys.executable, "-m", "referee", "verify", str(result.replay)], capture_output=True, text=True, check=False)
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_a_match_that_is_stopped_leaves_the_steps_so_far(tmp_path: Path) -> None:
    game = games.get("evasion")
    settings = game.codec.settings(None, {})

    def stop(turn: int) -> None:
        if turn == 40:
            raise KeyboardInterrupt

    players = {seat: Function(seat, answering("evasion", seat)) for seat in game.seats(settings)}
    with pytest.raises(KeyboardInterrupt):
        LocalMatch(game, settings, 1, players, tmp_path / "a.replay.jsonl.gz", stop).run()
    assert [record["turn"] for record in records(tmp_path / "a.replay.jsonl.gz")[1:]] == list(range(40))


def test_it_needs_nothing_that_a_browser_lacks(tmp_path: Path) -> None:
    code = f"""
import sys
before = {{*sys.modules}}
from pathlib import Path
from example_bots.evasion import boxer, runner
from referee import games
from referee.players.player import Function
from referee.workshop.loop import LocalMatch
from sdk.bot import Conversation

class Drawing(boxer.Boxer):
    def hunt(self, state):
        self.draw.line((0, 0), (1, 2), "red")
        self.draw.cells([(1, 2)])
        return super().hunt(state)

game = games.get("evasion")
settings = game.codec.settings(None, {{"max_steps": 60}})
players = {{"hunter": Function("Boxer", Conversation(Drawing).answer), "prey": Function("Runner", Conversation(runner.Runner).answer)}}
result = LocalMatch(game, settings, 1, players, Path({str(tmp_path / "a.replay.jsonl.gz")!r}), lambda _: None).run()
assert not result.faults
print(*sorted({{*sys.modules}} - before))
"""
    loaded = {*subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()}
    assert "referee.workshop.loop" in loaded
    assert not {"pydantic", "threading", "resource", "psutil", "subprocess", "socket", "select", "selectors"} & loaded
    assert {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names <= {"referee", "sdk", "example_bots", "typing_extensions"}
