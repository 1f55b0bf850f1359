"""The store in both kinds of databases, and leagues in PostgreSQL on a real server."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from databases import PASSWORD, Postgres
from leagues import Notes, PretendPool, play, record, write_league

from referee.errors import UsageError
from referee.league import config
from referee.league.folder import LeagueStore
from referee.league.league import begin, open_league
from referee.league.playing import LeaguePlay
from referee.league.store import Store
from referee.tournament import address
from referee.tournament.transactions import StoreError
from referee.tournament.values import MatchTask, PlannedDuel, Team

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Referee = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """One server for all tests of this file."""
    found = Postgres()
    yield found
    found.close()


@pytest.fixture
def database(server: Postgres) -> str:
    """The address of an empty database."""
    return server.new()


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store in each kind of database."""
    url = request.getfixturevalue("database") if request.param == "postgres" else None
    with Store.open(tmp_path, url, create=True) as opened:
        yield opened


def team(name: str, home: str = "/home") -> Team:
    """A team of one file."""
    return Team(name, {"": f"{name}.py"}, f"hash of {name}", home, {"": {f"{name}.py": "00"}})


def a_task(number: int, game: int = 0, key: str = "") -> MatchTask:
    """A match of a duel."""
    return MatchTask(
        key or f"{number}-{game}", number, game, {"hunter": "a", "prey": "b"}, {"width": 30, "hunter": [0, 1]}, 2**63 - 1 - number
    )


DUELS = [PlannedDuel(number, 0, ("a", "b"), number) for number in range(3)]
TASKS = [a_task(number, game) for number in range(3) for game in range(2)]


def test_facts_are_kept_and_replaced(store: Store) -> None:
    assert store.fact("what") is None
    values: list[Any] = [{"a": [1, None, "x"]}, "NUL \0 and \ud800 alone", [], False]
    for value in values:
        store.set_fact("what", value)
        assert store.fact("what") == value


def test_teams_come_back_in_order_whatever_their_names(store: Store) -> None:
    names = ["z", "Ärger 'quoted'; drop table teams", "日本", "a"]
    # A folder whose name is no UTF-8.
    store.begin({"league": 1}, [team(name, "/home/\udcff") for name in names])
    assert store.teams() == [team(name, "/home/\udcff") for name in names]
    store.add_teams([team("late")], {"added": ["late"]})
    assert [found.name for found in store.teams()] == [*names, "late"]
    assert store.fact("added") == ["late"]
    store.forfeit("late", "It can't start.")
    assert store.forfeits() == {"late": "It can't start."}
    new = team("late")._replace(hash="new", files={"": {"late.py": "11"}})
    store.set_files(new)
    assert store.forfeits() == {}
    assert store.teams()[-1] == new
    with pytest.raises(StoreError, match="can't be written"):
        store.add_teams([team("fresh"), team("late")], {"added": ["late", "fresh"]})
    assert (len(store.teams()), store.fact("added")) == (5, ["late"])


def test_a_match_is_planned_once_and_done_once(store: Store) -> None:
    store.put(DUELS[:2], TASKS[:4])
    store.put(DUELS, TASKS)
    assert store.duels() == DUELS
    assert store.pending() == TASKS
    first = record(TASKS[0], 5)
    assert store.finish(first)
    assert not store.finish(first)
    # The same result that took another time on another machine.
    assert not store.finish(first._replace(wall_seconds=9.0, host="there", seconds={"hunter": 3.0}, replay="elsewhere"))
    assert store.disagreements() == []
    assert not store.finish(record(TASKS[0], 6, host="there"))
    ((key, other),) = store.disagreements()
    assert (key, other.steps, other.host) == (TASKS[0].key, 6, "there")
    assert store.pending() == TASKS[1:]
    (kept,) = store.matches(done=True)
    assert (kept.task, kept.status, kept.record) == (TASKS[0], "done", first)
    assert [stored.task for stored in store.matches()] == TASKS
    assert store.counts()._asdict() == {"planned": 5, "done": 1, "stopped": 0, "voids": 0}
    assert len(store.last_times(5)) == 1
    assert not store.finish(record(a_task(9)))


def test_duels_are_stopped_and_planned_anew(store: Store) -> None:
    store.put(DUELS, TASKS)
    store.finish(record(TASKS[0]))
    store.stop([0, 1], "Enough.")
    assert store.duel_notes() == {0: "Enough.", 1: "Enough."}
    assert store.counts()[:3] == (2, 1, 3)
    new = [a_task(0, game, f"new{game}") for game in range(2)]
    store.replan([TASKS[0].key, TASKS[1].key], [0], new)
    assert store.duel_notes() == {1: "Enough."}
    assert store.pending() == [*new, *TASKS[4:]]
    # A result that comes after its duel was stopped still counts.
    assert store.finish(record(TASKS[2]))


