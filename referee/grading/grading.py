"""A grading and its folder: the hand-ins, the rubric, the matches that are played, and the marks.

Only matches without a result are played. So if this process ends early, a later one continues where it stopped.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from referee import games
from referee.errors import UsageError
from referee.grading import hand_ins, marks, rerun
from referee.grading.marks import opponent_name
from referee.grading.plan import GradingPlan, Trials, absences
from referee.grading.pools import GRACE_SECONDS, FairPool, TimeIsUp, void_note
from referee.grading.rows import EntryRow, HandInRow, RerunRow, RubricRow, RunRow
from referee.grading.rubric import commitment_of, of_text, opponent_seats, roles
from referee.grading.values import GradedHandIn, Grades
from referee.handins import copies
from referee.handins.entry import read as read_entry
from referee.handins.hashes import changed
from referee.handins.values import OK
from referee.support.files import write_whole
from referee.tournament import commitment
from referee.tournament.commitment import PRIVATE
from referee.tournament.plan import playing
from referee.tournament.progress import MatchCounts
from referee.tournament.store import Store, file_name
from referee.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from referee.games.game import Seat
    from referee.grading.pools import Deadline
    from referee.grading.values import Rubric, StudentMarks
    from referee.handins.values import Entry, HandIn
    from referee.tournament import local
    from referee.tournament.plan import Ended
    from referee.tournament.progress import ProgressListener
    from referee.tournament.rows import ModelTable
    from referee.tournament.values import Record, Task

#: The kind of store.
KIND = "grading"
#: In the private folder, which only the grader may see, beside the store and the commitment to the starts.
REPLAYS, HAND_INS, RUBRIC = "replays", "submissions", "rubric.toml"
#: The store of a grading before version 2.0.
_OLD_FILE = "league.sqlite"


class OpenGrading:
    """A grading's folder with its store. ``hand_ins`` are in the order of the marks.

    Only the grader may see the folder ``private``, with all ``replays``. A hand-in has to play ``seats``, never ``other_roles``.
    """

    def __init__(self, folder: Path, store: Store, rubric: Rubric) -> None:
        self.folder = folder
        self.private = folder / PRIVATE
        self.replays = self.private / REPLAYS
        self._copies = (self.private / HAND_INS).absolute()
        self.store = store
        self.rubric = rubric
        self.seats, self.other_roles = roles(rubric)
        self._rubric_row = store.table(RubricRow, "rubric")
        self._hand_ins = store.table(HandInRow, "hand_ins")
        self._runs = store.table(RunRow, "runs")
        self._reruns = store.table(RerunRow, "reruns")
        self.opponents = {row.name: row.entry(self.private.absolute()) for row in _opponents(store).all()}
        self._read()

    def _read(self) -> None:
        """Read the hand-ins and the records of all trials from the store."""
        self._graded = {row.student: row.graded(self._copies) for row in self._hand_ins.all()}
        self.hand_ins = tuple(sorted((graded.hand_in for graded in self._graded.values()), key=hand_ins.order))
        self.runs = tuple(row.time for row in self._runs.all())
        students = {student: graded.entry for student, graded in self._graded.items() if graded.entry is not None}
        #: All entries by the names of students and opponents.
        self.entries: dict[str, Entry] = {**students, **self.opponents}
        self.trials = Trials(self.rubric, students, self.opponents)
        self._records = dict(self.store.lookup(self.trials.tasks))

    def take(self, new: Sequence[HandIn], *, missing_is_zero: bool = False, is_only: bool = False) -> list[str]:
        """Take the hand-ins of a run. Return a sentence for each student whose files have changed since they were marked.

        Then the matches of changed and new hand-ins, and those that were given up after void attempts, have no result. The options are
        those of ``hand_ins.joined``.
        """
        before = self._graded
        rows = [hand_ins.checked(hand_in, self.rubric, self.private) for hand_in in new]
        run = RunRow(number=len(self.runs) + 1, time=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        with self.store.step():
            graded = hand_ins.joined(rows, before, run.number, missing_is_zero=missing_is_zero, is_only=is_only)
            self._hand_ins.put(*(HandInRow.of(*each, self._copies) for each in graded))
            self._runs.put(run)
            self._read()
            if is_only:
                self._play_again({row.hand_in.student for row in rows})
            self.retry()
        return [
            f"The hand-in of {new.name} has changed since it was marked ({changed(new, old)[0]}); it is marked again."
            for old, new in ((_entry_of(before, row.hand_in.student), row.entry) for row in rows)
            if old is not None and new is not None and old.hash != new.hash
        ]

    def incoming(self) -> AbstractContextManager[Path]:
        """Make a folder for copies of hand-ins. ``take`` moves copies to their places; the others are removed at the end."""
        return copies.incoming(self._copies)

    def _play_again(self, students: Iterable[str]) -> None:
        """Forget the results of all matches of some students, so that they are played again. Keep copies of their replays."""
        tasks = [task for trial, tasks in self.trials.by_trial.items() if trial.student in set(students) for task in tasks]
        for task in tasks:
            record = self._records.get(task.key)
            if record is not None and record.replay:
                rerun.copy_replay(self.private / record.replay, tuple(task.seats))
        self._forget(task.key for task in tasks)

    def _forget(self, keys: Iterable[str]) -> None:
        """Forget the records of matches, so that they are played again."""
        self.store.forget([key for key in keys if self._records.pop(key, None) is not None])

    def retry(self) -> None:
        """Forget the void results and those of opponents that could not start, so that the matches are played again."""
        self._forget(
            [task.key for task, record in self._matches() if record is not None and (record.void or self._lacks_opponent(task, record))]
        )

    def _lacks_opponent(self, task: Task, record: Record) -> bool:
        return not record.is_startable and self.trials.student_by_key[task.key] not in {task.names[seat] for seat in record.faults}

    def rerun(self, text: str) -> None:
        """Store the results of a student's matches, and forget the matches, so that they are played again. UsageError unless ``text`` names one student."""
        student = rerun.student_of(text, [hand_in for hand_in in self.hand_ins if hand_in.status == OK])
        with self.store.step():
            if self._reruns.get(student) is None:
                # An interrupted rerun has stored them already.
                self._reruns.put(rerun.summary(self._marks(student), self.private))
            self._play_again([student])

    def compared(self) -> list[str]:
        """Return lines that say for each test of the students who were played again whether its result is the same. Each line is returned once."""
        lines: list[str] = []
        for before in self._reruns.all():
            now = self._marks(before.student)
            if now.is_complete:
                lines += [f"Played again: the matches of {before.student}", *rerun.difference_lines(before, now, self.private)]
                self._reruns.remove(student=before.student)
        return lines

    def _marks(self, student: str) -> StudentMarks:
        return marks.student_marks(self.trials.game, self.rubric, self._graded[student].hand_in, self._results())

    def check_files(self) -> None:
        """Raise UsageError if the files of an opponent have changed since the first match."""
        game = self.trials.game
        tests = {test.against: test for test in reversed(self.rubric.tests)}
        for against, test in tests.items():
            entry = self.opponents[opponent_name(against)]
            settings = game.codec.settings(self.rubric.rules, dict(test.settings))
            now = read_entry(entry.name, entry.players, game, settings, Path(entry.home), tuple(entry.players))
            if now.hash != entry.hash:
                raise UsageError(
                    f"The opponent {against} has changed since the grading began ({changed(now, entry)[0]}). "
                    "Restore it, or grade into another folder with --out."
                )

    def note_level(self, level: str) -> None:
        """Store the level of isolation at which matches are played, in addition to those of earlier runs."""
        row = self._stored_rubric()
        self._rubric_row.put(row.model_copy(update={"levels": tuple(sorted({*row.levels, level}))}))

    def _stored_rubric(self) -> RubricRow:
        (row,) = self._rubric_row.all()
        return row

    def counts(self) -> MatchCounts:
        """Return the numbers of matches."""
        absent = absences(self._matches()).keys()
        planned = sum(record is None and absent.isdisjoint(task.names.values()) for task, record in self._matches())
        done = sum(record.has_result for record in self._records.values())
        return MatchCounts(planned, done, 0, self.store.counts().voids)

    def _matches(self) -> Iterator[tuple[Task, Record | None]]:
        return ((task, self._records.get(task.key)) for task in self.trials.tasks)

    def run(self, workers: local.Pool, watch: ProgressListener, deadline: Deadline | None = None) -> None:
        """Play all matches that have no result yet. PlayStopped if that is impossible at present, or after the deadline."""
        fair = FairPool(workers, self.trials.student_by_key, self.store.others(), deadline)
        reported: set[str] = set()
        for step in playing(GradingPlan(self.trials, absences(self._matches())), self.store, fair, fair.gives_up):
            self._records |= self.store.lookup([task for task, _ in step.ended])
            for ended in step.ended:
                fair.sentences.extend(self._remarks(ended, reported))
            watch.step(step, fair.sentences, has_workers=fair.has_workers)
            if deadline is not None and deadline.left() <= 0 and self.counts().planned:
                if not step.running:
                    raise TimeIsUp("The time limit is reached: the remaining matches are not played.")
                if deadline.left() < -GRACE_SECONDS:
                    raise TimeIsUp("The time limit is reached: a running match is given up.")

    def _remarks(self, ended: Ended, reported: set[str]) -> Iterator[str]:
        """Yield messages about a match that the grader should see at once. Each name is ``reported`` once."""
        task, record = ended
        if record.void and task.key in self._records:
            yield f"{' and '.join(task.names.values())}: {void_note(record)}"
        if record.void or record.started:
            return
        absent = absences([ended])
        for seat, text in record.faults.items():
            name = task.names[seat]
            if name not in reported:
                reported.add(name)
                yield (
                    f"{name} can't start, so no match of it is played: {absent[name]}"
                    if name in absent
                    else f"{name} did not start: {text}"
                )

    def grades(self) -> Grades:
        """Return the current marks."""
        results = self._results()
        students = tuple(marks.student_marks(self.trials.game, self.rubric, hand_in, results) for hand_in in self.hand_ins)
        hashes = {name: entry.hash for name, entry in self.entries.items()}
        levels = ", ".join(self._stored_rubric().levels)
        return Grades(self.rubric, students, self.folder, self.private, hashes, levels, self.runs)

    def _results(self) -> marks.Results:
        """Return the results of the trials so far."""
        played = {key: record for key, record in self._records.items() if record.has_result}
        notes = {key: void_note(record) for key, record in self._records.items() if record.void}
        by_trial = self.trials.by_trial
        return marks.Results(
            {trial: [(task, played.get(task.key)) for task in tasks] for trial, tasks in by_trial.items()},
            absences(self._matches()),
            {trial: notes[task.key] for trial, tasks in by_trial.items() for task in tasks if task.key in notes},
        )


