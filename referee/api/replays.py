"""A replay as values to look at, in programs and notebooks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Generic

# A NamedTuple of the standard library can't be generic before Python 3.11, and its TypeVar has no default before 3.13.
from typing_extensions import NamedTuple, TypeVar

from referee.errors import UsageError
from referee.replay.names import player_name
from referee.replay.reader import open_game, play_again, read_head, read_lines, start_of
from referee.support.words import counted

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from referee.api.debugging import AskedAnswer
    from referee.games.game import Json, Notice, Seat
    from referee.replay.reader import Problem
    from referee.replay.reader import Replay as Verified
    from referee.replay.reader import Step as ReadStep
    from sdk.bot import Bot

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
        self.head, _ = read_head(path, read_lines(path))
        self._game, settings = open_game(path, self.head)
        self._start = start_of(self._game, settings, self.head)
        if game not in (None, self._game.info.name):
            raise UsageError(f"{str(path)!r:.200} is a replay of {self._game.info.name}, not of {game!r:.80}.")
        self._read: list[ReadStep] = []
        self._verified: Verified | None = None

    def _play(self) -> Verified:
        if self._verified is None:
            self._verified = play_again(self.path, read_lines(self.path), self._read.append)
        return self._verified

    @property
    def result(self) -> dict[str, Json] | None:
        """The last record."""
        return self._play().result

    def verify(self) -> Problem | None:
        """What is wrong with the replay: None if playing its moves again gives every position and the result that it holds."""
        return self._play().problem

    def __len__(self) -> int:
        """The number of steps, up to the first that is wrong."""
        return self._play().turns

    def steps(self) -> Iterator[Step[S]]:
        """Every step in order, up to the first that is wrong."""
        self._play()
        for turn, step in enumerate(self._read):
            billed = step.record.get("us", {})
            seconds = {seat: us / 1e6 for seat, us in billed.items()}
            given = step.record.get("moves", {})
            yield Step(turn, step.before, {seat: given.get(seat, {}) for seat in seconds}, seconds, step.notices)

    def state_at(self, turn: int) -> S:
        """The position before the step of that number; ``len(replay)`` gives the last one, negative numbers count from the end.

        Raises IndexError where there is no such step.
        """
        states = len(self) + 1
        if not -states <= turn < states:
            raise IndexError(f"step {turn} of a replay with {counted(states - 1, 'step')}")
        turn %= states
        state: S = self._start if turn == 0 else self._read[turn - 1].after
        return state

    def ask(self, turn: int, seat: Seat, player: str | os.PathLike[str] | type[Bot], *, isolation: str = "none") -> AskedAnswer:
        """Ask a bot the recorded question of a turn, after all earlier questions to that seat. No clock limits it.

        ``player`` is what ``referee.play`` takes. The bot's earlier answers change nothing. An exception of a bot class is raised here.
        Raises UsageError if the seat wasn't asked in that turn, ReplayError if the replay doesn't verify, and StartError if the program
        can't be started.
        """
        from referee.api.debugging import ask

        return ask(self.path, turn, seat, player, isolation)

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
        """A notebook shows the sentence of the result and the viewer, in a frame that can do nothing but run itself."""
        from referee.api.notebook import shown_match

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
