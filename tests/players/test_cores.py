"""Cores and their locks."""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import TYPE_CHECKING

import pytest

from referee.players.cores import Cores

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system has no processor affinity")


@pytest.fixture(autouse=True)
def own_locks(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@contextlib.contextmanager
def released(cores: Cores) -> Iterator[Cores]:
    yield cores
    cores.release()


def test_matches_take_different_cores_until_none_is_free() -> None:
    count = len(os.sched_getaffinity(0))
    matches = [Cores(1) for _ in range(count)]
    assert sorted(core for match in matches for core in match.claimed) == sorted(os.sched_getaffinity(0))
    late = Cores(1)
    assert late.claimed == ()
    matches[0].release()
    assert len(Cores(1).claimed) == 1
    for match in matches:
        match.release()


def test_all_or_nothing() -> None:
    count = len(os.sched_getaffinity(0))
    assert Cores(count + 1).claimed == ()
    everything = Cores(count)
    assert len(everything.claimed) == count
    everything.release()
    assert Cores(0).claimed == ()


def test_pinning_ends_with_the_match() -> None:
    before = os.sched_getaffinity(0)
    cores = Cores(1)
    cores.pin_self()
    assert os.sched_getaffinity(0) == set(cores.claimed)
    cores.release()
    assert os.sched_getaffinity(0) == before


def test_nobody_else_can_hold_the_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever makes the folder first, with a link in its place or with rights for all, doesn't get the locks of others."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    theirs = tmp_path / f"referee-cores-{os.geteuid()}"
    (tmp_path / "elsewhere").mkdir()
    theirs.symlink_to(tmp_path / "elsewhere")
    with released(Cores(1)) as cores:
        assert len(cores.claimed) == 1
    assert not list((tmp_path / "elsewhere").iterdir())
    theirs.unlink()
    theirs.mkdir()
    theirs.chmod(0o1777)
    with released(Cores(1)) as cores:
        assert len(cores.claimed) == 1
    assert not list(theirs.iterdir())
    own = tmp_path / "run" / theirs.name
    assert own.stat().st_mode & 0o777 == 0o700
