"""analyze: the turning points of a match."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli.app import REPLAYS, JsonFlag, app, command, put, put_json, say

if TYPE_CHECKING:
    from referee.web.replay_session import ReplayIndex

#: Seconds between two progress lines.
_TOLD_SECONDS = 2.0


@app.command(rich_help_panel=REPLAYS)
@command
def analyze(
    file: Annotated[Path, typer.Argument(metavar="REPLAY", help="A replay file.")],
    every: Annotated[bool, typer.Option("--all", help="List every change of walls, not only those that changed the verdict.")] = False,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.0, max=1e6, help="The most processor time to spend; the output names what it leaves out.")
    ] = 60.0,
    as_json: JsonFlag = False,
) -> None:
    """List the turning points of a match of Evasion: when capture became certain or evasion possible, and the best wall there.

    Exit status 1 if the replay doesn't verify. The steps before the first error are still analyzed.
    """
    from referee.errors import ReplayError, UsageError
    from referee.replay.reader import read_lines
    from referee.web.replay_session import ReplayIndex
    from referee.wire.escape import escape

    recorded = ReplayIndex(judging_seconds=seconds)
    verdict = recorded.play(file, read_lines(file))
    if recorded.game is None:
        raise ReplayError(str(verdict["text"]))
    told = time.monotonic()

    def tell() -> None:
        nonlocal told
        if time.monotonic() - told > _TOLD_SECONDS:
            told = time.monotonic()
            say(f"judged up to step {recorded.judged[-1][0]:,} of {recorded.steps:,}")

    recorded.judge(tell)
    if recorded.game.analysis is None or (not recorded.judged and not recorded.left_out):
        raise UsageError(f"There is nothing to analyze in a match of {recorded.game.info.name}: its positions have no verdict.")
    points = _points(recorded, every=every)
    if not recorded.may_go_on:
        recorded.left_out.append("A turning point without a best wall was not searched for one.")
    if as_json:
        report = {"file": str(file), "steps": recorded.steps, "judged": len(recorded.judged), "points": points}
        put_json({**report, "verified": verdict, "left_out": recorded.left_out})
    else:
        _print(recorded, points, every=every)
    if verdict["status"] != "good":
        say(f"referee: {escape(str(file))}: {str(verdict['text']).rstrip('.')}.")
        raise typer.Exit(1)


def _points(recorded: ReplayIndex, *, every: bool) -> list[dict[str, Any]]:
    """Return the start and each later position with a changed verdict, its cause and the best wall; with ``every`` unchanged ones, too."""
    analysis = recorded.game.analysis if recorded.game is not None else None
    assert analysis is not None, "a game without analysis has no verdicts, and the caller has refused it"
    found: list[dict[str, Any]] = []
    before: dict[str, Any] | None = None
    for position, verdict in recorded.judged:
        point: dict[str, Any] = {"step": position, **verdict, "text": analysis.verdict_text(verdict)}
        if before is not None:
            if not every and verdict["verdict"] == before["verdict"]:
                before = verdict
                continue
            was, now = recorded.state_at(position - 1), recorded.state_at(position)
            is_turning = analysis.invalidates_verdict(was, now)
            point["by"] = analysis.cause(was, now)
            point["what"] = recorded.told(position - 1) if is_turning else []
            if suggestion := dict(recorded.suggestion(was)):
                point["best"] = suggestion
        before = verdict
        found.append(point)
    return found


def _print(recorded: ReplayIndex, points: list[dict[str, Any]], *, every: bool) -> None:
    for point in points:
        why = f" ({'; '.join(point['what']) or point['by']})" if "by" in point else ""
        put(f"step {point['step']:>6,}  {point['text']}{why}")
        if "best" in point:
            put(f"{'':>13}best wall in the step before: {point['best']['text']}")
    if not every:
        changes, judged = max(0, len(points) - 1), len(recorded.judged)
        times, positions = f"{changes} time{'s' * (changes != 1)}", f"{judged:,} position{'s' * (judged != 1)}"
        put(f"The verdict changed {times} in {recorded.steps:,} steps; {positions} judged.")
    for text in recorded.left_out:
        put(f"Left out: {text}")
