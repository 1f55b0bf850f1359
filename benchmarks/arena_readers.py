"""What readers wait for at size: 50 readers of all pages and of the API, while a real server plays with two slots.

python benchmarks/arena_readers.py [--rounds 1] [--readers 50] [--seconds 60] [--store DIR] [--url postgresql://...] [--json]

The store is that of ``arena_scale.py``, with the same options. Each reader asks for all addresses in turn, in an order of its own: first at a
person's pace, of one address in about three seconds, then as fast as it can. Meanwhile some teams hand in a version.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import arena_scale
import psutil
from harness import Figure, high, run, served, timed

from referee.arena.client import ArenaClient
from referee.arena.store import ArenaStore
from referee.arena.versions import HandIn
from referee.errors import RefereeError
from referee.tournament import address

#: The budgets: milliseconds at the 95th percentile, seconds until a submission is seen, MiB of a process.
ANSWER, SEEN, MEMORY = 100.0, 1.0, 400.0
#: Seconds between two requests of a person, and how many versions are handed in.
PACE, HANDED_IN = (1.0, 5.0), 5
#: How often an address is asked for its processor time.
ASKED = 30
STAFF = "tstaff"


def opened(folder: Path) -> ArenaStore:
    """Open the store of an arena, wherever it is."""
    elsewhere = address.read(folder)
    return ArenaStore.open(folder, None if elsewhere is None else elsewhere.url)


def prepare(folder: Path, teams: int) -> None:
    """Give tokens to the teams and to the staff, and a submission to each version."""
    with opened(folder) as store:
        if store.tokens.holder(STAFF) is None:
            store.tokens.put([(f"t{number}", f"team {number:03}") for number in range(teams)] + [(STAFF, None)])
            versions = [version for version in store.versions.all() if not version.is_reference]
            rows = [
                HandIn(number=number, team=each.team, note=each.note, file="none", state=each.status, version=each.number, submitted=0.0)
                for number, each in enumerate(versions, 1)
            ]
            with store.core.step() as connection:
                arena_scale.put(connection, store.versions._hand_ins, rows)


class Reader:
    """A connection of a reader, with the token of its team: team n has the token tn."""

    def __init__(self, url: str, number: int) -> None:
        self.number, self._token = number, f"t{number}"
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc)

    def ask(self, path: str, token: str | None = None) -> bytes:
        """Return the body of an answer. RefereeError if its status isn't 200."""
        token = token or self._token
        headers = {"Authorization": f"Bearer {token}"} if path.startswith("/api/") else {"Cookie": f"arena={token}"}
        try:
            answer = self._answer(path, headers)
        except ConnectionError:
            # The server has closed the connection meanwhile.
            self._connection.close()
            answer = self._answer(path, headers)
        data = answer.read()
        if answer.status != 200:
            raise RefereeError(f"{path} is answered with {answer.status}.")
        return data

    def _answer(self, path: str, headers: dict[str, str]) -> http.client.HTTPResponse:
        self._connection.request("GET", path, headers=headers)
        return self._connection.getresponse()

    def addresses(self, teams: int) -> dict[str, tuple[str, str | None]]:
        """Return the addresses that it asks for, by what they are called here, each with the token if it isn't the reader's."""
        # The latest matches are real; those of the script have no replay.
        (match,) = json.loads(self.ask("/api/matches?limit=1"))["matches"]
        own, other = (quote(f"team {each % teams:03}") for each in (self.number, self.number + teams // 2))
        number, seat = match["id"], next(iter(match["seats"]))
        paths = {
            "/api/arena": "", "/api/standings": "", "/api/teams/T": f"/api/teams/{own}", "/api/matches": "",
            "/api/matches?team": f"/api/matches?team={own}", "/api/matches?team&opponent": f"/api/matches?team={own}&opponent={other}",
            "/api/matches?before": f"/api/matches?before={10_000 * (self.number + 1)}", "/api/matches/M": f"/api/matches/{number}",
            "/api/matches/M/replay": f"/api/matches/{number}/replay", "/api/openapi.json": "",
            "/api/submissions/N": f"/api/submissions/{self.number + 1}", "/": "", "/teams/T": f"/teams/{own}",
            "/teams/T of others": f"/teams/{other}", "/teams/T?opponent": f"/teams/{own}?opponent={other}",
            "/teams/T?version": f"/teams/{own}?version=1", "/matches/M": f"/matches/{number}", "/watch/M/": f"/watch/{number}/", "/submit": "",
            "/submissions/N": f"/submissions/{self.number + 1}",
        }  # fmt: skip
        of_staff = {"/api/matches/M/log/S": f"/api/matches/{number}/log/{seat}", "/api/staff/audit": "", "/staff": ""}
        return {name: (path or name, None) for name, path in paths.items()} | {
            name: (path or name, STAFF) for name, path in of_staff.items()
        }


def read(url: str, readers: int, teams: int, seconds: float, *, is_paced: bool) -> dict[str, list[float]]:
    """Let all readers ask for so long; return the milliseconds of each answer by address."""
    times: dict[str, list[float]] = defaultdict(list)
    until = time.monotonic() + seconds

    def go_on(number: int) -> None:
        lots = random.Random(number)
        reader = Reader(url, number)
        pages = list(reader.addresses(teams).items())
        lots.shuffle(pages)
        time.sleep(lots.uniform(0, PACE[1]) if is_paced else 0)
        while time.monotonic() < until:
            pages.append(pages.pop(0))
            name, (path, token) = pages[-1]
            times[name].append(timed(partial(reader.ask, path, token)))
            time.sleep(lots.uniform(*PACE) if is_paced else 0)

    with ThreadPoolExecutor(readers) as threads:
        list(threads.map(go_on, range(readers)))
    return dict(times)


def hand_in(url: str, first: int) -> list[float]:
    """Hand in versions of some teams; return the seconds until the team's page has each."""
    seconds = []
    for number in range(first, first + HANDED_IN):
        reader, page = Reader(url, number), f"/teams/{quote(f'team {number:03}')}"
        begun = time.perf_counter()
        submission = ArenaClient.of(url, f"t{number}").hand_in("bot.py", f"# {time.time()}\n{arena_scale.IDLE}".encode(), "")
        while f"/submissions/{submission['id']}".encode() not in reader.ask(page):
            pass
        seconds.append(time.perf_counter() - begun)
        time.sleep(1)
    return seconds


def costs(url: str, teams: int, process: psutil.Process) -> Iterator[tuple[str, float]]:
    """Yield the milliseconds of processor time that the server needs for an answer, by address; other programs hardly change them."""
    reader = Reader(url, 0)
    for name, page in reader.addresses(teams).items():
        used = sum(process.cpu_times()[:2])
        for _ in range(ASKED):
            reader.ask(*page)
        yield name, 1000 * (sum(process.cpu_times()[:2]) - used) / ASKED


def measure(folder: Path, options: argparse.Namespace) -> Iterator[tuple[str, str, float]]:
    """Yield the name, the unit and the value of each figure of one server."""
    words = ("arena", "serve", str(folder), "--isolation", "none", "--slots", str(options.slots))
    with served(*words) as (url, process), opened(folder) as store:
        begun = store.core.tally().played
        # The first match of the server: its replay is there.
        while store.core.tally().played < begun + 1:
            time.sleep(0.2)
        for name, cost in costs(url, options.teams, process):
            yield f"{name}, processor", "ms", cost
        with ThreadPoolExecutor(1) as thread:
            submissions = thread.submit(hand_in, url, options.readers)
            paced = read(url, options.readers, options.teams, options.seconds, is_paced=True)
        fast = read(url, options.readers, options.teams, options.seconds / 3, is_paced=False)
        for kind, times in (("", paced), (", flat out", fast)):
            for name, values in sorted({**times, "all": sum(times.values(), [])}.items()):
                yield f"{name}{kind}, p50", "ms", statistics.median(values)
                yield f"{name}{kind}, p95", "ms", high(values)
        yield "answers in a second, flat out", "", sum(map(len, fast.values())) / (options.seconds / 3)
        yield "submission seen", "s", max(submissions.result())
        yield "memory of the server", "MiB", process.memory_info().rss / (1 << 20)
        others = [child for child in process.children() if '"kind": "play"' in " ".join(child.cmdline())]
        yield "memory of the process that plays", "MiB", max(child.memory_info().rss for child in others) / (1 << 20)
        yield "matches played meanwhile", "", store.core.tally().played - begun


def everything(options: argparse.Namespace) -> list[Figure]:
    """All figures."""
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    with arena_scale.filled(options) as folder:
        prepare(folder, options.teams)
        for _ in range(options.rounds):
            for name, unit, value in measure(folder, options):
                values[name, unit].append(value)
    budgets = {"s": SEEN, "MiB": MEMORY}
    return [
        Figure(name, unit, each, None, "value", budgets.get(unit, ANSWER if name.endswith("p95") else None))
        for (name, unit), each in values.items()
    ]


if __name__ == "__main__":
    run(
        __doc__,
        everything,
        rounds=(1, "servers that are measured; the median counts"),
        readers=(50, "readers at once"),
        slots=(2, "matches at once"),
        seconds=(60, "how long readers read at a person's pace; a third of it flat out"),
        **arena_scale.STORE,
    )
