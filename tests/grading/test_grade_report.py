"""The report as a file: what it holds, and the folder beside it."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import TYPE_CHECKING, Any

from sample_grades import HOSTILE, RUBRIC, crowd, replaced

from referee.grading import handout, page
from referee.replay.paths import SUFFIX

if TYPE_CHECKING:
    from referee.grading.values import Grades


def held(text: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The summary and the students of a page."""
    config, bulk = re.search(r'id="page">(.*?)</script>', text), re.search(r'id="bulk">(.*?)</script>', text)
    assert config is not None
    assert bulk is not None
    return json.loads(config[1]), json.loads(gzip.decompress(base64.b64decode(bulk[1])))


def written(grades: Grades) -> str:
    page.write(grades, handout.folder_names(grades.students))
    return (grades.folder / "report.html").read_text()


def test_every_student_test_and_match_is_in_the_page(grades: Grades) -> None:
    summary, students = held(written(grades))
    assert (summary["name"], summary["maximum"], [test["name"] for test in summary["tests"]]) == (
        RUBRIC.name,
        20,
        ["finishes", "survives", "beats a walker"],
    )
    assert [student["student"] for student in students] == ["alice", "bob", HOSTILE, "dave"]
    for student, marks in zip(students, grades.students, strict=True):
        assert len(student["tests"]) == 3
        assert student["points"] == marks.points
        for test, mark in zip(student["tests"], marks.tests, strict=False):
            for trial, own in zip(test["trials"], mark.trials, strict=True):
                assert (trial["passed"], trial["text"], trial["hidden"]) == (own.passed, own.text, own.trial.is_hidden)
                for match, (task, record) in zip(trial["matches"], own.matches, strict=True):
                    assert match["seats"] == [list(pair) for pair in task.seats.items()]
                    assert match["page"] + SUFFIX == f"private/{record.replay}"
                    assert (grades.folder / "pages" / f"{match['page']}.js").exists()
                    assert all((grades.folder / log).exists() for _, log in match["logs"])
    failed = students[1]["tests"][0]["trials"][0]["matches"][0]
    assert failed["step"] == 5
    assert [seat for seat, _ in failed["logs"]] == ["hunter"]


def test_the_page_holds_no_markup_of_a_submission_and_no_seed(grades: Grades) -> None:
    text = written(grades._replace(rubric=RUBRIC._replace(name=f"</script>{HOSTILE}")))
    assert "alert(1)" not in text.replace("\\u003cscript>alert(1)", "")
    assert RUBRIC.seed not in text
    assert RUBRIC.seed not in json.dumps(held(text))
    assert "http://" not in text.replace("http://www.w3.org", "").replace("(http://b)", "")


def test_a_step_is_within_its_match_and_a_lost_replay_has_no_link(grades: Grades) -> None:
    mark = grades.students[1].tests[0]
    _, record = mark.trials[0].matches[0]
    (grades.replays / record.replay).unlink()
    far = replaced(grades, 1, [mark._replace(trials=(mark.trials[0]._replace(step=999), *mark.trials[1:]))])
    match = held(written(far))[1][1]["tests"][0]["trials"][0]["matches"][0]
    assert (match["page"], match["step"]) == (None, record.steps)


def test_replays_elsewhere_have_no_link(grades: Grades) -> None:
    elsewhere = grades._replace(folder=grades.folder / "other")
    elsewhere.folder.mkdir()
    _, students = held(written(elsewhere))
    assert students[0]["tests"][0]["trials"][0]["matches"][0]["page"] is None
    assert not (elsewhere.folder / "pages").exists()


def test_pages_of_earlier_trials_are_removed(grades: Grades) -> None:
    written(grades)
    pages = grades.folder / "pages"
    before = len(list(pages.rglob("*.js")))
    written(replaced(grades, 0, grades.students[0].tests[1:]))
    assert len(list(pages.rglob("*.js"))) == before - 3
    assert written(grades) == written(grades)


def test_a_large_class_stays_small(grades: Grades) -> None:
    large = crowd(grades, 500)
    text = page.html(large, handout.folder_names(large.students))
    assert len(text) < 200_000
