"""A player in this process: for unit tests and quick experiments. It gets the same bytes as a program would."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from referee.players.log import Log

if TYPE_CHECKING:
    from collections.abc import Callable


class LocalPlayer:
    """Calls ``converse`` with each line for the bot, without its end; what that returns is its answer, None for none.

    An exception of the bot is kept in ``error`` and counts as its crash.
    """

    is_local = True

    def __init__(self, seat: str, label: str, converse: Callable[[bytes], bytes | None]) -> None:
        self.seat = seat
        self.label = label
        self.name = label
        self.log = Log(None, 0)
        self.error: Exception | SystemExit | None = None
        self._converse = converse

    def answer(self, line: bytes) -> bytes | None:
        """The bot's answer to a line; None if it raised or had none."""
        try:
            return self._converse(line)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a bot raises is its own crash
            self.error = error
            self.log.take(traceback.format_exc().encode("utf-8", "backslashreplace"))
            return None

    def ending(self) -> str:
        """How it ended, as the middle of a sentence."""
        if self.error is None:
            return "gave no answer"
        return f"raised {type(self.error).__name__}: {self.error}"
