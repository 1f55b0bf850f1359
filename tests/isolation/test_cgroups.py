"""Control groups: real ones where there are any, and what is made of those of version 2 where there are none."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sandboxes import need

from referee.isolation import cgroups
from referee.isolation.cgroups import BotGroups, Trees
from referee.isolation.names import own_prefix


@pytest.fixture
def trees() -> Trees:
    found = cgroups.find()
    need(found.has_caps and found.has_freezer, f"control groups: {found.why}", of_kernel=True)
    return found


def hold(group: BotGroups) -> None:
    """Burn in a group, freeze it, see that nothing inside can undo that, thaw it, end it and remove the group."""
    burning = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        group.put(burning.pid)
        assert group.pids() == [burning.pid]
        while group.seconds() < 0.01:
            pass
        group.freeze()
        while not group.is_frozen():
            pass
        before, begun = group.seconds(), time.perf_counter()
        while time.perf_counter() - begun < 0.1:
            os.kill(burning.pid, signal.SIGCONT)
        # The kernel itself takes a moment to look at a signal; the process, which would have burnt all of it, nothing.
        assert group.seconds() - before < 0.05
        while not group.is_frozen():
            pass
        before = group.seconds()
        assert not group.remove(), "it isn't empty"
        group.thaw()
        while group.seconds() == before:
            pass
    finally:
        group.thaw()
        burning.kill()
        burning.wait()
        group.close()
        while not group.remove():
            pass


@pytest.mark.alone
def test_a_group_holds_counts_and_is_removed(trees: Trees) -> None:
    group = BotGroups(trees, f"referee-{os.getpid()}-test", 64 << 20, 8)
    hold(group)
    assert not any(Path(folder).exists() for folder in group.folders.values())
    assert group.memory_kills() == 0


def test_a_cap_on_memory_kills_and_is_counted(trees: Trees) -> None:
    group = BotGroups(trees, f"referee-{os.getpid()}-test", 32 << 20, 8)
    code = "import sys; sys.stdin.read(1); held = bytearray(b'x' * (256 << 20)); print(len(held))"
    greedy = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        group.put(greedy.pid)
        out, _ = greedy.communicate(b"g")
        assert out == b""
        assert greedy.returncode == -signal.SIGKILL
        assert group.memory_kills() == 1
    finally:
        group.close()
        while not group.remove():
            pass


FILLS = """
import socket, sys
sys.stdin.read(1)
listening = socket.create_server(("127.0.0.1", 0))
ends = []
sent = 0
for _ in range(20):
    ends += [socket.create_connection(listening.getsockname()), listening.accept()[0]]
    for end in ends[-2:]:
        end.setblocking(False)
        try:
            while sent < 256 << 20:
                sent += end.send(bytes(1 << 16))
        except BlockingIOError:
            pass
print(sent)
"""


def test_what_the_kernel_holds_for_connections_has_a_cap(trees: Trees) -> None:
    group = BotGroups(trees, f"referee-{os.getpid()}-test", 64 << 20, 8)
    filling = subprocess.Popen([sys.executable, "-c", FILLS], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        group.put(filling.pid)
        out, _ = filling.communicate(b"g")
        assert int(out or 0) < 64 << 20
    finally:
        group.close()
        while not group.remove():
            pass


@pytest.fixture
def unified(tmp_path: Path) -> Path:
    """A tree that looks like version 2, made of ordinary files; the kernel's part is played by the test."""
    own = tmp_path / "user.slice" / "scope"
    own.mkdir(parents=True)
    (own / "cgroup.controllers").write_text("cpu io memory pids\n")
    (own / "cgroup.subtree_control").write_text("")
    (own / "cgroup.procs").write_text(f"{os.getpid()}\n")
    return own


def found_below(tmp_path: Path, group: str = "/user.slice/scope") -> Trees:
    """What a process in that group finds."""
    (tmp_path / "own").write_text(f"0::{group}\n")
    return cgroups.find(str(tmp_path), str(tmp_path / "own"))


def test_version_2_moves_the_referee_to_a_leaf_and_hands_out_controllers(unified: Path, tmp_path: Path) -> None:
    found = found_below(tmp_path)
    assert found.is_unified
    assert found.has_caps
    assert found.has_freezer
    assert found.has_accounts
    assert (unified / "cgroup.subtree_control").read_text() == "+cpu +memory +pids"
    leaf = unified / f"{own_prefix(os.getpid())}-self"
    assert (leaf / "cgroup.procs").read_text() == "0"
    # The next match of this process finds itself in the leaf, and its parent ready.
    (unified / "cgroup.subtree_control").write_text("cpu memory pids\n")
    assert found_below(tmp_path, f"/user.slice/scope/{leaf.name}") == found


