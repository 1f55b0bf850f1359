"""verify and show: commands that read replays."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli.app import REPLAYS, JsonFlag, app, command, put, put_json, say

if TYPE_CHECKING:
    from referee.games.game import Outcome
    from referee.replay.reader import Replay, Step

ReplayFiles = Annotated[list[Path], typer.Argument(metavar="REPLAY...", help="Replay files.")]
ReplayFile = Annotated[Path, typer.Argument(metavar="REPLAY", help="A replay file.")]


@app.command(rich_help_panel=REPLAYS)
@command
def verify(files: ReplayFiles, as_json: JsonFlag = False) -> None:
    """Replay the recorded moves on the engine and compare every step.

    Stops at the first incomplete or incorrect file, prints its first difference, and exits with status 1.
    """
    from referee.errors import ReplayError
    from referee.replay.reader import verify as play_again
    from referee.wire.escape import escape

    reports: list[dict[str, Any]] = []
    for file in files:
        try:
            replay = play_again(file)
        except ReplayError as error:
            reports.append({"file": str(file), "ok": False, "steps": 0, "problem": {"kind": "unreadable", "text": str(error)}})
            text = str(error)
        else:
            problem = replay.problem
            reports.append({"file": str(file), "ok": problem is None, "steps": replay.turns, "problem": problem and problem.to_json()})
            text = f"{escape(str(file))}: {problem.text.rstrip('.')}." if problem else ""
        if not reports[-1]["ok"]:
            break
        if not as_json:
            put(f"{escape(str(file))}: good, {reports[-1]['steps']:,} steps")
    good = all(report["ok"] for report in reports)
    if as_json:
        put_json({"ok": good, "files": reports})
    if not good:
        say(f"referee: {text}")
        raise typer.Exit(1)


@app.command(rich_help_panel=REPLAYS)
@command
def show(
    file: ReplayFile,
    events: Annotated[int, typer.Option("--events", help="The most events to list (0: none).", min=0)] = 20,
    as_json: JsonFlag = False,
) -> None:
    """Show a replay: result, settings, faults, events, time used, and the final board."""
    from referee.replay.reader import verify as play_again
    from referee.wire.escape import escape

    found: list[tuple[int, Any]] = []
    ends: list[tuple[int, Any]] = []
    replay = play_again(file, lambda step: _collect(step, found, ends))
    certain = _certain(file, replay, ends)
    if as_json:
        put_json({**_as_json(file, replay, found), "certain": certain})
    else:
        columns = shutil.get_terminal_size().columns if sys.stdout.isatty() or "COLUMNS" in os.environ else 80
        for line in _page(file, replay, found, events, columns, certain):
            put(line)
    if replay.problem is not None:
        say(f"referee: {escape(str(file))}: {replay.problem.text.rstrip('.')}.")
        raise typer.Exit(1)


def _collect(step: Step, found: list[tuple[int, Any]], ends: list[tuple[int, Any]]) -> None:
    """Collect the notices in ``found``, and the positions before the first and the last step in ``ends``."""
    turn = step.record["turn"]
    found += [(turn, notice) for notice in step.notices]
    if len(ends) > 1:
        ends.pop()
    ends.append((turn, step.before))


def _certain(file: Path, replay: Replay, ends: list[tuple[int, Any]]) -> list[dict[str, Any]]:
    """Return the verdicts at the start and before the last step; an empty list for games without analysis."""
    from referee.replay.reader import open_game

    game, _ = open_game(file, replay.head)
    found: list[dict[str, Any]] = []
    if (analysis := game.analysis) is None:
        return found
    for turn, before in ends:
        certain = dict(analysis.verdict(before))
        if certain:
            found.append({"step": turn, **certain, "text": analysis.verdict_text(certain)})
    return found


def _as_json(file: Path, replay: Replay, found: list[tuple[int, Any]]) -> dict[str, Any]:
    return {
        "file": str(file),
        "head": {key: value for key, value in replay.head.items() if key != "secret"},
        "result": replay.result,
        "faults": replay.faults,
        "steps": replay.turns,
        "events": [{"turn": turn, **notice.to_json()} for turn, notice in found],
        "problem": replay.problem and replay.problem.to_json(),
    }


def _page(file: Path, replay: Replay, found: list[tuple[int, Any]], events: int, columns: int, certain: list[dict[str, Any]]) -> list[str]:
    """Return the lines of the report, wrapped at ``columns``."""
    from referee.replay.reader import open_game
    from referee.wire.escape import escape

    head, result = replay.head, replay.result or {}
    game, _ = open_game(file, head)
    lines = [
        *_wrapped("match", f"{head['game']}, rules {escape(str(head['rules']), 40)}, {escape(str(head.get('match')), 40)}", columns),
        "",
    ]
    lines += _wrapped("result", escape(str(result.get("text", "none: the replay is cut short")), 400), columns)
    if result:
        lines += _wrapped("score", _scores(result, game.outcome(replay.final)), columns)
    lines += _wrapped("steps", f"{replay.turns:,}", columns)
    if certain:
        lines += _wrapped("verdict", "; ".join(f"step {point['step']:,}: {point['text']}" for point in certain), columns)
    for seat, player in head["players"].items():
        if isinstance(player, dict):
            lines += _wrapped(
                escape(seat, 20), f"{escape(str(player.get('name')), 40)} ({escape(str(player.get('program')), 200)})", columns
            )
    settings = ", ".join(f"{key} {escape(str(value), 40)}" for key, value in head["settings"].items())
    lines += _wrapped("settings", settings, columns)
    clock = head.get("clock", {})
    if isinstance(clock, dict):
        lines += _wrapped("clock", ", ".join(f"{key} {escape(str(value), 20)}" for key, value in clock.items()), columns)
    seed = f"{escape(str(head.get('seed')), 40)}, isolation {escape(str(head.get('isolation')), 40)}, referee {escape(str(head.get('referee')), 20)}"
    lines += _wrapped("seed", seed, columns)
    limits = head.get("limits")
    if isinstance(limits, dict):
        told = ", ".join(f"{escape(str(key), 30)} {escape(str(value), 20)}" for key, value in limits.items())
        lines += _wrapped("limits", f"{told}; processor time {escape(str(head.get('accounting')), 20)}", columns)
    for record in replay.faults:
        for seat, fault in record["faults"].items():
            text = f"turn {record['turn']}: {escape(str(fault.get('text')), 500)}"
            lines += _wrapped(f"fault {escape(seat, 12)}", text, columns)
    lines += ["", *_times(result, columns)] if result else []
    lines += ["", *_events(found, events, columns)] if found and events else []
    return lines if game.text is None else [*lines, "", *game.text.board_lines(replay.final, min(columns - 2, 100), 24)]


def _wrapped(name: str, text: str, columns: int) -> list[str]:
    indent = f"{name:<10} "
    return textwrap.wrap(text, max(columns, 30), initial_indent=indent, subsequent_indent=" " * 11, break_on_hyphens=False) or [indent]


def _scores(result: dict[str, Any], outcome: Outcome | None) -> str:
    from referee.wire.escape import escape

    scores = result.get("scores")
    if not isinstance(scores, dict):
        return "none"
    unit = "" if outcome is None else f" {outcome.unit}"
    return ", ".join(f"{escape(seat, 20)} {'none' if score is None else escape(str(score), 20) + unit}" for seat, score in scores.items())


def _times(result: dict[str, Any], columns: int) -> list[str]:
    """Return the time used as a table, or as sentences if ``columns`` is too small for the table."""
    from referee.wire.escape import escape

    lines = [f"{'player':<10}{'used':>11}{'answers':>9}{'mean':>11}{'longest':>11}"]
    try:
        for name, used in result["time"].items():
            seat = escape(name, 10)
            spent, count = used["used_seconds"], used["answers"]
            mean, longest = used["mean_seconds"] * 1e3, used["longest_seconds"] * 1e3
            if columns < len(lines[0]):
                lines += _wrapped(
                    f"time {seat}", f"{spent:.3f} s in {count:,} answers, mean {mean:.3f} ms, longest {longest:.3f} ms", columns
                )
            else:
                lines.append(f"{seat:<10}{spent:>9.3f} s{count:>9,}{mean:>8.3f} ms{longest:>8.3f} ms")
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        return ["time       the result has no readable times"]
    return lines if columns >= len(lines[0]) else lines[1:]


def _events(found: list[tuple[int, Any]], most: int, columns: int) -> list[str]:
    """Return the events as lines. If there are more than ``most``, drop bounces, then events in the middle."""
    from referee.wire.escape import escape

    weighty = [entry for entry in found if not entry[1].code.endswith("-bounced")]
    chosen = found if len(found) <= most else weighty
    half = (most + 1) // 2
    cut = len(chosen) - most
    listed = chosen if cut <= 0 else [*chosen[:half], *chosen[half + cut :]]
    lines = [f"{len(found):,} events" + (f", {len(listed)} shown (--events {len(found)} shows all):" if len(listed) < len(found) else ":")]
    for index, (turn, notice) in enumerate(listed):
        if cut > 0 and index == half:
            lines.append(f"   ...  {cut:,} more")
        text = textwrap.wrap(escape(notice.text, 400), max(columns - 8, 20)) or [""]
        lines += [f"{turn:>6}  {text[0]}", *(f"        {rest}" for rest in text[1:])]
    return lines
