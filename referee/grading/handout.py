"""The hand-out: a folder for each student with ``report.html``, one page that works without a network.

The page has a line for each public start. Its replays open at the step in which points were lost, with the hand-in's own logs. For
hidden starts it has only the sum of the points, because a bot can print what it sees. A test that is shown after the due date
appears neither in a page nor in a total before that date.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import os
import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from referee.grading import faults
from referee.grading.escaping import log, number
from referee.grading.marks import public
from referee.grading.tables import needs
from referee.grading.values import AFTER_DUE
from referee.handins.values import MISSING, REFUSED
from referee.replay.paths import SUFFIX, log_path
from referee.support.files import open_regular, remove_parts, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from referee.games.game import Json, Seat
    from referee.grading.values import Grades, RubricMark, StudentMarks, Trial, TrialMark
    from referee.pages.page import FramedViewer
    from referee.tournament.values import Record, Task

STUDENTS, REPORT = "students", "report.html"
#: The most bytes of a page, and of one log in it. A replay takes a few hundred bytes more than its data.
MOST_BYTES = 20 << 20
_LOG_BYTES = 1 << 20
_BESIDE_A_REPLAY = 1000
_MOST_NAME = 60
#: The matches of a trial in which the roles are swapped.
_BOTH = 2


class StartView(NamedTuple):
    """A public start, and the number of its fault, or 0."""

    trial: TrialMark
    fault: int
    games: Sequence[ShownMatch]


class TestView(NamedTuple):
    """A test. ``hidden_most`` are the points of its hidden starts."""

    mark: RubricMark
    rows: Sequence[StartView]
    hidden_most: float
    is_hidden_decided: bool


class PackedReplay(NamedTuple):
    """A replay in a page: its bytes as base64, and the student's own logs, as gzip in base64. ``step`` is where points were lost."""

    name: str
    title: str
    seats: Sequence[Seat]
    seat: Seat
    step: int | None
    data: str
    logs: Mapping[Seat, str]


class ShownMatch(NamedTuple):
    """A public match that has a replay: its name, and the step in which points were lost, if any."""

    name: str
    title: str
    step: int | None
    task: Task
    record: Record

    @property
    def label(self) -> str:
        """The text of the button that opens it."""
        return "▶ Replay" if self.step is None else f"▶ Step {self.step:,}"


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
    """Return a text as the name of a file. A changed text gets a part of its hash, so that names stay different."""
    normal = unicodedata.normalize("NFC", text)
    name = re.sub(r"[^\w.@+-]+", "-", normal).strip("-. ")[:_MOST_NAME]
    return name if name and name == text else f"{name or 'student'}-{_digest(text)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def write(grades: Grades, folders: Mapping[str, str], *, after_due: bool = False) -> None:
    """Write the pages of all students. Unchanged files are not written again. Pages of students who are gone are removed."""
    home = grades.folder / STUDENTS
    home.mkdir(exist_ok=True)
    for student in grades.students:
        folder = home / folders[student.hand_in.student]
        folder.mkdir(exist_ok=True)
        write_changed(folder / REPORT, html(grades, student, after_due=after_due).encode())
    _remove_others(home, set(folders.values()))


def html(grades: Grades, student: StudentMarks, *, after_due: bool = False) -> str:
    """Return a student's page."""
    matches = list(_matches(student, after_due=after_due))
    # The longest possible page without replays, because it lists all of them as left out.
    bare = _page(grades, student, [], [match.name for match in matches], after_due=after_due)
    if not matches:
        return bare
    replays, left_out = _packed_replays(grades, student, matches, MOST_BYTES - len(bare.encode()) - len(_viewer().packed))
    return _page(grades, student, replays, left_out, after_due=after_due)


def _viewer() -> FramedViewer:
    from referee.pages import page

    return page.framed_viewer()


def _matches(student: StudentMarks, *, after_due: bool) -> Iterator[ShownMatch]:
    """Yield the public matches of the tests that are shown, beginning with those that lost points."""
    shown = [(mark, trial) for mark in shown_marks(student, after_due=after_due) for trial in mark.public]
    for mark, trial in sorted(shown, key=lambda each: each[1].passed is not False):
        for at, (task, record) in enumerate(trial.matches):
            if record.replay:
                step = None if trial.step is None or at else max(0, min(trial.step, record.steps))
                title = f"{mark.test.name}, start {trial.trial.start + 1}" + (f", match {at + 1}" if len(trial.matches) == _BOTH else "")
                yield ShownMatch(replay_name(mark, trial, at), title, step, task, record)


