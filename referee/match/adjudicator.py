"""Adjudication: a separate process computes rulings that can end a match early, on other cores than the players', while no clock runs.

The match waits for each ruling, so the same match ends in the same step on every machine.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import struct
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from referee.errors import MatchVoid
from referee.support.processes import start_module

if TYPE_CHECKING:
    from typing import IO

    from referee.games.game import Game

#: Seconds that a ruling may take. The budget of a ruling counts work and ends it much earlier.
_PATIENCE = 120.0
_LENGTH = struct.Struct("<I")


class Adjudicator:
    """The adjudicating process, on other cores than those given. Use it as a context manager; start it before any clock runs."""

    def __init__(self, game: Game[Any, Any], cores: tuple[int, ...]) -> None:
        assert game.adjudication is not None, "the match asks whether it is enabled"
        #: True if a position is to be adjudicated now.
        self.is_due = game.adjudication.needs_adjudication
        self._process = start_module("referee.match.adjudicator", game.info.name, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if cores and hasattr(os, "sched_setaffinity"):
            # The given cores belong to the match. If there are no others, the process shares them, because the match waits for it.
            others = set(range(os.cpu_count() or 1)) - set(cores)
            with contextlib.suppress(OSError):
                os.sched_setaffinity(self._process.pid, others or set(cores))

    def adjudicate(self, state: Any) -> Any:
        """Return the position after the ruling. MatchVoid if the process fails or takes too long."""
        given, made = self._process.stdin, self._process.stdout
        assert given is not None
        assert made is not None
        try:
            _send(given, state)
            if not select.select([made], [], [], _PATIENCE)[0]:
                raise MatchVoid(f"The adjudicator did not answer within {_PATIENCE:.0f} s.")
            return _receive(made)
        except (OSError, EOFError) as error:
            raise MatchVoid(f"The adjudicator's process has failed: {error or 'it ended'}.") from None

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._process.wait()

    def __enter__(self) -> Adjudicator:  # noqa: PYI034 - Self is newer than what is given
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _send(stream: IO[bytes], value: Any) -> None:
    data = pickle.dumps(value)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def _receive(stream: IO[bytes]) -> Any:
    """Return the next value from the other side. EOFError at the end of the stream."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    # Both ends belong to the referee. Data from a bot arrives here only as part of a checked state.
    return pickle.loads(stream.read(_LENGTH.unpack(head)[0]))  # noqa: S301


def main() -> None:
    """Adjudicate positions until the match closes the pipe."""
    from referee import games

    adjudication = games.get(sys.argv[1]).adjudication
    assert adjudication is not None, "the match asks whether it is enabled"
    with contextlib.suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        while True:
            _send(sys.stdout.buffer, adjudication.adjudicate(_receive(sys.stdin.buffer)))


if __name__ == "__main__":
    main()
