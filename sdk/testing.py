"""Play whole matches between bot classes in this process, for unit tests and quick experiments.

It uses the referee's own loop, engine and messages. So with the same seed it has the same outcome as a match between the same programs.
Only time differs: by default there are no limits, so that you can use a debugger.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from referee import games
from referee.match.clock import TimeControl
from referee.match.loop import Entrant, Match, Options, Result
from sdk._bot import Bot, Conversation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from referee.match.events import Listener

__all__ = ["Result", "play"]

NO_LIMITS = TimeControl(startup=None, move=None, bank=None)


def play(
    *bots: type[Bot],
    game: str = "evasion",
    rules: str | None = None,
    seed: int | None = 0,
    time: TimeControl = NO_LIMITS,
    replay: Path | None = None,
    reraise: bool = True,
    **settings: Any,
) -> Result:
    """Play one match between bot classes, given in the order of the game's seats (hunter, prey).

    ``settings`` are the game's own (``width=50``, ``max_steps=100``); ``replay`` is a file to write. An exception of a bot is raised
    here, so that a test fails with the bot's own traceback; with ``reraise=False`` it is a fault in the result, as in a real match.
    Raises SettingsError for settings that the game refuses, TypeError for a class that doesn't play its seat.
    """
    room = games.get(game)
    if room.info.players_option:
        settings.setdefault(room.info.players_option, len(bots))
    checked = room.codec.settings(rules, settings)
    seats = room.seats(checked)
    if len(bots) != len(seats):
        raise TypeError(f"{game} has {len(seats)} seats ({', '.join(seats)}), but {len(bots)} bots were given")
    errors: list[Exception | SystemExit] = []
    entrants = {seat: entrant(seat, bot, errors) for seat, bot in zip(seats, bots, strict=True)}
    listeners: list[Listener] = []
    if replay is not None:
        from referee.replay.writer import ReplayWriter

        listeners.append(ReplayWriter(replay))
    result = Match(room, checked, entrants, Options(time), seed=seed, listeners=listeners).run()
    if errors and reraise:
        raise errors[0]
    return result


def entrant(seat: str, bot: type[Bot], errors: list[Exception | SystemExit] | None = None) -> Entrant:
    """A bot class as the entrant of a seat; exceptions that it raises are added to ``errors``.

    Raises TypeError for a class that doesn't play the seat.
    """
    if seat not in bot._seats:
        raise TypeError(f"{bot.__name__} does not play {seat}; it plays {' and '.join(bot._seats)}")
    return Entrant(bot.__name__, {"program": bot.__name__}, None, _conversation(bot, [] if errors is None else errors))


def _conversation(bot: type[Bot], errors: list[Exception | SystemExit]) -> Callable[[bytes], bytes | None]:
    """Return a ``converse`` function for a bot of this class. The bot is created when its first line arrives, as a program would be."""
    made: list[Conversation] = []

    def converse(line: bytes) -> bytes | None:
        try:
            if not made:
                made.append(Conversation(bot))
            answer = made[0].answer(line)
        except (Exception, SystemExit) as error:
            errors.append(error)
            raise
        return None if answer is None else answer.rstrip(b"\n")

    return converse
