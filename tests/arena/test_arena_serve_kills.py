"""A server of an arena that is killed at random moments while versions come, are built and checked, and matches are played.

REFEREE_SERVER_KILLS says how many times.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import select
import shutil
import signal
import threading
import urllib.request
import zipfile
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from arenas import begin, done_matches
from leagues import IDLE
from seasons import FORM, TOKENS, form

from referee.arena.arena import open_arena
from referee.arena.season_store import BUILDING, CHECKING, SeasonStore
from referee.arena.store import ACCEPTED

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from commands import Commands, Running

    Cli = Callable[..., subprocess.CompletedProcess[str]]

KILLS = int(os.environ.get("REFEREE_SERVER_KILLS", "4"))
TEAMS = ("Ada", "Bob")
#: A kill comes once a version is being checked, so many matches were played, one more version is accepted, or so many versions came, and at
#: most so many seconds later.
MOMENTS = ("check", "play", "accept", "receipt")
LATER = 1.0
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
    with SeasonStore.open(folder / "arena") as store:
        while store.is_claimed():
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
    with contextlib.suppress(OSError, ValueError):
        for _ in range(3):
            request = urllib.request.Request(f"{address}api/submissions", form(packed(note), "bot.zip", note), headers)
            with urllib.request.urlopen(request, timeout=60) as answer:
                told.append(HandIn(json.load(answer)["id"], team, note))


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
    with SeasonStore.open(tmp_path / "arena") as store:
        store.put_tokens((token, team) for team, token in TOKENS.items())
    told: list[HandIn] = []
    hit: Counter[str] = Counter()
    before: tuple[dict[str, Any], dict[str, int]] = ({}, {})
    for number in range(KILLS):
        server, address = serve(commands, tmp_path)
        # Several rounds hand in the same files, so that they come before, while and after they are checked.
        note = f"{'C' if number // 2 % 2 and shutil.which('gcc') else 'Python'} {number // 2}"
        clients = [threading.Thread(target=hand_in, args=(address, team, note, told)) for team in TEAMS]
        for client in clients:
            client.start()
        moment, known = MOMENTS[number % len(MOMENTS)], len(before[0])
        wanted = {"check": 1, "play": len(before[1]) + lots.randrange(1, 6), "accept": known + 1, "receipt": len(told) + lots.randrange(3)}[
            moment
        ]
        with SeasonStore.open(tmp_path / "arena") as store:
            while True:
                waiting, is_over = store.next_submission(), not any(client.is_alive() for client in clients)
                is_checked = waiting is not None and waiting.status in (BUILDING, CHECKING)
                accepted_now = sum(version.status == ACCEPTED for version in store.versions())
                came = {"check": int(is_checked), "play": store.counts().done, "accept": accepted_now, "receipt": len(told)}
                # Where no more versions come, nobody waits for one.
                if wanted <= came[moment] or (moment != "play" and is_over and waiting is None):
                    break
                assert server.poll() is None
                select.select([], [], [], 0.02)
        select.select([], [], [], lots.uniform(0, LATER))
        server.send_signal(signal.SIGKILL)
        for client in clients:
            client.join()
        assert "Traceback" not in server.communicate(60)[1]
        with SeasonStore.open(tmp_path / "arena") as store:
            hit[getattr(store.next_submission(), "status", "idle")] += 1
        after = kept(tmp_path)
        check_kept(before, after)
        before = after

    # Whatever a client was told to be queued gets its verdict.
    server, _ = serve(commands, tmp_path)
    with SeasonStore.open(tmp_path / "arena") as store:
        while store.waiting():
            assert server.poll() is None
            select.select([], [], [], 0.1)
        found = [store.submission(one.number) for one in told]
        numbers = [version.number for version in store.versions() if version.team == TEAMS[0]]
    server.send_signal(signal.SIGINT)
    out, err = server.communicate(60)
    assert (server.returncode, out) == (0, ""), err
    versions: dict[tuple[str, str], set[int | None]] = {}
    for one, stored in zip(told, found, strict=True):
        assert stored is not None
        assert (stored.team, stored.note, stored.status) == (one.team, one.note, ACCEPTED), stored.report
        versions.setdefault((one.team, one.note), set()).add(stored.version)
    # The same files are one version, however often they came.
    assert all(len(each) == 1 for each in versions.values())
    assert sorted(numbers) == list(range(1, len(numbers) + 1))
    after = kept(tmp_path)
    check_kept(before, after)
    assert len({hash_ for team, _, hash_, _ in after[0].values() if team == TEAMS[0]}) == len(numbers)

    with SeasonStore.open(tmp_path / "arena") as store:
        while store.is_claimed():
            select.select([], [], [], 0.05)
    done = referee("arena", "run", "arena", "--duels", "2", "--slots", "2", "-q", timeout=600)
    assert done.returncode == 0, done.stderr
    checked = referee("arena", "verify", "arena", timeout=600)
    assert checked.returncode == 0, checked.stdout
    with contextlib.closing(open_arena(tmp_path / "arena")) as arena:
        assert arena.store.disagreements() == []
        assert arena.store.lost(2) == []
        assert arena.store.counts().planned == 0
        played = [(one.task.duel, one.task.game_number) for one in arena.store.matches(done=True)]
        assert len(played) == len(set(played))
    print(f"{KILLS} kills, while {dict(hit)}: {len(told)} hand-ins, {len(after[0])} versions, {len(played)} matches")
