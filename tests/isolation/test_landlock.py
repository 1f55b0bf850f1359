"""What hides the files of /proc that every process has of its own; ``reads_secrets`` among the intruders tries to read them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from referee.isolation import bubblewrap, landlock

PERL = bubblewrap.tool("perl")


def test_without_perl_the_program_is_started_as_it_is() -> None:
    assert landlock.before(None) == ()


@pytest.mark.skipif(PERL is None, reason="Perl is missing")
def test_the_program_gets_its_words_and_its_exit_status_is_its_own() -> None:
    program = "import sys; print(sys.argv[1:]); sys.exit(7)"
    ended = subprocess.run(
        [*landlock.before(PERL), sys.executable, "-c", program, "--", "a b", "-e"], capture_output=True, text=True, check=False
    )
    assert (ended.stdout, ended.returncode) == ("['--', 'a b', '-e']\n", 7)


@pytest.mark.skipif(PERL is None, reason="Perl is missing")
@pytest.mark.parametrize(("program", "status"), [("/nowhere/bot", 127), ("/etc", 126)])
def test_a_program_that_cannot_be_started_is_named(program: str, status: int) -> None:
    ended = subprocess.run([*landlock.before(PERL), program], capture_output=True, text=True, check=False)
    assert ended.returncode == status
    assert ended.stderr.startswith(f"landlock: failed to execute {program}: ")
