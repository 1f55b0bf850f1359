"""The store in both kinds of databases, and leagues in PostgreSQL on a real server."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from arenas import PASSWORD, Postgres
from leagues import Notes, PretendPool, play, write_league

from referee.errors import UsageError
from referee.league import config
from referee.league.folder import open_store
from referee.league.league import begin, open_league
from referee.league.playing import LeaguePlay
from referee.tournament import address
from referee.tournament.transactions import StoreError

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
        open_store(out, url, create=True).close()
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
        open_store(tmp_path, "postgresql://host/x", create=True)


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
    assert not opened.store.database.is_claimed()
    command = [sys.executable, "-c", HOLDER, str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "claimed\n"
        assert opened.store.database.is_claimed()
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
    assert not opened.store.database.is_claimed()
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
    assert not opened.store.database.is_claimed()
    opened.close()


@pytest.mark.soak
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
