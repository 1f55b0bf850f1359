"""The loop and time: limits, banks, who stands still, and a referee that is late itself."""

from __future__ import annotations

import itertools
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from conftest import HOSTILE, PATIENT, UNHURRIED, play_match
from recorded_games import records
from sandboxes import LevelLauncher

from referee.errors import MatchVoid
from referee.isolation.bot import Bot
from referee.isolation.bot_process import BotProcess
from referee.isolation.limits import Limits
from referee.isolation.log import Log
from referee.players.clock import Clock, TimeControl
from referee.players.exchange import Exchange
from referee.replay.events import Listener, StepTaken, Waiting
from referee.replay.reader import verify

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from referee.players.player import Reply


def write_bot(folder: Path, name: str, body: str) -> str:
    path = folder / f"{name}.py"
    path.write_text(f"from sdk import *\nimport os, sys, time\n{textwrap.dedent(body)}\nBot.main()\n")
    return str(path)


def test_both_too_late_counts_as_the_preys_failure(tmp_path: Path) -> None:
    bot = write_bot(
        tmp_path,
        "sleeper",
        """
        class Bot(HunterBot, PreyBot):
            def hunt(self, state):
                if state.step == 3: time.sleep(60)
            flee = hunt
        """,
    )
    result = play_match(bot, bot, options=UNHURRIED._replace(time=PATIENT.replace(move=1.0)))
    assert sorted(result.faults) == ["hunter", "prey"], "all movers are asked even after a fault of one"
    assert (result.outcome.reason, result.outcome.scores) == ("prey-timeout", {"hunter": 3})


def test_the_bank_runs_out(tmp_path: Path) -> None:
    bot = write_bot(
        tmp_path,
        "slow",
        """
        class Bot(HunterBot):
            def hunt(self, state):
                time.sleep(0.1)
        """,
    )
    result = play_match(bot, "still", times={"hunter": PATIENT.replace(bank=0.25)})
    assert "what was left of its bank of 0.25 s" in result.failures["hunter"].text
    assert (result.outcome.reason, result.outcome.scores) == ("hunter-timeout", {"hunter": None})
    assert result.times["hunter"].bank == 0.0


def test_an_empty_bank_buys_no_quick_answers(tmp_path: Path) -> None:
    bot = write_bot(
        tmp_path,
        "spender",
        """
        class Bot(HunterBot):
            def hunt(self, state):
                if state.step == 0:
                    time.sleep(max(0.0, self.left.bank - 0.002))
        """,
    )
    # The fair clock may forgive a part of the sleep where the referee itself was starved.
    options = UNHURRIED._replace(time=PATIENT.replace(kind="wall"))
    result = play_match(bot, "still", options=options, times={"hunter": PATIENT.replace(kind="wall", bank=0.3)}, max_steps=5_000)
    assert result.outcome.reason == "hunter-timeout"
    assert result.times["hunter"].used <= 0.3 + 1e-9


def test_a_crowd_of_sleepers_costs_the_other_bot_nothing(tmp_path: Path) -> None:
    crowd = write_bot(
        tmp_path,
        "crowd",
        """
        import subprocess
        class Bot(PreyBot):
            def begin(self):
                for _ in range(20):
                    subprocess.Popen(["setsid", "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 60 & done"])
            def flee(self, state):
                return None
        """,
    )
    looked: list[str] = []
    asked: list[str] = []
    patch = pytest.MonkeyPatch()
    opened, ask = open, Exchange.ask

    def spy(path: Any, *arguments: Any, **options: Any) -> Any:
        looked.extend([str(path)] if asked else [])
        return opened(path, *arguments, **options)

    def asking(self: Exchange, seat: str, *question: Any) -> Any:
        asked.extend([seat] if seat == "hunter" else [])
        try:
            return ask(self, seat, *question)
        finally:
            asked.clear()

    thinker = write_bot(tmp_path, "thinker", "class Bot(HunterBot):\n    def hunt(self, state):\n        time.sleep(0.02)")
    patch.setattr("builtins.open", spy)
    patch.setattr(Exchange, "ask", asking)
    try:
        result = play_match(thinker, crowd, max_steps=30)
    finally:
        patch.undo()
    assert not result.faults
    assert looked
    stats = {path for path in looked if path.endswith("/stat")}
    assert len(stats) <= 1, "while a clock runs, the processes of the others aren't counted"


class Watcher(Listener):
    """Notes the states of processes during long waits, and makes a file when it has looked twice."""

    def __init__(self, command: str, looked_twice: Path) -> None:
        self.command = command
        self.seen: set[str] = set()
        self._looks = 0
        self._looked_twice = looked_twice

    def waiting(self, event: Waiting) -> None:
        self._looks += 1
        if self._looks == 2:
            self._looked_twice.touch()
        for process in psutil.process_iter(["cmdline", "status"]):
            if self.command in " ".join(process.info["cmdline"] or []):
                self.seen.add(process.info["status"])


