"""An arena whose disk becomes full while versions are added and while it plays."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from arenas import write_arena
from leagues import IDLE
from sandboxes import need

if TYPE_CHECKING:
    from pathlib import Path

LINE = shlex.join([sys.executable, "-m", "referee", "arena"])


@pytest.mark.soak
def test_a_full_disk_leaves_nothing_half_written_and_the_arena_goes_on_with_room(tmp_path: Path) -> None:
    need(os.geteuid() == 0, "only root can mount", of_kernel=True)
    write_arena(tmp_path / "files", 2)
    disk = tmp_path / "disk"
    disk.mkdir()
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(f"# {name}\n{IDLE}")
    # More than there will be room for.
    (tmp_path / "three.py").write_text(f"# {os.urandom(60_000).hex()}\n{IDLE}")
    add = f"{LINE} add arena"
    done = subprocess.run(
        [
            "unshare",
            "--mount",
            "sh",
            "-c",
            f"""
mount -t tmpfs -o size=4m none {shlex.quote(str(disk))} && cp -r files {shlex.quote(str(disk))}/arena && cd {shlex.quote(str(disk))} || exit 99
{LINE} new arena >&2; echo new $?
{add} ../one.py --team mine -q >&2; echo one $?
{LINE} run arena --duels 1 -q >&2; echo run $?
dd if=/dev/zero of=filler bs=4k 2>/dev/null; truncate -s -64K filler
{add} ../three.py --team mine -q >&2; echo full-add $?
{LINE} run arena --duels 40 -q >&2; echo full-run $?
ls -A arena | sort | tr '\\n' ' '; ls arena/versions | wc -l
rm filler
{LINE} standings arena --json
{add} ../two.py --team mine -q >&2; echo two $?
{LINE} run arena --duels 4 -q >&2; echo again $?
{LINE} verify arena; echo verify $?
""",
        ],
        capture_output=True,
        text=True,
        timeout=1200,
        cwd=tmp_path,
    )
    told = done.stdout.splitlines()
    assert "Traceback" not in done.stderr, done.stderr
    assert told[:5] == ["new 0", "one 0", "run 0", "full-add 4", "full-run 4"], done
    # No part of a copy is left.
    assert told[5] == "arena.sqlite arena.sqlite.lock arena.toml reference0.py reference1.py replays versions 1"
    found = json.loads(told[6])
    assert [(entry["team"], entry["version"]) for entry in found["entries"] if not entry["is_reference"]] == [("mine", 1)]
    assert found["duels"] >= 1
    assert told[7:9] == ["two 0", "again 0"], done
    assert told[-2].endswith(" replays checked, 0 problems.")
    assert told[-1] == "verify 0"
    assert "No space left on device; make room and try again." in done.stderr
    assert "the disk is full; make room on it. Finished matches are stored. Go on afterwards:  " in done.stderr
