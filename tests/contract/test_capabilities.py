"""A capability that is imported when it is asked for is what the game declares. The annotations are checked by mypy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.evasion import starts
from referee.games.evasion.analysis import appraisal, presentation
from referee.games.evasion.game import GAME as EVASION
from referee.games.evasion.marking import MARKING
from referee.games.maze import appraisal as maze_appraisal
from referee.games.maze.game import GAME as MAZE
from referee.games.rectangle import appraisal as rectangle_appraisal
from referee.games.rectangle.game import GAME as RECTANGLE

if TYPE_CHECKING:
    from typing import Any

    from referee.games.capabilities import Analysis, Appraisal, Starts


def test_modules_are_the_capabilities_that_they_are_declared_to_be() -> None:
    analysis: Analysis[Any] = presentation
    starting: Starts = starts
    appraisals: list[Appraisal[Any]] = [appraisal, maze_appraisal, rectangle_appraisal]
    games = (EVASION, MAZE, RECTANGLE)
    assert (EVASION.analysis, EVASION.starts) == (analysis, starting)
    assert [game.appraisal for game in games] == appraisals


def test_an_object_in_a_module_can_be_a_capability_and_a_game_may_lack_it() -> None:
    assert EVASION.marking is MARKING
    assert set(EVASION.dialects) == {"architect", "gameserver"}
    assert (MAZE.analysis, MAZE.dialects, RECTANGLE.metrics, RECTANGLE.pairing) == (None, None, None, None)
