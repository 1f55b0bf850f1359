"""A match begins at a position of a replay."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from broken_bots import bot
from conftest import HOSTILE, UNHURRIED
from recorded_games import edited, records
from sandboxes import LevelLauncher, match_between

import referee as package
from referee import games
from referee.author.rerun import rerun
from referee.errors import PlayerError, ReplayError, UsageError
from referee.match.lineup import options_of, split
from referee.match.start import Start
from referee.players.names import resolve
from referee.replay.questions import recorded_seat
from referee.replay.reader import RecordedMatch, verify
from referee.replay.writer import ReplayWriter
from sdk import PreyBot, State

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

RECORDED = Path(__file__).parents[1] / "data/replays"
#: A match of programs without a sandbox, on a clock that no machine exceeds.
play = partial(package.play, isolation="none", time={"startup": 60.0, "move": 30.0, "bank": 100.0})
resume = partial(package.play, isolation="none")


def start_at(text: str) -> Start:
    """The position that a text names, in a match that can continue from it."""
    path, turn = split(text)
    recorded = RecordedMatch.read(path)
    options_of(recorded)
    return Start.at(recorded, turn)


class Stands(PreyBot):
    def flee(self, state: State) -> tuple[int, int]:
        return (0, 0)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A match of 60 steps with walls."""
    return play("boxer", "runner", seed=3, max_steps=60, out=tmp_path_factory.mktemp("source") / "game.gz").replay


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def moves(path: Path) -> list[Any]:
    return [(step.turn, step.state, step.moves, step.notices) for step in package.open_replay(path).steps()]


@pytest.mark.parametrize("turn", [0, 1, 30, 59])
def test_the_same_programs_play_the_same_match_again(turn: int, source: Path) -> None:
    result = resume(from_replay=f"{source}@{turn}")
    assert verify(result.replay).problem is None
    assert moves(result.replay) == moves(source)
    first, again = records(source), records(result.replay)
    assert again[0]["from"] == {"match": first[0]["match"], "turn": turn, "file": str(source)}
    assert all(again[0][key] == first[0][key] for key in ("secret", "seed", "match", "settings", "clock"))
    for one, two in zip(first[1 : turn + 1], again[1 : turn + 1], strict=True):
        assert {key: value for key, value in one.items() if key != "log"} == two
    # The banks are whole at the start.
    assert result.to_json()["players"]["hunter"]["time"]["answers"] == 60 - turn
    assert result.steps == 60


def test_bots_that_were_asked_together_go_on_in_turn() -> None:
    path = RECORDED / "evasion-classic-asked-together.replay.jsonl.gz"
    assert records(path)[0]["ask"] == "together"
    assert verify(path).problem is None
    result = resume(from_replay=f"{path}@100")
    assert records(result.replay)[0]["ask"] == "in-turn"
    assert verify(result.replay).problem is None
    assert moves(result.replay) == moves(path)


def test_another_player_takes_over(source: Path) -> None:
    result = resume("-", Stands, from_replay=f"{source}@30")
    assert result.names == {"hunter": "Boxer", "prey": "Stands"}
    assert moves(result.replay)[:30] == moves(source)[:30]
    assert all(step[2].get("prey") in (None, {}, {"go": [0, 0]}) for step in moves(result.replay)[30:])
    assert verify(result.replay).problem is None


def test_a_match_begins_in_a_match_that_began_in_another(source: Path) -> None:
    second = resume(from_replay=f"{source}@20", out="second")
    third = resume(from_replay=f"{second.replay}@10")
    assert moves(third.replay) == moves(source)
    assert records(third.replay)[0]["from"]["turn"] == 10


def test_the_bots_of_such_a_match_are_asked_again(source: Path) -> None:
    """They got no question before the turn, and whole banks."""
    result = resume("random", "runner", from_replay=f"{source}@31")
    for seat, name, count in (("hunter", "random", 29), ("prey", "runner", 15)):
        recorded = recorded_seat(result.replay, seat)
        found = rerun(recorded, resolve(name, seat, "evasion"), LevelLauncher(serves_one=True))
        assert (found.ok, found.answers) == (True, count), found


@pytest.mark.parametrize("at", [5, 6, 9])
def test_who_failed_before_is_out(at: int, tmp_path: Path) -> None:
    failing = bot(tmp_path, "failing", "turn = 99 if turn == 5 else turn")
    replay = play(failing, "random", "looper", game="rectangle", cap=20, seed=2).replay
    result = resume(from_replay=f"{replay}@{at}")
    assert verify(result.replay).problem is None
    assert moves(result.replay)[:at] == moves(replay)[:at]
    notes = result.to_json()["notes"]
    assert ("Player a failed in step 5 of the replay, so it is out of this match and not started." in notes) == (at > 5)
    assert set(result.faults) == {"a"}


