"""Kills of all parts of a match at random moments, and honest moves on a busy machine: many of them, counted.

Run it by ``make soak``; it takes an hour for the whole, and as long as it is told otherwise. As root it goes through every level as
root, then as an ordinary user with control groups of its own and without any.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from sandboxes import PATIENT, ROOT, USER, Options, busy, census, match_between, opened
from victims import KILLS, Victim, kill_at_random

from referee import games
from referee.isolation import cgroups
from referee.isolation.choose import choose
from referee.isolation.limits import Limits
from referee.match.options import RunOptions
from referee.players.names import resolve

LEVELS = ("strict", "limits", "none")
#: How long anything may be left after a kill, in seconds.
ALLOWED = 3.0
#: An honest bot computes half of its limit for each move.
HONEST = """
import time
from sdk import {base}
class Honest({base}):
    def {method}(self, state):
        end = time.thread_time() + 0.002
        while time.thread_time() < end:
            pass
Honest.main()
"""


def kills(count: int, level: str, random_moments: random.Random) -> Counter[str]:
    """Kill parts of matches at random moments; how often anything was left after three seconds, by what was killed."""
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        for number in range(count):
            victim = Victim(Path(folder, str(number)), level)
            with contextlib.suppress(subprocess.TimeoutExpired):
                victim.process.wait(random_moments.uniform(0.0, 1.5))
            names = random_moments.choice(KILLS)
            victim.kill(names)
            killed = time.monotonic()
            if "referee" not in names:
                victim.end()
                killed = time.monotonic()
            while (left := victim.left()) and time.monotonic() - killed < ALLOWED:
                time.sleep(0.05)
            found[f"{level}: {' and '.join(names)}"] += 1
            if left:
                found[f"LEFT by {level}: {' and '.join(names)}"] += 1
                print(f"left after {ALLOWED:g} s by {names} at {level}: {left}", flush=True)
            victim.end()
            shutil.rmtree(victim.replays, ignore_errors=True)
    return found


def moves(count: int, level: str) -> Counter[str]:
    """Play honest bots by the clock of processor time beside six busy loops; how many of their moves were late."""
    found: Counter[str] = Counter()
    game = games.get("evasion")
    with tempfile.TemporaryDirectory() as folder, busy(6):
        Path(folder).chmod(0o755)
        programs = {}
        for seat, base, method in (("hunter", "HunterBot", "hunt"), ("prey", "PreyBot", "flee")):
            path = Path(folder, f"{seat}.py")
            path.write_text(HONEST.format(base=base, method=method))
            programs[seat] = resolve(str(path), seat, "evasion")
        isolation = choose(level, Limits(), [*programs.values()])
        asked = 0
        while asked < count:
            settings = game.codec.settings("classic", {"max_steps": 500, "hunter": [0, 0, 1, 1], "prey": [230, 100]})
            options = Options(PATIENT.replace(move=0.02, kind="cpu"), RunOptions(max_lateness=60.0), isolation=isolation)
            result = match_between(game, settings, programs, options, seed=1).run()
            asked += sum(time.answers for time in result.times.values())
            found[f"{level}: moves"] = asked
            for fault in result.failures.values():
                found[f"LATE at {level}"] += 1
                print(f"late at {level}: {fault.text}", flush=True)
    return found


def at_once(count: int) -> Counter[str]:
    """Begin so many strict matches at once; how many were refused or void."""
    found: Counter[str] = Counter()
    command = [
        sys.executable,
        "-m",
        "referee",
        "play",
        "straight",
        "still",
        "--isolation",
        "strict",
        "--max-steps",
        "50",
        "--quiet",
        "--json",
    ]
    with tempfile.TemporaryDirectory() as folder:
        running = [
            subprocess.Popen([*command, "--out", f"{folder}/{number}.replay.jsonl.gz"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            for number in range(count)
        ]
        for process in running:
            said = process.communicate()[1].decode()
            found[f"at once: exit {process.returncode}"] += 1
            if process.returncode:
                found["REFUSED at once"] += 1
                print(f"exit {process.returncode}: {said}", flush=True)
    return found


def worker_kills(count: int, level: str, random_moments: random.Random) -> Counter[str]:
    """Kill workers that play match after match, and what is between them and their bots; how many matches lost by it, and what was left."""
    with tempfile.TemporaryDirectory() as folder:
        kills = kill_at_random(level, count, Path(folder), random_moments)
    ended = time.monotonic()
    while (left := _left_by(kills.workers)) and time.monotonic() - ended < ALLOWED:
        time.sleep(0.05)
    found = Counter({f"{level}: matches of killed workers": len(kills.records)})
    found.update({f"{level}: kills of a {kind}": number for kind, number in kills.killed.items()})
    if left:
        found[f"LEFT by workers at {level}"] += 1
        print(f"left after {ALLOWED:g} s by workers at {level}: {left}", flush=True)
    for record in kills.records:
        if record.faults:
            found[f"LOST at {level}"] += 1
            print(f"lost at {level}: {record.faults}", flush=True)
    return found


def _left_by(workers: set[int]) -> list[object]:
    """Return the processes, control groups and files that workers with these numbers have left."""
    counted = census(*workers)
    return [left for kind in ("processes", "groups", "files") if (left := counted[kind])]


def as_user(arguments: list[str], *, has_groups: bool) -> int:
    """Run this again as an ordinary user; its exit status."""
    home = Path(tempfile.mkdtemp(prefix="home-of-"))
    os.chown(home, USER, USER)
    made = []
    groups = ""
    for folder in cgroups.find().folders.values() if has_groups else ():
        group = Path(folder, f"soak-user-{os.getpid()}")
        group.mkdir()
        for path in (group, *group.iterdir()):
            os.chown(path, USER, USER)
        made.append(group)
        groups += f"echo 0 > {shlex.quote(str(group / 'cgroup.procs'))}\n"
    command = ["setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups", "--", sys.executable, __file__, *arguments]
    needed = [ROOT, Path(sys.prefix), Path(sys.base_prefix)]
    script = f"{opened(needed)}\n{groups}cd {shlex.quote(str(ROOT / 'tests'))}\nexec {shlex.join(command)}"
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8"}
    try:
        return subprocess.run(["unshare", "--mount", "sh", "-c", script], env=environment, check=False).returncode
    finally:
        for group in made:
            group.rmdir()
        shutil.rmtree(home, ignore_errors=True)


def main() -> int:
    """Run what is asked for; 1 if anything was left, lost, late or refused."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--kills", type=int, default=1000, help="kills in all")
    reader.add_argument("--worker-kills", type=int, default=200, help="kills of workers and their supervisors at each level")
    reader.add_argument("--moves", type=int, default=10_000, help="honest moves at each level")
    reader.add_argument("--at-once", type=int, default=200, help="strict matches that begin at once")
    reader.add_argument("--seed", type=int, default=1)
    reader.add_argument("--as-user", action="store_true", help=argparse.SUPPRESS)
    given = reader.parse_args()
    is_root = os.geteuid() == 0
    rounds = 3 if is_root and not given.as_user else 1
    seeded = random.Random(given.seed)
    found: Counter[str] = Counter()
    # An ordinary user without control groups has no freezer, and strict would want a core for each bot.
    levels = LEVELS if cgroups.find().has_freezer else ("auto", *LEVELS[1:])
    for level in levels:
        found += kills(given.kills // rounds // len(levels), level, seeded)
        if given.worker_kills:
            found += worker_kills(given.worker_kills, level, seeded)
        if given.moves:
            found += moves(given.moves, level)
    if given.at_once and is_root:
        found += at_once(given.at_once)
    print(f"user {os.geteuid()}, control groups: {'yes' if cgroups.find().has_caps else 'no'}")
    for what, count in sorted(found.items()):
        print(f"  {count:>7,}  {what}")
    bad = any(what.isupper() or what.split()[0].isupper() for what in found)
    if rounds > 1:
        for has_groups in (True, False):
            if has_groups and not cgroups.find().has_caps:
                continue
            arguments = [
                "--as-user",
                "--kills",
                str(given.kills // rounds),
                "--worker-kills",
                str(given.worker_kills),
                "--moves",
                str(given.moves),
                "--seed",
                str(given.seed + 1 + has_groups),
            ]
            bad = as_user(arguments, has_groups=has_groups) != 0 or bad
    print("something was left, lost, late or refused" if bad else "nothing was left, lost, late or refused")
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
