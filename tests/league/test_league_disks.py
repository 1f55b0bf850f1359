"""Leagues in folders that can't be written, and reports on full disks."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from leagues import open_new, write_league
from sandboxes import need

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Referee = Callable[..., subprocess.CompletedProcess[str]]

LINE = shlex.join([sys.executable, "-m", "referee", "league"])


def in_a_mount(script: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script with mounts of its own."""
    need(os.geteuid() == 0, "only root can mount", of_kernel=True)
    return subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, timeout=300)


@pytest.mark.slow
@pytest.mark.parametrize("is_killed", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_a_league_that_can_only_be_read_is_read(is_killed: bool, referee: Referee, tmp_path: Path) -> None:
    file, out, other = write_league(tmp_path / "in", 2), tmp_path / "out", tmp_path / "other"
    assert referee("league", "run", file, "--out", out).returncode == 0
    if is_killed:
        # Some of the results are in the log alone, and nobody has put them into the file.
        script = "import os, sys; from pathlib import Path; from referee.tournament.store import Store\n"
        script += "from referee.tournament.values import Record\nstore = Store.open('league', Path(sys.argv[1]))\n"
        script += "store.add(Record('more', void='lost'), counts=False); os._exit(0)"
        subprocess.run([sys.executable, "-c", script, out], check=True, timeout=60)
        assert (out / "league.sqlite-wal").stat().st_size > 0
    before = referee("league", "export", out, "--csv").stdout if not is_killed else ""
    quoted = shlex.quote(str(out))
    done = in_a_mount(f"""
mount --bind {quoted} {quoted} && mount -o remount,ro,bind {quoted} || exit 99
{LINE} standings {quoted}; echo standings $?
{LINE} verify {quoted}; echo verify $?
{LINE} export {quoted} --csv; echo export $?
{LINE} report {quoted}; echo report $?
{LINE} report {quoted} --out {shlex.quote(str(other))}; echo other $?
{LINE} resume {quoted}; echo resume $?
""")
    assert "Traceback" not in done.stderr, done
    for told in (
        "standings 0",
        "2 replays checked, 0 problems.\nverify 0",
        f"{before}export 0",
        "report 2",
        "other 0",
        "resume 2",
    ):
        assert told in done.stdout, done
    assert "The report can't be written into" in done.stderr
    assert "Name another folder with --out." in done.stderr
    assert done.stderr.count("can't be played here: its folder can't be written (Read-only file system)") == 1, done.stderr
    assert (other / "report.html").exists()
    assert len(list((other / "pages").rglob("*.js"))) == 2


def test_a_log_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    open_new(tmp_path, teams=2).close()
    out = tmp_path / "out"
    (out / "league.sqlite-wal").write_bytes(b"x" * 5000)
    (out / "league.sqlite-shm").unlink(missing_ok=True)
    quoted = shlex.quote(str(out))
    done = in_a_mount(f"mount --bind {quoted} {quoted} && mount -o remount,ro,bind {quoted} || exit 99; {LINE} standings {quoted}; echo $?")
    assert done.stdout == "2\n", done
    assert "was not closed by its last process, and its folder can't be written. Copy the league's folder" in done.stderr


def test_a_report_on_a_full_disk_names_the_file(referee: Referee, tmp_path: Path) -> None:
    file, out, disk = write_league(tmp_path / "in", 2), tmp_path / "out", tmp_path / "disk"
    assert referee("league", "run", file, "--out", out).returncode == 0
    disk.mkdir()
    done = in_a_mount(
        f"mount -t tmpfs -o size=40k none {shlex.quote(str(disk))}; {LINE} report {shlex.quote(str(out))} --out {shlex.quote(str(disk))}"
    )
    assert done.returncode == 4, done
    assert f"{disk}/" in done.stderr
    assert "No space left on device" in done.stderr


def test_a_missing_replay_is_not_left_out_to_save_room(referee: Referee, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert referee("league", "run", write_league(tmp_path / "in", 2), "--out", out).returncode == 0
    next((out / "replays").rglob("*.gz")).unlink()
    told = referee("league", "report", out)
    assert told.returncode == 0
    assert "1 replay can't be read: " in told.stderr
    assert "to keep the folder small" not in told.stderr
