"""Results for Gradescope, written again after every match, so that they are complete whenever its container is stopped.

Source of the format: Gradescope's documentation for autograders, "Specifications" and "HandIn metadata".

A student reads there: each public match with its points and a sentence, and one line with the points of all hidden matches of a test.
Nothing else comes from a hidden match, not even a time: a bot could report by its speed what it saw.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from referee import games
from referee.errors import UsageError
from referee.grading import marks
from referee.grading.escaping import number
from referee.grading.marks import public
from referee.grading.values import AFTER_DUE, ALWAYS, Grades, RubricMark, StudentMarks, TrialMark
from referee.handins.values import OK, HandIn
from referee.isolation.diagnosis import missing_parts
from referee.isolation.launcher import open_launcher
from referee.isolation.limits import LIMITS_USER, NONE
from referee.support.escape import escape
from referee.support.files import write_whole
from referee.version import __version__

if TYPE_CHECKING:
    from referee.games.game import Json
    from referee.grading.values import Rubric, RubricTest

_VISIBLE = {ALWAYS: "visible", AFTER_DUE: "after_due_date"}
_LONGEST_TEXT = 2_000
_DAY = timedelta(hours=24)
#: Keys of earlier results that a later run may repeat.
_KEPT = ("tests", "leaderboard", "visibility", "output_format", "test_output_format", "test_name_format")
_NOT_PLAYED = "Not played: there was not enough time for this match."
_UNDECIDED = "Not decided, which the hand-in did not cause."

#: The explanation after the name of a level of isolation.
_LEVELS = {
    "strict": ", each program in a sandbox",
    LIMITS_USER: ", each program as a user of its own without network",
}


def results(grades: Grades, note: str = "") -> dict[str, Json]:
    """Return the content of results.json for the only student of a grading. It is complete at any time: it lists what was not played.

    ``note`` is a sentence for the student.
    """
    rubric = grades.rubric
    student = grades.students[0]
    tests = [line for mark in student.tests for line in _lines(mark)]
    public_trials = [trial for test in student.tests if test.test.when == ALWAYS for trial in test.public]
    seconds = sum(record.wall_seconds for trial in public_trials for _, record in trial.matches)
    return {
        **_head(_summary(student, rubric, grades.isolation, note), is_complete=student.is_complete, isolation=grades.isolation),
        "score": _number(student.points),
        "execution_time": round(seconds),
        "tests": tests,
        # Students must not see a test here before the due date if it is shown after it.
        "leaderboard": [{"name": "Points", "value": _number(sum(test.points for test in student.tests if test.test.when == ALWAYS))}],
    }


def first_results(rubric: Rubric) -> dict[str, Json]:
    """Return the results before the first match, in which every match is listed as not played."""
    unplayed = marks.student_marks(games.get(rubric.game), rubric, HandIn("hand-in", "hand-in"), marks.Results())
    return results(Grades(rubric, (unplayed,), folder=Path(), replays=Path()))


def failed_results(text: str) -> dict[str, Json]:
    """Return the results of a run in which the referee could not grade anything; ``text`` says why."""
    message = f"Your hand-in was not graded, which you did not cause. Please tell your instructor: {escape(text, _LONGEST_TEXT)}"
    return {**_head(message, is_complete=False), "score": 0, "tests": []}


def _head(output: str, *, is_complete: bool, isolation: str = "", is_limited: bool = False) -> dict[str, Json]:
    facts: dict[str, Json] = {"version": __version__, "is_complete": is_complete, "isolation": isolation, "is_limited": is_limited}
    return {
        "output": output,
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        # Only instructors see what the referee prints.
        "stdout_visibility": "hidden",
        "extra_data": {"referee": facts},
    }


def _summary(student: StudentMarks, rubric: Rubric, isolation: str, note: str) -> str:
    status, reason = public(student)
    lines = [escape(rubric.name, 200)]
    if status != OK:
        lines.append(f"Status: {status}.")
    lines += [escape(text, _LONGEST_TEXT) for text in (reason, note) if text]
    if isolation:
        lines.append(f"Isolation: {escape(isolation, 200)}{_LEVELS.get(isolation, '')}.")
    return "\n".join(lines)


def _lines(mark: RubricMark) -> list[Json]:
    """Return the lines of a test: one for each public match, and one for all hidden matches together."""
    test = mark.test
    public_trials, hidden = mark.public, mark.hidden
    lines: list[Json] = [_line(test, trial, place, len(mark.trials)) for place, trial in enumerate(public_trials, start=1)]
    if hidden:
        share = test.points / len(mark.trials)
        name = f"{escape(test.name, 200)}: {len(hidden)} hidden {'start' if len(hidden) == 1 else 'starts together'}"
        points, most = mark.hidden_points, share * len(hidden)
        text = f"{number(points)} of {number(most)} points."
        if any(trial.passed is None for trial in hidden):
            text += " Not all matches are decided."
        lines.append(_entry(test, f"{test.number + 1}.{len(public_trials) + 1}", name, points, most, text))
    return lines


def _line(test: RubricTest, trial: TrialMark, place: int, count: int) -> dict[str, Json]:
    name = escape(test.name, 200) + (f", start {trial.trial.start + 1}" if count > 1 else "")
    if trial.passed is None:
        # The reason may come from another match, even a hidden one. The referee prints it only for the instructor.
        text = _UNDECIDED if trial.text else _NOT_PLAYED
    else:
        text = "Passed." if trial.passed else escape(trial.text, _LONGEST_TEXT) or "Not passed."
    entry = _entry(test, f"{test.number + 1}.{place}", name, trial.points, test.points / count, text)
    return entry if trial.passed is None else {**entry, "status": "passed" if trial.passed else "failed"}


def _entry(test: RubricTest, number: str, name: str, points: float, most: float, text: str) -> dict[str, Json]:
    return {
        "number": number,
        "name": name,
        "score": _number(points),
        "max_score": _number(most),
        "output": text,
        "visibility": _VISIBLE[test.when],
    }


def _number(points: float) -> float:
    return round(points, 2)


def write(path: Path, content: dict[str, Json]) -> None:
    """Write results.json in one step, so that it is always complete. Only root may open its folder."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    write_whole(path, (json.dumps(content, indent=1) + "\n").encode())


