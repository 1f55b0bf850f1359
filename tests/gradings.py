"""Gradings for tests: rubric files, matches that were never played, and grades of small matches that are really played."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from referee.grading import marks, rubric, values
from referee.grading.marks import opponent_name
from referee.grading.values import Grades, Need, Rubric, RubricMark, RubricTest, StudentMarks, Trial, TrialMark
from referee.handins.values import MISSING, OK, REFUSED, Entry, HandIn
from referee.match.options import MatchOptions
from referee.support.canonical import canonical
from referee.tournament.values import Record, Task
from referee.tournament.worker import Terms, Worker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from referee.games.game import Json


HEAD = 'name = "Homework"\ngame = "{game}"\nseed = "0123456789abcdef0123456789abcdef"\n'
STUDENT = "ada"
SEATS = {"evasion": ("hunter", "prey"), "maze": ("thief", "policeman"), "rectangle": ("a", "b")}


def write(folder: Path, tests: str, game: str = "evasion") -> Path:
    """Write a rubric with these tests, or whatever comes after the head; return its file."""
    path = folder / "rubric.toml"
    path.write_text(HEAD.format(game=game) + tests)
    return path


def load(folder: Path, tests: str, game: str = "evasion") -> Rubric:
    return rubric.load(write(folder, tests, game))


def table(**keys: Any) -> str:
    """A table of a test, given as TOML values; a name, points and the like are added."""
    keys = {"name": '"t"', "points": "10", **keys}
    return "[[tests]]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())


def match(
    rubric: Rubric,
    seat: str,
    *,
    test: int = 0,
    student: str = STUDENT,
    game_number: int = 0,
    winner: str | None = None,
    reason: str = "over",
    steps: int = 100,
    text: str = "It is over",
    faults: Mapping[str, str] | None = None,
    scores: Mapping[str, float | None] | None = None,
    seconds: float = 0.0,
    answers: int = 0,
    fault_step: int | None = None,
    is_started: bool = True,
) -> tuple[Task, Record]:
    """A match in which the student plays ``seat`` and the opponent all others."""
    names = {each: student if each == seat else opponent_name(rubric.tests[test].against) for each in SEATS[rubric.game]}
    key = f"{student}-{test}-{game_number}"
    faults = faults or {}
    return (
        Task(key, {each: Entry(name, {}) for each, name in names.items()}, dict(rubric.tests[test].settings), 7),
        Record(
            key,
            winner,
            reason,
            text,
            dict(scores or {}),
            steps,
            dict(faults),
            dict.fromkeys(faults, "crashed"),
            {seat: seconds},
            {seat: seconds},
            f"replays/{key}",
            "",
            started=is_started,
            answers={seat: answers},
            fault_steps={} if fault_step is None else dict.fromkeys(faults, fault_step),
        ),
    )


def trials(rubric: Rubric) -> list[Trial]:
    """All trials of the student."""
    return [trial for test in rubric.tests for trial in marks.trials(test, STUDENT)]


def trial(rubric: Rubric, test: int = 0, start: int = 0, student: str = STUDENT) -> Trial:
    return Trial(student, test, start, start >= rubric.tests[test].starts - rubric.tests[test].hidden)


SEED = "0123456789abcdef0123456789abcdef"
HOMEWORK = f"""
name = "Homework"
game = "evasion"
seed = "{SEED}"
isolation = "none"
[settings]
width = 60
height = 60
max_steps = 40
"""
#: Four matches for a student: two public ones, a hidden one, and one that is shown after the due date.
RUBRIC = f"""{HOMEWORK}
[[tests]]
name = "hunts"
seat = "hunter"
against = "still"
starts = 3
hidden = 1
points = 12
need = {{ finishes = true }}
[[tests]]
name = "=flees"
seat = "prey"
against = "straight"
points = 8
need = {{ survive = 3 }}
when = "after_due"
"""
#: A rubric of two matches for each hand-in, worth 20 points if it makes no fault.
HUNTS = f"""{HOMEWORK}[[tests]]
name = "hunts"
seat = "hunter"
against = "still"
starts = 2
points = 20
need = {{ finishes = true }}
"""
#: A program that fails at once.
CRASHES = "raise SystemExit(3)\n"


#: It tells everything that it learns about its match, on stderr and in what it says, with terminal escapes and markup.
TELLTALE = r"""
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        match = message["match"]
        print(f"\x1b[31m<script>alert(1)</script> I saw {match}", file=sys.stderr, flush=True)
        print(json.dumps({"type": "ready", "protocol": 1, "name": "=1+1 <b>"}), flush=True)
    elif message["type"] == "turn":
        if message["turn"] == FAILS_AT:
            sys.exit(f"gave up in {match}")
        print(json.dumps({"type": "move", "turn": message["turn"], "move": {}, "say": f"I saw {match}"}), flush=True)
