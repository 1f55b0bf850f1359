"""A bot is asked the questions of a replay again."""

from __future__ import annotations

import gzip
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from broken_bots import bot
from sandboxes import HOSTILE, PATIENT, UNHURRIED, LevelLauncher, Options, match_between

import referee as package
from referee import games
from referee.author.rerun import Rerun, rerun
from referee.errors import ReplayError, StartError, UsageError
from referee.isolation.level import Level
from referee.match.options import limits_of
from referee.players.clock import TimeControl
from referee.players.names import resolve
from referee.replay.questions import recorded_seat
from referee.replay.records import start_line
from referee.replay.writer import ReplayWriter
from sdk import HunterBot

if TYPE_CHECKING:
    from collections.abc import Mapping


ROOT = Path(__file__).parents[2]
QUICK = TimeControl(startup=60.0, move=1.0, bank=None)


def play(path: Path, game: str, lineup: Mapping[str, str], rules: str | None = None, options: Options = UNHURRIED, **settings: Any) -> Path:
    """Play a match of programs outside a sandbox and return its replay."""
    room = games.get(game)
    checked = room.codec.settings(rules, settings)
    bots = {seat: resolve(name, seat, game, checked) for seat, name in lineup.items()}
    match_between(room, checked, bots, options, seed=5, listeners=[ReplayWriter(path)]).run()
    return path


def again(path: Path, seat: str, player: str, **options: Any) -> Rerun:
    recorded = recorded_seat(path, seat)
    spec = resolve(player, seat, recorded.game.info.name, recorded.settings)
    return rerun(recorded, spec, LevelLauncher(Level(limits=limits_of(recorded.replay.head)), serves_one=True), **options)


EXAMPLES: list[tuple[str, str | None, dict[str, str], dict[str, Any]]] = [
    ("evasion", "classic", {"hunter": "boxer", "prey": "runner"}, {"max_steps": 300}),
    ("evasion", "classic", {"hunter": "random", "prey": "random"}, {"max_steps": 300}),
    ("evasion", "diagonal", {"hunter": "random", "prey": "evader"}, {"max_steps": 200}),
    ("evasion", "gameserver", {"hunter": "random", "prey": "random"}, {"max_steps": 200}),
    ("rectangle", None, {"a": "random", "b": "random", "c": "team", "d": "looper"}, {"players": 4, "cap": 40}),
    ("maze", None, {"thief": "dasher", "policeman": "hard"}, {}),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "rules", "players", "settings"), EXAMPLES, ids=[f"{each[0]}-{each[1]}-{'-'.join(each[2].values())}" for each in EXAMPLES]
)
def test_the_example_bots_answer_as_they_did(
    game: str, rules: str | None, players: dict[str, str], settings: dict[str, Any], tmp_path: Path
) -> None:
    path = play(tmp_path / "m.gz", game, players, rules, **settings)
    for seat, name in players.items():
        found = again(path, seat, name)
        assert found.ok, found
        assert found.answers == found.equal > 10
        assert found.is_same_file
        assert not found.notes


