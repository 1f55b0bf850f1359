"""Results for Gradescope: their form, what students read there, the deadline, and the limit of runs in a day."""

from __future__ import annotations

import json
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from gradings import STUDENT, load, match, table, trials

from referee import games
from referee.errors import UsageError
from referee.grading import marks
from referee.grading.gradescope import (
    failed_results,
    first_results,
    level_here,
    limited,
    results,
    write,
)
from referee.grading.marks import Results
from referee.grading.pools import Deadline
from referee.grading.values import Grades
from referee.handins.values import REFUSED, HandIn
from referee.isolation import probe
from referee.isolation.limits import LIMITS_USER
from referee.isolation.probe import SandboxCheck
from referee.match.options import MatchOptions

if TYPE_CHECKING:
    from referee.grading.values import Rubric, StudentMarks, Trial

PUBLIC = {"seat": '"hunter"', "against": '"runner"', "need": "{ wins = true }"}
SECRET = "at 17,23"
VISIBILITIES = {"hidden", "after_due_date", "after_published", "visible"}


@pytest.fixture
def rubric(tmp_path: Path) -> Rubric:
    """Six starts, three of them hidden, for 12 points; two starts after the due date, one of them hidden, for 4."""
    return load(
        tmp_path,
        table(name='"catch"', points="12", starts="6", hidden="3", **PUBLIC)
        + table(name='"later"', points="4", starts="2", hidden="1", when='"after_due"', **PUBLIC),
    )


def student(rubric: Rubric, facts: dict[tuple[int, int], dict[str, Any] | None] | None = None, **more: Any) -> StudentMarks:
    """Every trial is won, except for the ``facts`` by test and start; None: not played."""
    found: dict[Trial, Any] = {}
    for trial in trials(rubric):
        given = (facts or {}).get((trial.test, trial.start), {})
        won = {"winner": "hunter", "steps": 50, "scores": {"hunter": 50.0}, "test": trial.test}
        known = {**won, **(given or {})}
        wall_seconds = known.pop("wall_seconds", 2.0)
        task, record = match(rubric, "hunter", **known)
        record = record._replace(wall_seconds=wall_seconds)
        found[trial] = [(task, None if given is None else record)]
    hand_in = more.pop("hand_in", HandIn(STUDENT, "ada.py"))
    return marks.student_marks(games.get(rubric.game), rubric, hand_in, Results(found, **more))


def graded(rubric: Rubric, *args: Any, isolation: str = "limits+user", **more: Any) -> Grades:
    return Grades(rubric, (student(rubric, *args, **more),), Path(), Path(), isolation=isolation)


