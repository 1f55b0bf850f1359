"""profile: how long a bot thinks, at which steps, and in which functions."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli import completion, request
from referee.cli.app import JsonFlag, app, columns, command, fitted, program, put, put_json, say
from referee.cli.front import AUTHORS
from referee.cli.options import Game, Out, Quiet, with_match_options
from referee.cli.pages import viewer
from referee.match.clock import CPU
from referee.match.events import Listener
from referee.wire.escape import escape

if TYPE_CHECKING:
    from referee.author.profile import TimedAnswer
    from referee.author.sampling import Samples
    from referee.match.loop import Match

#: How many functions are printed; --json has more.
_FUNCTIONS = 15


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
    from referee.author import profile as profiling
    from referee.author.sampling import Sampler, Samples
    from referee.cli.run import announce_build
    from referee.cli.terminal import Brief
    from referee.match.seeds import new_seed
    from referee.players.building import tell_builds

    tell_builds(announce_build if not quiet else lambda _: None)
    match = wanted.match if wanted.match.seed is not None else wanted.match._replace(seed=new_seed())
    specs = profiling.players(match, bot, against, seat)
    own = next(name for name, spec in specs.items() if spec.label == bot.strip() and (seat is None or name == seat))
    samples = Samples()
    spy = profiling.usable_spy(samples, flame)
    answers: list[TimedAnswer] = []
    startups: list[float] = []
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    played = []

    def listen(running: Match) -> list[Listener]:
        found: list[Listener] = [] if quiet else [Brief(running.game, running.clocks)]
        found.append(profiling.StartUp(running, own, startups))
        if spy is not None:
            found += [Sampler(running, own, samples, spy, cores, place) for place in (None, *([] if flame is None else [flame]))]
        return found

    for number in range(games):
        one = match._replace(seed=(match.seed or 0) + number)
        if not quiet and games > 1:
            say(f"game {number + 1:,} of {games:,}")
        played.append(profiling.play(one, specs, None if spy is None else own, listen, say))
        answers += profiling.answers_of(played[-1].replay, own)
        if not played[-1].result.started:
            break
    report = profiling.report(bot, against, own, match, played, answers, startups, samples, _watch)
    report["flame"] = str(flame) if flame is not None and samples.count and samples.problem is None else None
    if as_json:
        put_json(report)
    else:
        _print(report, samples)
    if not played[-1].result.started:
        raise typer.Exit(3)


def _watch(answer: TimedAnswer) -> str:
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
