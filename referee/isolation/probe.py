"""Tests the sandbox: a self-check runs in the real sandbox and reports what it could do, because flags prove nothing.

``parts`` looks for the programs and libraries of the sandbox. ``prove`` runs ``selfcheck`` in a sandbox, in the same way as a bot in a
match.
"""

from __future__ import annotations

import ctypes.util
import json
import os
import platform
import secrets
import select
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import MatchVoid, StartError
from referee.isolation import bubblewrap, check_cache, landlock, runtime, selfcheck, submission
from referee.isolation.bot import Bot
from referee.isolation.limits import Limits
from referee.isolation.log import Log
from referee.isolation.plan import VARIANT_A, VARIANT_B, VARIANTS, Plan, bot_plan, needs, variant_for
from referee.isolation.plan_launcher import PlanLauncher
from referee.isolation.sandboxed_process import SandboxedProcess
from referee.isolation.users import FIRST, LAST
from referee.support.packages import install_command
from referee.support.poll import readable
from referee.support.words import MIB, cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from referee.isolation.level import Level

_PROCESSES = 12
_LIMITS = Limits(memory_bytes=64 * MIB, processes=_PROCESSES, scratch_bytes=2 * MIB)
_SEAT = "self-check"
#: How long the self-check may take, in seconds.
_PATIENCE = 120.0


class SandboxCheck(NamedTuple):
    """One check: its name, whether it passed, the observation, and the remedy if it failed.

    ``variant`` is the variant of the sandbox that was tested; empty if the check applies to all.
    """

    name: str
    ok: bool
    seen: str
    remedy: str = ""
    variant: str = ""

    def to_json(self) -> dict[str, str | bool]:
        """Return the check as an object of ``referee doctor --json``, in which the variant has the key ``way``."""
        return {"name": self.name, "ok": self.ok, "seen": self.seen, "remedy": self.remedy, "way": self.variant}


def _install(package: str) -> str:
    return f"Install it: apt install {package} (or your distribution's package of that name)"


def parts() -> list[SandboxCheck]:
    """Return the checks that all parts of the sandbox are installed."""
    if not sys.platform.startswith("linux"):
        seen = f"this is {platform.system()}"
        return [SandboxCheck("Linux", ok=False, seen=seen, remedy="Run the referee in a Linux virtual machine (docs/isolation.md)")]
    checks = []
    for title, name, package in (
        ("bubblewrap", "bwrap", "bubblewrap"),
        ("prlimit", "prlimit", "util-linux"),
        ("setpriv", "setpriv", "util-linux"),
    ):
        path = bubblewrap.tool(name)
        checks.append(_check(title, path is not None, path or f"{name} is missing", _install(package)))
    checks.append(_filter_library())
    return [*checks, _user_numbers()] if os.geteuid() == 0 else checks


def _check(title: str, ok: bool, seen: str, remedy: str) -> SandboxCheck:  # noqa: FBT001 - as the field of a check
    return SandboxCheck(title, ok, seen, "" if ok else remedy)


