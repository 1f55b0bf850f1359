"""Verifies records by replays: each replay is simulated again, and compared with the record in the store."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import ReplayError
from referee.handins.hashes import PROGRAM
from referee.replay import reader
from referee.support.words import counted, the_seat
from referee.tournament.plan import NoStore
from referee.tournament.values import Record
from referee.tournament.worker import replay_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from referee.games.game import AnyGame, Json
    from referee.tournament.store import Store
    from referee.tournament.values import Task

    Progress = Callable[[int, int], None]

#: The fields in which the store and the replay must agree.
COMPARED = ("winner", "reason", "text", "scores", "steps", "faults", "fault_kinds", "seconds", "slowest", "position", "ranks", "started")


class ReplayCheck(NamedTuple):
    """The result of a check: the number of simulated replays, a sentence for each problem, and one for everything that no replay shows."""

    replays: int
    problems: list[str]
    notes: list[str]

    def to_json(self) -> dict[str, Json]:
        """The check as ``--json`` prints it."""
        return {"replays": self.replays, "problems": self.problems, "notes": self.notes, "ok": not self.problems}


def record_of(path: Path, folder: Path, task: Task, game: AnyGame) -> Record:
    """Return the record of a task only from its replay, which is simulated again. ReplayError says what is wrong with it.

    ``folder`` is where the paths of replays begin.
    """
    verified = reader.verify(path)
    if verified.problem is not None:
        raise ReplayError(verified.problem.text)
    head, result = verified.head, verified.result
    assert result is not None, "a replay without a problem is complete"
    if {seat: player.get("team") for seat, player in head["players"].items()} != task.names:
        raise ReplayError("it is the replay of other teams")
    for seat, entry in task.seats.items():
        files = entry.files.get(seat, {})
        hashes = (files[PROGRAM],) if PROGRAM in files else tuple(files.values())
        if hashes and head["players"][seat].get("sha256") not in (None, *hashes):
            raise ReplayError(f"{the_seat(seat, begins=False)}'s program in it is not that of {entry.name}")
    if head["settings"] != dict(task.settings) or head["seed"] != task.seed:
        raise ReplayError("it is the replay of a match with other settings or another seed")
    faults = {seat: fault for record in verified.faults for seat, fault in record["faults"].items()}
    position = game.codec.view_text(verified.final, None)
    used = result["time"]
    return Record(
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
        started=not any(record["turn"] == 0 and any(not used[seat]["answers"] for seat in record["faults"]) for record in verified.faults),
        answers={seat: clock["answers"] for seat, clock in used.items()},
        fault_steps={seat: record["turn"] for record in verified.faults for seat in record["faults"]},
    )


class ReplayStore(NoStore):
    """The records of a store as the replays show them, for ``settle``: the results of a plan then follow only from the replays.

    Only the store has records of matches that weren't played, such as those of programs that can't be started. ``folder`` is where the paths of
    replays begin, ``replays`` the folder in which they are.
    """

    def __init__(self, store: Store, folder: Path, replays: Path, game: AnyGame, progress: Progress | None = None) -> None:
        self._store = store
        self._folder = folder
        self._replays = replays
        self._game = game
        self._progress = progress
        self._total = store.counts().done
        self._is_running = store.database.is_claimed()
        #: The number of replays that were simulated.
        self.count = 0
        self.problems: list[str] = []
        #: How many replays show that an entry has started, and that it has not.
        self.started: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()

    def lookup(self, tasks: Sequence[Task]) -> Mapping[str, Record]:
        """Return the existing records, by key."""
        stored = self._store.lookup(tasks)
        records = {}
        for task in tasks:
            if task.key in stored:
                records[task.key] = self._record(task, stored[task.key])
            else:
                self._check_missing(task)
        return records

    put = lookup

    def _record(self, task: Task, stored: Record) -> Record:
        """Return the record of a task by its replay, or the stored one where there is no good replay. Notes each difference as a problem."""
        if not stored.replay:
            return stored
        self.count += 1
        path = self._folder / stored.replay
        where = _named(task, path)
        try:
            if not path.exists():
                raise ReplayError("the file is missing")
            record = record_of(path, self._folder, task, self._game)
        except (ReplayError, OSError) as error:
            self.problems.append(f"{where}: {str(error).rstrip('.')}.")
            return stored
        finally:
            if self._progress is not None:
                self._progress(self.count, self._total)
        if record.replay_hash != stored.replay_hash:
            self.problems.append(f"{where}: the file has changed since the match.")
        differing = [name.replace("_", " ") for name in COMPARED if getattr(record, name) != getattr(stored, name)]
        self.problems += [f"{where}: its {name} differs from the store's." for name in differing]
        for seat, name in task.names.items():
            is_failed = not record.started and seat in record.faults
            (self.failed if is_failed else self.started)[name] += 1
        return record

    def forfeits(self, reasons: Iterable[tuple[str, str]]) -> Iterator[str]:
        """Yield notes about entries that can't start where no replay shows it; ``reasons`` are the store's. One that has started is a problem."""
        for name, why in reasons:
            if self.failed[name]:
                continue
            statement = f"The store says that {name} can't start ({why.rstrip('.')})"
            if self.started[name]:
                count, shows = counted(self.started[name], "replay"), "show" if self.started[name] > 1 else "shows"
                self.problems.append(f"{statement}, so it loses all its duels, but {count} of it {shows} that it started.")
            else:
                yield f"{statement}; there is no replay of it, so only the store shows that."

    def _check_missing(self, task: Task) -> None:
        """Note a match that has a whole replay but no record. While it is played, its record comes after the replay."""
        path = replay_path(self._replays, task.key)
        if self._is_running or not path.exists() or reader.verify(path).problem is not None or self._store.lookup([task]):
            return
        self.problems.append(f"{_named(task, path)}: the store has no record of it, so it will be played again.")


def unplayed(planned: int, stopped: int, total: int) -> Iterator[str]:
    """Yield notes about matches that have no replay."""
    of_all = f"of {counted(total, 'match')}"
    if planned:
        yield f"{planned:,} {of_all} {'is' if planned == 1 else 'are'} not played yet."
    if stopped:
        yield f"{stopped:,} {of_all} {'is' if stopped == 1 else 'are'} not to be played; only the store says why."


def _named(task: Task, path: Path) -> str:
    return f"The match {task.key} ({' - '.join(task.names.values())}), replay {path}"
