"""The Python API: matches, duels and replays."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import referee
from referee.errors import PlayerError, ReplayError, UsageError
from referee.games.game import SettingsError
from sdk import HunterBot, HunterMove, PreyBot, PreyMove, State

if TYPE_CHECKING:
    from pathlib import Path

QUICK: dict[str, Any] = {"max_steps": 60, "isolation": "none", "seed": 5}


class Builder(HunterBot):
    def hunt(self, state: State) -> HunterMove | None:
        return self.build("vertical") if state.can_build("vertical") else None


class Broken(HunterBot):
    def hunt(self, state: State) -> HunterMove | None:
        raise ZeroDivisionError("of mine")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_match_of_programs_gives_what_the_command_prints(tmp_path: Path) -> None:
    result = referee.play("straight", "runner", **QUICK, out=tmp_path / "one.replay.jsonl.gz")
    command = ["play", "straight", "runner", "--max-steps", "60", "--isolation", "none", "--seed", "5", "--json", "--quiet", "--out", "two"]
    done = subprocess.run([sys.executable, "-m", "referee", *command], capture_output=True, text=True, check=True)
    printed, ours = json.loads(done.stdout), result.to_json()
    assert printed.keys() == ours.keys()
    for key in printed.keys() - {"replay", "logs", "players", "notes"}:
        assert printed[key] == ours[key], key
    assert result.replay == tmp_path / "one.replay.jsonl.gz"
    assert (result.winner, result.reason, result.steps, result.seed, result.faults) == ("prey", "evaded", 60, 5, {})
    assert result.scores == {"hunter": None}
    assert "Runner" in repr(result)
    assert "\n" not in repr(result)


def test_a_class_plays_in_this_process_beside_a_program() -> None:
    result = referee.play(Builder, "still", **QUICK)
    assert result.names == {"hunter": "Builder", "prey": "Still"}
    assert result.open_replay().records()[-1]["walls"] > 0
    again = referee.play(Builder, "still", **QUICK)
    assert again.state == result.state


class Stays(PreyBot):
    def flee(self, state: State) -> PreyMove:
        return self.go(0, 0)


class Team(Builder, Stays):
    pass


@pytest.mark.parametrize(
    ("players", "names"),
    [
        ((Builder, "still"), {"hunter": "Builder", "prey": "Still"}),
        (("straight", Stays), {"hunter": "Straight", "prey": "Stays"}),
        ((Team, Team), {"hunter": "Team", "prey": "Team"}),
    ],
)
def test_classes_and_programs_play_in_any_mixture(players: tuple[Any, Any], names: dict[str, str]) -> None:
    result = referee.play(*players, **QUICK)
    assert (result.names, result.faults) == (names, {})


def test_a_duel_of_a_class_and_a_program_shows_itself_in_a_notebook() -> None:
    duel = referee.duel(Team, "random", max_steps=40, seed=1, isolation="none")
    shown = duel._repr_html_()
    assert shown.startswith(f"<p>{duel.text}.</p><details open><summary>Team hunts: ")
    assert (shown.count("<details"), shown.count("<iframe"), shown.count(" open>")) == (2, 2, 1)


def test_matches_are_played_while_an_event_loop_runs() -> None:
    async def plays() -> tuple[referee.Result, bool]:
        result = referee.play(Builder, "still", **QUICK)
        return result, asyncio.get_running_loop().is_running()

    result, is_running = asyncio.run(plays())
    assert (result.steps, result.faults, is_running) == (60, {}, True)


def test_a_class_that_raises_is_a_fault_in_the_result() -> None:
    result = referee.play(Broken, "still", **QUICK)
    assert result.winner == "prey"
    line = Broken.hunt.__code__.co_firstlineno + 1
    assert result.faults["hunter"] == f"The hunter (Broken) raised ZeroDivisionError: of mine, at {__file__}:{line} in hunt."
    log = result.logs["hunter"]
    assert log.parent == result.replay.parent
    assert log.read_text().endswith("ZeroDivisionError: of mine\n")
    assert f'"{__file__}", line {line}, in hunt' in log.read_text()


def test_a_drawn_seed_plays_the_match_again() -> None:
    first = referee.play("random", "random", max_steps=80, isolation="none")
    second = referee.play("random", "random", max_steps=80, isolation="none", seed=first.seed)
    assert [step.moves for step in first.open_replay().steps()] == [step.moves for step in second.open_replay().steps()]


def test_the_number_of_players_is_that_of_those_who_are_named() -> None:
    result = referee.play("looper", "idle", "idle", game="rectangle", cap=2, isolation="none")
    assert sorted(result.scores) == ["a", "b", "c"]


def test_time_limits_are_kept(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "from sdk import PreyBot\nclass Slow(PreyBot):\n    def flee(self, state):\n        while True: pass\nSlow.main()\n"
    )
    result = referee.play("straight", "slow.py", **QUICK, time={"move": 0.2, "bank": None})
    assert "the move limit of 0.2 s" in result.faults["prey"]


@pytest.mark.parametrize(
    ("players", "options", "error", "words"),
    [
        (("straight",), {}, UsageError, r"evasion needs 2 players \(hunter, prey\), but 1 was given\."),
        (("straight", "human"), {}, PlayerError, "command line"),
        (("straight", "nobody"), {}, PlayerError, "neither a file nor an example bot"),
        (("straight", "runner"), {"width": 0}, SettingsError, "width is 0"),
        (("straight", "runner"), {"widht": 9}, SettingsError, "did you mean 'width'"),
        (("straight", "runner"), {"game": "chess"}, SettingsError, "there is no game 'chess'"),
        (("straight", "runner"), {"isolation": "some"}, UsageError, "isolation is 'some'"),
        (("straight", "runner"), {"time": {"moves": 1}}, UsageError, "time has no key 'moves'"),
        (("straight", "runner"), {"time": {"move": -1}}, UsageError, "time.move is -1, but must be above 0"),
        (("straight", PreyBot), {"game": "maze"}, PlayerError, "does not play policeman"),
        (("straight", "runner"), {"seed": "x"}, UsageError, "seed is 'x'"),
        (("straight", "runner"), {"seed": True}, UsageError, "seed is True"),
        (("straight", "runner"), {"time": {"move": "1"}}, UsageError, "time.move is '1'"),
        (("straight", "runner"), {"time": {"increment": None}}, UsageError, "time.increment is None"),
        (("straight", "runner"), {"time": 5}, UsageError, "time is 5"),
        (("straight", "runner"), {"out": 5}, UsageError, "out is 5, but must be the path of a file or a folder"),
        ((PreyBot, "runner"), {}, PlayerError, "PreyBot does not play hunter"),
        ((Builder(), "runner"), {}, PlayerError, "pass the class itself: Builder"),
        ((int, "runner"), {}, PlayerError, "not a bot class"),
        ((None, "runner"), {}, PlayerError, "The hunter is None"),
    ],
)
def test_mistakes_are_named(players: tuple[Any, ...], options: dict[str, Any], error: type[Exception], words: str) -> None:
    if options.get("game") == "maze":
        players = ("dasher", players[1])
    with pytest.raises(error, match=words):
        referee.play(*players, **options)


def test_a_result_is_no_path_of_a_replay() -> None:
    result: Any = referee.play("straight", "runner", **QUICK)
    with pytest.raises(UsageError, match=r"result.open_replay\(\)"):
        referee.open_replay(result)


def test_a_duel_swaps_the_roles(tmp_path: Path) -> None:
    duel = referee.duel("random", "random", max_steps=50, seed=1, isolation="none", out=tmp_path / "duel")
    assert duel.winner is None
    assert duel.difference is None
    assert {team: result.seed for team, result in duel.games.items()} == {"a": 1, "b": 2}
    assert repr(duel) == "<Duel: random and random tie>"
    assert set(duel.to_json()["games"]) == {"a hunts", "b hunts"}
    assert len(list((tmp_path / "duel").glob("*.gz"))) == 2
    with pytest.raises(UsageError, match="no"):
        referee.duel("looper", "looper", game="rectangle")


def test_a_replay_is_walked_step_by_step() -> None:
    result = referee.play("boxer", "runner", **QUICK)
    replay = referee.open_replay(str(result.replay))
    assert replay.verify() is None
    assert len(replay) == 60
    steps = list(replay.steps())
    assert [step.turn for step in steps] == list(range(60))
    assert all(step.state == replay.state_at(step.turn) for step in steps)
    assert replay.state_at(60) == replay.state_at(-1) == result.state
    assert steps[0].moves.keys() == steps[0].seconds.keys() == {"hunter"}
    assert steps[1].moves.keys() == {"hunter", "prey"}
    assert replay.head["seed"] == 5
    assert replay.result is not None
    assert replay.result["reason"] == "evaded"
    for wrong in (61, -62):
        with pytest.raises(IndexError, match="60 steps"):
            replay.state_at(wrong)


def test_records_are_flat_and_have_the_same_columns() -> None:
    replay = referee.play("boxer", "runner", **QUICK).open_replay()
    records = replay.records()
    assert len(records) == 60
    assert {tuple(record) for record in records} == {tuple(records[0])}
    assert not any(isinstance(value, (dict, list)) for record in records for value in record.values())
    assert records[0]["prey.move"] is None
    assert records[0]["prey.seconds"] is None
    assert json.loads(records[1]["prey.move"]) in [{"go": [dx, dy]} for dx in (-1, 0, 1) for dy in (-1, 0, 1)]


def test_a_damaged_replay_is_read_up_to_the_damage(tmp_path: Path) -> None:
    whole = referee.play("straight", "runner", **QUICK).replay
    cut = tmp_path / "cut.replay.jsonl.gz"
    cut.write_bytes(whole.read_bytes()[:-20])
    replay = referee.open_replay(cut)
    problem = replay.verify()
    assert problem is not None
    assert problem.kind == "cut"
    assert replay.result is None
    assert len(list(replay.steps())) == len(replay) <= 60
    with pytest.raises(ReplayError):
        referee.open_replay(tmp_path / "none.gz")


def test_a_notebook_shows_results_and_replays() -> None:
    result = referee.play("straight", "runner", **QUICK)
    shown = result._repr_html_()
    assert shown.startswith(f"<p>{result.text}</p><iframe")
    assert 'sandbox="allow-scripts"' in shown
    assert repr(result.open_replay()).startswith("<Replay ")


def test_importing_the_package_loads_nothing_of_it() -> None:
    code = "import sys, referee; print(*[name for name in sys.modules if name.startswith('referee.') and name != 'referee.version']); assert 'play' in dir(referee)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""
    with pytest.raises(AttributeError, match="no attribute 'plya'"):
        _ = referee.plya


def test_a_replay_of_another_game_is_refused(tmp_path: Path) -> None:
    result = referee.play("idle", "idle", game="rectangle", seed=1, cap=2, isolation="none", out=tmp_path / "r.replay.jsonl.gz")
    assert next(referee.open_replay(result.replay, game="rectangle").steps()).state.seats == ("a", "b")
    with pytest.raises(UsageError, match="is a replay of rectangle, not of 'maze'"):
        referee.open_replay(result.replay, game="maze")
