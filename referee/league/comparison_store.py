"""Keeps the duels of a comparison in a league's store, so that the same command continues where it was stopped."""

from __future__ import annotations

import contextlib
import csv
from typing import TYPE_CHECKING

from referee.errors import UsageError
from referee.league.database import FILE
from referee.league.store import Store
from referee.replay.paths import make_folder
from referee.support.canonical import canonical
from referee.support.csv_text import marked, written
from referee.support.outputs import check_output, no_mark

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from referee.games.game import Json
    from referee.tournament.values import MatchTask, PlannedDuel, Record, Team

#: The list of a comparison's matches, beside their replays.
MATCHES_FILE = "matches.csv"
_FACT = "comparison"


def stored_seed(folder: Path) -> int | None:
    """Return the seed of the comparison that a folder holds; None if it holds none."""
    if not (folder / FILE).is_file():
        return None
    with Store.open(folder) as store:
        facts = store.fact(_FACT)
    return None if facts is None else int(facts["seed"])


@contextlib.contextmanager
def open_comparison(folder: Path, facts: Mapping[str, Json], teams: Sequence[Team]) -> Iterator[ComparisonStore]:
    """Open the duels that a folder keeps for this process alone; begin a comparison if the folder holds none.

    ``facts`` are all that decides the results, by names that people know; ``seed`` is one of them. UsageError if the folder holds a league,
    a comparison with other facts or other files of the teams, or if another process works on it.
    """
    make_folder(folder)
    with Store.open(folder, create=True) as store, store.claim():
        _check(store, folder, facts, teams)
        yield ComparisonStore(store, folder)


def _check(store: Store, folder: Path, facts: Mapping[str, Json], teams: Sequence[Team]) -> None:
    """Begin the comparison, or raise UsageError if the store holds something else."""
    stored_facts = store.fact(_FACT)
    if stored_facts is None:
        if store.teams():
            raise UsageError(f"{folder} holds a league, so no comparison can be kept there; name another folder with --out.")
        check_output(folder / MATCHES_FILE, no_mark, force=None)
        store.begin({_FACT: dict(facts)}, teams)
        return
    other = [name for name in facts if canonical(stored_facts.get(name)) != canonical(facts[name])]
    hashes = {team.name: team.hash for team in store.teams()}
    other += [f"the files of {team.name}" for team in teams if hashes.get(team.name, team.hash) != team.hash]
    if other:
        raise UsageError(
            f"{folder} holds another comparison, which differs in: {', '.join(other)}. Repeat its command to continue it, or name "
            "another folder with --out."
        )


class ComparisonStore:
    """The duels of a comparison in their store, and the list of its matches."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        self._file = folder / MATCHES_FILE
        self._planned = {duel.number for duel in store.duels()}
        #: The results of earlier runs, by the keys of their matches.
        self.records = {stored.task.key: stored.record for stored in store.matches(done=True) if stored.record is not None}
        # A run that was killed may have stored a match that it had not listed yet.
        listed = self._listed()
        for stored in store.matches(done=True):
            if stored.record is not None and stored.record.replay not in listed:
                self._list(stored.task, stored.record)

    def plan(self, duel: PlannedDuel, tasks: Sequence[MatchTask]) -> None:
        """Store a duel and its matches, before they are played."""
        if duel.number not in self._planned:
            self._store.put([duel], tasks)

    def keep(self, task: MatchTask, record: Record) -> None:
        """Store and list the result of a match."""
        if self._store.finish(record):
            self._list(task, record)

    def _listed(self) -> set[str]:
        try:
            with self._file.open(newline="", encoding="utf-8-sig") as file:
                return {row.get("replay") or "" for row in csv.DictReader(file)}
        except FileNotFoundError:
            return set()

    def _list(self, task: MatchTask, record: Record) -> None:
        is_new = not self._file.exists()
        rows: list[list[object]] = [["duel", *task.seats, "winner", "reason", "steps", "seed", "replay"]] if is_new else []
        winner = task.seats.get(record.winner, "") if record.winner else ""
        rows.append([task.duel + 1, *task.seats.values(), winner, record.reason, record.steps, task.seed, record.replay])
        text = written(rows, "\r\n")
        with self._file.open("a", newline="", encoding="utf-8") as file:
            # The players of all matches are the same ones.
            file.write(marked(text) if is_new else text)
