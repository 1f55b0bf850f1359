"""The result of a match as lines for people: how it ended, how it was played, and what to do next."""

from __future__ import annotations

from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING

from referee.match.options import CPU
from referee.support.escape import escape
from referee.support.packages import watch_command
from referee.support.words import counted, fitted, of_unit, program

if TYPE_CHECKING:
    from referee.replay.events import MatchResult
    from referee.replay.faults import Fault

#: How many of the last lines of a bot's stderr are shown after a crash.
_STDERR_LINES = 12


def more_lines(result: MatchResult, wide: int) -> list[str]:
    """Return all about a match but its sentence, as lines for people of at most ``wide`` columns; 0: whole lines.

    How it ended, with its faults, how it was played, and what to do next.
    """
    winner = result.outcome.winner
    # Messages of bots, paths and commands stay whole, for copying. A person who gave up has not failed.
    faults = [line for fault in result.failures.values() for line in _fault(fault)]
    lines = [f"  winner   {f'{winner} {result.names[winner]}' if winner else 'nobody'} ({result.outcome.reason})"]
    scores = ", ".join(
        f"{seat} {'none' if score is None else of_unit(score, result.outcome.unit)}" for seat, score in result.outcome.scores.items()
    )
    lines.append(f"  score    {scores}")
    if result.outcome.ranks is not None:
        ranks = result.outcome.ranks
        shared = {rank: "=" for rank, count in Counter(ranks.values()).items() if count > 1}
        places = [f"{rank}{shared.get(rank, '')} {seat}" for seat, rank in sorted(ranks.items(), key=itemgetter(1))]
        lines.append("  ranks    " + ", ".join(places))
    lines.append(f"  sandbox  {result.head['isolation']}")
    for seat, time in result.times.items():
        clock = result.head["players"][seat].get("clock") or result.head["clock"]
        what = " of processor time" if clock["kind"] == CPU else ""
        lines.append(
            f"  time     {seat} {time.used:.3f} s{what} in {counted(time.answers, 'answer')}, {time.mean * 1e3:.3f} ms each, "
            f"longest {time.longest * 1e3:.1f} ms"
        )
    lines = [*faults, *(part for line in lines for part in fitted(line, 11, wide))]
    lines += [f"  log      {seat} {path}" for seat, path in result.logs.items()]
    lines.append(f"  seed     {result.head['seed']}")
    lines.append(f"  replay   {result.replay}")
    lines += [
        f"Next:  {program()} explain {code}"
        for code in dict.fromkeys(fault.topic for fault in result.failures.values() if fault.cause != "left")
    ]
    return [*lines, f"Next:  {watch_command(result.replay)}"]


def _fault(fault: Fault) -> list[str]:
    """Return the lines for a fault. A crash has the last lines of the bot's stderr, unless its sentence says all."""
    lines = [f"  {'left ' if fault.cause == 'left' else 'fault'}    {fault.text}"]
    crash = fault.values.get("crash")
    said = (fault.detail or {}).get("stderr", ()) if crash is not None and not crash["error"] else ()
    return lines + [f"  stderr   {escape(line, 200)}" for line in said[-_STDERR_LINES:]] * (len(said) > 1)