def lines(content: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {line["name"]: line for line in content["tests"]}


def lost(text: str = SECRET) -> dict[str, Any]:
    return {"winner": "prey", "scores": {"hunter": None}, "faults": {"hunter": text}}


def test_the_form_is_the_documented_one(rubric: Rubric) -> None:
    content = json.loads(json.dumps(results(graded(rubric))))
    assert set(content) <= {
        *("score", "execution_time", "output", "output_format", "test_output_format", "test_name_format", "visibility"),
        *("stdout_visibility", "extra_data", "tests", "leaderboard"),
    }
    assert content["score"] == 16
    assert content["stdout_visibility"] == "hidden"
    for line in content["tests"]:
        assert set(line) <= {"score", "max_score", "status", "name", "number", "output", "visibility"}
        assert line["visibility"] in VISIBILITIES
        assert line.get("status", "passed") in {"passed", "failed"}
        assert 0 <= line["score"] <= line["max_score"]
        assert isinstance(line["number"], str)
    assert sum(line["max_score"] for line in content["tests"]) == rubric.maximum == 16
    assert sum(line["score"] for line in content["tests"]) == content["score"]
    assert len({line["number"] for line in content["tests"]}) == len(content["tests"])
    assert [set(line) for line in content["leaderboard"]] == [{"name", "value"}]


def test_every_public_match_has_a_line_and_all_hidden_ones_together_one(rubric: Rubric) -> None:
    found = lines(results(graded(rubric, {(0, 1): lost("fell over"), (0, 4): lost()})))
    assert list(found) == [
        *("catch, start 1", "catch, start 2", "catch, start 3", "catch: 3 hidden starts together"),
        *("later, start 1", "later: 1 hidden start"),
    ]
    assert found["catch, start 1"]["output"] == "Passed."
    assert found["catch, start 2"]["status"] == "failed"
    assert "fell over" in found["catch, start 2"]["output"]
    hidden = found["catch: 3 hidden starts together"]
    assert hidden == {
        "number": "1.4",
        "name": hidden["name"],
        "score": 4,
        "max_score": 6,
        "output": "4 of 6 points.",
        "visibility": "visible",
    }
    assert {line["visibility"] for name, line in found.items() if name.startswith("later")} == {"after_due_date"}


def test_nothing_of_a_hidden_match_is_told(rubric: Rubric) -> None:
    """The same total, whatever happens in the hidden matches: the results are the same to the byte."""
    facts = [
        {(0, 4): lost(), (0, 5): {"wall_seconds": 300.0, "steps": 77}},
        {(0, 3): lost("another"), (0, 4): {"wall_seconds": 1.0}},
    ]
    first, second = (json.dumps(results(graded(rubric, each))) for each in facts)
    assert first == second
    assert SECRET not in first


def test_tests_for_after_the_due_date_are_not_on_the_leaderboard(rubric: Rubric) -> None:
    for facts in ({}, {(1, 0): lost()}):
        content = results(graded(rubric, facts))
        assert content["leaderboard"] == [{"name": "Points", "value": 12}]
        assert SECRET not in content["output"]


def test_the_time_is_that_of_public_matches(rubric: Rubric) -> None:
    assert results(graded(rubric))["execution_time"] == 6


def test_what_is_not_played_is_marked_so_from_the_first_moment(rubric: Rubric) -> None:
    content: Any = first_results(rubric)
    assert content["score"] == 0
    assert not content["extra_data"]["referee"]["is_complete"]
    found = lines(content)
    assert len(found) == 6
    assert found["catch, start 1"]["output"] == "Not played: there was not enough time for this match."
    assert found["catch: 3 hidden starts together"]["output"] == "0 of 6 points. Not all matches are decided."
    assert all("status" not in line for line in found.values())
    content = results(graded(rubric, {(0, 2): None, (0, 5): None}), "The time was up.")
    assert content["score"] == 12
    assert "The time was up." in content["output"]
    assert lines(content)["catch: 3 hidden starts together"]["output"] == "4 of 6 points. Not all matches are decided."


def test_the_reason_of_a_void_is_not_told(rubric: Rubric) -> None:
    """It may come from a hidden match: a match that was void stops the others of the same programs."""
    notes = dict.fromkeys(trials(rubric), f"3 matches were void: the opponent failed {SECRET}.")
    content = results(graded(rubric, {(0, 2): None, (0, 5): None}, notes=notes))
    assert SECRET not in json.dumps(content)
    assert lines(content)["catch, start 3"]["output"] == "Not decided, which the hand-in did not cause."


def test_the_level_is_in_the_results(rubric: Rubric) -> None:
    content: Any = results(graded(rubric))
    assert "Isolation: limits+user, each program as a user of its own without network." in content["output"]
    assert content["extra_data"]["referee"]["isolation"] == "limits+user"


def test_a_refused_hand_in_is_told_why(rubric: Rubric) -> None:
    refused = HandIn(STUDENT, "ada.py", status=REFUSED, reason="There is no program for the hunter.")
    content: Any = results(graded(rubric, hand_in=refused))
    assert content["score"] == 0
    assert "Status: refused." in content["output"]
    assert "There is no program for the hunter." in content["output"]
    assert all(line["score"] == 0 for line in content["tests"])


def test_text_of_a_hand_in_stays_text(rubric: Rubric) -> None:
    content: Any = results(graded(rubric, {(0, 0): lost("\x1b[31m<b>\u202e" + "x" * 5_000)}))
    assert content["test_output_format"] == content["output_format"] == content["test_name_format"] == "text"
    assert all(part.isprintable() for part in content["output"].splitlines())
    assert all(line["output"].isprintable() for line in content["tests"])
    assert all(len(line["output"]) < 2_100 for line in content["tests"])


def test_a_failure_of_ours_is_no_fault_of_the_student() -> None:
    content: Any = failed_results("In the rubric rubric.toml: no seed.")
    assert content["output"].startswith("Your hand-in was not graded, which you did not cause.")
    assert content["tests"] == []


def test_the_file_is_whole_at_any_time(rubric: Rubric, tmp_path: Path) -> None:
    path = tmp_path / "results" / "results.json"
    write(path, first_results(rubric))
    grades = graded(rubric)

    def write_again() -> None:
        for _ in range(200):
            write(path, results(grades))

    writer = threading.Thread(target=write_again)
    writer.start()
    count = 0
    while writer.is_alive() or not count:
        assert len(json.loads(path.read_text())["tests"]) == 6
        count += 1
    writer.join()
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert [entry.name for entry in path.parent.iterdir()] == ["results.json"]


@pytest.mark.parametrize("seconds", [0, -5, float("nan"), 1e9])
def test_a_senseless_deadline_is_refused(seconds: float) -> None:
    with pytest.raises(UsageError, match="--deadline is"):
        Deadline(seconds)


NOW = datetime(2026, 3, 10, 12, 0, tzinfo=timezone(timedelta(hours=-7)))


def metadata(folder: Path, hours: list[float], **last: Any) -> Path:
    """The metadata of a hand-in, with earlier graded runs so many hours ago."""
    runs = [
        {
            "submission_time": (NOW - timedelta(hours=ago)).isoformat(),
            "score": f"{ago}",
            "results": {"score": ago, "tests": [{"name": "catch", "score": ago}], "output": "graded", "leaderboard": []},
        }
        for ago in hours
    ]
    if runs:
        runs[-1].update(last)
    path = folder / "submission_metadata.json"
    path.write_text(json.dumps({"id": 1, "created_at": NOW.isoformat(), "previous_submissions": runs}))
    return path


@pytest.mark.parametrize(
    ("hours", "is_limited"), [([], False), ([30, 25], False), ([30, 2], False), ([23.9, 2], True), ([50, 20, 5, 1], True)]
)
def test_runs_within_24_hours_are_counted(hours: list[float], is_limited: bool, tmp_path: Path) -> None:
    assert (limited(metadata(tmp_path, hours), 2) is not None) == is_limited


def test_a_run_too_many_keeps_the_score_of_the_last_one(tmp_path: Path) -> None:
    content: Any = limited(metadata(tmp_path, [40, 20, 3]), 2)
    assert content["score"] == 3
    assert content["tests"] == [{"name": "catch", "score": 3}]
    assert "at most 2 graded runs within 24 hours are allowed" in content["output"]
    assert "possible from 2026-03-10 16:00 (UTC-0700)" in content["output"]
    assert content["output"].endswith("graded")
    assert content["stdout_visibility"] == "hidden"


def test_runs_that_were_not_graded_dont_count(tmp_path: Path) -> None:
    first: Any = limited(metadata(tmp_path, [20, 3]), 2)
    # It is the last run now, and has the score of the one before.
    assert limited(metadata(tmp_path, [20, 3], results=first), 2) is None
    assert limited(metadata(tmp_path, [20, 3], results={}), 2) is None
    assert limited(metadata(tmp_path, [20, 3], results=None), 2) is None
    again: Any = limited(metadata(tmp_path, [20, 10, 3], results=first), 2)
    assert again["score"] == 10


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"created_at": 5}',
        '{"created_at": "2026-03-10T12:00:00", "previous_submissions": []}',
        '{"created_at": "x"}',
        "[" * 100_000,
    ],
)
def test_metadata_of_another_form_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "submission_metadata.json"
    path.write_text(text)
    with pytest.raises(UsageError, match="follow Gradescope"):
        limited(path, 2)