def test_voids_are_counted_by_match(store: Store) -> None:
    store.put(DUELS, TASKS)
    for key, why in (("0-0", "First."), ("0-0", "Second."), ("1-0", "Third.")):
        store.void(key, why, "here")
    assert store.voids() == [("0-0", "First."), ("0-0", "Second."), ("1-0", "Third.")]
    assert store.counts().voids == 3


ODD = "NUL \0, \ud800 alone, \n, \x1b[31m"


def test_text_that_no_database_takes_is_kept_escaped(store: Store) -> None:
    store.begin({}, [team("a")])
    store.put(DUELS, TASKS)
    store.forfeit("a", ODD)
    store.stop([0], ODD)
    store.void("1-0", ODD, ODD)
    store.finish(record(TASKS[2], faults={"prey": ODD}, text=ODD, host=ODD))
    for told in (store.forfeits()["a"], store.duel_notes()[0], store.voids()[0][1]):
        assert told.isprintable()
        assert told.startswith("NUL \\x00, \\ud800 alone")
    (kept,) = store.matches(done=True)
    assert kept.record is not None
    assert kept.record.faults == {"prey": ODD}


def test_many_matches_are_read_a_part_at_a_time_while_others_are_written(store: Store) -> None:
    duels = [PlannedDuel(number, 0, ("a", "b"), number) for number in range(1500)]
    store.put(duels, [a_task(number) for number in range(1500)])
    for number, stored in enumerate(store.matches()):
        assert stored.task.duel == number
        if number % 500 == 0:
            store.finish(record(stored.task))
    assert store.counts().done == 3


@pytest.mark.slow
def test_a_league_is_played_and_resumed_by_the_address_in_its_folder(referee: Referee, tmp_path: Path, database: str) -> None:
    file, out = write_league(tmp_path / "in", 3), tmp_path / "out"
    done = referee("league", "run", file, "--out", out, "--database", database, "--slots", "2", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert PASSWORD not in done.stdout + done.stderr
    assert found["matches"] == {"planned": 0, "done": 6, "stopped": 0, "voids": 0, "total": 6}
    assert sorted(path.name for path in out.iterdir()) == ["database.url", "private", "replays"]
    assert (out / "database.url").stat().st_mode & 0o777 == 0o600
    resumed = referee("league", "resume", out, "--json")
    assert json.loads(resumed.stdout)["standings"] == found["standings"]
    assert referee("league", "verify", out).stdout == "6 replays checked, 0 problems.\n"
    plain = referee("league", "run", file, "--out", tmp_path / "plain", "--json")
    assert json.loads(plain.stdout)["standings"] == found["standings"]
    # Nobody else's league takes its place, in the folder or in the database.
    league = config.load(file)
    for folder, url in ((out, None), (out, f"{database}2"), (tmp_path / "other", database), (tmp_path / "plain", database)):
        with pytest.raises(UsageError, match=r"already[.] Go on with it: referee league resume") as caught:
            begin(league, folder, url)
        assert PASSWORD not in str(caught.value)


def test_a_league_that_was_killed_before_its_first_line_is_begun_again(tmp_path: Path, database: str) -> None:
    file, out = write_league(tmp_path / "in", 3), tmp_path / "out"
    out.mkdir()
    for url in (None, database):
        LeagueStore.open(out, url, create=True).close()
        if url is not None:
            (out / "league.sqlite").unlink()
            address.write(out, address.Address(url, "of the run that was killed"))
        with pytest.raises(UsageError, match="was never begun"):
            open_league(out)
        begin(config.load(file), out, url).close()
        open_league(out).close()


def test_another_leagues_database_is_refused(tmp_path: Path, server: Postgres) -> None:
    ours, theirs = server.new(), server.new()
    begin(config.load(write_league(tmp_path / "in")), tmp_path / "ours", ours).close()
    begin(config.load(write_league(tmp_path / "in")), tmp_path / "theirs", theirs).close()
    told = address.read(tmp_path / "ours")
    assert told is not None
    address.write(tmp_path / "ours", told._replace(url=theirs))
    with pytest.raises(UsageError, match="holds another league"):
        open_league(tmp_path / "ours")


def test_what_is_no_database_of_a_league_is_one_sentence(referee: Referee, tmp_path: Path, server: Postgres) -> None:
    import psycopg

    file = write_league(tmp_path / "in", 2)
    other = server.new()
    with psycopg.connect(other) as connection:
        connection.execute("create table cats (name text)")
    gone = f"postgresql://user:secret@/x?host={tmp_path}"
    told = {
        other: "is the database of something else",
        server.url("nowhere"): 'database "nowhere" does not exist',
        server.url(password="secret"): "password authentication failed",
        gone: "No such file or directory",
        "postgresql://user:secret@127.0.0.1:1/x": "Connection refused",
        "postgresql://user:secret@127.0.0.1:port/x": "is not an address of a PostgreSQL database",
        "mysql://user:secret@host/x": "must be the address of a PostgreSQL database",
        "postgresql://127.0.0.1:1/x?password=secret&nonsense=1": 'invalid connection option "nonsense"',
        "postgresql://user:secret@[::1/x": "is not an address of a PostgreSQL database",
    }
    found = config.load(file)
    for url, sentence in told.items():
        with pytest.raises(UsageError) as caught:
            begin(found, tmp_path / "refused", url)
        assert sentence in str(caught.value), url
        assert "secret" not in str(caught.value)
        assert "\n" not in str(caught.value)
        assert not (tmp_path / "refused").exists()
    done = referee("league", "run", file, "--out", "refused", "--database", gone)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)


