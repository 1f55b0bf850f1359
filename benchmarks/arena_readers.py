"""What readers wait for at size: 50 readers of all pages and of the API, while a real server plays with two slots.

python benchmarks/arena_readers.py [--rounds 1] [--readers 50] [--seconds 60] [--store DIR] [--url postgresql://...] [--json]

The store is that of ``arena_scale.py``, with the same options. Each reader asks for all addresses in turn, in an order of its own: first at a
person's pace, of one address in about three seconds, then as fast as it can. Meanwhile some teams hand in a version.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import math
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import arena_scale
import psutil
from harness import ROOT, Figure, number, run

from referee.arena.store import ArenaStore
from referee.arena.versions import HandIn
from referee.errors import RefereeError
from referee.tournament import address

#: The budgets: milliseconds at the 95th percentile, seconds until a submission is seen, MiB of a process.
ANSWER, SEEN, MEMORY = 100.0, 1.0, 400.0
#: Seconds between two requests of a person, and how many versions are handed in.
PACE, HANDED_IN = (1.0, 5.0), 5
BOUNDARY = "part"
#: How often an address is asked for its processor time.
ASKED = 30


def opened(folder: Path) -> ArenaStore:
    """Open the store of an arena, wherever it is."""
    told = address.read(folder)
    return ArenaStore.open(folder, None if told is None else told.url)


def prepare(folder: Path, teams: int) -> None:
    """Give tokens to the teams and to the staff, and a submission to each version."""
    with opened(folder) as store:
        if store.tokens.holder("tstaff") is None:
            store.tokens.put([(f"t{number}", f"team {number:03}") for number in range(teams)] + [("tstaff", None)])
            versions = [one for one in store.versions.all() if not one.is_reference]
            rows = [
                HandIn(number=number, team=one.team, note=one.note, file="none", state=one.status, version=one.number, submitted=0.0)
                for number, one in enumerate(versions, 1)
            ]
            with store.core.step() as connection:
                arena_scale.put(connection, store.versions._hand_ins, rows)


@contextlib.contextmanager
def served(folder: Path, slots: int) -> Iterator[tuple[str, psutil.Process]]:
    """A real server, its address and its process."""
    words = [sys.executable, "-m", "referee", "arena", "serve", str(folder), "--isolation", "none", "--port", "0", "--slots", str(slots)]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        if not address:
            raise RefereeError("The server did not start.")
        yield address, psutil.Process(server.pid)
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)


class Reader:
    """A connection of a reader, with the token of its team."""

    def __init__(self, address: str, token: str) -> None:
        parts = urlsplit(address)
        self._place = (parts.hostname, parts.port)
        self.token = token
        self._streams: Any = None

    async def ask(self, path: str, token: str | None = None, body: bytes = b"", kind: str = "") -> tuple[int, bytes]:
        """Return the status and the body of an answer. A connection that the server has closed meanwhile is opened again."""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            if self._streams is not None:
                return await self._ask(path, token, body, kind)
        self.close()
        return await self._ask(path, token, body, kind)

    async def _ask(self, path: str, token: str | None, body: bytes, kind: str) -> tuple[int, bytes]:
        if self._streams is None:
            self._streams = await asyncio.open_connection(*self._place, limit=1 << 24)
        incoming, outgoing = self._streams
        token = token or self.token
        lines = [f"{'POST' if body else 'GET'} {path} HTTP/1.1", f"Host: {self._place[0]}:{self._place[1]}", f"Content-Length: {len(body)}"]
        lines.append(f"Authorization: Bearer {token}" if path.startswith("/api/") else f"Cookie: arena={token}")
        if kind:
            lines.append(f"Content-Type: {kind}")
        outgoing.write("\r\n".join([*lines, "", ""]).encode() + body)
        head = (await incoming.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        size = head.partition("content-length: ")[2].partition("\r\n")[0]
        if size:
            data = await incoming.readexactly(int(size))
        else:
            data = b""
            while count := int(await incoming.readline(), 16):
                data += await incoming.readexactly(count)
                await incoming.readexactly(2)
            await incoming.readexactly(2)
        if "connection: close" in head:
            self.close()
        return int(head.split()[1]), data

    async def value(self, path: str, token: str | None = None) -> Any:
        """Return the JSON of an answer."""
        status, data = await self.ask(path, token)
        if status != 200:
            raise RefereeError(f"{path} is answered with {status}.")
        return json.loads(data)

    def close(self) -> None:
        """End the connection."""
        if self._streams is not None:
            self._streams[1].close()
        self._streams = None


async def addresses(reader: Reader, number: int, teams: int) -> dict[str, tuple[str, str | None]]:
    """Return the addresses that a reader asks for, by what they are called here, each with the token if it isn't the reader's."""
    # The latest matches are real; those of the script have no replay.
    (match,) = (await reader.value("/api/matches?limit=1"))["matches"]
    name, opponent = (quote(f"team {one % teams:03}") for one in (number, number + teams // 2))
    seat = next(iter(match["seats"]))
    api = {
        "arena": "", "standings": "", "teams/T": f"teams/{name}", "matches": "", "matches?team": f"matches?team={name}",
        "matches?team&opponent": f"matches?team={name}&opponent={opponent}", "matches?before": f"matches?before={10_000 * (number + 1)}",
        "matches/M": f"matches/{match['id']}", "matches/M/replay": f"matches/{match['id']}/replay", "openapi.json": "",
        "submissions/N": f"submissions/{number + 1}",
    }  # fmt: skip
    pages = {
        "/": "", "/teams/T": f"teams/{name}", "/teams/T of others": f"teams/{opponent}", "/teams/T?opponent": f"teams/{name}?opponent={opponent}",
        "/teams/T?version": f"teams/{name}?version=1", "/matches/M": f"matches/{match['id']}", "/watch/M/": f"watch/{match['id']}/", "/submit": "submit",
        "/submissions/N": f"submissions/{number + 1}",
    }  # fmt: skip
    found: dict[str, tuple[str, str | None]] = {f"/api/{told}": (f"/api/{path or told}", None) for told, path in api.items()}
    found |= {told: (f"/{path}", None) for told, path in pages.items()}
    found |= {"/api/matches/M/log/S": (f"/api/matches/{match['id']}/log/{seat}", "tstaff")}
    found |= {path: (path, "tstaff") for path in ("/api/staff/audit", "/staff")}
    return found


async def read(address: str, readers: int, teams: int, seconds: float, *, is_paced: bool) -> dict[str, list[float]]:
    """Let all readers ask for so long; return the milliseconds of each answer by address."""
    found: dict[str, list[float]] = defaultdict(list)
    until = time.monotonic() + seconds

    async def one(number: int) -> None:
        lots = random.Random(number)
        reader = Reader(address, f"t{number}")
        asked = list((await addresses(reader, number, teams)).items())
        lots.shuffle(asked)
        at = 0
        await asyncio.sleep(lots.uniform(0, PACE[1]) if is_paced else 0)
        while time.monotonic() < until:
            name, (path, token) = asked[at % len(asked)]
            begun = time.perf_counter()
            status, _ = await reader.ask(path, token)
            found[name].append(1000 * (time.perf_counter() - begun))
            if status != 200:
                raise RefereeError(f"{path} is answered with {status}.")
            at += 1
            if is_paced:
                await asyncio.sleep(lots.uniform(*PACE))
        reader.close()

    await asyncio.gather(*map(one, range(readers)))
    return dict(found)


async def hand_in(address: str, first: int) -> list[float]:
    """Hand in versions of some teams; return the seconds until the team's page has each."""
    found = []
    for number in range(first, first + HANDED_IN):
        reader = Reader(address, f"t{number}")
        lines = [
            f"--{BOUNDARY}",
            'Content-Disposition: form-data; name="file"; filename="bot.py"',
            "",
            f"# {time.time()}\n{arena_scale.IDLE}",
        ]
        body = "\r\n".join([*lines, f"--{BOUNDARY}--", ""]).encode()
        begun = time.perf_counter()
        status, data = await reader.ask("/api/submissions", body=body, kind=f"multipart/form-data; boundary={BOUNDARY}")
        if status != 202:
            raise RefereeError(f"A version is refused: {data.decode()}")
        link = f"/submissions/{json.loads(data)['id']}".encode()
        while link not in (await reader.ask(f"/teams/{quote(f'team {number:03}')}"))[1]:
            pass
        found.append(time.perf_counter() - begun)
        reader.close()
        await asyncio.sleep(1)
    return found