def _entry_of(graded: Mapping[str, GradedHandIn], student: str) -> Entry | None:
    return graded[student].entry if student in graded else None


@contextlib.contextmanager
def open_grading(folder: Path, rubric: Rubric | None = None) -> Iterator[OpenGrading]:
    """Open the grading of a folder, which only one process may do at a time. With a rubric, begin it if the folder has no grading.

    UsageError without a grading, if it has another rubric, if its copy of the rubric was edited, or if another process works on it.
    """
    private = folder / PRIVATE
    if (private / _OLD_FILE).exists() and not (private / file_name(KIND)).exists():
        raise UsageError(
            f"{folder} was written by an earlier version of the referee, and this is version {__version__}: go on with the version that wrote "
            "it, or begin anew in another folder."
        )
    if rubric is not None:
        try:
            for place in (folder, private, private / REPLAYS):
                place.mkdir(mode=0o700, parents=True, exist_ok=True)
                place.chmod(0o700)
        except OSError as error:
            raise UsageError(f"The folder {folder} can't be created: {error.strerror}. Name another one with --out.") from None
    elif not (private / file_name(KIND)).is_file():
        raise UsageError(f"{folder} is not the folder of a grading. Begin one: referee grade run SUBMISSIONS --rubric FILE --out DIR")
    with Store.open(KIND, private, create=rubric is not None) as store, store.claim():
        grading = OpenGrading(folder, store, _rubric(store, rubric, folder))
        commitment.write(commitment_of(grading.rubric), folder)
        write_whole(private / RUBRIC, grading.rubric.text.encode())
        yield grading


