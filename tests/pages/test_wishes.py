"""Moves that people wish for before the rules allow them: what becomes of them, and what the rules say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from referee.games.evasion.game import GAME
from referee.pages.human_session import HumanMove, HumanSession, JudgedWish
from referee.replay.reader import read_lines
from referee.replay.replay_index import ReplayIndex

if TYPE_CHECKING:
    from collections.abc import Iterator

V: dict[str, Any] = {"build": {"kind": "vertical"}}
H: dict[str, Any] = {"build": {"kind": "horizontal"}}
REMOVE: dict[str, Any] = {"remove": [3]}


def wish(number: int, move: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "wish", "id": number, "move": move, **more}


class Table:
    """A hunter at a table whose rules know a wall as legal from a turn on, and the positions up to ``known``."""

    def __init__(self, legal_from: int, *, pace: float | None = 8, known: int = 99) -> None:
        self.legal_from, self.known = legal_from, known
        self.session = HumanSession(["hunter"], pace, refusal=self.refusal)
        self.session.greeted("hunter")
        self.session.arrive("hunter")
        self.session.take("hunter", {"type": "ready"}, 0.0)
        #: What was played, by turn; and what the page was told: number, status, first turn, turn.
        self.played: dict[int, Any] = {}
        self.told: list[tuple[int, str, int, int]] = []

    def refusal(self, seat: str, turn: int, move: Any) -> str | None:
        assert seat == "hunter"
        if turn > self.known:
            return None
        return f"legal in {self.legal_from - turn}" if "build" in move and turn < self.legal_from else ""

    def sent(self, actions: list[Any]) -> None:
        for action in actions:
            if isinstance(action, JudgedWish):
                self.told.append((action.wish_id, action.status, action.first_turn, action.turn))
            else:
                assert isinstance(action, HumanMove)
                assert action.turn is not None
                self.played[action.turn] = json.loads(action.line)["move"]

    def play(self, turns: int, wishes: dict[float, dict[str, Any]], *, step: float = 0.125) -> None:
        """Ask in each turn; wishes come at their times, in seconds after the first question."""
        waiting = sorted(wishes.items())
        for turn in range(turns):
            begins = 10 + turn * step
            self.session.ask("hunter", {"turn": turn}, begins)
            self.sent(self.session.due(begins))
            while waiting and 10 + waiting[0][0] < begins + step:
                time, message = waiting.pop(0)
                self.sent(self.session.take("hunter", message, 10 + time))
            self.sent(self.session.due(begins + step))

    @property
    def walls(self) -> dict[int, Any]:
        return {turn: move for turn, move in self.played.items() if move}


#: When keys go down, with a wall legal from turn 8 on, which is asked after one second; and the walls that stand then.
CASES: dict[str, tuple[dict[float, dict[str, Any]], dict[int, Any]]] = {
    "half a second before": ({0.5: wish(1, V)}, {8: V}),
    "a moment before": ({0.99: wish(1, V)}, {8: V}),
    "in the step": ({1.01: wish(1, V)}, {8: V}),
    "too early": ({0.49: wish(1, V)}, {}),
    "the last one counts": ({0.6: wish(1, V), 0.9: wish(2, H)}, {8: H}),
    "a legal move is made while a wall waits": (
        {0.6: wish(1, REMOVE), 0.61: wish(2, V, after=1, combined={**REMOVE, **V})},
        {4: REMOVE, 8: V},
    ),
    "a wall is added to a legal move": ({1.01: wish(1, REMOVE), 1.02: wish(2, V, after=1, combined={**REMOVE, **V})}, {8: {**REMOVE, **V}}),
    "what it was to be added to has been played": (
        {0.88: wish(1, REMOVE), 1.02: wish(2, V, after=1, combined={**REMOVE, **V})},
        {7: REMOVE, 8: V},
    ),
    "nothing": ({0.6: wish(1, V), 0.9: wish(2, {})}, {}),
    "no wish": ({0.9: wish(1, V) | {"id": "1"}, 0.91: {"type": "wish", "id": 1}, 0.92: wish(1, V) | {"move": [V]}}, {}),
}


@pytest.mark.parametrize("case", CASES)
def test_a_wish_is_played_in_the_first_step_that_allows_it(case: str) -> None:
    wishes, wanted = CASES[case]
    table = Table(8)
    table.play(20, wishes)
    assert table.walls == wanted


def test_a_page_hears_when_its_wish_came_and_what_became_of_it() -> None:
    table = Table(8)
    table.play(10, {0.8: wish(1, V)})
    assert table.told == [(1, "waits", 6, 6), (1, "waits", 6, 7), (1, "chosen", 6, 8)]
    table = Table(8)
    table.play(10, {0.4: wish(1, V)})
    assert table.told == [(1, "waits", 3, turn) for turn in range(3, 8)] + [(1, "late", 3, 8)]


def test_on_a_slow_machine_the_age_of_a_wish_is_counted_in_steps() -> None:
    for seconds, wanted in ((1.7, {8: V}), (1.5, {})):
        table = Table(8)
        # Half a second is four steps.
        table.play(12, {seconds: wish(1, V)}, step=0.4)
        assert table.walls == wanted
    # Between the answer in turn 3 and the next question.
    table = Table(8)
    table.play(4, {}, step=0.4)
    table.sent(table.session.take("hunter", wish(1, V), 11.61))
    for turn in range(4, 9):
        table.session.ask("hunter", {"turn": turn}, 10.1 + turn * 0.4)
        table.sent(table.session.due(10.4 + turn * 0.4))
    assert table.walls == {8: V}
    # Without a pace there is only the time.
    table = Table(8, pace=None)
    table.session.ask("hunter", {"turn": 7}, 10.0)
    table.sent(table.session.take("hunter", wish(1, V), 10.1))
    table.sent(table.session.take("hunter", {"type": "move", "move": {}}, 10.2))
    table.session.ask("hunter", {"turn": 8}, 10.7)
    table.sent(table.session.due(10.7))
    assert table.walls == {}


@pytest.mark.parametrize("pace", [8, None])
def test_no_answer_is_given_before_the_rules_have_judged_the_wish(pace: float | None) -> None:
    table = Table(0, pace=pace, known=-1)
    session = table.session
    session.ask("hunter", {"turn": 0}, 10.0)
    assert session.take("hunter", wish(1, V), 10.1) == []
    assert session.due(12.0) == []
    # The rules are asked again soon.
    assert session.next_due() == pytest.approx(12.0, abs=0.1)
    table.known = 0
    table.sent(session.due(12.02))
    assert (table.walls, table.told) == ({0: V}, [(1, "chosen", 0, 0)])
    assert session.next_due() is None


def test_a_page_that_wishes_without_end_does_not_keep_the_rules_busy() -> None:
    table = Table(9, pace=None)
    table.session.ask("hunter", {"turn": 4}, 10.0)
    for number in range(1000):
        table.sent(table.session.take("hunter", wish(number, V), 10 + number / 10_000))
    table.sent(table.session.due(10.1))
    assert [number for number, *_ in table.told] == pytest.approx([0, 200, 400, 600, 800, 999], abs=3)


def test_a_wish_that_comes_between_two_questions_is_for_the_next_one() -> None:
    table = Table(0, pace=None)
    assert table.session.take("hunter", wish(1, V), 10.0) == []
    table.session.ask("hunter", {"turn": 4}, 10.4)
    table.sent(table.session.due(10.4))
    assert (table.walls, table.told) == ({4: V}, [(1, "chosen", 4, 4)])


#: The recorded matches of every rule set of Evasion.
RECORDED = sorted((Path(__file__).parents[1] / "data/replays").glob("evasion-*"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name.split(".")[0])
def test_the_rules_of_the_game_judge_each_move_in_its_own_position(path: Path) -> None:
    recorded = ReplayIndex()
    judged = []

    def lines() -> Iterator[bytes]:
        for line in read_lines(path):
            record = json.loads(line)
            if "moves" in record:
                turn = record["turn"]
                told = {notice["seat"] for notice in record.get("notices", ()) if notice["code"] in GAME.samples.refusals}
                for seat, move in record["moves"].items():
                    judged.append(bool(recorded.refusal(seat, turn, move)) == (seat in told))
                assert recorded.refusal("hunter", turn + 1, {}) is None
            yield line

    assert recorded.play(path, lines())["status"] == "good"
    assert judged
    assert all(judged)
    # What can't be asked any more is left to the match.
    assert recorded.refusal("hunter", 10**9, {}) == ""


def test_what_is_no_move_is_refused() -> None:
    recorded = ReplayIndex()

    def lines() -> Iterator[bytes]:
        head, *rest = read_lines(RECORDED[0])
        yield head
        assert "span" in str(recorded.refusal("hunter", 0, {"build": {"kind": "vertical", "span": "all"}}))
        yield from rest

    recorded.play(RECORDED[0], lines())