async def cost(address: str, teams: int, process: psutil.Process) -> dict[str, list[float]]:
    """Return the milliseconds of processor time that the server needs for an answer, by address; other programs hardly change them."""
    reader = Reader(address, "t0")
    found: dict[str, list[float]] = {}
    for name, (path, token) in (await addresses(reader, 0, teams)).items():
        used = sum(process.cpu_times()[:2])
        for _ in range(ASKED):
            await reader.ask(path, token)
        found[name] = [1000 * (sum(process.cpu_times()[:2]) - used) / ASKED]
    reader.close()
    return found


async def both(
    address: str, readers: int, teams: int, seconds: float
) -> tuple[dict[str, list[float]], list[float], dict[str, list[float]]]:
    """Read at a person's pace while versions are handed in, then as fast as possible."""
    paced, seen = await asyncio.gather(read(address, readers, teams, seconds, is_paced=True), hand_in(address, readers))
    return paced, seen, await read(address, readers, teams, seconds / 3, is_paced=False)


def at_95(values: list[float]) -> float:
    """Return the 95th percentile."""
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]


def everything(options: argparse.Namespace) -> list[Figure]:
    """All figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "arena" if options.store is None else options.store.resolve()
        if not (folder / "arena.toml").exists():
            arena_scale.fill(folder, options.url, options.teams, options.versions, options.matches)
        prepare(folder, options.teams)
        measured: dict[tuple[str, str], list[float]] = defaultdict(list)
        for _ in range(options.rounds):
            with served(folder, options.slots) as (address, process):
                with opened(folder) as store:
                    begun = store.core.tally().played
                    # The first matches of the server: their replays are there.
                    while store.core.tally().played < begun + 4:
                        time.sleep(0.2)
                for told, values in asyncio.run(cost(address, options.teams, process)).items():
                    measured[f"{told}, processor", "ms"] += values
                paced, seen, fast = asyncio.run(both(address, options.readers, options.teams, options.seconds))
                for kind, found in (("", paced), (", flat out", fast)):
                    for told, values in sorted({**found, "all": sum(found.values(), [])}.items()):
                        measured[f"{told}{kind}, p50", "ms"].append(statistics.median(values))
                        measured[f"{told}{kind}, p95", "ms"].append(at_95(values))
                measured["answers in a second, flat out", ""].append(sum(map(len, fast.values())) / (options.seconds / 3))
                measured["submission seen", "s"].append(max(seen))
                measured["memory of the server", "MiB"].append(process.memory_info().rss / (1 << 20))
                others = [one for one in process.children() if '"kind": "play"' in " ".join(one.cmdline())]
                measured["memory of the process that plays", "MiB"].append(max(one.memory_info().rss for one in others) / (1 << 20))
                with opened(folder) as store:
                    measured["matches played meanwhile", ""].append(store.core.tally().played - begun)
    budgets = {"s": SEEN, "MiB": MEMORY}
    return [
        Figure(told, unit, values, None, "value", budgets.get(unit, ANSWER if told.endswith("p95") else None))
        for (told, unit), values in measured.items()
    ]


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    arena_scale.add(parser)
    parser.add_argument("--readers", type=number(1), default=50, help="readers at once")
    parser.add_argument("--slots", type=number(1), default=2, help="matches at once")
    parser.add_argument("--seconds", type=number(1), default=60, help="how long readers read at a person's pace; a third of it flat out")


if __name__ == "__main__":
    run(__doc__, everything, add, rounds=1)
