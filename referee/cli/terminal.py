"""What a running command prints: a line of progress, the steps of a match, and what bots write to stderr."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import time
from collections import Counter, defaultdict
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

from referee.cli.app import is_quiet, say
from referee.replay.events import Listener, MatchBegun, MatchResult, PlayersFaulted, StepTaken, Waiting
from referee.support.escape import printable
from referee.support.words import cut

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from referee.games.game import Game, Seat

#: Without a terminal: the seconds until the first line of progress, and between the following ones.
_FIRST_SECONDS, _PLAIN_SECONDS = 5.0, 10.0


def seldom(seconds: float = 2.0) -> Callable[[str], None]:
    """Return a function that prints a text if ``seconds`` have passed since the last one, or since the beginning.

    The pause before the same text doubles each time.
    """
    last, pause, said = time.monotonic(), seconds, ""

    def show(text: str) -> None:
        nonlocal last, pause, said
        if time.monotonic() - last >= (pause if text == said else seconds):
            last = time.monotonic()
            pause = 2 * pause if text == said else seconds
            said = text
            say(text)

    return show


class StatusLine:
    """A line that is overwritten at a terminal. Without one, an alarm prints it every ten seconds, even if it is unchanged. With -q nothing is shown.

    Only one line can be open at a time.
    """

    def __init__(self, text: str = "") -> None:
        self._text = text
        self._is_shown = not is_quiet()
        self._is_terminal = sys.stderr.isatty()
        self._has_alarm = self._is_shown and not self._is_terminal
        if self._has_alarm:
            signal.signal(signal.SIGALRM, lambda *_: self._print())
            signal.setitimer(signal.ITIMER_REAL, _FIRST_SECONDS, _PLAIN_SECONDS)

    def _print(self) -> None:
        # The alarm may come while another line is being printed.
        with contextlib.suppress(RuntimeError):
            say(*[self._text] * bool(self._text))

    def show(self, text: str) -> None:
        """Show a text in place of the last one. At a terminal it is cut to the width, because a longer line could not be overwritten."""
        self._text = text
        if self._is_shown and self._is_terminal:
            print(f"\r\x1b[K{printable(text)[: max(20, _width() - 1)]}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Clear the line at a terminal, so that another line can be printed."""
        if self._is_shown and self._is_terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """End the line."""
        self.clear()
        if self._has_alarm:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _width() -> int:
    if "COLUMNS" in os.environ:
        return shutil.get_terminal_size().columns
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


_REDRAW_SECONDS = 0.1
#: The most remarks of one kind that are printed one by one, and the most kinds that are counted separately.
_MOST_PRINTED = 3
_MOST_KINDS = 100
_Kind: TypeAlias = "tuple[str, str, str]"
_OTHERS: _Kind = ("", "", "")


