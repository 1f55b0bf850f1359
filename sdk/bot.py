"""The part of a bot that doesn't depend on the game: settings, time, randomness, remarks for spectators, and the protocol."""

from __future__ import annotations

import json
import os
import sys
from time import perf_counter
from typing import TYPE_CHECKING

from sdk import _guard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from random import Random
    from typing import Any

    from typing_extensions import Self

    from referee.games.game import Json

    Point = tuple[float, float]

#: Limits of ``say`` (characters) and ``draw`` (bytes, shapes). A longer ``say`` is cut, a larger ``draw`` is dropped; the referee does the
#: same.
SAY_LENGTH = 500
DRAW_BYTES = 20_000
DRAW_SHAPES = 500


class TimeLeft:
    """The time that the bot had left when its question arrived, in seconds; None means no limit."""

    __slots__ = ("asked_at", "bank", "move")

    def __init__(self, move: float | None, bank: float | None, asked_at: float) -> None:
        self.move = move
        self.bank = bank
        self.asked_at = asked_at

    def now(self) -> float | None:
        """Return the seconds until this answer is late: the smaller of move limit and bank, less the time used so far; None: no limit."""
        limits = [limit for limit in (self.move, self.bank) if limit is not None]
        return min(limits) - (perf_counter() - self.asked_at) if limits else None


class Drawing:
    """The shapes that a bot draws over the board in this turn, in board coordinates. Colours are names or ``#rrggbb``."""

    def __init__(self) -> None:
        self._shapes: list[dict[str, Json]] = []

    def line(self, start: Point, end: Point, color: str | None = None) -> None:
        """A straight line between two points."""
        self._add({"shape": "line", "start": _point(start), "end": _point(end)}, color)

    def rect(self, start: Point, end: Point, color: str | None = None) -> None:
        """A rectangle between two opposite corners."""
        self._add({"shape": "rect", "start": _point(start), "end": _point(end)}, color)

    def text(self, at: Point, text: str, color: str | None = None) -> None:
        """A text at a point."""
        self._add({"shape": "text", "at": _point(at), "text": _clean(text)[:100]}, color)

    def cells(self, cells: Iterable[tuple[int, int]], color: str | None = None) -> None:
        """Single cells, marked."""
        self._add({"shape": "cells", "cells": [[int(x), int(y)] for x, y in cells]}, color)

    def _add(self, shape: dict[str, Json], color: str | None) -> None:
        if color is not None:
            shape["color"] = _clean(color)
        self._shapes.append(shape)

    def take(self) -> list[dict[str, Json]]:
        """Return the shapes so far and clear the drawing."""
        shapes, self._shapes = self._shapes, []
        return shapes


def _point(point: Point) -> list[float]:
    x, y = point
    return [float(x), float(y)]


def _clean(text: object) -> str:
    # UTF-8 can't encode lone surrogates.
    return str(text).encode("utf-8", "replace").decode()


