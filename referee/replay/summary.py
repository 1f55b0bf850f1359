"""The summary of a whole replay: result, settings, faults, events, times and the final board, as JSON data and as lines of text."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from referee.replay.events import StepTaken
from referee.replay.names import player_name
from referee.replay.reader import ReplayReader
from referee.support.words import counted, cut, program, size_text, wrapped

if TYPE_CHECKING:
    from pathlib import Path

    from referee.games.capabilities import Analysis
    from referee.games.game import Game, Json, Notice, Outcome
    from referee.replay.reader import VerifiedReplay


class ReplaySummary:
    """A replay that was played again, with its notices and, where its game has them, its first and its last verdict."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._notices: list[tuple[int, Notice]] = []
        self._ends: list[tuple[int, object]] = []
        reader = ReplayReader(file)
        for event in reader.events():
            if isinstance(event, StepTaken):
                self._take(event)
        self.replay = reader.verified()
        self._game = reader.game
        self._certain = [] if self._game.analysis is None else _verdicts(self._game.analysis, self._ends)

    def _take(self, step: StepTaken) -> None:
        self._notices.extend((step.turn, notice) for notice in step.notices)
        # Keep the positions before the first and the last step.
        del self._ends[1:]
        self._ends.append((step.turn, step.before))

    def to_json(self) -> dict[str, Json]:
        """The summary as ``--json`` prints it."""
        replay = self.replay
        return {
            "file": str(self._file),
            "head": {key: value for key, value in replay.head.items() if key != "secret"},
            "result": replay.result,
            "faults": replay.faults,
            "steps": replay.turns,
            "events": [{"turn": turn, **notice.to_json()} for turn, notice in self._notices],
            "problem": replay.problem and replay.problem.to_json(),
            "certain": self._certain,
        }

    def lines(self, events: int, wide: int) -> list[str]:
        """Return the summary for people, with at most so many ``events``, in lines of ``wide`` columns."""
        game, replay = self._game, self.replay
        lines = _facts(game, replay, self._certain, wide)
        lines += ["", *_times(replay.result, wide, _clock_kind(replay.head))] if replay.result else []
        lines += ["", *_events(self._notices, events, wide)] if self._notices and events else []
        return lines + (["", *game.text.board_lines(replay.final, min(wide - 2, 100), 24)] if game.text is not None else [])


def _verdicts(analysis: Analysis, ends: list[tuple[int, object]]) -> list[dict[str, Json]]:
    verdicts = [(turn, dict(analysis.verdict(before))) for turn, before in ends]
    return [{"step": turn, **verdict, "text": analysis.verdict_text(verdict)} for turn, verdict in verdicts if verdict]


def _verdict_text(certain: list[dict[str, Json]]) -> str:
    """Return the verdicts of ``_verdicts`` as a sentence. It names no step: the verdict may have changed long before the last one."""
    first, *last = [point["text"] for point in certain]
    later = "".join(f"; before the last step {text}" for text in last)
    return f"at the start {first}{later}" + (f" ({program()} analyze finds the step that changed it)" if last and last != [first] else "")


def _facts(game: Game, replay: VerifiedReplay, certain: list[dict[str, Json]], wide: int) -> list[str]:
    """Return the report's upper part, wrapped at ``wide`` columns. The replay is an untrusted file."""
    head, result = replay.head, replay.result or {}
    facts = [("result", cut(replay.sentence() or "none: the replay is cut short", 400))]
    if result:
        facts.append(("score", _scores(result, game.outcome(replay.final))))
    facts.append(("steps", f"{replay.turns:,}"))
    if certain:
        facts.append(("verdict", _verdict_text(certain)))
    for seat, player in head["players"].items():
        facts.append((cut(seat, 20), f"{cut(player_name(player, seat), 80)} ({cut(str(player.get('program')), 200)})"))
    facts.append(("settings", _pairs(head["settings"], 40)))
    if isinstance(clock := head.get("clock", {}), dict):
        facts.append(("clock", _pairs(clock, 20)))
    if isinstance(source := head.get("from"), dict):
        facts.append(("from", f"turn {cut(str(source.get('turn')), 20)} of {cut(str(source.get('file')), 200)}"))
    seed, isolation = cut(str(head.get("seed")), 40), cut(str(head.get("isolation")), 40)
    facts.append(("seed", f"{seed}, isolation {isolation}, referee {cut(str(head.get('referee')), 20)}"))
    if isinstance(limits := head.get("limits"), dict):
        facts.append(("limits", f"{_pairs(limits, 20)}; processor time {cut(str(head.get('accounting')), 20)}"))
    for record in replay.faults:
        for seat, fault in record["faults"].items():
            facts.append((f"fault {cut(seat, 12)}", f"turn {record['turn']}: {cut(str(fault.get('text')), 500)}"))
    match = f"{head['game']}, rules {cut(str(head['rules']), 40)}, {cut(str(head.get('match')), 40)}"
    return [*wrapped("match", 10, match, wide), "", *(line for name, text in facts for line in wrapped(name, 10, text, wide))]


