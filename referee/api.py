"""``referee.play``: a match between programs, example bots and bot classes."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from referee import games
from referee.errors import PlayerError, UsageError
from referee.match.match import Match
from referee.match.options import TimeControl
from referee.match.request import MatchRequest
from referee.players.player import is_human
from referee.replay.events import MatchResult
from referee.support.words import the_seat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.games.game import Seat
    from referee.players import player
    from referee.players.player import Function
    from sdk.bot import Bot

    Player = str | os.PathLike[str] | type[Bot]
    Time = TimeControl | Mapping[str, float | str | None]

_UNTIMED = TimeControl(startup=None, move=None, bank=None)


#: The public name of the result of a match.
Result = MatchResult


def play(
    *players: Player,
    game: str = games.names()[0],
    rules: str | None = None,
    seed: int | None = None,
    time: Time | None = None,
    isolation: str = "auto",
    out: str | os.PathLike[str] | None = None,
    from_replay: str | None = None,
    **settings: Any,
) -> Result:
    """Play one match. ``players`` are named in the order of the game's seats.

    A player is what the command line takes (a file, a folder, a command line, the name of an example bot) or a bot class, which plays in
    this process and has no time limits. ``time`` is a ``TimeControl`` or a mapping with ``startup``, ``move``, ``bank``, ``increment``
    (seconds, None for no limit) and ``clock`` ("wall" or "cpu"). ``out`` is a file or a folder for the replay, by default
    matches/replays/. ``settings`` are the game's own.

    With ``from_replay="game.replay.jsonl.gz@412"`` the match begins at the position of a replay before turn 412, with the settings, the seed
    and, where it is not given, the time of the recorded match. Players that are left out, or "-", are the programs of the replay.

    Raises SettingsError, PlayerError or UsageError where a value is wrong, StartError if a program can't be started, and MatchVoid if the
    referee fails; a bot's failure is part of the result.
    """
    if from_replay is None:
        return run(*request(players, game=game, rules=rules, seed=seed, time=time, isolation=isolation, out=out, **settings))
    for name, value in (("rules", rules), ("seed", seed), *settings.items()):
        if value is not None:
            raise UsageError(f"{name} can't be given with from_replay: the match keeps the settings and the seed of the recorded one.")
    # The default is the first game, also where the replay is of another one.
    other = None if game == games.names()[0] else game
    match, lineup = _request(players, time, isolation, out, game=other).resumed(from_replay, players)
    for seat, each in lineup.items():
        _check_player(seat, each)
    return run(match, lineup)


def request(
    players: Sequence[Player],
    *,
    game: str = games.names()[0],
    rules: str | None = None,
    seed: int | None = None,
    time: Time | None = None,
    isolation: str = "auto",
    out: str | os.PathLike[str] | None = None,
    draws_starts: bool = False,
    **settings: Any,
) -> tuple[MatchRequest, dict[Seat, Player]]:
    """Return the match that arguments of ``play`` request, and the player of each seat. With ``draws_starts`` the settings need no start."""
    if seed is not None and (isinstance(seed, bool) or not hasattr(seed, "__index__")):
        raise UsageError(f"seed is {seed!r:.40}, but must be an integer.")
    # The integer types of other packages, such as NumPy's, become int.
    number = None if seed is None else seed.__index__()
    match = _request(players, time, isolation, out, game=game, rules=rules, seed=number, settings=settings, draws_starts=draws_starts)
    seats = match.game_object.seats(match.checked_settings)
    if len(players) != len(seats):
        raise UsageError(
            f"{game} needs {len(seats)} players ({', '.join(seats)}), but {len(players)} {'was' if len(players) == 1 else 'were'} given."
        )
    lineup = dict(zip(seats, players, strict=True))
    for seat, player in lineup.items():
        _check_player(seat, player)
    return match, lineup


def _request(
    players: Sequence[Player], time: Time | None, isolation: str, out: str | os.PathLike[str] | None, **fields: object
) -> MatchRequest:
    """Return the request with these values. UsageError for a wrong option."""
    labels = [label(player) for player in players]
    values = {**fields, "players": labels, "run": {"isolation": isolation}, "out": path_text(out)}
    match = MatchRequest.model_validate(values if time is None else {**values, "time": _limits(time)})
    match.options  # noqa: B018 - it raises the error of a wrong value
    return match


def run(request: MatchRequest, players: Mapping[Seat, Player]) -> Result:
    """Play one match of programs and classes."""
    lineup: dict[Seat, player.Player] = {}
    for seat, each in players.items():
        if inspect.isclass(each):
            lineup[seat] = _class_player(seat, each)
            continue
        if is_human(str(each)):
            raise PlayerError("A person plays on a page, which the command line serves: referee play human runner")
        lineup[seat] = request.bot(str(each), seat)
    replay = request.reserve(map(label, players.values()), tuple(lineup))
    # A class can't be interrupted, so it has no time limits.
    times = {seat: _UNTIMED for seat, each in players.items() if inspect.isclass(each)}
    return Match(request.spec(lineup, replay, times)).run()


def _check_player(seat: Seat, player: object) -> None:
    """Raise PlayerError unless this is a path, a text, or a bot class that plays the seat."""
    from sdk.bot import Bot

    if isinstance(player, Bot):
        raise PlayerError(f"{the_seat(seat)} is an instance of {type(player).__name__}; pass the class itself: {type(player).__name__}")
    if not inspect.isclass(player):
        if not isinstance(player, (str, os.PathLike)):
            raise PlayerError(
                f"{the_seat(seat)} is {player!r:.40}, but a player is a path, a command line, the name of an example bot, or a class."
            )
    elif not issubclass(player, Bot):
        raise PlayerError(
            f"{the_seat(seat)} is {player.__name__}, which is not a bot class: derive it from a class of sdk, such as sdk.HunterBot."
        )
    else:
        _class_player(seat, player)


def _class_player(seat: Seat, bot: type[Bot]) -> Function:
    from sdk.testing import class_player

    try:
        return class_player(seat, bot)
    except TypeError as error:
        raise PlayerError(f"{error}.") from None


def label(player: Player) -> str:
    """Return the name of a player for people: what it was named by, or the name of its class."""
    return player.__name__ if inspect.isclass(player) else str(player)


def path_text(out: str | os.PathLike[str] | None) -> str | None:
    """Return the path for a replay as text. UsageError for other values."""
    if out is not None and not isinstance(out, str | os.PathLike):
        raise UsageError(f"out is {out!r:.40}, but must be the path of a file or a folder.")
    return None if out is None else str(out)


def _limits(time: Time) -> dict[str, Any]:
    """Return the limits of an argument ``time`` as the table of a match file. UsageError if it isn't a mapping of limits."""
    if isinstance(time, TimeControl):
        return dict(time)
    if not isinstance(time, Mapping):
        raise UsageError(f"time is {time!r:.40}, but must be a mapping, such as {{'move': 0.5, 'bank': None}}.")
    keys = ("bank", "clock", "increment", "move", "startup")
    unknown = sorted(set(time) - set(keys))
    if unknown:
        raise UsageError(f"time has no key {unknown[0]!r}; there are {', '.join(keys)}.")
    return dict(time)
