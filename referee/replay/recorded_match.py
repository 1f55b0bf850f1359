"""The match of a replay, as far as the head of the file says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from referee.replay.reader import open_game, read_head, read_lines

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from referee.games.game import Game, Json


class RecordedMatch(NamedTuple):
    """The match of a replay: its game, its settings, and the whole head."""

    path: Path
    game: Game[Any, Any]
    settings: Any
    head: Mapping[str, Json]

    @classmethod
    def read(cls, path: Path) -> RecordedMatch:
        """Read the head of a replay. ReplayError if it isn't one that can be read here."""
        head, _ = read_head(path, read_lines(path))
        return cls(path, *open_game(path, head), head)
