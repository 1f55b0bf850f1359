"""The output of ``analyze``: the turning points of a match, and the steps that cost the losing side most."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from referee.replay.position import move_text
from referee.support.words import counted, cut, fitted, program, the_seat

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from referee.games.capabilities import Analysis
    from referee.games.game import Json
    from referee.replay.match_analysis import Costly, Losses, MatchAnalysis, VerdictPoint

#: The width of the number of a step with its spaces.
_INDENT = 13


def analysis_json(file: Path, match: MatchAnalysis) -> dict[str, Json]:
    """Return the analysis of a replay for ``--json``."""
    analysis = match.game.analysis
    report = {
        "file": str(file),
        "steps": match.steps,
        "judged": match.judged,
        "points": [_point_json(analysis, point) for point in match.points],
    }
    costly = [_losses_json(file, analysis, losses) for losses in match.losses]
    return {**report, "costly": costly, "verified": match.verified, "left_out": match.left_out}


def _point_json(analysis: Analysis | None, point: VerdictPoint) -> dict[str, Json]:
    record = {"step": point.step, **_verdict_json(analysis, point.verdict)}
    return {**record, "by": point.by, "what": list(point.what)} if point.by else record


def _verdict_json(analysis: Analysis | None, verdict: Mapping[str, Json]) -> dict[str, Json]:
    return {**verdict, "text": "" if analysis is None else analysis.verdict_text(verdict)}


def _losses_json(file: Path, analysis: Analysis | None, losses: Losses) -> dict[str, Json]:
    steps = []
    for costly in losses.steps:
        appraised = costly.appraised
        record = {
            "step": costly.step,
            "played": costly.played,
            "better": costly.better,
            "text": appraised.about,
            "now": appraised.now,
            "instead": appraised.instead,
            "cost": appraised.cost,
            "command": command_for(file, costly.step),
        }
        if costly.verdicts:
            record |= {
                "verdicts": dict(zip(("played", "better"), (_verdict_json(analysis, verdict) for verdict in costly.verdicts), strict=True))
            }
        steps.append(record)
    return {"seat": losses.seat, "is_estimate": not losses.is_exact, "measure": losses.measure, "steps": steps}


def command_for(file: Path, step: int) -> str:
    """Return the command that shows a step of a replay."""
    return f"{program()} show {shlex.quote(str(file))} --step {step}"


def analysis_lines(file: Path, match: MatchAnalysis, wide: int, *, every: bool) -> list[str]:
    """Return the analysis of a replay for people. Sentences fit ``wide`` columns; 0 keeps them whole."""
    lines: list[str] = []
    analysis = match.game.analysis
    if analysis is not None:
        for point in match.points:
            why = f" ({'; '.join(point.what) or point.by})" if point.by else ""
            lines.append(f"step {point.step:>6,}  {analysis.verdict_text(point.verdict)}{why}")
    for losses in match.losses:
        lines += [*([""] if lines else []), *_losses_lines(file, analysis, losses, wide)]
    if analysis is None and not match.losses:
        lines.append("Nobody lost this match, so no step is named that cost a player much.")
    if analysis is not None and not every:
        if match.losses:
            lines.append("")
        changes = max(0, len(match.points) - 1)
        lines.append(
            f"The verdict changed {counted(changes, 'time')} in {counted(match.steps, 'step')}; {counted(match.judged, 'position')} judged."
        )
    return lines + [f"Left out: {text}" for text in match.left_out]


def _losses_lines(file: Path, analysis: Analysis | None, losses: Losses, wide: int) -> list[str]:
    name, kind = the_seat(cut(losses.seat, 20)), "exactly" if losses.is_exact else "by an estimate"
    lost = f"{name} lost by {cut(losses.fault, 400)}" if losses.fault else f"{name} lost."
    if not losses.steps:
        return fitted(f"{lost} No better move was found for it in any step, {kind}. Counted: {losses.measure}.", 0, wide)
    number = "step" if len(losses.steps) == 1 else f"{counted(len(losses.steps), 'step')}"
    lines = fitted(f"{lost} Its {number} that cost most, {kind}. Counted: {losses.measure}.", 0, wide)
    for costly in losses.steps:
        lines += fitted(f"step {costly.step:>6,}  {_sentence(costly)}", _INDENT, wide)
        if costly.verdicts and analysis is not None:
            played, better = map(analysis.verdict_text, costly.verdicts)
            certain = f"after either move {played}" if played == better else f"after the move {played}; after the better one {better}"
            lines += fitted(f"{'':>{_INDENT}}exact: {certain}", _INDENT, wide)
        lines.append(f"{'':>{_INDENT}}{command_for(file, costly.step)}")
    return lines


def _sentence(costly: Costly) -> str:
    appraised = costly.appraised
    remark = f" ({appraised.remark})" if appraised.remark else ""
    return (
        f"played {move_text(costly.played)}: {appraised.now:,}{remark}; better {move_text(costly.better)}, {appraised.about}: "
        f"{appraised.instead:,}, a difference of {appraised.cost:,}"
    )
