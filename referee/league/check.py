"""Checks a league against its replays, and restores results from them."""

from __future__ import annotations

import hashlib
import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import ReplayError
from referee.league.standings import table
from referee.league.values import MatchRecord
from referee.league.worker import replay_path
from referee.replay import reader
from referee.wire.escape import escape

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from referee.games.game import Game
    from referee.league.league import OpenLeague
    from referee.league.store import StoredMatch
    from referee.league.values import DuelResult, MatchTask

    Progress = Callable[[int, int], None]


class Checked(NamedTuple):
    """What a check has found: the number of replays that were simulated again, and a sentence for each problem."""

    replays: int
    problems: list[str]

    def to_json(self) -> dict[str, Any]:
        """The check as ``--json`` prints it."""
        return {"replays": self.replays, "problems": self.problems, "ok": not self.problems}


def record_of(path: Path, task: MatchTask, folder: Path, game: Game[Any, Any]) -> MatchRecord:
    """The result of a match from its replay alone, which is simulated again. ReplayError says what is wrong with it."""
    found = reader.verify(path)
    if found.problem is not None:
        raise ReplayError(found.problem.text)
    head, result = found.head, found.result
    assert result is not None, "a replay without a problem is complete"
    seats = {seat: player.get("team") for seat, player in head["players"].items()}
    if seats != dict(task.seats):
        raise ReplayError("it is the replay of other teams")
    if head["settings"] != dict(task.settings) or head["seed"] != task.seed:
        raise ReplayError("it is the replay of a match with other settings or another seed")
    faults = {seat: fault for record in found.faults for seat, fault in record["faults"].items()}
    position = game.codec.view_text(found.final, None)
    used = result["time"]
    return MatchRecord(
        key=task.key,
        winner=result["winner"],
        reason=result["reason"],
        text=result["text"],
        scores=result["scores"],
        steps=result["steps"],
        faults={seat: fault["text"] for seat, fault in faults.items()},
        fault_kinds={seat: fault["kind"] for seat, fault in faults.items()},
        seconds={seat: clock["used_seconds"] for seat, clock in used.items()},
        slowest={seat: clock["longest_seconds"] for seat, clock in used.items()},
        replay=str(path.relative_to(folder)),
        replay_hash=hashlib.sha256(path.read_bytes()).hexdigest(),
        wall_seconds=sum(clock["wall_seconds"] for clock in used.values()),
        position=hashlib.sha256(position.encode()).hexdigest()[:16],
        ranks=result.get("ranks"),
        # A player that fails before it is ready gets no question.
        started=not any(record["turn"] == 0 and any(not used[seat]["answers"] for seat in record["faults"]) for record in found.faults),
        answers={seat: clock["answers"] for seat, clock in used.items()},
        fault_steps={seat: record["turn"] for record in found.faults for seat in record["faults"]},
    )


#: What the store and the replay must agree on.
_COMPARED = ("winner", "reason", "scores", "steps", "fault_kinds", "position", "ranks")


def verify_league(opened: OpenLeague, progress: Progress | None = None) -> Checked:
    """Simulate every replay again and compare it with the store; compute the standings from the replays alone and compare them."""
    store, plan = opened.store, opened.schedule
    problems: list[str] = []
    results: list[DuelResult] = []
    total = store.counts().done
    duels = {duel.number: duel for duel in store.duels()}
    forfeits, stopped = store.forfeits(), set(store.duel_notes())
    count = 0
    for number, group in itertools.groupby(store.matches(), key=lambda stored: stored.task.duel):
        duel = duels[number]
        matches: list[tuple[MatchTask, MatchRecord | None]] = []
        for stored in group:
            record = None
            if stored.record is not None:
                record = _check(opened, stored, problems)
                count += 1
                if progress is not None:
                    progress(count, total)
            matches.append((stored.task, record))
        result = plan.result(duel, matches, forfeits, is_stopped=number in stopped)
        if result is not None:
            results.append(result)
    counted = opened.state().results
    numbers = {result.duel.number for result in counted}
    more = plan.game.pairing is None
    ours = table(counted, plan.plan.everybody, more_is_better=more)
    theirs = table([result for result in results if result.duel.number in numbers], plan.plan.everybody, more_is_better=more)
    if ours != theirs and not problems:
        problems.append("The standings from the replays alone differ from those of the store.")
    return Checked(count, problems)


def _check(opened: OpenLeague, stored: StoredMatch, problems: list[str]) -> MatchRecord | None:
    """The record of a match's replay; what is wrong is added to the problems."""
    task, kept = stored.task, stored.record
    assert kept is not None
    path = opened.folder / kept.replay
    where = f"The match {task.key} ({' - '.join(escape(team, 60) for team in task.seats.values())}), replay {escape(str(path), 200)}"
    if not path.exists():
        problems.append(f"{where}: the file is missing.")
        return None
    try:
        record = record_of(path, task, opened.folder, opened.schedule.game)
    except (ReplayError, OSError) as error:
        problems.append(f"{where}: {str(error).rstrip('.')}.")
        return None
    if record.replay_hash != kept.replay_hash:
        problems.append(f"{where}: the file has changed since the match.")
    differing = [name.replace("_", " ") for name in _COMPARED if getattr(record, name) != getattr(kept, name)]
    problems += [f"{where}: its {name} differs from the store's." for name in differing]
    return record._replace(started=kept.started)


def rebuild_league(opened: OpenLeague) -> int:
    """Store the results of complete replays that the store has no result of; return how many there were."""
    restored = 0
    for task in opened.store.pending():
        path = replay_path(opened.replays, task.key)
        if path.exists():
            try:
                record = record_of(path, task, opened.folder, opened.schedule.game)
            except (ReplayError, OSError):
                continue
            restored += opened.store.finish(record)
    return restored
