"""A player in this process, for unit tests and quick experiments. It gets the same bytes as a program."""

from __future__ import annotations

import sys
import traceback
from time import perf_counter
from typing import TYPE_CHECKING

from typing_extensions import override

from referee.isolation.file_names import FOREIGN, FileNames, short_path
from referee.players.crash_report import SourceLine, working_place
from referee.players.player import Reply, RunningPlayer
from referee.replay.faults import Failure
from referee.support.escape import escape

if TYPE_CHECKING:
    from referee.isolation.log import Log
    from referee.players.player import Function


_OWN = FileNames((), FOREIGN)


class LocalPlayer(RunningPlayer):
    """Calls the player's function with each line for the bot, without the line's end.

    An exception of the bot is kept in ``error`` and counts as its crash; its traceback goes to the log.
    """

    def __init__(self, seat: str, function: Function, log: Log) -> None:
        super().__init__(seat, function.label, log, None)
        self.error: Exception | SystemExit | None = None
        self._answer = function.answer

    def answer(self, line: bytes) -> bytes | None:
        """Return the bot's answer to a line; None if it raised an exception or gave no answer."""
        try:
            return self._answer(line)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a bot raises is its own crash
            self.error = error
            self.log.take(traceback.format_exc().encode("utf-8", "backslashreplace"))
            return None

    def ask(self, data: bytes, limit: float | None) -> Reply:
        """Return the reply to a question. A player in this process can't be interrupted, so its time is judged afterwards."""
        begun = perf_counter()
        line = self.answer(data.rstrip(b"\n"))
        seconds = perf_counter() - begun
        if line is None:
            return Reply(None, seconds, self.failure())
        if limit is not None and seconds > limit:
            return Reply(None, limit, Failure("silent"))
        return Reply(line, seconds)

    @override
    def failure(self) -> Failure:
        """Return the exception of the bot with its place, or that the bot returned nothing."""
        if self.error is None:
            return Failure("returned")
        said = escape(f"{type(self.error).__name__}: {self.error}", 160)
        frames = [SourceLine(frame.filename, str(frame.lineno), frame.name) for frame in traceback.extract_tb(self.error.__traceback__)]
        place = working_place(frames[::-1], _OWN)
        return Failure("raised", words=said if place is None else f"{said}, at {place._replace(file=_file_name(place.file)).text(_OWN)}")


def _file_name(file: str) -> str:
    """Return the name of a bot's file for a sentence; for a cell of a notebook, the name of the cell, because it has no file."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    # ("Cell", "In[3]"), or None for a file.
    cell = getattr(getattr(shell, "compile", None), "format_code_name", lambda _: None)(file)
    return short_path(file) if cell is None else " ".join(cell)
