"""A grading from its hand-ins to the marks: what is played, kept, played again and counted."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hostile_archives import zipped_on_windows
from leagues import IDLE, Notes, PretendPool, play

from referee.errors import UsageError
from referee.grading import rubric as rubrics
from referee.grading.grade_class import Selection, grade_class
from referee.grading.grading import OpenGrading, is_begun, open_grading
from referee.handins.collect import collect
from referee.handins.values import MISSING, REFUSED, HandIn
from referee.tournament.local import LocalPool
from referee.tournament.plan import PlayStopped
from referee.tournament.values import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.grading.values import Grades, Rubric, Trial
    from referee.tournament.values import Task

RUBRIC = """
name = "Homework"
game = "evasion"
rules = "classic"
seed = "0123456789abcdef0123456789abcdef"
isolation = "none"
[settings]
width = 60
height = 60
max_steps = 500
[[tests]]
name = "hunts"
seat = "hunter"
against = "still"
starts = 3
hidden = 1
points = 12
need = { catch_within = 500 }
[[tests]]
name = "runs"
seat = "prey"
against = "straight"
points = 4
need = { finishes = true }
[[tests]]
name = "duel"
points = 4
need = { beats = "straight" }
"""

#: Two matches for a student.
SMALL = RUBRIC[: RUBRIC.index('[[tests]]\nname = "runs"')].replace("starts = 3", "starts = 2")

CRASHES = "import sys\nsys.exit(3)\n"


def written(folder: Path, text: str = RUBRIC) -> Rubric:
    path = folder / "rubric.toml"
    path.write_text(text)
    return rubrics.load(path)


def program(folder: Path, name: str, text: str) -> HandIn:
    """A hand-in whose one program plays every seat."""
    home = folder / name
    home.mkdir(exist_ok=True)
    (home / "bot.py").write_text(text)
    path = str(home / "bot.py")
    return HandIn(name, name, home, {"hunter": path, "prey": path})


def example(name: str, hunter: str = "boxer", prey: str = "runner") -> HandIn:
    return HandIn(name, name, Path.cwd(), {"hunter": hunter, "prey": prey})


@contextlib.contextmanager
def workers(opened: OpenGrading) -> Iterator[LocalPool]:
    with contextlib.closing(LocalPool(opened.trials.terms, opened.entries, opened.replays, 1)) as pool:
        yield pool


def played(opened: OpenGrading) -> tuple[Grades, Notes]:
    notes = Notes()
    with workers(opened) as pool:
        opened.run(pool, notes)
    return opened.grades(), notes


def points(grades: Grades) -> dict[str, list[float]]:
    return {student.hand_in.student: [test.points for test in student.tests] for student in grades.students}


def test_marks_of_good_faulty_missing_and_refused_hand_ins(tmp_path: Path) -> None:
    with open_grading(tmp_path / "out", written(tmp_path)) as opened:
        refused = HandIn("dora", "dora.zip", None, {}, REFUSED, "dora.zip has no program.")
        gone = HandIn("emil", "", None, {}, MISSING, "Nothing was submitted.")
        assert opened.take([example("ada"), program(tmp_path, "carl", CRASHES), refused, gone]) == []
        grades, _ = played(opened)
    assert points(grades) == {"ada": [12.0, 4.0, 4.0], "carl": [0.0, 0.0, 0.0], "dora": [0.0, 0.0, 0.0], "emil": [0.0, 0.0, 0.0]}
    assert [student.status for student in grades.students] == ["ok", "faulty", "refused", "missing"]
    assert "The hunter (./carl/bot.py) exited with status 3" in grades.students[1].reason
    assert grades.is_complete
    ada = grades.students[0]
    assert [trial.trial.is_hidden for trial in ada.tests[0].trials] == [False, False, True]
    assert [len(trial.matches) for test in ada.tests for trial in test.trials] == [1, 1, 1, 1, 2]
    for test in ada.tests:
        for trial in test.trials:
            for _, record in trial.matches:
                assert (grades.replays / record.replay).is_file()


#: A hunter that kills its supervisor when it is asked.
KILLS = """
import json, os, signal, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
    elif message["type"] == "turn":
        os.kill(os.getppid(), signal.SIGKILL)
        signal.pause()
