"""A server of an arena that is killed while versions come, are built and checked, matches are played, and ratings are fitted.

REFEREE_SERVER_KILLS says how many times.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import os
import random
import select
import shutil
import signal
import socket
import threading
import time
import urllib.request
import zipfile
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from arenas import begin, done, done_matches
from leagues import IDLE
from seasons import FORM, TOKENS, form

from referee.arena.arena import open_arena
from referee.arena.store import ArenaStore
from referee.arena.versions import ACCEPTED, BUILDING, CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from commands import Commands, Running

    Cli = Callable[..., subprocess.CompletedProcess[str]]

KILLS = int(os.environ.get("REFEREE_SERVER_KILLS", "3"))
TEAMS = ("Ada", "Bob")
UPLOADING, PLAYED, FITTING = "uploading", "playing", "fitting"
#: What the server is killed at, in turn, and at most so many seconds after that has begun.
PHASES = {BUILDING: 0.05, CHECKING: 0.8, PLAYED: 0.8, FITTING: 0.01, UPLOADING: 0.8}
#: From so many kills on, some have to fall in each phase.
MANY = 20
#: A bot that is built first.
C_BOT = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char line[1 << 20];
int main(void) {
    while (fgets(line, sizeof line, stdin)) {
        if (strstr(line, "\"type\":\"start\"")) puts("{\"type\":\"ready\",\"protocol\":1}");
        else if (strstr(line, "\"type\":\"turn\"")) printf("{\"type\":\"move\",\"turn\":%d,\"move\":{}}\n", atoi(strstr(line, "\"turn\":") + 7));
        fflush(stdout);
    }
}
"""
BUILT = 'build = "gcc -O1 -o bot bot.c"\nrun = "./bot"\n'


class HandIn(NamedTuple):
    """What a client handed in and was told to be queued."""

    number: int
    team: str
    note: str


def serve(commands: Commands, folder: Path) -> tuple[Running, str]:
    """A server, and its address. First the process that played for the last one has to end."""
    with ArenaStore.open(folder / "arena") as store:
        while store.database.is_claimed():
            select.select([], [], [], 0.05)
    server = commands.start("arena", "serve", "arena", "--isolation", "none", "--port", "0", "--slots", "2", cwd=folder)
    address = server.stdout.readline().strip()
    assert address, server.communicate(60)
    return server, address


def packed(note: str) -> bytes:
    """An archive of a bot, whose text the note decides. Some are built first."""
    files = {"bot.c": f"// {note}\n{C_BOT}", "bot.toml": BUILT} if note.startswith("C") else {"bot.py": f"# {note}\n{IDLE}"}
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def hand_in(address: str, team: str, note: str, told: list[HandIn]) -> None:
    """Hand in a bot a few times, until the server is gone."""
    headers = {**FORM, "Authorization": f"Bearer {TOKENS[team]}"}
    with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
        for _ in range(2):
            request = urllib.request.Request(f"{address}api/submissions", form(packed(note), "bot.zip", note), headers)
            with urllib.request.urlopen(request, timeout=60) as answer:
                told.append(HandIn(json.load(answer)["id"], team, note))


