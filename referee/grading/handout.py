"""What students get: a folder for each with ``report.md``, and the replays and the hand-in's own logs of public matches.

A report has a line for each public start. For hidden starts it has only the points of all of them together, because a bot can print what
it sees. A test that is shown after the due date appears in no report before it, and in no total.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.grading.escaping import log, markdown, number
from referee.grading.marks import public
from referee.grading.tables import needs
from referee.grading.values import AFTER_DUE
from referee.handins.values import MISSING, REFUSED
from referee.replay.paths import SUFFIX, log_path
from referee.support.files import open_regular, remove_parts, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from referee.games.game import Seat
    from referee.grading.values import Grades, RubricMark, StudentMarks, TrialMark
    from referee.tournament.values import Task

STUDENTS, REPORT, REPLAYS = "students", "report.md", "replays"
#: The endings of the files below a student's folder of replays. Others aren't the referee's, and stay there.
_OWN = (SUFFIX, ".stderr.log")
_MOST_NAME = 60
#: The matches of a trial in which the roles are swapped.
_BOTH = 2


class HandoutFile(NamedTuple):
    """A file to hand out: its name in the folder of replays, and the file that it is a copy of."""

    name: str
    source: Path
    is_log: bool


def folder_names(students: Sequence[StudentMarks]) -> dict[str, str]:
    """Return the name of each student's folder, by student: that of the grading's own copy, or else made from the student's name.

    No two names differ only in case.
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for student in sorted(students, key=lambda each: each.hand_in.folder is None):
        hand_in = student.hand_in
        name = _file_name(hand_in.student if hand_in.folder is None else hand_in.folder.name)
        if name.casefold() in taken:
            name = f"{name[:_MOST_NAME]}-{_digest(hand_in.student)}"
        taken.add(name.casefold())
        names[hand_in.student] = name
    return names


def _file_name(text: str) -> str:
    """Return a text as the name of a file. A text that had to be changed gets a part of its hash, so that no two become one."""
    normal = unicodedata.normalize("NFC", text)
    name = re.sub(r"[^\w.@+-]+", "-", normal).strip("-. ")[:_MOST_NAME]
    return name if name and name == text else f"{name or 'student'}-{_digest(text)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def write(grades: Grades, folders: Mapping[str, str], *, after_due: bool = False) -> None:
    """Write the folders of all students. Files that haven't changed are left alone, those of earlier trials are removed."""
    home = grades.folder / STUDENTS
    home.mkdir(exist_ok=True)
    for student in grades.students:
        _write_student(grades, student, home / folders[student.hand_in.student], after_due=after_due)
    _remove_others(home, set(folders.values()))


def _write_student(grades: Grades, student: StudentMarks, folder: Path, *, after_due: bool) -> None:
    folder.mkdir(exist_ok=True)
    file_names = set()
    copies = list(_copies(grades, student, after_due=after_due))
    if copies:
        (folder / REPLAYS).mkdir(exist_ok=True)
    for each in copies:
        if _copy(each, folder / REPLAYS / each.name):
            file_names.add(each.name)
    write_changed(folder / REPORT, report(grades, student, file_names, after_due=after_due).encode())
    _clear(folder / REPLAYS, file_names)


def _copies(grades: Grades, student: StudentMarks, *, after_due: bool) -> Iterator[HandoutFile]:
    """Yield the files of all public matches of the tests that are shown."""
    for mark in shown_marks(student, after_due=after_due):
        for trial in mark.public:
            for at, (task, record) in enumerate(trial.matches):
                if not record.replay:
                    continue
                source = grades.replays / record.replay
                name = replay_name(mark, trial, at)
                yield HandoutFile(name, source, is_log=False)
                for seat in _own_seats(student, task):
                    yield HandoutFile(log_path(Path(name), seat).name, log_path(source, seat), is_log=True)


def replay_name(mark: RubricMark, trial: TrialMark, at: int) -> str:
    """Return the name of a match's replay in the hand-out, such as ``2-escapes-3.replay.jsonl.gz`` for test 2, start 3.

    ``at`` is the number of the match in its trial, from 0.
    """
    words = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFC", mark.test.name).lower()).strip("-")[:40].strip("-")
    game = f"-{'ab'[at]}" if len(trial.matches) == _BOTH else ""
    return "-".join(filter(None, (str(mark.test.number + 1), words, f"{trial.trial.start + 1}{game}"))) + SUFFIX


def _own_seats(student: StudentMarks, task: Task) -> list[Seat]:
    return [seat for seat, name in task.names.items() if name == student.hand_in.student]


def shown_marks(student: StudentMarks, *, after_due: bool) -> list[RubricMark]:
    """Return the results that a student sees."""
    return [mark for mark in student.tests if after_due or mark.test.when != AFTER_DUE]