class Bot:
    """Base of all bots. A game's own base class adds the method that answers its questions.

    From ``begin`` on, a bot has ``seat``, ``rules``, ``settings``, ``seed`` and ``match``. For each question it has ``turn``, ``left`` and
    ``notices``: the referee's notices about its last answer, such as why a wall was refused.
    """

    name = ""
    """The bot's name for spectators, at most 40 characters; if empty, the name of the class."""
    #: The name of the game.
    _game = ""
    #: The seats that this class plays, by the name of the method that answers for each.
    _seats: dict[str, str] = {}
    #: A command that tries a bot of this class, with {} for its program.
    _trial = ""
    #: The module with the rule sets and the settings of the game.
    _variants: Any = None

    seat: str = ""
    """The role that the bot plays, such as "hunter"."""
    rules: str | tuple[str, ...] = ""
    """On a class, the rule sets that it plays: ``rules = ("classic",)``; without them, all. On a bot in a match, the rule set of the match."""
    match: str = ""
    """An opaque identifier of the match."""
    seed: int = 0
    """The seed of ``random``; different for every seat and match."""
    turn: int = 0
    """The number of steps completed before this question."""
    settings: Any
    """The settings of the match; the game's base class converts them to a record."""
    notices: list[dict[str, str]]
    """The referee's notices about the last answer, each with ``code`` and ``text``."""
    left: TimeLeft
    """The time that is left."""
    draw: Drawing
    """The drawing for spectators: ``self.draw.line(...)``."""
    _said: str | None = None
    _random: Random | None = None

    def __new__(cls, *_: object, **__: object) -> Self:
        """Create the bot's parts here, so that an author's ``__init__`` doesn't have to call ``super().__init__``."""
        bot = super().__new__(cls)
        bot.draw = Drawing()
        return bot

    def begin(self) -> None:
        """Called once before the first turn, within the start-up limit. Override it to prepare."""

    def finish(self, result: dict[str, Json]) -> None:
        """Called once after the last turn with the result, within one second. Override it to learn from the match or to log it."""

    def __init_subclass__(cls) -> None:
        """Let a class with several base classes play the seats of all of them. SettingsError if it names a rule set that its game doesn't have."""
        super().__init_subclass__()
        for rules in _rule_sets(cls) if cls._variants is not None else ():
            cls._variants.settings(rules, {})
        cls._seats = {seat: method for base in reversed(cls.__mro__) for seat, method in getattr(base, "_seats", {}).items()}

    def _read_settings(self, rules: str, values: dict[str, Json]) -> Any:
        """Return the settings of the start message as the bot sees them, without those that this version doesn't know."""
        if self._variants is None:
            return values
        fields = set(self._variants.Settings._fields) - {"rules"}
        return self._variants.settings(rules, {name: value for name, value in values.items() if name in fields})

    @property
    def random(self) -> Random:
        """A ``random.Random`` that gives the same numbers in a match with the same seed."""
        if self._random is None:
            from random import Random

            self._random = Random(self.seed)  # noqa: S311 - for games
        return self._random

    def say(self, text: str) -> None:
        """A remark for spectators, shown with this turn."""
        self._said = str(text)

    @classmethod
    def main(cls) -> None:
        """Play as a program that a referee runs. If run by hand in a terminal, explain how to start a match."""
        if not _guard.is_under_referee() and sys.stdin is not None and sys.stdin.isatty():
            print(_explanation(cls), file=sys.stderr)
            raise SystemExit(2)
        stdin, stdout = _guard.guard()
        conversation = Conversation(cls)
        with os.fdopen(stdin, "rb") as questions:
            for line in iter(questions.readline, b""):
                answer = conversation.answer(line) or b""
                try:
                    while answer:
                        answer = answer[os.write(stdout, answer) :]
                except BrokenPipeError:
                    raise SystemExit(0) from None  # The referee is gone, so nobody reads further answers.
        # Flush now: output in Python's buffers must reach the log.
        sys.stdout.flush()
        sys.stderr.flush()


def _explanation(cls: type[Bot]) -> str:
    from shlex import quote

    command = (cls._trial or f"referee play --game {cls._game} {{}}").format(quote(sys.argv[0] or "bot.py"))
    return f"{cls.__name__} is a bot that plays {_roles(cls)}. The referee runs it and asks it for moves.\nTry:  {command}"


def _roles(cls: type[Bot]) -> str:
    """Return the seats of a class as words; the game where there are many."""
    return " and ".join(cls._seats) if len(cls._seats) < 3 else cls._game


def _rule_sets(cls: type[Bot]) -> tuple[str, ...]:
    """Return the rule sets that a class names; empty for all."""
    named = cls.rules
    if isinstance(named, str):
        return (named,) if named else ()
    if not isinstance(named, (tuple, list, set, frozenset)):
        raise TypeError(f'{cls.__name__}.rules is {named!r:.80}; it must name rule sets, such as rules = ("classic",)')
    return (*map(str, named),)