class SlowUpload:
    """A hand-in whose second half never comes."""

    def __init__(self, address: str, note: str) -> None:
        place = urlsplit(address)
        body = form(packed(note) + bytes(100_000), "bot.zip", note)
        head = {**FORM, "Authorization": f"Bearer {TOKENS[TEAMS[0]]}", "Host": place.netloc, "Content-Length": f"{len(body)}"}
        lines = ["POST /api/submissions HTTP/1.1", *(f"{name}: {text}" for name, text in head.items()), "", ""]
        self._socket = socket.create_connection((place.hostname, place.port), 60)
        self._socket.sendall("\r\n".join(lines).encode() + body[: len(body) // 2])

    def was_cut(self) -> bool:
        """True if the server ended without an answer."""
        with self._socket, contextlib.suppress(ConnectionError):
            return not self._socket.recv(100)
        return True


def phases(store: ArenaStore, since: float) -> set[str]:
    """What a server does that was started at a time, as its store tells; or did, when it was killed just now."""
    found = {getattr(store.versions.next(), "state", "")} & {BUILDING, CHECKING}
    settled = sum(map(len, store.duels.results(0)))
    duels = store.duels.since(settled)
    open_matches = sum(len(duel.keys) for duel in duels) - len(store.duels.matches(duels))
    played = store.playing.get(0)
    if played is None or played.time < max(since, time.time() - 2):
        return found
    fitted = store.ratings.strengths().duels
    recorded = max((point.duels for point in store.ratings.last().values()), default=0)
    if not recorded == fitted == settled or (duels and not open_matches):
        found.add(FITTING)
    if played.matches and open_matches:
        found.add(PLAYED)
    return found


def kept(folder: Path) -> tuple[dict[str, Any], dict[str, int]]:
    """What may not change: the accepted versions, and the matches that are done."""
    return accepted(folder), done_matches(folder / "arena")


def check_kept(before: tuple[dict[str, Any], dict[str, int]], after: tuple[dict[str, Any], dict[str, int]]) -> None:
    """Check that what was accepted or played stays, and was not played again."""
    for old, new in zip(before, after, strict=True):
        assert {name: new[name] for name in old if name in new} == old


def accepted(folder: Path) -> dict[str, tuple[Any, ...]]:
    """What may not change of each accepted version."""
    with contextlib.closing(open_arena(folder / "arena")) as arena:
        return {one.name: (one.team, one.number, one.hash, one.submitted) for one in arena.versions if one.status == ACCEPTED}


@pytest.mark.slow
def test_kills_of_the_server_lose_nothing(commands: Commands, referee: Cli, tmp_path: Path) -> None:
    lots = random.Random(KILLS)
    begin(tmp_path / "arena", 2).close()
    file = tmp_path / "arena" / "arena.toml"
    file.write_text(file.read_text().replace("placement", "submissions_per_day = 10000\nplacement"))
    with ArenaStore.open(tmp_path / "arena") as store:
        store.tokens.put((token, team) for team, token in TOKENS.items())
    told: list[HandIn] = []
    hit: Counter[str] = Counter()
    before: tuple[dict[str, Any], dict[str, int]] = ({}, {})
    wanted = [phase for phase in PHASES if phase != BUILDING or shutil.which("gcc")]
    for number in range(KILLS):
        begun = time.time()
        server, address = serve(commands, tmp_path)
        phase, turn = wanted[number % len(wanted)], number // len(wanted)
        # The same files come in several rounds: before, while and after they are checked. Nothing was built of them in an earlier run.
        note = f"{'C' if BUILDING in wanted else 'Python'} {turn} {os.getpid()}"
        clients = [threading.Thread(target=hand_in, args=(address, team, note, told)) for team in TEAMS]
        for client in clients:
            client.start()
        upload = SlowUpload(address, f"slow {number}") if phase == UPLOADING else None
        with ArenaStore.open(tmp_path / "arena") as store:
            while upload is None and phase not in phases(store, begun):
                # Where no more versions come, none is waited for.
                if phase in (BUILDING, CHECKING) and store.versions.next() is None and not any(client.is_alive() for client in clients):
                    break
                assert server.poll() is None
                select.select([], [], [], 0.005)
            select.select([], [], [], lots.uniform(0, PHASES[phase]))
            server.send_signal(signal.SIGKILL)
            seen = phases(store, begun)
        for client in clients:
            client.join()
        server.wait(60)
        # What the server had started may end later, and hold the streams until then.
        os.set_blocking(server.stderr.fileno(), False)
        with server.stdout, server.stderr, contextlib.suppress(BlockingIOError):
            assert b"Traceback" not in os.read(server.stderr.fileno(), 1 << 16)
        if upload is not None and upload.was_cut():
            seen.add(UPLOADING)
        hit.update(seen or {"idle"})
        after = kept(tmp_path)
        check_kept(before, after)
        before = after
    assert KILLS < MANY or set(wanted) <= hit.keys(), hit

    # Whatever a client was told to be queued gets its verdict.
    server, _ = serve(commands, tmp_path)
    with ArenaStore.open(tmp_path / "arena") as store:
        while store.versions.waiting():
            assert server.poll() is None
            select.select([], [], [], 0.1)
        found = [store.versions.handed_in(one.number) for one in told]
        numbers = [version.number for version in store.versions.all() if version.team == TEAMS[0]]
        # Nothing is known of a hand-in that came by half.
        assert not [one for one in store.versions.hand_ins(limit=10 * KILLS + 10) if one.note.startswith("slow")]
    server.send_signal(signal.SIGINT)
    out, err = server.communicate(300)
    assert (server.returncode, out) == (0, ""), err
    versions: dict[tuple[str, str], set[int | None]] = {}
    for one, stored in zip(told, found, strict=True):
        assert stored is not None
        assert (stored.team, stored.note, stored.state) == (one.team, one.note, ACCEPTED), stored.report
        versions.setdefault((one.team, one.note), set()).add(stored.version)
    # The same files are one version, however often they came.
    assert all(len(each) == 1 for each in versions.values())
    assert sorted(numbers) == list(range(1, len(numbers) + 1))
    after = kept(tmp_path)
    check_kept(before, after)
    assert len({hash_ for team, _, hash_, _ in after[0].values() if team == TEAMS[0]}) == len(numbers)

    with ArenaStore.open(tmp_path / "arena") as store:
        while store.database.is_claimed():
            select.select([], [], [], 0.05)
    ran = referee("arena", "run", "arena", "--duels", "2", "--slots", "2", "-q", timeout=600)
    assert ran.returncode == 0, ran.stderr
    checked = referee("arena", "verify", "arena", timeout=600)
    assert checked.returncode == 0, checked.stdout
    with contextlib.closing(open_arena(tmp_path / "arena")) as arena:
        assert arena.store.core.disagreements() == []
        assert arena.counts().planned == 0
        played = [(match.duel, match.game_number) for match in done(arena)]
        assert len(played) == len(set(played))
    print(f"{KILLS} kills, while {dict(hit)}: {len(told)} hand-ins, {len(after[0])} versions, {len(played)} matches")
