"""What students get, and above all what they don't get."""

from __future__ import annotations

import base64
import binascii
import contextlib
import gzip
import json
import os
import re
import shutil
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from gradings import HOSTILE, replaced

from referee.grading import handout, page, tables
from referee.grading.values import StudentMarks
from referee.handins.values import OK, HandIn
from referee.replay.paths import log_path
from referee.replay.reader import verify

if TYPE_CHECKING:
    from referee.grading.values import Grades


def given(grades: Grades, student: str) -> str:
    """A student's page, as it is."""
    return (grades.folder / "students" / student / "report.html").read_text()


def held(text: str) -> dict[str, bytes]:
    """The replays in a page, by their names."""
    return {name: base64.b64decode(data) for name, data in re.findall(r'<script type="text/plain" id="replay-([^"]*)">([^<]*)<', text)}


def logs(text: str) -> dict[str, bytes]:
    """The logs in a page, by the names of replay and seat."""
    (config,) = re.findall(r'id="page">([^<]*)</script>', text)
    replays = json.loads(config).get("replays", {})
    return {
        f"{name} {seat}": gzip.decompress(base64.b64decode(data))
        for name, replay in replays.items()
        for seat, data in replay["logs"].items()
    }


def words(text: str) -> str:
    """What a page says."""
    body = re.sub(r'(?s)<(script|style|head)\b.*?</\1>|<span class="mark[^>]*>.</span>', " ", text)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


def unpacked(text: str) -> bytes:
    """A page with everything that is packed in it."""
    packed = [re.sub(r'"version".*', "", text).encode()]
    for data in re.findall(r"[\w+/]{24,}=*", text):
        with contextlib.suppress(binascii.Error, OSError, EOFError):
            packed.append(gzip.decompress(base64.b64decode(data)))
    return b"\n".join([text.encode(), *packed])


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


def test_a_student_gets_one_page_with_the_public_replays_and_own_logs(grades: Grades, tmp_path: Path) -> None:
    page.write_all(grades)
    assert sorted(path.name for path in (grades.folder / "students" / "alice").rglob("*")) == ["report.html"]
    text = given(grades, "alice")
    assert list(held(text)) == ["1-finishes-1", "2-survives-1"]
    assert list(logs(text)) == ["1-finishes-1 hunter", "2-survives-1 prey"]
    assert "16 of 16 points" in words(text)
    assert "Hidden starts 4 of 4 points together." in words(text)
    assert "beats a walker" not in text
    saved = tmp_path / "saved.replay.jsonl.gz"
    saved.write_bytes(held(text)["1-finishes-1"])
    assert verify(saved).problem is None
    _, record = grades.students[0].tests[0].trials[0].matches[0]
    assert saved.read_bytes() == (grades.replays / record.replay).read_bytes()


@pytest.mark.parametrize("after_due", [False, True])
def test_nothing_of_a_hidden_match_is_in_a_page(grades: Grades, after_due: bool) -> None:
    """Also where it is packed."""
    page.write_all(grades, after_due=after_due)
    for number, student in enumerate(("alice", "bob")):
        text = given(grades, student)
        everything = unpacked(text)
        assert all(match.encode() in everything for match in matches(grades, number, hidden=False, test=0))
        assert all((match.encode() in everything) == after_due for match in matches(grades, number, hidden=False, test=2))
        assert (b"beats a walker" in everything) == after_due
        assert len(matches(grades, number, hidden=True)) == 2
        assert not [match for match in matches(grades, number, hidden=True) if match.encode() in everything]
        hidden = [trial for mark in grades.students[number].tests for trial in mark.hidden]
        assert not [trial for trial in hidden if f"start {trial.trial.start + 1}" in words(text).lower()]
        for task, record in (match for trial in hidden for match in trial.matches):
            replay = base64.b64encode((grades.replays / record.replay).read_bytes())
            assert not [secret for secret in (task.key.encode(), record.replay_hash.encode(), replay) if secret in everything]


def test_the_seed_and_the_logs_of_opponents_are_in_no_page(grades: Grades) -> None:
    for student in grades.students[:2]:
        for task, record in (match for mark in student.tests for trial in mark.trials for match in trial.matches):
            for seat, name in task.names.items():
                if name != student.hand_in.student:
                    log_path(grades.replays / record.replay, seat).write_text("a thought of the opponent")
    page.write_all(grades, after_due=True)
    for name in ("alice", "bob"):
        everything = unpacked(given(grades, name))
        assert b"I saw" in everything
        assert b"a thought of the opponent" not in everything
        assert grades.rubric.seed.encode() not in everything


