"""What the worker of the page runs: one match of bots that are texts, and what the page shows of it.

Nothing here is trusted by the page: a bot shares this process with the rules.
"""

from __future__ import annotations

import base64
import json
import sys
import time
import traceback
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import TextIOBase
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from example_bots import BOTS
from referee import games
from referee.errors import RefereeError
from referee.games.outcome import SettingsError
from referee.players.player import Function
from referee.replay.replay_index import ReplayIndex
from referee.workshop.loop import LocalMatch
from sdk.bot import Bot, Conversation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from referee.games.game import Json

    #: Takes a message for the page.
    Post = Callable[[str], None]

if not hasattr(time, "thread_time"):
    # The Python of the browser has one thread, and no clock of its processor time. The time for verdicts is measured with it.
    time.thread_time = time.monotonic

#: How often the page hears of a match, in seconds.
_BEAT = 0.2
#: The most characters that all bots of a match may print.
MOST_PRINTED = 1 << 16
#: The most time for the verdicts of a replay, in seconds.
_JUDGING = 2.0
_UNCALLED = "{} ends without a call of main(). The workshop runs bots of the SDK, which end with a line such as MyHunter.main()."


class _Ready(BaseException):
    """A program has called ``main`` of a class, which is the argument: it would play from here on."""


class _Prints(TextIOBase):
    """Sends what bots print to the page, up to a cap."""

    def __init__(self, post: Post) -> None:
        self._post, self._parts, self._left, self._sent = post, list[str](), MOST_PRINTED, -_BEAT

    def write(self, text: str) -> int:
        """Take a text. It is sent soon."""
        if self._left > 0:
            cut = text[: self._left]
            self._left -= len(cut)
            self._parts.append(cut if self._left else f"{cut}\n[All further output is dropped.]\n")
            # Also in an endless loop, which nothing interrupts.
            if not self._left or time.monotonic() - self._sent >= _BEAT:
                self.flush()
        return len(text)

    def flush(self) -> None:
        """Send what hasn't been sent."""
        if self._parts:
            text, self._parts, self._sent = "".join(self._parts), [], time.monotonic()
            self.post({"kind": "printed", "text": text})

    def post(self, message: Mapping[str, Json]) -> None:
        """Send a message, after what was printed before it."""
        self.flush()
        self._post(json.dumps(message))


def run(job: str, home: str, post: Post) -> None:
    """Play the match that a page asks for as JSON, and tell the page how it went.

    ``home`` is a folder for the bots' files and the replay. Every exception of a bot is part of a message.
    """
    wish = json.loads(job)
    prints = _Prints(post)
    try:
        with redirect_stdout(prints), redirect_stderr(prints):
            message = _Run(wish, Path(home), prints).play()
    except (RefereeError, SettingsError) as error:
        message = {"kind": "failed", "text": str(error)}
    prints.post(message)


class _Run:
    """One match of a page's wish."""

    def __init__(self, wish: dict[str, Any], home: Path, prints: _Prints) -> None:
        self._wish, self._home, self._prints = wish, home, prints
        self._game = games.get(wish["game"])
        self._settings = self._game.codec.settings(wish["rules"], wish["settings"])
        self._beaten = time.monotonic()

    def play(self) -> dict[str, Json]:
        """Play the match; return the message about its end."""
        players = {}
        for seat, program in zip(self._game.seats(self._settings), self._wish["bots"], strict=True):
            name, path = self._stored(seat, program["name"], program["text"])
            try:
                bot = loaded(path)
            except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001 - whatever a bot raises is its own
                return self._raised(f"{name} can't be run.", {seat: error})
            if bot is None:
                return self._raised(_UNCALLED.format(name), {})
            players[seat] = Function(bot.__name__, _answering(bot), {"program": name})
        replay = self._home / "match.replay.jsonl.gz"
        match = LocalMatch(self._game, self._settings, self._wish["seed"], players, replay, self._beat)
        begun = time.monotonic()
        try:
            result = match.run()
        except KeyboardInterrupt as error:
            return {**self._raised("The match was stopped.", {"": error}), **_replay(replay)}
        seconds = time.monotonic() - begun
        errors = {seat: player.error for seat, player in match.players.items() if player.error is not None}
        text = " ".join([result.text, *result.faults.values()])
        self._prints.post({"kind": "played", "text": text})
        return {**self._raised(text, errors), "kind": "over", "steps": result.steps, "seconds": round(seconds, 3), **_replay(replay)}

    def _stored(self, seat: str, name: str, text: str | None) -> tuple[str, Path]:
        """Return the name and the file of a bot's program; its text is written there. Without a text it is an example bot."""
        if text is None:
            game = self._game.info.name
            return name, next(bot.path for bot in BOTS if (bot.game, bot.name) == (game, name) and bot.plays(seat))
        path = self._home / seat / Path(name).name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path.name, path

    def _beat(self, turn: int) -> None:
        now = time.monotonic()
        if now - self._beaten >= _BEAT:
            self._beaten = now
            self._prints.post({"kind": "beat", "turn": turn})

    def _raised(self, text: str, errors: Mapping[str, BaseException]) -> dict[str, Json]:
        """Return a message with the tracebacks of bots, and the last line of each bot's own text in them, by seat."""
        reports = [_trimmed(error, self._home) for error in errors.values()]
        lines = dict(place for _, place in reports if place is not None)
        return {"kind": "failed", "text": text, "traceback": "\n".join(trace for trace, _ in reports), "lines": lines}


def loaded(path: Path) -> type[Bot] | None:
    """Run a bot's program until it calls ``main``, and return its class; None if it never does. Raises what the program raises."""

    def main(cls: type[Bot]) -> None:
        raise _Ready(cls)

    module = ModuleType("__main__")
    module.__file__ = str(path)
    sys.modules["__main__"] = module
    original = Bot.__dict__["main"]
    Bot.main = classmethod(main)  # type: ignore[assignment, method-assign]
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)  # noqa: S102 - that is what the workshop is for
    except _Ready as ready:
        bot: type[Bot] = ready.args[0]
        return bot
    finally:
        Bot.main = original  # type: ignore[method-assign]
    return None


def _answering(bot: type[Bot]) -> Callable[[bytes], bytes | None]:
    """Return what answers lines with a bot of a class. The bot is made when its first line arrives: what it raises then is its crash."""
    conversation = cache(lambda: Conversation(bot))
    return lambda line: conversation().answer(line)


def _trimmed(error: BaseException, home: Path) -> tuple[str, tuple[str, int] | None]:
    """Return a traceback with the frames of the bots' own texts alone, and the seat and the line of the last of these."""
    report = traceback.TracebackException.from_exception(error)
    frames = [frame for frame in report.stack if Path(frame.filename).is_relative_to(home)]
    places = [(Path(frame.filename).parent.name, frame.lineno or 0) for frame in frames]
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).is_relative_to(home):
        places.append((Path(error.filename).parent.name, error.lineno or 0))
    report.stack = traceback.StackSummary.from_list(frames)
    report.__cause__ = report.__context__ = None
    text = "".join(report.format()).replace(f"{home}/", "")
    return text if frames or places else "".join(report.format_exception_only()), places[-1] if places else None


def _replay(path: Path) -> dict[str, Json]:
    """Return a replay and what the engine finds in it; nothing for a match that was stopped before its first step."""
    if not path.exists():
        return {}
    return {"replay": base64.b64encode(path.read_bytes()).decode(), "findings": ReplayIndex.of(path, _JUDGING).findings()}
