"""Marks: from matches to points, statuses and reasons."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from gradings import STUDENT, load, match, table, trials

from referee import games
from referee.grading import marks
from referee.grading.escaping import number
from referee.grading.marks import Results
from referee.grading.values import Grades
from referee.handins.values import MISSING, REFUSED, HandIn

if TYPE_CHECKING:
    from referee.grading.values import Rubric, StudentMarks, Trial

PUBLIC = {"seat": '"hunter"', "against": '"runner"', "need": "{ wins = true }"}
HAND_IN = HandIn(STUDENT, "ada.py")
SECRET = "at 17,23"


@pytest.fixture
def rubric(tmp_path: Path) -> Rubric:
    """Six starts, three of them hidden, for 20 points; two starts after the due date for 5; a duel for 10."""
    return load(
        tmp_path,
        table(name='"catch"', points="20", starts="6", hidden="3", **PUBLIC)
        + table(name='"later"', points="5", starts="2", when='"after_due"', **PUBLIC)
        + table(name='"duel"', need='{ beats = "boxer" }'),
    )


def results(rubric: Rubric, facts: dict[tuple[int, int], Any], **others: Any) -> Results:
    """Every trial is won, except for the ``facts`` by test and start; None: not played."""
    found: dict[Trial, Any] = {}
    for trial in trials(rubric):
        given = facts.get((trial.test, trial.start), {})
        won = {"winner": "hunter", "steps": 50, "scores": {"hunter": 50.0}, "test": trial.test}
        seats = ["hunter"] if rubric.tests[trial.test].seat else ["hunter", "prey"]
        matches = [
            match(
                rubric,
                seat,
                game_number=number,
                **{**won, **({"winner": "prey", "scores": {"hunter": None}} if number else {}), **(given or {})},
            )
            for number, seat in enumerate(seats)
        ]
        found[trial] = [(task, None if given is None else record) for task, record in matches]
    return Results(found, **others)


def marked(rubric: Rubric, facts: dict[tuple[int, int], Any] | None = None, hand_in: HandIn = HAND_IN, **others: Any) -> StudentMarks:
    return marks.student_marks(games.get(rubric.game), rubric, hand_in, results(rubric, facts or {}, **others))


def failed(text: str = SECRET, **more: Any) -> dict[str, Any]:
    return {"winner": "prey", "faults": {"hunter": text}, "fault_step": 7, **more}


def test_all_points_are_given_if_everything_is_won(rubric: Rubric) -> None:
    found = marked(rubric)
    assert (found.status, found.reason, found.points, found.is_complete) == ("ok", "", 35.0, True)
    assert [mark.points for mark in found.tests] == [20, 5, 10]
    assert found.tests[0].hidden_points == 10
    assert marks.public(found) == ("ok", "")


def test_shares_add_up_exactly(rubric: Rubric) -> None:
    found = marked(rubric, {(0, 1): {"winner": "prey", "text": "Free."}, (1, 0): {"winner": None}})
    assert found.points == round(float(20 * Fraction(5, 6) + Fraction(5, 2) + 10), 9)
    assert number(found.tests[0].points) == "16.67"
    assert found.tests[0].trials[1].text == "The hunter did not win: Free."
    assert (found.status, found.reason) == ("ok", "")


@pytest.mark.parametrize("starts", [1, 3, 6, 7, 9, 11, 49])
def test_all_shares_of_a_test_are_its_points(starts: int, tmp_path: Path) -> None:
    rubric = load(tmp_path, table(**{**PUBLIC, "starts": str(starts), "points": "0.1"}))
    found = marked(rubric)
    assert found.points == found.tests[0].points == rubric.maximum == 0.1


def test_each_fault_is_told_once_with_its_count(rubric: Rubric) -> None:
    found = marked(rubric, {(0, 1): failed("It was late."), (0, 4): failed()})
    assert found.status == "faulty"
    assert found.reason == "Crashed in 1 of 9 starts: It was late. Crashed in 1 of 9 starts: at 17,23."
    assert found.is_complete
    status, reason = marks.public(found)
    assert status == "faulty"
    assert reason == "Crashed in 1 of 4 starts: It was late."


def test_the_student_learns_nothing_of_faults_in_hidden_matches(rubric: Rubric) -> None:
    found = marked(rubric, {(0, 3): failed(), (0, 5): None, (1, 1): failed("It was late.")}, notes={})
    assert found.status == "faulty"
    assert found.reason.startswith("Crashed in 1 of 9 starts: It was late. ")
    assert found.reason.endswith(" 1 start is not decided yet.")
    assert marks.public(found) == ("ok", "")
    status, reason = marks.public(found, is_due=True)
    assert status == "faulty"
    assert reason == "Crashed in 1 of 6 starts: It was late."


def test_a_void_leaves_the_marks_incomplete(rubric: Rubric) -> None:
    found = marked(rubric, {(0, 0): None, (2, 0): None}, notes={trials(rubric)[0]: "3 matches were void: the disk failed."})
    assert (found.status, found.is_complete) == ("void", False)
    # The student learns no more than that it isn't decided.
    assert marks.public(found) == ("ok", "2 starts are not decided yet.")
    assert found.reason == "2 starts are not decided, as in 'catch', start 1: 3 matches were void: the disk failed."
    assert [mark.is_complete for mark in found.tests] == [False, True, False]
    assert number(found.points) == "21.67"
    assert not Grades(rubric, (found,), Path(), Path()).is_complete


def test_an_opponent_that_cannot_start_is_named(rubric: Rubric) -> None:
    found = marked(rubric, {(2, 0): None}, absent={"boxer (opponent)": "It is no program."})
    assert found.reason == "1 start is not decided, as in 'duel': The opponent can't start, so this doesn't count: It is no program."
    assert found.points == 25


def test_a_hand_in_that_cannot_start_has_no_points(rubric: Rubric) -> None:
    """The reason of a forfeit may come from a hidden match, so students see a public one."""
    crash = failed(is_started=False, fault_step=0, steps=0)
    nothing = dict.fromkeys([(trial.test, trial.start) for trial in trials(rubric)])
    found = marked(rubric, {**nothing, (0, 4): crash, (0, 0): {**crash, "faults": {"hunter": "It ended."}}}, absent={STUDENT: SECRET})
    assert (found.status, found.points, found.is_complete) == ("faulty", 0, True)
    assert found.reason == f"The hand-in can't start: {SECRET}"
    assert all(trial.is_fault for mark in found.tests for trial in mark.trials)
    status, reason = marks.public(found)
    assert status == "faulty"
    assert reason == "Crashed in 4 of 4 starts: It ended."
    shown = [trial.text for mark in found.tests for trial in mark.trials if not trial.trial.is_hidden]
    assert not any(SECRET in text for text in [reason, *shown])
    assert "The hand-in can't start, so this match was not played." in shown
    # Its program could not even be started, so it has seen nothing.
    never = marked(rubric, nothing, absent={STUDENT: "It is not executable."})
    assert marks.public(never) == ("faulty", "The hand-in can't start: It is not executable.")


@pytest.mark.parametrize(("status", "reason"), [(MISSING, "Nothing was submitted."), (REFUSED, "The archive has a link.")])
def test_what_is_not_played_has_no_points(status: str, reason: str, rubric: Rubric) -> None:
    found = marked(rubric, hand_in=HAND_IN._replace(status=status, reason=reason))
    assert (found.status, found.reason, found.points, found.is_complete) == (status, reason, 0, True)
    assert [len(mark.trials) for mark in found.tests] == [6, 2, 1]
    assert {trial.text for mark in found.tests for trial in mark.trials} == {reason}
    assert marks.public(found) == (status, reason)


def test_one_trial_alone(tmp_path: Path) -> None:
    rubric = load(tmp_path, table(**PUBLIC))
    assert marked(rubric, {(0, 0): failed("It ended.")}).reason == "Crashed: It ended."


@pytest.mark.parametrize(
    ("points", "text"),
    [(20.0, "20"), (0, "0"), (-0.001, "0"), (10 / 3, "3.33"), (2.5, "2.5"), (100, "100"), (1234.5678, "1234.57"), (0.005, "0.01")],
)
def test_points_for_people(points: float, text: str) -> None:
    assert number(points) == text
