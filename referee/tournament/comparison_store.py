"""Keeps the duels of a comparison in a folder, so that the same command continues where it was stopped."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from referee.errors import UsageError
from referee.replay.paths import make_folder
from referee.support.canonical import canonical
from referee.support.csv_text import as_csv, with_mark
from referee.support.files import write_whole
from referee.support.outputs import check_output, no_mark
from referee.tournament.store import Store, file_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from referee.games.game import Json
    from referee.handins.values import Entry
    from referee.tournament.rows import ModelTable

#: The list of a comparison's matches, beside their replays.
MATCHES_FILE = "matches.csv"
KIND = "comparison"


class Terms(BaseModel, frozen=True):
    """The terms of a comparison. ``facts`` are all facts that decide the results, by readable names; ``hashes`` are those of the bots' files."""

    number: int = 0
    facts: dict[str, Any]
    hashes: dict[str, str]


def _terms(store: Store) -> ModelTable[Terms]:
    return store.table(Terms, "comparison")


def stored_seed(folder: Path) -> int | None:
    """Return the seed of the comparison that a folder holds; None if it holds none."""
    if not (folder / file_name(KIND)).is_file():
        return None
    with Store.open(KIND, folder) as store:
        terms = _terms(store).get(0)
    return None if terms is None else int(terms.facts["seed"])


@contextlib.contextmanager
def open_comparison(folder: Path, facts: Mapping[str, Json], teams: Sequence[Entry], number_of: Callable[[int], int]) -> Iterator[Store]:
    """Open the duels in a folder exclusively for this process; begin a comparison if the folder has none. At the end, list its matches.

    ``facts`` are as in ``Terms``; ``seed`` is one of them. ``number_of`` returns the number of the duel with a seed, from 0. UsageError if the
    folder has a league, a comparison with other facts or other files of the teams, or if another process works on it.
    """
    make_folder(folder)
    for other in folder.glob("*.sqlite"):
        if other.name != file_name(KIND):
            raise UsageError(f"{folder} holds a {other.stem}, so no comparison can be kept there; name another folder with --out.")
    with Store.open(KIND, folder, create=True) as store, store.claim():
        _check(store, folder, Terms(facts=dict(facts), hashes={team.name: team.hash for team in teams}))
        # Abandoned matches are tried again.
        store.forget_unplayed()
        try:
            yield store
        finally:
            _write_matches(store, folder, number_of)


def _check(store: Store, folder: Path, terms: Terms) -> None:
    """Begin the comparison, or raise UsageError if the store holds another one."""
    stored = _terms(store).get(0)
    if stored is None:
        check_output(folder / MATCHES_FILE, no_mark, force=None)
        _terms(store).put(terms)
        return
    other = [name for name in terms.facts if canonical(stored.facts.get(name)) != canonical(terms.facts[name])]
    other += [f"the files of {name}" for name, files in terms.hashes.items() if stored.hashes.get(name, files) != files]
    if other:
        raise UsageError(
            f"{folder} holds another comparison, which differs in: {', '.join(other)}. Repeat its command to continue it, or name "
            "another folder with --out."
        )


def _write_matches(store: Store, folder: Path, number_of: Callable[[int], int]) -> None:
    """Write the list of all matches that have a replay, in the order in which they ended. ``number_of`` returns a duel's number by its seed."""
    rows: list[list[object]] = []
    for task, record in store.done():
        if record.replay:
            # The players of all matches are the same ones.
            rows = rows or [["duel", *task.seats, "winner", "reason", "steps", "seed", "replay"]]
            winner = task.names.get(record.winner, "") if record.winner else ""
            rows.append([number_of(task.seed) + 1, *task.names.values(), winner, record.reason, record.steps, task.seed, record.replay])
    if rows:
        write_whole(folder / MATCHES_FILE, with_mark(as_csv(rows, "\r\n")).encode())