def test_after_the_due_date_all_tests_are_shown(grades: Grades) -> None:
    page.write_all(grades, after_due=True)
    text = given(grades, "alice")
    assert {"3-beats-a-walker-1-a", "3-beats-a-walker-1-b"} <= set(held(text))
    assert "3-beats-a-walker-1-b prey" in logs(text)
    assert "20 of 20 points" in words(text)
    assert "before the due date" not in words(text)
    page.write_all(grades)
    assert not [name for name in held(given(grades, "alice")) if "beats" in name]


def test_a_fault_in_a_hidden_match_shows_in_the_points_alone(grades: Grades) -> None:
    """A status that depended on hidden matches would tell more than their points."""
    alice, bob = grades.students[:2]
    fine, failed = alice.tests[0], bob.tests[0]
    lost = fine.trials[1]._replace(passed=False, points=0.0, text="too slow")
    texts = []
    for hidden in (failed.trials[1], lost):
        only_hidden = replaced(grades, 1, [fine._replace(trials=(fine.trials[0], hidden, fine.trials[2])), *alice.tests[1:]])
        page.write_all(only_hidden)
        texts.append(given(only_hidden, "bob"))
    assert texts[0] == texts[1]
    assert "points ok Hand-in" in words(texts[0])
    assert "Hidden starts 2 of 4 points together." in words(texts[0])
    assert not [word for word in ("Step", "gave up", "bob lost", "faulty", "Fault") if word in words(texts[0])]


def test_a_fault_in_a_test_that_is_not_shown_yet_is_not_told(grades: Grades) -> None:
    alice, bob = grades.students[:2]
    late = replaced(grades, 1, [*alice.tests[:2], bob.tests[2]])
    for after_due, status in ((False, "points ok Hand-in"), (True, "points faulty Hand-in")):
        page.write_all(late, after_due=after_due)
        assert status in words(given(late, "bob"))
        assert ("Fault 1: in 1 of 3 starts" in words(given(late, "bob"))) == after_due


def test_the_times_of_files_tell_nothing_of_hidden_matches(grades: Grades) -> None:
    """A hidden match that takes long delays the end of the next public one."""
    page.write_all(grades)
    before = given(grades, "bob")
    for path in grades.replays.rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    page.write_all(grades)
    assert given(grades, "bob") == before


def test_a_fault_is_said_once_with_its_line_of_code(grades: Grades) -> None:
    """The starts below point to it, and their replays open where the points were lost."""
    bob = grades.students[1]
    place = "The hand-in failed in step 5: The hunter (./bob) exited with status 1: KeyError: 'lost', at ./bob/bot.py:6 in hunt."
    first, *others = bob.tests[0].trials
    public = [
        (each._replace(text=place, trial=first.trial._replace(start=start, is_hidden=False)) if start else first._replace(text=place))
        for start, each in enumerate((first, *others))
    ]
    several = replaced(grades, 1, [bob.tests[0]._replace(trials=tuple(public)), *bob.tests[1:]])
    page.write_all(several)
    text = given(several, "bob")
    assert words(text).count("KeyError: 'lost'") == 1
    assert "Fault 1: in 3 of 4 starts bob/bot.py:6 in hunt" in words(text)
    source = (bob.hand_in.folder or Path()).joinpath("bot.py").read_text().splitlines()
    (shown,) = re.findall(r'<span class="now"><i>6</i> ([^\n]*)', text)
    assert unescape(shown) == source[5]
    assert words(text).count("Fault 1 in step 5") == 3
    assert 'href="#replay=1-finishes-1&amp;t=5"' in text
    assert b"gave up in" in logs(text)["1-finishes-1 hunter"]


@pytest.mark.parametrize("path", ["../../rubric.toml", "bob/../../../rubric.toml", "/etc/passwd", "bob/link.toml", "alice/bot.py", "bob"])
def test_no_other_file_is_shown_for_a_place_that_a_bot_made_up(grades: Grades, path: str) -> None:
    (grades.folder / "private" / "rubric.toml").write_text("seed = 'secret'")
    bob = grades.students[1]
    assert bob.hand_in.folder is not None
    bob.hand_in.folder.joinpath("link.toml").symlink_to(grades.folder / "private" / "rubric.toml")
    lost = bob.tests[0].trials[0]._replace(text=f"The hand-in failed in step 5: E, at ./{path}:1 in hunt.")
    page.write_all(replaced(grades, 1, [bob.tests[0]._replace(trials=(lost,)), *bob.tests[1:]]))
    assert "Fault 1" in given(grades, "bob")
    assert '<span class="now">' not in given(grades, "bob")