class Conversation:
    """The bot's side of the protocol, without input or output: takes a line and returns the answer."""

    def __init__(self, make: Callable[[], Bot]) -> None:
        self.bot = make()
        self._respond: Callable[[dict[str, Json]], str] | None = None

    def answer(self, line: bytes) -> bytes | None:
        """Return the answer to a line, with its line end; None if the line needs no answer."""
        received = perf_counter()
        message = json.loads(line)
        kind = message.get("type")
        if kind == "turn":
            return self._turn(message, received)
        if kind == "start":
            return self._start(message)
        if kind == "end":
            self.bot.finish(message["result"])
        return None

    def _start(self, message: dict[str, Json]) -> bytes:
        self.prepare(message)
        bot = self.bot
        bot.begin()
        name = (bot.name or type(bot).__name__)[:40]
        return f'{{"type":"ready","protocol":1,"name":{json.dumps(name)}}}\n'.encode()

    def prepare(self, message: dict[str, Json]) -> None:
        """Set the bot's attributes from the start message, before ``begin``."""
        bot, seat = self.bot, message["seat"]
        if seat not in bot._seats:
            raise SystemExit(f"{type(bot).__name__} plays {_roles(type(bot))}, but was asked to play {seat}")
        rules = _rule_sets(type(bot))
        if rules and message["rules"] not in rules:
            raise SystemExit(f"{type(bot).__name__} plays the rules {' and '.join(rules)}, but was asked to play {message['rules']}")
        bot.seat, bot.rules = seat, message["rules"]
        bot.settings = _with_keys(bot._read_settings(message["rules"], message["settings"]), message["settings"])
        bot.seed, bot.match = message["seed"], message["match"]
        self._respond = bot._responder(message)  # type: ignore[attr-defined]

    def _turn(self, message: dict[str, Json], received: float) -> bytes:
        bot = self.bot
        left = message["left"]
        bot.turn = turn = message["turn"]
        bot.left = TimeLeft(left["move"], left["bank"], received)
        bot.notices = message["notices"]
        assert self._respond is not None, "a question came before the start message"
        move = self._respond(message["state"])
        remarks = self._remarks() if bot._said is not None or bot.draw._shapes else ""
        return b'{"type":"move","turn":%d,"move":%s%s}\n' % (turn, move.encode(), remarks.encode())

    def _remarks(self) -> str:
        """Return ``say`` and ``draw`` as the end of an answer, within the referee's limits."""
        bot, parts = self.bot, ""
        if bot._said is not None:
            if len(bot._said) > SAY_LENGTH:
                print(f"sdk: say was cut after {SAY_LENGTH} characters", file=sys.stderr)
            parts += f',"say":{json.dumps(_clean(bot._said[:SAY_LENGTH]))}'
            bot._said = None
        shapes = bot.draw.take()
        if shapes:
            text = json.dumps(shapes, separators=(",", ":"), allow_nan=False)
            if len(text) > DRAW_BYTES or len(shapes) > DRAW_SHAPES:
                print(
                    f"sdk: draw was dropped: {len(shapes)} shapes in {len(text)} bytes, at most {DRAW_SHAPES} in {DRAW_BYTES} are sent",
                    file=sys.stderr,
                )
            else:
                parts += f',"draw":{text}'
        return parts


def _with_keys(settings: Any, message: dict[str, Json]) -> Any:
    """Return the settings as a record that also has the keys of the message: bots written for a dict of settings still work."""
    if not isinstance(settings, tuple):
        return settings

    class Settings(type(settings)):  # type: ignore[misc]
        __slots__ = ()
        __contains__ = message.__contains__
        get = staticmethod(message.get)
        items = staticmethod(message.items)
        keys = staticmethod(message.keys)
        values = staticmethod(message.values)

        def __getitem__(self, key: Any) -> Any:
            return message[key] if isinstance(key, str) else tuple.__getitem__(self, key)

    return Settings(*settings)