def test_a_turn_in_which_a_player_failed_is_played_again(tmp_path: Path) -> None:
    failing = bot(tmp_path, "failing", "turn = 99 if turn == 7 else turn")
    replay = play("straight", failing, max_steps=20).replay
    result = resume("-", "still", from_replay=f"{replay}@7")
    assert (result.steps, result.faults) == (20, {})


@pytest.mark.parametrize("game", [("evasion", "straight", "still"), ("rectangle", "looper", "idle"), ("maze", "dasher", "hard")])
def test_a_bot_that_is_not_ready_loses_at_the_first_turn(game: tuple[str, str, str], tmp_path: Path) -> None:
    name, first, second = game
    settings: dict[str, Any] = {"evasion": {"max_steps": 20}, "rectangle": {"cap": 20}, "maze": {}}[name]
    replay = play(first, second, game=name, **settings).replay
    for players in ((str(HOSTILE / "exits_at_once.py"),), ("-", str(HOSTILE / "exits_at_once.py"))):
        result = resume(*players, from_replay=f"{replay}@4")
        assert verify(result.replay).problem is None
        assert len(result.faults) == 1


def test_without_a_secret_the_seeds_are_others(source: Path, tmp_path: Path) -> None:
    copy = edited(source, lambda head: (head.pop("secret"), head.pop("seed")), tmp_path / "copy.gz")
    result = resume(from_replay=f"{copy}@30")
    assert moves(result.replay)[:30] == moves(source)[:30]
    assert verify(result.replay).problem is None
    assert records(result.replay)[0]["secret"] != records(source)[0]["secret"]
    assert any("no secret in its head" in note for note in result.to_json()["notes"])
    # The seed of the command line tells the secret.
    copy = edited(source, lambda head: head.pop("secret"), tmp_path / "copy.gz")
    assert records(resume(from_replay=f"{copy}@30").replay)[0]["secret"] == records(source)[0]["secret"]


def test_where_the_lots_need_the_secret_the_match_cannot_go_on(tmp_path: Path) -> None:
    """Robots that no player has placed fall by lot."""
    room = games.get("rectangle")
    settings = room.codec.settings(None, {"cap": 20})
    bots = {seat: resolve("idle", seat, "rectangle") for seat in ("a", "b")}
    path = tmp_path / "m.gz"
    # The lots that a reader without the secret gets.
    start = replace(Start.of(room, settings, 1), state=room.start(settings, b""), secret=b"")
    match_between(room, settings, bots, UNHURRIED, start=start, listeners=[ReplayWriter(path)]).run()
    with pytest.raises(UsageError, match="has no secret in its head, and the random numbers of rectangle"):
        start_at(f"{edited(path, lambda head: (head.pop('secret'), head.pop('seed')), tmp_path / 'c.gz')}@5")


def test_a_replay_that_breaks_off_goes_on_at_its_end(source: Path, tmp_path: Path) -> None:
    lines = gzip.decompress(source.read_bytes()).splitlines(keepends=True)
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"".join(lines[:31])))
    assert moves(resume(from_replay="cut.gz@30").replay) == moves(source)
    with pytest.raises(UsageError, match=r"cut.gz has no turn 31: it has 30 steps, and the last turn is 29"):
        start_at("cut.gz@31")


def test_wrong_starts_are_refused(source: Path, tmp_path: Path) -> None:
    shutil.copy(source, "game.gz")
    (tmp_path / "junk.gz").write_bytes(b"\x00\xff junk")
    for text, error, words in (
        ("game.gz", UsageError, "begins at REPLAY@TURN"),
        ("game.gz@", UsageError, "begins at REPLAY@TURN"),
        ("game.gz@-1", UsageError, "begins at REPLAY@TURN"),
        ("game.gz@1e3", UsageError, "begins at REPLAY@TURN"),
        ("@5", UsageError, "begins at REPLAY@TURN"),
        ("game.gz@60", UsageError, "before turn 60 the match is over: .* The last turn is 59"),
        ("game.gz@9999", UsageError, "has no turn 9999: it has 60 steps, and the last turn is 59"),
        ("none.gz@5", ReplayError, "can't be read"),
        ("junk.gz@5", ReplayError, "is not a replay"),
        (".@5", ReplayError, "can't be read"),
        (f"{edited(source, lambda head: head.update(version=99), tmp_path / 'v.gz')}@5", ReplayError, "under version 99 of the rules"),
        (f"{edited(source, lambda head: head.update(format=2), tmp_path / 'f.gz')}@5", ReplayError, "replay format 2"),
        (f"{edited(source, lambda head: head.update(clock={'bank': 'much'}), tmp_path / 'k.gz')}@5", ReplayError, "no valid clock"),
    ):
        with pytest.raises(error, match=words):
            start_at(text)
    wrong = gzip.decompress(source.read_bytes()).replace(b'"name":"Boxer"', b'"name":"Boxes"')
    (tmp_path / "wrong.gz").write_bytes(gzip.compress(wrong))
    with pytest.raises(ReplayError, match="does not verify"):
        start_at("wrong.gz@5")


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("java -jar bot.jar", r"is a command line, which a replay must not start; name the prey: referee play --from .*@5 - PROGRAM"),
        ("Mine", "which isn't found here"),
        ("human", "was a person"),
        ("/bin/true", "a file outside this folder, which a replay must not start"),
        ("../outside.py", "a file outside this folder, which a replay must not start"),
        (" /bin/true", "a file outside this folder, which a replay must not start"),
        ("architect: /bin/true {port}", "is a command line, which a replay must not start"),
        (None, "doesn't name the program"),
    ],
)
def test_only_programs_that_can_be_trusted_are_found_again(program: str | None, words: str, source: Path, tmp_path: Path) -> None:
    text = "print('of the author')\n"
    outside = tmp_path.parent / "outside.py"
    outside.write_text(text)
    # Files whose names are read in two ways.
    for folder in (" ", "architect: "):
        (tmp_path / folder / "bin").mkdir(parents=True)
        for name in ("true", "true {port}"):
            (tmp_path / folder / "bin" / name).write_text("")
    # Whoever writes a replay knows the hash of a published program.
    known = hashlib.sha256(Path("/bin/true").read_bytes() if program == "/bin/true" else text.encode()).hexdigest()
    path = edited(source, lambda head: head["players"]["prey"].update(program=program, sha256=known), tmp_path / "game.gz")
    with pytest.raises(PlayerError, match=words):
        resume(from_replay=f"{path}@5")


