"""referee grade as a user meets it: good, odd and bad input, interruptions, and what it prints."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from gradings import HOMEWORK, RUBRIC, SEED
from leagues import IDLE
from sandboxes import missing, need

from referee.grading.grading import KIND
from referee.grading.rubric import commitment_of, example_hand_ins, load
from referee.tournament.commitment import digest
from referee.tournament.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from commands import Commands, Running

    Referee = Callable[..., subprocess.CompletedProcess[str]]

CRASHES = "raise SystemExit(3)\n"
ESCAPES = "\x1b[31mred"


def write_class(folder: Path, **bots: str) -> Path:
    """Write a class of students with one program each; return its folder."""
    made = folder / "class"
    made.mkdir()
    for name, text in bots.items():
        (made / f"{name}.py").write_text(text)
    return made


def write_rubric(folder: Path, text: str = RUBRIC) -> Path:
    path = folder / "rubric.toml"
    path.write_text(text)
    return path


def rows(folder: Path) -> dict[str, dict[str, str]]:
    """The rows of grades.csv by student."""
    with (folder / "grades.csv").open(newline="", encoding="utf-8-sig") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def is_refused(done: subprocess.CompletedProcess[str], *told: str, status: int = 2) -> None:
    """It ends with one sentence, and these words in it."""
    assert done.returncode == status, done.stderr
    for words in told:
        assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture(scope="session")
def odd_class(commands: Commands, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A graded class of odd hand-ins: its folder, and what the command printed."""
    home = tmp_path_factory.mktemp("odd")
    folder = write_class(home, ada=IDLE, bob=CRASHES)
    (folder / f"{ESCAPES}.py").write_text(IDLE)
    (folder / "=1+1.py").write_text(IDLE)
    for name, files in {"empty": (), "two": ("hunter.py", "hunter.sh", "prey.py"), "three": ("a.py", "b.py", "c.py")}.items():
        (folder / name).mkdir()
        for file in files:
            (folder / name / file).write_text(IDLE)
    (home / "roster.csv").write_text("student\nada\nbob\ngone\n")
    write_rubric(home)
    return home, commands.run("grade", "run", folder, "--out", "out", "--roster", "roster.csv", "--slots", "2", cwd=home)


def copied(odd_class: tuple[Path, Any], tmp_path: Path) -> Path:
    """The graded class in a folder of its own, from which it was not graded."""
    shutil.copytree(odd_class[0], tmp_path, dirs_exist_ok=True)
    return tmp_path / "out"