"""
#: A game that is over within a few steps.
SETTINGS: dict[str, Json] = {"width": 30, "height": 30, "hunter": [0, 0, 1, 1], "max_steps": 20}
NAME = "Evasion, homework 3"
TESTS = (
    RubricTest(0, "finishes", "hunter", "still", (Need("finishes", True),), 6.0, 3, 2, values.ALWAYS, SETTINGS),
    RubricTest(1, "survives", "prey", "straight", (Need("survive", 15),), 10.0, 1, 0, values.ALWAYS, SETTINGS),
    RubricTest(2, "beats a walker", None, "random", (Need("beats", "random"),), 4.0, 1, 0, values.AFTER_DUE, SETTINGS),
)
SAMPLE = Rubric(NAME, "evasion", "classic", "the seed", TESTS, MatchOptions(isolation="none"))
HOSTILE = "=cmd|' /C calc'!A1<script>alert(1)</script>\x1b[31m\n# [a](http://b) `x` | *y* _z_ \ud800\x00@all"
#: Students who play, and the turn at which their bots fail (-1: never).
PLAYERS = {"alice": -1, "bob": 5}


def played(folder: Path) -> Grades:
    """Play the matches of two students, into a grading's folder; two other students have nothing that plays."""
    private = folder / "private"
    (private / "replays").mkdir(parents=True)
    students = []
    for name, fails_at in PLAYERS.items():
        own = private / "submissions" / name
        own.mkdir(parents=True)
        (own / "bot.py").write_text(TELLTALE.replace("FAILS_AT", str(fails_at)))
    teams = {name: _team(name, "bot.py")._replace(home=str(private / "submissions" / name)) for name in PLAYERS}
    teams |= {f"{name} (opponent)": _team(f"{name} (opponent)", name) for name in ("still", "straight", "random")}
    with contextlib.closing(Worker(Terms("evasion", "classic", SAMPLE.options), teams, private / "replays")) as worker:
        for name in PLAYERS:
            hand_in = HandIn(name, f"{name}.zip", private / "submissions" / name, identities=(f"{name}@example.edu",), run=1)
            marks = tuple(RubricMark(test, tuple(_trial(worker, test, start, name) for start in range(test.starts))) for test in TESTS)
            faults = [trial.text for mark in marks for trial in mark.trials if trial.is_fault]
            status = values.FAULTY if faults else OK
            students.append(StudentMarks(hand_in, status, faults[-1] if faults else "", marks))
    missing = HandIn(HOSTILE, "", status=MISSING, reason="Nothing was submitted.", full_name=HOSTILE)
    refused = HandIn("dave", HOSTILE, private / "submissions" / "dave", status=REFUSED, reason=f"No program: {HOSTILE}")
    students += [StudentMarks(each, each.status, each.reason, tuple(RubricMark(test, ()) for test in TESTS)) for each in (missing, refused)]
    return Grades(SAMPLE, tuple(students), folder, private, {"alice": "aa"}, "none", ("2026-11-01T12:00:00Z",))


def copied(grades: Grades, folder: Path) -> Grades:
    """The grades with all files in another folder."""
    shutil.copytree(grades.folder, folder, symlinks=True)
    private = folder / "private"
    students = []
    for student in grades.students:
        own = student.hand_in.folder
        students.append(student._replace(hand_in=student.hand_in._replace(folder=own and private / "submissions" / own.name)))
    return grades._replace(folder=folder, replays=private, students=tuple(students))


def replaced(grades: Grades, student: int, marks: Sequence[RubricMark]) -> Grades:
    """The grades with other marks for one student; a test without one has no trials."""
    students = list(grades.students)
    known = {mark.test.number: mark for mark in marks}
    every = tuple(known.get(test.number, RubricMark(test, ())) for test in grades.rubric.tests)
    students[student] = students[student]._replace(tests=every)
    return grades._replace(students=tuple(students))


