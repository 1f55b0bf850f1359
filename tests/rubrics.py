"""What the tests of rubrics and marks share: rubric files, and matches that were never played."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from referee.grading import marks, rubric
from referee.grading.marks import opponent_name
from referee.grading.values import Rubric, Trial
from referee.handins.values import Entry
from referee.tournament.values import Record, Task

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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
