"""Single questions: states that are built in Python, answers as the referee reads them."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

import pytest

import referee
from referee import games
from referee.games.evasion.board.walls import Walls
from referee.games.game import MalformedMove
from referee.games.maze.state import Go
from referee.games.rectangle.state import Place
from sdk import Bot, Build, HunterBot, HunterMove, PolicemanBot, PreyBot, PreyMove, RectangleBot, State, ThiefBot, Wall
from sdk.evasion import AddWall, Step
from sdk.testing import answer, ask, start

if TYPE_CHECKING:
    from pathlib import Path

    from sdk.maze import Order
    from sdk.maze import State as MazeState
    from sdk.rectangle import State as RectangleState

LAYOUT = ["######", "#...E#", "#....#", "######"]


def trap(step: int = 1, wall_timer: int = 0, **settings: Any) -> State:
    """A prey behind a wall, in a step in which it may move."""
    state: State = start(width=14, height=4, hunter=[2, 2, 1, 1], prey=[12, 2], **settings)
    walls = Walls(14, 4, [Wall(0, "vertical", 10, 1, 10, 3), Wall(1, "horizontal", 0, 1, 9, 1)])
    return state._replace(step=step, wall_timer=wall_timer, walls=walls, next_id=2)


def room() -> MazeState:
    return start(game="maze", layout=LAYOUT, thief=[2, 2], policeman=[3, 4])


def placed() -> Any:
    """A board of Rectangle after the set-up."""
    game = games.get("rectangle")
    state = game.start(game.codec.settings("small", {"n": 4, "robots": 1}), b"")
    return game.step(state, {"a": Place(((2, 1),)), "b": Place(((3, 3),))})[0]


class Wary(HunterBot):
    """Counts its questions."""

    def begin(self) -> None:
        self.asked = 0

    def hunt(self, state: State) -> HunterMove | None:
        self.asked += 1
        self.say(f"{self.notices[0]['code'] if self.notices else 'nothing'} {self.left.now() is None} {self.seed}")
        self.draw.line((0, 0), (1, 1))
        return self.build("vertical") if state.can_build("vertical") else None


class Flees(PreyBot):
    def flee(self, state: State) -> PreyMove | Step:
        return Step("E") if state.settings.rules == "gameserver" else self.go(1, 0)


class Both(Wary, Flees):
    pass


class Runs(ThiefBot, PolicemanBot):
    def escape(self, state: MazeState) -> Order:
        return state.best()[0]

    def chase(self, state: MazeState) -> Order:
        return state.path(state.here, state.thief)[0]


class Paints(RectangleBot):
    def place(self, state: RectangleState) -> list[tuple[int, int]]:
        return [(0, 0)]

    def orders(self, state: RectangleState) -> str:
        return "N"


def test_a_start_is_the_state_that_a_bot_gets() -> None:
    state = start(width=40, height=30, hunter=[20, 20, -1, 1], prey=[10, 5], max_walls=3)
    assert type(state) is type(state.after()) is State
    assert (state.hunter, state.prey[:2], state.step, state.settings.max_walls) == ((20, 20, -1, 1), (10, 5), 0, 3)
    maze = room()
    assert (maze.seat, maze.thief, maze.policeman, maze.exit) == ("thief", (2, 2), (3, 4), (2, 5))
    assert start(game="maze", seat="policeman", layout=LAYOUT, thief=[2, 2], policeman=[3, 4]).seat == "policeman"
    board = start(game="rectangle", rules="middle", seat="b")
    assert (board.seat, board.settings.rules, board.at((0, 0))) == ("b", "middle", ".")
    assert start(game="maze", seed=1).thief == start(game="maze", seed=1).thief


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rules": "clasic"}, "no rule set 'clasic'"),
        ({"widht": 5}, "did you mean 'width'"),
        ({"game": "chess"}, "there is no game 'chess'"),
        ({"game": "maze", "seat": "prey"}, "maze has no seat 'prey'; there are thief and policeman"),
        ({"prey": [1, 1]}, "has caught the prey"),
    ],
    ids=str,
)
def test_an_impossible_start_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        start(**options)


def test_under_gameserver_answers_are_commands() -> None:
    state = start(rules="gameserver", width=14, height=4, hunter=[2, 1, 1, 1], prey=[12, 1])._replace(step=1)
    assert answer(Flees, state).move == Step("E")
    with pytest.raises(TypeError, match=r"use answer\(\.\.\.\)\.move"):
        ask(Flees, state)


def test_the_answer_is_what_the_referee_reads() -> None:
    state = trap()
    assert ask(Wary, state) == HunterMove(Build("vertical"))
    assert ask(Wary, trap(wall_timer=1)) == HunterMove()
    assert ask(Flees, state).go == (1, 0)
    whole = answer(Wary, state, notices=["wall-refused"], move_time=0.5, seed=4)
    assert whole.say == "wall-refused False 4"
    assert [shape["shape"] for shape in whole.draw] == ["line"]
    assert answer(Flees, state).say is None


def test_an_instance_keeps_its_memory_and_a_class_has_none() -> None:
    bot = Wary()
    ask(bot, trap())
    assert ask(bot, trap(wall_timer=3)) == HunterMove()
    assert bot.asked == 2
    assert (bot.settings.width, bot.seat, bot.turn) == (14, "hunter", 1)


def test_a_seat_is_named_where_it_is_not_clear() -> None:
    state = trap()
    with pytest.raises(ValueError, match=r"Both plays hunter and prey; say which by seat"):
        ask(Both, state)
    assert ask(Both, state, seat="prey") == PreyMove((1, 0))
    # In a step without the prey there is no doubt.
    assert ask(Both, trap(step=2)) == HunterMove(Build("vertical"))
    assert ask(Runs, room()).go == "D"
    maze = games.get("maze")
    after, _ = maze.step(room()._engine, {"thief": Go("R")})
    assert ask(Runs, after).go == "U"
    with pytest.raises(ValueError, match="the prey is not asked in step 2 of this position; asked there: hunter"):
        ask(Flees, trap(step=2))


def test_a_state_of_the_engine_is_asked_too() -> None:
    assert ask(Paints, placed(), seat="a").orders == ("N",)


class Raises(HunterBot):
    def hunt(self, state: State) -> None:
        raise ZeroDivisionError("of mine")


class Odd(HunterBot):
    def hunt(self, state: State) -> Any:
        return 3


class Adds(HunterBot):
    def hunt(self, state: State) -> AddWall:
        return self.add(1, (0, 0), (9, 0))


class Foreign(Bot):
    """A bot without the checks of the SDK, of a game of this package."""

    _game, _seats = "evasion", {"hunter": "hunt"}
    text = '{"build":{"kind":"round"}}'

    def _responder(self, start: dict[str, Any]) -> Any:
        return lambda view: self.text


def test_an_error_of_the_bot_is_raised_with_its_own_traceback() -> None:
    with pytest.raises(ZeroDivisionError, match="of mine") as caught:
        ask(Raises, trap())
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "hunt"
    with pytest.raises(TypeError, match="a hunter's move is 3"):
        ask(Odd, trap())
    with pytest.raises(TypeError, match="a hunter's move is AddWall"):
        ask(Adds, trap())


def test_an_answer_that_the_referee_refuses_is_malformed() -> None:
    bot: Any = Foreign
    with pytest.raises(MalformedMove, match=r"move\.build\.kind is 'round'"):
        ask(bot, trap())
    bot = type("Garbled", (Foreign,), {"text": "]"})
    with pytest.raises(MalformedMove, match="The hunter's answer in turn 1 is not JSON"):
        ask(bot, trap())


@pytest.mark.parametrize(
    ("bot", "state", "error", "words"),
    [
        (int, trap(), TypeError, "<class 'int'> is not a bot"),
        (Bot, trap(), TypeError, "Bot plays no game"),
        (Wary, 3, TypeError, "the state is 3, but Wary plays evasion"),
        (Wary, room(), TypeError, "Wary plays evasion"),
        (Runs, trap(), TypeError, "Runs plays maze"),
        (Wary, trap()._replace(ended="caught"), ValueError, "the game is over in this position"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(bot: Any, state: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as caught:
        ask(bot, state)
    assert words in str(caught.value)
    with pytest.raises(TypeError, match="Wary does not play prey; it plays hunter"):
        seat: Any = "prey"
        ask(Wary, trap(), seat=seat)


@pytest.mark.parametrize(
    ("game", "players", "bot", "turn"),
    [("evasion", ("boxer", "runner"), Both, 30), ("maze", ("dasher", "hard"), Runs, 3), ("rectangle", ("looper", "idle"), Paints, 4)],
)
def test_a_position_of_a_replay_is_asked_too(game: str, players: tuple[str, ...], bot: Any, turn: int, tmp_path: Path) -> None:
    replay = referee.play(*players, game=game, seed=1, isolation="none", out=tmp_path / "one.replay.jsonl.gz").open_replay()
    state = replay.state_at(turn)
    seat = games.get(game).movers(state)[0]
    assert ask(bot, state, seat=seat) == answer(bot, state, seat=seat).move
    with pytest.raises(ValueError, match="the game is over in this position"):
        ask(bot, replay.state_at(-1))
