"""What bots write to stderr while a match is played, line by line with the seat and the step."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from referee.match.events import Listener, MatchBegun, MatchEnded, PlayersFaulted, StepTaken
from referee.players.own_files import OwnFiles
from referee.support.escape import escape
from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.games.game import Seat
    from referee.match.loop import Match
    from referee.players.log import Log

#: The most lines of one bot that are printed in one step, and the most characters of a line.
MOST_LINES = 20
_MOST_CHARACTERS = 400
#: How much a bot's text may grow between two prints, in bytes; the rest is only counted.
_MOST_BYTES = 16_384
_COLORS = (36, 33, 35, 32, 34, 31)


class PendingText:
    """The text of one bot that has not been printed yet. ``told`` and ``left_out`` count the lines of the current step."""

    def __init__(self, log: Log) -> None:
        self.told = self.left_out = self.left_out_bytes = 0
        self._waiting = bytearray()
        self._is_cut = False
        log.follow(self._take)

    def _take(self, data: bytes) -> None:
        # This runs while the bot's clock runs, so it only keeps and counts.
        room = _MOST_BYTES - len(self._waiting)
        self._waiting += data[:room]
        if len(data) > room:
            self._is_cut = True
            self.left_out += data.count(b"\n", room)
            self.left_out_bytes += len(data) - room

    def lines(self, *, is_last: bool) -> list[bytes]:
        """Return the complete lines to print, at most ``MOST_LINES`` a step. ``is_last``: an incomplete line is complete now."""
        end = len(self._waiting) if is_last else self._waiting.rfind(b"\n") + 1
        if self._is_cut:
            # The end of the last line was left out with its line break, which is counted already. A single long line is shown.
            end = end or len(self._waiting)
            self.left_out_bytes += len(self._waiting) - end
            del self._waiting[end:]
            self._is_cut = False
        lines = bytes(self._waiting[:end]).splitlines()
        del self._waiting[:end]
        room = max(0, MOST_LINES - self.told)
        self.told += min(room, len(lines))
        self.left_out += len(lines[room:])
        self.left_out_bytes += sum(len(line) + 1 for line in lines[room:])
        return lines[:room]


class BotStderr(Listener):
    """Prints the bots' stderr while a match is played. ``put_line`` prints one line, as ``say`` does."""

    def __init__(self, match: Match, put_line: Callable[..., None]) -> None:
        self._put_line = put_line
        self._match = match
        self._files: dict[Seat, OwnFiles] = {}
        self._texts = {seat: PendingText(match.log_of(seat)) for seat in match.seats}
        self._step = "start"
        is_colored = sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self._colors = {seat: _COLORS[index % len(_COLORS)] if is_colored else 0 for index, seat in enumerate(match.seats)}

    def begun(self, event: MatchBegun) -> None:
        """Print what the bots wrote while they started."""
        self._finish("0")

    def ticked(self) -> None:
        """Print complete lines of a bot that thinks for long."""
        self._print(is_last=False)

    def stepped(self, event: StepTaken) -> None:
        """Print the lines of the step."""
        self._finish(str(event.turn + 1))

    def faulted(self, event: PlayersFaulted) -> None:
        """Print the last lines of a bot that failed."""
        self._print(is_last=True)

    def ended(self, event: MatchEnded) -> None:
        """Print what the bots wrote after the last step."""
        self._step = "end"
        self._finish("end", is_last=True)

    def stopped(self) -> None:
        """Print the rest."""
        self._finish("end", is_last=True)

    def _finish(self, step: str, *, is_last: bool = False) -> None:
        """Print the lines of the current step and the number of those that are left out; then a new step begins."""
        self._print(is_last=is_last)
        for seat, text in self._texts.items():
            if text.left_out_bytes:
                self._put(seat, f"... {counted(text.left_out, 'more line')} ({text.left_out_bytes:,} bytes)")
            text.told = text.left_out = text.left_out_bytes = 0
        self._step = step

    def _print(self, *, is_last: bool) -> None:
        for seat, text in self._texts.items():
            for line in text.lines(is_last=is_last):
                named = self._files_of(seat).named(line.expandtabs().decode("utf-8", "backslashreplace"))
                self._put(seat, escape(named, _MOST_CHARACTERS))

    def _files_of(self, seat: Seat) -> OwnFiles:
        """Return the names of a bot's files that its author knows."""
        if seat not in self._files and (process := self._match.process_of(seat)) is not None:
            self._files[seat] = process.own_files()
        return self._files.get(seat, OwnFiles())

    def _put(self, seat: Seat, text: str) -> None:
        label, color = f"{seat} {self._step}|", self._colors[seat]
        self._put_line(f" {text}".rstrip(), label=f"\x1b[{color}m{label}\x1b[0m" if color else label)
