"""Fixtures for tests of bots; pytest loads this module by its entry point. See docs/testing.md.

Every run of pytest in an environment with the referee loads this module, so it imports nothing but pytest: what a fixture needs is
imported when a test asks for it. A fixture of the same name in a test or a ``conftest.py`` takes precedence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from referee.api.matches import Result


@pytest.fixture
def position() -> Callable[..., Any]:
    """The function ``sdk.testing.position``: a state from a drawing."""
    from sdk import testing

    return testing.position


@pytest.fixture
def ask() -> Callable[..., Any]:
    """The function ``sdk.testing.ask``: the move of a bot in one state."""
    from sdk import testing

    return testing.ask


@pytest.fixture
def play_match(tmp_path: Path) -> Callable[..., Result]:
    """The function ``referee.play``, with the seed 0 if none is given, and with replays and logs in the test's own folder."""
    from referee.api.matches import play

    def played(*players: Any, **options: Any) -> Result:
        return play(*players, **{"seed": 0, "out": f"{tmp_path}/", **options})

    return played
