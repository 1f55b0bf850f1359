"""The threads of numba under the compiled rules: how they wait, forked processes, and calls from several threads of Python."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

#: A process that has played many games on two threads goes on from here.
PLAYED = """
import os, sys, threading
import numba
from referee.games.evasion.batch import Batch
def play(count, steps=3):
    batch = Batch(count, seed=1)
    for _ in range(steps):
        batch.step(hunter="random", prey="random")
    return batch
before = play(1_500)
assert numba.threading_layer() == os.environ["NUMBA_THREADING_LAYER"]
"""


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], env={**os.environ, **environment}, capture_output=True, text=True)


def test_threads_sleep_while_they_wait_unless_the_user_has_a_policy() -> None:
    program = """
import os
from unittest import mock
import numba
from referee.games.evasion.kernel import threads
seen = []
def started():
    seen.append(os.environ.get("OMP_WAIT_POLICY"))
    return 2
with mock.patch("numba.get_num_threads", started):
    few, many = threads.are_worth(threads.FEW - 1), threads.are_worth(threads.FEW)
print(few, many, seen[0], os.environ.get("OMP_WAIT_POLICY"))
"""
    kept = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    done = subprocess.run([sys.executable, "-c", program], env=kept, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True", "passive", "None"], done.stderr
    assert run(program, OMP_WAIT_POLICY="active").stdout.split() == ["False", "True", "active", "active"]


def test_one_thread_needs_no_others() -> None:
    program = """
import numba
from referee.games.evasion.kernel import threads
numba.set_num_threads(1)
print(threads.are_worth(1_000_000))
"""
    assert run(program).stdout == "False\n"


@pytest.mark.slow
@pytest.mark.parametrize("layer", ["omp", "workqueue"])
def test_a_forked_process_plays_the_same_games(layer: str) -> None:
    program = """
child = os.fork()
if not child:
    os._exit(0 if (play(1_500).games == before.games).all() else 9)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), (play(1_500).games == before.games).all())
"""
    done = run(PLAYED + program, NUMBA_THREADING_LAYER=layer)
    assert done.stdout == "0 True\n", done.stderr


@pytest.mark.slow
def test_several_threads_of_python_may_play_at_once() -> None:
    """The simplest threads of numba end the process if two calls use them at the same time."""
    program = """
found = []
players = [threading.Thread(target=lambda: found.append(play(1_500, 200).games)) for _ in range(4)]
for player in players:
    player.start()
for player in players:
    player.join()
print(len(found), all((games == found[0]).all() for games in found))
"""
    done = run(PLAYED + program, NUMBA_THREADING_LAYER="workqueue")
    assert done.stdout == "4 True\n", done.stderr


def test_rules_are_compiled_without_a_folder_for_compiled_code() -> None:
    program = """
import warnings
from unittest import mock
from numba.core import caching
with mock.patch.object(caching.CacheImpl, "_locator_classes", []), warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    from referee.games.evasion.kernel import loop, random
print(len(seen), "NUMBA_CACHE_DIR" in str(seen[0].message), type(loop.advance).__name__)
"""
    done = run(program)
    assert done.stdout == "1 True CPUDispatcher\n", done.stderr
