"""referee doctor, and what is refused where the sandbox can't be had."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sandboxes import need

from referee.errors import UsageError
from referee.isolation import bubblewrap, check_cache, probe
from referee.isolation.choose import choose, forget
from referee.isolation.diagnosis import diagnose
from referee.isolation.limits import LEVELS, Limits
from referee.isolation.plan import VARIANT_A

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.isolation.bot import Bot
    from referee.isolation.level import Level
    from referee.isolation.probe import SandboxCheck

    Cli = Callable[..., subprocess.CompletedProcess[str]]


def test_the_doctor_tries_everything_and_says_what_it_saw(best: Level, referee: Cli) -> None:
    done = referee("doctor")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("Strict isolation is available: "), "the verdict comes first"
    assert re.search(r"^  ok    \d+ checks of this machine$", done.stdout, re.MULTILINE)
    assert re.search(r"^  ok    \d+ checks in a sandbox entered as ", done.stdout, re.MULTILINE)
    told = json.loads(referee("doctor", "--json").stdout)
    for name in (
        "no capabilities",
        "secrets unreadable",
        "network unreachable",
        "nothing writable",
        "forks stop at the cap",
        "memory stops",
    ):
        assert any(check["name"].startswith(name) and check["ok"] for check in told["checks"]), name
    assert "FAIL" not in done.stdout
    assert "--isolation strict" in done.stdout
    for name, extra in told["extras"].items():
        assert extra["works"] == (not extra["missing"])
        assert re.search(rf"^  {'yes' if extra['works'] else 'no '}  +{name} ", done.stdout, re.MULTILINE), name
    assert told["strict"] is True
    assert told["levels"][-2:] == ["limits", "none"]
    assert all(check["ok"] for check in told["checks"])


#: What may be missing, how that is made so, and the remedy.
MISSING = {
    "bwrap": "apt install bubblewrap",
    "prlimit": "apt install util-linux",
    "setpriv": "apt install util-linux",
}


@pytest.mark.parametrize("name", sorted(MISSING))
def test_strict_without_a_part_is_refused_with_the_remedy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = bubblewrap.tool
    monkeypatch.setattr(bubblewrap, "tool", lambda wanted: None if wanted == name else real(wanted))
    with pytest.raises(UsageError, match=MISSING[name]) as raised:
        choose("strict", Limits())
    assert raised.value.exit_code == 2
    found = diagnose()
    assert not found.is_strict
    assert "isolated" not in found.levels
    weaker = choose("auto", Limits(), _programs())
    assert weaker.name == "limits"
    assert "missing" in weaker.notes[0]


def _programs() -> list[Bot]:
    return list(probe.probe_bots())


def test_without_libseccomp_strict_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.util.find_library", lambda name: None)
    with pytest.raises(UsageError, match="apt install libseccomp2"):
        choose("strict", Limits())


def test_without_user_namespaces(best: Level, referee: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bwrap that says what the real one says where user namespaces are forbidden, as an ordinary user would meet it."""
    for said, remedy in (
        ("bwrap: setting up uid map: Permission denied", "AppArmor"),
        (
            "bwrap: No permissions to creating new namespace, likely because the kernel does not allow non-privileged user namespaces.",
            "sysctl",
        ),
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "systempaths=unconfined"),
        ("bwrap: Unknown option --disable-userns", "0.8 or later"),
    ):
        fake = tmp_path / "bwrap"
        fake.write_text(f'#!/bin/sh\necho "{said}" >&2\nexit 1\n')
        fake.chmod(0o755)
        tmp_path.chmod(0o755)
        real = bubblewrap.tool
        monkeypatch.setattr(bubblewrap, "tool", lambda wanted, real=real, fake=fake: str(fake) if wanted == "bwrap" else real(wanted))
        with pytest.raises(UsageError) as raised:
            choose("strict", Limits())
        monkeypatch.setattr(bubblewrap, "tool", real)
        assert said.split(":")[1].strip()[:20] in str(raised.value)
        assert remedy in str(raised.value)
        assert str(raised.value).count("sandbox starts") >= 1


def test_a_check_that_fails_inside_refuses_strict(monkeypatch: pytest.MonkeyPatch, best: Level) -> None:
    """The self-check can fail: here it finds the planted file, because it is shown."""
    command = bubblewrap.command

    def leaky(box: bubblewrap.SandboxConfig) -> tuple[str, ...]:
        line = list(command(box))
        at = line.index("--remount-ro", line.index("--chdir"))
        canary = next(word for word in box.argv if word.endswith("canary"))
        return (*line[:at], "--perms", "0755", "--dir", os.path.dirname(canary), "--ro-bind", canary, canary, *line[at:])

    monkeypatch.setattr(bubblewrap, "command", leaky)
    with pytest.raises(UsageError, match="secrets unreadable: read: "):
        choose("strict", Limits())


