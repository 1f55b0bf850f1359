"""A PostgreSQL server for tests: an ordinary user's, in a temporary folder, reached through a socket there alone."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import quote

from sandboxes import need

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
