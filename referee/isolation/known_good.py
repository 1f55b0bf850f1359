"""Runs known good bots after bots could not start or were ended from outside. They show whether the machine is to blame.

Theory of operation. A bot that the kernel killed, or that ran out of something, may have met its own limit or a machine that can't keep
its promises. So after the end of all processes of the match, the referee starts a program of its own for each bot of the match, at the same
time, in the same sandbox with the same limits. Each takes what bots are promised: memory, processes, open files and scratch space. If these
fail, too, the bot isn't to blame. A bot can't cause that, because none of its processes is left.
"""

from __future__ import annotations

import signal
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from referee.errors import CopyUnwritten, MatchVoid, StartError
from referee.isolation import good_bot, machine, runtime
from referee.isolation.bot import Bot
from referee.isolation.log import Log
from referee.isolation.plan import Plan, bot_plan
from referee.isolation.plan_launcher import PlanLauncher
from referee.isolation.submission import Piece
from referee.isolation.supervision import START_PATIENCE
from referee.support.escape import escape
from referee.support.poll import readable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.isolation.level import Level

_SCRIPT = Path(good_bot.__file__)


#: The bots of an ordinary match.
_TWO = dict.fromkeys(("first", "second"), Bot("a bot", (runtime.OWN_PYTHON,), "/"))


def check(bots: Mapping[str, Bot], level: Level, cpu_seconds: int | None = None, seats: tuple[str, ...] = ()) -> None:
    """Raise MatchVoid if ``shortage`` finds something; without bots, for a match of two. ``seats`` are those whose bots failed."""
    lack = shortage(bots or _TWO, level, cpu_seconds)
    if lack is not None:
        raise machine.void(f"Known good bots of the referee fail on this machine as well ({lack[1]})", lack[0], seats)


def shortage(bots: Mapping[str, Bot], level: Level, cpu_seconds: int | None = None) -> tuple[str, str] | None:
    """Return the code and a description of a resource that known good bots don't get on this machine in place of these bots; None if they get all.

    The limits of ``level`` are those of the bots. All processes of the match must have ended.
    """
    plans = {seat: bot_plan(bot) for seat, bot in bots.items()}
    for plan in plans.values():
        if plan.is_own_file and not level.has_sandbox and machine.forbids_programs(plan.argv[0]):
            return machine.DISK, f"the disk of {plan.bot.label:.120} is mounted with noexec"
    launcher = PlanLauncher()
    try:
        folder = launcher.new_folder()
        path = Path(folder, "bot")
        path.write_bytes(_SCRIPT.read_bytes())
        path.chmod(0o755)
        good = {seat: _good_bot(path, level, is_started_itself=plan.is_own_file) for seat, plan in plans.items()}
        launcher.launch_plans(good, level, {seat: Log(None, 0) for seat in good}, cpu_seconds)
        launcher.wait()
        lack = _followed(launcher)
        if lack is not None and lack[0] == machine.LIMIT and machine.forbids_programs(folder):
            return machine.DISK, f"{folder} is mounted with noexec"
        return lack
    except CopyUnwritten as error:
        return machine.DISK, str(error)
    except (StartError, MatchVoid) as error:
        return machine.LIMIT, str(error)
    except OSError as error:
        return machine.DISK, f"{error.filename or 'the folder for temporary files'}: {error.strerror}"
    finally:
        launcher.close()


def _good_bot(path: Path, level: Level, *, is_started_itself: bool) -> Plan:
    """Return a known good bot. ``is_started_itself``: the file itself is started, not an interpreter; in a sandbox it always is."""
    limits = level.limits
    amounts = tuple(map(str, (limits.memory_bytes, limits.processes, limits.open_files, limits.scratch_bytes)))
    before = () if is_started_itself or level.has_sandbox else (runtime.OWN_PYTHON,)
    return bot_plan(Bot("a known good bot", (*before, str(path), *amounts), str(path.parent), (Piece(str(path), "bot"),)))


def _followed(launcher: PlanLauncher) -> tuple[str, str] | None:
    """Wait until all known good bots have what they are promised at the same time. Return what one of them could not get, else None."""
    deadline = perf_counter() + START_PATIENCE
    waiting = dict(launcher.processes)
    while waiting and (left := deadline - perf_counter()) > 0 and not launcher.is_lost:
        stdouts = [process.stdout for process in waiting.values() if process.status is None and process.stdout >= 0]
        if launcher.reports in {fd for fd, _ in readable([launcher.reports, *stdouts]).poll(min(1.0, left) * 1000)}:
            launcher.take_reports()
        for seat, process in list(waiting.items()):
            if process.stdout >= 0 and (said := process.read_stdout()):
                code, _, why = said.decode("utf-8", "replace").strip().partition(" ")
                if code != "held":
                    return code, escape(why, 200)
                del waiting[seat]
            elif process.status is not None:
                if process.status == -signal.SIGKILL or process.is_over_memory():
                    return machine.MEMORY, "the kernel killed one that was within its memory limit"
                process.log_stderr()
                return machine.LIMIT, escape(b" ".join(process.log.last_lines()[-1:]), 200) or "one has ended"
    return (machine.LIMIT, f"they did not start within {START_PATIENCE:g} s") if waiting else None
