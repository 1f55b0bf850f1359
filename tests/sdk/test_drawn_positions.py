"""Positions from drawings, and single questions."""

from __future__ import annotations

import random
import traceback
from typing import TYPE_CHECKING, Any

import pytest

import referee
from referee import games
from referee.games.drawing import DrawingError
from referee.games.evasion.board.walls import KINDS, Blocked, Walls, trace
from referee.games.game import MalformedMove, SettingsError
from sdk import Bot, Build, HunterBot, HunterMove, PolicemanBot, PreyBot, PreyMove, RectangleBot, State, ThiefBot, Wall
from sdk.evasion import AddWall, Step
from sdk.testing import answer, ask, position

if TYPE_CHECKING:
    from pathlib import Path

    from sdk.maze import Order
    from sdk.maze import State as MazeState
    from sdk.rectangle import State as RectangleState

TRAP = """
    ..........|...
    ..H.......|.P.
    ----------|...
    ..............
"""
ROOM = """
    ######
    #T..E#
    #..P.#
    ######
"""
PAINT = """
    aaA.
    a.#.
    bB..
    ....
"""


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


def test_a_drawing_is_a_position_with_y_upwards() -> None:
    state = position(TRAP)
    assert (state.hunter, state.prey) == ((2, 2, 1, 1), (12, 2, 0, 0))
    assert list(state.walls) == [Wall(0, "vertical", 10, 1, 10, 3), Wall(1, "horizontal", 0, 1, 9, 1)]
    assert (state.settings.width, state.settings.height, state.settings.hunter, state.next_id) == (14, 4, (2, 2, 1, 1), 2)
    assert state.prey_moves
    assert (state.is_over, state.wall_timer, state.area("hunter")) == (False, 0, 20)
    assert type(state.after()) is type(state) is State


def test_a_drawing_is_part_of_a_larger_board() -> None:
    state = position(
        TRAP, at=(100, 50), width=300, height=200, heading=(-1, 1), prey_heading=(0, 1), wall_timer=7, step=10, cooldown=9, max_walls=2
    )
    assert (state.hunter, state.prey, state.step, state.prey_moves) == ((102, 52, -1, 1), (112, 52, 0, 1), 10, False)
    assert (state.settings.width, state.settings.height, state.wall_timer, state.settings.cooldown) == (300, 200, 7, 9)


def test_the_lower_half_of_the_world_is_up_under_gameserver() -> None:
    state = position(TRAP, rules="gameserver")
    assert (state.hunter[:2], state.prey[:2]) == ((2, 1), (12, 1))
    assert answer(Flees, state).move == Step("E")
    with pytest.raises(TypeError, match=r"use answer\(\.\.\.\)\.move"):
        ask(Flees, state)


@pytest.mark.parametrize("rules", ["classic", "diagonal"])
def test_a_drawn_wall_is_the_wall_that_the_engine_builds(rules: str) -> None:
    dice = random.Random(3)
    signs = dict(zip(KINDS, "-|/\\", strict=True))
    for _ in range(300):
        x, y, span = dice.randrange(9), dice.randrange(6), dice.choice([None, 1, 3])
        kind = dice.choice(KINDS[:2] if rules == "classic" else KINDS)
        anchor = y if kind == "vertical" else x
        wall = trace(Walls(9, 6), kind, x, y, None if span is None else (anchor - 1, anchor + span), 0)
        if isinstance(wall, Blocked):
            continue
        for sign in (signs[kind], "#"):
            rows = [["."] * 9 + list("........") for _ in range(6)]
            rows[0][-1], rows[5][-1] = "H", "P"
            for cell_x, cell_y in wall.cells():
                rows[5 - cell_y][cell_x] = sign
            made = position("\n".join("".join(row) for row in rows), rules="diagonal", capture_radius=1)
            (drawn,) = made.walls
            # One or two cells can belong to several kinds; # is the first of them.
            assert drawn == wall or (sign == "#" and len(list(wall.cells())) <= 2)


