"""Typed tests of typed bots, and typed programs around them."""

from __future__ import annotations

from pathlib import Path

import pytest
from typed_hunter import Typed as Hunter
from typed_others import Painter
from typed_others import Typed as Runs
from typed_prey import Typed as Prey
from typing_extensions import assert_type

import referee
from referee.games.evasion.state import State as EvasionState
from referee.games.maze.state import Go
from referee.games.rectangle.state import Orders
from referee.replay_view import Step
from sdk import Build, HunterMove, PreyMove, State
from sdk.maze import State as MazeState
from sdk.rectangle import State as RectangleState
from sdk.testing import Answer, Result, answer, ask, play, start


def test_of_evasion() -> None:
    state = start(rules="diagonal", max_walls=3)._replace(step=1)
    assert_type(state, State)
    move = ask(Hunter, state)
    assert_type(move, HunterMove)
    assert_type(move.build, Build | None)
    assert_type(ask(Prey(), state), PreyMove)
    assert_type(ask(Prey, state).go, tuple[int, int] | None)
    assert_type(answer(Hunter, state), Answer)
    assert_type(answer(Hunter, state).say, str | None)


def test_of_others() -> None:
    maze = start(game="maze", seat="thief")
    assert_type(maze, MazeState)
    assert_type(ask(Runs, maze), Go)
    assert_type(ask(Runs, maze).go, str)
    board = start(game="rectangle", n=4)
    assert_type(board, RectangleState)
    with pytest.raises(TypeError):  # in the set-up robots are placed
        assert_type(ask(Painter, board), Orders)


def programs(folder: Path, name: str) -> None:
    """Every type of the API for programs. It is checked and never called."""
    result = referee.play(Hunter, "runner", max_steps=9, time={"move": 0.5, "bank": None}, out=folder)
    assert_type(result, referee.Result)
    assert_type(result.winner, str | None)
    assert_type(result.scores, dict[str, float | None])
    assert_type(result.faults, dict[str, str])
    assert_type(result.replay, Path)
    assert_type(result.logs, dict[str, Path])
    assert_type(result.steps, int)
    assert_type(result.open_replay(), referee.Replay)
    assert_type([*referee.open_replay(name).steps()], list[Step])
    typed = referee.open_replay(name, game="evasion")
    assert_type(typed.state_at(0), EvasionState)
    assert_type([step.state.thief for step in referee.open_replay(name, game="maze").steps()], list[int])
    assert_type(referee.open_replay(name, game="rectangle").state_at(0).scores, tuple[int, ...])
    assert_type([step.state.hunter.x for step in typed.steps()], list[int])
    assert_type(referee.duel("random", name), referee.Duel)
    assert_type(referee.duel("random", name).winner, str | None)
    assert_type(referee.duel("random", name).games, dict[str, referee.Result])
    assert_type(next(referee.play_many(Hunter, "runner", games=2)), referee.ManyGame)
    assert_type(play(Hunter, Prey, seed=3), Result)
