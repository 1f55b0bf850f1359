"""Samples a Python bot with py-spy while it plays: which functions it runs, without a change to the bot."""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from referee.match.events import Listener, MatchBegun, MatchEnded
from referee.support.escape import escape
from referee.support.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from referee.games.game import Seat
    from referee.match.loop import Match

#: Samples a second.
RATE = 500
#: How long py-spy may take to begin, and to write its samples when the bot has ended, in seconds.
_PATIENCE = 20.0
YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")
_ADMIT = str(Path(__file__).with_name("admit_tracer.py"))
_SAMPLE = re.compile(r"(.*) (\d{1,9})\Z")


class Function(NamedTuple):
    """A function of a bot: the samples in which it was running itself, and those in which it or a function that it called was running."""

    name: str
    own: int
    total: int


class Samples:
    """The samples of some matches: how often each stack of functions was seen, from the outermost to the innermost.

    ``problem`` says why there are none, or not of every match.
    """

    def __init__(self, problem: str | None = None) -> None:
        self.stacks: Counter[tuple[str, ...]] = Counter()
        self.problem = problem

    def add(self, lines: Iterable[str]) -> None:
        """Add what py-spy wrote in its format "raw"."""
        for line in lines:
            found = _SAMPLE.match(line)
            if found is not None and (frames := tuple(escape(frame, 200) for frame in found[1].split(";") if frame)):
                self.stacks[frames] += int(found[2])

    @property
    def count(self) -> int:
        """The number of samples."""
        return self.stacks.total()

    def functions(self) -> list[Function]:
        """Return the functions, those with the most samples of their own first."""
        own: Counter[str] = Counter()
        total: Counter[str] = Counter()
        for frames, count in self.stacks.items():
            own[frames[-1]] += count
            # A function that calls itself counts once.
            for name in set(frames):
                total[name] += count
        found = [Function(name, own[name], count) for name, count in total.items()]
        return sorted(found, key=lambda one: (-one.own, -one.total, one.name))


def py_spy() -> str | None:
    """Return the path of py-spy: beside this Python, or on the PATH; None if it is not installed."""
    beside = Path(sys.executable).with_name("py-spy")
    return str(beside) if os.access(beside, os.X_OK) else shutil.which("py-spy")


def obstacle() -> str | None:
    """Return why this system forbids sampling of a bot's process; None if no reason is known."""
    if os.geteuid() == 0:
        return None
    if sys.platform == "darwin":
        return "on macOS only root may look into another process: sudo"
    if _scope() >= "2":
        return f"this system's setting {YAMA} lets only root look into another process"
    return None


def _scope() -> str:
    try:
        return YAMA.read_text().strip()
    except OSError:
        return "0"


def wrapper() -> tuple[str, ...]:
    """Return the script that lets py-spy sample a bot, if the system needs the bot's own consent; else nothing."""
    return (_ADMIT,) if os.geteuid() != 0 and _scope() == "1" else ()


class Sampler(Listener):
    """Runs py-spy on the program of one seat, from the first question to the end of the match; ``flame`` is a file for its flame graph."""

    def __init__(self, match: Match, seat: Seat, samples: Samples, program: str, cores: set[int] | None, flame: Path | None = None) -> None:
        self._match = match
        self._seat = seat
        self._samples = samples
        self._program = program
        self._cores = cores
        #: Where py-spy's own flame graph goes, in place of samples.
        self._flame = flame
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._said = b""

    def begun(self, event: MatchBegun) -> None:
        """Start py-spy, and wait until it samples; no clock runs meanwhile."""
        process = self._match.process_of(self._seat)
        if process is None or process.status is not None:
            return
        self._folder = tempfile.TemporaryDirectory()
        command = [
            *(
                self._program,
                "record",
                "--pid",
                str(process.sandbox.first_pid()),
                "--format",
                "raw" if self._flame is None else "flamegraph",
                "--function",
            ),
            # It reads without stopping the bot, whose clock runs, and so that it is never in the way of the referee's own stops.
            *("--nonblocking", "--rate", str(RATE), "--output", self._output()),
        ]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if self._cores is not None:
            # Not on the core of the match, to which the referee has pinned itself.
            os.sched_setaffinity(self._process.pid, self._cores)
        self._listen(b"Sampling")
        if b"Sampling" not in self._said:
            self._give_up()

    def ended(self, event: MatchEnded) -> None:
        """Take the samples. The bot has ended, and py-spy ends with it."""
        if self._process is None:
            return
        self._listen(None)
        try:
            if self._flame is None:
                self._samples.add(Path(self._output()).read_text("utf-8", "replace").splitlines())
            else:
                write_whole(self._flame, Path(self._output()).read_bytes())
        except OSError as error:
            if error.filename == self._output():
                self._give_up()
            else:
                self._samples.problem = f"the flame graph can't be written: {error.strerror}"
        self._close()

    def stopped(self) -> None:
        """End py-spy."""
        self._close()

    def _output(self) -> str:
        assert self._folder is not None
        return str(Path(self._folder.name) / "samples")

    def _listen(self, words: bytes | None) -> None:
        """Read what py-spy says until these words, or until it ends."""
        assert self._process is not None
        assert self._process.stdout is not None
        fd, deadline = self._process.stdout.fileno(), monotonic() + _PATIENCE
        while words is None or words not in self._said:
            if not select.select([fd], [], [], max(0.0, deadline - monotonic()))[0]:
                return
            chunk = os.read(fd, 4096)
            if not chunk:
                return
            self._said = (self._said + chunk)[-65_536:]

    def _give_up(self) -> None:
        lines = [line for line in self._said.decode("utf-8", "replace").splitlines() if line.strip()]
        said = next((line for line in lines if line.startswith("Error")), lines[0] if lines else "it said nothing")
        why = said.removeprefix("Error:").strip()
        if "python version" in said or "python process" in said.lower():
            why = "the bot's process is no Python program, or starts one as another process"
        elif "ermission" in said:
            why = "this user may not look into the bot's process; try as root"
        self._samples.problem = why
        self._close()

    def _close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