def test_hidden_starts_that_are_not_decided_say_only_that(grades: Grades) -> None:
    mark = grades.students[0].tests[0]
    open_ = mark._replace(trials=(*mark.trials[:2], mark.trials[2]._replace(passed=None, points=0.0, text="void: a riddle", matches=())))
    page.write_all(replaced(grades, 0, [open_]))
    text = given(grades, "alice")
    assert "Hidden starts 2 of 4 points together so far; not all matches are decided." in words(text)
    assert b"riddle" not in unpacked(text)


def test_a_page_that_would_be_too_large_has_the_replays_of_lost_points(grades: Grades, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are named."""
    page.write_all(grades)
    whole = given(grades, "bob")
    assert list(held(whole)) == ["1-finishes-1", "2-survives-1"]
    alice, bob = grades.students[:2]
    mixed = replaced(grades, 1, [alice.tests[0]._replace(trials=alice.tests[0].trials[:1]), bob.tests[1]])
    monkeypatch.setattr(handout, "MOST_BYTES", len(whole.encode()) - 500)
    page.write_all(mixed)
    text = given(mixed, "bob")
    assert list(held(text)) == ["2-survives-1"]
    assert len(text.encode()) <= handout.MOST_BYTES
    assert "1-finishes-1: not in this page" in words(text)
    assert "Your instructor has these replays, too: 1-finishes-1.replay.jsonl.gz." in words(text)


def test_texts_of_a_hand_in_stay_text(grades: Grades) -> None:
    page.write_all(grades)
    for name in handout.folder_names(grades.students).values():
        text = given(grades, name)
        assert all(line.isprintable() for line in text.split("\n") if "<script>" not in line), name
        assert "<script>alert" not in text
        for data in logs(text).values():
            assert all(line.replace("\t", "").isprintable() for line in data.decode().split("\n"))
    assert b"\\x1b[31m<script>" in logs(given(grades, "alice"))["1-finishes-1 hunter"]


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
    page.write_all(grades)

    def facts() -> dict[str, tuple[int, int]]:
        files = [path for path in grades.folder.rglob("*") if path.is_file() and "private" not in path.parts]
        return {str(path): (path.stat().st_ino, path.stat().st_mtime_ns) for path in files}

    before = facts()
    own = grades.folder / "students" / "bob" / "comment.txt"
    page.write_all(grades)
    after = {name: value for name, value in facts().items() if not name.endswith("viewer.html")}
    assert after == {name: value for name, value in before.items() if not name.endswith("viewer.html")}
    own.write_text("the teacher's own")
    fewer = replaced(grades, 0, grades.students[0].tests[1:])
    page.write_all(fewer._replace(students=(fewer.students[0],)))
    assert list(held(given(grades, "alice"))) == ["2-survives-1"]
    assert [path.name for path in own.parent.iterdir()] == ["comment.txt"]
    assert sorted(path.name for path in (grades.folder / "students").iterdir()) == ["alice", "bob"]
    assert len(list((grades.folder / "pages").rglob("*.js"))) == 3


def test_parts_of_a_killed_process_are_removed(grades: Grades) -> None:
    page.write_all(grades)
    script = next((grades.folder / "pages").rglob("*.js"))
    parts = [f"{path}.123.part" for path in (grades.folder / tables.CSV, grades.folder / "students" / "alice" / "report.html", script)]
    for part in parts:
        Path(part).write_text("half")
    page.write_all(grades)
    assert not [part for part in parts if Path(part).exists()]


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
    page.write_all(grades)
    text = given(grades, "alice")
    assert not [name for name in (*held(text), *logs(text)) if "finishes" in name]
    assert "Start 1 2 p. passed Hidden starts" in words(text)


def test_the_folder_of_the_outputs_is_private(grades: Grades) -> None:
    shutil.rmtree(grades.folder)
    page.write_all(grades)
    assert grades.folder.stat().st_mode & 0o777 == 0o700
