"""Bots as users of their own: where nothing is needed for it, and in a setting like a grader's container."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

import pytest
from sandboxes import ROOT, run_in_container

from referee.errors import UsageError
from referee.isolation import bubblewrap, supervisor
from referee.isolation.choose import choose
from referee.isolation.limits import LIMITS_USER, Limits

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
@pytest.mark.alone
def test_in_a_container_no_bot_reaches_the_results(tmp_path: Path) -> None:
    tmp_path.chmod(0o711)
    checks = str(ROOT / "tests" / "isolation" / "container_checks.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp", str(tmp_path / "tests"), checks]
    done = run_in_container(command, tmp_path)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) >= 17
    assert "skipped" not in done.stdout, done.stdout


@pytest.mark.slow
@pytest.mark.alone
def test_in_a_container_no_build_reaches_out(tmp_path: Path) -> None:
    tmp_path.chmod(0o711)
    checks = str(ROOT / "tests" / "players" / "test_hostile_builds.py")
    chosen = ["-m", "slow", "-k", "limits+user or another_user"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp", str(tmp_path / "tests"), *chosen, checks]
    done = run_in_container(command, tmp_path)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) >= 18
    assert "skipped" not in done.stdout, done.stdout


def test_only_root_can_start_bots_as_users_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UsageError, match="only root can start them so"):
        choose(LIMITS_USER, Limits())


@pytest.mark.parametrize("name", ["setpriv", "prlimit", "perl"])
def test_a_missing_tool_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(bubblewrap, "tool", lambda tool: None if tool == name else f"/usr/bin/{tool}")
    with pytest.raises(UsageError, match=f"this machine has no {name}"):
        choose(LIMITS_USER, Limits())


@pytest.mark.slow
def test_a_folder_of_any_depth_is_removed(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    before = os.getcwd()
    try:
        os.chdir(top)
        for _ in range(3000):
            os.mkdir("a")
            os.symlink("/", "link")
            with open("file", "w") as file:
                file.write("x")
            os.chdir("a")
    finally:
        os.chdir(before)
    supervisor.remove_tree(str(top))
    assert list(tmp_path.iterdir()) == []