def check_runs_per_day(most: int | None) -> None:
    """Raise UsageError if this number of runs in a day is out of range; None is no limit."""
    if most is not None and not 1 <= most <= 10_000:
        raise UsageError(f"--max-runs-per-day is {most:,}, but must be from 1 to 10,000.")


def limited(metadata: Path, most: int) -> dict[str, Json] | None:
    """Return the results of a run that exceeds the limit: those of the last graded run, with a sentence. None if the run may be graded.

    ``metadata`` is Gradescope's submission_metadata.json. At most ``most`` runs within 24 hours are graded, counted back from the time of
    this hand-in. Runs that were not graded don't count. UsageError if the file can't be read or ``most`` is out of range.
    """
    check_runs_per_day(most)
    try:
        data = json.loads(metadata.read_bytes())
        now = _time(data["created_at"])
        earlier = [(_time(run["submission_time"]), run) for run in data.get("previous_submissions") or () if _was_graded(run)]
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UsageError(
            f"The earlier runs can't be counted: {escape(str(metadata), 200)} doesn't follow Gradescope's documentation ({type(error).__name__})."
        ) from None
    earlier.sort(key=lambda each: each[0])
    recent = [moment for moment, _ in earlier if now - _DAY < moment <= now]
    if len(recent) < most:
        return None
    last = max((each for each in earlier if each[0] <= now), key=lambda each: each[0])[1]
    again = recent[-most] + _DAY
    runs = f"{most} graded {'run' if most == 1 else 'runs'}"
    text = (
        f"This hand-in was not graded: at most {runs} within 24 hours {'is' if most == 1 else 'are'} allowed. "
        f"The next one is possible from {again:%Y-%m-%d %H:%M} (UTC{again:%z}). "
        "The score of your last graded hand-in is kept. Its results follow."
    )
    repeated = {key: last["results"][key] for key in _KEPT if key in last["results"]}
    before = last["results"].get("output")
    output = f"{text}\n\n{before}" if isinstance(before, str) else text
    return {**repeated, **_head(output, is_complete=True, is_limited=True), "score": _score(last)}


def _was_graded(run: Json) -> bool:
    """Return True if an earlier run was graded: it has results that don't repeat those of a run before it."""
    content = run.get("results")
    if not isinstance(content, dict) or not content:
        return False
    data = content.get("extra_data")
    facts = data.get("referee") if isinstance(data, dict) else None
    return not (isinstance(facts, dict) and facts.get("is_limited"))


def _score(run: Json) -> float:
    """Return the score of an earlier run."""
    for value in (run["results"].get("score"), run.get("score")):
        if isinstance(value, int | float | str):
            return _number(float(value))
    return 0.0


def _time(text: str) -> datetime:
    # Python 3.10 doesn't know the suffix Z.
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    if moment.tzinfo is None:
        raise ValueError(text)
    return moment


def level_here(rubric: Rubric) -> str:
    """Return the isolation for a grading in this container: the rubric's own, or ``limits+user`` where no sandbox is possible.

    A rubric that asks for ``limits`` gets ``limits+user``, too. UsageError if neither is possible.
    """
    if rubric.options.isolation == NONE:
        return NONE
    why = ""
    if rubric.options.isolation in ("strict", "auto"):
        # Look for the sandbox's programs first, because trying it takes long on half a core.
        why = missing_parts()
        if not why:
            try:
                open_launcher("strict", rubric.options.limits)
            except UsageError as error:
                why = str(error)
            else:
                return "strict"
    try:
        open_launcher(LIMITS_USER, rubric.options.limits)
    except UsageError as error:
        no_sandbox = f" A sandbox is not possible: {why}" if why else ""
        raise UsageError(f"No possible isolation keeps bots from reading the rubric here. {error}{no_sandbox}") from None
    return LIMITS_USER