"""


@pytest.mark.parametrize("level", ["none", "limits"])
@pytest.mark.usefixtures("same_user")
def test_against_an_opponent_of_the_rubric_the_first_repeat_is_the_hand_ins_fault(level: str, tmp_path: Path) -> None:
    rubric = written(tmp_path, SMALL.replace('"none"', f'"{level}"'))
    with open_grading(tmp_path / "out", rubric) as opened:
        opened.take([program(tmp_path, "ada", KILLS), example("bob")])
        grades, notes = played(opened)
        assert opened.counts().voids == 2
        assert points(grades) == {"ada": [0.0], "bob": [12.0]}
        assert grades.is_complete
        assert [student.status for student in grades.students] == ["faulty", "ok"]
        assert "for which the hunter (./ada/bot.py) is to blame" in grades.students[0].reason
        assert notes.sentences[0].startswith("ada is to blame for void matches with still (opponent), and loses if that happens again")
        # Other files are another hand-in.
        opened.take([program(tmp_path, "ada", KILLS + "#\n")])
        played(opened)
        assert opened.counts().voids == 4


@pytest.mark.parametrize("slots", [pytest.param(1, marks=[pytest.mark.slow, pytest.mark.again]), 2])
def test_a_seat_that_cannot_start_costs_no_points_of_another_one(slots: int, tmp_path: Path) -> None:
    """Whatever the order in which matches end, and whoever else is graded: a failed start costs the points of its own match."""
    bad = program(tmp_path, "ada", CRASHES)
    with open_grading(tmp_path / "out", written(tmp_path)) as opened:
        opened.take([example("bob"), bad._replace(players={**bad.players, "prey": "runner"})])
        with contextlib.closing(LocalPool(opened.trials.terms, opened.entries, opened.replays, slots)) as pool:
            opened.run(pool, Notes())
        grades = opened.grades()
    assert points(grades)["ada"] == [0.0, 4.0, 0.0]
    assert all(len(trial.matches) == 1 for trial in grades.students[1].tests[0].trials)


def test_a_hand_in_without_a_program_for_a_seat_earns_the_points_of_the_others(tmp_path: Path) -> None:
    with open_grading(tmp_path / "out", written(tmp_path)) as opened:
        opened.take([HandIn("ada", "ada", Path.cwd(), {"hunter": "boxer"})])
        grades, notes = played(opened)
    ada = grades.students[0]
    assert points(grades) == {"ada": [12.0, 0.0, 0.0]}
    assert len(notes.finished_keys) == 3
    assert (ada.status, ada.is_complete) == ("ok", True)
    assert [test.trials[0].text for test in ada.tests] == ["", *["The hand-in has no program for the prey."] * 2]


def test_a_new_hand_in_may_play_other_seats_than_the_old_one(tmp_path: Path) -> None:
    rubric = written(tmp_path)
    for players, expected in (
        ({"hunter": "boxer"}, [12.0, 0.0, 0.0]),
        ({"hunter": "boxer", "prey": "runner"}, [12.0, 4.0, 4.0]),
        ({"prey": "runner"}, [0.0, 4.0, 0.0]),
    ):
        with open_grading(tmp_path / "out", rubric) as opened:
            opened.take([HandIn("ada", "ada", Path.cwd(), players)])
            grades, _ = played(opened)
        assert points(grades)["ada"] == expected
        assert grades.is_complete


def by_key(opened: OpenGrading) -> dict[str, Trial]:
    return {task.key: trial for trial, tasks in opened.trials.by_trial.items() for task in tasks}


def test_every_public_match_has_ended_before_the_first_hidden_one_begins(tmp_path: Path) -> None:
    failed: list[str] = []

    def fails_once(task: Task) -> Record:
        # The last match of the schedule is public; it is void at first and has to be played again.
        if task.key == last and not failed:
            failed.append(task.key)
            return Record(task.key, void="The sandbox failed.")
        return play(task)

    with open_grading(tmp_path / "out", written(tmp_path)) as opened:
        opened.take([example("ada"), example("bob", "straight", "still")])
        trials = by_key(opened)
        last = [key for key, trial in trials.items() if not trial.is_hidden][-1]
        pool = PretendPool(fails_once, slots=3)
        opened.run(pool, Notes())
        order = [trials[task.key].is_hidden for task in pool.played]
        begun = [trials[task.key].is_hidden for task in pool.begun]
    assert failed
    assert order.count(True) == 2
    assert order == begun == sorted(order)


def test_what_is_handed_out_later_begins_when_everything_before_has_ended(tmp_path: Path) -> None:
    text = (
        'name = "Homework"\ngame = "evasion"\nseed = "0123456789abcdef0123456789abcdef"\n'
        '[[tests]]\nname = "now"\nseat = "hunter"\nagainst = "still"\nstarts = 3\nhidden = 1\npoints = 2\nneed = { finishes = true }\n'
        '[[tests]]\nname = "later"\nseat = "prey"\nagainst = "straight"\nstarts = 3\nhidden = 1\npoints = 2\nneed = { survive = 1 }\n'
        'when = "after_due"\n'
    )
    with open_grading(tmp_path / "out", written(tmp_path, text)) as opened:
        opened.take([example("ada"), example("bob")])
        pool = PretendPool(play, slots=3)
        opened.run(pool, Notes())
        trials = [by_key(opened)[task.key] for task in pool.begun]
    assert [2 if trial.is_hidden else trial.test for trial in trials] == [0] * 4 + [1] * 4 + [2] * 4


def test_only_the_grader_can_enter_the_folder(tmp_path: Path) -> None:
    with open_grading(tmp_path / "out", written(tmp_path)):
        pass
    for place in ("out", "out/private", "out/private/replays"):
        assert stat.S_IMODE((tmp_path / place).stat().st_mode) == 0o700


@pytest.mark.slow
def test_the_same_files_are_not_played_again_and_changed_ones_are(tmp_path: Path) -> None:
    rubric = written(tmp_path, SMALL)
    with open_grading(tmp_path / "out", rubric) as opened:
        opened.take([example("ada"), program(tmp_path, "carl", CRASHES)])
        before, _ = played(opened)
    with open_grading(tmp_path / "out", rubric) as opened:
        opened.take([example("ada"), program(tmp_path, "carl", CRASHES), example("finn", "straight", "still")])
        again, notes = played(opened)
    finn = {task.key for test in again.students[2].tests for trial in test.trials for task, _ in trial.matches}
    assert set(notes.finished_keys) == finn
    assert len(finn) == 2
    assert again.students[:2] == before.students
    with open_grading(tmp_path / "out", rubric) as opened:
        assert "The hand-in of ada has changed" in opened.take([example("ada", "straight"), example("finn", "straight", "still")])[0]
        last, notes = played(opened)
    # Carl, who isn't among them, keeps what he has.
    assert [student.hand_in.student for student in last.students] == ["ada", "carl", "finn"]
    assert last.students[1:] == again.students[1:]
    assert len(notes.finished_keys) == 2


def test_another_rubric_is_refused_and_the_seed_that_was_drawn_is_kept(tmp_path: Path) -> None:
    unseeded = RUBRIC.replace('seed = "0123456789abcdef0123456789abcdef"\n', "")
    seeds = []
    for _ in range(2):
        with open_grading(tmp_path / "out", written(tmp_path, unseeded)) as opened:
            seeds.append(opened.rubric.seed)
    assert len(set(seeds)) == 1
    with pytest.raises(UsageError, match="was graded by another rubric"), open_grading(tmp_path / "out", written(tmp_path)):
        pass
    with open_grading(tmp_path / "out") as opened:
        assert opened.rubric.seed == seeds[0]


def test_an_edited_copy_of_the_rubric_is_not_written_over(tmp_path: Path) -> None:
    rubric, copy = written(tmp_path), tmp_path / "out" / "private" / "rubric.toml"
    with open_grading(tmp_path / "out", rubric):
        assert copy.read_text() == RUBRIC
    copy.write_text(f"{RUBRIC}# edited\n")
    for opened in (None, rubric):
        with (
            pytest.raises(UsageError, match=r"private/rubric\.toml was changed, .* Move the file away"),
            open_grading(tmp_path / "out", opened),
        ):
            pass
    assert copy.read_text().endswith("# edited\n")
    copy.unlink()
    with open_grading(tmp_path / "out"):
        assert copy.read_text() == RUBRIC


def stopped(_: OpenGrading) -> None:
    """Plays nothing, as where strict isolation needs more cores than there are."""
    raise PlayStopped("Let bots run between their turns.")


@pytest.mark.parametrize("has_seed", [True, False])
def test_a_grading_that_stops_before_its_first_match_takes_a_corrected_rubric(has_seed: bool, tmp_path: Path) -> None:
    text = SMALL if has_seed else SMALL.replace('seed = "0123456789abcdef0123456789abcdef"\n', "")
    hand_ins = tmp_path / "class"
    hand_ins.mkdir()
    (hand_ins / "ada.py").write_text(CRASHES)
    with pytest.raises(PlayStopped):
        grade_class(tmp_path / "out", written(tmp_path, text), Selection(hand_ins), stopped, print, after_due=False)
    # A seed that was drawn is kept: its hash has been printed, and may be published.
    assert is_begun(tmp_path / "out") == (not has_seed)


def test_a_folder_without_a_grading_and_a_second_process_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not the folder of a grading"), open_grading(tmp_path / "out"):
        pass
    rubric = written(tmp_path)
    with open_grading(tmp_path / "out", rubric), pytest.raises(UsageError, match="Another process"), open_grading(tmp_path / "out", rubric):
        pass


@pytest.mark.slow
def test_rerun_plays_one_student_again_with_equal_marks(tmp_path: Path) -> None:
    with open_grading(tmp_path / "out", written(tmp_path, SMALL)) as opened:
        opened.take([example("ada"), example("bob", "straight", "still")])
        before, _ = played(opened)
        opened.rerun("bob")
        assert not opened.grades().is_complete
        after, notes = played(opened)
        assert points(after) == points(before)
        assert len(notes.finished_keys) == 2
        with pytest.raises(UsageError, match="No hand-in of 'eve'"):
            opened.rerun("eve")


class Failing:
    """A pool in which the matches of one student are void; implements ``tournament.local.Pool``."""

    def __init__(self, pool: LocalPool, student: str) -> None:
        self._pool = pool
        self._student = student
        self._hers: set[str] = set()
        self.slots = pool.slots
        self.has_workers = pool.has_workers

    @property
    def room(self) -> int:
        return self._pool.room

    def submit(self, task: Task) -> None:
        self._hers.update([task.key] * (self._student in task.names.values()))
        self._pool.submit(task)

    def wait(self, seconds: float) -> list[Record]:
        void = "The referee was kept off the processor."
        return [Record(ended.key, void=void) if ended.key in self._hers else ended for ended in self._pool.wait(seconds)]

    def close(self) -> None:
        self._pool.close()


def test_voids_are_never_marked_and_are_played_later(tmp_path: Path) -> None:
    with open_grading(tmp_path / "out", written(tmp_path, SMALL)) as opened:
        opened.take([example("ada"), example("bob")])
        with workers(opened) as pool:
            opened.run(Failing(pool, "bob"), Notes())
        first = opened.grades()
        assert [student.is_complete for student in first.students] == [True, False]
        assert all(trial.passed is None for test in first.students[1].tests for trial in test.trials)
        assert "kept off the processor" in first.students[1].reason
        opened.retry()
        second, _ = played(opened)
        assert second.is_complete
        assert points(second)["ada"] == points(second)["bob"]


def test_a_fault_of_the_opponent_alone_is_a_void(tmp_path: Path) -> None:
    answers = 'import sys\nprint(\'{"type":"ready","protocol":1}\', flush=True)\nsys.stdin.readline()\nsys.stdin.readline()\nsys.exit(1)\n'
    (tmp_path / "weak.py").write_text(answers)
    text = RUBRIC.replace('against = "still"', 'against = "weak.py"')
    with open_grading(tmp_path / "out", written(tmp_path, text)) as opened:
        opened.take([example("ada")])
        grades, notes = played(opened)
    hunts = grades.students[0].tests[0]
    assert [trial.passed for trial in hunts.trials] == [None, None, None]
    assert any("an opponent failed" in text for text in notes.sentences)
    assert grades.students[0].tests[1].points == 4


def test_a_changed_opponent_is_named(tmp_path: Path) -> None:
    own = tmp_path / "rival.py"
    own.write_text(CRASHES)
    text = RUBRIC.replace('against = "still"', 'against = "rival.py"')
    with open_grading(tmp_path / "out", written(tmp_path, text)) as opened:
        opened.take([example("ada")])
        opened.check_files()
        own.write_text(CRASHES + "#\n")
        with pytest.raises(UsageError, match=r"rival\.py has changed"):
            opened.check_files()


#: Grades until so many matches are done, says so, and waits for its end.
KILLED = """
import sys, threading
from pathlib import Path
from referee.grading import rubric as rubrics
from referee.grading.grading import open_grading
from referee.handins.values import HandIn
from referee.tournament.local import LocalPool
from referee.tournament.progress import ProgressListener
home, most = Path(sys.argv[1]), int(sys.argv[2])
class Progress(ProgressListener):
    def finished(self, task, record):
        if opened.counts().done >= most:
            print("now", flush=True)
            threading.Event().wait()
