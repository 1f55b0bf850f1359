"""Programs that want out of their sandbox, each a real process, at each level, by whoever runs these tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import HOSTILE, PATIENT, UNHURRIED
from sandboxes import INTRUDERS, Planted, census, intrude, missing, need

from referee.errors import UsageError
from referee.isolation.level import Level
from referee.isolation.limits import ISOLATED, NONE, Limits
from referee.isolation.sandboxed_process import SandboxedProcess
from referee.players.exchange import Exchange
from referee.replay.paths import log_path

if TYPE_CHECKING:
    from referee.players.clock import Clock
    from referee.players.player import Reply

#: Those that go on to play, with how many things they must at least have tried.
CONTAINED = {
    "reads_secrets": 36,
    "writes_everywhere": 18,
    "reaches_out": 12,
    "signals_by_files": 29,
    "slows_the_machine": 26,
    "reads_counters": 50,
    "reads_numbers": 12,
    "leaves_the_sandbox": 20,
    "forks_200": 1,
    "threads_300": 1,
    "memory_memfd": 1,
    "fills_the_disk": 3,
    "many_descriptors": 1,
    "daemon": 0,
    "spawns_from_a_thread": 1,
}
#: Those that a limit ends: what a grader files it under, and the sentence.
ENDED = {
    "memory_private": ("exceeded", "memory", "used more memory than its limit of 512 MiB"),
    "memory_shared": ("exceeded", "memory", "used more memory than its limit of 512 MiB"),
    "memory_in_8_parts": ("exceeded", "memory", "used more memory than its limit of 512 MiB"),
    "dies_of_forks": ("exceeded", "processes", "started more processes or threads than its limit of 64"),
    "dies_of_disk": ("exceeded", "disk", "wrote more to disk than its limit of 16 MiB"),
    "burns_cpu_time": ("late", "time", "gave no answer within the move limit of 0.3 s of processor time"),
}
#: Tested by themselves below.
OTHERS = {
    "works_in_the_kernel",
    "continues_itself",
    "forks_while_it_starts",
    "takes_back",
    "hog_and_silent",
    "hog_of_40",
    "many_files",
    "many_files_unseen",
}


def test_every_intruder_has_a_test() -> None:
    assert {path.stem for path in INTRUDERS.glob("[a-z]*.py")} == {*CONTAINED, *ENDED, *OTHERS}


@pytest.mark.parametrize("name", sorted(CONTAINED))
def test_an_intruder_gets_nothing_and_the_match_goes_on(name: str, isolation: Level, planted: Planted, python: str) -> None:
    before = census()
    played = intrude(INTRUDERS / f"{name}.py", planted, isolation, python=python)
    assert played.got == []
    assert played.tried >= CONTAINED[name]
    assert not played.result.faults
    assert played.result.steps == 30
    assert census() == before


def test_what_a_bot_reads_there_are_numbers_of_the_whole_machine(planted: Planted) -> None:
    """Without a sandbox it gets them: so the test above would notice."""
    first = process_number()
    for _ in range(3):
        subprocess.run(["/bin/true"], check=True)
    need(process_number() > first, "its kernel numbers no processes (pidfs, Linux 6.9)", of_kernel=True)
    played = intrude(INTRUDERS / "reads_numbers.py", planted, Level(NONE))
    assert len([line for line in played.got if "the number of a process" in line or "that of a new process" in line]) == 2


def process_number() -> int:
    """What the kernel counts as the number of a new process, 0 where it counts none."""
    child = subprocess.Popen(["/bin/true"])
    try:
        fd = os.pidfd_open(child.pid)
    except (AttributeError, OSError):
        return 0
    finally:
        child.wait()
    try:
        return os.fstat(fd).st_ino
    finally:
        os.close(fd)


SIGNALS = """
from _tries import signal
from _wire import answer, ready, turns

ready()
for question in turns():
    signal()
    answer(question["turn"])
