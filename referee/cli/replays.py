"""verify, show and analyze: commands that read replays."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from referee.cli.app import REPLAYS, JsonFlag, app, columns, command, put, put_json, say
from referee.cli.options import ReplayFile
from referee.cli.terminal import seldom
from referee.errors import ReplayError, UsageError
from referee.support.words import counted


@app.command(rich_help_panel=REPLAYS)
@command
def verify(
    files: Annotated[list[Path], typer.Argument(metavar="REPLAY...", help="Replay files.")],
    as_json: JsonFlag = False,
) -> None:
    """Replay the recorded moves on the engine and compare every step.

    Every file is reported. Exit status 1 if a replay is incomplete or incorrect; else 2 if a file isn't a replay or can't be read.
    """
    from referee.replay.reader import verify as verify_replay

    reports: list[dict[str, Any]] = []
    say_seldom = seldom()
    for number, file in enumerate(files, 1):
        try:
            replay = verify_replay(file)
            steps, problem = replay.turns, None if replay.problem is None else replay.problem.to_json()
        except ReplayError as error:
            steps, problem = 0, {"kind": "unreadable", "text": str(error)}
        reports.append({"file": str(file), "ok": problem is None, "steps": steps, "problem": problem})
        say_seldom(f"verified {number:,} of {counted(len(files), 'replay')}")
        if as_json:
            continue
        if problem is None:
            put(f"{file}: good, {counted(steps, 'step')}")
        else:
            # The sentence about an unreadable file names it already.
            named = "" if problem["kind"] == "unreadable" else f"{file}: "
            text = str(problem["text"])
            say(f"referee: {named}{text}" + "." * (text[-1:] not in (".", "?")))
    problems = [report["problem"]["kind"] for report in reports if not report["ok"]]
    unreadable = problems.count("unreadable")
    if as_json:
        put_json({"ok": not problems, "files": reports})
    elif len(files) > 1:
        put(
            f"{len(files) - len(problems):,} of {counted(len(files), 'replay')} are good, {len(problems) - unreadable:,} wrong, {unreadable:,} not read."
        )
    if problems:
        raise typer.Exit(1 if len(problems) > unreadable else 2)


@app.command(rich_help_panel=REPLAYS)
@command
def show(
    file: ReplayFile,
    events: Annotated[int, typer.Option("--events", help="The most events to list (0: none).", min=0)] = 20,
    step: Annotated[
        int | None,
        typer.Option("--step", metavar="N", help="Show the position before this step, and the moves of the step. -1 is the last position."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Show a replay: result, settings, faults, events, time used, and the final board. With --step, show one position."""
    from referee.replay import position, summary

    if step is not None:
        place = position.find_position(file, step)
        replay, lines = place.replay, position.position_lines(place, columns(80))
        report = position.position_json(file, place) if as_json else {}
    else:
        read = summary.ReplaySummary(file)
        replay, lines = read.replay, read.lines(events, columns(80))
        report = read.to_json()
    if as_json:
        put_json(report)
    else:
        put(*lines)
    if replay.problem is not None:
        _end(file, replay.problem.text)


def _end(file: Path, problem: str) -> NoReturn:
    """Print why a replay doesn't verify, and exit with status 1."""
    say(f"referee: {file}: {problem.rstrip('.')}.")
    raise typer.Exit(1)


@app.command(rich_help_panel=REPLAYS)
@command
def analyze(
    file: ReplayFile,
    every: Annotated[
        bool, typer.Option("--all", help="List every step that could have changed the verdict, not only those that changed it.")
    ] = False,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.0, max=1e6, help="The most processor time to spend; the output lists what was left out.")
    ] = 60.0,
    as_json: JsonFlag = False,
) -> None:
    """List the turning points of a match, where its game has verdicts, and the steps that cost the losing side most, each with a better move.

    Exit status 1 if the replay doesn't verify. The steps before the first error are still analyzed.
    """
    from referee.replay.analysis_report import analysis_json, analysis_lines
    from referee.replay.match_analysis import MatchAnalysis

    analysis = MatchAnalysis(file, seconds)
    if analysis.game.analysis is None and analysis.game.appraisal is None:
        raise UsageError(
            f"A match of {analysis.game.info.name} can't be analyzed: the game has neither a measure for moves nor verdicts on positions."
        )
    say_seldom = seldom()

    def show_progress(position: int) -> None:
        say_seldom(f"judged up to step {position:,}")

    analysis.run(every=every, on_judged=show_progress)
    if as_json:
        put_json(analysis_json(file, analysis))
    else:
        put(*analysis_lines(file, analysis, columns(0), every=every))
    if analysis.verified["status"] != "good":
        _end(file, str(analysis.verified["text"]))
