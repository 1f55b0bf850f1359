"""Arenas for tests: small ones whose bots need no check, and PostgreSQL servers for their stores."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from leagues import IDLE, Notes, PretendPool, play
from sandboxes import need

from referee.arena import intake
from referee.arena.arena import OpenArena, new, open_arena
from referee.arena.player import play_batches

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from referee.arena.duels import ArenaDuel, DuelMatch
    from referee.arena.versions import Version

#: The settings of a game that is over within a few steps.
SHORT = "width = 30\nheight = 30\nmax_steps = 40"


def write_arena(folder: Path, references: int = 1, more: str = "") -> Path:
    """Write the file of an arena with such references, which differ in a comment only; ``more`` are lines at its top."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = ""
    for number in range(references):
        (folder / f"reference{number}.py").write_text(f"# {number}\n{IDLE}")
        tables += f'[[references]]\nname = "R{number}"\nprogram = "reference{number}.py"\n'
    top = f'seed = 7\nisolation = "none"\n{more}\n' + ("" if re.search("^versions", more, re.MULTILINE) else 'versions = "all"\n')
    (folder / "arena.toml").write_text(f"{top}[settings]\n{SHORT}\n[season]\nplacement = 3\n{tables}")
    return folder


def begin(folder: Path, references: int = 1, more: str = "") -> OpenArena:
    """Begin an arena in a folder."""
    write_arena(folder, references, more)
    return new(folder, None, None)


def accept_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every version pass its check."""
    monkeypatch.setattr(intake, "check", lambda *_: intake.CheckVerdict("", {}))


def add(arena: OpenArena, text: str, team: str = "mine") -> Version:
    """Add a bot that differs from others in a comment only."""
    file = arena.folder.parent / "bot.py"
    file.write_text(f"# {text}\n{IDLE}")
    version, _ = arena.add(file, team, text)
    arena.plan()
    return version


def run(arena: OpenArena, most: int | None, pool: PretendPool | None = None, *, until_decided: bool = False) -> Notes:
    """Play duels with workers that pretend; return what a watcher is told."""
    arena.plan(most, until_decided=until_decided)
    notes = Notes()
    play_batches(arena, pool or PretendPool(play), notes)
    return notes


def all_duels(arena: OpenArena) -> list[ArenaDuel]:
    """All duels in their order."""
    return arena.store.duels.rows.all()


def duel_results(arena: OpenArena) -> Sequence[ArenaDuel]:
    """The duels that have results."""
    return [duel for duel in all_duels(arena) if duel.points is not None]


def done(arena: OpenArena) -> list[DuelMatch]:
    """The matches that were played, in the order of their duels."""
    return [match for _, matches in arena.store.duels.all_matches() for match in matches]


def done_matches(folder: Path) -> dict[str, int]:
    """The time at which the replay of each match that is done was written."""
    with closing(open_arena(folder)) as arena:
        return {match.task.key: (folder / match.record.replay).stat().st_mtime_ns for match in done(arena)}


#: The user and the password of the database.
USER, PASSWORD = "referee", "secret word/@:"


def _folder_of_programs() -> Path:
    """The folder of the newest server's programs; Debian keeps them off the path."""
    found = shutil.which("initdb")
    places = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda place: int(place.parent.name))
    need(bool(places), "PostgreSQL's server is missing (package postgresql)")
    return places[-1]


class Postgres:
    """A running server; ``close`` ends it. Skips the test where there is no PostgreSQL."""

    def __init__(self) -> None:
        self._programs = _folder_of_programs()
        self.folder = Path(tempfile.mkdtemp(prefix="referee-postgres-"))
        self._databases = 0
        self._prefix: list[str] = []
        password = self.folder / "password"
        password.write_text(PASSWORD)
        if os.geteuid() == 0:
            # The server refuses to be root's.
            user = pwd.getpwnam("nobody")
            self._prefix = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
            for path in (self.folder, password):
                os.chown(path, user.pw_uid, user.pw_gid)
        self._call("initdb", "-D", self._data, "-U", USER, "--pwfile", password, "--auth=scram-sha-256", "--no-sync", "--encoding=UTF8")
        self.start()

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _call(self, name: str, *words: str | Path) -> None:
        # Its output goes to a file: a server would hold a pipe open.
        with (self.folder / "output").open("ab") as output:
            line = [*self._prefix, str(self._programs / name), *map(str, words)]
            done = subprocess.run(line, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd="/", timeout=120)
        assert done.returncode == 0, (self.folder / "output").read_text()

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder} -c fsync=off -c shared_buffers=16MB"
        self._call("pg_ctl", "-D", self._data, "-l", self.folder / "log", "-o", options, "-w", "start")

    def stop(self) -> None:
        """Stop the server at once, as a crash would."""
        self._call("pg_ctl", "-D", self._data, "-m", "immediate", "-w", "stop")

    def url(self, name: str = "postgres", password: str = PASSWORD) -> str:
        """The address of a database."""
        return f"postgresql://{USER}:{quote(password, safe='')}@/{name}?host={self.folder}"

    def new(self) -> str:
        """Create a database; return its address."""
        import psycopg

        self._databases += 1
        name = f"league{self._databases}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"create database {name}".encode())
        return self.url(name)

    def close(self) -> None:
        """End the server and remove its folder."""
        try:
            self.stop()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