def report(grades: Grades, student: StudentMarks, files: set[str], *, after_due: bool = False) -> str:
    """Return a student's report in Markdown. ``files`` are the names in the folder of replays."""
    rubric, hand_in = grades.rubric, student.hand_in
    marks = shown_marks(student, after_due=after_due)
    status, reason = public(student, is_due=after_due)
    points = sum(mark.points for mark in marks)
    maximum = sum(mark.test.points for mark in marks)
    is_complete = all(mark.is_complete for mark in marks)
    lines = [
        f"# {markdown(rubric.name)}",
        "",
        f"- Student: {markdown(hand_in.full_name or hand_in.student)}",
        f"- Hand-in: {markdown(hand_in.name) or 'none'}" + _replaced(hand_in.replaced),
        f"- Status: {status}" + (f" ({markdown(reason.rstrip('.'))})" if reason else ""),
        f"- Points: **{number(points)} of {number(maximum)}**" + ("" if is_complete else " so far; not all matches are decided"),
    ]
    if len(marks) < len(rubric.tests):
        lines += ["", "This report has only the tests that are shown before the due date."]
    if status in (MISSING, REFUSED):
        return "\n".join(lines) + "\n"
    for mark in marks:
        lines += ["", *_test(mark, files)]
    if files:
        lines += [
            "",
            "`referee watch replays/NAME` shows a replay. The file of the same name that ends in `.stderr.log` is what the hand-in wrote to stderr.",
        ]
    return "\n".join(lines) + "\n"


def _replaced(names: Sequence[str]) -> str:
    return f" (in place of {', '.join(map(markdown, names))})" if names else ""


def _test(mark: RubricMark, files: set[str]) -> list[str]:
    test, public_trials, hidden = mark.test, mark.public, mark.hidden
    role = "every seat in turn" if test.seat is None else f"as {markdown(test.seat)}"
    lines = [
        f"## {test.number + 1}. {markdown(test.name)}: {number(mark.points)} of {number(test.points)}",
        "",
        f"Played {role} against {markdown(test.against)}. Needed: {markdown(needs(test))}.",
    ]
    if public_trials:
        lines += ["", "| Start | Points | Result | Replay |", "|---|---|---|---|"]
        lines += [_row(mark, trial, files) for trial in public_trials]
    if hidden:
        share = test.points / test.starts * len(hidden)
        so_far = "" if all(trial.passed is not None for trial in hidden) else " so far; not all matches are decided"
        count = f"{len(hidden)} hidden start" + ("s" if len(hidden) != 1 else "")
        lines += ["", f"{count}: {number(mark.hidden_points)} of {number(share)} points{so_far}."]
    return lines


def _row(mark: RubricMark, trial: TrialMark, files: set[str]) -> str:
    result = "not decided" if trial.passed is None else "passed" if trial.passed else markdown(trial.text) or "lost"
    links = []
    for at, (_, record) in enumerate(trial.matches):
        name = replay_name(mark, trial, at)
        if record.replay and name in files:
            step = f" (step {min(trial.step, record.steps)})" if trial.step is not None and at == 0 else ""
            links.append(f"[{name.removesuffix(SUFFIX)}]({REPLAYS}/{name}){step}")
    return f"| {trial.trial.start + 1} | {number(trial.points)} | {result} | {', '.join(links)} |"


def _copy(copied: HandoutFile, target: Path) -> bool:
    """Copy a file unless its copy is the same already; False if there is no file. A log loses its control characters."""
    try:
        # No link is followed: a bot that isn't isolated could put one in place of its log.
        with open_regular(copied.source, copied.source.parent) as file:
            data = file.read()
    except OSError:
        return False
    # The time of the source stays behind: it would tell how long the hidden matches took that were played in between.
    write_changed(target, log(data) if copied.is_log else data)
    return True


def write_changed(path: Path, data: bytes) -> None:
    """Write a file whole, unless it has these bytes. Parts that a killed process left behind are removed."""
    remove_parts(path.parent.glob(f"{path.name}.*.part"))
    try:
        if not path.is_symlink() and path.read_bytes() == data:
            return
    except OSError:
        pass
    write_whole(path, data)


def _clear(folder: Path, file_names: set[str]) -> None:
    """Remove the referee's own files from a folder of replays, but for those that are kept; and the folder, if nothing is left."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for path in folder.iterdir():
        if path.name not in file_names and (path.name.endswith(_OWN) or path.name.endswith(".part")):
            path.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()


def _remove_others(home: Path, names: set[str]) -> None:
    """Remove the reports and replays of students that are gone."""
    for folder in home.iterdir():
        if folder.name in names or folder.is_symlink() or not folder.is_dir():
            continue
        _clear(folder / REPLAYS, set())
        (folder / REPORT).unlink(missing_ok=True)
        if not any(folder.iterdir()):
            folder.rmdir()