@pytest.mark.parametrize(("idle", "stopped"), [("stop", True), ("run", False)])
def test_who_is_not_asked_is_stopped_while_another_thinks(idle: str, stopped: bool, tmp_path: Path) -> None:
    looked_twice = tmp_path / "looked_twice"
    body = """
    class Bot(HunterBot):
        def hunt(self, state):
            while state.step == 3 and not os.path.exists(LOOKED_TWICE): time.sleep(0.01)
    """
    thinker = write_bot(tmp_path, "thinker", f"LOOKED_TWICE = {str(looked_twice)!r}\n" + textwrap.dedent(body))
    # A path of its own: other tests play against the same program at the same time.
    for name in ("ponders.py", "_wire.py"):
        shutil.copy(HOSTILE / name, tmp_path)
    ponders = str(tmp_path / "ponders.py")
    watcher = Watcher(ponders, looked_twice)
    play_match(thinker, ponders, options=UNHURRIED._replace(run=UNHURRIED.run.replace(idle=idle)), listeners=[watcher], max_steps=6)
    assert watcher.seen
    assert (watcher.seen == {psutil.STATUS_STOPPED}) == stopped


@pytest.mark.slow
@pytest.mark.alone
def test_who_ponders_is_found_out_and_stopped_in_every_turn_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    computing = write_bot(
        tmp_path,
        "computing",
        """
        class Bot(HunterBot):
            def hunt(self, state):
                done = time.process_time() + 0.002
                while time.process_time() < done: pass
        """,
    )

    stop, stops = BotProcess.stop, 0
    stops_by_step: list[int] = []

    def counted(self: BotProcess) -> None:
        nonlocal stops
        assert self.bot is not None
        stops += self.bot.label.endswith("ponders.py")
        stop(self)

    class Spy(Listener):
        def stepped(self, event: StepTaken) -> None:
            stops_by_step.append(stops)

    monkeypatch.setattr(BotProcess, "stop", counted)
    play_match(computing, str(HOSTILE / "ponders.py"), listeners=[Spy()], max_steps=900)
    # The hunter answers too soon for the long wait, which stops everybody.
    assert stops_by_step[-1] - stops_by_step[-101] >= 50, "the prey is asked in every second step"