def _user_numbers() -> SandboxCheck:
    """Check whether root can start bots as other users: in a user namespace root may be the only user."""
    spans = [tuple(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()]
    ok = any(start <= FIRST and start + count > LAST for start, _, count in spans)
    seen = f"{FIRST} to {LAST} can be given to bots" if ok else f"root of a user namespace without the numbers {FIRST} to {LAST}"
    return _check("user numbers", ok, seen, "Run as an ordinary user, or map 65,536 user numbers into the namespace")


def _filter_library() -> SandboxCheck:
    seen, remedy = "loaded", _install("libseccomp2")
    try:
        if not ctypes.util.find_library("seccomp"):
            seen = "libseccomp is missing"
        else:
            import pyseccomp  # noqa: F401 - whether it can be loaded is the question
    except (RuntimeError, OSError, AttributeError) as error:
        seen = f"it can't be loaded: {error}"
    except ImportError as error:
        seen, remedy = f"its Python binding can't be loaded: {error}", f"Install it: {install_command('pyseccomp')}"
    return _check("libseccomp", seen == "loaded", seen, remedy)


def prove(isolation: Level, variants: Iterable[str], *, is_deep: bool = False) -> list[SandboxCheck]:
    """Return the results of the self-check for each of the given variants; without any, for all variants.

    ``is_deep`` also tests the cap on memory. A test that passes is noted on disk.
    """
    plans: dict[str, Plan] = {}
    for probe in map(bot_plan, probe_bots()):
        plans.setdefault(variant_for(needs(probe)), probe)
    chosen = set(variants) or set(plans)
    if VARIANT_A in chosen and VARIANT_A not in plans:
        # No Python here is readable for all users. Variant B tests the parts that both variants have.
        chosen |= {VARIANT_B}
    if VARIANT_B in chosen:
        # Every Python can run in it. Otherwise B would stay untested on machines where other users can read all of them.
        plans.setdefault(VARIANT_B, next(iter(plans.values())))
    checks = []
    for variant in (variant for variant in VARIANTS if variant in chosen and variant in plans):
        variant_isolation = isolation._replace(has_variant_a=variant != VARIANT_B)
        made = [check._replace(variant=variant) for check in _run(variant_isolation, plans[variant], variant, is_deep=is_deep)]
        checks += made
        if all(check.ok for check in made):
            check_cache.keep(isolation, variant)
    return checks


def probe_bots() -> Iterator[Bot]:
    """Return the self-check as bots: on this Python, and on the system's Python, which other users can usually read."""
    script = selfcheck.__file__
    for python in dict.fromkeys((runtime.OWN_PYTHON, "/usr/bin/python3")):
        if os.access(python, os.X_OK):
            yield Bot("the self-check", (python, "-I", script), "/", (submission.Piece(script, "selfcheck.py"),))


def _run(isolation: Level, probe: Plan, variant: str, *, is_deep: bool) -> Iterator[SandboxCheck]:
    """Run the self-check in a sandbox, with a file and listeners outside that it must not reach."""
    with socket.socket() as listener, socket.socket(socket.AF_UNIX) as named:
        listener.bind(("127.0.0.1", 0))
        name = f"referee-{secrets.token_hex(8)}"
        named.bind(f"\0{name}")
        for each in (listener, named):
            each.listen()
        launcher = PlanLauncher()
        try:
            canary = Path(launcher.new_folder(), "canary")
            canary.write_text(secrets.token_hex())
            canary.chmod(0o644)
            outside = (str(canary), str(listener.getsockname()[1]), name, str(_PROCESSES + 1), str(_LIMITS.memory_bytes if is_deep else 0))
            tried = probe._replace(inside=(*probe.inside, *outside))
            report, said, freezes = _watch(launcher, tried, isolation._replace(limits=_LIMITS, ends_whole=False))
        finally:
            launcher.close()
    if report is None:
        yield SandboxCheck("sandbox starts", ok=False, seen=said.removesuffix(landlock.ADVICE), remedy=remedy(said))
        return
    yield SandboxCheck("sandbox starts", ok=True, seen=f"a sandbox ({variant})")
    for title, (ok, seen) in report.items():
        yield _check(title, bool(ok), cut(str(seen), 200), "Don't run strangers' programs here, and report this")
    if freezes is not None:
        advice = "Check that the freezer of the control groups works (docs/isolation.md)"
        yield _check("freezer holds", freezes, "frozen and continued" if freezes else "it doesn't stop", advice)


def _watch(launcher: PlanLauncher, plan: Plan, level: Level) -> tuple[dict[str, tuple[bool, str]] | None, str, bool | None]:
    """Run the self-check as a bot of a match. Return its report, or None and the reason; and whether the freezer works."""
    log = Log(None, 0)
    try:
        process = launcher.launch_plans({_SEAT: plan}, level, {_SEAT: log}, 60)[_SEAT]
        launcher.wait()
    except (MatchVoid, StartError) as error:
        return None, _last_words(log, str(error)), None
    assert isinstance(process, SandboxedProcess)
    process.close_stdin()
    freezes = can_freeze(process) if process.holds else None
    printed, deadline = b"", time.monotonic() + _PATIENCE
    while process.stdout >= 0 and (left := deadline - time.monotonic()) > 0:
        for fd, _ in readable([fd for fd in (process.stdout, process.stderr) if fd >= 0]).poll(left * 1000):
            if fd == process.stdout:
                printed += process.read_stdout()
            else:
                process.log_stderr()
    while process.log_stderr():
        pass
    try:
        return json.loads(printed), "", freezes
    except ValueError:
        return None, _last_words(log, "the sandbox ended without a message"), None


def _last_words(log: Log, otherwise: str) -> str:
    """Return the last line on stderr, or ``otherwise`` without one."""
    lines = log.last_lines()
    return cut(lines[-1].decode("utf-8", "replace") if lines else otherwise, 200)


#: How often the freezer is tested before it counts as broken, and how long each test may take, in seconds.
_TRIES = 5
_FREEZE_SECONDS = 5.0


def can_freeze(sandbox: SandboxedProcess) -> bool:
    """True if the freezer stops everything inside. On a busy machine a single test can be late, so one success is enough."""
    return any(_freezes_now(sandbox, (number + 1) * _FREEZE_SECONDS) for number in range(_TRIES))


def _freezes_now(sandbox: SandboxedProcess, patience: float) -> bool:
    group = sandbox.group
    assert group is not None
    sandbox.stop()
    try:
        deadline = time.monotonic() + patience
        while not group.is_frozen():
            if time.monotonic() >= deadline:
                return False
            select.select([], [], [], 0.001)
        before = group.seconds() if group.has_accounts else 0.0
        select.select([], [], [], 0.005)
        return not group.has_accounts or group.seconds() - before < 0.002
    finally:
        sandbox.go_on()


def remedy(said: str) -> str:
    """Return the remedy for a sandbox that doesn't start, by bwrap's message."""
    remedies = (
        ("disable-userns", "bubblewrap is too old; 0.8 or later is needed (Debian 12, Ubuntu 24.04)"),
        ("setting up uid map", _APPARMOR),
        ("RTM_NEWADDR", _APPARMOR),
        ("Creating new namespace failed", _NAMESPACES),
        ("No permissions to creat", _NAMESPACES),
        ("Can't mount proc", "In Docker: --security-opt systempaths=unconfined --security-opt seccomp=unconfined (docs/isolation.md)"),
        ("Failed to make / slave", "In Docker: --security-opt seccomp=unconfined --cap-add SYS_ADMIN (docs/isolation.md)"),
        (
            "a limit of the sandbox can't be set",
            "Start the referee with higher limits; the check 'hard limits' of referee doctor names them",
        ),
        ("failed to execute", "The sandbox's user can't run this Python; install one that everybody can read: apt install python3"),
    )
    return next((text for words, text in remedies if words in said), "See docs/isolation.md")


_APPARMOR = "Ubuntu 24.04 forbids user namespaces by AppArmor: install a profile for bwrap (docs/isolation.md has it)"
_NAMESPACES = "Allow user namespaces: sysctl user.max_user_namespaces=10000, on older Debian also kernel.unprivileged_userns_clone=1 (docs/isolation.md)"
