"""The same as an ordinary user: what root may do without is what an ordinary user can't."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sandboxes import ROOT, USER, need, opened

from referee.isolation import cgroups

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def delegated() -> Iterator[list[Path]]:
    """Control groups that belong to the user, where this machine has any to give."""
    made = []
    for folder in cgroups.find().folders.values():
        group = Path(folder, f"test-user-{os.getpid()}")
        group.mkdir()
        for path in (group, *group.iterdir()):
            os.chown(path, USER, USER)
        made.append(group)
    yield made
    for group in made:
        group.rmdir()


@pytest.fixture
def home() -> Iterator[Path]:
    """The user's own folder, which it can reach."""
    folder = Path(tempfile.mkdtemp(prefix="home-of-"))
    os.chown(folder, USER, USER)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("alone", "least"), [pytest.param("without", 80, marks=pytest.mark.long), pytest.param("only", 5, marks=pytest.mark.alone)]
)
def test_the_intruders_get_nothing_from_an_ordinary_user_either(home: Path, delegated: list[Path], alone: str, least: int) -> None:
    if os.geteuid() != 0:
        pytest.skip("these tests are run by an ordinary user already")
    need(bool(delegated), "no control groups to give to a user", of_kernel=True)
    tests = [
        str(ROOT / "tests" / "isolation" / f"test_{name}.py")
        for name in ("intruders", "after_a_match", "copies", "cpu_clock", "doctor", "killed_parts", "frozen")
    ]
    command = ["setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups", "--"]
    command += [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp", str(home / "tests")]
    # Every setting, but not the many matches again.
    command += ["-m", "not slow or again", "-k", "not many_matches", "--alone", alone, *tests]
    needed = [ROOT, Path(sys.prefix), Path(sys.base_prefix)]
    groups = "".join(f"echo 0 > {shlex.quote(str(group / 'cgroup.procs'))}\n" for group in delegated)
    script = f"{opened(needed)}\n{groups}cd {shlex.quote(str(ROOT))}\nexec {shlex.join(command)}"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "USER": "referee-test",
        "PYTHONDONTWRITEBYTECODE": "1",
        "LANG": "C.UTF-8",
        **({"CI": os.environ["CI"]} if os.environ.get("CI") else {}),
    }
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script], env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[:3000] + done.stdout[-3000:] + done.stderr[-2000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) >= least