def _rubric(store: Store, rubric: Rubric | None, folder: Path) -> Rubric:
    """Return the rubric of a grading. A new grading stores ``rubric``. UsageError if the grading has another one."""
    table, copy = store.table(RubricRow, "rubric"), folder / PRIVATE / RUBRIC
    stored = table.get(0)
    if stored is None and rubric is None:
        raise UsageError(f"{folder} contains a grading without a rubric. Begin it again with SUBMISSIONS and --rubric.")
    if stored is None:
        assert rubric is not None
        commitment.check_place(commitment_of(rubric), folder)
        with store.step():
            _opponents(store).put(*(EntryRow.of(entry, copy.parent.absolute()) for entry in _read_opponents(rubric)))
            table.put(RubricRow(text=rubric.text, seed=rubric.seed, isolation=rubric.options.isolation, home=rubric.home))
        return rubric
    if copy.exists() and copy.read_bytes() != stored.text.encode():
        raise UsageError(
            f"{copy} was changed, but {folder} is graded by the rubric with which it was begun. Move the file away: the rubric that is used is "
            "written again. To grade by the changed one, name it with --rubric and another folder with --out."
        )
    if rubric is None:
        return of_text(stored.text, copy, Path(stored.home), stored.seed, stored.isolation)
    if stored.text != rubric.text:
        raise UsageError(
            f"{folder} was graded by another rubric. Grade into another folder with --out, or restore the rubric: {copy} is the one that was "
            "used."
        )
    if stored.isolation != rubric.options.isolation:
        raise UsageError(
            f"{folder} was begun with isolation {stored.isolation}, not {rubric.options.isolation}. Grade into another folder with --out, or "
            f"continue with --isolation {stored.isolation}."
        )
    return rubric._replace(seed=stored.seed)


def _opponents(store: Store) -> ModelTable[EntryRow]:
    return store.table(EntryRow, "opponents")


def _read_opponents(rubric: Rubric) -> Iterator[Entry]:
    """Yield the opponents of a rubric. UsageError if one has no program for a seat that it plays."""
    game = games.get(rubric.game)
    seats: dict[str, dict[Seat, None]] = {}
    for test in rubric.tests:
        seats.setdefault(test.against, {}).update(dict.fromkeys(opponent_seats(rubric, test)))
    for against, played in seats.items():
        settings = game.codec.settings(rubric.rules, dict(next(test.settings for test in rubric.tests if test.against == against)))
        yield read_entry(opponent_name(against), against, game, settings, Path(rubric.home or "."), tuple(played))


def is_begun(folder: Path) -> bool:
    """Return True if a folder contains a grading, even one of an earlier version."""
    return any((folder / PRIVATE / name).exists() for name in (file_name(KIND), _OLD_FILE))


def forget(folder: Path) -> None:
    """Remove a grading that has just begun and has no hand-in; other files in its folder stay."""
    shutil.rmtree(folder / PRIVATE, ignore_errors=True)
    with contextlib.suppress(OSError):
        folder.rmdir()