def test_without_psycopg_the_extra_is_named(referee: Referee, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError, match="-m pip install 'psycopg"):
        Store.open(tmp_path, "postgresql://host/x", create=True)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ann:secret@host:5432/x", "postgresql://ann:***@host:5432/x"),
        ("postgresql://ann:sec:r@et@host/x", "postgresql://ann:***@host/x"),
        ("postgresql://ann@host/x?sslmode=require&password=secret&a=b", "postgresql://ann@host/x?sslmode=require&password=***&a=b"),
        ("postgresql://ann@host/x", "postgresql://ann@host/x"),
        ("postgresql://host:5432/x", "postgresql://host:5432/x"),
    ],
)
def test_passwords_are_never_told(url: str, shown: str) -> None:
    assert address.without_password(url) == shown


HOLDER = """
import sys
from pathlib import Path
from referee.league.league import open_league
opened = open_league(Path(sys.argv[1]))
with opened.store.claim():
    print("claimed", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_one_process_plays_a_league_and_its_claim_ends_with_it(kind: str, tmp_path: Path, database: str) -> None:
    out = tmp_path / "out"
    opened = begin(config.load(write_league(tmp_path / "in")), out, database if kind == "postgres" else None)
    assert not opened.store.is_claimed()
    command = [sys.executable, "-c", HOLDER, str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "claimed\n"
        assert opened.store.is_claimed()
        with pytest.raises(UsageError, match="Another process plays the league") as caught:
            opened.store.claim()
        assert PASSWORD not in str(caught.value)
        holder.kill()
        holder.wait()
        if kind == "postgres":
            # The server notices the end of a connection a moment later.
            import psycopg

            with psycopg.connect(database, autocommit=True) as connection:
                ours = "select pg_terminate_backend(pid, 60000) from pg_locks where locktype = 'advisory'"
                connection.execute(ours)
    # To look whether it is claimed claims nothing.
    assert not opened.store.is_claimed()
    with opened.store.claim():
        other = open_league(out)
        with pytest.raises(UsageError):
            other.store.claim()
        # While it is claimed no transaction stays open, which would keep the server from cleaning up.
        if kind == "postgres":
            import psycopg

            with psycopg.connect(database) as connection:
                states = connection.execute("select state from pg_stat_activity where datname = current_database()").fetchall()
            assert ("idle in transaction",) not in states
        other.close()
    assert not opened.store.is_claimed()
    opened.close()


def test_a_server_that_goes_away_stops_the_league_and_it_resumes(tmp_path: Path, server: Postgres, database: str) -> None:
    opened = begin(config.load(write_league(tmp_path / "in")), tmp_path / "out", database)
    count = [0]

    def stops(task: Any) -> Any:
        count[0] += 1
        if count[0] == 5:
            server.stop()
        return play(task)

    with pytest.raises(StoreError, match=r"The store .*\*\*\*.* can't be written") as caught:
        LeaguePlay(opened, PretendPool(stops)).run(Notes())
    assert "\n" not in str(caught.value)
    opened.close()
    server.start()
    opened = open_league(tmp_path / "out")
    pool = PretendPool(play)
    LeaguePlay(opened, pool).run(Notes())
    assert len(pool.played) == 12 - 4
    opened.close()
