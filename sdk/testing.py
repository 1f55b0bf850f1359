"""Tests of bots: single questions, and whole matches between bot classes, all in this process.

    from sdk.testing import ask, start

    def test_it_builds_a_wall_behind_the_prey():
        assert ask(MyHunter, start(hunter=[20, 20, -1, 1], prey=[10, 30])).build

It uses the referee's own loop, engine and messages. So with the same seed a match has the same outcome as one between the same programs.
Only time differs: by default there are no limits, so that you can use a debugger.
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, overload

from referee import games
from referee.games.outcome import MalformedMove
from referee.match import judge
from referee.match.match import Match
from referee.match.options import TimeControl
from referee.match.request import MatchRequest
from referee.players.player import Function, Player
from referee.replay.events import MatchResult as Result
from referee.replay.writer import ReplayWriter
from referee.wire import decode, encode
from referee.wire.seeds import secret_of
from sdk.bot import Bot, Conversation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from types import ModuleType

    from typing_extensions import Unpack

    from referee.games.evasion.state import HunterMove, PreyMove
    from referee.games.evasion.state import State as EvasionState
    from referee.games.game import Game, Json
    from referee.games.maze.state import Go
    from referee.games.maze.state import State as MazeState
    from referee.games.rectangle.state import Orders
    from referee.games.rectangle.state import State as RectangleState
    from sdk import HunterBot, PolicemanBot, PreyBot, RectangleBot, ThiefBot, evasion, maze, rectangle

    class Asking(TypedDict, total=False):
        """The options of a question, as ``answer`` has them."""

        seed: int
        notices: Sequence[str]
        move_time: float | None
        bank: float | None


__all__ = ["Answer", "Result", "answer", "ask", "play", "start"]

NO_LIMITS = TimeControl(startup=None, move=None, bank=None)


@overload
def start(*, game: Literal["evasion"] = "evasion", rules: evasion.Rules | None = None, **settings: Json) -> evasion.State: ...


@overload
def start(*, game: Literal["maze"], seat: maze.Role | None = None, seed: int = 0, **settings: Json) -> maze.State: ...


@overload
def start(
    *, game: Literal["rectangle"], rules: rectangle.Rules | None = None, seat: str | None = None, seed: int = 0, **settings: Json
) -> rectangle.State: ...


@overload
def start(*, game: str, rules: str | None = None, seat: str | None = None, seed: int = 0, **settings: Json) -> Any: ...


def start(*, game: str = "evasion", rules: str | None = None, seat: str | None = None, seed: int = 0, **settings: Json) -> Any:
    """Return the position in which a match with these settings begins, as the bot in a seat gets it (None: the first that is asked).

    Raises SettingsError for settings that the game refuses, and ValueError for a seat that the game doesn't have.
    """
    game_object = games.get(game)
    checked = game_object.codec.settings(rules, settings)
    state, seats = game_object.start(checked, secret_of(seed)), game_object.seats(checked)
    if seat is not None and seat not in seats:
        raise ValueError(f"{game} has no seat {seat!r:.40}; there are {' and '.join(seats)}")
    module = _sdk_module(game)
    return state if module is None else module.seen_state(state, game_object.movers(state)[0] if seat is None else seat)


class Answer(NamedTuple):
    """A bot's answer as the referee reads it: the ``move``, the remark ``say`` (None without one) and the shapes of ``draw`` as JSON."""

    move: Any
    say: str | None
    draw: Sequence[Mapping[str, Json]]


@overload
def ask(
    bot: type[HunterBot] | HunterBot, state: EvasionState, *, seat: Literal["hunter"] | None = None, **options: Unpack[Asking]
) -> HunterMove: ...


@overload
def ask(
    bot: type[PreyBot] | PreyBot, state: EvasionState, *, seat: Literal["prey"] | None = None, **options: Unpack[Asking]
) -> PreyMove: ...


