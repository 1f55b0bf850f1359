"""verify, show and analyze: commands that read replays."""

from __future__ import annotations

import contextlib
import shlex
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli import completion
from referee.cli.analysis import analysis_json, analysis_lines
from referee.cli.app import JsonFlag, app, columns, command, program, put, put_json, say, wrapped
from referee.cli.front import REPLAYS
from referee.errors import UsageError
from referee.replay.names import player_name
from referee.replay.reader import open_game
from referee.replay.reader import verify as play_again
from referee.wire.escape import escape

if TYPE_CHECKING:
    from referee.games.capabilities import Analysis
    from referee.games.game import Game, Notice, Outcome
    from referee.replay.reader import Replay, Step
    from referee.replay.rerun import Questions

#: Seconds between two progress lines of the analysis.
_TOLD_SECONDS = 2.0

ReplayFile = Annotated[Path, typer.Argument(metavar="REPLAY", help="A replay file.", autocompletion=completion.replay)]
#: The help of an argument BOT for which ``recorded_bot`` stands in.
RECORDED_BOT = "The program: a player as in referee play.  (default: the one that the replay names, if it has the recorded hash)"


def asked_seat(seat: str | None, file: Path, bot: str | None, command: str) -> str:
    """Return the seat that is asked again: the named one, or the one that the replay makes clear, and say so. UsageError if it isn't clear."""
    from referee.replay.beginning import seat_of

    if seat is not None:
        return seat
    words = [str(file), *([bot] if bot is not None else [])]
    found = seat_of(file, bot, f"{program()} {command} {shlex.join(escape(word, 200) for word in words)}")
    if bot is not None:
        say(f"'{escape(bot, 200)}' is asked as the {found}, which it played in the replay.")
    return found


def recorded_bot(asked: Questions, file: Path, command: str) -> str:
    """Return the program that the replay names for the asked seat, and say so. PlayerError if it isn't found here, or not unchanged."""
    from referee.replay.beginning import unchanged_program

    again = f"{program()} {command} {shlex.quote(escape(str(file), 200))} BOT --seat {asked.seat}"
    found = unchanged_program(asked, f"name the bot: {again}")
    say(f"The {asked.seat} is '{escape(found, 200)}', as the replay says; it has the recorded hash.")
    return found


