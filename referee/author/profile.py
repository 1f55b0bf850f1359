"""Plays a bot and measures how long its answers take, and in which functions."""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.api import runner
from referee.author import sampling
from referee.author.sampling import Samples
from referee.errors import PlayerError, UsageError
from referee.match.events import Listener, MatchBegun
from referee.match.options import CPU
from referee.match.seeds import new_seed
from referee.players.spec import resolve
from referee.replay.reader import read_lines
from referee.support.packages import install_command, to_watch
from referee.support.words import counted, fitted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from referee.api.runner import MatchRequest, PlayedMatch
    from referee.games.game import Seat
    from referee.match.loop import Match
    from referee.players.spec import Spec

#: The percentiles that are printed.
PERCENTS = (50, 90, 99)
#: How many of the longest answers, and of the functions, a report has.
_LONGEST, _FUNCTIONS = 5, 200
#: How many functions people see.
_SHOWN = 15


class TimedAnswer(NamedTuple):
    """The time billed for one answer, in microseconds, as the replay of a game has it."""

    us: int
    step: int
    replay: Path


class _StartUp(Listener):
    """Reads the processor time that the bot has used before the first question."""

    def __init__(self, match: Match, seat: Seat, found: list[float]) -> None:
        self._match = match
        self._seat = seat
        self._found = found

    def begun(self, event: MatchBegun) -> None:
        """The bot is ready."""
        process = self._match.process_of(self._seat)
        if process is not None and process.status is None:
            self._found.append(process.sandbox.quick_seconds())


def _players(match: MatchRequest, bot: str, against: str, wanted: str | None) -> dict[Seat, Spec]:
    """Return the player of each seat: the bot in the wanted seat, or in the first that it can play."""
    seats = match.game.seats(match.settings)
    if wanted is not None and wanted not in seats:
        raise UsageError(f"--seat is {wanted!r:.40}, but must be {', '.join(seats[:-1])} or {seats[-1]}.")
    first: PlayerError | None = None
    for own in seats if wanted is None else (wanted,):
        try:
            found = {seat: resolve(bot if seat == own else against, seat, match.game.info.name, match.settings) for seat in seats}
        except PlayerError as error:
            first = first or error
            continue
        if any(spec.is_human for spec in found.values()):
            raise UsageError("referee profile is for programs; name one for each side.")
        return found
    assert first is not None
    raise first


def _usable_spy(flame: Path | None) -> tuple[str | None, str | None]:
    """Return the path of py-spy, or None and why it can't be used. Raises UsageError if a flame graph needs it."""
    if flame is not None and (flame.is_dir() or not flame.absolute().parent.is_dir()):
        what = "is a folder" if flame.is_dir() else "is in a folder that does not exist"
        raise UsageError(f"--flame {flame} {what}; name a file, such as flame.svg.")
    found = sampling.py_spy()
    if found is None:
        install = install_command("py-spy")
        if flame is not None:
            raise UsageError(f"--flame needs py-spy; install what is missing: {install}")
        return None, f"py-spy is not installed: {install}"
    problem = sampling.obstacle()
    return found if problem is None else None, problem


def _play(
    match: MatchRequest,
    specs: dict[Seat, Spec],
    sampled: Seat | None,
    listen: Callable[[Match], list[Listener]],
    tell: Callable[[str], None],
) -> PlayedMatch:
    """Play one game; py-spy may look into the program of the seat ``sampled``. ``tell`` gets the place of a replay that ends early."""
    entrants = {seat: runner.entrant(seat, spec) for seat, spec in specs.items()}
    prepared = runner.prepare(match, [spec.label for spec in specs.values()], entrants)
    looked_into = None if sampled is None else entrants[sampled].program
    if sampled is not None and looked_into is not None and not looked_into.through:
        entrants[sampled] = entrants[sampled]._replace(program=looked_into._replace(through=sampling.wrapper()))
    try:
        return runner.play(prepared, entrants, listen)
    except BaseException:
        if prepared.replay.exists():
            tell(f"The replay so far: {prepared.replay}")
        raise


def answers_of(replay: Path, seat: Seat) -> Iterator[TimedAnswer]:
    """Yield the answers of a seat from a replay that was just written."""
    for line in read_lines(replay):
        record = json.loads(line)
        us = record.get("us", {}).get(seat)
        if us is not None:
            yield TimedAnswer(us, record["turn"], replay)


def percentile(ordered: Sequence[int], percent: float) -> int:
    """Return the smallest value that at least this share of the sorted values doesn't exceed."""
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


class Profile(NamedTuple):
    """The measurements of a bot: the report as ``--json`` prints it. ``has_started``: the last game has begun."""

    report: dict[str, Any]
    samples: Samples
    has_started: bool

    def lines(self, wide: int) -> list[str]:
        """Return the report for people. Sentences fit ``wide`` columns; 0 keeps them whole."""
        return _lines(self.report, self.samples, wide)

    @property
    def note(self) -> str:
        """What is missing in the samples, in a sentence; "" if nothing is."""
        problem = self.samples.problem
        return f"note: not every game has samples: {problem}." if self.samples.count and problem is not None else ""


