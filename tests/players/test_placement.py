"""Cores and their locks."""

from __future__ import annotations

import os
import tempfile

import pytest

from referee.players.placement import Cores

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system has no processor affinity")


@pytest.fixture(autouse=True)
def own_locks(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


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
