"""The countdown before a match of people."""

from __future__ import annotations

from typing import Any

from referee.pages.human_session import HumanMove, HumanSession
from referee.wire import encode


def question(turn: int) -> dict[str, Any]:
    return {"type": "turn", "turn": turn, "notices": []}


def counting(*seats: str, **given: Any) -> HumanSession:
    session = HumanSession(seats, countdown=3.0, **given)
    for seat in seats:
        session.greeted(seat)
        session.arrive(seat)
    return session


def test_at_a_pace_the_countdown_comes_before_the_match() -> None:
    session = counting("hunter", "prey", pace=4)
    assert session.take("hunter", {"type": "ready"}, 8.0) == []
    assert session.to_json(9.0)["starts_in"] is None
    assert session.take("prey", {"type": "ready"}, 10.0) == []
    assert session.to_json(10.5)["starts_in"] == 2.5
    assert session.next_due() == 13.0
    # No step is taken before its end, also none that asks nobody.
    assert session.due(12.9) == []
    assert session.due(13.0) == [HumanMove("hunter", encode.ready()), HumanMove("prey", encode.ready())]
    assert session.to_json(13.0)["starts_in"] is None
    session.ask("hunter", question(0), 13.0)
    assert session.next_due() == 13.25
    assert session.due(13.25) == [HumanMove("hunter", encode.move(0, {}), 0)]
    # Nobody waits a second time.
    session.ask("prey", question(1), 13.3)
    assert session.next_due() == 13.55


def test_a_match_that_waits_has_no_countdown_and_a_set_up_comes_before_it() -> None:
    session = counting("a", pace=None)
    session.take("a", {"type": "ready"}, 0.0)
    session.ask("a", question(0), 1.0)
    assert session.to_json(1.0)["starts_in"] is None
    assert session.take("a", {"type": "move", "move": {"go": 1}}, 1.1) == [HumanMove("a", encode.move(0, {"go": 1}), 0)]
    session = counting("a", pace=4, set_up=1)
    session.take("a", {"type": "ready"}, 0.0)
    session.ask("a", question(0), 1.0)
    assert session.next_due() is None
    session.take("a", {"type": "move", "move": {"place": 1}}, 5.0)
    session.ask("a", question(1), 6.0)
    assert session.to_json(6.0)["starts_in"] == 3.0
    assert session.next_due() == 9.25


def test_with_clocks_the_countdown_comes_before_the_match() -> None:
    session = counting("hunter", "prey", pace=8, is_timed=True)
    assert session.take("hunter", {"type": "ready", "name": "Ada"}, 0.0) == []
    assert session.to_json(1.0)["starts_in"] is None
    assert session.to_json(1.0)["seats"]["hunter"]["is_ready"]
    assert session.take("prey", {"type": "ready"}, 2.0) == []
    assert session.to_json(3.0)["starts_in"] == 2.0
    assert session.next_due() == 5.0
    assert session.due(5.0) == [HumanMove("hunter", encode.ready("Ada")), HumanMove("prey", encode.ready())]
    assert session.next_due() is None


def test_somebody_who_leaves_before_the_match_keeps_nobody_waiting() -> None:
    session = counting("a", "b", pace=8, is_timed=True)
    session.take("a", {"type": "ready"}, 0.0)
    session.take("b", {"type": "resign"}, 1.0)
    assert session.to_json(1.0)["left"] == {"b": "gave up"}
    assert session.due(4.0) == [HumanMove("a", encode.ready())]