def _pairs(values: dict[str, Json], most: int) -> str:
    # A file is untrusted: its numbers of bytes may be anything.
    sizes = {
        key: size_text(value) for key, value in values.items() if key.endswith("_bytes") and type(value) is int and 0 <= value < 1 << 60
    }
    return ", ".join(f"{cut(str(key).removesuffix('_bytes'), 30)} {cut(str(value), most)}" for key, value in {**values, **sizes}.items())


def _scores(result: dict[str, Json], outcome: Outcome | None) -> str:
    scores = result.get("scores")
    if not isinstance(scores, dict):
        return "none"
    unit = "" if outcome is None else f" {outcome.unit}"
    return ", ".join(f"{cut(seat, 20)} {'none' if score is None else cut(str(score), 20) + unit}" for seat, score in scores.items())


def _clock_kind(head: dict[str, Json]) -> str:
    """Return the name of the time that a match bills: "CPU time" or "time"."""
    clock = head.get("clock")
    return "CPU time" if isinstance(clock, dict) and clock.get("kind") == "cpu" else "time"


def _times(result: dict[str, Json], wide: int, kind: str) -> list[str]:
    """Return the time used as a table, or as sentences if ``wide`` columns are too few for the table."""
    lines = [f"{'player':<10}{kind if kind != 'time' else 'used':>11}{'answers':>9}{'mean':>11}{'longest':>11}"]
    try:
        for name, used in result["time"].items():
            seat = cut(name, 10)
            spent, count = used["used_seconds"], used["answers"]
            mean, longest = used["mean_seconds"] * 1e3, used["longest_seconds"] * 1e3
            if wide < len(lines[0]):
                text = f"{spent:.3f} s in {counted(count, 'answer')}, mean {mean:.3f} ms, longest {longest:.3f} ms"
                lines += wrapped(f"{kind} {seat}", 10, text, wide)
            else:
                lines.append(f"{seat:<10}{spent:>9.3f} s{count:>9,}{mean:>8.3f} ms{longest:>8.3f} ms")
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        return ["time       the result has no readable times"]
    return lines if wide >= len(lines[0]) else lines[1:]


def _events(events: list[tuple[int, Notice]], most: int, wide: int) -> list[str]:
    """Return the events as lines. If there are more than ``most``, drop minor events, then events in the middle."""
    weighty = [entry for entry in events if not entry[1].is_minor]
    chosen = events if len(events) <= most else weighty
    half = (most + 1) // 2
    left_out = len(chosen) - most
    listed = chosen if left_out <= 0 else [*chosen[:half], *chosen[half + left_out :]]
    lines = [
        counted(len(events), "event") + (f", {len(listed)} shown (--events {len(events)} shows all):" if len(listed) < len(events) else ":")
    ]
    for index, (turn, notice) in enumerate(listed):
        if left_out > 0 and index == half:
            lines.append(f"   ...  {left_out:,} more")
        start = f"{turn:>6}  "
        lines += textwrap.wrap(cut(notice.text, 400), max(wide, 28), initial_indent=start, subsequent_indent=" " * 8) or [start]
    return lines