"""


def test_a_bot_sees_no_signal_of_another_one_in_the_counters_of_the_machine(isolation: Level, planted: Planted) -> None:
    hunter = planted.folder / "signals"
    hunter.mkdir()
    for source in (HOSTILE / "_wire.py", INTRUDERS / "_tries.py"):
        shutil.copy(source, hunter)
    (hunter / "hunter.py").write_text(SIGNALS)
    played = intrude(INTRUDERS / "reads_counters.py", planted, isolation, hunter=str(hunter), steps=12)
    assert played.got == []
    assert played.tried >= CONTAINED["reads_counters"]
    assert not played.result.faults


@pytest.mark.parametrize("name", sorted(ENDED))
def test_a_limit_ends_it_and_its_name_is_the_cause(name: str, isolation: Level, planted: Planted, python: str) -> None:
    kind, cause, sentence = ENDED[name]
    time = PATIENT.replace(move=0.3, kind="cpu") if cause == "time" else PATIENT
    before = census()
    played = intrude(INTRUDERS / f"{name}.py", planted, isolation, time=time, python=python)
    fault = played.result.failures["prey"]
    assert (fault.kind, fault.cause) == (kind, cause), fault
    assert sentence in fault.text
    assert census() == before


@pytest.mark.parametrize("name", ["many_files", "many_files_unseen"])
def test_files_without_end_end_it(name: str, isolation: Level, planted: Planted, python: str) -> None:
    played = intrude(INTRUDERS / f"{name}.py", planted, isolation, python=python, steps=2000)
    fault = played.result.failures.get("prey")
    assert fault is not None
    assert (fault.kind, fault.cause) == ("exceeded", "disk"), fault
    assert "made more than 10,000 files in /tmp and /dev/shm" in fault.text


WIRE = {
    "chatters_without_newline": "malformed",
    "floods_stdout": "malformed",
    "floods_stderr": None,
    "one_byte_at_a_time": "late",
    "two_answers": "malformed",
    "answers_early": "malformed",
    "invalid_utf8": "malformed",
    "not_json": "malformed",
    "nested_brackets": "malformed",
    "nan": "malformed",
    "huge_integer": "malformed",
    "closes_stdin": "crashed",
    "closes_stdout": "crashed",
    "exits_in_a_line": "crashed",
    "exits_mid_match": "crashed",
    "killed_by_signal": "crashed",
    "never_reads": "late",
    "ignores_sigterm": "late",
    "daemon_holds_stdout": "crashed",
    "leaves_a_daemon": None,
    "forks_without_end": None,
}


@pytest.mark.parametrize("name", sorted(WIRE))
def test_on_the_wire_nothing_is_different_inside(name: str, best: Level, planted: Planted) -> None:
    time = PATIENT.replace(move=0.5) if WIRE[name] == "late" else PATIENT
    played = intrude(HOSTILE / f"{name}.py", planted, best, time=time)
    fault = played.result.failures.get("prey")
    if name == "forks_without_end" and fault is not None:
        # The cap may meet it before its children have ended.
        assert fault.cause == "processes"
        return
    assert (fault and fault.kind) == WIRE[name], fault
    if name == "killed_by_signal":
        assert fault is not None
        assert (fault.detail or {})["signal"] == "SIGSEGV"
    if name == "exits_mid_match":
        assert fault is not None
        assert (fault.detail or {})["status"] == 5
        assert (fault.detail or {})["stderr"][-1] == "I have had enough"
    if name == "chatters_without_newline":
        assert fault is not None
        assert fault.cause == "output"


def test_two_bots_side_by_side_neither_see_nor_signal_each_other(isolation: Level, planted: Planted) -> None:
    other = planted.folder / "other"
    other.mkdir()
    (other / "hunter.py").write_text(
        "import os, signal, sys\nfrom sdk import HunterBot\n"
        "class Looks(HunterBot):\n    def hunt(self, state):\n"
        "        print('pids', *sorted(name for name in os.listdir('/proc') if name.isdigit()), file=sys.stderr)\n"
        "        for pid in range(2, 400):\n"
        "            if pid != os.getpid():\n"
        "                try:\n                    os.kill(pid, signal.SIGKILL)\n"
        "                    print('GOT', pid, file=sys.stderr)\n"
        "                except OSError:\n                    pass\n"
        "Looks.main()\n"
    )
    played = intrude(INTRUDERS / "forks_200.py", planted, isolation, hunter=str(other))
    assert not played.result.faults
    said = log_path(planted.folder / "match.replay.jsonl.gz", "hunter").read_text()
    assert "GOT" not in said
    assert set(re.findall(r"pids (.*)", said)) == {"1 2"}


@pytest.mark.alone
def test_nothing_works_out_of_turn_where_there_is_a_freezer(isolation: Level, planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    if not isolation.holds:
        pytest.skip("a stop is a courtesy without a freezer, as the report says")
    thinker = planted.folder / "thinker"
    thinker.mkdir()
    (thinker / "hunter.py").write_text(
        "import time\nfrom sdk import HunterBot\nclass Thinks(HunterBot):\n    def hunt(self, state):\n"
        "        end = time.process_time() + 0.05\n        while time.process_time() < end:\n            pass\nThinks.main()\n"
    )
    ask = Exchange.ask
    burnt: list[float] = []
    thought: list[float] = []

    def watched(self: Exchange, seat: str, data: bytes, clock: Clock) -> Reply:
        prey = self.processes["prey"]
        before = prey.seconds()
        reply = ask(self, seat, data, clock)
        if seat == "hunter":
            burnt.append(prey.seconds() - before)
            thought.append(reply.other)
        return reply

    monkeypatch.setattr("referee.match.match.Exchange", type("Watched", (Exchange,), {"ask": watched}))
    for name in ("continues_itself", "hog_of_40"):
        burnt.clear()
        thought.clear()
        played = intrude(INTRUDERS / f"{name}.py", planted, isolation, hunter=str(thinker), steps=8)
        assert not played.result.faults
        assert sum(thought) > 0.36
        assert sum(burnt) < sum(thought) / 4, "as long as the hunter thinks, the prey stands still"


def test_who_starves_the_referee_is_late_and_voids_nothing(isolation: Level, planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    """What its children burn speaks for it. How that is weighed against the referee's lateness is tested beside the match loop.

    How late the referee really is depends on all that runs on this machine, so no limit is set on that.
    """
    readings: dict[SandboxedProcess, list[float]] = {}
    evidence = SandboxedProcess.evidence_seconds

    def noted(self: SandboxedProcess) -> float:
        readings.setdefault(self, []).append(evidence(self))
        return readings[self][-1]

    monkeypatch.setattr(SandboxedProcess, "evidence_seconds", noted)
    played = intrude(INTRUDERS / "hog_and_silent.py", planted, isolation, time=PATIENT.replace(move=1.0))
    assert played.result.failures["prey"].kind == "late"
    # The last readings are of the long wait, a quarter of a second apart. Its own process sleeps then, and the hunter stands still.
    assert max(found[-1] - found[-3] for found in readings.values()) > 0.02


@pytest.mark.alone
def test_without_a_freezer_strict_gives_each_bot_a_core_of_its_own(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    need(not missing(), missing())
    need(len(os.sched_getaffinity(0)) >= 2, "it has one core", of_kernel=True)
    # Locks of its own: other matches on this machine claim its cores, too.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o1777)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        _play_on_cores_of_their_own(planted, monkeypatch)


def _play_on_cores_of_their_own(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    isolation = Level(ISOLATED, Limits(), is_strict=True)
    places: dict[str, set[frozenset[int]]] = {}
    ask = Exchange.ask

    def watched(self: Exchange, seat: str, data: bytes, clock: Clock) -> Reply:
        for name, process in self.processes.items():
            places.setdefault(name, set()).update(frozenset(os.sched_getaffinity(pid)) for pid in process.pids())
        return ask(self, seat, data, clock)

    monkeypatch.setattr("referee.match.match.Exchange", type("Watched", (Exchange,), {"ask": watched}))
    played = intrude(INTRUDERS / "hog_of_40.py", planted, isolation, steps=6)
    assert not played.result.faults
    assert "each bot has a core of its own" in played.result.notes[0]
    assert all(len(cores) == 1 for cores in places.values())
    (hunter,), (prey,) = places["hunter"], places["prey"]
    assert len(hunter) == len(prey) == 1
    assert hunter != prey
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        with pytest.raises(UsageError, match="needs a core for each of the 2 bots"):
            intrude(INTRUDERS / "hog_of_40.py", planted, isolation, steps=6)
        run = UNHURRIED._replace(run=UNHURRIED.run.replace(idle="run"))
        assert not intrude(INTRUDERS / "hog_of_40.py", planted, isolation, options=run, steps=6).result.faults
    finally:
        os.sched_setaffinity(0, before)


@pytest.mark.slow
@pytest.mark.alone
def test_what_forks_while_it_starts_stays_on_its_core(best: Level, planted: Planted) -> None:
    need(best.holds, "no freezer", of_kernel=True)
    need(len(os.sched_getaffinity(0)) >= 2, "it has one core", of_kernel=True)
    for _ in range(3):
        played = intrude(INTRUDERS / "forks_while_it_starts.py", planted, best, steps=12)
        assert not played.result.faults
        if not any("not pinned" in note for note in played.result.notes):
            places = set(re.findall(r"^on ([\d ]+)$", played.log, re.MULTILINE))
            assert len(places) == 1
            assert " " not in places.pop()


def test_who_takes_back_what_it_wrote_voids_nothing(isolation: Level, planted: Planted) -> None:
    for _ in range(3):
        played = intrude(INTRUDERS / "takes_back.py", planted, isolation, time=PATIENT.replace(move=0.5), steps=400)
        assert set(played.result.faults) <= {"prey"}
