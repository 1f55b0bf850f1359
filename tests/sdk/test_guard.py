"""Stdout under a referee, and nothing touched elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from conftest import play_match

NOISY = """
import os, subprocess, sys
print("before the import: this line would be malformed") if {early} else None
import sdk
print("print while loading")
os.write(1, b"a write to descriptor 1 while loading\\n")
subprocess.run(["sh", "-c", "echo a child process"])
class Bot(sdk.HunterBot):
    def hunt(self, state):
        print("print while playing")
        subprocess.run(["sh", "-c", "echo a child at play; cat"])
        sys.stdout.write("no newline")
        return None
Bot.main()
"""


def test_everything_that_is_printed_lands_in_the_log(tmp_path: Path) -> None:
    bot = tmp_path / "noisy.py"
    bot.write_text(NOISY.format(early=False))
    result = play_match(str(bot), "still", max_steps=3, replay=tmp_path / "x.gz")
    assert not result.faults
    log = result.logs["hunter"].read_text()
    for text in (
        "print while loading",
        "a write to descriptor 1",
        "a child process",
        "print while playing",
        "a child at play",
        "no newline",
    ):
        assert text in log


def test_what_is_printed_before_the_import_is_a_fault_that_shows_it(tmp_path: Path) -> None:
    bot = tmp_path / "noisy.py"
    bot.write_text(NOISY.format(early=True))
    result = play_match(str(bot), "still", max_steps=3)
    # A referee on a busy machine finds the line before it has asked anything; the sentence then says so.
    fault = result.failures["hunter"]
    assert (fault.kind, fault.line) == ("malformed", "'before the import: this line would be malformed'")
    assert "'before the import: this line" in fault.text


def test_elsewhere_the_import_touches_nothing() -> None:
    code = """
    import os, sys
    before = [os.fstat(fd).st_ino for fd in (0, 1, 2)], sys.stdout, len(os.listdir("/dev/fd"))
    import sdk, sdk.testing
    after = [os.fstat(fd).st_ino for fd in (0, 1, 2)], sys.stdout, len(os.listdir("/dev/fd"))
    assert before == after
    print("on stdout")
    """
    environment = {name: value for name, value in os.environ.items() if name != "REFEREE_PROTOCOL"}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "on stdout\n"


@pytest.mark.parametrize("protocol", ["1", ""])
def test_only_under_a_referee_a_signal_asks_for_the_stack(protocol: str) -> None:
    code = "import os, sdk\nos.kill(os.getpid(), 16 if os.uname().sysname == 'Darwin' else 23)\n"
    environment = {**os.environ, "REFEREE_PROTOCOL": protocol}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=True)
    assert ('File "<string>", line 2 in <module>' in done.stderr) == bool(protocol)
