"""The store of a plan, in both kinds of databases: what is refused, tables of a plan's own, and transactions."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest
from arenas import Postgres
from pydantic import BaseModel

from referee.errors import UsageError
from referee.handins.values import Entry
from referee.tournament.store import Store, file_name
from referee.tournament.transactions import StoreError
from referee.tournament.values import Record, Task

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """A PostgreSQL server."""
    running = Postgres()
    yield running
    running.close()


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store in each kind of database."""
    url = request.getfixturevalue("server").new() if request.param == "postgres" else None
    with Store.open("league", tmp_path, url, create=True) as opened:
        yield opened


class Version(BaseModel, frozen=True):
    """A row with columns of all kinds."""

    number: int
    team: str
    rating: float | None = None
    is_active: bool = False
    files: dict[str, str] = {}
    seats: tuple[str, ...] = ()


TASK = Task("k1", {"hunter": Entry("a", {}, "1"), "prey": Entry("b", {}, "2")}, {"size": [300, 300]}, 1 << 40, ("a",))
RECORD = Record(
    "k1", "hunter", "caught", scores={"hunter": 7.0}, steps=7, seconds={"hunter": 0.5}, wall_seconds=1.5, host="here", position="p"
)


def test_tasks_and_records_are_read_as_they_were_stored(store: Store) -> None:
    assert store.put([TASK]) == {}
    assert store.lookup([TASK]) == {}
    void = Record("k1", void="lost \0", cause="busy", hit=("a", "b"))
    store.add(void, counts=False)
    store.add(RECORD, counts=True)
    assert store.put([TASK]) == store.lookup([TASK]) == {"k1": RECORD}
    assert [*store.done()] == [(TASK, RECORD)]
    assert [*store.done(after=1)] == []
    assert store.others() == [void._replace(void=r"lost \x00")]
    assert store.counts() == (1, 1, 1)
    assert len(store.last_times(10)) == 1
    # It has no replay: nothing was played.
    store.forget_unplayed()
    assert store.lookup([TASK]) == {}
    assert store.others()[1] == RECORD


def test_a_table_has_the_rows_of_a_model(store: Store) -> None:
    versions = store.table(Version, "versions", [["team"]])
    first = Version(number=2, team="ada", rating=1.5, files={"a.py": "\ud800"}, seats=("hunter",))
    second, third = Version(number=1, team="bob\n", is_active=True), Version(number=3, team="ada")
    versions.put(first, second, third)
    versions.put()
    # A table is there only once.
    versions = store.table(Version, "versions", [["team"]])
    assert versions.all() == [second, first, third]
    assert versions.all(team="ada", rating=None) == [third]
    assert versions.all(is_active=True) == [second]
    assert [*versions.after(1, team="ada")] == [first, third]
    assert (versions.get(3), versions.get(4), versions.count(), versions.count(team="ada")) == (third, None, 3, 2)
    versions.put(third.model_copy(update={"rating": 2.0}))
    assert versions.all(rating=2.0) == [Version(number=3, team="ada", rating=2.0)]
    versions.remove(team="ada")
    assert versions.all() == [second]


class Rating(BaseModel, frozen=True):
    """A row whose key has two parts."""

    name: str
    duels: int
    elo: float = 0.0


def test_a_key_may_have_several_parts_and_numbers_follow_on_the_largest(store: Store) -> None:
    ratings = store.table(Rating, "ratings", keys=2)
    rows = [Rating(name="b", duels=1), Rating(name="a", duels=2), Rating(name="a", duels=1)]
    ratings.put(*rows)
    assert ratings.all() == rows[::-1]
    ratings.put(Rating(name="a", duels=2, elo=5.0))
    assert [row.elo for row in ratings.all()] == [0.0, 5.0, 0.0]
    versions = store.table(Version, "versions")
    assert versions.next_number() == 1
    versions.put(Version(number=7, team="ada"))
    assert versions.next_number() == 8