def test_version_2_with_others_in_the_group_says_why(unified: Path, tmp_path: Path) -> None:
    (unified / "cgroup.procs").write_text(f"{os.getpid()}\n1\n")
    found = found_below(tmp_path)
    assert not found.has_caps
    assert found.why == "its control group can't hand out controllers (other processes are in it)"
    (unified / "cgroup.controllers").write_text("cpu\n")
    assert "no memory or pids controller" in found_below(tmp_path).why


def test_version_2_writes_and_reads_the_files_of_its_own(unified: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mkdir = os.mkdir
    files = {
        "memory.max": "max",
        "memory.swap.max": "max",
        "memory.oom.group": "0",
        "memory.events": "low 0\noom 2\noom_kill 2\n",
        "pids.max": "max",
        "pids.events": "max 3\n",
        "cgroup.freeze": "0",
        "cgroup.events": "populated 1\nfrozen 1\n",
        "cgroup.procs": "",
        "cpu.stat": "usage_usec 1500000\nuser_usec 1000000\n",
    }

    def made(path: str, mode: int = 0o777) -> None:
        mkdir(path, mode)
        for name, text in files.items():
            Path(path, name).write_text(text)

    monkeypatch.setattr(os, "mkdir", made)
    tree = Trees({"unified": str(unified)}, frozenset({"memory", "pids", "freezer", "cpuacct"}), is_unified=True)
    group = BotGroups(tree, "referee-1-0", 1 << 29, 65)
    folder = unified / "referee-1-0"

    def said(name: str) -> str:
        return (folder / name).read_text()

    assert said("memory.max").startswith(str(1 << 29))
    assert (said("memory.swap.max")[0], said("memory.oom.group")[0], said("pids.max")[:2]) == ("0", "1", "65")
    group.freeze()
    assert said("cgroup.freeze") == "1"
    assert group.is_frozen()
    assert group.seconds() == 1.5
    assert (group.memory_kills(), group.refused_processes()) == (2, 3)
    group.put(42)
    assert said("cgroup.procs") == "42"
    assert cgroups.thaw_files(tree, folder.name) == [(str(folder / "cgroup.freeze"), "0")]
    group.close()


def test_a_real_freezer_of_version_2(tmp_path: Path) -> None:
    """The freezer and the account of version 2 need no controller: wherever its tree is mounted they can be tried."""
    root = next(
        (Path(path) for path in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup") if Path(path, "cgroup.subtree_control").exists()), None
    )
    if root is None or not os.access(root, os.W_OK):
        pytest.skip("this kernel shows no tree of version 2 that may be written")
    group = BotGroups(
        Trees({"unified": str(root)}, frozenset({"freezer", "cpuacct"}), is_unified=True), f"referee-{os.getpid()}-test", 0, 0
    )
    hold(group)


def test_empty_groups_of_referees_that_are_gone_are_swept(trees: Trees) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    mine, left, elsewhere = f"{own_prefix(os.getpid())}-empty", f"{own_prefix(gone.pid)}-0", f"referee-{gone.pid}-77-0"
    somebody = f"somebody-{os.getpid()}"
    folder = Path(trees.folders["unified" if trees.is_unified else "memory"])
    try:
        for name in (mine, left, elsewhere, somebody):
            (folder / name).mkdir()
        cgroups.sweep(trees)
        assert [name for name in (mine, left, elsewhere, somebody) if (folder / name).exists()] == [mine, elsewhere, somebody]
    finally:
        for name in (mine, left, elsewhere, somebody):
            with contextlib.suppress(FileNotFoundError):
                (folder / name).rmdir()


@pytest.mark.alone
def test_what_is_frozen_in_a_group_of_a_referee_that_is_gone_is_killed(trees: Trees) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    group = BotGroups(trees, f"{own_prefix(gone.pid)}-0", 64 << 20, 8)
    burning = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    group.put(burning.pid)
    group.freeze()
    group.close()
    cgroups.sweep(trees)
    assert burning.wait(timeout=60) == -signal.SIGKILL
    while not group.remove():
        pass
