"""profile: how long a bot thinks, at which steps, and in which functions."""

from __future__ import annotations

import json
import math
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from referee.cli import completion, request
from referee.cli.app import JsonFlag, app, columns, command, fitted, program, put, put_json, say
from referee.cli.front import AUTHORS
from referee.cli.options import Game, Out, Quiet, with_match_options
from referee.cli.pages import viewer
from referee.errors import PlayerError, UsageError
from referee.match.clock import CPU
from referee.match.events import Listener, MatchBegun
from referee.support.packages import install_command
from referee.wire.escape import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from referee.api.runner import MatchRequest, PlayedMatch
    from referee.author.sampling import Samples
    from referee.games.game import Seat
    from referee.match.loop import Match
    from referee.players.spec import Spec

#: The percentiles that are printed.
PERCENTS = (50, 90, 99)
#: How many of the longest answers, and of the functions, are printed; --json has more functions.
_LONGEST, _FUNCTIONS, _MORE_FUNCTIONS = 5, 15, 200


class Answer(NamedTuple):
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


@app.command(rich_help_panel=AUTHORS)
@command
@with_match_options
def profile(
    *,
    bot: Annotated[
        str,
        typer.Argument(
            metavar="BOT", help="The program to measure: a player as in referee play.", show_default=False, autocompletion=completion.bot
        ),
    ],
    against: Annotated[
        str,
        typer.Argument(
            metavar="AGAINST", help="Its opponent, which fills every other seat.", show_default=False, autocompletion=completion.bot
        ),
    ],
    seat: Annotated[
        str | None,
        typer.Option(
            "--seat", metavar="SEAT", help="The seat of BOT.  (default: the first that it can play)", autocompletion=completion.seat
        ),
    ] = None,
    games: Annotated[int, typer.Option("--games", metavar="N", min=1, max=1_000, help="Games to play, one after another.")] = 1,
    flame: Annotated[
        Path | None,
        typer.Option(
            "--flame", metavar="FILE.svg", help="Let py-spy draw a flame graph of the bot's functions; of several games, the last one."
        ),
    ] = None,
    game: Game = None,
    out: Out = None,
    quiet: Quiet = False,
    as_json: JsonFlag = False,
    flags: dict[str, Any],
) -> None:
    """Play a bot and print how long its answers take, which took longest, and which functions use the time.

    The times are those that the referee bills. The functions come from py-spy, for Python bots. The bots play without isolation unless --isolation says otherwise.
    """
    wanted = request.build({**flags, "isolation": flags["isolation"] or "none", "game": game, "out": out})
    from referee.author.sampling import Sampler, Samples
    from referee.cli.live import Brief
    from referee.cli.run import announce_build
    from referee.match.seeds import new_seed
    from referee.players.building import tell_builds

    tell_builds(announce_build if not quiet else lambda _: None)
    match = wanted.match if wanted.match.seed is not None else wanted.match._replace(seed=new_seed())
    specs = _specs(match, bot, against, seat)
    own = next(name for name, spec in specs.items() if spec.label == bot.strip() and (seat is None or name == seat))
    samples = Samples()
    spy = _spy(samples, flame)
    answers: list[Answer] = []
    startups: list[float] = []
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    played = []

    def listen(running: Match) -> list[Listener]:
        found: list[Listener] = [] if quiet else [Brief(running.game, running.clocks)]
        found.append(_StartUp(running, own, startups))
        if spy is not None:
            found += [Sampler(running, own, samples, spy, cores, place) for place in (None, *([] if flame is None else [flame]))]
        return found

    for number in range(games):
        one = match._replace(seed=(match.seed or 0) + number)
        if not quiet and games > 1:
            say(f"game {number + 1:,} of {games:,}")
        played.append(_played(one, specs, None if spy is None else own, listen))
        answers += _answers(played[-1].replay, own)
        if not played[-1].result.started:
            break
    report = _report(bot, against, own, match, played, answers, startups, samples)
    report["flame"] = str(flame) if flame is not None and samples.count and samples.problem is None else None
    if as_json:
        put_json(report)
    else:
        _print(report, samples)
    if not played[-1].result.started:
        raise typer.Exit(3)


def _specs(match: MatchRequest, bot: str, against: str, wanted: str | None) -> dict[Seat, Spec]:
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


def _spy(samples: Samples, flame: Path | None) -> str | None:
    """Return the path of py-spy, or None where it can't be used; ``samples.problem`` says why. Raises UsageError if a flame graph needs it."""
    from referee.author import sampling

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


