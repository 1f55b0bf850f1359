"""What hides the files of /proc, and sets a bot's limits, inside a sandbox; ``reads_secrets`` and ``reads_counters`` try to read them."""

from __future__ import annotations

import resource
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from sandboxes import need

from referee.isolation import bubblewrap, landlock, probe

if TYPE_CHECKING:
    from referee.isolation.level import Level

PERL = bubblewrap.tool("perl") or ""
#: As many layers of rules as the kernel allows for one process.
MOST_LAYERS = 16


@pytest.fixture(autouse=True)
def _perl() -> None:
    need(PERL != "" and landlock.is_known(), "Perl or Landlock is missing")


def ran(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_program_gets_its_words_and_its_exit_status_is_its_own() -> None:
    program = "import sys; print(sys.argv[1:]); sys.exit(7)"
    ended = ran(*landlock.before(PERL, (), {}), sys.executable, "-c", program, "--", "a b", "-e")
    assert (ended.stdout, ended.returncode) == ("['--', 'a b', '-e']\n", 7)


@pytest.mark.parametrize(("program", "status"), [("/nowhere/bot", 127), ("/etc", 126)])
def test_a_program_that_cannot_be_started_is_named(program: str, status: int) -> None:
    ended = ran(*landlock.before(PERL, (), {}), program)
    assert ended.returncode == status
    assert ended.stderr.startswith(f"landlock: failed to execute {program}: ")


def test_only_what_is_shown_can_be_read() -> None:
    command = landlock.before(PERL, ("version", "tty"), {})
    assert ran(*command, "/bin/cat", "/proc/version", "/proc/tty/drivers").returncode == 0
    for path in ("/proc/vmstat", "/proc/sys/kernel/hostname", "/proc/self/mountinfo", "/proc/1/status"):
        refused = ran(*command, "/bin/cat", path)
        assert (refused.stdout, refused.returncode) == ("", 1), path
        assert "Permission denied" in refused.stderr


def test_the_limits_hold_and_cannot_be_raised() -> None:
    program = """
import resource
print(resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrlimit(resource.RLIMIT_CORE))
resource.setrlimit(resource.RLIMIT_NOFILE, (30, 30))
"""
    ended = ran(*landlock.before(PERL, (), {resource.RLIMIT_NOFILE: 20, resource.RLIMIT_CORE: 0}), sys.executable, "-c", program)
    assert ended.stdout == "(20, 20) (0, 0)\n"


def test_a_program_whose_limit_is_refused_is_not_started() -> None:
    ended = ran(*landlock.before(PERL, (), {1_000: 20}), "/bin/echo", "started")
    assert (ended.stdout, ended.returncode) == ("", 125)
    assert ended.stderr == "landlock: a limit of the sandbox can't be set (Invalid argument); try: referee doctor\n"


def test_a_program_whose_rules_are_refused_is_not_started() -> None:
    layers = MOST_LAYERS * landlock.before(PERL, (), {})
    assert ran(*layers, "/bin/echo", "started").stdout == "started\n"
    ended = ran(*landlock.before(PERL, (), {}), *layers, "/bin/echo", "started")
    assert (ended.stdout, ended.returncode) == ("", 125)
    assert ended.stderr == "landlock: the rules of the sandbox can't be set (Argument list too long); try: referee doctor\n"


def test_without_landlock_mounts_hide_the_counters(best: Level, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "/proc/vmstat" not in bubblewrap.covered(has_rules=True)
    monkeypatch.setattr(landlock, "is_known", lambda: False)
    checks = probe.prove(best, ())
    assert [check for check in checks if not check.ok] == []
    seen = {check.seen for check in checks if check.name == "host hidden"}
    readable = "readable (it takes Perl and a kernel with Landlock to hide it)"
    assert seen == {f"the kernel's command line: hidden, its counters: hidden, the table of mounts: {readable}"}


def test_counters_that_nothing_hides_refuse_strict(best: Level, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "covered", lambda *, has_rules: ())
    monkeypatch.setattr(bubblewrap, "perl_path", lambda: None)
    checks = probe.prove(best, ())
    assert "host hidden" in {check.name for check in checks if not check.ok}
    assert all("its counters: READ" in check.seen for check in checks if check.name == "host hidden")
