"""Requests for matches, which flags, files and arguments become, and the specification that a request becomes with its players."""

from __future__ import annotations

import os
import re
import time
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import UsageError
from referee.isolation.file_names import published
from referee.isolation.limits import Limits
from referee.match.options import MatchOptions, limits_of
from referee.match.spec import MatchSpec
from referee.match.start import Start
from referee.players.names import resolve
from referee.replay.paths import SUFFIX, reserve
from referee.support.outputs import check_not_input
from referee.wire.seeds import new_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from referee.games.game import Game, Seat
    from referee.isolation.bot import Bot
    from referee.players.player import Player
    from referee.replay.recorded_match import RecordedMatch


#: What the players' names may take in the name of a replay: each in characters, all in bytes. A file's name has at most 255 bytes.
_LONGEST_WORD = 24
_MOST_NAMED_BYTES = 180


class MatchRequest(NamedTuple):
    """One match to play, without its players.

    ``seed`` None: a seed is drawn and stored in the replay. ``out`` is a file or a folder for the replay, None for matches/replays/.
    ``start`` is where the match begins; None: at the start of the game under ``seed``. With ``force``, the replay and the logs may replace
    any file but ``inputs``, which may be folders.
    """

    game: Game
    settings: Any
    options: MatchOptions = MatchOptions()
    seed: int | None = None
    out: str | None = None
    start: Start | None = None
    force: bool = False
    inputs: Sequence[Path] = ()

    def started(self) -> MatchRequest:
        """Return the request with its start."""
        if self.start is not None:
            return self
        return self._replace(start=Start.of(self.game, self.settings, new_seed() if self.seed is None else self.seed))

    def reserve(self, names: Iterable[str], seats: Sequence[Seat] = ()) -> Path:
        """Make the empty file of the replay. ``names`` go into its name; ``seats`` have a log beside it."""
        return reserve_replay(self.out, list(names), seats, self.inputs, force=self.force)

    def spec(self, players: Mapping[Seat, Player], replay: Path) -> MatchSpec:
        """Return the match of these players."""
        start = self.started().start
        assert start is not None
        return MatchSpec(self.game, self.settings, players, start, self.options, replay)


def continued(recorded: RecordedMatch, start: Start, options: MatchOptions, notes: Sequence[str], out: str | None) -> MatchRequest:
    """Return the request for a match that continues a recorded one from ``start``.

    ``notes`` are printed after the match, ``out`` is a file or a folder for the replay. UsageError if the new replay would overwrite the
    recorded one.
    """
    for name in () if out is None else (out, out + SUFFIX):
        check_not_input(Path(name), (recorded.path,))
    limits, higher = options.limits, options.limits.above(Limits())
    if higher and limits == limits_of(recorded.head):
        notes = (
            *notes,
            f"The limits are those of the match in the replay, which are higher than the ordinary ones: {', '.join(higher)}.",
        )
    start = replace(start, notes=(*start.notes, *notes))
    return MatchRequest(recorded.game, recorded.settings, options, start.seed, out, start)


def settings_of(game: Game, *, draws_starts: bool = False) -> Callable[[str | None, Mapping[str, Any]], Any]:
    """Return the function that checks a game's settings. With ``draws_starts`` they need not say where the game starts."""
    source = game.starts if draws_starts else None
    return (source or game.codec).settings


def bot_of(name: str, seat: Seat, game: Game, settings: Any) -> Bot:
    """Return the bot of a name. Its replay, texts and log name no folders of this machine."""
    return published(resolve(name, seat, game.info.name, settings), str(Path.cwd()))


def reserve_replay(
    out: str | None, players: Sequence[str], seats: Sequence[Seat] = (), inputs: Sequence[Path] = (), *, force: bool = False
) -> Path:
    """A new replay's file, made empty so that no other match takes it: below matches/replays/, or where ``out`` says."""
    words = [_file_word(player, _MOST_NAMED_BYTES // max(1, len(players))) for player in players]
    stem = "-".join([time.strftime("%Y%m%d-%H%M%S"), *words])
    try:
        return reserve(out, stem, seats, inputs, force=force)
    except (OSError, ValueError) as error:
        where = str(getattr(error, "filename", None) or out or "matches/replays")
        raise UsageError(
            f"The replay can't be written to {where}: {getattr(error, 'strerror', None) or error}; name another place with --out."
        ) from None


def _file_word(player: str, most_bytes: int) -> str:
    """Return a player's name as a part of a file's name: letters of any language, digits and hyphens."""
    text = unicodedata.normalize("NFC", Path(player).stem)
    word = re.sub(r"[\W_]+", "-", text).strip("-")[:_LONGEST_WORD]
    while len(os.fsencode(word)) > most_bytes:
        word = word[:-1]
    return word or "bot"
