"""Writes replays: compressed JSON lines, while the match is played. docs/replay.md describes the format."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import zlib
from time import monotonic
from typing import TYPE_CHECKING, Any

from referee.errors import ReplayUnwritten
from referee.replay.events import Listener, MatchBegun, MatchResult, PlayersFaulted, StepTaken, Waiting
from referee.support.signals import blocked_signals
from referee.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from io import RawIOBase
    from pathlib import Path

    from referee.games.game import Game, Json

FORMAT = 1
#: The text before the digest in the last line. The digest covers everything up to and including this text.
DIGEST_KEY = ',"sha256":"'

_MOST_TEXTS = 1_000
#: Only texts up to this many characters are cached.
SHORT_TEXT = 200

#: Returns a JSON value as the text that stands in a replay.
dumps = json.JSONEncoder(separators=(",", ":")).encode


def new_head(game: Game[Any, Any], settings: Any, about: Mapping[str, Json]) -> dict[str, Json]:
    """Return the head of the replay of a match on this machine. ``about`` says who plays, from which seed, and under which conditions."""
    machine = os.uname()
    return {
        "type": "head",
        "format": FORMAT,
        "game": game.info.name,
        "version": game.info.version,
        "rules": settings.rules,
        "settings": game.codec.settings_json(settings),
        **about,
        "machine": {
            "system": f"{machine.sysname} {machine.machine}",
            "cores": os.cpu_count(),
            "python": ".".join(map(str, sys.version_info[:3])),
        },
        "referee": __version__,
    }


class ReplayWriter(Listener):
    """Writes a match to a file while it is played, at the shortest interval that one of its ``readers`` asks for, and notifies them.

    So if the referee is killed, the first part of the replay is good.
    """

    def __init__(self, path: Path, readers: Sequence[Listener] = ()) -> None:
        self.path = path
        self._readers = readers
        wishes = [self.saves, *(reader.saves for reader in readers)]
        self._flush_steps = min(wish.steps for wish in wishes)
        self._flush_seconds = min(wish.seconds for wish in wishes)
        self._file: RawIOBase | None = None
        self._deflate = zlib.compressobj(6, zlib.DEFLATED, 31)
        self._digest = hashlib.sha256()
        self._waiting: list[str] = []
        self._steps: list[StepTaken] = []
        self._flushed = monotonic()
        self._game: Any = None
        self._move_texts: dict[Any, str] = {}
        self._other = "cpu_us"

    def begun(self, event: MatchBegun) -> None:
        """Open the file and write the head. Until then an existing file isn't changed."""
        # Other names of an existing file keep what is in it.
        with contextlib.suppress(FileNotFoundError):
            if self.path.stat().st_nlink > 1:
                self.path.resolve().unlink()
        # Unbuffered, so that a failed write leaves no data that Python would write again later.
        self._file = self.path.open("wb", buffering=0)
        self._game = event.game
        # The replay has the times of both clocks.
        self._other = "cpu_us" if event.head["clock"]["kind"] == "wall" else "wall_us"
        self._waiting.append(dumps(event.head) + "\n")
        self.flush()

    def recorded(self, event: StepTaken | PlayersFaulted) -> None:
        """Write an event of the match in which this one begins, as if it happened now."""
        if isinstance(event, StepTaken):
            self.stepped(event)
        else:
            self.faulted(event)

    def stepped(self, event: StepTaken) -> None:
        """Collect a step. A hundred steps are written at once: this takes a third of the time of writing them one by one."""
        self._steps.append(event)
        if len(self._steps) >= self._flush_steps or monotonic() - self._flushed >= self._flush_seconds:
            self.flush()

    def faulted(self, event: PlayersFaulted) -> None:
        """Write the faults of one step."""
        faults = {seat: fault.to_json() for seat, fault in event.faults.items()}
        record: dict[str, Json] = {"type": "fault", "turn": event.turn, "faults": faults}
        if event.answers:
            record["us"] = {seat: round(answer.seconds * 1e6) for seat, answer in event.answers.items()}
            record[self._other] = {seat: round(answer.other * 1e6) for seat, answer in event.answers.items() if answer.other is not None}
        if event.logs:
            record["log"] = dict(event.logs)
        self._write_steps()
        self._waiting.append(dumps(record) + "\n")
        self.flush()

    def ended(self, event: MatchResult) -> None:
        """Write the result and finish the file."""
        self.flush()
        result = {
            "type": "result",
            **event.outcome.to_json(),
            "sentence": event.sentence,
            "steps": event.steps,
            "time": {seat: time.to_json() for seat, time in event.times.items()},
            "stderr_bytes": dict(event.stderr_bytes),
        }
        # The digest covers everything up to its own place.
        line = dumps(result)[:-1] + DIGEST_KEY
        self._digest.update(line.encode())
        self._waiting.append(f'{line}{self._digest.hexdigest()}"}}\n')
        self._close(event.outcome.to_json())

    def waiting(self, event: Waiting) -> None:
        """Flush if the flush interval has passed."""
        if monotonic() - self._flushed >= self._flush_seconds:
            self.flush()

    def stopped(self) -> None:
        """Finish the file without a result."""
        self._close()

    def _step_line(self, event: StepTaken) -> str:
        turn, before, after, moves, notices, answers, logs = event
        line = f'{{"turn":{turn}'
        made = ""
        for seat, move in moves.items():
            text = self._move_texts.get(move) or self._move_text(move)
            if text != "{}":
                made += f',"{seat}":{text}'
        if made:
            line += f',"moves":{{{made[1:]}}}'
        line += f',"changes":{self._game.codec.changes_text(before, after)}'
        if notices and (records := [notice.to_json() for notice in notices if notice.seat is not None]):
            line += f',"notices":{dumps(records)}'
        billed = others = ""
        remarks: dict[str, Json] = {}
        for seat, (_, seconds, other, remark, _, _) in answers.items():
            billed += f',"{seat}":{int(seconds * 1e6 + 0.5)}'
            if other is not None:
                others += f',"{seat}":{int(other * 1e6 + 0.5)}'
            if remark is not None:
                remarks[seat] = remark.to_json()
        line += f',"us":{{{billed[1:]}}},"{self._other}":{{{others[1:]}}}'
        if remarks:
            line += f',"remarks":{dumps(remarks)}'
        if logs:
            line += f',"log":{dumps(logs)}'
        return line + "}\n"

    def _move_text(self, move: Any) -> str:
        text = dumps(self._game.codec.move_json(move))
        if len(self._move_texts) > _MOST_TEXTS:
            self._move_texts.clear()
        if len(text) <= SHORT_TEXT:
            self._move_texts[move] = text
        return text

    def flush(self) -> None:
        """Write everything so far, so that the file can be read up to this point."""
        self._flushed = monotonic()
        with blocked_signals():
            self._write_steps()
            if not self._waiting or self._file is None:
                return
            self._write(self._compressed() + self._deflate.flush(zlib.Z_SYNC_FLUSH))
            for reader in self._readers:
                reader.saved()

    def _write_steps(self) -> None:
        steps, self._steps = self._steps, []
        self._waiting += map(self._step_line, steps)

    def _compressed(self) -> bytes:
        text = "".join(self._waiting).encode()
        self._waiting.clear()
        self._digest.update(text)
        return self._deflate.compress(text)

    def _write(self, data: bytes, outcome: dict[str, Json] | None = None) -> None:
        """Write to the file. ReplayUnwritten if that fails; the file is then a replay that ends early."""
        assert self._file is not None
        written = 0
        try:
            while written < len(data):
                written += self._file.write(data[written:]) or 0
        except OSError as error:
            self._file.close()
            steps = _whole_steps(self.path)
            facts: dict[str, Any] = {"replay": str(self.path), "steps": steps, **({} if outcome is None else {"outcome": outcome})}
            played = "The match was played to its end" if outcome is not None else "The match was stopped early"
            raise ReplayUnwritten(
                f"The replay {self.path} can't be continued ({error.strerror or error}): it is good up to step {steps:,}. "
                f"{played}, but without a complete replay it counts for nobody.",
                facts,
            ) from None

    def _close(self, outcome: dict[str, Json] | None = None) -> None:
        with blocked_signals():
            if self._file is None or self._file.closed:
                return
            self._write_steps()
            self._write(self._compressed() + self._deflate.flush(zlib.Z_FINISH), outcome)
            self._file.close()
            for reader in self._readers:
                reader.saved()


def _whole_steps(path: Path) -> int:
    inflate = zlib.decompressobj(31)
    text = b""
    with contextlib.suppress(OSError, zlib.error):
        text = inflate.decompress(path.read_bytes())
    return sum(line.startswith(b'{"turn":') for line in text.split(b"\n")[:-1])
