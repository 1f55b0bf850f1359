"""The loop with real programs: determinism, time, placement, and that nothing is left behind."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from conftest import HOSTILE, PATIENT, UNHURRIED, play_match

from referee import games
from referee.errors import MatchVoid, StartError
from referee.isolation.limits import Limits
from referee.isolation.program import Program
from referee.isolation.sandbox import Sandbox
from referee.match.events import Listener, StepTaken
from referee.match.loop import Entrant, Match, match_id, seat_seed, secret_of
from referee.players.io import PlayerIO
from referee.players.log import Log
from referee.players.process import BotProcesses, ProcessPlayer
from referee.players.spec import environment
from referee.replay.reader import verify

if TYPE_CHECKING:
    from referee.players.reply import Reply


def write_bot(folder: Path, name: str, body: str) -> str:
    path = folder / f"{name}.py"
    path.write_text(f"from sdk import *\nimport os, sys, time\n{textwrap.dedent(body)}\nBot.main()\n")
    return str(path)


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.open(path).read().splitlines()]


def without_times(path: Path) -> list[dict[str, Any]]:
    found = records(path)
    for record in found:
        for key in ("us", "cpu_us", "time", "log", "stderr_bytes", "sha256"):
            record.pop(key, None)
    return found


def test_two_runs_with_the_same_seed_are_the_same_but_for_times(tmp_path: Path) -> None:
    replays = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        replays.append(folder / "x.replay.jsonl.gz")
        play_match("random", "random", seed=7, replay=replays[-1], max_steps=300)
    assert without_times(replays[0]) == without_times(replays[1])
    other = tmp_path / "other.gz"
    play_match("random", "random", seed=8, replay=other, max_steps=300)
    assert without_times(other)[1:] != without_times(replays[0])[1:]


def test_seeds_give_nothing_away() -> None:
    secret = secret_of(5)
    match = match_id(secret)
    seeds = {seat: seat_seed(secret, match, seat) for seat in ("hunter", "prey")}
    assert seeds["hunter"] != seeds["prey"]
    assert all(0 <= seed < 2**53 for seed in seeds.values())
    assert secret_of(0) != secret_of(None)
    assert secret_of(0) == secret_of(0)
    assert len(secret) == 16
    assert match_id(secret_of(6)) != match


def test_questions_and_answers_are_those_of_the_protocol(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    bot = tmp_path / "bot.py"
    bot.write_text(
        textwrap.dedent(f"""
        import sys, json
        with open({str(heard)!r}, "w") as log:
            for line in sys.stdin:
                log.write(line); log.flush()
                message = json.loads(line)
                if message["type"] == "start":
                    print('{{"type":"ready","protocol":1,"name":"Raw"}}', flush=True)
                if message["type"] == "turn":
                    build = '{{"build":{{"kind":"diagonal"}},"remove":[5]}}' if message["turn"] == 0 else "{{}}"
                    print('{{"type":"move","turn":%d,"move":%s}}' % (message["turn"], build), flush=True)
        """)
    )
    play_match(str(bot), "still", max_steps=2, seed=3)
    start, first, second, end = map(json.loads, heard.read_text().splitlines())
    assert list(start) == ["type", "protocol", "game", "version", "rules", "seat", "settings", "clock", "seed", "match"]
    assert (start["protocol"], start["game"], start["seat"], start["settings"]["max_steps"]) == (1, "evasion", "hunter", 2)
    assert start["seed"] == seat_seed(secret_of(3), start["match"], "hunter")
    assert list(first) == ["type", "turn", "state", "notices", "left"]
    assert (first["turn"], first["notices"], first["left"]) == (0, [], {"move": 30.0, "bank": None})
    assert second["state"]["step"] == 1
    assert [notice["code"] for notice in second["notices"]] == ["unknown-wall", "wall-refused"]
    assert end["result"]["reason"] == "evaded"


def test_together_asks_both_on_the_same_state(tmp_path: Path) -> None:
    options = UNHURRIED._replace(ask="together", cores=0)
    in_turn, together = tmp_path / "a.gz", tmp_path / "b.gz"
    play_match("boxer", "runner", replay=in_turn)
    result = play_match("boxer", "runner", replay=together, options=options)
    assert result.notes, "without a core for each bot they are asked in turn, and told so"
    cores = len(os.sched_getaffinity(0))
    if cores > 1:
        result = play_match("boxer", "runner", replay=together, options=options._replace(cores=2))
        assert result.notes == () or "free" in result.notes[0]
    assert without_times(in_turn)[1:] == without_times(together)[1:]


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
    result = play_match(bot, bot, options=UNHURRIED._replace(time=PATIENT._replace(move=1.0)))
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
    result = play_match(bot, "still", times={"hunter": PATIENT._replace(bank=0.25)})
    assert "what was left of its bank of 0.25 s" in result.faults["hunter"].text
    assert (result.outcome.reason, result.outcome.scores) == ("hunter-timeout", {"hunter": None})
    assert result.clocks["hunter"].bank == 0.0


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
    result = play_match(bot, "still", times={"hunter": PATIENT._replace(bank=0.3)}, max_steps=5_000)
    assert result.outcome.reason == "hunter-timeout"
    assert result.clocks["hunter"].used <= 0.3 + 1e-9


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
    patch = pytest.MonkeyPatch()
    opened = open

    def spy(path: Any, *arguments: Any, **options: Any) -> Any:
        looked.append(str(path))
        return opened(path, *arguments, **options)

    thinker = write_bot(tmp_path, "thinker", "class Bot(HunterBot):\n    def hunt(self, state):\n        time.sleep(0.02)")
    patch.setattr("builtins.open", spy)
    try:
        result = play_match(thinker, crowd, max_steps=30)
    finally:
        patch.undo()
    assert not result.faults
    assert not [path for path in looked if path.endswith("/stat")], "nobody's processes are counted while a clock runs"


class Watcher(Listener):
    """Notes the states of processes during long waits."""

    def __init__(self, command: str) -> None:
        self.command = command
        self.seen: set[str] = set()

    def ticked(self) -> None:
        for process in psutil.process_iter(["cmdline", "status"]):
            if self.command in " ".join(process.info["cmdline"] or []):
                self.seen.add(process.info["status"])


@pytest.mark.parametrize(("idle", "stopped"), [("stop", True), ("run", False)])
def test_who_is_not_asked_is_stopped_while_another_thinks(idle: str, stopped: bool, tmp_path: Path) -> None:
    thinker = write_bot(
        tmp_path,
        "thinker",
        """
        class Bot(HunterBot):
            def hunt(self, state):
                if state.step == 3: time.sleep(0.7)
        """,
    )
    # A path of its own: other tests play against the same program at the same time.
    for name in ("ponders.py", "_wire.py"):
        shutil.copy(HOSTILE / name, tmp_path)
    ponders = str(tmp_path / "ponders.py")
    watcher = Watcher(ponders)
    play_match(thinker, ponders, options=UNHURRIED._replace(idle=idle), listeners=[watcher], max_steps=6)
    assert watcher.seen
    assert (watcher.seen == {psutil.STATUS_STOPPED}) == stopped


@pytest.mark.slow
def test_who_ponders_is_found_out_and_stopped_in_every_turn_of_others(tmp_path: Path) -> None:
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

    class Spy(Listener):
        found = False

        def stepped(self, event: StepTaken) -> None:
            Spy.found = Spy.found or any(player.seat == "prey" for player in exchanges[0]._ponderers)

    exchanges: list[PlayerIO] = []
    make = Match._exchange

    def spying(self: Match) -> PlayerIO:
        exchanges.append(make(self))
        return exchanges[0]

    patch = pytest.MonkeyPatch()
    patch.setattr(Match, "_exchange", spying)
    try:
        play_match(computing, str(HOSTILE / "ponders.py"), listeners=[Spy()], max_steps=900)
    finally:
        patch.undo()
    assert Spy.found


def test_a_program_that_cannot_start(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("no first line\n")
    broken.chmod(0o755)
    lost = tmp_path / "lost"
    lost.write_text("#!/nowhere/interpreter\n")
    lost.chmod(0o755)
    for bot, why in ((broken, "first line names one"), (lost, "does not exist")):
        with pytest.raises(StartError) as caught:
            play_match("straight", str(bot))
        assert why in str(caught.value)
        assert str(bot) in str(caught.value)


def test_bots_of_other_languages(tmp_path: Path) -> None:
    script = tmp_path / "prey.sh"
    script.write_text(
        '#!/bin/sh\nread line\necho \'{"type":"ready","protocol":1}\'\n'
        'while read line; do\n  case "$line" in *\'"type":"end"\'*) exit 0;; esac\n'
        '  turn=${line#*turn\\":}; turn=${turn#*turn\\":}; turn=${turn%%,*}\n'
        '  echo "{\\"type\\":\\"move\\",\\"turn\\":$turn,\\"move\\":{\\"go\\":[1,0]}}"\ndone\n'
    )
    script.chmod(0o755)
    for prey in (str(script), f"sh {script}"):
        result = play_match("straight", prey, max_steps=20)
        assert not result.faults, result.faults
        assert result.state.prey.x == 240


def test_a_failing_listener_leaves_no_process_behind() -> None:
    class Failing(Listener):
        def stepped(self, event: StepTaken) -> None:
            raise OSError(28, "No space left on device")

    before = set(psutil.Process().children(recursive=True))
    with pytest.raises(OSError, match="No space"):
        play_match("straight", "still", listeners=[Failing()])
    assert set(psutil.Process().children(recursive=True)) == before


def test_matches_leave_no_descriptor_and_no_process_behind() -> None:
    play_match("straight", "still", max_steps=5)
    descriptors = len(os.listdir("/proc/self/fd"))
    children = psutil.Process().children(recursive=True)
    for _ in range(5):
        play_match("straight", str(HOSTILE / "leaves_a_daemon.py"), max_steps=5)
        play_match("straight", str(HOSTILE / "kills_the_supervisor.py"), max_steps=5)
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert psutil.Process().children(recursive=True) == children


def test_a_supervisor_that_needs_longer_than_the_referee_waits_still_ends_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    mark = uuid.uuid4().hex
    monkeypatch.setenv("REFEREE_TEST_MARK", mark)
    wait = subprocess.Popen.wait

    def impatient(self: subprocess.Popen[bytes], timeout: float | None = None) -> int:
        if "supervisor.py" not in str(self.args):
            return wait(self, timeout)
        supervisors.append(self)
        raise subprocess.TimeoutExpired(self.args, 0.0)

    supervisors: list[subprocess.Popen[bytes]] = []
    monkeypatch.setattr(subprocess.Popen, "wait", impatient)
    play_match("straight", str(HOSTILE / "leaves_a_daemon.py"), max_steps=5)
    assert len(supervisors) == 1
    assert wait(supervisors[0], 60) == 0
    psutil.wait_procs(marked(mark), timeout=60)
    assert not marked(mark)


def marked(mark: str) -> list[psutil.Process]:
    """The living processes that have inherited a mark in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("REFEREE_TEST_MARK") == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def kill_at(seconds: float, tmp_path: Path) -> None:
    """Kill a referee some time after its start; nothing marked may be left, and the replay must read up to its end."""
    mark = uuid.uuid4().hex
    replay = tmp_path / f"{mark}.replay.jsonl.gz"
    bot = str(HOSTILE / "leaves_a_daemon.py")
    command = [
        sys.executable,
        "-m",
        "referee",
        "play",
        bot,
        bot,
        "--max-steps",
        "1000000",
        "--out",
        str(replay),
        "--quiet",
        "--isolation",
        "none",
    ]
    process = subprocess.Popen(command, env={**os.environ, "REFEREE_TEST_MARK": mark}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    # The supervisor needs a moment; how long it took is not measured here.
    psutil.wait_procs(marked(mark), timeout=60)
    assert not marked(mark)
    if replay.exists() and replay.stat().st_size:
        found = verify(replay)
        assert found.problem is not None
        assert found.problem.kind == "cut"


@pytest.mark.parametrize("seconds", [0.15, 0.4, 1.2])
def test_nothing_outlives_a_killed_referee(seconds: float, tmp_path: Path) -> None:
    kill_at(seconds, tmp_path)


@pytest.mark.slow
def test_nothing_outlives_a_referee_killed_at_any_moment(tmp_path: Path) -> None:
    for moment in range(20):
        kill_at(0.05 + 0.08 * moment, tmp_path)


def pause_referee(tmp_path: Path, body: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a match whose hunter leaves a note when it is asked turn 3; the referee is stopped then, for longer than the limit.

    Once it is stopped the bot is told so by a file.
    """
    note, stopped = tmp_path / "note", tmp_path / "stopped"
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
        pass
    process.send_signal(signal.SIGSTOP)
    while psutil.Process(process.pid).status() != psutil.STATUS_STOPPED:
        pass
    stopped.touch()
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(2.5)
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def test_an_answer_that_came_while_the_referee_was_kept_away_counts(tmp_path: Path) -> None:
    body = """
    class Bot(HunterBot):
        def hunt(self, state):
            if state.step == 3:
                open(NOTE, "w").close()
                while not os.path.exists(STOPPED): pass
    """
    done = pause_referee(tmp_path, body, "--move-time", "1")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["steps"] == 10
    remarks = [record["remarks"] for record in records(tmp_path / "x.gz") if "remarks" in record]
    assert remarks == [{"hunter": {"rescued": True}}]
    billed = json.loads(done.stdout)["players"]["hunter"]["time"]
    assert billed["longest_seconds"] == 1.0, "billed up to the limit, no more"


def test_a_referee_kept_away_too_long_voids_the_match(tmp_path: Path) -> None:
    body = """
    class Bot(HunterBot):
        def hunt(self, state):
            if state.step == 3:
                open(NOTE, "w").close()
                time.sleep(60)
    """
    done = pause_referee(tmp_path, body, "--move-time", "1")
    assert done.returncode == 4
    assert "the match is void" in done.stderr
    assert verify(tmp_path / "x.gz").problem is not None


@pytest.mark.parametrize(("theirs", "void"), [(0.0, True), (1.9, False)])
def test_lateness_that_the_bots_caused_is_theirs(theirs: float, void: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock jumps by 2 s while a silent bot is waited for; meanwhile it has burnt ``theirs`` seconds, or somebody else has."""
    jumped = 0.0

    class Burns(Sandbox):
        burnt = 0.0

        def evidence_seconds(self) -> float:
            # More at each look, once the referee is late.
            self.burnt += theirs if jumped else 0.0
            return self.burnt

        def quick_seconds(self) -> float:
            return 0.0

        def is_over_memory(self) -> bool:
            return False

    def jump() -> None:
        nonlocal jumped
        jumped = 2.0

    monkeypatch.setattr("referee.players.io.perf_counter", lambda: time.perf_counter() + jumped)
    cell = Burns.__new__(Burns)
    cell.limits = Limits()
    questions, answers, errors = os.pipe(), os.pipe(), os.pipe()
    for fd in (questions[1], answers[0], errors[0]):
        os.set_blocking(fd, False)
    player = ProcessPlayer("prey", "silent", Log(None, 0), (questions[1], answers[0], errors[0]), cell)
    bots = BotProcesses()
    bots.join(player)
    try:
        player_io = PlayerIO(bots, {}, stop_idle=False, max_lateness=0.5, on_tick=jump)
        if void:
            with pytest.raises(MatchVoid):
                player_io.ask("prey", b"{}\n", 1.0)
        else:
            fault = player_io.ask("prey", b"{}\n", 1.0).fault
            assert fault is not None
            assert fault.kind == "late"
    finally:
        player.close()
        for fd in (questions[0], answers[1], errors[1]):
            os.close(fd)


def test_a_match_without_a_free_core_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = play_match("straight", "still", options=UNHURRIED._replace(cores=10_000), max_steps=5)
    assert result.notes[0].startswith("Not 10000 cores were free")


def test_seats_are_played_by_the_programs_named_for_them() -> None:
    game = games.get("evasion")
    program = Program((sys.executable, "-c", "raise SystemExit('never mind')"), "/", environment(), "one-liner")
    entrants = {seat: Entrant("one-liner", {"program": "one-liner"}, program) for seat in ("hunter", "prey")}
    result = Match(game, game.codec.settings(None, {}), entrants).run()
    assert not result.started
    assert "the last line of its stderr: never mind" in result.faults["hunter"].text
    assert result.to_json()["players"]["hunter"]["program"] == "one-liner"


def test_an_answer_that_is_gone_when_it_is_read_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot can open its own pipe and take back what it wrote, between the poll that saw it and the read."""
    real, refused = os.read, set()
    ask = PlayerIO.ask

    def read(fd: int, count: int) -> bytes:
        if fd in armed and fd not in refused:
            refused.add(fd)
            raise BlockingIOError
        return real(fd, count)

    armed: set[int] = set()

    def asking(self: PlayerIO, seat: str, data: bytes, limit: float | None, guard: float | None = None) -> Reply:
        armed.add(self._bots.players[seat].stdout)
        return ask(self, seat, data, limit, guard)

    monkeypatch.setattr(os, "read", read)
    monkeypatch.setattr(PlayerIO, "ask", asking)
    result = play_match("straight", "still", max_steps=10)
    assert len(refused) == 2
    assert not result.faults
    assert result.steps == 10


@pytest.mark.parametrize("name", ["\u3164", "\u2800\u115f", "   ", "\u200b"])
def test_a_name_that_shows_nothing_is_none(name: str, tmp_path: Path) -> None:
    bot = tmp_path / "blank.py"
    bot.write_text(
        "import json, sys\nsys.stdin.readline()\n"
        f"print(json.dumps({{'type': 'ready', 'protocol': 1, 'name': {name!r}}}), flush=True)\n"
        "for line in sys.stdin:\n    message = json.loads(line)\n    if message['type'] == 'turn':\n"
        "        print(json.dumps({'type': 'move', 'turn': message['turn'], 'move': {}}), flush=True)\n"
    )
    result = play_match(str(bot), "still", max_steps=2)
    assert not result.faults
    assert result.names["hunter"].startswith(str(bot)[:30])