def test_what_was_played_to_an_end_is_read_by_keys_and_counted_from_where_the_last_count_ended(store: Store) -> None:
    played = RECORD._replace(replay="replays/k1")
    others = [TASK._replace(key=key) for key in ("k2", "k3")]
    store.put([TASK, *others])
    assert (store.played([]), store.played(["k1"]), store.tally()) == ([], [], (0, 0, 0))
    store.add(played, counts=True)
    store.add(Record("k2", void="lost"), counts=True)
    store.add(Record("k3", started=False), counts=True)
    [match] = store.played(["k1", "k2", "k3", "k4"])
    assert (match.task, match.record) == (TASK, played)
    assert store.last_times(3)[-1] == match.ended
    tally = store.tally()
    assert (tally, store.tally(tally)) == ((1, 1, 3), (1, 1, 3))
    store.add(played._replace(key="k5"), counts=True)
    assert store.tally(tally) == store.tally() == (2, 1, 4)


def test_a_step_is_stored_as_a_whole_or_not_at_all(store: Store) -> None:
    versions = store.table(Version, "versions")

    class _Killed(Exception):
        pass

    with pytest.raises(_Killed), store.step():
        store.put([TASK])
        store.add(RECORD, counts=True)
        versions.put(Version(number=1, team="ada"))
        assert versions.count() == 1
        raise _Killed
    assert (store.counts(), versions.all()) == ((0, 0, 0), [])
    with store.step():
        store.put([TASK])
        versions.put(Version(number=1, team="ada"))
    assert (store.counts().tasks, versions.count()) == (1, 1)


def test_an_error_of_a_plan_is_no_damage_of_its_store(store: Store) -> None:
    with pytest.raises(KeyError), store.step():
        raise KeyError("missing")


def test_other_folders_are_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is not the folder of an arena: it has no arena\.sqlite"):
        Store.open("arena", tmp_path)
    Store.open("league", tmp_path, create=True).close()
    Store.open("league", tmp_path).close()
    (tmp_path / file_name("league")).rename(tmp_path / file_name("grading"))
    with pytest.raises(UsageError, match="is the store of a league, not of a grading"):
        Store.open("grading", tmp_path)
    for name, table, expected in (
        ("earlier", "facts (name text)", "was written by an earlier version of the referee"),
        ("foreign", "friends (name text)", "is the database of something else"),
        ("newer", "about (name text, value text)", "was written by another version of the referee"),
    ):
        with sqlite3.connect(tmp_path / file_name(name)) as connection:
            connection.execute(f"create table {table}")
        with pytest.raises(UsageError, match=expected):
            Store.open(name, tmp_path)


def test_a_newer_store_and_a_file_that_is_none_are_one_sentence(tmp_path: Path) -> None:
    Store.open("league", tmp_path, create=True).close()
    with sqlite3.connect(tmp_path / file_name("league")) as connection:
        connection.execute("update about set value = '99' where name = 'version'")
    with pytest.raises(UsageError, match=r"by a newer version of the referee .*: update the referee"):
        Store.open("league", tmp_path)
    (tmp_path / file_name("arena")).write_bytes(b"not a database at all, but long enough to look like one" * 100)
    with pytest.raises(UsageError, match="can't be opened") as caught:
        Store.open("arena", tmp_path)
    assert "\n" not in str(caught.value)


def test_a_damaged_row_is_one_sentence(tmp_path: Path) -> None:
    with Store.open("league", tmp_path, create=True) as store:
        store.put([TASK])
        store.add(RECORD, counts=True)
        with sqlite3.connect(tmp_path / file_name("league")) as connection:
            connection.execute("update records set result = '{'")
        with pytest.raises(StoreError, match="is damaged"):
            store.lookup([TASK])


def test_a_store_is_claimed_by_one_process(tmp_path: Path) -> None:
    with Store.open("league", tmp_path, create=True) as store, Store.open("league", tmp_path) as other:
        with store.claim(), pytest.raises(UsageError, match="Another process"):
            other.claim()
        claim = other.claim()
        assert claim.is_held
        claim.release()
        assert not claim.is_held
