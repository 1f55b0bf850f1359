"""Plays a student's matches again, for an appeal: finds the student, keeps the earlier replays, and compares the results."""

from __future__ import annotations

import shutil
from itertools import count
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING

from referee.errors import UsageError
from referee.grading.escaping import number
from referee.grading.rows import MatchEnd, RerunRow, TrialFacts
from referee.handins.names import key
from referee.handins.ownership import MOST_NAMED, listed
from referee.replay.paths import SUFFIX, log_path
from referee.support.escape import printable
from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.games.game import Seat
    from referee.grading.values import StudentMarks, TrialMark
    from referee.handins.values import HandIn


def student_of(text: str, graded: Sequence[HandIn]) -> str:
    """Return the student with this id, name, address or number. UsageError unless exactly one student has it."""
    identity = key(text)
    matching = [hand_in for hand_in in graded if hand_in.student == text] or [
        hand_in
        for hand_in in graded
        if identity in map(key, (hand_in.student, hand_in.full_name, hand_in.roster_name, *hand_in.identities))
    ]
    if len(matching) == 1:
        return matching[0].student
    if matching:
        ids = listed([hand_in.student for hand_in in matching])
        raise UsageError(f"{text!r:.80} fits {len(matching)} students. Name one of them as here: {ids}.")
    students = ", ".join(hand_in.student for hand_in in graded[: 2 * MOST_NAMED])
    raise UsageError(f"No hand-in of {text!r:.80} was graded; the first students are {students}.")


def copy_path(replay: Path) -> Path:
    """Return the path of a replay's copy, which the next match of the same name doesn't overwrite."""
    stem = replay.name.removesuffix(SUFFIX)
    paths = (replay.with_name(f"{stem}.before-{number}{SUFFIX}") for number in count(1))
    return next(path for path in paths if not path.exists())


def copy_replay(replay: Path, seats: Sequence[Seat]) -> None:
    """Copy a replay and its logs to ``copy_path``. UsageError if that fails."""
    copy = copy_path(replay)
    try:
        for old, new in [(log_path(replay, seat), log_path(copy, seat)) for seat in seats] + [(replay, copy)]:
            if old.is_file() and not old.is_symlink():
                shutil.copyfile(old, new)
    except OSError as error:
        raise UsageError(f"The replay {replay} can't be kept: {error.strerror or error}. Nothing is played again.") from None


def summary(student: StudentMarks, private: Path) -> RerunRow:
    """Return a student's tests for a comparison. The replays are those of ``copy_path``."""
    tests = {mark.test.name: [_facts(trial, private) for trial in mark.trials] for mark in student.tests}
    return RerunRow(student=student.hand_in.student, tests=tests)


def _facts(trial: TrialMark, private: Path | None = None) -> TrialFacts:
    """Return a trial for a comparison. With the folder of the store, its replays are the copies."""
    records = [record for _, record in trial.matches]
    replays = [Path(record.replay) for record in records if record.replay]
    copies = replays if private is None else [copy_path(private / path).relative_to(private) for path in replays]
    return TrialFacts(
        points=trial.points,
        text="not decided" if trial.passed is None else trial.text or "passed",
        ends=[MatchEnd(winner=each.winner, reason=each.reason, steps=each.steps, scores=dict(each.scores)) for each in records],
        replays=[str(path) for path in copies],
    )


def difference_lines(before: RerunRow, student: StudentMarks, private: Path) -> list[str]:
    """Return a line for each test that says whether its result is the same as ``before``, and one for each start with another result."""
    lines = []
    for mark in student.tests:
        then, now = before.tests[mark.test.name], [_facts(trial) for trial in mark.trials]
        others = [at for at in range(len(now)) if now[at].model_copy(update={"replays": then[at].replays}) != then[at]]
        points = f"{number(mark.points)} of {number(mark.test.points)} points"
        old = number(fsum(trial.points for trial in then))
        lines.append(f"  {mark.test.name}: " + (f"not the same: {points}, before {old}" if others else f"the same as before, {points}"))
        for at in others:
            for when, facts in (("before", then[at]), ("now", now[at])):
                steps = ", ".join(counted(end.steps, "step") for end in facts.ends) or "no match"
                replays = ", ".join(str(private / replay) for replay in facts.replays) or "no replay"
                lines.append(f"    start {at + 1}, {when}: {facts.text} ({steps}; {replays})")
    return list(map(printable, lines))