@pytest.mark.parametrize(
    ("drawing", "options", "words"),
    [
        ("", {}, "the drawing is empty"),
        (3, {}, "a drawing is 3, but must be a text"),
        ("H..........", {}, "the drawing has no prey; draw one as P"),
        ("H..H......P", {}, "line 1, column 4: a second hunter; the first one is in line 1, column 1"),
        ("H....\n....P.", {}, "line 2 of the drawing has 6 characters, but line 1 has 5"),
        ("H....x...P", {}, "line 1, column 6: 'x' means nothing here; there are . (free), H (the hunter)"),
        ("H......-P-", {}, "line 1, column 9: a wall goes through the prey"),
        ("..#.......\n..H......P\n..#.......", {}, "line 2, column 3: a wall goes through the hunter"),
        ("H.........P\n..###......\n....#......", {}, "line 2, column 3: the wall from here to line 3, column 5 is not straight"),
        ("H.........P\n..#........\n...#.......", {}, "is not straight"),
        ("H.........P\n..../......\n.../.......", {"rules": "diagonal"}, "is not straight; a diagonal wall is two cells thick"),
        ("H.........P\n..../......", {}, 'the rule set classic has no diagonal walls; rules="diagonal" has them'),
        ("H.........P\n.||||......", {}, "'|' is a vertical wall, but these '|' are not in one line"),
        ("H.........P\n.-.........\n.-.........", {}, "draw the other kind with '|'"),
        ("H..P.......", {}, "has caught the prey"),
        ("H|P", {}, "a 3 x 1 board is too small for a capture radius of 4"),
        (TRAP, {"wall_timer": 21}, "wall_timer is 21, but must be a whole number from 0 to 20"),
        (TRAP, {"step": 10_000}, "step is 10000"),
        (TRAP, {"heading": (1, 0)}, "must head diagonally"),
        (TRAP, {"heading": "N"}, "heading is 'N'"),
        (TRAP, {"prey_heading": (0, 2)}, r"prey_heading is (0, 2)"),
        (TRAP, {"at": (-1, 0)}, "at is (-1, 0)"),
        (TRAP, {"width": 5}, "wall 0 leaves the 5 x 4 board"),
        (TRAP, {"widht": 5}, "did you mean 'width'"),
        (TRAP, {"max_walls": 1}, "there are 2 walls, but max_walls is 1"),
        (TRAP, {"rules": "clasic"}, "no rule set 'clasic'"),
        (TRAP, {"walls": [3]}, "walls has 3"),
        (TRAP, {"walls": [Wall(0, "vertical", 13, 0, 13, 3)]}, "a wall has the id 0"),
        (TRAP, {"walls": [Wall(2, "vertical", 12, 0, 12, 3)]}, "where a wall stands"),
        (TRAP, {"game": "chess"}, "there is no game 'chess'"),
        (ROOM.replace("P", "T"), {"game": "maze"}, "line 3, column 4: a second thief"),
        (ROOM.replace("P", "."), {"game": "maze"}, "no policeman; draw one as P or p"),
        (ROOM.replace("E", "."), {"game": "maze"}, "there is no exit"),
        (ROOM, {"game": "maze", "step": 1}, "step is 1, but the thief moves in an even step"),
        (ROOM, {"game": "maze", "step": 8, "max_moves": 4}, "the game ends after step 7"),
        (ROOM, {"game": "maze", "seat": "prey"}, "seat is 'prey'"),
        (ROOM, {"game": "maze", "thief_from": (1, 1)}, "thief_from is (1, 1)"),
        ("A...", {"game": "rectangle"}, "the board is square"),
        (PAINT.replace("B", "b"), {"game": "rectangle"}, "here a has 1, b has 0"),
        (PAINT, {"game": "rectangle", "scores": {"c": 1}}, "scores is for 'c'"),
        (PAINT, {"game": "rectangle", "scores": {"a": -1}}, "whole numbers from 0"),
        (PAINT, {"game": "rectangle", "turn": -1}, "turn is -1"),
        (PAINT, {"game": "rectangle", "seat": "c"}, "seat is 'c'"),
        (PAINT, {"game": "rectangle", "robots": {"a": [(9, 9)]}}, "a robot of a is at (9, 9)"),
        (PAINT, {"game": "rectangle", "robots": {"A": [(0, 0)]}}, "robots has 'A'"),
    ],
)
def test_an_impossible_drawing_is_refused_with_the_place(drawing: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises((DrawingError, SettingsError)) as caught:
        position(drawing, **options)
    assert words in str(caught.value)


def test_walls_that_cannot_be_drawn_are_given() -> None:
    state = position("H....-.P...", walls=[Wall(9, "horizontal", 8, 0, 9, 0)], capture_radius=2)
    assert [wall.id for wall in state.walls] == [0, 9]
    assert state.next_id == 10


def test_a_wall_between_close_players_keeps_the_prey_from_being_caught() -> None:
    state = position("H.|P......\n..|.......")
    assert not state.is_over
    assert state.settings.hunter == (9, 0, 1, 1)
    assert ask(Wary, state) == HunterMove(Build("vertical"))


def test_the_answer_is_what_the_referee_reads() -> None:
    state = position(TRAP)
    assert ask(Wary, state) == HunterMove(Build("vertical"))
    assert ask(Wary, position(TRAP, wall_timer=1)) == HunterMove()
    assert ask(Flees, state).go == (1, 0)
    whole = answer(Wary, state, notices=["wall-refused"], move_time=0.5, seed=4)
    assert whole.say == "wall-refused False 4"
    assert [shape["shape"] for shape in whole.draw] == ["line"]
    assert answer(Flees, state).say is None


def test_an_instance_keeps_its_memory_and_a_class_has_none() -> None:
    bot = Wary()
    ask(bot, position(TRAP))
    assert ask(bot, position(TRAP, wall_timer=3)) == HunterMove()
    assert bot.asked == 2
    assert (bot.settings.width, bot.seat, bot.turn) == (14, "hunter", 1)


def test_a_seat_is_named_where_it_is_not_clear() -> None:
    state = position(TRAP)
    with pytest.raises(ValueError, match=r"Both plays hunter and prey; say which by seat"):
        ask(Both, state)
    assert ask(Both, state, seat="prey") == PreyMove((1, 0))
    # In a step without the prey there is no doubt.
    assert ask(Both, position(TRAP, step=2)) == HunterMove(Build("vertical"))
    assert ask(Runs, position(ROOM, game="maze")).go == "D"
    assert ask(Runs, position(ROOM, game="maze", seat="policeman", thief_from=(2, 3))).go == "U"
    with pytest.raises(ValueError, match="the prey is not asked in step 2 of this position; asked there: hunter"):
        ask(Flees, position(TRAP, step=2))


def test_the_position_of_a_maze() -> None:
    state = position(ROOM.replace("E", ".").replace("P", "p"), game="maze", thief_from=(3, 2), max_moves=9, step=4)
    assert (state.thief, state.policeman, state.exit, state.thief_from, state.moves_left) == ((2, 2), (3, 4), (3, 4), (3, 2), 7)
    assert state.seat == "thief"


def test_the_position_of_a_rectangle() -> None:
    state = position(PAINT, game="rectangle", seat="b", turn=3, scores={"b": 5}, robots={"a": [(3, 3)], "b": [(1, 2)]}, stagnation=9)
    assert (state.mine, state.scores, state.turn, state.seats) == (((2, 1), (1, 2)), (0, 5), 3, ("a", "b"))
    assert (state.at((0, 0)), state.at((1, 2)), state.at((3, 3))) == ("a", "#", ".")
    assert state.after("N-", {"a": "WW"}).at((3, 2)) == "a"
    assert ask(Paints, position(PAINT, game="rectangle")).orders == ("N",)
    # A game's view of the position gives a bot the same position.
    room = games.get("rectangle")
    assert room.codec.view(state, "b")["board"] == ["aaa.", "a.#.", "bb..", "...."]


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
        ask(Raises, position(TRAP))
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "hunt"
    with pytest.raises(TypeError, match="a hunter's move is 3"):
        ask(Odd, position(TRAP))
    with pytest.raises(TypeError, match="a hunter's move is AddWall"):
        ask(Adds, position(TRAP))


def test_an_answer_that_the_referee_refuses_is_malformed() -> None:
    bot: Any = Foreign
    with pytest.raises(MalformedMove, match=r"move\.build\.kind is 'round'"):
        ask(bot, position(TRAP))
    bot = type("Garbled", (Foreign,), {"text": "]"})
    with pytest.raises(MalformedMove, match="The hunter's answer in turn 1 is not JSON"):
        ask(bot, position(TRAP))


@pytest.mark.parametrize(
    ("bot", "state", "error", "words"),
    [
        (int, position(TRAP), TypeError, "<class 'int'> is no bot"),
        (Bot, position(TRAP), TypeError, "Bot plays no game"),
        (Wary, 3, TypeError, "the state is 3, but Wary plays evasion"),
        (Wary, position(ROOM, game="maze"), TypeError, "Wary plays evasion"),
        (Runs, position(TRAP), TypeError, "Runs plays maze"),
        (Wary, position("H.....P").after(hunter=None, prey=(-1, 0)), ValueError, "the game is over in this position"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(bot: Any, state: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as caught:
        ask(bot, state)
    assert words in str(caught.value)
    with pytest.raises(TypeError, match="Wary does not play prey; it plays hunter"):
        seat: Any = "prey"
        ask(Wary, position(TRAP), seat=seat)


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
