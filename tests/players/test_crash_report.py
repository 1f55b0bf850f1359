"""What is quoted of a bot's stderr."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import play_match

from referee.isolation.bot import Bot
from referee.isolation.endings import Excess
from referee.isolation.file_names import FileNames, file_names
from referee.isolation.submission import Piece
from referee.players.crash_report import crash_report, dumped_frames, working_place
from referee.replay.faults import CRASHED, CrashReport, Fault, stderr_words

OWN = FileNames((("/bot", "bots"), ("/bot/my_bot.py", "bots/my_bot.py")), ("/opt/venv/sdk",))


class Case(NamedTuple):
    """A text on stderr, and what is quoted of it."""

    name: str
    text: str
    said: str


CASES = [
    Case("nothing", "", ""),
    Case("another text", "I have had enough.\n\n", "; the last line of its stderr: I have had enough"),
    Case(
        "another language",
        "thread 'main' panicked at src/main.rs:3:5:\nindex out of bounds\nnote: run with `RUST_BACKTRACE=1`\n",
        "; the last line of its stderr: note: run with `RUST_BACKTRACE=1`",
    ),
    Case(
        "python",
        """\
step 3
Traceback (most recent call last):
  File "/bot/my_bot.py", line 30, in <module>
    Boxer.main()
  File "/opt/venv/sdk/bot.py", line 99, in main
    answer = conversation.answer(line)
  File "/bot/my_bot.py", line 12, in hunt
    return plan(state)
           ^^^^^^^^^^^
  File "/bot/tricks/plan.py", line 3, in plan
    return json.loads("{")
  File "/usr/lib/python3.11/json/__init__.py", line 346, in loads
    return _default_decoder.decode(s)
json.decoder.JSONDecodeError: Expecting property name
""",
        ": json.decoder.JSONDecodeError: Expecting property name, at bots/tricks/plan.py:3 in plan",
    ),
    Case(
        "python: the SDK refuses what the bot returned",
        """\
Traceback (most recent call last):
  File "/bot/my_bot.py", line 8, in <module>
    B.main()
  File "/opt/venv/sdk/bot.py", line 99, in main
    answer = conversation.answer(line)
  File "/opt/venv/sdk/evasion.py", line 396, in hunted
TypeError: a hunter's move is 2
""",
        ": TypeError: a hunter's move is 2",
    ),
    Case(
        "python: an exception while another is handled",
        """\
Traceback (most recent call last):
  File "/bot/my_bot.py", line 2, in f
    1 / 0
ZeroDivisionError: division by zero

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/bot/my_bot.py", line 4, in <module>
    raise RuntimeError("bad\\nand more") from error
RuntimeError: bad
and more
""",
        ": RuntimeError: bad, at bots/my_bot.py:4",
    ),
    Case(
        "python: it leaves after an exception that it caught",
        'Traceback (most recent call last):\n  File "/bot/my_bot.py", line 2, in f\n    1 / 0\nZeroDivisionError: no\nbye\n',
        ": ZeroDivisionError: no, at bots/my_bot.py:2 in f",
    ),
    Case(
        "python: an exception that it caught long ago",
        'Traceback (most recent call last):\n  File "/bot/my_bot.py", line 2, in f\n    1 / 0\nZeroDivisionError: no\n'
        + 21 * "step\n"
        + "bye\n",
        "; the last line of its stderr: bye",
    ),
    Case(
        "python: a deep recursion",
        'Traceback (most recent call last):\n  File "/bot/my_bot.py", line 2, in r\n    r()\n  [Previous line repeated 992 more times]\n'
        "RecursionError: maximum recursion depth exceeded\n",
        ": RecursionError: maximum recursion depth exceeded, at bots/my_bot.py:2 in r",
    ),
    Case(
        "python: a thread",
        "Exception in thread Thread-1 (work):\nTraceback (most recent call last):\n"
        '  File "/usr/lib/python3.11/threading.py", line 1045, in _bootstrap_inner\n    self.run()\n'
        '  File "/bot/my_bot.py", line 7, in work\n    1 / 0\nZeroDivisionError: no\n',
        ": ZeroDivisionError: no, at bots/my_bot.py:7 in work",
    ),
    Case(
        "python: no such syntax",
        '  File "/bot/my_bot.py", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax\n',
        ": SyntaxError: invalid syntax, at bots/my_bot.py:1",
    ),
    Case(
        "python: cut short",
        'Traceback (most recent call last):\n  File "/bot/my_bot.py", line 2, in f\n',
        '; the last line of its stderr: File "bots/my_bot.py", line 2, in f',
    ),
    Case(
        "escapes",
        'Traceback (most recent call last):\n  File "/bot/my_bot.py", line 2, in f\nKeyError: \x1b[2J\u202e\n',
        ": KeyError: \\x1b[2J\\u202e, at bots/my_bot.py:2 in f",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_line_that_states_the_error(case: Case) -> None:
    assert stderr_words(crash_report(case.text, OWN)) == case.said


def test_a_traceback_is_not_the_reason_of_another_exit_status() -> None:
    text = 'Traceback (most recent call last):\n  File "/bot/my_bot.py", line 2, in f\n    1 / 0\nZeroDivisionError: no\nenough\n'
    assert stderr_words(crash_report(text, OWN, 5)) == "; the last line of its stderr: enough"
    assert stderr_words(crash_report(text, OWN, 1)).startswith(": ZeroDivisionError: no, at")


@pytest.mark.parametrize("piece", ["(", " at (", "^\n", "Traceback (most recent call last):\n", ' File "x", line 1\n', "x", "/bot", "\n"])
def test_any_text_is_taken(piece: str) -> None:
    crash_report(piece * (65_536 // len(piece)), OWN)


DUMP = """\
Thread 0x00007f44 (most recent call first):
  File "/bot/my_bot.py", line 40 in ponder

