"""What the engine makes again of a replay: the very questions that were asked."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import play_match
from sandboxes import Options, match_between

import referee
from referee import games
from referee.match.options import TimeControl
from referee.players.player import Function
from referee.replay.questions import recorded_seat
from referee.replay.reader import ReplayReader, read_lines
from referee.replay.replay_index import ReplayIndex
from referee.replay.writer import ReplayWriter

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.games.game import Game


REPLAYS = sorted((Path(__file__).parents[1] / "data/replays").glob("*.gz"))


def recorded_game(path: Path) -> Game:
    return ReplayReader(path).game


def scripted(asked: list[dict[str, Any]], answer: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[bytes], bytes | None]:
    def converse(line: bytes) -> bytes | None:
        message = json.loads(line)
        if message["type"] == "start":
            return b'{"type":"ready","protocol":1}'
        if message["type"] == "end":
            return None
        asked.append(message)
        return json.dumps({"type": "move", "turn": message["turn"], **answer(message)}).encode()

    return converse


def hunts(question: dict[str, Any]) -> dict[str, Any]:
    kind = ("horizontal", "vertical")[question["turn"] // 5 % 2]
    return {"move": {"build": {"kind": kind}, "color": 1} if question["turn"] % 5 == 0 else {}, "say": f"turn {question['turn']}"}


def flees(question: dict[str, Any]) -> dict[str, Any]:
    return {"move": {"go": [1, 0], "speed": 3} if question["turn"] % 7 == 0 else {}}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[dict[str, Any]]]]:
    path = tmp_path_factory.mktemp("recorded") / "asked.gz"
    game = games.get("evasion")
    settings = game.codec.settings("classic", {"max_steps": 450, "cooldown": 3})
    questions: dict[str, list[dict[str, Any]]] = {"hunter": [], "prey": []}
    players = {
        seat: Function(seat, scripted(questions[seat], answer), about={"program": seat})
        for seat, answer in (("hunter", hunts), ("prey", flees))
    }
    options = Options(TimeControl(startup=None, move=30.0, bank=60.0, increment=0.001))
    match_between(game, settings, players, options, seed=1, listeners=[ReplayWriter(path)]).run()
    return path, questions


@pytest.mark.slow
def test_every_question_is_the_one_that_was_asked(asked: tuple[Path, dict[str, list[dict[str, Any]]]]) -> None:
    path, questions = asked
    recorded = ReplayIndex()
    verdict = recorded.play(path, read_lines(path))
    assert verdict["status"] == "good"
    assert recorded.steps == 450
    for seat, theirs in questions.items():
        assert len(theirs) > 200
        assert any(question["notices"] for question in theirs)
        for question in theirs:
            made = recorded.question(question["turn"], seat)["question"]
            left, bank = made.pop("left"), question["left"]["bank"]
            assert made == {key: value for key, value in question.items() if key != "left"}
            assert left["move"] == question["left"]["move"]
            assert left["bank"] == pytest.approx(bank, abs=0.002)


@pytest.mark.parametrize("path", REPLAYS, ids=[path.name.partition(".")[0] for path in REPLAYS])
def test_the_panel_shows_the_questions_that_rerun_asks(path: Path) -> None:
    recorded = ReplayIndex()
    assert recorded.play(path, read_lines(path))["status"] == "good"
    for seat in recorded.head["players"]:
        panel = {turn: recorded.question(turn, seat).get("question") for turn in range(recorded.steps + 1)}
        seat_questions = recorded_seat(path, seat).questions()
        again = {question.turn: json.loads(question.line(recorded_game(path))) for question in seat_questions if question.is_move}
        assert {turn: question for turn, question in panel.items() if question is not None} == again
        assert again


def test_the_panel_of_a_match_that_began_in_another_replay_has_full_banks(tmp_path: Path) -> None:
    first = referee.play("boxer", "runner", seed=3, max_steps=40, out=tmp_path / "first.gz", isolation="none").replay
    second = referee.play(from_replay=f"{first}@20", out=tmp_path / "second.gz", isolation="none").replay
    recorded = ReplayIndex()
    recorded.play(second, read_lines(second))
    (question,) = (question for question in recorded_seat(second, "hunter").questions() if question.turn == 20)
    assert recorded.question(20, "hunter")["question"] == json.loads(question.line(recorded_game(second)))
    assert question.bank == 120.0


def test_a_match_is_stepped_once_for_its_verdicts(
    asked: tuple[Path, dict[str, list[dict[str, Any]]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = games.get("evasion")
    counted: list[int] = []
    step = type(game).step

    def count(self: Any, state: Any, moves: Any) -> Any:
        counted.append(state.step)
        return step(self, state, moves)

    recorded = ReplayIndex()
    recorded.play(asked[0], read_lines(asked[0]))
    monkeypatch.setattr(type(game), "step", count)
    recorded.compute_verdicts()
    assert len(recorded.judged) > 5
    # A verdict that changes between two changes of walls is searched for, by halves of less than 200 steps.
    assert len(counted) < recorded.steps
    for turn in (0, 1, 7, 199, 200, 201, 449, 450):
        assert recorded.state_at(turn).step == turn


def test_what_has_no_question(asked: tuple[Path, dict[str, list[dict[str, Any]]]]) -> None:
    recorded = ReplayIndex()
    assert "text" in recorded.question(0, "hunter")
    recorded.play(asked[0], read_lines(asked[0]))
    assert recorded.question(0, "prey") == {"text": "It is not asked in this step."}
    assert recorded.question(450, "hunter") == {"text": "It is not asked in this step."}
    assert recorded.question(451, "hunter") == {"text": "There is no such step."}
    assert recorded.question(-1, "hunter") == {"text": "There is no such step."}
    assert recorded.question(0, "<b>") == {"text": "There is no such seat."}


def test_the_area_is_measured_where_walls_change(asked: tuple[Path, dict[str, list[dict[str, Any]]]]) -> None:
    recorded = ReplayIndex()
    recorded.play(asked[0], read_lines(asked[0]))
    assert recorded.metrics[0] == (0, {"area": 300 * 300})
    turns = [turn for turn, _ in recorded.metrics]
    assert turns == sorted(turns)
    for turn, values in recorded.metrics[1:]:
        before, after = recorded.state_at(turn - 1), recorded.state_at(turn)
        assert before.walls != after.walls
        assert 0 < values["area"] < 300 * 300


def test_what_can_be_drawn_and_what_was_certain(asked: tuple[Path, dict[str, list[dict[str, Any]]]]) -> None:
    path, _ = asked
    recorded = ReplayIndex()
    assert recorded.overlay(0) == {"text": "This step has not been played again yet.", "later": True}
    recorded.play(path, read_lines(path))
    calls: list[int] = []
    recorded.compute_verdicts(lambda: calls.append(len(recorded.judged)))
    assert recorded.is_judged
    assert calls == list(range(1, len(recorded.judged) + 1))
    assert recorded.judged[0][0] == 0
    for position, certain in recorded.judged:
        assert dict(recorded.game.analysis.verdict(recorded.state_at(position))) == certain  # type: ignore[union-attr]
    found = recorded.overlay(5)
    assert {"safe", "reach", "trajectory", "verdict", "stride"} <= found.keys()
    assert recorded.overlay(recorded.steps) == {"text": "The match is over here."}
    assert recorded.overlay(recorded.steps + 1) == {"text": "There is no such step."}


def test_a_preview_is_what_the_step_would_do(asked: tuple[Path, dict[str, list[dict[str, Any]]]]) -> None:
    game = games.get("evasion")
    from referee.replay.replay_index import preview

    start = game.start(game.codec.settings("diagonal", {"hunter": [50, 60, 1, 1]}), b"")
    built = preview(game, start, "hunter", {"build": {"kind": "vertical", "span": [40, 80]}})
    assert built["changes"]["built"] == [{"id": 0, "kind": "vertical", "x1": 50, "y1": 40, "x2": 50, "y2": 80}]
    refused = preview(game, start, "hunter", {"build": {"kind": "vertical", "span": [70, 80]}})
    assert "built" not in refused["changes"]
    assert "does not hold the hunter's y 60" in refused["notices"][0]["text"]
    assert preview(game, start, "hunter", {"build": 5})["notices"][0]["code"] == "refused"
    assert preview(game, start, "prey", {"go": [1, 0]}) == {"changes": {}, "notices": []}


def test_what_is_wrong_is_told(tmp_path: Path) -> None:
    path = tmp_path / "good.gz"
    play_match("straight", "still", replay=path, max_steps=30)
    whole = path.read_bytes()
    (tmp_path / "cut.gz").write_bytes(whole[:-200])
    recorded = ReplayIndex()
    verdict = recorded.play(path, read_lines(tmp_path / "cut.gz"))
    assert (verdict["status"], verdict["kind"]) == ("bad", "cut")
    (tmp_path / "no.gz").write_text("hello")
    assert ReplayIndex().play(path, read_lines(tmp_path / "no.gz"))["kind"] == "unreadable"


@pytest.mark.parametrize(
    "odd",
    [
        '"remarks":{"hunter":{"warnings":5}}',
        '"remarks":{"hunter":7}',
        '"notices":{"a":1}',
        '"us":{"hunter":1' + "0" * 400 + "}",
        '"us":[]',
        '"log":3',
    ],
)
def test_odd_records_get_an_answer_too(odd: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.gz"
    play_match("straight", "still", replay=path, max_steps=10)
    lines = gzip.decompress(path.read_bytes()).splitlines()
    record = json.loads(lines[3])
    key = odd.partition(":")[0].strip('"')
    record.pop(key, None)
    lines[3] = json.dumps(record)[:-1].encode() + f",{odd}}}".encode()
    path.write_bytes(gzip.compress(b"\n".join(lines) + b"\n"))
    recorded = ReplayIndex()
    assert recorded.play(path, read_lines(path))["status"] == "bad"
    for turn in range(recorded.steps + 1):
        json.dumps(recorded.question(turn, "hunter"))