def test_a_changed_program_is_noted(tmp_path: Path) -> None:
    bot(tmp_path, "mine")
    replay = play("straight", "mine.py", max_steps=20).replay
    assert not resume(from_replay=f"{replay}@5").to_json()["notes"][1:]
    bot(tmp_path, "mine", "extra = {}")
    notes = resume(from_replay=f"{replay}@5").to_json()["notes"]
    assert "The prey 'mine.py' is not the file that played in the replay: it has another hash." in notes


def test_the_note_on_a_changed_program_comes_before_its_start(referee: Cli, tmp_path: Path) -> None:
    bot(tmp_path, "mine")
    play("straight", "mine.py", max_steps=20, out="game.gz")
    bot(tmp_path, "mine", "extra = {}")
    done = referee("play", "--from", "game.gz@5", "--isolation", "none")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("it has another hash") == 1
    assert done.stderr.index("it has another hash") < done.stderr.index("evasion, ")


def test_arguments_that_contradict_the_replay(source: Path) -> None:
    arguments: list[dict[str, Any]] = [{"seed": 4}, {"rules": "classic"}, {"max_steps": 9}, {"game": "maze"}, {"isolation": "some"}]
    for wrong in arguments:
        with pytest.raises(UsageError, match=next(iter(wrong))):
            package.play(from_replay=f"{source}@5", **wrong)
    with pytest.raises(UsageError, match="is an input of this command"):
        package.play(from_replay=f"{source}@5", out=source)
    assert resume(from_replay=f"{source}@50", time={"bank": None}).open_replay().head["clock"]["bank"] is None


def test_the_command_plays_on_from_a_step_with_the_settings_of_the_replay(referee: Cli, source: Path, tmp_path: Path) -> None:
    shutil.copy(source, tmp_path / "game.gz")
    done = referee("play", "--from", "game.gz@30", "-", "still", "--isolation", "none", "--json", "--quiet", "--width", "300")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["steps"], found["players"]["prey"]["program"], found["seed"]) == (60, "still", 3)
    assert referee("verify", found["replay"]).returncode == 0
    assert "Still (still)" in referee("show", found["replay"]).stdout
    for flags, words in (
        (("--seed", "4"), "--seed can't be used with --from"),
        (("--games", "4"), "--games can't be used with --from"),
        (("--match", "m.toml"), "--match can't be used with --from"),
        (("--width", "200"), "width is 200, but 300 in the match of the replay"),
        (("--set", "cooldown=3"), "cooldown is 3, but 20"),
        (("--rules", "diagonal"), "--rules is 'diagonal'"),
        (("--game", "maze"), "--game is 'maze'"),
        (("--set", "foo=3"), "has no setting 'foo'"),
        (("--out", "game.gz"), "game.gz is an input of this command"),
        (("a", "b", "c"), "3 players were named"),
        (("nobody",), "neither a file nor an example bot"),
    ):
        done = referee("play", "--from", "game.gz@30", *flags)
        assert done.returncode == 2, done.stderr
        assert words in done.stderr
    (tmp_path / "junk.gz").write_bytes(b"\x00\xff junk")
    for text, status in (("game.gz@60", 2), ("game.gz", 2), ("none.gz@3", 2), ("junk.gz@3", 2)):
        assert referee("play", "--from", text).returncode == status