def _packed_replays(
    grades: Grades, student: StudentMarks, matches: Sequence[ShownMatch], room: int
) -> tuple[list[PackedReplay], list[str]]:
    """Return the replays that fit into a page, and the names of the others. Unreadable files are in neither list."""
    replays: list[PackedReplay] = []
    left_out: list[str] = []
    for match in matches:
        path = grades.replays / match.record.replay
        own_seats = _own_seats(student, match.task)
        data = _data(path, room * 3 // 4)
        logs = {seat: packed for seat in own_seats if data and (packed := _log(log_path(path, seat)))}
        size = len(data or "") + sum(map(len, logs.values())) + _BESIDE_A_REPLAY + 6 * len(match.title.encode())
        if data and size <= room:
            room -= size
            seats = list(match.task.seats)
            replays.append(PackedReplay(match.name, match.title, seats, [*own_seats, *seats][0], match.step, data, logs))
        elif data is not None:
            left_out.append(match.name)
    return replays, left_out


def _data(path: Path, most: int) -> str | None:
    """Return a replay as base64, "" if it has more than ``most`` bytes, None if it can't be read."""
    try:
        # Don't follow a link: a bot that isn't isolated could put one in place of its log.
        with open_regular(path, path.parent) as file:
            return base64.b64encode(file.read()).decode() if os.fstat(file.fileno()).st_size <= most else ""
    except OSError:
        return None


def _log(path: Path) -> str:
    """Return the beginning of a log without its control characters, as gzip in base64; "" without a log."""
    try:
        with open_regular(path, path.parent) as file:
            return base64.b64encode(gzip.compress(log(file.read(_LOG_BYTES)), mtime=0)).decode()
    except OSError:
        return ""


def replay_name(mark: RubricMark, trial: TrialMark, at: int) -> str:
    """Return the name of a match's replay in the page, such as ``2-escapes-3`` for test 2, start 3.

    ``at`` is the number of the match in its trial, from 0.
    """
    words = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFC", mark.test.name).lower()).strip("-")[:40].strip("-")
    game = f"-{'ab'[at]}" if len(trial.matches) == _BOTH else ""
    return "-".join(filter(None, (str(mark.test.number + 1), words, f"{trial.trial.start + 1}{game}")))


def _own_seats(student: StudentMarks, task: Task) -> list[Seat]:
    return [seat for seat, name in task.names.items() if name == student.hand_in.student]


def shown_marks(student: StudentMarks, *, after_due: bool) -> list[RubricMark]:
    """Return the results that a student sees."""
    return [mark for mark in student.tests if after_due or mark.test.when != AFTER_DUE]


def _page(grades: Grades, student: StudentMarks, replays: Sequence[PackedReplay], left_out: Sequence[str], *, after_due: bool) -> str:
    """Return a student's page with these replays."""
    from referee.pages import render

    hand_in = student.hand_in
    marks = shown_marks(student, after_due=after_due)
    status, reason = public(student, is_due=after_due)
    cards = faults.cards(hand_in, [(mark.test, trial) for mark in marks for trial in mark.public])
    names = {*left_out, *(replay.name for replay in replays)}
    games = {match.name: match for match in _matches(student, after_due=after_due) if match.name in names}
    config: dict[str, Json] = {"replays": {each.name: {"title": each.title, "seats": each.seats, "logs": each.logs} for each in replays}}
    return render.single(
        "handout",
        config,
        viewer=_viewer(),
        grades=grades,
        rubric=grades.rubric,
        hand_in=hand_in,
        who=hand_in.full_name or hand_in.student,
        status=status,
        reason=reason,
        points=sum(mark.points for mark in marks),
        maximum=sum(mark.test.points for mark in marks),
        is_complete=all(mark.is_complete for mark in marks),
        is_before_due=len(marks) < len(grades.rubric.tests),
        cards=cards,
        parts=[] if status in (MISSING, REFUSED) else [_part(mark, games, faults.numbers(cards)) for mark in marks],
        replays=replays,
        left_out=[f"{name}{SUFFIX}" for name in left_out],
        most_bytes=MOST_BYTES,
        needs=needs,
        mark=number,
    )


def _part(mark: RubricMark, games: Mapping[str, ShownMatch], fault_numbers: Mapping[Trial, int]) -> TestView:
    hidden = mark.hidden
    rows = []
    for trial in mark.public:
        names = [replay_name(mark, trial, at) for at in range(len(trial.matches))]
        rows.append(StartView(trial, fault_numbers.get(trial.trial, 0), [games[name] for name in names if name in games]))
    share = mark.test.points / mark.test.starts * len(hidden)
    return TestView(mark, rows, share, all(trial.passed is not None for trial in hidden))


def write_changed(path: Path, data: bytes) -> None:
    """Write a file in one step, unless it has these bytes already. Remove the parts that a killed process left behind."""
    remove_parts(path.parent.glob(f"{path.name}.*.part"))
    try:
        if not path.is_symlink() and path.read_bytes() == data:
            return
    except OSError:
        pass
    write_whole(path, data)


def _remove_others(home: Path, names: set[str]) -> None:
    """Remove the pages of students that are gone."""
    for folder in home.iterdir():
        if folder.name in names or folder.is_symlink() or not folder.is_dir():
            continue
        (folder / REPORT).unlink(missing_ok=True)
        if not any(folder.iterdir()):
            folder.rmdir()