@overload
def ask(
    bot: type[ThiefBot | PolicemanBot] | ThiefBot | PolicemanBot,
    state: maze.State | MazeState,
    *,
    seat: maze.Role | None = None,
    **options: Unpack[Asking],
) -> Go: ...


@overload
def ask(bot: type[RectangleBot] | RectangleBot, state: RectangleState, *, seat: str | None = None, **options: Unpack[Asking]) -> Orders: ...


def ask(bot: type[Bot] | Bot, state: object, **options: Any) -> Any:
    """Ask a bot one question and return its move, as the referee reads it.

    ``state`` is one of ``start`` and what follows from it, a state that the bot has seen, or a position of a replay (``replay.state_at(412)``).
    A class plays a new match that begins in this state. An instance keeps its memory: its match begins with the first question, and you
    can look at its attributes afterwards. ``seat`` is needed only for a class that plays several. ``seed`` is the bot's, ``notices`` are codes
    such as "wall-refused", ``move_time`` and ``bank`` the seconds that it has left (None: no limit). What the bot prints stays as it is.

    An exception of the bot is raised here with its own traceback, and MalformedMove for an answer that the referee refuses. Raises
    ValueError if the state has no question for the bot, and TypeError for a class that doesn't play the game.
    """
    move = answer(bot, state, **options).move
    module = _sdk_module(bot._game)
    kinds = {move.__class__} if module is None else {*module.MOVES.values()}
    if type(move) not in kinds:
        raise TypeError(
            f"the move is {move!r:.80}, but ask returns only {' and '.join(sorted(kind.__name__ for kind in kinds))}; use answer(...).move"
        )
    return move


def answer(
    bot: type[Bot] | Bot,
    state: object,
    *,
    seat: str | None = None,
    seed: int = 0,
    notices: Sequence[str] = (),
    move_time: float | None = None,
    bank: float | None = None,
) -> Answer:
    """Ask a bot one question and return its whole answer: the move of any kind, and what it says and draws. Otherwise as ``ask``."""
    _check_bot(bot)
    module, game_object = _sdk_module(bot._game), games.get(bot._game)
    position: Any = state if module is None else module.engine_state(state)
    settings = getattr(position, "settings", None)
    if settings is None:
        raise TypeError(f"the state is {state!r:.60}, but {_name(bot)} plays {bot._game}; sdk.testing.start makes its states")
    seat = _asked_seat(bot, game_object, position, seat)
    turn: int = position.step
    start = encode.start(
        game_object.info,
        settings.rules,
        seat,
        game_object.codec.settings_json(settings),
        clock=TimeControl(startup=None, move=move_time, bank=bank).to_json(),
        seed=seed,
        match="test",
    )
    said = [{"code": code, "text": code} for code in notices]
    question = encode.turn(turn, game_object.codec.view_text(position, seat), said, encode.limit(move_time), bank)
    line = _conversation_with(bot, start).answer(question)
    assert line is not None, "a question has an answer"
    read = decode.move(line.rstrip(b"\n"), turn)
    if isinstance(read, decode.Problem):
        raise MalformedMove(judge.malformed(seat, read, line, turn).text)
    return Answer(game_object.codec.parse(position, seat, read.move), read.say, read.draw or ())


def _name(bot: type[Bot] | Bot) -> str:
    return (bot if isinstance(bot, type) else type(bot)).__name__


def _check_bot(bot: object) -> None:
    """Raise TypeError unless this is a bot, or a class of bots, that plays a game."""
    if not (isinstance(bot, Bot) or (isinstance(bot, type) and issubclass(bot, Bot))):
        raise TypeError(f"{bot!r:.60} is not a bot; ask takes a class that is derived from one of sdk, such as sdk.HunterBot")
    if not bot._seats:
        raise TypeError(f"{_name(bot)} plays no game; derive it from a class of sdk, such as sdk.HunterBot")


