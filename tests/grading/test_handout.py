"""What students get, and above all what they don't get."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sample_grades import HOSTILE, replaced

from referee.grading import handout, outputs
from referee.grading.values import StudentMarks
from referee.handins.values import OK, HandIn
from referee.replay.paths import SUFFIX, log_path
from referee.replay.reader import verify

if TYPE_CHECKING:
    from referee.grading.values import Grades


def given(grades: Grades, student: str) -> dict[str, bytes]:
    """All files of a student's folder, replays unpacked."""
    folder = grades.folder / "students" / student
    return {
        path.relative_to(folder).as_posix(): gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def matches(grades: Grades, student: int, *, hidden: bool, test: int | None = None) -> list[str]:
    """The names of matches, which a bot is told."""
    found = []
    for mark in grades.students[student].tests:
        for trial in mark.trials:
            if trial.trial.is_hidden == hidden and test in (None, mark.test.number):
                for _, record in trial.matches:
                    head = gzip.decompress((grades.replays / record.replay).read_bytes()).splitlines()[0]
                    found.append(json.loads(head)["match"])
    return found


def test_a_student_gets_the_public_replays_and_own_logs(grades: Grades) -> None:
    outputs.write(grades)
    files = given(grades, "alice")
    assert sorted(files) == [
        "replays/1-finishes-1.hunter.stderr.log",
        "replays/1-finishes-1.replay.jsonl.gz",
        "replays/2-survives-1.prey.stderr.log",
        "replays/2-survives-1.replay.jsonl.gz",
        "report.md",
    ]
    text = files["report.md"].decode()
    assert "- Points: **16 of 16**" in text
    assert "2 hidden starts: 4 of 4 points." in text
    assert "[1-finishes-1](replays/1-finishes-1.replay.jsonl.gz)" in text
    assert "beats a walker" not in text
    folder = grades.folder / "students" / "alice" / "replays"
    assert verify(folder / "1-finishes-1.replay.jsonl.gz").problem is None
    _, record = grades.students[0].tests[0].trials[0].matches[0]
    assert (folder / "1-finishes-1.replay.jsonl.gz").read_bytes() == (grades.replays / record.replay).read_bytes()


def test_nothing_of_a_hidden_match_is_in_a_hand_out(grades: Grades) -> None:
    for after_due in (False, True):
        outputs.write(grades, after_due=after_due)
        for number, student in enumerate(("alice", "bob")):
            everything = b"\n".join(given(grades, student).values())
            assert len(matches(grades, number, hidden=True)) == 2
            for match in matches(grades, number, hidden=True):
                assert match.encode() not in everything
            for match in matches(grades, number, hidden=False, test=2):
                assert (match.encode() in everything) == after_due
            for match in matches(grades, number, hidden=False, test=0):
                assert match.encode() in everything
            for mark in grades.students[number].tests:
                for trial in mark.trials:
                    if trial.trial.is_hidden:
                        for task, record in trial.matches:
                            assert task.key.encode() not in everything
                            assert record.replay_hash.encode() not in everything


def test_after_the_due_date_all_tests_are_shown(grades: Grades) -> None:
    outputs.write(grades, after_due=True)
    files = given(grades, "alice")
    assert {"replays/3-beats-a-walker-1-a.replay.jsonl.gz", "replays/3-beats-a-walker-1-b.prey.stderr.log"} <= set(files)
    assert "- Points: **20 of 20**" in files["report.md"].decode()
    assert "before the due date" not in files["report.md"].decode()
    outputs.write(grades)
    assert not [name for name in given(grades, "alice") if "beats" in name]


def test_a_fault_in_a_hidden_match_shows_in_the_points_alone(grades: Grades) -> None:
    """A status that depended on hidden matches would tell more than their points."""
    alice, bob = grades.students[:2]
    fine, failed = alice.tests[0], bob.tests[0]
    lost = fine.trials[1]._replace(passed=False, points=0.0, text="too slow")
    texts = []
    for hidden in (failed.trials[1], lost):
        only_hidden = replaced(grades, 1, [fine._replace(trials=(fine.trials[0], hidden, fine.trials[2])), *alice.tests[1:]])
        outputs.write(only_hidden)
        texts.append(given(only_hidden, "bob")["report.md"].decode())
    assert texts[0] == texts[1]
    assert "- Status: ok\n" in texts[0]
    assert "2 hidden starts: 2 of 4 points." in texts[0]
    assert not [word for word in ("step", "gave up", "bob lost", "faulty") if word in texts[0]]


def test_a_fault_in_a_test_that_is_not_shown_yet_is_not_told(grades: Grades) -> None:
    alice, bob = grades.students[:2]
    late = replaced(grades, 1, [*alice.tests[:2], bob.tests[2]])
    for after_due, status in ((False, "- Status: ok\n"), (True, "- Status: faulty (The hand-in failed on 1 of 3 starts, as in")):
        outputs.write(late, after_due=after_due)
        assert status in given(late, "bob")["report.md"].decode()


def test_the_times_of_files_tell_nothing_of_hidden_matches(grades: Grades) -> None:
    """A hidden match that takes long delays the end of the next public one."""
    sources = [path for path in grades.replays.rglob("*") if path.is_file()]
    for path in sources:
        os.utime(path, (1_000_000_000, 1_000_000_000))
    outputs.write(grades)
    copies = [path for path in (grades.folder / "students").rglob("*") if path.is_file()]
    assert len(copies) > 4
    assert all(path.stat().st_mtime > 1_500_000_000 for path in copies)


def test_a_lost_public_start_says_why_and_where(grades: Grades) -> None:
    outputs.write(grades)
    text = given(grades, "bob")["report.md"].decode()
    assert "| 1 | 0 | bob lost: " in text
    assert "(replays/1-finishes-1.replay.jsonl.gz) (step 5) |" in text
    assert b"gave up in" in given(grades, "bob")["replays/1-finishes-1.hunter.stderr.log"]


def test_hidden_starts_that_are_not_decided_say_only_that(grades: Grades) -> None:
    mark = grades.students[0].tests[0]
    open_ = mark._replace(trials=(*mark.trials[:2], mark.trials[2]._replace(passed=None, points=0.0, text="void: secret", matches=())))
    outputs.write(replaced(grades, 0, [open_]))
    text = given(grades, "alice")["report.md"].decode()
    assert "2 hidden starts: 2 of 4 points so far; not all matches are decided." in text
    assert "secret" not in text


def test_texts_of_a_hand_in_stay_text(grades: Grades) -> None:
    outputs.write(grades)
    folders = handout.folder_names(grades.students)
    for student in grades.students:
        for name, data in given(grades, folders[student.hand_in.student]).items():
            if name.endswith((".md", ".log")):
                text = data.decode()
                assert all(line.replace("\t", "").isprintable() for line in text.split("\n")), name
                assert name.endswith(".log") or "<" not in text
                assert name.endswith(".log") or "](http" not in text
    assert b"\\x1b[31m<script>" in given(grades, "alice")["replays/1-finishes-1.hunter.stderr.log"]


def test_folders_have_safe_and_different_names(tmp_path: Path) -> None:
    def student(name: str, folder: str | None = None) -> StudentMarks:
        return StudentMarks(HandIn(name, "", tmp_path / folder if folder else None), OK, "", ())

    names = [
        HOSTILE,
        "../../etc",
        "..",
        ".",
        "",
        "-rf",
        "a/b",
        "a\nb",
        "A B",
        "x" * 300,
        "ann",
        "ANN",
        "ann-",
        "Zoë",
        "jane.doe@example.edu",
        "\ud800",
    ]
    students = [*map(student, names), student("eve", "Ann"), student("bob", "bob_17")]
    found = handout.folder_names(students)
    assert len({name.casefold() for name in found.values()}) == len(students)
    for name in found.values():
        assert 0 < len(name) <= 80
        assert name not in (".", "..")
        assert not name.startswith(("-", "."))
        assert name.isprintable()
        assert "/" not in name
        name.encode()
    assert (found["eve"], found["bob"], found["jane.doe@example.edu"]) == ("Ann", "bob_17", "jane.doe@example.edu")
    assert handout.folder_names(list(reversed(students))).keys() == found.keys()


def test_what_has_not_changed_is_left_alone_and_the_rest_goes(grades: Grades) -> None:
    outputs.write(grades)

    def facts() -> dict[str, tuple[int, int]]:
        files = [path for path in grades.folder.rglob("*") if path.is_file() and "private" not in path.parts]
        return {str(path): (path.stat().st_ino, path.stat().st_mtime_ns) for path in files}

    before = facts()
    own = grades.folder / "students" / "bob" / "comment.txt"
    outputs.write(grades)
    after = {name: value for name, value in facts().items() if not name.endswith("viewer.html")}
    assert after == {name: value for name, value in before.items() if not name.endswith("viewer.html")}
    own.write_text("the teacher's own")
    fewer = replaced(grades, 0, grades.students[0].tests[1:])
    outputs.write(fewer._replace(students=(fewer.students[0],)))
    assert sorted(given(grades, "alice")) == ["replays/2-survives-1.prey.stderr.log", "replays/2-survives-1.replay.jsonl.gz", "report.md"]
    assert given(grades, "bob") == {"comment.txt": b"the teacher's own"}
    assert sorted(path.name for path in (grades.folder / "students").iterdir()) == ["alice", "bob"]
    assert len(list((grades.folder / "pages").rglob("*.js"))) == 3


def test_parts_of_a_killed_process_are_removed(grades: Grades) -> None:
    outputs.write(grades)
    replays = grades.folder / "students" / "alice" / "replays"
    script = next((grades.folder / "pages").rglob("*.js"))
    parts = [
        f"{path}.123.part"
        for path in (grades.folder / outputs.CSV, replays.parent / "report.md", replays / "1-finishes-1.replay.jsonl.gz", script)
    ]
    for part in parts:
        Path(part).write_text("half")
    outputs.write(grades)
    assert not [part for part in parts if Path(part).exists()]


def test_a_new_match_replaces_the_old_one(grades: Grades) -> None:
    outputs.write(grades)
    mark, bob = grades.students[0].tests[0], grades.students[1].tests[0]
    outputs.write(replaced(grades, 0, [mark._replace(trials=(bob.trials[0], *mark.trials[1:]))]))
    _, record = bob.trials[0].matches[0]
    target = grades.folder / "students" / "alice" / "replays" / f"1-finishes-1{SUFFIX}"
    assert target.read_bytes() == (grades.replays / record.replay).read_bytes()


@pytest.mark.parametrize("kind", ["gone", "link", "fifo", "folder"])
def test_a_log_or_replay_that_is_no_file_is_left_out(grades: Grades, kind: str) -> None:
    (grades.folder / "private" / "rubric.toml").write_text("seed = 'secret'")
    _, record = grades.students[0].tests[0].trials[0].matches[0]
    replay = grades.replays / record.replay
    for path in (replay, log_path(replay, "hunter")):
        path.unlink()
        if kind == "link":
            path.symlink_to(grades.folder / "private" / "rubric.toml")
        elif kind == "fifo":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
    outputs.write(grades)
    files = given(grades, "alice")
    assert not [name for name in files if "finishes" in name]
    assert "| 1 | 2 | passed |  |" in files["report.md"].decode()


def test_the_folder_of_the_outputs_is_private(grades: Grades) -> None:
    shutil.rmtree(grades.folder)
    outputs.write(grades)
    assert grades.folder.stat().st_mode & 0o777 == 0o700
