"""The course of a match, driven without players: whom it asks, what faults do, and which events follow."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

from referee import games
from referee.match.course import Turn, TurnReplies, course
from referee.replay.answers import JudgedAnswer
from referee.replay.events import PlayersFaulted, StepTaken
from referee.replay.faults import CRASHED, LATE, Fault

if TYPE_CHECKING:
    from collections.abc import Callable

    Script = Callable[[Turn], TurnReplies]

NOTHING = TurnReplies({}, {}, {})


def fault(kind: str = CRASHED) -> Fault:
    return Fault(kind, "", {}, "It failed.")


def driven(name: str, settings: dict[str, Any], script: Script, greeting: TurnReplies = NOTHING) -> tuple[list[Any], Any, int]:
    """All that a course yields where a script answers its turns, the last position and the number of steps."""
    game = games.get(name)
    checked = game.codec.settings(None, settings)
    steps, replies = course(game, checked, game.start(checked, b""), 0, greeting), None
    yields: list[Any] = []
    while True:
        try:
            event = steps.send(replies)
        except StopIteration as end:
            return yields, *end.value
        yields.append(event)
        replies = script(event) if isinstance(event, Turn) else None


def plain(game: str) -> Script:
    """Every mover answers with the move that does nothing."""
    codec = games.get(game).codec
    return lambda turn: TurnReplies({seat: JudgedAnswer(codec.parse(turn.state, seat, {}), 0.1, 0.0) for seat in turn.movers}, {}, {})


def test_each_turn_is_followed_by_its_step_until_the_game_is_over() -> None:
    yields, state, steps = driven("evasion", {"max_steps": 5}, plain("evasion"))
    assert [type(each) for each in yields] == [Turn, StepTaken] * 5
    assert [each.turn for each in yields[::2]] == list(range(5))
    assert steps == 5
    assert games.get("evasion").outcome(state) is not None
    # The prey isn't asked in the steps in which it can't move.
    assert {len(each.movers) for each in yields[::2]} == {1, 2}


def test_faults_before_the_first_question_come_first_and_may_end_the_match() -> None:
    yields, state, steps = driven("evasion", {}, plain("evasion"), TurnReplies({}, {"hunter": fault(), "prey": fault()}, {"prey": 7}))
    (event,) = yields
    assert isinstance(event, PlayersFaulted)
    assert (event.turn, set(event.faults), event.after, event.logs, steps) == (0, {"hunter", "prey"}, state, {"prey": 7}, 0)


def test_both_faults_of_a_turn_are_one_event() -> None:
    late = {"hunter": fault(LATE), "prey": fault(LATE)}
    yields, state, steps = driven(
        "evasion", {}, lambda turn: TurnReplies({}, late, {}) if len(turn.movers) == 2 else plain("evasion")(turn)
    )
    assert [type(each) for each in yields[-2:]] == [Turn, PlayersFaulted]
    assert yields[-1].faults == late
    assert yields[-1].before is yields[-2].state
    outcome = games.get("evasion").outcome(state)
    assert outcome is not None
    # Both in one step: as the prey's, which is the course's own rule.
    assert outcome.winner == "hunter"
    assert steps == yields[-1].turn


def test_where_others_play_on_the_step_follows_the_fault_in_the_same_turn() -> None:
    def script(turn: Turn) -> TurnReplies:
        replies = plain("rectangle")(turn)
        if turn.turn != 3:
            return replies
        answers = {seat: answer for seat, answer in replies.answers.items() if seat != "a"}
        return replies._replace(answers={**answers, "a": JudgedAnswer(None, 0.1, 0.0, None, fault())}, faults={"a": fault()})

    yields, _, _ = driven("rectangle", {"players": 3, "cap": 6}, script)
    kinds = [(type(each).__name__, each.turn) for each in yields]
    assert [kind for kind in kinds if kind[1] == 3] == [("Turn", 3), ("PlayersFaulted", 3), ("StepTaken", 3)]
    third = next(each for each in yields if isinstance(each, StepTaken) and each.turn == 3)
    assert "a" not in third.moves
    assert all("a" not in each.movers for each in yields if isinstance(each, Turn) and each.turn > 3)


def test_a_ruling_ends_the_match_before_the_question() -> None:
    yields, state, steps = driven("evasion", {"adjudicate_after": 4}, plain("evasion"))
    assert steps == 4
    assert isinstance(yields[-1], StepTaken)
    outcome = games.get("evasion").outcome(state)
    assert outcome is not None
    assert "can evade for ever" in outcome.text


def test_it_loads_nothing_that_reads_or_writes() -> None:
    code = "import sys, referee.match.course; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "referee.match.course" in loaded
    assert not {"pydantic", "subprocess", "select", "socket", "asyncio", "signal"} & set(loaded)
    assert not [name for name in loaded if name.startswith(("referee.players", "referee.isolation", "referee.match.options"))]