def _played(match: MatchRequest, specs: dict[Seat, Spec], sampled: Seat | None, listen: Callable[[Match], list[Listener]]) -> PlayedMatch:
    """Play one game; py-spy may look into the program of the seat ``sampled``."""
    from referee.api import runner
    from referee.author import sampling

    entrants = {seat: runner.entrant(seat, spec) for seat, spec in specs.items()}
    looked_into = None if sampled is None else entrants[sampled].program
    if sampled is not None and looked_into is not None and not looked_into.through:
        entrants[sampled] = entrants[sampled]._replace(program=looked_into._replace(through=sampling.wrapper()))
    prepared = runner.prepare(match, {seat: spec.label for seat, spec in specs.items()}, specs, list(specs))
    try:
        return runner.play(prepared, entrants, listen)
    except BaseException:
        if prepared.replay.exists():
            say(f"The replay so far: {prepared.replay}")
        raise


def _answers(replay: Path, seat: Seat) -> Iterator[Answer]:
    """Yield the answers of a seat from a replay that was just written."""
    from referee.replay.reader import read_lines

    for line in read_lines(replay):
        record = json.loads(line)
        us = record.get("us", {}).get(seat)
        if us is not None:
            yield Answer(us, record["turn"], replay)


def percentile(ordered: Sequence[int], percent: float) -> int:
    """Return the smallest value that at least this share of the sorted values doesn't exceed."""
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def _report(
    bot: str,
    against: str,
    seat: Seat,
    match: MatchRequest,
    played: Sequence[PlayedMatch],
    answers: list[Answer],
    startups: list[float],
    samples: Samples,
) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    from referee.author import sampling

    ordered = sorted(answer.us for answer in answers)
    longest = sorted(answers, key=lambda answer: -answer.us)[:_LONGEST]
    count = samples.count
    functions = [
        {"name": one.name, "self": one.own, "total": one.total, "self_share": one.own / count, "total_share": one.total / count}
        for one in samples.functions()[:_MORE_FUNCTIONS]
    ]
    return {
        "bot": bot,
        "against": against,
        "game": match.game.info.name,
        "rules": match.settings.rules,
        "seat": seat,
        "seed": match.seed,
        "clock": match.time.kind,
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
            {"seconds": answer.us / 1e6, "step": answer.step, "replay": str(answer.replay), "watch": _watch(answer)} for answer in longest
        ],
        "startup_cpu_seconds": sum(startups) / len(startups) if startups else None,
        "samples": {"count": count, "rate": sampling.RATE, "problem": samples.problem, "functions": functions},
    }


def _watch(answer: Answer) -> str:
    """Return the command that shows the position of an answer."""
    return f"{program()} {viewer()} {shlex.quote(str(answer.replay))} --step {answer.step}"


def _print(report: dict[str, Any], samples: Samples) -> None:
    games, count = report["games"], report["answers"]
    kind = " of processor time" if report["clock"] == CPU else ""
    begin = (
        f"{report['seat']} {escape(report['bot'], 60)} against {escape(report['against'], 60)}: "
        f"{len(games):,} game{'s' * (len(games) != 1)}, {count:,} answer{'s' * (count != 1)}, {report['seconds']:.3f} s{kind}"
    )
    put("\n".join(fitted(begin, 2)))
    for one in games:
        if one["fault"] is not None:
            put(f"  fault    {one['fault']}")
    for name, seconds in report["percentiles"].items():
        put(f"  {name:<8} {seconds * 1e3:.3f} ms")
    if not report["longest"]:
        return
    if report["startup_cpu_seconds"] is not None:
        put("\n".join(fitted(f"  start-up {report['startup_cpu_seconds'] * 1e3:.0f} ms of processor time before the first question", 11)))
    put("longest answers:")
    for one in report["longest"]:
        place = f"  {one['seconds'] * 1e3:>9.3f} ms  step {one['step']:<6,}"
        is_wide = 0 < columns(0) <= len(place) + len(one["replay"])
        # The replay stays whole, for copying.
        put(f"{place.rstrip()}\n    {one['replay']}" if is_wide else f"{place} {one['replay']}")
    _print_functions(samples)
    if report["flame"] is not None:
        put(f"flame graph: {escape(report['flame'], 200)}")
    put(f"Next:  {report['longest'][0]['watch']}")


def _print_functions(samples: Samples) -> None:
    """Print the table of functions, or why there is none."""
    from referee.author.sampling import RATE

    if not samples.count:
        why = samples.problem or "the bot was too quick for a sample; play more with --games"
        put("\n".join(fitted(f"functions: not known; {why}.", 2)))
        return
    put("\n".join(fitted(f"functions, by {samples.count:,} samples, {RATE} a second while the bot works:", 2)))
    put("    self   total  function")
    room = max(20, columns(120) - 18)
    for one in samples.functions()[:_FUNCTIONS]:
        name = one.name if len(one.name) <= room else f"{one.name[: room - 2]}.."
        put(f"  {one.own / samples.count:>6.1%}  {one.total / samples.count:>6.1%}  {name}")
    if samples.problem is not None:
        say(f"note: not every game has samples: {samples.problem}.")
