"""People at the board: what is answered when."""

from __future__ import annotations

from typing import Any

import pytest

from referee.pages.human_session import GAVE_UP, LEFT, PATIENCE, Farewell, HumanMove, HumanSession
from referee.wire import encode

READY = {"type": "ready"}
PAUSE, GO_ON = {"type": "pause", "paused": True}, {"type": "pause", "paused": False}
NORTH = {"go": [0, 1]}


def seated(*seats: str, pace: float | None = None, is_timed: bool = False) -> HumanSession:
    table = HumanSession(seats, pace, is_timed=is_timed)
    for seat in seats:
        table.greeted(seat)
        table.arrive(seat)
        assert table.take(seat, READY, 0.0) == [HumanMove(seat, encode.ready())]
    return table


def paused(table: HumanSession) -> bool:
    return table.is_paused


def question(turn: int) -> dict[str, Any]:
    return {"type": "turn", "turn": turn, "notices": []}


def moved(seat: str, turn: int, move: dict[str, Any], move_id: int | None = None) -> HumanMove:
    return HumanMove(seat, encode.move(turn, move), turn, move_id)


def test_an_answer_names_the_last_move_that_has_come() -> None:
    """A page learns by it whether a move was too late for this answer, and is one for the next."""
    table = seated("prey", pace=2)
    table.ask("prey", question(1), 5.0)
    assert table.due(5.5) == [moved("prey", 1, {})]
    table.ask("prey", question(3), 5.5)
    assert table.take("prey", {"type": "move", "id": 7, "move": NORTH}, 5.6) == []
    assert table.due(6.5) == [moved("prey", 3, NORTH, 7)]
    table.ask("prey", question(5), 6.5)
    assert table.due(7.5) == [moved("prey", 5, {}, 7)]
    table.ask("prey", question(7), 7.5)
    assert table.take("prey", {"type": "move", "id": "7", "move": NORTH}, 7.6) == []
    assert table.due(8.5) == [moved("prey", 7, NORTH)]


def test_nobody_is_ready_before_the_match_has_greeted_them_or_twice() -> None:
    table = HumanSession(["prey"], None)
    table.arrive("prey")
    unsaid = {"name": "", "away_seconds": None}
    assert table.take("prey", READY, 0.0) == []
    # The page says it again once it is told of the greeting, not before: else both would go on forever.
    assert table.to_json(0.0)["seats"] == {"prey": {"is_greeted": False, "is_ready": False} | unsaid}
    table.greeted("prey")
    assert table.to_json(0.0)["seats"] == {"prey": {"is_greeted": True, "is_ready": False} | unsaid}
    named = table.take("prey", {"type": "ready", "name": "  Ada \n Lovelace " + "x" * 60}, 0.0)
    assert named == [HumanMove("prey", encode.ready(("Ada Lovelace " + "x" * 60)[:40]))]
    assert table.take("prey", READY, 0.0) == []


def test_wait_for_me_answers_when_there_is_a_move_and_only_then() -> None:
    table = seated("prey")
    table.ask("prey", question(1), 5.0)
    assert table.due(500.0) == []
    assert table.next_due() is None
    assert table.take("prey", {"type": "move", "move": NORTH}, 501.0) == [moved("prey", 1, NORTH)]
    assert table.due(502.0) == []


def test_a_move_that_comes_before_its_question_waits_for_it() -> None:
    table = seated("prey")
    assert table.take("prey", {"type": "move", "move": NORTH}, 1.0) == []
    table.ask("prey", question(3), 2.0)
    assert table.due(2.0) == [moved("prey", 3, NORTH)]


def test_a_pace_answers_on_time_with_the_last_move_or_none() -> None:
    table = seated("hunter", pace=4)
    table.ask("hunter", question(0), 10.0)
    assert table.next_due() == 10.25
    assert table.take("hunter", {"type": "move", "move": {"remove": [1]}}, 10.1) == []
    assert table.take("hunter", {"type": "move", "move": {"remove": [2]}}, 10.2) == []
    assert table.due(10.25) == [moved("hunter", 0, {"remove": [2]})]
    table.ask("hunter", question(1), 10.26)
    assert table.next_due() == 10.5
    assert table.due(10.51) == [moved("hunter", 1, {})]


def test_a_pace_counts_the_steps_in_which_nobody_was_asked() -> None:
    table = seated("prey", pace=4)
    table.ask("prey", question(1), 1.0)
    assert table.due(1.25) == [moved("prey", 1, {})]
    table.ask("prey", question(3), 1.3)
    assert table.next_due() == 1.75