def _asked_seat(bot: type[Bot] | Bot, game_object: Game, state: Any, seat: str | None) -> str:
    """Return the seat that is asked. Raises ValueError if it is ambiguous, or owes no move."""
    outcome = game_object.outcome(state)
    if outcome is not None:
        raise ValueError(f"the game is over in this position: {outcome.text}")
    movers = game_object.movers(state)
    seats = [each for each in game_object.seats(state.settings) if each in bot._seats]
    if seat is None and len(seats) > 1:
        # In games of turns the position says who is asked, and some states know whose they are.
        seat_of_state = getattr(state, "seat", None)
        seats = [seat_of_state] if seat_of_state in seats else [each for each in seats if each in movers]
    if seat is None and len(seats) > 1:
        raise ValueError(f"{_name(bot)} plays {' and '.join(seats)}; say which by seat=...")
    asked_seat = seat if seat is not None else seats[0] if seats else next(iter(bot._seats))
    if asked_seat not in bot._seats:
        raise TypeError(f"{_name(bot)} does not play {asked_seat}; it plays {' and '.join(bot._seats)}")
    if asked_seat not in movers:
        raise ValueError(
            f"the {asked_seat} is not asked in step {state.step} of this position; asked there: {' and '.join(movers) or 'nobody'}"
        )
    return asked_seat


def _conversation_with(bot: type[Bot] | Bot, start: bytes) -> Conversation:
    """Return the conversation in which a bot is asked: a new one for a class, the one before for an instance."""
    earlier: Conversation | None = None if isinstance(bot, type) else vars(bot).get("_conversation")
    if earlier is not None:
        earlier.prepare(json.loads(start))
        return earlier
    conversation = Conversation(bot if isinstance(bot, type) else lambda: bot)
    conversation.answer(start)
    if not isinstance(bot, type):
        vars(bot)["_conversation"] = conversation
    return conversation


def _sdk_module(game: str) -> ModuleType | None:
    """Return the SDK's module of a game; None for a game of another package."""
    return import_module(f"sdk.{game}") if game in games.names() else None


def play(
    *bots: type[Bot],
    game: str = "evasion",
    rules: str | None = None,
    seed: int | None = 0,
    time: TimeControl = NO_LIMITS,
    replay: Path | None = None,
    reraise: bool = True,
    **settings: Json,
) -> Result:
    """Play one match between bot classes, given in the order of the game's seats (hunter, prey).

    ``settings`` are the game's own (``width=50``, ``max_steps=100``); ``replay`` is a file to write. An exception of a bot is raised
    here, so that a test fails with the bot's own traceback; with ``reraise=False`` it is a fault in the result, as in a real match.
    Raises SettingsError for settings that the game refuses, TypeError for a class that doesn't play its seat.
    """
    names = [bot.__name__ for bot in bots]
    request = MatchRequest(game=game, rules=rules, seed=seed, players=names, settings=settings, time=dict(time), run={"isolation": "none"})
    seats = request.game_object.seats(request.checked_settings)
    if len(bots) != len(seats):
        raise TypeError(f"{game} has {len(seats)} seats ({', '.join(seats)}), but {len(bots)} bots were given")
    errors: list[Exception | SystemExit] = []
    players: dict[str, Player] = {seat: class_player(seat, bot, errors) for seat, bot in zip(seats, bots, strict=True)}
    result = Match(request.spec(players), [] if replay is None else [ReplayWriter(replay)]).run()
    if errors and reraise:
        raise errors[0]
    return result


def class_player(seat: str, bot: type[Bot], errors: list[Exception | SystemExit] | None = None) -> Function:
    """A bot class as the player of a seat; exceptions that it raises are added to ``errors``.

    Raises TypeError for a class that doesn't play the seat.
    """
    if seat not in bot._seats:
        raise TypeError(f"{bot.__name__} does not play {seat}; it plays {' and '.join(bot._seats)}")
    return Function(bot.__name__, _conversation(bot, [] if errors is None else errors), about={"program": bot.__name__})


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