def test_the_last_hour_of_a_day_in_another_form(tmp_path: Path) -> None:
    path = tmp_path / "submission_metadata.json"
    path.write_text('{"created_at": "2026-03-10T12:00:00Z", "previous_submissions": null}')
    assert limited(path, 1) is None
    with pytest.raises(UsageError, match="--max-runs-per-day is 0"):
        limited(path, 0)


def test_the_level_is_the_best_that_keeps_bots_from_the_rubric(rubric: Rubric, monkeypatch: pytest.MonkeyPatch) -> None:
    def chosen(requested: str, *_: Any) -> None:
        if requested not in possible:
            raise UsageError(f"{requested} is not possible.")

    monkeypatch.setattr("referee.grading.gradescope.open_launcher", chosen)
    monkeypatch.setattr(probe, "parts", list)
    possible = {"strict", LIMITS_USER}
    assert level_here(rubric._replace(options=MatchOptions(isolation="none"))) == "none"
    assert level_here(rubric) == "strict"
    assert level_here(rubric._replace(options=MatchOptions(isolation="limits"))) == LIMITS_USER
    possible = {LIMITS_USER, "limits"}
    assert level_here(rubric) == LIMITS_USER
    monkeypatch.setattr(probe, "parts", lambda: [SandboxCheck("bubblewrap", ok=False, seen="bwrap is missing")])
    possible = {"strict", "limits"}
    with pytest.raises(UsageError, match=r"limits\+user is not possible. A sandbox is not possible: bwrap is missing"):
        level_here(rubric)
