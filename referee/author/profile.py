"""Plays a bot and measures how long its answers take, and in which functions."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.author import sampling
from referee.errors import PlayerError, UsageError
from referee.match.events import Listener, MatchBegun
from referee.support.escape import escape
from referee.support.packages import install_command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from referee.api.runner import MatchRequest, PlayedMatch
    from referee.author.sampling import Samples
    from referee.games.game import Seat
    from referee.match.loop import Match
    from referee.players.spec import Spec

#: The percentiles that are printed.
PERCENTS = (50, 90, 99)
#: How many of the longest answers, and of the functions, a report has.
_LONGEST, _FUNCTIONS = 5, 200


class TimedAnswer(NamedTuple):
    """The time billed for one answer, in microseconds, as the replay of a game has it."""

    us: int
    step: int
    replay: Path


class StartUp(Listener):
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


def players(match: MatchRequest, bot: str, against: str, wanted: str | None) -> dict[Seat, Spec]:
    """Return the player of each seat: the bot in the wanted seat, or in the first that it can play."""
    from referee.players.spec import resolve

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


def usable_spy(samples: Samples, flame: Path | None) -> str | None:
    """Return the path of py-spy, or None where it can't be used; ``samples.problem`` says why. Raises UsageError if a flame graph needs it."""
    if flame is not None and (flame.is_dir() or not flame.absolute().parent.is_dir()):
        what = "is a folder" if flame.is_dir() else "is in a folder that does not exist"
        raise UsageError(f"--flame {escape(str(flame), 200)} {what}; name a file, such as flame.svg.")
    found = sampling.py_spy()
    if found is None:
        install = install_command("py-spy")
        if flame is not None:
            raise UsageError(f"--flame needs py-spy; install what is missing: {install}")
        samples.problem = f"py-spy is not installed: {install}"
        return None
    samples.problem = sampling.obstacle()
    return found if samples.problem is None else None


def play(
    match: MatchRequest,
    specs: dict[Seat, Spec],
    sampled: Seat | None,
    listen: Callable[[Match], list[Listener]],
    tell: Callable[[str], None],
) -> PlayedMatch:
    """Play one game; py-spy may look into the program of the seat ``sampled``. ``tell`` gets the place of a replay that ends early."""
    from referee.api import runner

    entrants = {seat: runner.entrant(seat, spec) for seat, spec in specs.items()}
    looked_into = None if sampled is None else entrants[sampled].program
    if sampled is not None and looked_into is not None and not looked_into.through:
        entrants[sampled] = entrants[sampled]._replace(program=looked_into._replace(through=sampling.wrapper()))
    prepared = runner.prepare(match, {seat: spec.label for seat, spec in specs.items()}, specs, list(specs))
    try:
        return runner.play(prepared, entrants, listen)
    except BaseException:
        if prepared.replay.exists():
            tell(f"The replay so far: {prepared.replay}")
        raise


def answers_of(replay: Path, seat: Seat) -> Iterator[TimedAnswer]:
    """Yield the answers of a seat from a replay that was just written."""
    from referee.replay.reader import read_lines

    for line in read_lines(replay):
        record = json.loads(line)
        us = record.get("us", {}).get(seat)
        if us is not None:
            yield TimedAnswer(us, record["turn"], replay)


def percentile(ordered: Sequence[int], percent: float) -> int:
    """Return the smallest value that at least this share of the sorted values doesn't exceed."""
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def report(
    bot: str,
    against: str,
    seat: Seat,
    match: MatchRequest,
    played: Sequence[PlayedMatch],
    answers: list[TimedAnswer],
    startups: list[float],
    samples: Samples,
    watch: Callable[[TimedAnswer], str],
) -> dict[str, Any]:
    """Return what ``--json`` prints. ``watch`` returns the command that shows the position of an answer."""
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
            {"seconds": answer.us / 1e6, "step": answer.step, "replay": str(answer.replay), "watch": watch(answer)} for answer in longest
        ],
        "startup_cpu_seconds": sum(startups) / len(startups) if startups else None,
        "samples": {"count": count, "rate": sampling.RATE, "problem": samples.problem, "functions": functions},
    }
