"""Programs that misbehave, each a real process, with the sentence that it gets."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from commands import MARK
from conftest import HOSTILE, PATIENT, UNHURRIED, play_match
from sandboxes import is_marked, match_between

from referee import games
from referee.errors import SUPERVISOR, MatchVoid
from referee.isolation.level import Level
from referee.isolation.limits import Limits
from referee.players.names import resolve
from referee.players.player import Function, Player
from referee.replay.reader import verify
from referee.replay.writer import ReplayWriter

if TYPE_CHECKING:
    from sandboxes import Options

    from referee.replay.events import MatchResult

#: Bots that are waited for get these limits, in seconds, and their opponents patience; nobody measures how long they really took.
SHORT = PATIENT.replace(move=0.4)
#: For those that must have written something by then, on a busy machine too.
LONGER = PATIENT.replace(move=2.0)
SHORT_START = PATIENT.replace(startup=0.8)

FAULTS = {
    "answers_early": ("malformed", 'wrote to stdout before it was asked: \'{"type":"move"'),
    "byte_order_mark": ("malformed", "starts with a byte order mark"),
    "chatters_without_newline": ("malformed", "of more than 65,536 bytes: 'info depth 1 info"),
    "closes_stdin": ("crashed", "closed its stdin, so it can't be asked"),
    "closes_stdout": ("crashed", "closed its stdout"),
    "daemon_holds_stdout": ("crashed", "exited with status 3"),
    "duplicate_keys": ("malformed", "has the key 'go' twice"),
    "escapes_and_markup": ("malformed", "is not JSON: '\\x1b[2J\\x1b]0;owned\\x07<script>alert(1)</script>[bold red]\\u202e'"),
    "exits_in_a_line": ("crashed", "exited with status 0"),
    "exits_mid_match": ("crashed", "exited with status 5; the last line of its stderr: I have had enough"),
    "floods_stdout": ("malformed", "is not JSON: 'xxxxxxxxxx"),
    "half_a_line": ("late", "wrote an answer without the newline that ends it within the move limit of 2 s"),
    "huge_integer": ("malformed", "holds a number of more than 4,300 digits"),
    "ignores_sigterm": ("late", "gave no answer within the move limit of 0.4 s"),
    "invalid_utf8": ("malformed", "is not UTF-8 (byte 42 is 0xff)"),
    "killed_by_signal": ("crashed", "was killed by SIGSEGV"),
    "line_of_10_mb": ("malformed", "of more than 65,536 bytes"),
    "lone_surrogate": ("malformed", "holds a lone surrogate"),
    "nan": ("malformed", "holds NaN, which is not JSON"),
    "nested_brackets": ("malformed", "is nested deeper than 64 levels"),
    "never_answers": ("late", "gave no answer within the move limit of 0.4 s"),
    "never_reads": ("late", "gave no answer within the move limit of 0.4 s"),
    "not_an_object": ("malformed", "is JSON but not an object: '[1, 2, 3]'"),
    "not_json": ("malformed", "is not JSON: 'go north' - print to stderr"),
    "one_byte_at_a_time": ("late", "wrote an answer without the newline that ends it"),
    "prints_debug_text": ("malformed", "is not JSON: 'debug 3' - print to stderr"),
    "too_large_a_number": ("malformed", "holds the number '1e400', which is too large"),
    "true_for_a_number": ("malformed", "move.go is [True, False], but must be [dx, dy]"),
    "true_for_the_turn": ("malformed", "has a wrong 'turn'"),
    "two_answers": ("malformed", "wrote to stdout before it was asked"),
    "unknown_type": ("malformed", 'has no "type":"move"'),
    "wrong_shape": ("malformed", "move.go is 'north'"),
    "wrong_turn": ("malformed", "answered turn 2 when asked for turn 1"),
}
STARTS = {
    "exits_at_once": ("crashed", "exited with status 7"),
    "never_ready": ("late", "gave no answer to the start message within the start-up limit of 0.8 s"),
}
TOLERATED = [
    "blank_lines",
    "crlf",
    "floods_stderr",
    "forks_without_end",
    "idles_the_supervisor",
    "leaves_a_daemon",
    "limits_the_watchdog",
    "limits_the_supervisor",
    "lists_descriptors",
    "long_name",
    "offers_the_supervisor_to_the_kernel",
    "opens_descriptors",
    "ponders",
    "stays_after_the_end",
    "stops_the_supervisor",
    "traces_the_supervisor",
    "unknown_keys",
]


@pytest.fixture(autouse=True)
def mark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Marks all that a test starts: other tests run the same bots at the same time."""
    monkeypatch.setenv(MARK, str(os.getpid()))


@pytest.fixture(autouse=True)
def _same_user(request: pytest.FixtureRequest) -> None:
    """What a bot does to the referee's processes: root's bots, which are other users, can't."""
    if (
        request.node.name.endswith(("_supervisor]", "_watchdog]", "_kernel]"))
        or "supervisor" in request.function.__name__
        or "blame" in request.function.__name__
    ):
        request.getfixturevalue("same_user")


