"""What a grading costs beside a league: the same matches, with everything that a grading does before and after them."""

from __future__ import annotations

import contextlib
import math
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.bench.measures import PARSING, Figure, alternate
from referee.errors import RefereeError
from referee.grading import outputs
from referee.grading import rubric as rubrics
from referee.grading.grading import new_copies, open_grading
from referee.grading.submissions import collect
from referee.isolation.choose import choose
from referee.league.engine import Engine
from referee.league.local import LocalPool, free_slots
from referee.league.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.grading.plan import GradingPlan
    from referee.grading.values import Rubric
    from referee.league.values import MatchRecord, MatchTask

#: The budget: the time of a grading beside that of a league of the same matches.
LONGER = 1.3
#: Submissions, and matches of each.
SUBMISSIONS, MATCHES = 100, 10
_SEED = "0123456789abcdef0123456789abcdef"
#: Nothing ends these matches before their last step: other programs may slow the machine down.
_HEAD = f"""
name = "benchmark"
game = "evasion"
seed = "{_SEED}"
isolation = "strict"
time = {{ startup = 60, move = 60, bank = "none" }}
run = {{ max_lateness = 60.0 }}
"""
_TEST = """
[[tests]]
name = "test {number}"
seat = "{seat}"
against = "bot.py"
hidden = {hidden}
points = 10
need = {{ finishes = true }}
settings = {{ max_steps = {steps}, hunter = [0, 0, 1, 1], prey = [230, 200] }}
"""


class Progress:
    """Receives the progress of the matches; a match that isn't played ends the benchmark. Implements ``engine.ProgressListener``."""

    def finished(self, task: MatchTask, record: MatchRecord) -> None:
        """A match is done."""

    def said(self, text: str) -> None:
        """Treat every message as a failure."""
        raise RefereeError(f"A match of the benchmark was not played: {text}")

    def decided(self, why: str) -> None:
        """A grading never ends early."""

    def tick(self, running: Sequence[MatchTask]) -> None:
        """Nothing is shown."""


class Parts(NamedTuple):
    """The seconds of a grading's parts: before the matches, the matches, and after them."""

    before: float
    matches: float
    after: float


def gradings(rounds: int, steps: int, submissions: int = SUBMISSIONS, matches: int = MATCHES) -> list[Figure]:
    """All figures. UsageError if this machine has no sandbox."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        rubric = _rubric(home, steps, matches)
        for number in range(submissions):
            (home / "class").mkdir(exist_ok=True)
            (home / "class" / f"student{number}.py").write_text(f"# {number}\n{PARSING}")
        choose(rubric.isolation, rubric.limits)
        parts: list[Parts] = []
        counts = iter(range(2 * rounds))

        def grading() -> float:
            parts.append(_grade(rubric, home / "class", home / f"{next(counts)}"))
            return math.fsum(parts[-1])

        def league() -> float:
            with open_grading(home / "0") as opened:
                return _play_league(opened.plan, home / f"{next(counts)}")

        graded, played = alternate(rounds, grading, league)
    return [
        Figure(f"{submissions} submissions x {matches} matches", "s", graded, played, "ratio", LONGER),
        Figure("before the matches", "s", [part.before for part in parts], None, "value", math.inf),
        Figure("after the matches", "s", [part.after for part in parts], None, "value", math.inf),
    ]


def _rubric(home: Path, steps: int, matches: int) -> Rubric:
    (home / "bot.py").write_text(PARSING)
    tests = (
        _TEST.format(number=number, seat=("hunter", "prey")[number % 2], hidden=int(number >= matches // 2), steps=steps)
        for number in range(matches)
    )
    (home / "rubric.toml").write_text(_HEAD + "".join(tests))
    return rubrics.load(home / "rubric.toml")


def _grade(rubric: Rubric, source: Path, folder: Path) -> Parts:
    """Grade a class from its folder to all outputs."""
    begun = time.perf_counter()
    with open_grading(folder, rubric) as opened:
        opened.take(collect(source, new_copies(folder), opened.seats))
        opened.check_files()
        ready = time.perf_counter()
        with contextlib.closing(LocalPool(opened.plan.terms, opened.teams, opened.replays, free_slots(rubric.limits))) as pool:
            opened.run(pool, Progress())
        played = time.perf_counter()
        grades = opened.grades()
        outputs.write(grades)
    if not grades.is_complete or any(student.status != "ok" for student in grades.students):
        raise RefereeError("A submission of the benchmark has failed.")
    return Parts(ready - begun, played - ready, time.perf_counter() - played)


def _play_league(plan: GradingPlan, folder: Path) -> float:
    """Play the same matches as a league does, from an empty folder to its last result."""
    folder.mkdir()
    begun = time.perf_counter()
    with Store.open(folder, create=True) as store:
        store.begin({}, list(plan.teams.values()))
        with contextlib.closing(LocalPool(plan.terms, plan.teams, folder / "replays", free_slots(plan.rubric.limits))) as pool:
            Engine(store, pool, plan, Progress()).run()
        if store.counts().done != len(plan.students) * len(plan.places):
            raise RefereeError("A match of the benchmark was not played.")
    return time.perf_counter() - begun