@app.command(rich_help_panel=REPLAYS)
@command
def verify(
    files: Annotated[list[Path], typer.Argument(metavar="REPLAY...", help="Replay files.", autocompletion=completion.replay)],
    conformance: Annotated[
        bool,
        typer.Option(
            "--conformance",
            help="The files hold recorded games or positions (.jsonl, .jsonl.gz, or a .json list): compare every state and verdict, up to the first difference.",
        ),
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Replay the recorded moves on the engine and compare every step.

    Every file is reported. Exit status 1 if a replay is incomplete or incorrect; else 2 if a file isn't a replay or can't be read.
    """
    if conformance:
        _conform(files, as_json=as_json)
        return
    from referee.replay.several import verify_all

    reports: list[dict[str, Any]] = []
    told = time.monotonic()

    def tell(count: int, steps: int) -> None:
        nonlocal told
        if time.monotonic() - told > _TOLD_SECONDS:
            told = time.monotonic()
            say(f"verified {count:,} of {len(files):,} replays, {steps:,} steps")

    with contextlib.closing(verify_all(files, tell)) as verdicts:
        for file, (steps, problem) in zip(files, verdicts, strict=True):
            reports.append({"file": str(file), "ok": problem is None, "steps": steps, "problem": problem})
            if as_json:
                continue
            if problem is None:
                put(f"{escape(str(file))}: good, {steps:,} steps")
            else:
                # A file that can't be read is named in the sentence already.
                named = "" if problem["kind"] == "unreadable" else f"{escape(str(file))}: "
                say(f"referee: {named}{problem['text'].rstrip('.')}.")
    problems = [report["problem"]["kind"] for report in reports if not report["ok"]]
    unreadable = problems.count("unreadable")
    if as_json:
        put_json({"ok": not problems, "files": reports})
    elif len(files) > 1:
        put(
            f"{len(files) - len(problems):,} of {len(files):,} replays are good, {len(problems) - unreadable:,} wrong, {unreadable:,} not read."
        )
    if problems:
        raise typer.Exit(1 if len(problems) > unreadable else 2)


def _conform(files: list[Path], *, as_json: bool) -> None:
    """Play recorded games, and print how many agree or the first difference."""
    from referee.replay.conformance import conform

    report = conform(files)
    games, steps, positions = report["games"], report["steps"], report["positions"]
    if as_json:
        put_json(report)
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


@app.command(rich_help_panel=REPLAYS)
@command
def show(
    file: ReplayFile,
    events: Annotated[int, typer.Option("--events", help="The most events to list (0: none).", min=0)] = 20,
    step: Annotated[
        int | None,
        typer.Option(
            "--step",
            metavar="N",
            help="Show the position before this step, and the moves of the step. -1 is the last position.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Show a replay: result, settings, faults, events, time used, and the final board. With --step, show one position."""
    if step is not None:
        from referee.cli.positions import show_step

        show_step(file, step, as_json=as_json)
        return
    found: list[tuple[int, Notice]] = []
    ends: list[tuple[int, Any]] = []

    def take(step: Step) -> None:
        turn = step.record["turn"]
        found.extend((turn, notice) for notice in step.notices)
        # Keep the positions before the first and the last step.
        del ends[1:]
        ends.append((turn, step.before))

    replay = play_again(file, take)
    game, _ = open_game(file, replay.head)
    certain = [] if game.analysis is None else _verdicts(game.analysis, ends)
    if as_json:
        put_json(
            {
                "file": str(file),
                "head": {key: value for key, value in replay.head.items() if key != "secret"},
                "result": replay.result,
                "faults": replay.faults,
                "steps": replay.turns,
                "events": [{"turn": turn, **notice.to_json()} for turn, notice in found],
                "problem": replay.problem and replay.problem.to_json(),
                "certain": certain,
            }
        )
    else:
        wide = columns(80)
        lines = _facts(game, replay, certain, wide)
        lines += ["", *_times(replay.result, wide, _clock_kind(replay.head))] if replay.result else []
        lines += ["", *_events(found, events, wide)] if found and events else []
        lines += ["", *game.text.board_lines(replay.final, min(wide - 2, 100), 24)] if game.text is not None else []
        for line in lines:
            put(line)
    if replay.problem is not None:
        say(f"referee: {escape(str(file))}: {replay.problem.text.rstrip('.')}.")
        raise typer.Exit(1)


def _verdicts(analysis: Analysis[Any], ends: list[tuple[int, Any]]) -> list[dict[str, Any]]:
    verdicts = [(turn, dict(analysis.verdict(before))) for turn, before in ends]
    return [{"step": turn, **verdict, "text": analysis.verdict_text(verdict)} for turn, verdict in verdicts if verdict]


def _verdict_text(certain: list[dict[str, Any]]) -> str:
    """Return the verdicts of ``_verdicts`` as a sentence. It names no step: the verdict may have changed long before the last one."""
    first, *last = [point["text"] for point in certain]
    later = "".join(f"; before the last step {text}" for text in last)
    return f"at the start {first}{later}" + (f" ({program()} analyze finds the step that changed it)" if last and last != [first] else "")


def _facts(game: Game[Any, Any], replay: Replay, certain: list[dict[str, Any]], wide: int) -> list[str]:
    """Return the report's upper part, wrapped at ``wide`` columns. The replay is an untrusted file."""
    head, result = replay.head, replay.result or {}
    facts = [("result", escape(str(result.get("text", "none: the replay is cut short")), 400))]
    if result:
        facts.append(("score", _scores(result, game.outcome(replay.final))))
    facts.append(("steps", f"{replay.turns:,}"))
    if certain:
        facts.append(("verdict", _verdict_text(certain)))
    for seat, player in head["players"].items():
        facts.append((escape(seat, 20), f"{escape(player_name(player, seat), 80)} ({escape(str(player.get('program')), 200)})"))
    facts.append(("settings", _pairs(head["settings"], 40)))
    if isinstance(clock := head.get("clock", {}), dict):
        facts.append(("clock", _pairs(clock, 20)))
    if isinstance(source := head.get("from"), dict):
        facts.append(("from", f"turn {escape(str(source.get('turn')), 20)} of {escape(str(source.get('file')), 200)}"))
    seed, isolation = escape(str(head.get("seed")), 40), escape(str(head.get("isolation")), 40)
    facts.append(("seed", f"{seed}, isolation {isolation}, referee {escape(str(head.get('referee')), 20)}"))
    if isinstance(limits := head.get("limits"), dict):
        facts.append(("limits", f"{_pairs(limits, 20)}; processor time {escape(str(head.get('accounting')), 20)}"))
    for record in replay.faults:
        for seat, fault in record["faults"].items():
            facts.append((f"fault {escape(seat, 12)}", f"turn {record['turn']}: {escape(str(fault.get('text')), 500)}"))
    match = f"{head['game']}, rules {escape(str(head['rules']), 40)}, {escape(str(head.get('match')), 40)}"
    return [*wrapped("match", 10, match, wide), "", *(line for name, text in facts for line in wrapped(name, 10, text, wide))]


def _pairs(values: dict[str, Any], most: int) -> str:
    return ", ".join(f"{escape(str(key), 30)} {escape(str(value), most)}" for key, value in values.items())


def _scores(result: dict[str, Any], outcome: Outcome | None) -> str:
    scores = result.get("scores")
    if not isinstance(scores, dict):
        return "none"
    unit = "" if outcome is None else f" {outcome.unit}"
    return ", ".join(f"{escape(seat, 20)} {'none' if score is None else escape(str(score), 20) + unit}" for seat, score in scores.items())


def _clock_kind(head: dict[str, Any]) -> str:
    """Return what the time of a match is called: that of the processor or of the clock."""
    clock = head.get("clock")
    return "CPU time" if isinstance(clock, dict) and clock.get("kind") == "cpu" else "time"


def _times(result: dict[str, Any], wide: int, kind: str) -> list[str]:
    """Return the time used as a table, or as sentences if ``wide`` columns are too few for the table."""
    lines = [f"{'player':<10}{kind if kind != 'time' else 'used':>11}{'answers':>9}{'mean':>11}{'longest':>11}"]
    try:
        for name, used in result["time"].items():
            seat = escape(name, 10)
            spent, count = used["used_seconds"], used["answers"]
            mean, longest = used["mean_seconds"] * 1e3, used["longest_seconds"] * 1e3
            if wide < len(lines[0]):
                text = f"{spent:.3f} s in {count:,} answers, mean {mean:.3f} ms, longest {longest:.3f} ms"
                lines += wrapped(f"{kind} {seat}", 10, text, wide)
            else:
                lines.append(f"{seat:<10}{spent:>9.3f} s{count:>9,}{mean:>8.3f} ms{longest:>8.3f} ms")
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        return ["time       the result has no readable times"]
    return lines if wide >= len(lines[0]) else lines[1:]


def _events(found: list[tuple[int, Notice]], most: int, wide: int) -> list[str]:
    """Return the events as lines. If there are more than ``most``, drop minor events, then events in the middle."""
    weighty = [entry for entry in found if not entry[1].is_minor]
    chosen = found if len(found) <= most else weighty
    half = (most + 1) // 2
    cut = len(chosen) - most
    listed = chosen if cut <= 0 else [*chosen[:half], *chosen[half + cut :]]
    lines = [f"{len(found):,} events" + (f", {len(listed)} shown (--events {len(found)} shows all):" if len(listed) < len(found) else ":")]
    for index, (turn, notice) in enumerate(listed):
        if cut > 0 and index == half:
            lines.append(f"   ...  {cut:,} more")
        start = f"{turn:>6}  "
        lines += textwrap.wrap(escape(notice.text, 400), max(wide, 28), initial_indent=start, subsequent_indent=" " * 8) or [start]
    return lines


@app.command(rich_help_panel=REPLAYS)
@command
def analyze(
    file: ReplayFile,
    every: Annotated[
        bool, typer.Option("--all", help="List every step that could have changed the verdict, not only those that changed it.")
    ] = False,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.0, max=1e6, help="The most processor time to spend; the output names what it leaves out.")
    ] = 60.0,
    as_json: JsonFlag = False,
) -> None:
    """List the turning points of a match, where its game has verdicts, and the steps that cost the losing side most, each with a better move.

    Exit status 1 if the replay doesn't verify. The steps before the first error are still analyzed.
    """
    from referee.replay.match_analysis import MatchAnalysis

    found = MatchAnalysis(file, seconds)
    if found.game.analysis is None and found.game.appraisal is None:
        raise UsageError(
            f"There is nothing to analyze in a match of {found.game.info.name}: its moves have no measure and its positions no verdict."
        )
    told = time.monotonic()

    def tell(position: int) -> None:
        nonlocal told
        if time.monotonic() - told > _TOLD_SECONDS:
            told = time.monotonic()
            say(f"judged up to step {position:,}")

    found.run(every=every, on_judged=tell)
    if as_json:
        put_json(analysis_json(file, found))
    else:
        for line in analysis_lines(file, found, every=every):
            put(line)
    if found.verified["status"] != "good":
        say(f"referee: {escape(str(file))}: {str(found.verified['text']).rstrip('.')}.")
        raise typer.Exit(1)