def pause_referee(tmp_path: Path, shared_folder: Path, body: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a match whose hunter leaves a note when it is asked turn 3; the referee is stopped then, for longer than the limit.

    Once it is stopped the bot is told so by a file.
    """
    note, stopped = shared_folder / "note", shared_folder / "stopped"
    bot = write_bot(tmp_path, "noting", f"NOTE, STOPPED = {str(note)!r}, {str(stopped)!r}\n" + textwrap.dedent(body))
    command = [
        sys.executable,
        "-m",
        "referee",
        "play",
        bot,
        "still",
        "--max-steps",
        "10",
        "--json",
        "--quiet",
        "--isolation",
        "none",
        "--out",
        str(tmp_path / "x.gz"),
        *options,
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    while not note.exists() and process.poll() is None:
        select.select([], [], [], 0.02)
    process.send_signal(signal.SIGSTOP)
    while psutil.Process(process.pid).status() != psutil.STATUS_STOPPED:
        select.select([], [], [], 0.02)
    stopped.touch()
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(2.5)
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def test_an_answer_that_came_while_the_referee_was_kept_away_counts(tmp_path: Path, shared_folder: Path) -> None:
    body = """
    class Bot(HunterBot):
        def hunt(self, state):
            if state.step == 3:
                open(NOTE, "w").close()
                while not os.path.exists(STOPPED): pass
    """
    done = pause_referee(tmp_path, shared_folder, body, "--move-time", "1")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["steps"] == 10
    remarks = [record["remarks"] for record in records(tmp_path / "x.gz") if "remarks" in record]
    assert remarks == [{"hunter": {"rescued": True}}]
    billed = json.loads(done.stdout)["players"]["hunter"]["time"]
    assert billed["longest_seconds"] <= 1.0, "billed up to the limit, no more"


def test_a_referee_kept_away_too_long_voids_the_match(tmp_path: Path, shared_folder: Path) -> None:
    body = """
    class Bot(HunterBot):
        def hunt(self, state):
            if state.step == 3:
                open(NOTE, "w").close()
                time.sleep(60)
    """
    done = pause_referee(tmp_path, shared_folder, body, "--move-time", "1")
    assert done.returncode == 4
    assert "the match is void" in done.stderr
    assert verify(tmp_path / "x.gz").problem is not None


class StandIn(LevelLauncher):
    """Launches programs that don't run. ``ends`` are the bots' ends of their pipes: stdin, stdout and stderr."""

    def __init__(self, processes: dict[str, BotProcess]) -> None:
        super().__init__()
        self.ends: dict[str, tuple[int, int, int]] = {}
        self.bots = dict.fromkeys(processes, Bot("silent", (), "/"))
        for seat, process in processes.items():
            process.bot, process.limits = self.bots[seat], Limits()
            self.ends[seat] = process.connect(seat, Log(None, 0))
        self._stand_ins = processes

    def launch(self, bots: Mapping[str, Bot], logs: Mapping[str, Log], cpu_seconds: int | None = None) -> dict[str, BotProcess]:
        self.processes = self._stand_ins
        return self.processes

    def close(self) -> None:
        for fd in itertools.chain(*self.ends.values()):
            os.close(fd)


@pytest.mark.parametrize(("theirs", "void"), [(0.0, True), (100.0, False)])
def test_lateness_that_the_bots_caused_is_theirs(theirs: float, void: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock jumps by 120 s in a tick, while a silent bot is waited for; meanwhile it has burnt ``theirs`` seconds, or somebody else has."""
    jumped = 0.0

    class Burns(BotProcess):
        def evidence_seconds(self) -> float:
            return theirs if jumped else 0.0

        def quick_seconds(self) -> float:
            return 0.0

        def clock(self) -> Callable[[], float]:
            return self.quick_seconds

        def is_over_memory(self) -> bool:
            return False

    def jump() -> None:
        nonlocal jumped
        jumped = 120.0

    monkeypatch.setattr("referee.players.waiting.perf_counter", lambda: time.perf_counter() + jumped)
    clock = Clock(TimeControl(move=60.0, kind="wall"))
    launcher = StandIn({"prey": Burns.__new__(Burns)})
    exchange = Exchange(launcher.bots, {}, launcher, max_lateness=0.5, on_tick=jump)
    try:
        exchange.open()
        if void:
            with pytest.raises(MatchVoid):
                exchange.ask("prey", b"{}\n", clock)
        else:
            failure = exchange.ask("prey", b"{}\n", clock).failure
            assert failure is not None
            assert failure.reason == "silent"
    finally:
        exchange.close()
        launcher.close()


class Held(BotProcess):
    holds = is_exact = True
    used = 0.0

    def seconds(self) -> float:
        return self.used

    quick_seconds = evidence_seconds = seconds

    def clock(self) -> Callable[[], float]:
        return self.seconds

    def stop(self) -> None:
        pass


@pytest.mark.parametrize("is_told_of", [False, True])
def test_a_referee_that_another_bot_kept_away_in_the_first_look_bills_nobody_for_that(
    is_told_of: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is there when the referee wakes up, 5 ms later; for 4 of them the other bot has worked. ``is_told_of``: on stderr as well."""

    cells = {seat: Held.__new__(Held) for seat in ("hunter", "prey")}
    launcher = StandIn({**cells})
    exchange = Exchange(launcher.bots, {}, launcher, stops_idle=True, max_lateness=0.5)
    ends, readings = launcher.ends, 0

    def clock() -> float:
        nonlocal readings
        readings += 1
        if readings == 1:
            if is_told_of:
                os.write(ends["hunter"][2], b"thinks\n")
            os.write(ends["hunter"][1], b"{}\n")
            return 100.0
        cells["prey"].used = 0.004
        return 100.005

    try:
        exchange.open()
        for module in ("exchange", "waiting"):
            monkeypatch.setattr(f"referee.players.{module}.perf_counter", clock)
        reply = exchange.ask("hunter", b"{}\n", Clock(TimeControl(move=60.0, kind="wall")))
        assert reply.line == b"{}"
        assert reply.seconds == pytest.approx(0.001)
    finally:
        exchange.close()
        launcher.close()


def test_an_answer_that_is_gone_when_it_is_read_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot can open its own pipe and take back what it wrote, between the poll that saw it and the read."""
    real, refused = os.read, set()
    ask = Exchange.ask

    def read(fd: int, count: int) -> bytes:
        if fd in armed and fd not in refused:
            refused.add(fd)
            raise BlockingIOError
        return real(fd, count)

    armed: set[int] = set()

    def asking(self: Exchange, seat: str, data: bytes, clock: Clock) -> Reply:
        link = self.players[seat].link
        assert link is not None
        armed.add(link.stdout)
        return ask(self, seat, data, clock)

    monkeypatch.setattr(os, "read", read)
    monkeypatch.setattr("referee.match.match.Exchange", type("Watched", (Exchange,), {"ask": asking}))
    result = play_match("straight", "still", max_steps=10)
    assert len(refused) == 2
    assert not result.faults
    assert result.steps == 10


@pytest.mark.parametrize("flushed", [0, 1])
def test_only_a_bot_that_never_sent_a_move_is_asked_whether_it_flushes(flushed: int, tmp_path: Path) -> None:
    (tmp_path / "keeps.py").write_text(
        "import io, json, sys\nout = io.BufferedWriter(io.FileIO(1, 'w'), 1 << 20)\n"
        "for line in sys.stdin:\n    message = json.loads(line)\n"
        "    is_start, turn = message['type'] == 'start', message.get('turn', -1)\n"
        "    answer = {'type': 'ready', 'protocol': 1} if is_start else {'type': 'move', 'turn': turn, 'move': {}}\n"
        f"    out.write(json.dumps(answer).encode() + b'\\n')\n    if turn < {flushed}:\n        out.flush()\n"
    )
    # One limit for both turns: on a busy machine, too, the first answer must come within it.
    times = {"hunter": PATIENT.replace(move=2.0)}
    text = play_match(str(tmp_path / "keeps.py"), "still", max_steps=5, times=times).failures["hunter"].text
    assert "gave no answer within the move limit of 2 s." in text
    assert (" Did it flush its output?" in text) == (flushed == 0)