@pytest.mark.parametrize("game", ["evasion", "rectangle", "maze"])
def test_the_questions_are_the_same_to_the_byte_but_for_a_millisecond_of_the_bank(game: str, tmp_path: Path, shared_folder: Path) -> None:
    seats = {"evasion": ("hunter", "prey"), "rectangle": ("a", "b"), "maze": ("policeman", "thief")}[game]
    special = {
        # Refused walls and ignored keys lead to notices; a remark is cut.
        "evasion": 'move = {"build": {"kind": "horizontal", "span": [0, 0]}, "new": 1} if turn % 3 else {}\n        extra = {"say": "x" * 999}',
        "rectangle": 'move = {"place": [[turn, i] for i in range(3)], "x": 1} if "place" in line else {}',
        "maze": 'move = {"go": "R", "jump": 1}',
    }[game]
    path = bot(tmp_path, "bot", special)
    other = {"evasion": "runner", "rectangle": "idle", "maze": "dasher"}[game]
    options = UNHURRIED._replace(
        time=TimeControl(startup=60.0, move=30.0, bank=100.0, increment=0.5), run=UNHURRIED.run.replace(on_malformed="pass")
    )
    players = dict(zip(seats, (f"{sys.executable} {path} {shared_folder}/first", other), strict=True))
    replay = play(tmp_path / "m.gz", game, players, None, options, **({"max_steps": 60} if game == "evasion" else {}))
    again(replay, seats[0], f"{sys.executable} {path} {shared_folder}/second")
    first, second = ((shared_folder / name).read_text().splitlines() for name in ("first", "second"))
    assert len(first) == len(second) > 5
    assert first[0] == second[0]
    assert "notices" in first[1]
    if game == "evasion":
        assert any('"code"' in line for line in first)
    for one, two in zip(first, second, strict=True):
        banks = [float(found[1]) for line in (one, two) if (found := re.search(r'"bank":([\d.]+)', line))]
        assert re.sub(r'"bank":[\d.]+', "", one) == re.sub(r'"bank":[\d.]+', "", two)
        assert not banks or abs(banks[0] - banks[1]) < 0.0015


def test_a_changed_bot_differs_in_the_right_step(tmp_path: Path) -> None:
    one, two = bot(tmp_path, "one"), bot(tmp_path, "two", 'move = {"go": [1, 0]} if turn in (7, 21) else {}')
    path = play(tmp_path / "m.gz", "evasion", {"hunter": "straight", "prey": one}, max_steps=40)
    found = again(path, "prey", two)
    assert not found.ok
    assert [each.step for each in found.differences] == [7, 21]
    assert (found.answers, found.equal, found.differing, found.unasked) == (20, 18, 2, 0)
    assert found.differences[0].to_json() == {
        "step": 7,
        "recorded": {"kind": "move", "move": {}},
        "new": {"kind": "move", "move": {"go": [1, 0]}},
    }
    assert found.is_same_file is False
    assert [each.step for each in again(path, "prey", two, most=1).differences] == [7]


def test_remarks_are_counted_apart(tmp_path: Path) -> None:
    path = play(tmp_path / "m.gz", "evasion", {"hunter": "straight", "prey": bot(tmp_path, "one")}, max_steps=20)
    found = again(path, "prey", bot(tmp_path, "two", 'extra = {"say": "hello"}'))
    assert found.ok
    assert found.notes == ("What the bot says or draws differs in 10 answers; remarks don't count.",)


#: Hostile bots, with the step in which they fail as the hunter; None: before the first one.
FAILING = {
    "exits_at_once": None,
    "never_answers": 0,
    "exits_mid_match": None,
    "floods_stdout": None,
    "not_json": None,
    "wrong_turn": None,
    "killed_by_signal": None,
    "closes_stdout": None,
    "half_a_line": None,
    "line_of_10_mb": None,
    "lone_surrogate": None,
    "two_answers": None,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAILING)
def test_a_failure_is_compared_too(name: str, tmp_path: Path) -> None:
    hostile = str(HOSTILE / f"{name}.py")
    options = UNHURRIED._replace(time=QUICK if name in ("never_answers", "half_a_line") else PATIENT)
    path = play(tmp_path / "m.gz", "evasion", {"hunter": hostile, "prey": "still"}, None, options, max_steps=30)
    assert b'"fault"' in gzip.decompress(path.read_bytes())
    found = again(path, "hunter", hostile, patience=1.0 if name in ("never_answers", "half_a_line") else 60.0)
    assert found.ok, found
    # Another program has no such failure.
    other = again(path, "hunter", "straight")
    assert not other.ok
    assert other.differences[-1].recorded is not None
    assert other.differences[-1].recorded.kind not in ("move", "pass")