names = (("ada", "boxer", "runner"), ("bob", "straight", "still"))
with open_grading(home / "out", rubrics.load(home / "rubric.toml")) as opened:
    opened.take([HandIn(name, name, Path.cwd(), {"hunter": hunter, "prey": prey}) for name, hunter, prey in names])
    opened.run(LocalPool(opened.trials.terms, opened.entries, opened.replays, 2), Progress())
"""


@pytest.mark.slow
def test_a_killed_grading_goes_on_and_ends_with_the_same_marks(tmp_path: Path) -> None:
    written(tmp_path, SMALL)
    for most in (1, 2):
        with subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path), str(most)], stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "now\n"
            os.kill(child.pid, signal.SIGKILL)
    with open_grading(tmp_path / "out") as opened:
        before = {task.key for task, _ in opened.store.done()}
        assert len(before) >= 2
        grades, notes = played(opened)
        assert not before & set(notes.finished_keys)
        assert len(before) + len(notes.finished_keys) == 4
    with open_grading(tmp_path / "undisturbed", written(tmp_path, SMALL)) as opened:
        opened.take([example("ada"), example("bob", "straight", "still")])
        undisturbed, _ = played(opened)
    # No match is lost or counted twice.
    assert points(grades) == points(undisturbed) == {"ada": [12.0], "bob": [6.0]}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('run = "./nothing"', "The hunter 'ada.zip' has a bot.toml whose 'run' starts with './nothing', which is no file in the folder."),
        ('run = "./data.sh"', "The hunter 'ada.zip' can't be started by itself; name its interpreter: \"bash data.sh\""),
        ('run = "sh x"\nrules = ["diagonal"]', "The hunter 'ada.zip' plays the rules diagonal, as its bot.toml says, not classic."),
    ],
)
def test_a_refused_student_learns_no_folder_of_the_grader_and_no_option(text: str, told: str, tmp_path: Path) -> None:
    source = tmp_path / "class"
    (source / "ada.zip").parent.mkdir()
    zipped_on_windows(source / "ada.zip", {"bot.toml": text, "data.sh": "true\n", "x": "true\n"})
    with open_grading(tmp_path / "out", written(tmp_path)) as opened, opened.incoming() as folder:
        opened.take(collect(source, folder, opened.seats))
        (row,) = opened.grades().students
    assert (row.status, row.reason) == (REFUSED, told)


def test_a_student_whose_build_takes_too_long_learns_no_option_of_the_grader(tmp_path: Path) -> None:
    source = tmp_path / "class"
    source.mkdir()
    zipped_on_windows(source / "ada.zip", {"bot.toml": 'build = "sleep 60"\nrun = "sh x"\n', "x": ""})
    slow = SMALL + "[limits]\nbuild_seconds = 1\n"
    with open_grading(tmp_path / "out", written(tmp_path, slow)) as opened:
        with opened.incoming() as folder:
            opened.take(collect(source, folder, opened.seats))
        with workers(opened) as pool:
            opened.run(pool, Notes())
        (row,) = opened.grades().students
    assert "'sleep 60' did not end within 1 s, the limit of a build, and was killed with all its processes. It printed" in row.reason
    assert "--" not in row.reason


def test_a_rerun_that_is_interrupted_is_compared_when_it_is_complete(tmp_path: Path) -> None:
    with open_grading(tmp_path, written(tmp_path, SMALL)) as opened:
        opened.take([program(tmp_path, "bob", IDLE)])
        played(opened)
        opened.rerun("bob")
        assert opened.compared() == []
        opened.rerun("bob")
    with open_grading(tmp_path) as opened:
        played(opened)
        assert opened.compared() == ["Played again: the matches of bob", "  hunts: the same as before, 6 of 12 points"]
        assert opened.compared() == []