def _team(name: str, program: str) -> Entry:
    return Entry(name, {"hunter": program, "prey": program})


def _trial(worker: Worker, test: RubricTest, start: int, student: str) -> TrialMark:
    opponent = f"{test.against} (opponent)"
    seats = [{"hunter": student, "prey": opponent}, {"hunter": opponent, "prey": student}]
    if test.seat is not None:
        seats = [each for each in seats if each[test.seat] == student]
    matches = tuple(_match(worker, test, start, game_number, each) for game_number, each in enumerate(seats))
    _, record = matches[0]
    is_fault = bool(record.faults)
    is_hidden = start >= test.starts - test.hidden
    points = 0.0 if is_fault else test.points / test.starts
    text = f"{student} lost: {next(iter(record.faults.values()))}" if is_fault else ""
    step = record.steps if is_fault else None
    return TrialMark(Trial(student, test.number, start, is_hidden), not is_fault, points, text, is_fault, step, matches)


def _match(worker: Worker, test: RubricTest, start: int, game_number: int, seats: dict[str, str]) -> tuple[Task, Record]:
    settings = {**test.settings, "prey": [25, 10 + start]}
    key = hashlib.sha256(canonical([test.number, start, game_number, seats]).encode()).hexdigest()[:32]
    seed = 100 * test.number + start
    task = Task(key, {seat: _team(name, "") for seat, name in seats.items()}, settings, seed)
    report = worker.play(task)
    assert report.replay, report
    return task, report


def crowd(grades: Grades, count: int, starts: int = 4) -> Grades:
    """A class of many students and ten matches each, who share the played matches."""
    tests = tuple(test._replace(starts=starts, hidden=starts // 2) for test in TESTS[:2]) + TESTS[2:]
    students = []
    for number in range(count):
        model = grades.students[0 if number % 3 else 1]
        name = f"student{number:03}"
        marks = []
        for test, mark in zip(tests, model.tests, strict=True):
            trials = []
            for start in range(test.starts):
                trial = mark.trials[min(start, len(mark.trials) - 1)]
                is_lost = number % 7 == start and not trial.is_fault
                matches = tuple(
                    (
                        task._replace(
                            seats={seat: entry if "(" in entry.name else entry._replace(name=name) for seat, entry in task.seats.items()}
                        ),
                        record,
                    )
                    for task, record in trial.matches
                )
                trials.append(
                    trial._replace(
                        trial=Trial(name, test.number, start, start >= test.starts - test.hidden),
                        points=0.0 if is_lost or trial.is_fault else test.points / test.starts,
                        passed=not (is_lost or trial.is_fault),
                        text="The hunter didn't catch the prey within 15 steps." if is_lost else trial.text,
                        step=15 if is_lost else trial.step,
                        matches=matches,
                    )
                )
            marks.append(RubricMark(test, tuple(trials)))
        hand_in = HandIn(name, f"{name}_87123_bot.zip", None, full_name=f"Given{number} Family{number}")
        students.append(StudentMarks(hand_in, model.status, model.reason, tuple(marks)))
    others = [each._replace(tests=tuple(RubricMark(test, ()) for test in tests)) for each in grades.students[2:]]
    return grades._replace(rubric=SAMPLE._replace(tests=tests), students=(*students, *others))


class _Tables(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[list[str]]] = {}
        self._rows: list[list[str]] | None = None
        self._is_body = self._is_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            given = dict(attrs)
            self._rows = self.found.setdefault(given.get("id") or given.get("class") or "", [])
        elif tag in ("tbody", "thead"):
            self._is_body = tag == "tbody"
        elif tag == "tr" and self._is_body and self._rows is not None:
            self._rows.append([])
        elif tag in ("th", "td") and self._is_body and self._rows:
            self._rows[-1].append("")
            self._is_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "td", "tr"):
            self._is_cell = False
        elif tag == "table":
            self._rows = None

    def handle_data(self, data: str) -> None:
        if self._is_cell and self._rows:
            self._rows[-1][-1] += data


def tables(page: str) -> dict[str, list[list[str]]]:
    """The texts of all cells in the bodies of a page's tables, by the table's id, else its class."""
    reader = _Tables()
    reader.feed(page)
    return {name: [[" ".join(cell.split()) for cell in row] for row in rows] for name, rows in reader.found.items()}