@pytest.mark.parametrize("is_open", [False, True])
def test_a_sandbox_with_a_network_refuses_strict(is_open: bool, monkeypatch: pytest.MonkeyPatch, best: Level) -> None:
    """Also where every Python of the machine is open to other users: there the other variant was once accepted without a check."""
    if is_open:
        monkeypatch.setattr(probe, "variant_for", lambda binds: VARIANT_A)
    command = bubblewrap.command
    monkeypatch.setattr(bubblewrap, "command", lambda box: tuple(word for word in command(box) if word != "--unshare-net"))
    with pytest.raises(UsageError, match="network unreachable: reached: loopback, abstract socket"):
        choose("strict", Limits())


def test_strict_on_the_command_line_without_bwrap_exits_2(referee: Cli, tmp_path: Path) -> None:
    """A whole command in which no bwrap is to be found."""
    code = (
        "import sys\nfrom referee.isolation import bubblewrap\nreal = bubblewrap.tool\n"
        "bubblewrap.tool = lambda name: None if name == 'bwrap' else real(name)\n"
        "sys.argv = ['referee', 'play', 'boxer', 'runner', '--isolation', 'strict']\nfrom referee.__main__ import main\nmain()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    assert done.returncode == 2
    assert "bubblewrap: bwrap is missing. Install it: apt install bubblewrap" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.rglob("*.gz"))


@pytest.mark.parametrize(("wish", "level"), [("none", "none"), ("limits", "limits")])
def test_the_level_is_in_the_result_the_replay_and_the_report(wish: str, level: str, referee: Cli, tmp_path: Path) -> None:
    done = referee("play", "straight", "still", "--max-steps", "3", "--isolation", wish, "--json")
    told = json.loads(done.stdout)
    assert told["isolation"] == level
    shown = json.loads(referee("show", told["replay"], "--json").stdout)
    assert shown["head"]["isolation"] == level
    assert shown["head"]["limits"].get("memory_bytes") == (None if level == "none" else 512 << 20)


def test_auto_takes_the_best_and_says_which(best: Level, referee: Cli) -> None:
    done = referee("play", "straight", "still", "--max-steps", "3")
    assert f"  sandbox  {best.name}" in done.stdout
    assert best.name in LEVELS[:2]


def test_a_proof_is_believed_for_auto_and_made_anew_for_strict(best: Level, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made: list[str] = []
    prove = probe.prove

    def counted(isolation: Level, ways: set[str], *, is_deep: bool = False) -> list[SandboxCheck]:
        made.append("self-check")
        return prove(isolation, ways, is_deep=is_deep)

    monkeypatch.setattr(probe, "prove", counted)
    programs = [program for program in _programs() if program.argv[0] == sys.executable]
    choose("auto", Limits(), programs)
    assert len(made) == 1
    choose("auto", Limits(), programs)
    assert len(made) == 1
    choose("strict", Limits(), programs)
    assert len(made) == 2
    for note in Path(tmp_path, "referee").iterdir():
        os.utime(note, (1, 1))
    choose("auto", Limits(), programs)
    assert len(made) == 3
    # A setting of the kernel that has changed, and a sandbox that has failed, end the belief at once.
    with monkeypatch.context() as changed:
        (tmp_path / "setting").write_text("0")
        changed.setattr(check_cache, "SETTINGS", (*check_cache.SETTINGS[1:], str(tmp_path / "setting")))
        choose("auto", Limits(), programs)
        assert len(made) == 4
    choose("auto", Limits(), programs)
    assert len(made) == 4
    forget(best._replace(is_strict=False))
    choose("auto", Limits(), programs)
    assert len(made) == 5


def test_root_takes_the_other_way_in_where_the_first_fails(best: Level, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() != 0:
        pytest.skip("an ordinary user has one way in")
    system = [program for program in _programs() if program.argv[0] == "/usr/bin/python3"]
    need(bool(system), "/usr/bin/python3 is missing")
    assert choose("strict", Limits(), system).has_variant_a
    command = bubblewrap.command

    def forbidden(box: bubblewrap.SandboxConfig) -> tuple[str, ...]:
        line = command(box)
        return ("/bin/sh", "-c", "echo bwrap: setting up uid map: Permission denied >&2; exit 1") if box.own_namespace else line

    monkeypatch.setattr(bubblewrap, "command", forbidden)
    found = choose("strict", Limits(), system)
    assert found.name == best.name
    assert not found.has_variant_a
    diagnosis = diagnose()
    assert diagnosis.is_strict
    assert [check.seen for check in diagnosis.checks if not check.ok] == ["bwrap: setting up uid map: Permission denied"]