def measure(
    match: MatchRequest,
    bot: str,
    against: str,
    seat: str | None,
    games: int,
    flame: Path | None,
    listen: Callable[[Match], list[Listener]],
    tell: Callable[[str], None],
) -> Profile:
    """Play games, one after another, and measure the bot in them.

    ``seat`` is its seat, None for the first that it can play. ``flame`` is a file for a flame graph. ``listen`` makes more listeners for each
    game. ``tell`` gets the number of each of several games. Raises UsageError and PlayerError for what can't be measured.
    """
    match = match if match.seed is not None else match._replace(seed=new_seed())
    specs = _players(match, bot, against, seat)
    own = next(name for name, spec in specs.items() if spec.label == bot.strip() and (seat is None or name == seat))
    spy, problem = _usable_spy(flame)
    samples = Samples(problem)
    answers: list[TimedAnswer] = []
    startups: list[float] = []
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    played: list[PlayedMatch] = []

    def listeners(running: Match) -> list[Listener]:
        found = [*listen(running), _StartUp(running, own, startups)]
        if spy is not None:
            found += [sampling.Sampler(running, own, samples, spy, cores, place) for place in (None, *([] if flame is None else [flame]))]
        return found

    for number in range(games):
        if games > 1:
            tell(f"game {number + 1:,} of {games:,}")
        played.append(_play(match._replace(seed=(match.seed or 0) + number), specs, None if spy is None else own, listeners, tell))
        answers += answers_of(played[-1].replay, own)
        if not played[-1].result.started:
            break
    report = _report(bot, against, own, match, played, answers, startups, samples, flame)
    return Profile(report, samples, played[-1].result.started)


def _report(
    bot: str,
    against: str,
    seat: Seat,
    match: MatchRequest,
    played: Sequence[PlayedMatch],
    answers: list[TimedAnswer],
    startups: list[float],
    samples: Samples,
    flame: Path | None,
) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    ordered = sorted(answer.us for answer in answers)
    longest = sorted(answers, key=lambda answer: -answer.us)[:_LONGEST]
    count = samples.count
    functions = [
        {"name": one.name, "self": one.own, "total": one.total, "self_share": one.own / count, "total_share": one.total / count}
        for one in samples.functions()[:_FUNCTIONS]
    ]
    return {
        "bot": bot,
        "against": against,
        "game": match.game.info.name,
        "rules": match.settings.rules,
        "seat": seat,
        "seed": match.seed,
        "clock": match.options.time.kind,
        "isolation": played[-1].result.head["isolation"],
        "games": [
            {
                "replay": str(one.replay),
                "steps": one.result.steps,
                "winner": one.result.outcome.winner,
                "reason": one.result.outcome.reason,
                "fault": one.result.faults[seat].text if seat in one.result.faults else None,
            }
            for one in played
        ],
        "answers": len(ordered),
        "seconds": sum(ordered) / 1e6,
        "percentiles": {f"p{percent}": percentile(ordered, percent) / 1e6 for percent in PERCENTS} if ordered else {},
        "longest": [
            {
                "seconds": answer.us / 1e6,
                "step": answer.step,
                "replay": str(answer.replay),
                "watch": f"{to_watch(answer.replay)} --step {answer.step}",
            }
            for answer in longest
        ],
        "startup_cpu_seconds": sum(startups) / len(startups) if startups else None,
        "samples": {"count": count, "rate": sampling.RATE, "problem": samples.problem, "functions": functions},
        "flame": str(flame) if flame is not None and count and samples.problem is None else None,
    }


def _lines(report: dict[str, Any], samples: Samples, wide: int) -> list[str]:
    games, count = report["games"], report["answers"]
    kind = " of processor time" if report["clock"] == CPU else ""
    begin = (
        f"{report['seat']} {report['bot']:.60} against {report['against']:.60}: "
        f"{counted(len(games), 'game')}, {counted(count, 'answer')}, {report['seconds']:.3f} s{kind}"
    )
    lines = fitted(begin, 2, wide)
    lines += [f"  fault    {one['fault']}" for one in games if one["fault"] is not None]
    lines += [f"  {name:<8} {seconds * 1e3:.3f} ms" for name, seconds in report["percentiles"].items()]
    if not report["longest"]:
        return lines
    if report["startup_cpu_seconds"] is not None:
        startup = f"  start-up {report['startup_cpu_seconds'] * 1e3:.0f} ms of processor time before the first question"
        lines += fitted(startup, 11, wide)
    lines.append("longest answers:")
    for one in report["longest"]:
        place = f"  {one['seconds'] * 1e3:>9.3f} ms  step {one['step']:<6,}"
        is_wide = 0 < wide <= len(place) + len(one["replay"])
        # The replay stays whole, for copying.
        lines += [place.rstrip(), f"    {one['replay']}"] if is_wide else [f"{place} {one['replay']}"]
    lines += _function_lines(samples, wide)
    if report["flame"] is not None:
        lines.append(f"flame graph: {report['flame']}")
    return [*lines, f"Next:  {report['longest'][0]['watch']}"]


def _function_lines(samples: Samples, wide: int) -> list[str]:
    """Return the table of functions, or why there is none."""
    if not samples.count:
        why = samples.problem or "the bot was too quick for a sample; play more with --games"
        return fitted(f"functions: not known; {why}.", 2, wide)
    lines = fitted(f"functions, by {counted(samples.count, 'sample')}, {sampling.RATE} a second while the bot works:", 2, wide)
    lines.append("    self   total  function")
    room = max(20, (wide or 120) - 18)
    for one in samples.functions()[:_SHOWN]:
        name = one.name if len(one.name) <= room else f"{one.name[: room - 2]}.."
        lines.append(f"  {one.own / samples.count:>6.1%}  {one.total / samples.count:>6.1%}  {name}")
    return lines