class Live(Listener):
    """Follows a match on stderr; prints every refused wall and every warning with its step and reason."""

    def __init__(self, title: str = "") -> None:
        #: The beginning of each line, such as "game 2, " for one of two matches with swapped roles; and each seat with its player's name.
        self._title = title
        self._called: dict[Seat, str] = {}
        self._game: Game | None = None
        #: By seat: the seconds used, the number of answers, and the bank with its increment (None without a bank).
        self._seconds: defaultdict[Seat, float] = defaultdict(float)
        self._answers: Counter[Seat] = Counter()
        self._banks: dict[Seat, tuple[float, float] | None] = {}
        #: The text about the player for which the match waits, or "".
        self._waits = ""
        self._is_terminal = sys.stderr.isatty()
        self._drawn, self._pause = monotonic(), _FIRST_SECONDS
        self._state: Any = None
        self._has_line = False
        #: By kind (seat, code, reason or ""): the number of remarks, and the text of the last one with its step.
        self._counts: Counter[_Kind] = Counter()
        self._last: dict[_Kind, str] = {}

    def begun(self, event: MatchBegun) -> None:
        """Print the game, the rule set and the players."""
        self._called = {seat: f"{seat} {self._name(player)}" for seat, player in event.head["players"].items()}
        self._put_line(f"{self._title}{event.head['game']}, {event.head['rules']}: {' against '.join(self._called.values())}")
        self._state, self._game = event.state, event.game
        for seat, player in event.head["players"].items():
            clock = player.get("clock") or event.head["clock"]
            self._banks[seat] = None if clock["bank"] is None else (clock["bank"], clock["increment"])

    def _name(self, player: Mapping[str, Any]) -> str:
        """Return a player's name. In a duel, add its team, because bots of two teams may have the same name."""
        name, team = (cut(str(player.get(key, "")), 40) for key in ("name", "program"))
        return f"{name} of {team}" if self._title and team and team.casefold() != name.casefold() else name

    def stepped(self, event: StepTaken) -> None:
        """Print notices to a seat and warnings, and redraw if it is time."""
        self._state = event.after
        for notice in event.notices:
            if notice.seat is not None:
                kind = (notice.seat, notice.code, str((notice.data or {}).get("reason", "")))
                self._remark(event.turn, kind, notice.text)
        for seat, answer in event.answers.items():
            self._seconds[seat] += answer.seconds
            self._answers[seat] += 1
            for warning in answer.remark.warnings if answer.remark is not None else ():
                self._remark(event.turn, (seat, warning.notice_code, warning.code), warning.text)
        self._waits = ""
        self._redraw()

    def _remark(self, turn: int, kind: _Kind, text: str) -> None:
        """Print the first remarks of a kind, with their seat and its player, and count the others."""
        seat = kind[0]
        if len(self._counts) >= _MOST_KINDS and kind not in self._counts:
            kind = _OTHERS
        self._counts[kind] += 1
        called = self._called.get(seat, seat)
        self._last[kind] = f"the last in step {turn}, {called}: {text}"
        if self._counts[kind] <= _MOST_PRINTED:
            self._put_line(f"{self._title}step {turn}, {called}: {text}")

    def waiting(self, event: Waiting) -> None:
        """Show for which player the match waits."""
        self._waits = event.text
        self._redraw()

    def _redraw(self) -> None:
        """Redraw if it is time."""
        now = monotonic()
        if now - self._drawn < (_REDRAW_SECONDS if self._is_terminal else self._pause):
            return
        self._drawn, self._pause = now, _PLAIN_SECONDS
        if self._state is not None:
            # All players are ready now.
            self._draw()
        if not self._is_terminal and self._waits:
            self._put_line(f"{self._title}{self._waits}")

    def faulted(self, event: PlayersFaulted) -> None:
        """Print why a player failed."""
        for fault in event.faults.values():
            self._put_line(f"{self._title}step {event.turn}: {fault.text}")

    def ended(self, event: MatchResult) -> None:
        """Print the counts of the remarks that were not printed."""
        self.stopped()

    def stopped(self) -> None:
        """Remove the status line, and print the number of remarks of each kind that were not printed."""
        self._clear()
        for kind, count in self._counts.items():
            if count > _MOST_PRINTED:
                self._put_line(
                    f"{self._title}{count - _MOST_PRINTED:,} more{' of other kinds' if kind == _OTHERS else ''}, {self._last[kind]}"
                )
        self._counts.clear()

    def _draw(self) -> None:
        game_text = None if self._game is None else self._game.text
        numbers = {} if game_text is None else game_text.status_fields(self._state)
        line = "  ".join(f"{name} {value:,}" for name, value in numbers.items())
        for seat, bank in self._banks.items():
            of_bank = "" if bank is None else f" of {bank[0] + bank[1] * self._answers[seat]:.0f}"
            line += f"  {seat} {self._seconds[seat]:.1f}{of_bank} s"
        if self._is_terminal:
            room = shutil.get_terminal_size().columns - 1
            waits = f"  {self._waits}" if self._waits else ""
            if len(line + waits) > room:
                short = "  ".join(f"{seat[0].upper()} {self._seconds[seat]:.1f}s" for seat in self._banks)
                line = " ".join(f"{value:,}" for value in numbers.values()) + f"  {short}"
            line += waits
            self._write("\r\x1b[K" + line[: max(1, room)])
            self._has_line = True
        else:
            self._write(line + "\n")

    def _put_line(self, text: str) -> None:
        """Print a line as ``say`` does. At a terminal it replaces the status line, which is drawn again later."""
        self._clear()
        say(text)

    def _clear(self) -> None:
        if self._has_line:
            self._write("\r\x1b[K")
            self._has_line = False

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):
            pass  # stderr is closed; the match continues.