def test_each_hand_in_gets_its_mark_and_the_rest_goes_on(odd_class: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    home, done = odd_class
    assert done.returncode == 0, done.stderr
    found = rows(home / "out")
    good = {name for name, row in found.items() if row["status"] == "ok"}
    assert good == {"ada", "'=1+1", "_[31mred"}
    assert {found[name]["points"] for name in good} == {"20"}
    told = {name: (row["status"], row["points"]) for name, row in found.items() if name not in good}
    assert told == {
        "bob": ("faulty", "0"),
        "gone": ("missing", "0"),
        "empty": ("refused", "0"),
        "two": ("refused", "0"),
        "three": ("refused", "0"),
    }
    assert list(found["ada"])[6:] == ["from", "late", "replaced", "hunts", "'=flees"]
    assert json.loads((home / "out" / "grades.json").read_text())["isolation"] == "none"


def test_what_is_printed_has_no_escapes_no_seed_and_no_place_of_a_copy(odd_class: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    home, done = odd_class
    assert "\x1b" not in done.stdout + done.stderr
    committed = hashlib.sha256((home / "out" / "private" / "commitment.toml").read_bytes()).hexdigest()
    assert f"commitment to the starts: {committed}\n" in done.stderr
    assert SEED not in done.stdout + done.stderr
    # No sentence names the grader's own copies.
    told = [done.stdout, done.stderr, *(path.read_text() for path in (home / "out" / "students").rglob("*.md"))]
    assert not [text for text in told if "submissions/" in text]


@pytest.mark.slow
def test_a_moved_folder_goes_on_and_keeps_every_byte_of_the_tables(odd_class: tuple[Path, Any], referee: Referee, tmp_path: Path) -> None:
    out = copied(odd_class, tmp_path)
    before = (out / "grades.csv").read_bytes()
    for arguments in (("--out", "out"), ("class", "--out", "out", "--roster", "roster.csv")):
        done = referee("grade", "run", *arguments, "--json")
        assert done.returncode == 0, done.stderr
        assert "0 matches to play" in done.stderr
        assert len(json.loads(done.stdout)["students"]) == 8
        assert (out / "grades.csv").read_bytes() == before
    again = referee("grade", "rerun", "ada", "--out", "out", "--slots", "1")
    assert "4 matches to play" in again.stderr
    assert (out / "grades.csv").read_bytes() == before
    is_refused(referee("grade", "rerun", "eve", "--out", "out"), "No hand-in of 'eve' was graded", "ada")
    is_refused(referee("grade", "rerun", "empty", "--out", "out"), "No hand-in of 'empty' was graded")


def test_tables_fit_narrow_terminals(odd_class: tuple[Path, Any], referee: Referee, tmp_path: Path) -> None:
    copied(odd_class, tmp_path)
    for columns in (40, 60, 100):
        done = referee("grade", "run", "--out", "out", env={"COLUMNS": f"{columns}"})
        table = done.stdout.partition("\n\n")[0].splitlines()
        assert max(map(len, table)) <= columns
        assert any("refused" in line for line in table)


def test_tests_after_the_due_date_are_handed_out_on_request(odd_class: tuple[Path, Any], referee: Referee, tmp_path: Path) -> None:
    out = copied(odd_class, tmp_path)
    report = out / "students" / "ada" / "report.html"
    assert "flees" not in report.read_text()
    assert referee("grade", "run", "--out", "out", "--after-due", "--quiet").returncode == 0
    assert "flees" in report.read_text()
    assert "<strong>20</strong> of 20 points" in report.read_text()


def test_a_gradebook_replaces_only_what_the_command_wrote(odd_class: tuple[Path, Any], referee: Referee, tmp_path: Path) -> None:
    """Neither notes, nor another gradebook of the same name, nor one in which the grader has entered marks by hand."""
    written = copied(odd_class, tmp_path) / "gradebook-canvas.csv"
    text = "Student,ID,SIS Login ID,Homework (77)\nPoints Possible,,,20\nBob,3,bob,\n"
    (tmp_path / "canvas.csv").write_text(text)
    command = ("grade", "run", "--out", "out", "--after-due", "--gradebook", "canvas.csv")
    for foreign in ("my notes of this class\n", text):
        written.write_text(foreign)
        is_refused(referee(*command), "gradebook-canvas.csv exists, and this command did not write it")
        assert written.read_text() == foreign
    assert referee(*command, "--force").returncode == 0
    filled = written.read_text()
    assert filled.endswith("Bob,3,bob,0\n")
    assert referee(*command).returncode == 0
    written.write_text(filled.replace("Bob,3,bob,0", "Bob,3,bob,7"))
    is_refused(referee(*command), "did not write it")
    assert "Bob,3,bob,7" in written.read_text()


def test_a_changed_hand_in_and_another_rubric(odd_class: tuple[Path, Any], referee: Referee, tmp_path: Path) -> None:
    out = copied(odd_class, tmp_path)
    (tmp_path / "class" / "bob.py").write_text(IDLE)
    done = referee("grade", "run", "class", "--out", "out", "--roster", "roster.csv", "--slots", "1")
    assert "The hand-in of bob has changed since it was marked" in done.stderr
    assert "4 matches to play" in done.stderr
    assert rows(out)["bob"]["points"] == "20"
    write_rubric(tmp_path, RUBRIC.replace("points = 12", "points = 13"))
    is_refused(referee("grade", "run", "class", "--out", "out"), "was graded by another rubric", "private/rubric.toml")


def test_without_hand_ins_all_on_the_roster_are_missing(referee: Referee, tmp_path: Path) -> None:
    write_rubric(tmp_path)
    (tmp_path / "class").mkdir()
    (tmp_path / "roster.csv").write_text("student\nada\nbob\n")
    assert referee("grade", "run", "class", "--out", "none", "--roster", "roster.csv").returncode == 0
    assert [(row["status"], row["reason"]) for row in rows(tmp_path / "none").values()] == [("missing", "Nothing was submitted.")] * 2


def test_what_fails_before_the_first_match_begins_nothing(referee: Referee, tmp_path: Path) -> None:
    """The rubric can be corrected and the same command run again."""
    write_rubric(tmp_path)
    write_class(tmp_path, ada=IDLE)
    done = referee("grade", "run", "class", "--out", "out", "--cluster", "local:0")
    is_refused(done)
    assert "Go on" not in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_folder_that_cannot_be_read_is_refused_and_the_rest_goes_on(tmp_path: Path) -> None:
    write_rubric(tmp_path)
    folder = write_class(tmp_path, ada=IDLE)
    for place in ("locked", "half"):
        (folder / place).mkdir()
        (folder / place / "bot.py").write_text(IDLE)
    (folder / "locked").chmod(0)
    (folder / "half" / "bot.py").chmod(0)
    rights = "-dac_override,-dac_read_search"
    # The administrator reads everything, but for these two rights.
    mortal = ["setpriv", "--bounding-set", rights, "--inh-caps", rights] if os.geteuid() == 0 else []
    need(not mortal or shutil.which("setpriv") is not None, "setpriv is missing")
    command = [*mortal, sys.executable, "-m", "referee", "grade", "run", "class", "--out", "out", "--slots", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    (folder / "locked").chmod(0o700)
    assert done.returncode == 0, done.stderr
    found = {name: (row["points"], row["status"], row["reason"]) for name, row in rows(tmp_path / "out").items()}
    assert found == {
        "ada": ("20", "ok", ""),
        "half": ("0", "refused", "The hand-in 'half' can't be copied: bot.py: Permission denied."),
        "locked": ("0", "refused", "The hand-in 'locked' can't be copied: locked: Permission denied."),
    }


#: Tries to read files that it must not, and says on stderr what it got.
CURIOUS = """
import sys
for path in PATHS:
    try:
        open(path).close()
        print("GOT", path, file=sys.stderr)
    except OSError:
        print("no", path, file=sys.stderr)
"""


def test_in_the_sandbox_no_hand_in_reads_the_rubric_or_another_one(referee: Referee, tmp_path: Path) -> None:
    need(not missing(), missing())
    rubric = write_rubric(tmp_path, RUBRIC.replace('isolation = "none"', 'isolation = "strict"'))
    secrets = [
        rubric,
        tmp_path / "out" / "private" / "rubric.toml",
        tmp_path / "class" / "ada.py",
        tmp_path / "out" / "private" / "grading.sqlite",
    ]
    write_class(tmp_path, ada=IDLE, eve=CURIOUS.replace("PATHS", repr([*map(str, secrets)])) + IDLE)
    done = referee("grade", "run", "class", "--out", "out", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["isolation"].startswith("isolated")
    assert [student["points"] for student in found["students"]] == [20, 20]
    logs = [path.read_text() for path in (tmp_path / "out" / "private" / "replays").rglob("*.stderr.log") if path.stat().st_size]
    assert [log.count("no ") for log in logs] == [4, 4, 4, 4]
    assert not [log for log in logs if "GOT" in log]


def test_init_writes_a_rubric_for_each_game_once(referee: Referee, tmp_path: Path) -> None:
    done = referee("grade", "init")
    assert done.stdout.splitlines() == ["rubric-evasion.toml", "rubric-rectangle.toml", "rubric-maze.toml"]
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    is_refused(referee("grade", "init"))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    for name in before:
        (tmp_path / name).unlink()
    assert json.loads(referee("grade", "init", "--json").stdout) == {"files": list(done.stdout.split())}


def test_check_rubric_prints_what_example_bots_would_get(referee: Referee, tmp_path: Path) -> None:
    path = write_rubric(
        tmp_path, f'{HOMEWORK}\n[[tests]]\nname = "hunts"\nseat = "prey"\nagainst = "straight"\npoints = 3\nneed = {{ finishes = true }}\n'
    )
    done = referee("grade", "check-rubric", path, "--slots", "2", env={"COLUMNS": "60"})
    assert done.returncode == 0, done.stderr
    assert re.search(r"^hunts: .*runner 3,", done.stdout)
    # From weak to strong, as the example bots are listed.
    marked = re.findall(r"^([a-z][a-z ]+?)  +3 ", done.stdout, re.MULTILINE)
    assert marked == [name for name, _ in example_hand_ins(load(path))]
    assert f"commitment to the starts, to be published with the assignment: {digest(commitment_of(load(path)).text())}\n" in done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 60
    assert sorted(file.name for file in tmp_path.iterdir()) == ["rubric.toml"]


@pytest.mark.slow
def test_json_is_one_object_even_if_marks_are_not_complete(referee: Referee, tmp_path: Path) -> None:
    # The opponent fails after its first question, which is nobody's fault but the grader's.
    (tmp_path / "weak.py").write_text(IDLE.replace('"turn":\n', '"turn":\n        sys.exit(1)\n'))
    write_rubric(
        tmp_path, f'{HOMEWORK}\n[[tests]]\nname = "hunts"\nseat = "hunter"\nagainst = "weak.py"\npoints = 3\nneed = {{ wins = true }}\n'
    )
    done = referee("grade", "run", write_class(tmp_path, ada=IDLE), "--out", "out", "--json", "--slots", "1")
    is_refused(done, "The marks of 1 student are incomplete", "grade run --out out", status=4)
    found = json.loads(done.stdout)
    assert (found["complete"], found["students"][0]["points"]) == (False, 0)
    assert rows(tmp_path / "out")["ada"]["points"] == ""
    told = referee("grade", "run", "--out", "out", "--slots", "1")
    assert re.search(r"^ada +\? +void +1 start is not decided", told.stdout, re.MULTILINE), told.stdout
    assert told.returncode == 4
    is_refused(referee("grade", "run", "class", "--out", "out2", "--json", "--rubric", "none.toml"), "none.toml")


#: Says that it plays, and never answers.
STUCK = IDLE.replace('"turn":\n', '"turn":\n        open("FIFO", "w").close()\n        sys.stdin.read()\n')
SLOW = HOMEWORK + '[time]\nmove = "none"\nbank = "none"\n' + RUBRIC.removeprefix(HOMEWORK)


def stuck_grading(commands: Commands, tmp_path: Path) -> Running:
    """Start to grade ada, whose first match ends, and bob, who is stuck in his first match; return when he is."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    # Root's bots are users of their own.
    fifo.chmod(0o666)
    write_class(tmp_path, ada=IDLE, bob=STUCK.replace("FIFO", str(fifo)))
    write_rubric(tmp_path, SLOW)
    opened = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    running = commands.start("grade", "run", "class", "--out", "out", "--slots", "1", cwd=tmp_path)
    ready = select.poll()
    ready.register(opened)
    assert ready.poll(120_000), running.communicate(1)
    os.close(opened)
    return running


def goes_on(referee: Referee, tmp_path: Path) -> None:
    """The same command plays what isn't marked yet, once bob has submitted something better."""
    with Store.open(KIND, tmp_path / "out" / "private") as store:
        before = {task.key for task, _ in store.done()}
    assert before
    (tmp_path / "class" / "bob.py").write_text(IDLE)
    done = referee("grade", "run", "class", "--out", "out", "--slots", "1")
    assert done.returncode == 0, done.stderr
    assert f"{8 - len(before)} matches to play" in done.stderr
    with Store.open(KIND, tmp_path / "out" / "private") as store:
        assert before < {task.key for task, _ in store.done()}
    assert {name: row["points"] for name, row in rows(tmp_path / "out").items()} == {"ada": "20", "bob": "20"}


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)])
def test_an_interrupted_grading_keeps_its_marks_and_says_how_to_go_on(
    commands: Commands, referee: Referee, tmp_path: Path, number: int, status: int
) -> None:
    running = stuck_grading(commands, tmp_path)
    running.send_signal(number)
    _, told = running.communicate(60)
    assert running.wait(60) == status
    assert re.search(r"[1-4] of 8 matches are done and stored. Go on:  .* grade run --out out$", told, re.MULTILINE), told
    assert "Traceback" not in told
    # The tables have what is known.
    assert rows(tmp_path / "out")["bob"]["points"] == ""
    goes_on(referee, tmp_path)


@pytest.mark.slow
def test_a_killed_grading_goes_on_with_the_same_command(commands: Commands, referee: Referee, tmp_path: Path) -> None:
    running = stuck_grading(commands, tmp_path)
    running.kill()
    running.communicate(60)
    goes_on(referee, tmp_path)


@pytest.mark.slow
def test_a_slow_narrow_terminal_shows_the_progress_and_the_table(tmp_path: Path) -> None:
    write_class(tmp_path, ada=IDLE)
    write_rubric(tmp_path)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "referee", "grade", "run", "class", "--out", "out", "--slots", "1"]
    environment = {**os.environ, "COLUMNS": "40", "LINES": "10", "TERM": "xterm"}
    with subprocess.Popen(command, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        told = b""
        try:
            # A few bytes at a time.
            while some := os.read(ours, 7):
                told += some
        except OSError:
            pass
        os.close(ours)
        assert process.wait(60) == 0
    shown = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", told).decode()
    assert " of 4 matches" in shown
    assert re.search(r"^ada +20 +ok\r?$", shown, re.MULTILINE), shown
    assert "Traceback" not in shown
