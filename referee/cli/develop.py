"""conformance and bench: commands for developers."""

from __future__ import annotations

import gzip
import math
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from referee.cli.app import JsonFlag, app, command, put, put_json, say
from referee.cli.front import DEVELOPERS
from referee.errors import UsageError
from referee.wire.escape import escape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.bench.measures import Figure
    from referee.games.conformance import Played


@app.command(rich_help_panel=DEVELOPERS)
@command
def conformance(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Recorded games, .jsonl or .jsonl.gz, or a .json list of them.")],
    as_json: JsonFlag = False,
) -> None:
    """Play recorded games on the engine and compare every state; recompute the verdict of recorded positions.

    Stops at the first difference, prints its place, and exits with status 1.
    """
    games = steps = positions = 0
    report: dict[str, Any] = {"ok": True}
    for file, number, record in ((path, *line) for path in files for line in _records(path)):
        played = _play(file, number, record)
        steps += played.steps
        if played.difference is not None:
            report = {"ok": False, "file": str(file), "line": number, **played.difference._asdict(), "is_position": played.is_position}
            break
        games += not played.is_position
        positions += played.is_position
    if as_json:
        put_json({**report, "games": games, "steps": steps, "positions": positions})
    else:
        is_position = positions or report.get("is_position", False)
        found = [f"{games:,} games and {steps:,} steps"] if games or not is_position else []
        if is_position:
            found.append(f"{positions:,} position{'s' * (positions != 1)}")
        put(f"{' and '.join(found)} agree{'s' * (not games and positions == 1)}.")
    if not report["ok"]:
        where = f"{report['file']}, line {report['line']}, step {report['step']}, field {report['field']}"
        say(f"referee: {where}: expected {report['expected']}, got {report['got']}.")
        raise typer.Exit(1)


