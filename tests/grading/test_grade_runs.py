"""Several runs of a grading: marks that were given stay, and every superseded hand-in can still be found."""

from __future__ import annotations

import csv
import json
import shutil
from typing import TYPE_CHECKING, Any

import gradings
import pytest
from leagues import IDLE

from referee.grading.grading import KIND
from referee.tournament.store import Store

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from commands import Commands

    Referee = Callable[..., subprocess.CompletedProcess[str]]

STUDENTS = ("ada", "bob", "carl")


@pytest.fixture(scope="module")
def graded(commands: Commands, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a grading of three students, each with 20 points."""
    home = tmp_path_factory.mktemp("runs")
    (home / "rubric.toml").write_text(gradings.HUNTS)
    (home / "roster.csv").write_text("student,name\nbob,Bob Martin\nada,Ada Lovelace\ncarl,Carl Gauss\n")
    hand_in(home / "class", **dict.fromkeys(STUDENTS, IDLE))
    done = commands.run("grade", "run", "class", "--out", "out", "--slots", "2", cwd=home)
    assert done.returncode == 0, done.stderr
    return home


@pytest.fixture
def home(graded: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    shutil.copytree(graded, tmp_path, dirs_exist_ok=True)
    return tmp_path


def hand_in(folder: Path, **bots: str) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in bots.items():
        (folder / f"{name}.py").write_text(text)


def marks(home: Path) -> dict[str, tuple[str, str, str]]:
    """Points, status and run of each student, in the order of the table."""
    with (home / "out" / "grades.csv").open(newline="", encoding="utf-8-sig") as file:
        return {row["student"]: (row["points"], row["status"], row["from"]) for row in csv.DictReader(file)}


def submitted(home: Path) -> dict[str, set[str]]:
    """The texts of all kept hand-ins of each student."""
    found: dict[str, set[str]] = {}
    for path in (home / "out" / "private" / "submissions").rglob("*.py"):
        found.setdefault(path.stem, set()).add(path.read_text())
    return found


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


KEPT = ("20", "ok", "1")


def test_one_resubmission_leaves_everybody_else_alone(home: Path, referee: Referee) -> None:
    hand_in(home / "late", ada=gradings.CRASHES)
    before = {name: files(home / "out" / "students" / name) for name in STUDENTS}
    done = referee("grade", "run", "late", "--out", "out", "--slots", "1")
    assert done.returncode == 0, done.stderr
    assert marks(home) == {"ada": ("0", "faulty", "2"), "bob": KEPT, "carl": KEPT}
    assert "Run 2: 1 new, 2 kept" in done.stdout
    assert "Run 2: 1 new, 2 kept" in done.stderr
    assert "2 matches to play" in done.stderr
    after = {name: files(home / "out" / "students" / name) for name in STUDENTS}
    assert [name for name in STUDENTS if after[name] != before[name]] == ["ada"]
    found = json.loads((home / "out" / "grades.json").read_text())
    assert len(found["runs"]) == 2
    assert {student["student"]: student["from"] for student in found["students"]} == {"ada": 2, "bob": 1, "carl": 1}
    again = referee("grade", "rerun", "bob", "--out", "out", "--slots", "1")
    assert "\nPlayed again: the matches of bob\n  hunts: the same as before, 20 of 20 points\n" in again.stdout
    assert "Run 2" not in again.stdout + again.stderr


def test_a_superseded_hand_in_stays_in_the_folder_of_its_hash(home: Path, referee: Referee) -> None:
    old = {student["student"]: student["hash"] for student in json.loads((home / "out" / "grades.json").read_text())["students"]}
    kept = home / "out" / "private" / "submissions"
    before = files(kept)
    assert set(before) == {f"{old[name]}/{name}/{name}.py" for name in STUDENTS}
    hand_in(home / "late", ada=gradings.CRASHES)
    referee("grade", "run", "late", "--out", "out", "--slots", "1")
    referee("grade", "run", "class", "--out", "out", "--slots", "1")
    assert marks(home) == {"ada": ("20", "ok", "3"), "bob": KEPT, "carl": KEPT}
    assert submitted(home)["ada"] == {IDLE, gradings.CRASHES}
    assert before.items() <= files(kept).items()
    with Store.open(KIND, home / "out" / "private") as store:
        replays = {record.replay for _, record in store.done()}
    assert all((home / "out" / "private" / replay).is_file() for replay in replays)


def test_a_hand_in_that_an_export_of_gradescope_lacks_takes_no_mark_away(home: Path, referee: Referee) -> None:
    """Such as a folder with one late hand-in and the metadata of the class."""
    export = home / "export"
    people = {1: "ada", 2: "bob"}
    export.mkdir()
    (export / "submission_metadata.yml").write_text(
        "".join(f"submission_{number}:\n  :submitters:\n  - :name: {name}\n    :sid: '{name}'\n" for number, name in people.items())
    )
    for number in people:
        hand_in(export / f"submission_{number}", hunter=IDLE)
    assert referee("grade", "run", "export", "--out", "out", cwd=home).returncode == 0
    shutil.rmtree(export / "submission_1")
    (export / "submission_2" / "hunter.py").write_text(gradings.CRASHES)
    done = referee("grade", "run", "export", "--out", "out", cwd=home)
    assert done.returncode == 0, done.stderr
    assert "Run 3: 1 new, 2 kept" in done.stderr
    assert marks(home)["ada"] == ("20", "ok", "2")
    assert marks(home)["bob"] == ("0", "faulty", "3")


@pytest.mark.parametrize("options", [(), ("--roster", "roster.csv")], ids=["alone", "roster"])
def test_an_empty_folder_takes_no_mark_away(options: tuple[str, ...], home: Path, referee: Referee) -> None:
    (home / "empty").mkdir()
    done = referee("grade", "run", "empty", "--out", "out", *options)
    assert done.returncode == 0, done.stderr
    assert marks(home) == dict.fromkeys(STUDENTS, KEPT)
    assert "Run 2: 0 new, 3 kept" in done.stdout
    assert "0 matches to play" in done.stderr
    assert list(marks(home)) == (["bob", "ada", "carl"] if options else list(STUDENTS))
    assert (b"Ada Lovelace" in (home / "out" / "grades.csv").read_bytes()) == bool(options)


def test_absence_costs_marks_only_on_request_and_they_come_back(home: Path, referee: Referee) -> None:
    hand_in(home / "late", ada=gradings.CRASHES)
    done = referee("grade", "run", "late", "--out", "out", "--missing-is-zero", "--slots", "1")
    assert done.returncode == 0, done.stderr
    gone = ("0", "missing", "")
    assert marks(home) == {"ada": ("0", "faulty", "2"), "bob": gone, "carl": gone}
    assert submitted(home)["bob"] == {IDLE}
    again = referee("grade", "rerun", "bob", "--out", "out")
    assert (again.returncode, "No hand-in of 'bob' was graded" in again.stderr) == (2, True)
    done = referee("grade", "run", "class", "--out", "out", "--slots", "1")
    assert "0 matches to play" in done.stderr, "the results of these hand-ins are still there"
    assert marks(home) == dict.fromkeys(STUDENTS, ("20", "ok", "3"))


def test_only_one_student_is_looked_at_and_marked_anew(home: Path, referee: Referee) -> None:
    hand_in(home / "class", ada=gradings.CRASHES, bob=gradings.CRASHES)
    done = referee("grade", "run", "class", "--out", "out", "--only", "ada", "--slots", "1")
    assert done.returncode == 0, done.stderr
    assert marks(home) == {"ada": ("0", "faulty", "2"), "bob": KEPT, "carl": KEPT}
    assert "Run 2: 1 new, 2 kept" in done.stdout
    # The same files are marked anew, too.
    done = referee("grade", "run", "class", "--out", "out", "--only", "ada", "--slots", "1")
    assert "2 matches to play" in done.stderr
    assert marks(home) == {"ada": ("0", "faulty", "3"), "bob": KEPT, "carl": KEPT}
    done = referee("grade", "rerun", "ada", "--out", "out", "--slots", "1")
    assert "2 matches to play" in done.stderr
    assert marks(home) == {"ada": ("0", "faulty", "3"), "bob": KEPT, "carl": KEPT}
    before = files(home / "out")
    for wrong in (["--only", "eve"], ["--only", "ada", "--missing-is-zero"]):
        done = referee("grade", "run", "class", "--out", "out", *wrong)
        assert done.returncode == 2, done.stderr
    assert files(home / "out") == before


def test_a_grading_that_has_begun_keeps_its_rubric(home: Path, referee: Referee) -> None:
    (home / "rubric.toml").unlink()
    hand_in(home / "late", ada=gradings.CRASHES)
    done = referee("grade", "run", "late", "--out", "out", "--only", "ada", "--slots", "1")
    assert done.returncode == 0, done.stderr
    assert marks(home) == {"ada": ("0", "faulty", "2"), "bob": KEPT, "carl": KEPT}
    for words in (("--out", "other"), ("--out", "out", "--isolation", "none")):
        done = referee("grade", "run", "late", *words)
        assert (done.returncode, "rubric.toml" in done.stderr) == (2, True), done.stderr


def test_a_student_who_is_off_the_roster_keeps_the_marks(home: Path, referee: Referee) -> None:
    (home / "roster.csv").write_text("student\ncarl\nnew\n")
    (home / "empty").mkdir()
    assert referee("grade", "run", "empty", "--out", "out", "--roster", "roster.csv").returncode == 0
    assert marks(home) == {"carl": KEPT, "new": ("0", "missing", ""), "ada": KEPT, "bob": KEPT}
    assert list(marks(home)) == ["carl", "new", "ada", "bob"]


def test_a_grading_of_an_earlier_version_is_refused(home: Path, referee: Referee) -> None:
    (home / "out" / "private" / "grading.sqlite").rename(home / "out" / "private" / "league.sqlite")
    hand_in(home / "late", ada=gradings.CRASHES)
    before = marks(home)
    for words in (
        ("run", "late", "--out", "out", "--slots", "1"),
        ("run", "class", "--rubric", "rubric.toml", "--out", "out"),
        ("rerun", "bob", "--out", "out"),
    ):
        done = referee("grade", *words)
        assert done.returncode == 2, done.stderr
        assert "out was written by an earlier version of the referee, and this is version" in done.stderr
        assert done.stderr.count("\n") == 1
    assert marks(home) == before


def test_a_member_of_a_team_stays_the_same_student_without_the_roster(referee: Referee, tmp_path: Path) -> None:
    (tmp_path / "rubric.toml").write_text(gradings.HUNTS)
    (tmp_path / "roster.csv").write_text("student,name,email,team\nbli,Bo Li,bo@u.example,Moon\n")
    (tmp_path / "sheet.csv").write_text(
        "Identifier,Full name,Email address,Grade,Maximum Grade\nParticipant 12,Kim Lee,k@u.example,,100\nParticipant 13,Bo Li,bo@u.example,,100\n"
    )
    options = ("--out", "out", "--slots", "1")
    for folder, text, more in (("first", gradings.CRASHES, ("--roster", "roster.csv")), ("late", IDLE, ())):
        hand_in(tmp_path / folder, Moon_12_assignsubmission_file_bot=text)
        assert referee("grade", "run", folder, *options, *more).returncode == 0
    assert marks(tmp_path) == {"bli": ("20", "ok", "2")}
    assert referee("grade", "run", "--out", "out", "--gradebook", "sheet.csv").returncode == 0
    rows = (tmp_path / "out" / "gradebook-sheet.csv").read_text().splitlines()
    assert [row.split(",")[3] for row in rows] == ["Grade", "", "20"]


#: A bot that fails in its third turn where the environment says so.
MOODY = IDLE.replace("import json, sys\n", "import json, os, sys\n").replace(
    '    elif message["type"] == "turn":\n',
    '    elif message["type"] == "turn":\n        assert "MOOD" not in os.environ or message["turn"] < 2\n',
)


def test_a_student_who_is_played_again_is_compared_and_the_replays_of_before_stay(home: Path, referee: Referee) -> None:
    hand_in(home / "class", ada=MOODY)
    assert referee("grade", "run", "class", "--roster", "roster.csv", "--out", "out", "--slots", "1").returncode == 0
    replays = home / "out" / "private" / "replays"
    names = {record["replay"] for record in _matches(home, "ada")}
    before = {name: (home / "out" / "private" / name).read_bytes() for name in names}
    others = {name: data for name, data in files(replays).items() if f"replays/{name}" not in names}
    again = referee("grade", "rerun", "ADA  lovelace", "--out", "out", "--slots", "1", "--json", env={"MOOD": "bad"})
    assert again.returncode == 0, again.stderr
    assert marks(home)["ada"][0] == "0"
    told = again.stderr[again.stderr.index("Played again: the matches of ada\n") :].splitlines()
    assert told[1] == "  hunts: not the same: 0 of 20 points, before 20"
    assert len(told) == 6
    for at, name in enumerate(sorted(names, key=lambda name: told[2].find(name.partition(".")[0]), reverse=True)):
        kept = name.replace(".replay", ".before-1.replay")
        assert told[2 + 2 * at].startswith(f"    start {at + 1}, before: passed (40 steps; ")
        assert told[2 + 2 * at].endswith(f"/{kept})")
        assert told[3 + 2 * at].startswith(f"    start {at + 1}, now: The hand-in failed in step 2: ")
        assert told[3 + 2 * at].endswith(f"/{name})")
        assert (home / "out" / "private" / kept).read_bytes() == before[name]
        assert (home / "out" / "private" / name).read_bytes() != before[name]
    assert others.items() <= files(replays).items()
    back = referee("grade", "rerun", "Ada Lovelace", "--out", "out", "--slots", "1")
    assert "  hunts: not the same: 20 of 20 points, before 0\n" in back.stdout
    assert len(list(replays.rglob("*.before-2.replay.*"))) == len(names)
    assert "Played again" not in referee("grade", "run", "--out", "out").stdout


def _matches(home: Path, student: str) -> list[dict[str, Any]]:
    found = json.loads((home / "out" / "grades.json").read_text())["students"]
    trials = [trial for one in found if one["student"] == student for test in one["tests"] for trial in test["trials"]]
    return [match for trial in trials for match in trial["matches"]]


def test_an_unclear_name_is_refused_with_the_ids(home: Path, referee: Referee) -> None:
    (home / "roster.csv").write_text("student,name\nbob,Ada Lovelace\nada,Ada Lovelace\ncarl,Carl Gauss\n")
    assert referee("grade", "run", "class", "--roster", "roster.csv", "--out", "two", "--slots", "2").returncode == 0
    done = referee("grade", "rerun", "ada lovelace", "--out", "two")
    assert done.returncode == 2
    assert "'ada lovelace' fits 2 students. Name one of them as here: 'bob' and 'ada'." in done.stderr
    assert referee("grade", "rerun", "ada", "--out", "two", "--slots", "1").returncode == 0