@pytest.mark.parametrize("name", ["exits_mid_match", "exits_at_once", "never_answers", "floods_stdout", "floods_stderr"])
def test_a_bot_that_fails_where_the_recorded_one_did_not_differs(name: str, tmp_path: Path) -> None:
    path = play(tmp_path / "m.gz", "evasion", {"hunter": "boxer", "prey": "runner"}, max_steps=400)
    found = again(path, "hunter", str(HOSTILE / f"{name}.py"), patience=0.5)
    assert not found.ok
    if name != "floods_stderr":
        last = found.differences[-1]
        assert last.new is not None
        assert last.new.kind in ("crashed", "late", "malformed")
        assert found.unasked > 0
    assert found.equal + found.differing + found.unasked == found.answers


@pytest.mark.slow
def test_a_late_bot_may_be_as_slow_again(tmp_path: Path) -> None:
    """It has more time now; the same failure is that it exceeds the limit of the match."""
    slow = bot(tmp_path, "slow", "import time\n        time.sleep(1.5 if turn == 4 else 0)")
    path = play(tmp_path / "m.gz", "evasion", {"hunter": slow, "prey": "still"}, None, UNHURRIED._replace(time=QUICK), max_steps=30)
    answer = recorded_seat(path, "hunter").answers[4]
    assert answer is not None
    assert answer.kind == "late"
    assert again(path, "hunter", slow).ok
    assert [each.step for each in again(path, "hunter", bot(tmp_path, "quick")).differences] == [4]


def test_a_game_that_goes_on_after_a_fault(tmp_path: Path) -> None:
    """The others are asked about the position before it; the player that failed is asked no more."""
    failing = bot(tmp_path, "failing", "turn = 99 if turn == 5 else turn")
    players = {"a": failing, "b": "random", "c": "looper"}
    path = play(tmp_path / "m.gz", "rectangle", players, players=3, cap=20)
    for seat, name in players.items():
        found = again(path, seat, name)
        assert found.ok, (seat, found)
        assert found.answers == (6 if seat == "a" else 21)


def test_malformed_answers_that_count_as_passes(tmp_path: Path) -> None:
    odd = bot(tmp_path, "odd", "move = [] if turn == 6 else {}")
    options = UNHURRIED._replace(run=UNHURRIED.run.replace(on_malformed="pass"))
    path = play(tmp_path / "m.gz", "evasion", {"hunter": odd, "prey": "still"}, None, options, max_steps=20)
    assert again(path, "hunter", odd).ok
    (difference,) = again(path, "hunter", bot(tmp_path, "even")).differences
    assert difference.step == 6
    assert difference.recorded is not None
    assert difference.recorded.kind == "pass"


def test_an_answer_in_the_step_of_anothers_fault_is_not_in_the_replay(tmp_path: Path) -> None:
    failing = bot(tmp_path, "failing", "turn = 99 if turn == 5 else turn")
    path = play(tmp_path / "m.gz", "evasion", {"hunter": "boxer", "prey": failing}, max_steps=20)
    found = again(path, "hunter", "boxer")
    assert found.ok
    assert found.answers == 5
    assert found.notes == ("The answer in step 5 is not in the replay, because the match ended there by another player's fault.",)


@pytest.mark.parametrize(("dialect", "arguments"), [("architect", "{port}"), ("gameserver", "{port}")])
def test_programs_of_older_protocols(dialect: str, arguments: str, tmp_path: Path) -> None:
    rules = (games.get("evasion").dialects or {})[dialect].rules[0]
    program = f"{dialect}: {sys.executable} {ROOT}/tests/clients/{dialect}_client.py {arguments}"
    for seat in ("hunter", "prey"):
        path = play(tmp_path / f"{seat}.gz", "evasion", {"hunter": "random", "prey": "random", seat: program}, rules, max_steps=60)
        found = again(path, seat, program)
        assert found.ok, found
        assert found.answers > 10, gzip.decompress(path.read_bytes())[-900:]


