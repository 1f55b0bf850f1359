"""Our own modules as processes."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from referee import __version__
from referee.support.processes import NICENESS, freeze_old_objects, start_module

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_collections_of_garbage_pass_over_what_was_there_before() -> None:
    try:
        freeze_old_objects()
        before = gc.get_freeze_count()
        assert before > 1_000
        assert len(gc.get_objects()) < before / 10
    finally:
        gc.unfreeze()


def test_a_module_of_the_users_never_stands_for_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the folder that the command is called in nor a relative entry of the path leads to another ``referee``."""
    (tmp_path / "referee").mkdir()
    (tmp_path / "referee" / "__init__.py").write_text("raise SystemExit('the wrong one')")
    monkeypatch.chdir(tmp_path)
    process = start_module("referee", "--version", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said, _ = process.communicate()
    assert process.returncode == 0, said
    assert __version__.encode() in said


PARENT = """
import os, subprocess
from pathlib import Path
from referee.support.processes import lower_priority, start_module
lower_priority()
started = start_module("json.tool", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
for pid in (os.getpid(), started.pid):
    weight = Path(f"/proc/{pid}/autogroup")
    print(os.getpriority(os.PRIO_PROCESS, pid), *(weight.read_text().split()[1:] if weight.exists() else ()))
started.kill()
"""


def test_what_gives_way_has_a_low_priority_and_so_has_the_session_of_what_it_starts() -> None:
    """Where Linux shares processors between sessions, the priority of a session is that of its first process."""
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    told = subprocess.run([sys.executable, "-c", PARENT], start_new_session=True, capture_output=True, text=True, check=True).stdout
    own, started = told.splitlines()
    assert own.split()[0] == str(min(usual + NICENESS, 19))
    assert started == own
