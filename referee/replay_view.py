"""``referee.open_replay``: a replay as values to look at, in programs and notebooks."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, cast, overload

# A NamedTuple of the standard library can't be generic before Python 3.11, and its TypeVar has no default before 3.13.
from typing_extensions import NamedTuple, TypeVar

from referee.errors import UsageError
from referee.replay.events import StepTaken
from referee.replay.names import player_name
from referee.replay.reader import ReplayReader
from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from referee.games.evasion.state import State as EvasionState
    from referee.games.game import Json, Notice, Seat
    from referee.games.maze.state import State as MazeState
    from referee.games.rectangle.state import State as RectangleState
    from referee.replay.reader import ReplayProblem, VerifiedReplay

S = TypeVar("S", default=Any)


class Step(NamedTuple, Generic[S]):
    """One step of a match.

    ``state`` is the position before it. ``moves`` are by seat, as JSON ({} for doing nothing); ``seconds`` were billed to each seat that
    was asked. ``notices`` say what happened.
    """

    turn: int
    state: S
    moves: Mapping[Seat, Json]
    seconds: Mapping[Seat, float]
    notices: tuple[Notice, ...]


class Replay(Generic[S]):
    """A replay of a match. Its positions are computed from its moves when they are first asked for.

    ``head`` and ``result`` are its first and last records (docs/replay.md); ``result`` is None if the replay ends early.
    """

    def __init__(self, path: Path, game: str | None = None) -> None:
        self.path = path
        self.head: dict[str, Json]
        self._reader = ReplayReader(path)
        self.head, self._game = self._reader.head, self._reader.game
        if game not in (None, self._game.info.name):
            raise UsageError(f"{str(path)!r:.200} is a replay of {self._game.info.name}, not of {game!r:.80}.")
        self._steps: list[StepTaken] = []
        self._verified: VerifiedReplay | None = None

    def _play(self) -> VerifiedReplay:
        if self._verified is None:
            self._steps += (event for event in self._reader.events() if isinstance(event, StepTaken))
            self._verified = self._reader.verified()
        return self._verified

    @property
    def result(self) -> dict[str, Json] | None:
        """The last record."""
        return self._play().result

    def verify(self) -> ReplayProblem | None:
        """What is wrong with the replay: None if playing its moves again gives every position and the result that it holds."""
        return self._play().problem

    def __len__(self) -> int:
        """The number of steps, up to the first that is wrong."""
        return self._play().turns

    def steps(self) -> Iterator[Step[S]]:
        """Every step in order, up to the first that is wrong."""
        self._play()
        move_json = self._game.codec.move_json
        for step in self._steps:
            seconds = {seat: answer.seconds for seat, answer in step.answers.items()}
            moves = {seat: move_json(step.moves[seat]) if seat in step.moves else {} for seat in seconds}
            yield Step(step.turn, step.before, moves, seconds, step.notices)

    def state_at(self, turn: int) -> S:
        """The position before the step of that number; ``len(replay)`` gives the last one, negative numbers count from the end.

        Raises IndexError where there is no such step.
        """
        states = len(self) + 1
        if not -states <= turn < states:
            raise IndexError(f"step {turn} of a replay with {counted(states - 1, 'step')}")
        turn %= states
        return cast("S", self._reader.start if turn == 0 else self._steps[turn - 1].after)

    def records(self) -> list[dict[str, Json]]:
        """The steps as flat dicts, for pandas and other tables.

        Columns: ``turn``; the fields of the position that a spectator sees, with dots between the names (``hunter.x``); for each seat
        ``SEAT.move`` (JSON text) and ``SEAT.seconds``, None where it was not asked. Of a list with more than four values, or of lists,
        the column holds the length.
        """
        codec, seats = self._game.codec, list(self.head["players"])
        found = []
        for step in self.steps():
            record: dict[str, Json] = {"turn": step.turn, **_flat(json.loads(codec.view_text(step.state, None)))}
            for seat in seats:
                move = step.moves.get(seat)
                record[f"{seat}.move"] = None if move is None else json.dumps(move, separators=(",", ":"))
                record[f"{seat}.seconds"] = step.seconds.get(seat)
            found.append(record)
        return found

    def __repr__(self) -> str:
        names = " - ".join(player_name(player, seat) for seat, player in self.head["players"].items())
        return f"<Replay {self.path.name}: {self._game.info.name}, {names}>"

    def _repr_html_(self) -> str:
        """A notebook shows the sentence of the result and the viewer, in a frame that can only run its own script."""
        from referee.notebook import shown_match

        return shown_match(str((self.result or {}).get("text", "The replay has no result.")), self.path)


def _flat(value: Mapping[str, Json], prefix: str = "") -> dict[str, Json]:
    found: dict[str, Json] = {}
    for key, part in value.items():
        is_short = isinstance(part, list) and 0 < len(part) <= 4 and not any(isinstance(each, (dict, list)) for each in part)
        if isinstance(part, dict) or is_short:
            found |= _flat(part if isinstance(part, dict) else {str(index): each for index, each in enumerate(part)}, f"{prefix}{key}.")
        else:
            found[prefix + key] = len(part) if isinstance(part, list) else part
    return found


@overload
def open_replay(path: str | os.PathLike[str], game: Literal["evasion"]) -> Replay[EvasionState]: ...


@overload
def open_replay(path: str | os.PathLike[str], game: Literal["rectangle"]) -> Replay[RectangleState]: ...


@overload
def open_replay(path: str | os.PathLike[str], game: Literal["maze"]) -> Replay[MazeState]: ...


@overload
def open_replay(path: str | os.PathLike[str], game: str | None = None) -> Replay[Any]: ...


def open_replay(path: str | os.PathLike[str], game: str | None = None) -> Replay[Any]:
    """Open a replay. With the name of its game, type checkers know the type of its positions.

    Raises ReplayError if the file is not a replay that this referee can read, and UsageError if ``path`` is not a path or the replay is
    one of another game.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise UsageError(f"open_replay takes the path of a replay, not {path!r:.60}; a result has its replay: result.open_replay()")
    return Replay(Path(path), game)