def test_a_bot_class_is_asked_by_its_file(tmp_path: Path) -> None:
    text = """
from sdk import HunterBot
class Mine(HunterBot):
    def hunt(self, state):
        return self.build("vertical") if self.random.random() < 0.2 and state.can_build("vertical") else None
if __name__ == "__main__":
    Mine.main()
"""
    scope: dict[str, Any] = {"__name__": "bot", "HunterBot": HunterBot}
    exec(compile(text, "mine", "exec"), scope)
    (tmp_path / "mine.py").write_text(text)
    result = package.play(scope["Mine"], "runner", seed=2, max_steps=200, out=tmp_path / "m.gz", isolation="none")
    head = json.loads(gzip.decompress(result.replay.read_bytes()).splitlines()[0])
    assert head["players"]["hunter"]["clock"]["move"] is None
    recorded = recorded_seat(result.replay, "hunter")
    assert json.loads(start_line(recorded.game, recorded.settings, head, "hunter"))["clock"]["bank"] is None
    found = again(result.replay, "hunter", str(tmp_path / "mine.py"))
    assert found.ok
    assert found.is_same_file is None


def test_a_replay_that_is_cut_short_is_compared_as_far_as_it_goes(tmp_path: Path) -> None:
    path = play(tmp_path / "m.gz", "evasion", {"hunter": "boxer", "prey": "runner"}, max_steps=50)
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join(lines[:31])))
    found = again(path, "hunter", "boxer")
    assert found.ok
    assert found.answers == 30
    assert "cut short" in found.notes[0]


def test_what_cannot_be_asked_is_refused(tmp_path: Path) -> None:
    path = play(tmp_path / "m.gz", "evasion", {"hunter": "boxer", "prey": "runner"}, max_steps=20)
    with pytest.raises(UsageError, match="no seat 'thief'; there are hunter, prey"):
        recorded_seat(path, "thief")
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)

    def changed(**fields: Any) -> Path:
        head = json.loads(lines[0])
        head.update(fields)
        text = json.dumps({key: value for key, value in head.items() if value is not None}, separators=(",", ":")).encode() + b"\n"
        (tmp_path / "c.gz").write_bytes(gzip.compress(text + b"".join(lines[1:-1])))
        return tmp_path / "c.gz"

    wrong: dict[str, dict[str, Any]] = {"no secret": {"secret": None}, "no valid clock": {"clock": {"kind": "wall", "bank": "much"}}}
    for name, fields in wrong.items():
        with pytest.raises(ReplayError, match=name):
            again(changed(**fields), "hunter", "boxer")
    with pytest.raises(ReplayError, match="does not verify"):
        path.write_bytes(gzip.compress(b"".join(lines).replace(b'"name":"Boxer"', b'"name":"Boxes"')))
        recorded_seat(path, "hunter")
    path.write_bytes(gzip.compress(lines[0]))
    with pytest.raises(UsageError, match="holds no answer of the hunter"):
        recorded_seat(path, "hunter")


def test_a_program_that_the_system_cannot_start(tmp_path: Path) -> None:
    path = play(tmp_path / "m.gz", "evasion", {"hunter": "boxer", "prey": "runner"}, max_steps=20)
    (tmp_path / "odd").write_text("#!/no/such/interpreter\n")
    (tmp_path / "odd").chmod(0o755)
    with pytest.raises(StartError):
        again(path, "hunter", str(tmp_path / "odd"))


@pytest.mark.parametrize("path", sorted((ROOT / "tests/data/replays").glob("*.gz")), ids=lambda path: path.name.split(".")[0])
def test_every_question_of_a_replay_is_found(path: Path) -> None:
    """The replay has the time of every answer."""
    records = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    for seat in records[0]["players"]:
        assert recorded_seat(path, seat).answers.keys() == {record["turn"] for record in records if seat in record.get("us", {})}