def _records(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    import json

    from referee.support.files import open_regular

    try:
        raw = open_regular(file)
        if file.suffix == ".json":
            # A list of worked cases; the number is the index in the list, from 1.
            with raw:
                cases = json.loads(raw.read())
            if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
                raise UsageError(f"{file} is not a list of recorded games.")
            yield from enumerate(cases, 1)
            return
        with raw, gzip.open(raw, "rb") if file.name.endswith(".gz") else raw as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                record = json.loads(line)
                if not isinstance(record, dict):
                    raise UsageError(f"{file}, line {number} is not a recorded game: it must be a JSON object.")
                yield number, record
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is not a file of recorded games: {error}.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{file} can't be read: {getattr(error, 'strerror', None) or error}.") from None


def _play(file: Path, number: int, record: dict[str, Any]) -> Played:
    """Play one record with the conformance module of its game. Raises UsageError if no game recognizes it."""
    from referee import games
    from referee.games.game import SettingsError

    for name in games.all_names():
        room = games.conformance_of(name)
        if room is not None and room.is_ours(record):
            try:
                return cast("Played", room.play(record))
            except (SettingsError, ValueError) as error:
                raise UsageError(f"{file}, line {number}: {error}") from None
    raise UsageError(f"{file}, line {number} is not a recorded game that this version knows (rules {record.get('rules')!r:.40}).")


@app.command(rich_help_panel=DEVELOPERS)
@command
def bench(
    rounds: Annotated[int, typer.Option("--rounds", min=1, max=99, help="Measurements of each figure; the median counts.")] = 7,
    steps: Annotated[int, typer.Option("--steps", min=100, max=1_000_000, help="Steps of each match.")] = 10_000,
    isolation: Annotated[bool, typer.Option("--isolation", help="Measure the cost of isolation instead.")] = False,
    live: Annotated[
        int | None, typer.Option("--live", metavar="N", min=1, max=900, help="Measure the cost of N spectators instead.")
    ] = None,
    league: Annotated[bool, typer.Option("--league", help="Measure the cost of many matches instead.")] = False,
    grade: Annotated[
        bool, typer.Option("--grade", help="Measure the cost of a grading beside a league of the same matches instead.")
    ] = False,
    rl: Annotated[bool, typer.Option("--rl", help="Measure the speed of many games at once instead.")] = False,
    game: Annotated[
        str,
        typer.Option(
            "--game",
            metavar="evasion|rectangle|maze",
            help="rectangle: time of a turn by board size and robots. maze: time to compute the solution, and to read it from the cache.",
        ),
    ] = "evasion",
    against: Annotated[
        Path | None,
        typer.Option(
            "--against",
            metavar="FILE.json",
            help="Compare the ratios with a stored run of this machine (referee bench --json > FILE.json).",
            show_default=False,
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Measure the cost of the referee. Show each figure beside its floor and its budget.

    Measures and their floors alternate, so that a busy machine slows both. A missed budget does not change the exit status. With
    --against the exit status is 1 if a ratio is more than 15 % worse than in the stored run.
    """
    from referee.bench import ratchet
    from referee.version import build

    here, running = ratchet.machine(), build()
    before = None if against is None else ratchet.read(against, here, running)
    say(f"this referee: {running}")
    figures = _figures(rounds, steps, game=game, isolation=isolation, live=live, league=league, grade=grade, rl=rl)
    compared = [] if before is None else ratchet.compare(figures, before, str(against))
    if as_json:
        changes = {each.name: {"against": each.to_json()} for each in compared}
        put_json([{**figure.to_json(), "machine": here, "build": running, **changes.get(figure.name, {})} for figure in figures])
    else:
        _tell(figures)
        for each in compared:
            put(f"{'WORSE' if each.is_worse else 'good':<7}{each.text}")
    worse = [each.text for each in compared if each.is_worse]
    if worse:
        are = "ratio is" if len(worse) == 1 else "ratios are"
        say(f"referee: {len(worse)} {are} more than {ratchet.TOLERANCE:.0%} worse than in {escape(str(against), 200)}: {'; '.join(worse)}.")
        raise typer.Exit(1)


def _figures(rounds: int, steps: int, *, game: str, isolation: bool, live: int | None, league: bool, grade: bool, rl: bool) -> list[Figure]:
    """Measure what the options ask for."""
    from referee.bench.measures import everything, isolation_costs

    if game not in ("evasion", "rectangle", "maze"):
        raise UsageError(f"--game is {game!r:.40}, but must be evasion, rectangle or maze.")
    if game == "rectangle":
        from referee.bench.rectangle import growth

        figures = growth(rounds, min(steps, 300), say)
    elif game == "maze":
        from referee.bench.maze import solutions

        figures = solutions(rounds, say)
    elif rl:
        from referee.cli.pages import need_rl

        need_rl("--rl")
        from referee.bench.rl import batches

        figures = batches(rounds, steps, say)
    elif league:
        from referee.bench.league import MATCHES, PRETENDED, leagues

        steps = min(steps, 300)
        say(
            f"measuring leagues: {rounds} rounds of {MATCHES} matches of {steps} steps, {PRETENDED:,} pretended matches; this takes minutes"
        )
        figures = leagues(rounds, steps)
    elif grade:
        from referee.bench.grading import MATCHES as TRIALS
        from referee.bench.grading import SUBMISSIONS, gradings

        steps = min(steps, 300)
        say(f"measuring gradings: {rounds} rounds of {SUBMISSIONS} submissions x {TRIALS} matches of {steps} steps; this takes minutes")
        figures = gradings(rounds, steps)
    elif isolation:
        from referee.isolation.choose import choose
        from referee.isolation.limits import Limits

        best = choose("strict", Limits())._replace(is_strict=False)
        say(f"measuring {best.level}: {rounds} rounds of {steps:,} steps; this takes a while")
        figures = isolation_costs(rounds, steps, best)
    elif live is not None:
        from referee.cli.pages import need_web

        need_web("--live")
        from referee.bench.live import spectators

        say(f"measuring {live} spectators: {rounds} rounds of {steps:,} steps")
        figures = spectators(rounds, steps, live)
    else:
        say(f"measuring: {rounds} rounds of {steps:,} steps; this takes a while")
        figures = everything(rounds, steps)
    return figures


def _tell(figures: list[Figure]) -> None:
    wide = max(28, *(len(figure.name) + 2 for figure in figures))
    floors = max(10, *(len(f"{figure.floor or 0:,.1f}") + 2 for figure in figures))
    put(f"{'measure':<{wide}}{'median':>12}{'floor':>{floors}}   {'against its budget':<32}")
    for figure in figures:
        floor = "" if figure.floor is None else f"{figure.floor:,.1f}"
        sign = ">=" if figure.at_least else "<="
        what = {"ratio": "x floor", "excess": f"{figure.unit} over", "value": figure.unit}[figure.compared]
        bound = "" if math.isinf(figure.budget) else f" {sign} {figure.budget:,g}: {'met' if figure.is_met else 'MISSED'}"
        digits = 0 if figure.value >= 1000 else 2 if figure.unit == "ms" and figure.value < 10 else 1
        put(f"{figure.name:<{wide}}{figure.value:>12,.{digits}f}{floor:>{floors}}   {f'{figure.measured:,.2f} {what}{bound}':<32}")