def left_behind() -> list[str]:
    """Command lines of processes that the test has started from the folder of hostile bots."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = " ".join(process.info["cmdline"] or [])
        if str(HOSTILE) in line and is_marked(process) and process.pid != os.getpid():
            found.append(line)
    return found


def run(name: str, tmp_path: Path, options: Options | None = None, **settings: Any) -> MatchResult:
    replay = tmp_path / "match.replay.jsonl.gz"
    time = PATIENT
    if FAULTS.get(name, STARTS.get(name, ("", "")))[0] == "late":
        time = LONGER if name in ("half_a_line", "one_byte_at_a_time") else SHORT if name in FAULTS else SHORT_START
    result = play_match(
        "straight",
        str(HOSTILE / f"{name}.py"),
        options=options,
        times={"prey": time},
        replay=replay,
        max_steps=30,
        **settings,
    )
    checked = verify(replay)
    assert checked.problem is None
    assert checked.turns == result.steps
    assert not left_behind()
    return result


def test_every_hostile_bot_has_a_test() -> None:
    names = {path.stem for path in HOSTILE.glob("[a-z]*.py")}
    assert names == {*FAULTS, *STARTS, *TOLERATED, "burns_while_others_start", "kills_the_supervisor"}


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_a_fault_ends_the_match_with_its_sentence(name: str, tmp_path: Path) -> None:
    kind, sentence = FAULTS[name]
    result = run(name, tmp_path)
    assert result.started
    assert list(result.faults) == ["prey"]
    fault = result.failures["prey"]
    assert fault.kind == kind
    assert sentence in fault.text
    assert fault.text.isprintable()
    assert len(fault.text) < 500
    assert result.outcome.reason == ("prey-timeout" if kind == "late" else "prey-fault")
    assert result.outcome.scores == {"hunter": result.steps}


@pytest.mark.parametrize("name", sorted(STARTS))
def test_a_bot_that_cannot_start(name: str, tmp_path: Path) -> None:
    kind, sentence = STARTS[name]
    result = run(name, tmp_path)
    assert not result.started
    assert result.failures["prey"].kind == kind
    assert sentence in result.failures["prey"].text


@pytest.mark.parametrize("name", TOLERATED)
def test_what_is_odd_but_does_no_harm_is_played(name: str, tmp_path: Path) -> None:
    result = run(name, tmp_path)
    assert not result.faults
    assert result.outcome.reason == "evaded"


@pytest.mark.parametrize("level", ["none", "limits"])
def test_a_killed_supervisor_makes_the_match_void_and_both_bots_are_named(level: str, tmp_path: Path) -> None:
    options = UNHURRIED._replace(isolation=Level(level, Limits()))
    with pytest.raises(MatchVoid, match=r"killed.*the hunter \(straight\) and the prey \(.*kills_the_supervisor.py\)") as void:
        run("kills_the_supervisor", tmp_path, options)
    assert (void.value.reason, void.value.seats) == (SUPERVISOR, ("hunter", "prey"))
    assert not left_behind()


def test_the_one_bot_of_a_match_is_to_blame_for_its_supervisor(tmp_path: Path) -> None:
    """The other seat is played in this process."""
    result = against_a_function(str(HOSTILE / "kills_the_supervisor.py"))
    assert result.outcome.reason == "prey-fault"
    assert "for which the prey (" in result.failures["prey"].text
    assert result.failures["prey"].text.endswith("is to blame: no other player can do that.")


def against_a_function(prey: str) -> MatchResult:
    """A match against a hunter that is a function; it never builds."""

    def converse(line: bytes) -> bytes | None:
        message = json.loads(line)
        if message["type"] == "start":
            return b'{"type":"ready","protocol":1}'
        return b'{"type":"move","turn":%d,"move":{}}' % message["turn"] if message["type"] == "turn" else None

    game = games.get("evasion")
    players: dict[str, Player] = {"hunter": Function("f", converse, about={"program": "f"}), "prey": resolve(prey, "prey", "evasion")}
    return match_between(game, game.codec.settings("classic", {}), players, UNHURRIED, seed=1).run()


@pytest.mark.parametrize("blamed", [("hunter",), ("prey",), ("hunter", "prey")])
def test_who_is_to_blame_already_loses_whoever_was_asked(blamed: tuple[str, ...], tmp_path: Path) -> None:
    game, replay = games.get("evasion"), tmp_path / "match.replay.jsonl.gz"
    bots = {seat: resolve(str(HOSTILE / "kills_the_supervisor.py"), seat, "evasion") for seat in ("hunter", "prey")}
    players = {seat: bot._replace(is_blamed=seat in blamed) for seat, bot in bots.items()}
    result = match_between(game, game.codec.settings("classic", {}), players, UNHURRIED, seed=1, listeners=[ReplayWriter(replay)]).run()
    assert tuple(result.faults) == blamed
    assert all(
        fault.kind == "crashed" and "the same happened in its matches against other opponents" in fault.text
        for fault in result.failures.values()
    )
    assert verify(replay).problem is None


def test_a_flood_on_stderr_is_kept_to_the_cap_and_counted(tmp_path: Path) -> None:
    result = run("floods_stderr", tmp_path)
    assert result.logs["prey"].stat().st_size == 1_048_576
    last = gzip.open(tmp_path / "match.replay.jsonl.gz").read().splitlines()[-1]
    assert json.loads(last)["stderr_bytes"]["prey"] >= 100_000_000


def test_a_bot_inherits_its_own_three_descriptors_alone(tmp_path: Path) -> None:
    run("lists_descriptors", tmp_path)
    steps = [json.loads(line) for line in gzip.open(tmp_path / "match.replay.jsonl.gz").read().splitlines()]
    said = {step["remarks"]["prey"]["say"] for step in steps if "remarks" in step}
    assert said == {"[0, 1, 2]"}


def test_names_and_remarks_are_shown_harmless(tmp_path: Path) -> None:
    result = run("escapes_and_markup", tmp_path)
    assert result.names["prey"].isprintable()
    assert len(result.names["prey"]) <= 40
    assert len(run("long_name", tmp_path).names["prey"]) == 40


def test_unknown_keys_get_their_author_a_notice(tmp_path: Path) -> None:
    run("unknown_keys", tmp_path)
    steps = [json.loads(line) for line in gzip.open(tmp_path / "match.replay.jsonl.gz").read().splitlines()]
    warnings = {warning for step in steps for warning in step.get("remarks", {}).get("prey", {}).get("warnings", ())}
    assert warnings == {"unknown key in the answer, ignored: move.jump"}


@pytest.mark.parametrize("name", ["not_json", "prints_debug_text", "wrong_shape", "two_answers", "nan", "line_of_10_mb"])
def test_a_malformed_answer_can_be_a_pass_with_a_warning(name: str, tmp_path: Path) -> None:
    result = run(name, tmp_path, UNHURRIED._replace(run=UNHURRIED.run.replace(on_malformed="pass")))
    steps = [json.loads(line) for line in gzip.open(tmp_path / "match.replay.jsonl.gz").read().splitlines()]
    warnings = [warning for step in steps for warning in step.get("remarks", {}).get("prey", {}).get("warnings", ())]
    assert all(fault.kind == "crashed" for fault in result.failures.values()), "these bots leave after a while"
    assert name == "two_answers" or any("It counts as a pass." in warning for warning in warnings)
    assert result.steps > 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["chatters_without_newline", "floods_stderr", "floods_stdout", "line_of_10_mb", "nested_brackets"])
def test_floods_do_not_fill_the_referees_memory(name: str, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "referee",
        "play",
        "straight",
        str(HOSTILE / f"{name}.py"),
        "--max-steps",
        "30",
        "--quiet",
        "--move-time",
        "none",
        "--isolation",
        "none",
    ]
    # Started by a small process: a new program's count begins with the memory of the one that started it.
    measure = (
        "import resource, subprocess, sys\n"
        "assert subprocess.run(sys.argv[1:], stdout=-3, stderr=-3).returncode == 0\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    measured = subprocess.run([sys.executable, "-c", measure, *command], cwd=tmp_path, capture_output=True, text=True, check=True)
    mebibytes = int(measured.stdout) / (1024 * 1024 if sys.platform == "darwin" else 1024)
    assert mebibytes < 100


#: Answers the start message only when its start-up limit has passed, while processes of the other bot are busy. It imports nothing that
#: would take time of its own.
SLOW_START = """
import json, sys, time
sys.stdin.readline()
time.sleep(2.05)
print('{"type":"ready","protocol":1}', flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "turn":
        print(json.dumps({"type": "move", "turn": message["turn"], "move": {}}), flush=True)
"""


@pytest.mark.alone
@pytest.mark.parametrize("level", ["none", pytest.param("limits", marks=[pytest.mark.slow, pytest.mark.again])])
def test_who_burns_processors_makes_nobody_late_to_start(level: str, tmp_path: Path) -> None:
    """Children in sessions of their own made a start of 0.8 s take 8 to 9.5 s. By the wall clock their processor time postpones the end of the limit.

    Other load on the machine postpones nothing, so this test runs alone; the children have the whole limit to burn a fraction of a second.
    """
    slow = tmp_path / "slow.py"
    slow.write_text(SLOW_START)
    patient = PATIENT.replace(kind="wall")
    options = UNHURRIED._replace(time=patient, isolation=Level(level, Limits()))
    burns = str(HOSTILE / "burns_while_others_start.py")
    result = play_match(str(slow), burns, options=options, times={"hunter": patient.replace(startup=2.0)}, max_steps=3)
    assert not result.faults
    assert result.steps == 3
    assert left_behind() == []