Current thread 0x00007f45 [python] (most recent call first):
  File "/usr/lib/python3.11/random.py", line 5 in choice
  File "/bot/h\\xfcte.py", line 9 in look
  File "/opt/venv/sdk/bot.py", line 102 in main
  File "/bot/my_bot.py", line 11 in <module>
"""


def test_the_place_of_a_stack() -> None:
    place = working_place(dumped_frames("loaded\n" + DUMP), OWN)
    assert place is not None
    assert place.text(OWN) == "bots/hüte.py:9 in look"


def test_a_bot_that_waits_for_a_question_is_at_no_place_of_its_own() -> None:
    waiting = "\n".join(line for line in DUMP.splitlines() if "look" not in line) + "\n"
    assert len(dumped_frames(waiting)) == 3
    assert working_place(dumped_frames(waiting), OWN) is None


@pytest.mark.parametrize("text", ["", "Current thread 0x7f (most recent call first):\n", "Stack overflow\n"])
def test_text_without_a_stack_has_no_frames(text: str) -> None:
    assert dumped_frames(text) == []


def names(label: str, pieces: tuple[Piece, ...], cwd: str, text: str, *, is_sandbox: bool = True) -> str:
    return file_names(Bot(label, ("/usr/bin/python3",), cwd, pieces), is_sandbox=is_sandbox).named(text)


def test_paths_are_those_of_the_author(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    (here / "bots").mkdir(parents=True)
    (here / "bots" / "my bot.py").write_text("")
    (tmp_path / "link.py").symlink_to(here / "bots" / "my bot.py")
    monkeypatch.chdir(here)
    file = (Piece(str(here / "bots" / "my bot.py"), "my bot.py"),)
    text = 'File "/bot/my bot.py", /bot/data.txt:3 at file:///bot/x.mjs:1 in /bot, not in /bots nor /tmp/bot/x nor /bot.txt'
    assert names("bots/my bot.py", file, str(here / "bots"), text) == (
        'File "bots/my bot.py", bots/data.txt:3 at bots/x.mjs:1 in bots, not in /bots nor /tmp/bot/x nor /bot.txt'
    )
    full = str(here / "bots" / "my bot.py")
    assert names(full, file, str(here / "bots"), "/bot/my bot.py") == full
    assert names("bots", (Piece(str(here / "bots"), ""),), str(here / "bots"), "/bot/sub/x.py /bot") == "bots/sub/x.py bots"
    command = (Piece(str(here / "bots" / "x.py"), "bots/x.py"), Piece("/elsewhere/y.py", "y.py"))
    assert names("python3 bots/x.py /elsewhere/y.py", command, str(here), "/bot/bots/x.py /bot/y.py /bot/z.py") == (
        "bots/x.py /elsewhere/y.py z.py"
    )
    # Outside a sandbox a program runs by its resolved path, and was named by a link.
    linked = (Piece(str(tmp_path / "link.py"), "my bot.py"),)
    assert names("../link.py", linked, str(here / "bots"), full, is_sandbox=False) == "../link.py"


def test_files_of_libraries_are_not_the_bots_own() -> None:
    for path in (
        "/x/site-packages/a.py",
        "/usr/lib/python3.11/json/x.py",
        "<frozen x>",
        "/opt/venv/sdk/a.py",
    ):
        assert not OWN.are_in(path), path
    for path in ("/bot/my_bot.py", "/home/me/sdk/x.py", "<string>"):
        assert OWN.are_in(path), path


READY = '{"type":"ready","protocol":1}'


def sentence(player: str) -> str:
    result = play_match(player, "still")
    assert result.started, result.faults
    return result.failures["hunter"].text


def test_python_run_from_a_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bot.py").write_text(f"input()\nprint('{READY}', flush=True)\ninput()\ndef plan():\n    return {{}}[3]\nplan()\n")
    assert sentence(f"{sys.executable} bot.py").endswith("exited with status 1: KeyError: 3, at bot.py:5 in plan.")


def test_what_the_sdk_refuses_is_at_no_line_of_the_bot(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text("from sdk import HunterBot\nclass Odd(HunterBot):\n    def hunt(self, state):\n        return 2\nOdd.main()\n")
    assert sentence(str(bot)).endswith("TypeError: a hunter's move is 2; it must be None, self.build(...) or self.remove(...).")


@pytest.mark.parametrize(
    ("over", "how"),
    [
        (None, "exited with status 1"),
        (Excess("time", 0), "used more processor time than its clock can allow"),
        (Excess("memory", 64 << 20, 1 << 20), "used more memory than its limit of 64 MiB"),
        (Excess("processes", 64), "started more processes or threads than its limit of 64"),
        (Excess("files", 10_000), "made more than 10,000 files in /tmp and /dev/shm"),
        (Excess("disk", 64 << 20), "wrote more to disk than its limit of 64 MiB"),
        (Excess("disk", 64 << 20, 8 << 20), "wrote more to disk than its limit of 64 MiB (in /dev/shm of 8 MiB)"),
    ],
)
def test_a_fault_holds_the_limit_and_the_last_words_as_values(over: Excess | None, how: str) -> None:
    values = {"status": 1, "signal": None, "excess": None if over is None else list(over), "is_remote": False, "is_start": False}
    crash = CrashReport("KeyError: 'x'", "bot.py:3")
    found = Fault.of(CRASHED, "ended", {"seat": "prey", "label": "bot.py", "crash": crash._asdict(), **values})
    assert found.text == f"The prey (bot.py) {how}: KeyError: 'x', at bot.py:3."
