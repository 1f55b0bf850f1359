"""Parts of a match that are killed from outside: nothing is left, and no bot in a sandbox loses by it."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import psutil
import pytest
from sandboxes import missing, need
from victims import KILLS, Victim

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
@pytest.mark.again
@pytest.mark.parametrize("level", ["strict", "none"])
def test_whatever_is_killed_the_rest_leaves_nothing(level: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Matches side by side, one for each kill: an end takes long only because it is waited for."""
    need(level == "none" or not missing(), missing())
    victims = {names: Victim(tmp_path / "-".join(names), level) for names in KILLS}
    for victim in victims.values():
        request.addfinalizer(victim.close)
    helpers = {}
    for names, victim in victims.items():
        victim.wait_for_steps()
        helpers[names] = victim.helpers()
        assert len(helpers[names]) == 2
        assert len(victim.kill(names)) == len(names)
    for names, victim in victims.items():
        # A match goes on without its watchdog; all else ends it, however long that takes on a busy machine.
        said = victim.end(0.0 if names == ("watchdog",) else 60.0)
        victim.wait_for_helpers(helpers[names])
        assert victim.left() == [], names
        if "supervisor" in names and "referee" not in names and level == "strict":
            assert victim.process.returncode == 4, said
            assert "was killed from outside, which none of its bots can do: the match is void and nobody loses" in said
        if "supervisor" in names and "referee" not in names and level == "none":
            assert victim.process.returncode == 4, said
            assert "the match is void and nobody loses" in said
        if names == ("bot",):
            # In a sandbox it is bwrap that was killed, which is no bot's doing.
            assert victim.process.returncode == (4 if level == "strict" else 0)


@pytest.mark.parametrize("level", ["strict", "none"])
def test_a_watchdog_that_was_stopped_goes_with_the_others(level: str, tmp_path: Path) -> None:
    need(level == "none" or not missing(), missing())
    victim = Victim(tmp_path / "victim", level)
    victim.wait_for_steps()
    helpers = victim.helpers()
    os.kill(victim.parts()["watchdog"], signal.SIGSTOP)
    victim.kill(("referee",))
    victim.end()
    victim.wait_for_helpers(helpers)
    assert victim.left() == []


def state(process: psutil.Process) -> str:
    """What a process does; others may have reaped it."""
    try:
        return str(process.status())
    except psutil.NoSuchProcess:
        return "gone"


@pytest.mark.slow
def test_a_match_ends_if_its_supervisor_goes_while_a_bot_answers(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The referee is kept away meanwhile: it finds the answer and the end of the supervisor at the same moment."""
    victim = Victim(tmp_path / "victim", "none")
    request.addfinalizer(victim.close)
    victim.wait_for_steps()
    helpers = victim.helpers()
    os.kill(victim.process.pid, signal.SIGSTOP)
    bots = helpers[1].children(recursive=True)
    while any(state(bot) == psutil.STATUS_RUNNING for bot in bots):
        psutil.wait_procs(bots, timeout=0.01)
    assert len(victim.kill(("watchdog", "supervisor"))) == 2
    while state(helpers[1]) not in (psutil.STATUS_ZOMBIE, "gone"):
        psutil.wait_procs(helpers[1:], timeout=0.01)
    os.kill(victim.process.pid, signal.SIGCONT)
    said = victim.end(60.0)
    victim.wait_for_helpers(helpers)
    assert victim.left() == []
    assert victim.process.returncode == 4, said
    assert "the match is void and nobody loses" in said