def test_a_paused_match_answers_nobody() -> None:
    table = seated("prey", pace=4)
    table.ask("prey", question(1), 1.0)
    assert table.take("prey", PAUSE, 1.1) == []
    assert paused(table)
    assert table.due(100.0) == []
    assert table.next_due() is None
    table.take("prey", GO_ON, 200.0)
    assert table.next_due() == 200.25


def test_everybody_who_plays_may_pause_and_continue() -> None:
    table = seated("a", "b", "c", pace=4)
    table.take("a", PAUSE, 1.0)
    assert paused(table)
    # Twice is the same as once.
    table.take("b", PAUSE, 1.0)
    table.take("b", GO_ON, 2.0)
    assert not paused(table)
    table.take("c", PAUSE, 3.0)
    assert table.take("c", {"type": "resign"}, 4.0) == [Farewell("c", GAVE_UP)]
    assert table.to_json(4.0)["seats"].keys() == {"a", "b"}
    # Those who have left don't play any more.
    table.take("c", GO_ON, 5.0)
    assert paused(table)
    table.take("a", GO_ON, 6.0)
    assert not paused(table)


def test_nobody_waits_for_a_person_that_the_match_has_ended() -> None:
    table = seated("a", "b", pace=4)
    table.gone("b", 71.0)
    assert table.to_json(71.0)["seats"].keys() == {"a"}
    table.ask("a", question(1), 72.0)
    table.gone("a", 72.0)
    assert table.due(100.0) == []


def test_a_set_up_waits_whatever_the_pace() -> None:
    table = HumanSession(["a"], 8, set_up=1)
    table.greeted("a")
    table.arrive("a")
    table.take("a", READY, 0.0)
    table.ask("a", question(0), 1.0)
    assert table.next_due() is None
    assert table.due(100.0) == []
    assert table.take("a", {"type": "move", "move": {"place": [[1, 1]]}}, 200.0) == [moved("a", 0, {"place": [[1, 1]]})]
    table.ask("a", question(1), 200.0)
    assert table.next_due() == 200.125


def test_who_leaves_has_a_minute_to_come_back() -> None:
    table = seated("hunter", "prey")
    table.ask("prey", question(1), 5.0)
    table.take("prey", {"type": "move", "move": NORTH}, 5.0)
    table.ask("prey", question(3), 6.0)
    table.depart("prey", 10.0)
    assert table.to_json(30.0)["seats"]["prey"]["away_seconds"] == 40.0
    assert table.next_due() == 10.0 + PATIENCE
    assert table.due(69.9) == []
    table.arrive("prey")
    assert table.due(1000.0) == []
    assert table.take("prey", {"type": "move", "move": NORTH}, 1001.0) == [moved("prey", 3, NORTH)]
    table.depart("prey", 2000.0)
    assert table.due(2060.0) == [Farewell("prey", LEFT)]
    assert table.due(3000.0) == []


def test_nobody_is_answered_for_while_away() -> None:
    table = seated("prey", pace=4)
    table.depart("prey", 1.0)
    table.ask("prey", question(1), 1.0)
    assert table.due(30.0) == []
    table.arrive("prey")
    assert table.due(31.0) == [moved("prey", 1, {})]


def test_before_the_match_people_may_come_and_go() -> None:
    table = HumanSession(["prey"], None)
    table.greeted("prey")
    table.arrive("prey")
    table.depart("prey", 1.0)
    assert table.next_due() is None
    assert table.due(10_000.0) == []


def test_a_person_who_gives_up_leaves_once() -> None:
    table = seated("prey")
    assert table.take("prey", {"type": "resign"}, 1.0) == [Farewell("prey", GAVE_UP)]
    assert table.take("prey", {"type": "resign"}, 2.0) == []


def test_a_clock_that_runs_leaves_no_pause_and_no_pace() -> None:
    table = seated("prey", pace=4, is_timed=True)
    assert table.pace is None
    table.take("prey", PAUSE, 1.0)
    assert not paused(table)
    assert table.pace is None


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"type": 1},
        {"type": "move"},
        {"type": "move", "move": [1]},
        {"type": "pause", "paused": 1},
        {"type": "pause", "paused": [True]},
        {"type": "pace", "pace": 15},
        {"type": ["x"]},
    ],
    ids=str,
)
def test_nonsense_changes_nothing(message: dict[str, Any]) -> None:
    table = seated("prey", pace=4)
    before = table.to_json(0.0)
    assert table.take("prey", message, 0.0) == []
    assert table.to_json(0.0) == before
